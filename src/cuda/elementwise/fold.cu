// Sums of rows, and of everything, by a monoid.

#include <cstring>

#include "cuda/elementwise/each.hpp"
#include "cuda/elementwise/fold.cuh"
#include "cuda/elementwise/steps.hpp"

namespace rig::on_cuda {
namespace {

/// The most elements of a segment: longer rows, and everything, are summed in several steps.
constexpr int64 most_in_segment = 4096;

const void* kernel_of(const operation& o) {
  const operator_info& add = *o.sums->add;
  const void* const builtin = with_builtin(add, o.sums->result, [](auto of) -> const void* {
    using Op = typename decltype(of)::type;
    if constexpr (requires { typename Op::folds; })
      return reinterpret_cast<const void*>(&fold_segments<Op>);
    else
      return nullptr;
  });
  return builtin != nullptr ? builtin
                            : compiled_kernel(o, add, "fold_segments", "cuda/elementwise/fold.cuh");
}

/// Sums segments of `of` to `out`, of the type `to`.
void fold(const work& by, const operation& o, fold_arguments args, const element_source& of,
          void* out, type to, std::size_t to_bytes) {
  args.elements = arguments_of(o, *o.sums->add, o.sums->code);
  args.elements.x = array_of(of);
  args.elements.out = out;
  args.elements.out_type = to;
  args.elements.out_bytes = static_cast<unsigned>(to_bytes);
  const int64 segments_a_block = element_threads / args.lanes;
  by.launch(kernel_of(o), "fold_segments", (args.count + segments_a_block - 1) / segments_a_block,
            args);
}

/// Sums as a monoid stores them.
element_source sums_in(const buffer& sums, const monoid_info& m) {
  return {sums.data(), nullptr, nullptr, false, m.result, m.result_bytes};
}

/// Lanes per segment of so many elements: about eight elements per lane.
int lanes_for(int64 elements, int64 segments) {
  int lanes = 1;
  while (lanes < 32 && lanes * 8 * segments < elements) lanes *= 2;
  return lanes;
}

struct row_offsets {
  const void* offsets;
  bool offsets_64;
  __device__ int64 operator()(int64 row) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
};

/// The segments of rows: row r has segments first[r] … first[r + 1], and is number number[r] of the
/// rows with entries.
struct row_segments {
  buffer first, number;
  int64 count, rows;
};

row_segments segments_of(const work& by, const row_offsets& offsets, index rows) {
  row_segments out{by.room(int64{rows} + 1, sizeof(int64)), by.room(int64{rows} + 1, sizeof(int64)),
                   0, 0};
  const buffer counts = by.room(int64{rows} + 1, sizeof(int64));
  auto* const to = counts.data<int64>();
  by.each(rows, [=] __device__(int64 r) {
    to[r] = (offsets(r + 1) - offsets(r) + most_in_segment - 1) / most_in_segment;
  });
  running_sum(by, to, out.first.data<int64>(), rows);
  by.each(rows, [=] __device__(int64 r) { to[r] = to[r] > 0; });
  running_sum(by, to, out.number.data<int64>(), rows);
  by.to_host(&out.count, out.first.data<int64>() + rows, sizeof(out.count));
  out.rows = by.read(out.number.data<int64>() + rows);
  return out;
}

}  // namespace

sparse_result reduce_rows(const operation& o) {
  const work by(o);
  const sparse_operand& a = o.x.sparse;
  const monoid_info& m = *o.sums;
  const row_offsets offsets{a.offsets, a.offsets_64};
  const row_segments rows = segments_of(by, offsets, a.rows);

  sparse_result out;
  out.values = by.result(rows.rows, o.out_bytes);
  buffer entries = by.result(rows.rows, sizeof(index)), ends = by.result(2, sizeof(int32));
  const buffer segments = by.room(rows.count, sizeof(fold_segment)),
               of_rows = by.room(rows.rows, sizeof(fold_segment));
  by.each(a.rows, [=, first = rows.first.data<int64>(), number = rows.number.data<int64>(),
                   to = segments.data<fold_segment>(), row_to = of_rows.data<fold_segment>(),
                   columns = entries.data<index>()] __device__(int64 r) {
    const int64 begin = offsets(r), end = offsets(r + 1);
    if (begin == end) return;
    columns[number[r]] = static_cast<index>(r);
    row_to[number[r]] = {first[r], first[r + 1]};
    for (int64 s = first[r], at = begin; at < end; ++s, at += most_in_segment)
      to[s] = {at, at + most_in_segment < end ? at + most_in_segment : end};
  });
  by.each(2, [=, to = ends.data<int32>(), nnz = static_cast<int32>(rows.rows)] __device__(int64 k) {
    to[k] = k == 0 ? 0 : nnz;
  });

  fold_arguments args;
  args.segments = segments.data<fold_segment>();
  args.count = rows.count;
  args.lanes = lanes_for(a.nnz, rows.count);
  const bool is_whole = rows.count == rows.rows;  // no row has two segments
  if (is_whole) {
    fold(by, o, args, source_of(a), out.values.data(), o.out_type, o.out_bytes);
  } else {
    const buffer sums = by.room(rows.count, m.result_bytes);
    fold(by, o, args, source_of(a), sums.data(), m.result, m.result_bytes);
    args.segments = of_rows.data<fold_segment>();
    args.count = rows.rows;
    args.lanes = lanes_for(rows.count, rows.rows);
    fold(by, o, args, sums_in(sums, m), out.values.data(), o.out_type, o.out_bytes);
  }
  out.structure = std::make_shared<const pattern>(1, a.rows, rows.rows, std::move(ends), false,
                                                  std::move(entries));
  return out;
}

void reduce(const operation& o, void* out) {
  const work by(o);
  const monoid_info& m = *o.sums;
  const bool is_dense = o.x.what == operand::kind::dense;
  const dense_operand& full = o.x.full;
  fold_arguments args;
  args.length = most_in_segment;
  args.total = is_dense ? int64{full.rows} * full.columns : o.x.sparse.nnz;
  if (args.total == 0) return;
  if (is_dense && full.stride != full.columns && full.rows > 1) {
    args.columns = full.columns;
    args.stride = full.stride;
  }
  buffer sums;
  element_source from = is_dense ? source_of(full) : source_of(o.x.sparse);
  do {
    args.count = (args.total + args.length - 1) / args.length;
    const buffer next = by.room(args.count, m.result_bytes);
    fold(by, o, args, from, next.data(), m.result, m.result_bytes);
    sums = next;
    from = sums_in(sums, m);
    args.total = args.count;
    args.columns = args.stride = 0;
  } while (args.count > 1);
  by.to_host(out, sums.data(), m.result_bytes);
  by.wait();
}

}  // namespace rig::on_cuda
