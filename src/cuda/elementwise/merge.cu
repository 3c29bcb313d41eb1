#include "cuda/elementwise/each.hpp"
#include "cuda/elementwise/merge.cuh"
#include "cuda/elementwise/work.hpp"
#include "cuda/tuning/product.hpp"

namespace rig::on_cuda {
namespace {

merge_operand operand_of(const sparse_operand* of) {
  if (of == nullptr) return {};
  return {of->offsets, of->offsets_64, of->entries};
}

/// The place before which `work` rows and entries lie, as `cut_at` on the CPU.
__device__ merge_cut cut_at(const merge_operand& x, const merge_operand& y, index rows,
                            index columns, int64 work) {
  const auto before_row = [&](index row) {
    return row + x.offset(row) - x.offset(0) + y.offset(row) - y.offset(0);
  };
  index low = 0, high = rows;  // the last row with at most `work` before it
  while (low < high) {
    const index middle = high - (high - low) / 2;
    if (before_row(middle) <= work)
      low = middle;
    else
      high = middle - 1;
  }
  if (low == rows) return {low, 0, x.offset(rows), y.offset(rows)};
  const int64 rest = work - before_row(low);
  const auto before_column = [&](index column) {
    return x.first_from(low, column) - x.offset(low) + y.first_from(low, column) - y.offset(low);
  };
  index left = 0, right = columns;  // the last column with at most `rest` before it
  while (left < right) {
    const index middle = right - (right - left) / 2;
    if (before_column(middle) <= rest)
      left = middle;
    else
      right = middle - 1;
  }
  return {low, left, x.first_from(low, left), y.first_from(low, left)};
}

template <class Op>
const void* merge_kernel(bool plain) {
  return plain ? reinterpret_cast<const void*>(&merge_tiles<Op, true>)
               : reinterpret_cast<const void*>(&merge_tiles<Op, false>);
}

device_kernel merging_kernel(const operation& o, const operator_info* op, bool plain) {
  if (op == nullptr)
    return kernel_by_nvcc(merge_kernel<copying<unsigned char>>(plain), "merge_tiles");
  return kernel_of(o, *op, o.out_type, {"merge_tiles", "cuda/elementwise/merge.cuh", {plain}},
                   [&](auto of) { return merge_kernel<typename decltype(of)::type>(plain); });
}

}  // namespace

sparse_result merge(const merge_step& m) {
  const operation& o = m.of;
  const work by(o);
  const index rows = m.x->rows, columns = m.x->columns;
  merge_arguments args;
  args.x = operand_of(m.x);
  args.y = operand_of(m.y);
  if (o.mask.over != mask_operand::kind::absent) args.mask = mask_arguments_of(o.mask);
  for (std::size_t state = 0; state < m.rules.size(); ++state)
    args.rules |= static_cast<unsigned>(m.rules[state]) << 2 * state;
  args.keep = m.keep;
  args.region_rows = m.region_rows;
  args.region_columns = m.region_columns;

  const int64 items = rows + m.x->nnz + (m.y != nullptr ? m.y->nnz : 0);
  const int64 tiles = (items + merge_items - 1) / merge_items;
  const buffer cuts = by.room(tiles + 1, sizeof(merge_cut));
  by.each(tiles + 1, [=, x = args.x, y = args.y, to = cuts.data<merge_cut>()] __device__(int64 k) {
    to[k] = cut_at(x, y, rows, columns, k < tiles ? k * merge_items : items);
  });
  const buffer counts = by.room(tiles + 1, sizeof(int64)),
               before = by.room(tiles + 1, sizeof(int64));
  args.cuts = cuts.data<merge_cut>();
  args.counts = counts.data<int64>();
  const bool is_plain = args.mask.over == mask_arguments::absent && m.keep == nullptr &&
                        m.region_rows == nullptr && m.region_columns == nullptr;
  by.launch(kernel_by_nvcc(merge_kernel<void>(is_plain), "merge_tiles"), tiles, &args);
  running_sum(by, counts.data<int64>(), before.data<int64>(), tiles);
  const int64 nnz = by.read(before.data<int64>() + tiles);

  const bool offsets_64 = nnz > highest<int32>();
  const std::size_t offset_bytes = offsets_64 ? sizeof(int64) : sizeof(int32);
  buffer offsets = by.result(int64{rows} + 1, offset_bytes),
         entries = by.result(nnz, sizeof(index));
  sparse_result out;
  if (m.op != nullptr) {
    out.values = by.result(nnz, o.out_bytes);
    args.elements = arguments_of(o, *m.op, m.code);
    args.elements.x = array_of(source_of(*m.x));
    if (m.y != nullptr) args.elements.y = array_of(source_of(*m.y));
    args.elements.out = out.values.data();
    args.has_values = true;
  }
  check(cudaMemsetAsync(offsets.data(), 0, offset_bytes, by.stream), o.name);
  args.counts = before.data<int64>();
  args.offsets = offsets.data();
  args.offsets_64 = offsets_64;
  args.columns = entries.data<index>();
  by.launch(merging_kernel(o, m.op, is_plain), tiles, &args);
  out.structure = std::make_shared<const pattern>(rows, columns, nnz, std::move(offsets),
                                                  offsets_64, std::move(entries));
  return out;
}

}  // namespace rig::on_cuda
