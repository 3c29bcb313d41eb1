// `assign`: the region of C that it writes to, and the operand's entries at their places in C.

#include <algorithm>
#include <vector>

#include "rig/kernels/cpu/element.hpp"
#include "storage/backend.hpp"
#include "storage/integers.hpp"
#include "storage/room.hpp"

namespace rig::on_cpu {
namespace {

buffer flags_of(const index_list& list, index limit) {
  if (list.what == index_list::kind::all) return {};
  buffer out = buffer::allocate(static_cast<std::size_t>(limit));
  std::fill_n(out.data<bool>(), limit, false);
  const int64 count = list.size(limit);
  for (int64 k = 0; k < count; ++k) out.data<bool>()[list[k]] = true;
  return out;
}

/// The numbers with a flag; all of them without flags.
std::vector<index> members(const buffer& flags, index limit) {
  std::vector<index> out;
  for (index k = 0; k < limit; ++k)
    if (flags.data<bool>() == nullptr || flags.data<bool>()[k]) out.push_back(k);
  return out;
}

/// The places in C of the entries of X, or of the tuples of `build`.
struct places_in_c {
  std::vector<index> rows, columns;

  explicit places_in_c(const operation& o) {
    if (o.what == operation::kind::build) {
      make_room(o.x.rows());
      for (index p = 0; p < o.x.rows(); ++p) add(o.rows[p], o.columns[p]);
      return;
    }
    const sparse_operand& a = o.x.sparse;
    make_room(a.nnz);
    for (index i = 0; i < a.rows; ++i)
      for (int64 p = a.offset(i); p < a.offset(i + 1); ++p) add(o.rows[i], o.columns[a.entries[p]]);
  }

 private:
  void make_room(int64 count) {
    reserve(rows, size(count));
    reserve(columns, size(count));
  }
  void add(index row, index column) {
    rows.push_back(row);
    columns.push_back(column);
  }
};

/// Joins the entries that meet, from the second on, in the order of X.
void accumulate_groups(const operation& o, const sorted_tuples& sorted, const buffer& values) {
  const element_source of = source_of(values.data(), o.out_type, o.out_bytes);
  const element_source from = source_of(o.x);
  for (std::size_t p = 0; p + 1 < sorted.groups.size(); ++p)
    for (int64 q = sorted.groups[p] + 1; q < sorted.groups[p + 1]; ++q) {
      const auto to = static_cast<int64>(p);
      run_block(*o.accumulates, o.accumulates_code, of, {&to}, from,
                {&sorted.order[static_cast<std::size_t>(q)]}, o.out_type, o.out_bytes,
                values.data<unsigned char>() + p * o.out_bytes, 1);
    }
}

}  // namespace

wrong_index find_outside(const operation&, const index_list& list, index limit) {
  const int64 count = list.size(limit);
  for (int64 k = 0; k < count; ++k)
    if (list[k] < 0 || list[k] >= limit) return {k, list[k]};
  return {count, 0};
}

assigned_region region(const operation& o) {
  return {flags_of(o.rows, o.c.rows()), flags_of(o.columns, o.c.columns())};
}

std::shared_ptr<const pattern> fill_region(const operation& o, const assigned_region& region) {
  const std::vector<index> rows = members(region.rows, o.c.rows()),
                           columns = members(region.columns, o.c.columns());
  auto offsets = filled<int64>(size(o.c.rows()) + 1);
  std::vector<index> entries;
  reserve(entries, rows.size() * columns.size());
  for (const index i : rows) offsets[static_cast<std::size_t>(i) + 1] = 1;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] != 0) entries.insert(entries.end(), columns.begin(), columns.end());
    offsets[i] = static_cast<int64>(entries.size());
  }
  return pattern_from_csr(o.c.rows(), o.c.columns(), offsets, entries, input::trusted);
}

sparse_result placed(const operation& o) {
  const places_in_c at(o);
  const bool accumulates = o.accum != accumulator::none;
  const bool may_repeat = accumulates || o.what != operation::kind::build;
  const sorted_tuples sorted =
      sort_tuples(o.c.rows(), o.c.columns(), at.rows, at.columns, may_repeat);
  rearranged in_order;
  in_order.structure = sorted.structure;
  const auto count = static_cast<std::size_t>(sorted.structure->nnz());
  in_order.x = buffer::allocate(count * sizeof(int64));
  for (std::size_t p = 0; p < count; ++p)
    in_order.x.data<int64>()[p] = sorted.order[static_cast<std::size_t>(
        accumulates ? sorted.groups[p] : sorted.groups[p + 1] - 1)];
  sparse_result out;
  out.structure = sorted.structure;
  out.values = values(o, in_order, converting(o));
  if (accumulates && count < sorted.order.size()) accumulate_groups(o, sorted, out.values);
  return out;
}

}  // namespace rig::on_cpu
