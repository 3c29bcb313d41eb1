#include "rig/pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <tuple>

#include "cuda/runtime/device.hpp"

namespace rig {
namespace {

std::size_t size(int64 count) { return static_cast<std::size_t>(count); }

void check_shape(index rows, index columns) {
  if (rows < 0 || columns < 0)
    fail(errc::shape,
         {"matrix: ", rows, "x", columns, " is not a shape; rows and columns must be at least 0"});
}

/// The caller's array, read bytewise: a program may use either of two types of one size and sign,
/// such as long and long long.
template <class Number>
struct numbers {
  const unsigned char* bytes;
  std::size_t size;
  auto operator[](std::size_t p) const {
    Number x;
    std::memcpy(&x, bytes + p * sizeof(Number), sizeof(Number));
    return +x;  // promotes character types, which would print as text
  }
};

/// Calls work(numbers) with their type.
template <class Work>
void with_type(const integers& of, Work work) {
  const auto as = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
    const auto* const bytes = static_cast<const unsigned char*>(of.data());
    of.is_signed() ? work(numbers<Signed>{bytes, of.size()})
                   : work(numbers<Unsigned>{bytes, of.size()});
  };
  if (of.bytes_each() == 1) return as(std::int8_t(), std::uint8_t());
  if (of.bytes_each() == 2) return as(std::int16_t(), std::uint16_t());
  if (of.bytes_each() == 4) return as(std::int32_t(), std::uint32_t());
  as(std::int64_t(), std::uint64_t());
}

bool are_indices(const integers& given) {
  return given.is_signed() && given.bytes_each() == sizeof(index);
}

void check_offsets(index rows, index columns, const integers& given, std::size_t entries) {
  check_shape(rows, columns);
  if (given.size() != size(rows) + 1)
    fail(errc::shape,
         {"matrix: ", rows, " rows need ", size(rows) + 1, " offsets, got ", given.size()});
  with_type(given, [&](const auto& offsets) {
    if (offsets[0] != 0) fail(errc::range, {"matrix: the first offset is ", offsets[0], ", not 0"});
    for (std::size_t i = 0; i + 1 < offsets.size; ++i)
      if (offsets[i + 1] < offsets[i])
        fail(errc::range, {"matrix: offset ", i + 1, " is ", offsets[i + 1], ", less than the ",
                           offsets[i], " before it; offsets must not decrease"});
    if (const auto last = offsets[offsets.size - 1]; static_cast<std::size_t>(last) != entries)
      fail(errc::shape,
           {"matrix: the last offset is ", last, ", but there are ", entries, " entries"});
  });
}

/// Calls take(p, number p as an index); throws if a number is outside 0 … limit − 1. `what` and
/// `whose` name it in the message: "column" and "entry", for example.
template <class Take>
void narrow(const integers& given, index limit, const char* what, const char* whose, Take take) {
  with_type(given, [&](const auto& all) {
    for (std::size_t p = 0; p < all.size; ++p) {
      const auto number = all[p];
      if (number < 0 || static_cast<std::uint64_t>(number) >= static_cast<std::uint64_t>(limit))
        fail(errc::range,
             {"matrix: ", what, " ", number, " of ", whose, " ", p, " is outside 0..", limit - 1});
      take(p, static_cast<index>(number));
    }
  });
}

buffer copy_columns(const integers& given, index columns) {
  buffer out = buffer::allocate(given.size() * sizeof(index));
  auto* const to = out.data<index>();
  if (are_indices(given))
    std::copy_n(static_cast<const index*>(given.data()), given.size(), to);
  else
    narrow(given, columns, "column", "entry", [&](std::size_t p, index j) { to[p] = j; });
  return out;
}

void check_columns(const pattern& of, bool ascending) {
  const index* const entries = of.column_indices();
  for (index i = 0; i < of.rows(); ++i) {
    const int64 begin = of.offset(i), end = of.offset(i + 1);
    for (int64 p = begin; p < end; ++p) {
      const index j = entries[p];
      if (j < 0 || j >= of.columns())
        fail(errc::range,
             {"matrix: column ", j, " in row ", i, " is outside 0..", of.columns() - 1});
      if (!ascending || p == begin || entries[p - 1] < j) continue;
      if (entries[p - 1] == j)
        fail(errc::duplicate, {"matrix: there are two entries at (", i, ", ", j,
                               "); from_tuples with a combiner folds them"});
      fail(errc::order, {"matrix: row ", i, " has column ", j, " after ", entries[p - 1],
                         "; pass input::sorted to sort the rows"});
    }
  }
}

/// Sorts each row of a pattern with these entries by column. `order` becomes the permutation; it
/// stays empty if every row already ascends.
void sort_rows(const pattern& of, index* entries, std::vector<int64>& order) {
  order.clear();
  std::vector<std::pair<index, int64>> row;
  for (index i = 0; i < of.rows(); ++i) {
    const int64 begin = of.offset(i), end = of.offset(i + 1);
    if (std::is_sorted(entries + begin, entries + end)) continue;
    if (order.empty()) {
      order.resize(size(of.nnz()));
      std::iota(order.begin(), order.end(), int64{0});
    }
    row.clear();
    for (int64 p = begin; p < end; ++p) row.emplace_back(entries[p], p);
    std::sort(row.begin(), row.end());
    for (int64 p = begin; p < end; ++p) std::tie(entries[p], order[size(p)]) = row[size(p - begin)];
  }
}

std::shared_ptr<const pattern> copy_csr(index rows, index columns, const integers& offsets,
                                        const integers& entries, input how,
                                        std::vector<int64>* order) {
  check_enum("matrix", "input", how, input::trusted);
  if (how != input::trusted) check_offsets(rows, columns, offsets, entries.size());
  buffer kept = copy_columns(entries, columns);
  auto* const to = kept.data<index>();
  bool offsets_64 = false;
  buffer packed = pack_offsets(offsets, offsets_64);
  auto made = std::make_shared<const pattern>(rows, columns, static_cast<int64>(entries.size()),
                                              std::move(packed), offsets_64, std::move(kept));
  if (how == input::trusted) return made;
  check_columns(*made, how == input::checked);
  if (how == input::sorted) {
    std::vector<int64> unused;
    sort_rows(*made, to, order != nullptr ? *order : unused);
    check_columns(*made, true);
  }
  return made;
}

void check_view(index rows, index columns, const integers& offsets, const integers& entries,
                input how, place where) {
  check_enum("matrix", "input", how, input::trusted);
  if (offsets.bytes_each() < sizeof(int32))
    fail(errc::type, {"matrix: a view needs offsets of 4 or 8 bytes, not ", offsets.bytes_each(),
                      "; copy them with from_csr"});
  if (entries.bytes_each() != sizeof(index))
    fail(errc::type, {"matrix: a view needs columns of 4 bytes, not ", entries.bytes_each(),
                      "; copy and check them with from_csr"});
  if (how == input::sorted)
    fail(errc::order,
         {"matrix: a view of ", rows, "x", columns, " cannot be sorted; copy it with from_csr"});
  if (where != cpu() && how != input::trusted)
    fail(errc::place, {"matrix: a view of ", rows, "x", columns, " on ", to_string(where),
                       " cannot be checked there; pass input::trusted"});
  if (how != input::checked) return;
  check_offsets(rows, columns, offsets, entries.size());
  // The check of the pattern would report a large unsigned number as negative, so it is checked
  // here.
  if (!are_indices(entries)) narrow(entries, columns, "column", "entry", [](std::size_t, index) {});
}

std::shared_ptr<const pattern> view_csr(index rows, index columns, const integers& offsets,
                                        const integers& entries, input how, place where,
                                        void* stream) {
  check_view(rows, columns, offsets, entries, how, where);
  const auto borrowed = [&](const integers& from) {
    return buffer::borrow(const_cast<void*>(from.data()), from.bytes(), where, stream);
  };
  auto made = std::make_shared<const pattern>(
      rows, columns, static_cast<int64>(entries.size()), borrowed(offsets),
      offsets.bytes_each() == sizeof(int64), borrowed(entries));
  if (how == input::checked) check_columns(*made, true);
  return made;
}

/// The ends of `rows` rows; entry p is in row row_of[p]. Filling the rows from their ends by
/// `--end[row]` turns the ends into offsets.
template <class Offset>
buffer ends_of_rows(index rows, std::span<const index> row_of) {
  buffer out = buffer::allocate((size(rows) + 1) * sizeof(Offset));
  auto* const end = out.data<Offset>();
  std::fill_n(end, size(rows) + 1, Offset(0));
  for (const index row : row_of) ++end[row];
  std::partial_sum(end, end + rows + 1, end);
  return out;
}

template <class Offset>
std::shared_ptr<const pattern> transpose(const pattern& original, buffer& permutation) {
  const std::span<const index> row_of(original.column_indices(), size(original.nnz()));
  buffer offsets = ends_of_rows<Offset>(original.columns(), row_of);
  buffer entries = buffer::allocate(row_of.size_bytes());
  permutation = buffer::allocate(row_of.size() * sizeof(Offset));
  auto* const end = offsets.data<Offset>();
  auto* const from = permutation.data<Offset>();
  for (index i = original.rows(); i-- > 0;)
    for (int64 p = original.offset(i + 1); p-- > original.offset(i);) {
      const Offset q = --end[row_of[size(p)]];
      entries.data<index>()[q] = i;
      from[q] = static_cast<Offset>(p);
    }
  return std::make_shared<const pattern>(original.columns(), original.rows(), original.nnz(),
                                         std::move(offsets), sizeof(Offset) == sizeof(int64),
                                         std::move(entries));
}

}  // namespace

