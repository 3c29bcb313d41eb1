#include "rig/pattern.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "cuda/device.hpp"

namespace rig {
namespace {

std::size_t size(int64 count) { return static_cast<std::size_t>(count); }

void check_shape(index rows, index columns) {
  if (rows < 0 || columns < 0)
    fail(errc::shape, {"matrix: ", rows, "x", columns, " is not a shape"});
}

template <class Offset>
void check_offsets(index rows, index columns, std::span<const Offset> offsets,
                   std::size_t entries) {
  check_shape(rows, columns);
  if (offsets.size() != size(rows) + 1)
    fail(errc::shape,
         {"matrix: ", rows, " rows need ", size(rows) + 1, " offsets, got ", offsets.size()});
  if (offsets[0] != 0) fail(errc::range, {"matrix: the first offset is ", offsets[0], ", not 0"});
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
    if (offsets[i + 1] < offsets[i])
      fail(errc::range, {"matrix: offset ", i + 1, " is ", offsets[i + 1], ", less than ",
                         offsets[i], " before it"});
  if (size(offsets.back()) != entries)
    fail(errc::shape,
         {"matrix: the last offset is ", offsets.back(), ", but there are ", entries, " entries"});
}

template <class Offset>
void check_columns(index columns, std::span<const Offset> offsets, std::span<const index> entries,
                   bool ascending) {
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    for (auto p = size(offsets[i]); p < size(offsets[i + 1]); ++p) {
      const index j = entries[p];
      if (j < 0 || j >= columns)
        fail(errc::range, {"matrix: column ", j, " in row ", i, " is outside 0..", columns - 1});
      if (!ascending || p == size(offsets[i]) || entries[p - 1] < j) continue;
      if (entries[p - 1] == j) fail(errc::duplicate, {"matrix: two entries at (", i, ", ", j, ")"});
      fail(errc::order, {"matrix: row ", i, " has column ", j, " after ", entries[p - 1],
                         "; input::sorted sorts"});
    }
  }
}

/// Sorts each row by column; `order` becomes the permutation, or stays empty if every row ascends
/// already.
template <class Offset>
void sort_rows(std::span<const Offset> offsets, std::span<index> entries,
               std::vector<int64>& order) {
  order.clear();
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto begin = size(offsets[i]), end = size(offsets[i + 1]);
    if (std::is_sorted(entries.begin() + offsets[i], entries.begin() + offsets[i + 1])) continue;
    if (order.empty()) {
      order.resize(entries.size());
      std::iota(order.begin(), order.end(), int64{0});
    }
    std::vector<std::pair<index, int64>> row(end - begin);
    for (auto p = begin; p < end; ++p) row[p - begin] = {entries[p], static_cast<int64>(p)};
    std::sort(row.begin(), row.end());
    for (auto p = begin; p < end; ++p) std::tie(entries[p], order[p]) = row[p - begin];
  }
}

template <class Offset>
buffer copy_offsets(std::span<const Offset> offsets, bool& wide) {
  wide = offsets.back() > highest<int32>();
  buffer out = buffer::allocate(offsets.size() * (wide ? sizeof(int64) : sizeof(int32)));
  if (wide)
    std::copy(offsets.begin(), offsets.end(), out.data<int64>());
  else
    std::transform(offsets.begin(), offsets.end(), out.data<int32>(),
                   [](Offset x) { return static_cast<int32>(x); });
  return out;
}

template <class Offset>
std::shared_ptr<const pattern> copy_csr(index rows, index columns, std::span<const Offset> offsets,
                                        std::span<const index> entries, input how,
                                        std::vector<int64>* order) {
  check_enum("matrix", "input", how, input::trusted);
  if (how != input::trusted) {
    check_offsets(rows, columns, offsets, entries.size());
    check_columns(columns, offsets, entries, how == input::checked);
  }
  buffer kept = buffer::allocate(entries.size_bytes());
  std::copy(entries.begin(), entries.end(), kept.data<index>());
  if (how == input::sorted) {
    std::vector<int64> unused;
    const std::span<index> sorted(kept.data<index>(), entries.size());
    sort_rows(offsets, sorted, order != nullptr ? *order : unused);
    check_columns(columns, offsets, std::span<const index>(sorted), true);
  }
  bool wide = false;
  buffer packed = copy_offsets(offsets, wide);
  return std::make_shared<const pattern>(rows, columns, static_cast<int64>(entries.size()),
                                         std::move(packed), wide, std::move(kept));
}

