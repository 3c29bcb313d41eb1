// Sums of rows, and of everything, by a monoid.

#include <algorithm>
#include <cstdint>

#include "cuda/elementwise/each.hpp"
#include "cuda/elementwise/fold.cuh"
#include "cuda/elementwise/work.hpp"

namespace rig::on_cuda {
namespace {

/// The most elements of a segment: longer rows, and everything, are summed in several steps.
constexpr int64 most_in_segment = 4096;
/// The most elements of a column that one thread sums.
constexpr int64 most_in_column_segment = 256;
/// The segments of one long line, and the elements that each reads in turn.
constexpr int64 segments_of_line = 8192, part_of_line = 1024;

device_kernel folding_kernel(const operation& o) {
  return kernel_of(o, *o.sums->add, o.sums->result, {"fold_segments", "cuda/elementwise/fold.cuh"},
                   [](auto of) -> const void* {
                     using Op = typename decltype(of)::type;
                     if constexpr (requires { typename Op::folds; })
                       return reinterpret_cast<const void*>(&fold_segments<Op>);
                     else
                       return nullptr;
                   });
}

/// Sums segments of `of` to `out`, of the type `to`.
void fold(const work& by, const operation& o, fold_arguments args, const element_source& of,
          void* out, type to, std::size_t to_bytes) {
  args.elements = arguments_of(o, *o.sums->add, o.sums->code);
  args.elements.x = array_of(of);
  args.elements.out = out;
  args.elements.out_type = to;
  args.elements.out_bytes = static_cast<unsigned>(to_bytes);
  args.in_vectors = args.in_vectors && of.values != nullptr && of.permutation == nullptr &&
                    of.stored == o.sums->result && of.stored != type::other;
  const int64 segments_per_block = element_threads / args.lanes;
  by.launch(folding_kernel(o), (args.count + segments_per_block - 1) / segments_per_block, &args);
}

/// Sums as a monoid stores them.
element_source sums_in(const buffer& sums, const monoid_info& m) {
  return {sums.data(), nullptr, nullptr, false, m.result, m.result_bytes};
}

/// Lanes per segment of so many elements: about four elements per lane.
int lanes_for(int64 elements, int64 segments) {
  int lanes = 1;
  while (lanes < 32 && lanes * 4 * segments < elements) lanes *= 2;
  return lanes;
}

struct row_offsets {
  const void* offsets;
  bool offsets_64;
  __device__ int64 operator()(int64 row) const { return offset_at(offsets, offsets_64, row); }
};

/// The segments of rows: before row r there are the sum of segments and of rows with entries, in
/// one number each.
struct row_segments {
  buffer before;
  int64 count, rows;