pattern::pattern(index rows, index columns, int64 nnz, buffer offsets, bool offsets_64,
                 buffer columns_of_entries)
    : rows_(rows),
      columns_(columns),
      nnz_(nnz),
      offsets_64_(offsets_64),
      offsets_(std::move(offsets)),
      entries_(std::move(columns_of_entries)) {}

std::shared_ptr<const pattern> pattern_without_entries(index rows, index columns) {
  check_shape(rows, columns);
  return or_out_of_memory("matrix", [&] {
    return std::make_shared<const pattern>(
        rows, columns, 0, buffer::zeros((size(rows) + 1) * sizeof(int32)), false, buffer());
  });
}

std::shared_ptr<const pattern> empty_pattern() noexcept {
  static int32 offset = 0;
  // Never destroyed, because a matrix may be moved from while the program exits.
  alignas(pattern) static unsigned char memory[sizeof(pattern)];
  static const pattern* const made =
      new (memory) pattern(0, 0, 0, buffer::borrow(&offset, sizeof(offset)), false, {});
  return {std::shared_ptr<const pattern>(), made};
}

std::shared_ptr<const derived> pattern::find_or_build(const char* name, build make) const {
  return or_out_of_memory(name, [&]() -> std::shared_ptr<const derived> {
    const std::lock_guard lock(mutex_);
    // Also compares the text: another library's name has another address.
    for (const auto& [kept, made] : derived_)
      if (kept.data() == name || kept == name) return made;
    derived_.emplace_back(name, make(*this));
    return derived_.back().second;
  });
}

