#include "rig/pattern.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <tuple>

#include "storage/backend.hpp"
#include "storage/integers.hpp"
#include "storage/room.hpp"

namespace rig {
namespace {

void check_offsets(index rows, index columns, const integers& given, std::size_t entries) {
  check_shape("matrix", rows, columns);
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

buffer copy_columns(const integers& given, index columns) {
  buffer out = buffer::allocate(given.size() * sizeof(index));
  auto* const to = out.data<index>();
  if (are_indices(given))
    std::copy_n(static_cast<const index*>(given.data()), given.size(), to);
  else
    narrow(given, columns, "column", "entry", [&](std::size_t p, index j) { to[p] = j; });
  return out;
}

/// `sort_them`: how the caller gets sorted rows.
void check_columns(const pattern& of, bool ascending,
                   const char* sort_them = "pass input::sorted to sort the rows") {
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
      fail(errc::order,
           {"matrix: row ", i, " has column ", j, " after ", entries[p - 1], "; ", sort_them});
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
      order = filled<int64>(size(of.nnz()));
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
  if (how == input::checked)
    check_columns(*made, true, "a view cannot be sorted; copy it with from_csr and input::sorted");
  return made;
}

template <index Rows>
std::shared_ptr<const pattern> without_columns() noexcept {
  static int32 offsets[Rows + 1] = {};
  // Never destroyed, because a container may be moved from while the program exits.
  alignas(pattern) static unsigned char memory[sizeof(pattern)];
  static const pattern* const made =
      new (memory) pattern(Rows, 0, 0, buffer::borrow(offsets, sizeof(offsets)), false, {});
  return {std::shared_ptr<const pattern>(), made};
}

}  // namespace

pattern::pattern(checked_index rows, checked_index columns, int64 nnz, buffer offsets,
                 bool offsets_64, buffer columns_of_entries)
    : rows_(rows.as("pattern", "rows")),
      columns_(columns.as("pattern", "columns")),
      nnz_(nnz),
      offsets_64_(offsets_64),
      offsets_(std::move(offsets)),
      entries_(std::move(columns_of_entries)) {}

bool has_same_places(const pattern& x, const pattern& y) {
  if (&x == &y) return true;
  if (x.rows() != y.rows() || x.columns() != y.columns() || x.nnz() != y.nnz()) return false;
  for (index i = 0; i < x.rows(); ++i)
    if (x.offset(i + 1) != y.offset(i + 1)) return false;
  return std::equal(x.column_indices(), x.column_indices() + x.nnz(), y.column_indices());
}

std::shared_ptr<const pattern> pattern_without_entries(checked_index rows, checked_index columns) {
  check_shape("matrix", rows, columns);
  return or_out_of_memory("matrix", [&] {
    return std::make_shared<const pattern>(
        rows, columns, 0, buffer::zeros((size(rows) + 1) * sizeof(int32)), false, buffer());
  });
}

std::shared_ptr<const pattern> empty_pattern() noexcept { return without_columns<0>(); }
std::shared_ptr<const pattern> empty_row() noexcept { return without_columns<1>(); }

std::shared_ptr<const derived> pattern::find_or_build(const char* name, build make) const {
  if (original_ != nullptr) return original_->find_or_build(name, make);
  return or_out_of_memory(name, [&]() -> std::shared_ptr<const derived> {
    const std::lock_guard lock(mutex_);
    // Also compares the text: another library's name has another address.
    for (const auto& [kept, made] : derived_)
      if (kept.data() == name || kept == name) return made;
    backend_of(where()).refuse_captured_build(name, where().device, stream());
    derived_.emplace_back(name, make(*this));
    return derived_.back().second;
  });
}

void pattern::keep_derived(const char* name, std::shared_ptr<const derived> made) const {
  const std::lock_guard lock(mutex_);
  std::erase_if(derived_, [&](const auto& kept) { return kept.first == name; });
  derived_.emplace_back(name, std::move(made));
}

bool pattern::is_prepared(bool transposed, std::string_view kernel) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(prepared_.begin(), prepared_.end(), [&](const auto& made) {
    return made.first == transposed && (kernel.empty() || made.second == kernel);
  });
}

void pattern::set_prepared(bool transposed, std::string_view kernel) const {
  const std::lock_guard lock(mutex_);
  const std::pair<bool, std::string> made(transposed, kernel);
  if (std::find(prepared_.begin(), prepared_.end(), made) == prepared_.end())
    prepared_.push_back(made);
}

std::shared_ptr<const pattern> pattern::prepared_apart(const std::shared_ptr<const pattern>& of) {
  const auto out = std::make_shared<pattern>(of->rows_, of->columns_, of->nnz_, of->offsets_,
                                             of->offsets_64_, of->entries_);
  {
    const std::lock_guard lock(of->mutex_);
    out->prepared_ = of->prepared_;
  }
  out->original_ = of->original_ != nullptr ? of->original_ : of;
  return out;
}

std::vector<derived_info> pattern::derived_structures() const {
  if (original_ != nullptr) return original_->derived_structures();
  return or_out_of_memory("derived_structures", [&] {
    const std::lock_guard lock(mutex_);
    std::vector<derived_info> out;
    for (const auto& [name, kept] : derived_) out.push_back({std::string(name), kept->bytes()});
    return out;
  });
}

void pattern::drop_derived() const {
  if (original_ != nullptr) original_->drop_derived();
  const std::lock_guard lock(mutex_);
  derived_.clear();
  prepared_.clear();
}

std::shared_ptr<const pattern> pattern::to(place target) const {
  return or_out_of_memory("to", [&]() -> std::shared_ptr<const pattern> {
    return std::make_shared<const pattern>(rows_, columns_, nnz_, offsets_.to(target), offsets_64_,
                                           entries_.to(target));
  });
}

transposed::transposed(const pattern& original) {
  structure = backend_of(original.where()).transpose(original, permutation);
}

std::size_t transposed::bytes() const {
  const std::size_t offset_bytes = structure->offsets_64() ? sizeof(int64) : sizeof(int32);
  std::size_t out = permutation.bytes() + size(structure->nnz()) * sizeof(index) +
                    (size(structure->rows()) + 1) * offset_bytes;
  for (const derived_info& one : structure->derived_structures()) out += one.bytes;
  return out;
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

std::shared_ptr<const pattern> pattern_from_csr(checked_index rows, checked_index columns,
                                                const integers& offsets, const integers& entries,
                                                input how, std::vector<int64>* order) {
  return or_out_of_memory("matrix", [&] {
    return copy_csr(rows.as("matrix", "rows"), columns.as("matrix", "columns"), offsets, entries,
                    how, order);
  });
}

std::shared_ptr<const pattern> pattern_view(checked_index rows, checked_index columns,
                                            const integers& offsets, const integers& entries,
                                            input how, place where, void* stream) {
  return or_out_of_memory("matrix", [&] {
    return view_csr(rows.as("matrix", "rows"), columns.as("matrix", "columns"), offsets, entries,
                    how, where, stream);
  });
}

}  // namespace rig