  static constexpr int bits = 31;  ///< of the number of rows
  static __device__ __host__ int64 segments(int64 both) { return both >> bits; }
  static __device__ __host__ int64 row(int64 both) { return both & ((int64{1} << bits) - 1); }
};

row_segments segments_of(const work& by, const row_offsets& offsets, index rows) {
  const buffer counts = by.room(rows, sizeof(int64));
  by.each(rows, [=, to = counts.data<int64>()] __device__(int64 r) {
    const int64 segments = (offsets(r + 1) - offsets(r) + most_in_segment - 1) / most_in_segment;
    to[r] = segments << row_segments::bits | (segments > 0);
  });
  row_segments out{by.room(int64{rows} + 1, sizeof(int64)), 0, 0};
  running_sum(by, counts.data<int64>(), out.before.data<int64>(), rows);
  const int64 both = by.read(out.before.data<int64>() + rows);
  out.count = row_segments::segments(both);
  out.rows = row_segments::row(both);
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
  by.each(a.rows, [=, before = rows.before.data<int64>(), to = segments.data<fold_segment>(),
                   row_to = of_rows.data<fold_segment>(),
                   columns = entries.data<index>()] __device__(int64 r) {
    const int64 begin = offsets(r), end = offsets(r + 1);
    if (begin == end) return;
    const int64 number = row_segments::row(before[r]), first = row_segments::segments(before[r]);
    columns[number] = static_cast<index>(r);
    row_to[number] = {first, row_segments::segments(before[r + 1])};
    for (int64 s = first, at = begin; at < end; ++s, at += most_in_segment)
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

namespace {

/// Lines of a dense operand, or of sums.
struct lines_of {
  element_source from;
  int64 lines, total, line_stride, stride;
};

/// Whether each segment of a line begins on 16 bytes.
bool can_read_vectors(const lines_of& of, int64 width) {
  return of.stride == 1 && width > 0 && most_in_segment % width == 0 &&
         (of.lines == 1 || of.line_stride % width == 0) &&
         reinterpret_cast<std::uintptr_t>(of.from.values) % 16 == 0;
}

/// Sums lines in steps, until one sum per line is left for `last`, the step that may convert.
template <class Last>
void fold_lines(const work& by, const operation& o, lines_of of, Last last) {
  const monoid_info& m = *o.sums;
  buffer sums;
  for (;;) {
    fold_arguments args;
    // The lanes of a warp read one line, or neighbouring lines if those lie side by side.
    const bool is_across = of.stride > 1 && of.line_stride == 1;
    const int64 width = 16 / static_cast<int64>(std::max<std::size_t>(m.result_bytes, 1));
    args.in_vectors = can_read_vectors(of, width);
    args.length = is_across ? most_in_column_segment : most_in_segment;
    args.lanes =
        is_across ? 1 : lanes_for(of.lines * of.total / (args.in_vectors ? width : 1), of.lines);
    args.lines = of.lines;
    args.total = of.total;
    args.line_stride = of.line_stride;
    args.stride = of.stride;
    int64 chunks = (of.total + args.length - 1) / args.length;
    if (of.lines == 1 && chunks > 1) {
      // Segments of a long line take turns, so that all of them read side by side.
      args.length = part_of_line;
      chunks = std::min(segments_of_line, (of.total + part_of_line - 1) / part_of_line);
      args.step = chunks * part_of_line;
    }
    args.count = of.lines * chunks;
    if (chunks == 1) return last(args, of.from);
    const buffer next = by.room(args.count, m.result_bytes);
    fold(by, o, args, of.from, next.data(), m.result, m.result_bytes);
    sums = next;
    of = {sums_in(sums, m), of.lines, chunks, 1, of.lines};
  }
}

/// The rows of a dense operand as lines; one line if all is packed and `joined`.
lines_of rows_of(const dense_operand& x, bool joined) {
  const bool is_packed = x.stride == x.columns || x.rows == 1;
  if (joined && is_packed) return {source_of(x), 1, int64{x.rows} * x.columns, 0, 1};
  return {source_of(x), x.rows, x.columns, x.stride, 1};
}

}  // namespace

void fold_dense(const operation& o, const dense_operand& t) {
  const work by(o);
  const dense_operand& x = o.x.full;
  const bool needs_room = t.stride != 1 && t.rows > 1;
  const buffer room = needs_room ? by.room(t.rows, o.out_bytes) : buffer();
  void* const out = needs_room ? room.data() : t.data;
  const lines_of of = o.desc->transpose_a ? lines_of{source_of(x), x.columns, x.rows, 1, x.stride}
                                          : rows_of(x, false);
  fold_lines(by, o, of, [&](const fold_arguments& args, const element_source& from) {
    fold(by, o, args, from, out, o.out_type, o.out_bytes);
  });
  if (needs_room)
    copy_rows(t.data, static_cast<std::size_t>(t.stride) * o.out_bytes, out, o.out_bytes,
              o.out_bytes, t.rows, t.where, by.stream);
}

void reduce(const operation& o, void* out) {
  const work by(o);
  const monoid_info& m = *o.sums;
  const bool is_dense = o.x.what == operand::kind::dense;
  lines_of of =
      is_dense ? rows_of(o.x.full, true) : lines_of{source_of(o.x.sparse), 1, o.x.sparse.nnz, 0, 1};
  if (of.lines * of.total == 0) return;
  buffer sums;
  for (;;) {
    const buffer next = by.room(of.lines, m.result_bytes);
    fold_lines(by, o, of, [&](const fold_arguments& args, const element_source& from) {
      fold(by, o, args, from, next.data(), m.result, m.result_bytes);
    });
    sums = next;
    if (of.lines == 1) break;
    of = {sums_in(sums, m), 1, of.lines, 0, 1};
  }
  by.to_host(out, sums.data(), m.result_bytes);
  by.wait();
}

}  // namespace rig::on_cuda