std::vector<derived_info> pattern::derived_structures() const {
  return or_out_of_memory("derived_structures", [&] {
    const std::lock_guard lock(mutex_);
    std::vector<derived_info> out;
    for (const auto& [name, kept] : derived_) out.push_back({std::string(name), kept->bytes()});
    return out;
  });
}

void pattern::drop_derived() const {
  const std::lock_guard lock(mutex_);
  derived_.clear();
}

std::shared_ptr<const pattern> pattern::to(place target) const {
  return or_out_of_memory("to", [&]() -> std::shared_ptr<const pattern> {
    return std::make_shared<const pattern>(rows_, columns_, nnz_, offsets_.to(target), offsets_64_,
                                           entries_.to(target));
  });
}

transposed::transposed(const pattern& original) {
  if (original.where() != cpu()) {
    structure = on_cuda::transpose(original, permutation);
    return;
  }
  if (original.nnz() == 0)
    structure = pattern_without_entries(original.columns(), original.rows());
  else if (original.nnz() > highest<int32>())
    structure = transpose<int64>(original, permutation);
  else
    structure = transpose<int32>(original, permutation);
}

void prepare_derived(const pattern& structure, bool transpose, std::string_view kernel) {
  if (transpose) {
    prepare_derived(*structure.derived_of<transposed>()->structure, false, kernel);
    if (kernel == "maxk_backward" && structure.where() != cpu())
      on_cuda::prepare_row_panels(structure);
  } else if (structure.where() == cpu()) {
    structure.derived_of<row_lengths>();
  } else {
    on_cuda::prepare_derived(structure);
    if (kernel == "spmv_panels") on_cuda::prepare_column_panels(structure);
  }
}

std::size_t transposed::bytes() const {
  const std::size_t offset_bytes = structure->offsets_64() ? sizeof(int64) : sizeof(int32);
  return permutation.bytes() + size(structure->nnz()) * sizeof(index) +
         (size(structure->rows()) + 1) * offset_bytes;
}

row_lengths::row_lengths(const pattern& original) {
  for (index i = 0; i < original.rows(); ++i) {
    const int64 length = original.offset(i + 1) - original.offset(i);
    longest = std::max(longest, length);
    empty += length == 0 ? 1 : 0;
  }
}

buffer pack_offsets(const integers& offsets, bool& offsets_64) {
  buffer out;
  with_type(offsets, [&](const auto& all) {
    offsets_64 = static_cast<int64>(all[all.size - 1]) > highest<int32>();
    out = buffer::allocate(all.size * (offsets_64 ? sizeof(int64) : sizeof(int32)));
    for (std::size_t i = 0; i < all.size; ++i)
      if (offsets_64)
        out.data<int64>()[i] = static_cast<int64>(all[i]);
      else
        out.data<int32>()[i] = static_cast<int32>(all[i]);
  });
  return out;
}