template <class Offset>
std::shared_ptr<const pattern> view_csr(index rows, index columns, std::span<const Offset> offsets,
                                        std::span<const index> entries, input how, place where,
                                        void* stream) {
  check_enum("matrix", "input", how, input::trusted);
  if (how == input::sorted)
    fail(errc::order,
         {"matrix: a view of ", rows, "x", columns, " cannot be sorted; copy it with from_csr"});
  if (where != cpu() && how != input::trusted)
    fail(errc::place, {"matrix: a view of ", rows, "x", columns, " on ", to_string(where),
                       " cannot be checked there; say input::trusted"});
  if (how == input::checked) {
    check_offsets(rows, columns, offsets, entries.size());
    check_columns(columns, offsets, entries, true);
  }
  return std::make_shared<const pattern>(
      rows, columns, static_cast<int64>(entries.size()),
      buffer::borrow(const_cast<Offset*>(offsets.data()), offsets.size_bytes(), where, stream),
      std::is_same_v<Offset, int64>,
      buffer::borrow(const_cast<index*>(entries.data()), entries.size_bytes(), where, stream));
}

}  // namespace

pattern::pattern(index rows, index columns, int64 nnz, buffer offsets, bool wide,
                 buffer columns_of_entries)
    : rows_(rows),
      columns_(columns),
      nnz_(nnz),
      wide_(wide),
      offsets_(std::move(offsets)),
      entries_(std::move(columns_of_entries)) {}

std::shared_ptr<const pattern> empty_pattern() noexcept {
  static int32 offset = 0;
  // Not destroyed: a matrix may be moved from while the program exits.
  alignas(pattern) static unsigned char memory[sizeof(pattern)];
  static const pattern* const made =
      new (memory) pattern(0, 0, 0, buffer::borrow(&offset, sizeof(offset)), false, {});
  return {std::shared_ptr<const pattern>(), made};
}

std::shared_ptr<const form> pattern::find_or_build(const char* name, build make) const {
  return or_out_of_memory(name, [&]() -> std::shared_ptr<const form> {
    const std::lock_guard lock(mutex_);
    // The text is compared for a form that another library asked for.
    for (const auto& [kept, made] : forms_)
      if (kept.data() == name || kept == name) return made;
    forms_.emplace_back(name, make(*this));
    return forms_.back().second;
  });
}

std::vector<form_info> pattern::forms() const {
  return or_out_of_memory("forms", [&] {
    const std::lock_guard lock(mutex_);
    std::vector<form_info> out;
    for (const auto& [name, kept] : forms_) out.push_back({std::string(name), kept->bytes()});
    return out;
  });
}

void pattern::drop_forms() const {
  const std::lock_guard lock(mutex_);
  forms_.clear();
}

std::shared_ptr<const pattern> pattern::to(place target) const {
  return or_out_of_memory("to", [&]() -> std::shared_ptr<const pattern> {
    return std::make_shared<const pattern>(rows_, columns_, nnz_, offsets_.to(target), wide_,
                                           entries_.to(target));
  });
}