std::shared_ptr<const pattern> pattern_from_csr(index rows, index columns, const integers& offsets,
                                                const integers& entries, input how,
                                                std::vector<int64>* order) {
  return or_out_of_memory("matrix",
                          [&] { return copy_csr(rows, columns, offsets, entries, how, order); });
}

std::shared_ptr<const pattern> pattern_view(index rows, index columns, const integers& offsets,
                                            const integers& entries, input how, place where,
                                            void* stream) {
  return or_out_of_memory(
      "matrix", [&] { return view_csr(rows, columns, offsets, entries, how, where, stream); });
}

namespace {

/// The positions as indices: the array itself if it has the right type, else a narrowed copy in
/// `room`.
std::span<const index> as_indices(const integers& given, index limit, const char* what,
                                  std::vector<index>& room) {
  if (are_indices(given)) return {static_cast<const index*>(given.data()), given.size()};
  room.resize(given.size());
  narrow(given, limit, what, "tuple", [&](std::size_t p, index number) { room[p] = number; });
  return room;
}

void check_tuples(index rows, index columns, std::span<const index> i, std::span<const index> j) {
  check_shape(rows, columns);
  if (i.size() != j.size())
    fail(errc::shape, {"matrix: there are ", i.size(), " row indices but ", j.size(),
                       " column indices; give one of each per entry"});
  for (std::size_t p = 0; p < i.size(); ++p)
    if (i[p] < 0 || i[p] >= rows || j[p] < 0 || j[p] >= columns)
      fail(errc::range,
           {"matrix: tuple ", p, " at (", i[p], ", ", j[p], ") is outside ", rows, "x", columns});
}

/// Sorts by row, then by (column, input order) within a row; stable, so duplicates keep their
/// order. Returns the offsets of the rows in `order`.
template <class Offset>
buffer order_by_row(index rows, std::span<const index> i, std::span<const index> j,
                    std::vector<int64>& order) {
  buffer out = ends_of_rows<Offset>(rows, i);
  auto* const offsets = out.data<Offset>();
  order.resize(i.size());
  for (std::size_t p = i.size(); p-- > 0;) order[size(--offsets[i[p]])] = static_cast<int64>(p);
  for (index row = 0; row < rows; ++row) {
    const auto first = order.begin() + offsets[row], last = order.begin() + offsets[row + 1];
    const auto before = [&](int64 p, int64 q) { return j[size(p)] < j[size(q)]; };
    if (!std::is_sorted(first, last, before)) std::stable_sort(first, last, before);
  }
  return out;
}

template <class Offset>
sorted_tuples sort_checked(index rows, index columns, std::span<const index> i,
                           std::span<const index> j, bool duplicates_allowed) {
  sorted_tuples out;
  buffer packed = order_by_row<Offset>(rows, i, j, out.order);
  auto* const offsets = packed.data<Offset>();
  std::vector<index> entries;
  entries.reserve(i.size());
  out.groups.reserve(i.size() + 1);
  // Removes repeated positions, so the offsets count the remaining entries.
  for (index row = 0; row < rows; ++row) {
    const auto begin = static_cast<int64>(offsets[row]);
    offsets[row] = static_cast<Offset>(entries.size());
    for (int64 q = begin; q < static_cast<int64>(offsets[row + 1]); ++q) {
      const index column = j[size(out.order[size(q)])];
      const bool repeated = q > begin && entries.back() == column;
      if (repeated && !duplicates_allowed)
        fail(errc::duplicate,
             {"matrix: tuples ", out.order[size(q) - 1], " and ", out.order[size(q)],
              " are both at (", row, ", ", column, "); give a combiner to fold them"});
      if (repeated) continue;
      out.groups.push_back(q);
      entries.push_back(column);
    }
  }
  offsets[rows] = static_cast<Offset>(entries.size());
  out.groups.push_back(static_cast<int64>(i.size()));
  out.structure = std::make_shared<const pattern>(
      rows, columns, static_cast<int64>(entries.size()), std::move(packed),
      sizeof(Offset) == sizeof(int64), copy_columns(entries, columns));
  return out;
}

}  // namespace

sorted_tuples sort_tuples(index rows, index columns, const integers& i, const integers& j,
                          bool duplicates_allowed) {
  return or_out_of_memory("matrix", [&] {
    std::vector<index> narrow_i, narrow_j;
    const auto of_row = as_indices(i, rows, "row", narrow_i);
    const auto of_column = as_indices(j, columns, "column", narrow_j);
    check_tuples(rows, columns, of_row, of_column);
    if (of_row.empty()) return sorted_tuples{pattern_without_entries(rows, columns), {}, {0}};
    return of_row.size() > size(highest<int32>())
               ? sort_checked<int64>(rows, columns, of_row, of_column, duplicates_allowed)
               : sort_checked<int32>(rows, columns, of_row, of_column, duplicates_allowed);
  });
}

}  // namespace rig