transposed::transposed(const pattern& original) {
  if (original.where() != cpu()) {
    structure = on_cuda::transpose(original, permutation);
    return;
  }
  const index rows = original.columns(), columns = original.rows();
  std::vector<int64> next(size(rows) + 1, 0);
  const index* entries = original.entries();
  for (int64 p = 0; p < original.nnz(); ++p) ++next[size(entries[p]) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  bool wide = false;
  buffer offsets = pack_offsets(next, wide);
  buffer kept = buffer::allocate(size(original.nnz()) * sizeof(index));
  permutation = buffer::allocate(size(original.nnz()) * (wide ? sizeof(int64) : sizeof(int32)));
  for (index i = 0; i < columns; ++i) {
    for (int64 p = original.offset(i); p < original.offset(i + 1); ++p) {
      const int64 q = next[size(entries[p])]++;
      kept.data<index>()[q] = i;
      if (wide)
        permutation.data<int64>()[q] = p;
      else
        permutation.data<int32>()[q] = static_cast<int32>(p);
    }
  }
  structure = std::make_shared<const pattern>(rows, columns, original.nnz(), std::move(offsets),
                                              wide, std::move(kept));
}

void prepare_forms(const pattern& structure, bool transpose, std::string_view kernel) {
  if (transpose) {
    prepare_forms(*structure.form_of<transposed>()->structure, false, kernel);
    if (kernel == "maxk_backward" && structure.where() != cpu())
      on_cuda::prepare_row_panels(structure);
  } else if (structure.where() == cpu()) {
    structure.form_of<row_lengths>();
  } else {
    on_cuda::prepare_forms(structure);
    if (kernel == "spmv_panels") on_cuda::prepare_column_panels(structure);
  }
}

std::size_t transposed::bytes() const {
  const std::size_t offset_bytes = structure->wide() ? sizeof(int64) : sizeof(int32);
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

buffer pack_offsets(std::span<const int64> offsets, bool& wide) {
  return copy_offsets(offsets, wide);
}

std::shared_ptr<const pattern> pattern_from_csr(index rows, index columns,
                                                std::span<const int64> offsets,
                                                std::span<const index> entries, input how,
                                                std::vector<int64>* order) {
  return or_out_of_memory("matrix",
                          [&] { return copy_csr(rows, columns, offsets, entries, how, order); });
}

std::shared_ptr<const pattern> pattern_from_csr(index rows, index columns,
                                                std::span<const int32> offsets,
                                                std::span<const index> entries, input how,
                                                std::vector<int64>* order) {
  return or_out_of_memory("matrix",
                          [&] { return copy_csr(rows, columns, offsets, entries, how, order); });
}

namespace {

std::vector<index> narrow(std::span<const int64> entries, index columns) {
  std::vector<index> out(entries.size());
  for (std::size_t p = 0; p < entries.size(); ++p) {
    if (entries[p] < 0 || entries[p] >= columns)
      fail(errc::range,
           {"matrix: column ", entries[p], " of entry ", p, " is outside 0..", columns - 1});
    out[p] = static_cast<index>(entries[p]);
  }
  return out;
}

}  // namespace

std::shared_ptr<const pattern> pattern_from_csr(index rows, index columns,
                                                std::span<const int64> offsets,
                                                std::span<const int64> entries, input how,
                                                std::vector<int64>* order) {
  return or_out_of_memory("matrix", [&] {
    const std::vector<index> kept = narrow(entries, columns);
    return copy_csr(rows, columns, offsets, std::span<const index>(kept), how, order);
  });
}

std::shared_ptr<const pattern> pattern_from_csr(index rows, index columns,
                                                std::span<const int32> offsets,
                                                std::span<const int64> entries, input how,
                                                std::vector<int64>* order) {
  return or_out_of_memory("matrix", [&] {
    const std::vector<index> kept = narrow(entries, columns);
    return copy_csr(rows, columns, offsets, std::span<const index>(kept), how, order);
  });
}

std::shared_ptr<const pattern> pattern_view(index rows, index columns,
                                            std::span<const int64> offsets,
                                            std::span<const index> entries, input how, place where,
                                            void* stream) {
  return or_out_of_memory(
      "matrix", [&] { return view_csr(rows, columns, offsets, entries, how, where, stream); });
}

std::shared_ptr<const pattern> pattern_view(index rows, index columns,
                                            std::span<const int32> offsets,
                                            std::span<const index> entries, input how, place where,
                                            void* stream) {
  return or_out_of_memory(
      "matrix", [&] { return view_csr(rows, columns, offsets, entries, how, where, stream); });
}

namespace {

sorted_tuples sort_checked(index rows, index columns, std::span<const index> i,
                           std::span<const index> j, bool duplicates_allowed) {
  check_shape(rows, columns);
  if (i.size() != j.size())
    fail(errc::shape, {"matrix: ", i.size(), " row indices, ", j.size(), " column indices"});
  std::vector<int64> next(size(rows) + 1, 0);
  for (std::size_t p = 0; p < i.size(); ++p) {
    if (i[p] < 0 || i[p] >= rows || j[p] < 0 || j[p] >= columns)
      fail(errc::range,
           {"matrix: tuple ", p, " at (", i[p], ", ", j[p], ") is outside ", rows, "x", columns});
    ++next[size(i[p]) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<int64> begin = next;

  // By row, then within a row by (column, place in the input): stable, so duplicates keep the
  // input's order.
  sorted_tuples out;
  out.order.resize(i.size());
  for (std::size_t p = 0; p < i.size(); ++p)
    out.order[size(next[size(i[p])]++)] = static_cast<int64>(p);
  for (index row = 0; row < rows; ++row) {
    const auto first = out.order.begin() + begin[size(row)],
               last = out.order.begin() + begin[size(row) + 1];
    const auto before = [&](int64 p, int64 q) { return j[size(p)] < j[size(q)]; };
    if (!std::is_sorted(first, last, before)) std::stable_sort(first, last, before);
  }

  std::vector<int64> offsets(size(rows) + 1, 0);
  std::vector<index> entries;
  entries.reserve(i.size());
  out.groups.reserve(i.size() + 1);
  for (index row = 0; row < rows; ++row) {
    for (int64 q = begin[size(row)]; q < begin[size(row) + 1]; ++q) {
      const index column = j[size(out.order[size(q)])];
      const bool repeated =
          static_cast<int64>(entries.size()) > offsets[size(row)] && entries.back() == column;
      if (repeated && !duplicates_allowed)
        fail(errc::duplicate,
             {"matrix: tuples ", out.order[size(q) - 1], " and ", out.order[size(q)],
              " are both at (", row, ", ", column, "); give a combiner to fold them"});
      if (repeated) continue;
      out.groups.push_back(q);
      entries.push_back(column);
    }
    offsets[size(row) + 1] = static_cast<int64>(entries.size());
  }
  out.groups.push_back(static_cast<int64>(i.size()));
  out.structure = pattern_from_csr(rows, columns, std::span<const int64>(offsets),
                                   std::span<const index>(entries), input::trusted);
  return out;
}

}  // namespace

sorted_tuples sort_tuples(index rows, index columns, std::span<const index> i,
                          std::span<const index> j, bool duplicates_allowed) {
  return or_out_of_memory("matrix",
                          [&] { return sort_checked(rows, columns, i, j, duplicates_allowed); });
}

}  // namespace rig
