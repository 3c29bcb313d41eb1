// split: rows longer than a cut become pieces, so that no group of lanes works long. Short rows may
// go by length.
//
// Wins on skewed rows: hubs of power laws, where one group would work while the GPU waits. The
// pieces run through `row`'s kernel and are combined in order: reproducible, without atomics on
// floats. Source: the idea of merge- and nnz-splitting (Merrill & Garland, SC 2016), with fixed
// pieces. O(nnz · F) work; piece_count · F accumulators of scratch. Measured: suite exact.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/families.hpp"
#include "cuda/runtime/launch.hpp"

namespace rig::on_cuda {

/// Groups of lanes that fill the GPU, each with work of its own.
constexpr int64 groups_to_fill = 12000;

int64 cut_for(const row_statistics& statistics, int64 nnz) {
  if (forced.cut > 0) return forced.cut;
  // The longest pieces that fill the GPU; docs/lab/exact.md. A row of millions has at most 4 096
  // pieces, because they are combined one after the other.
  int64 cut = cut_of(0);
  for (int kind = 1; kind < cut_kinds; ++kind)
    if (nnz / cut_of(kind) >= groups_to_fill) cut = cut_of(kind);
  while (statistics.longest / cut > 4096) cut *= 2;
  return cut;
}

bool cut_helps(const row_statistics& statistics, int64 nnz) {
  // Long rows of similar length that fill the GPU need no cut; docs/lab/spmv.md.
  const bool alike = static_cast<double>(statistics.longest) < 4 * statistics.mean_length &&
                     nnz / statistics.longest >= groups_to_fill;
  return statistics.longest > cut_for(statistics, nnz) && !alike;
}

bool is_skewed(const row_statistics& statistics, int64 nnz) {
  return statistics.imbalance > 1.6 && nnz < 30000000;
}

bool order_helps(const problem& p, const row_statistics& statistics) {
  // Lanes of a warp wait for the longest of their rows. But neighbouring rows that share columns
  // find them in the caches if they run together, unless all of B stays there anyway.
  const double b_bytes = static_cast<double>(p.b.rows) * static_cast<double>(p.b.columns) *
                         static_cast<double>(p.b.value_bytes);
  return is_skewed(statistics, p.a.nnz) && (!statistics.local || b_bytes < 50e6) &&
         !forced.in_order;
}

bool split_helps(const problem& p, const row_statistics& statistics) {
  return cut_helps(statistics, p.a.nnz) || order_helps(p, statistics);
}

void prepare_derived(const pattern& of) {
  of.derived_of<row_statistics>();
  of.derived_of<row_lists>();
}

/// Scratch up to this size stays with the lists, because an allocation costs the host time;
/// docs/lab/start.md.
constexpr std::size_t most_kept_bytes = 1 << 20;

const row_lists& ordered_rows(const problem& p, arguments& args) {
  const auto lists = p.oriented->derived_of<row_lists>();
  p.keepalive_lists = lists;
  if (order_helps(p, statistics_of(p))) args.order = lists->by_length;
  return *lists;
}

void set_pieces(const row_lists& lists, arguments& args) {
  args.cut = lists.cut;
  args.pieces = lists.pieces;
  args.piece_count = lists.piece_count;
  args.cut_rows = lists.cut_rows;
  args.cut_count = lists.cut_count;
}

buffer scratch_for(const problem& p, const row_lists& lists, std::size_t bytes, std::size_t count,
                   arguments& args) {
  cudaStream_t const stream = stream_of(p);
  const std::size_t zeros = count * sizeof(unsigned);
  buffer kept;
  if (!p.captured && stream != cudaStreamPerThread && zeros <= most_kept_bytes)
    kept = lists.counters_of(stream, count);
  if (kept.data() != nullptr) {
    p.keepalive_counters = kept;
    args.completion_counters = kept.data<unsigned>();
    if (bytes == 0) return {};
    buffer sums = bytes > most_kept_bytes ? buffer::allocate(bytes, p.a.where, p.desc->stream)
                                          : p.keepalive_sums = lists.sums_of(stream, bytes);
    args.piece_sums = sums.data();
    return sums;
  }
  // Graphs may replay at the same time, and cudaStreamPerThread names a stream per thread: neither
  // may share counters.
  bytes = (bytes + 15) / 16 * 16;
  buffer both = buffer::allocate(bytes + zeros, p.a.where, p.desc->stream);
  args.piece_sums = both.data();
  args.completion_counters = reinterpret_cast<unsigned*>(both.data<char>() + bytes);
  check(cudaMemsetAsync(args.completion_counters, 0, zeros, stream), "counters between blocks");
  return both;
}

buffer cut_in_pieces(const problem& p, const row_lists& lists, std::size_t bytes, int64 tiles,
                     arguments& args) {
  if (lists.piece_count == 0) return {};
  set_pieces(lists, args);
  return scratch_for(p, lists, bytes * static_cast<std::size_t>(lists.piece_count),
                     static_cast<std::size_t>(lists.cut_count) * static_cast<std::size_t>(tiles),
                     args);
}

answer split_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const row_statistics& statistics = statistics_of(p);
  // The lists are read, and the last group sums a whole piece.
  constexpr double lists_seconds = 2e-6;
  out.seconds = estimate(p) + lists_seconds + lone_row_seconds(cut_for(statistics, p.a.nnz));
  if (!split_helps(p, statistics)) {
    out.says = verdict::slower;
    out.seconds += lone_row_seconds(statistics.longest);
    if (p.reasons) out.reason = "rows are even: nothing to cut";
  }
  return out;
}

void split_run(const problem& p) {
  arguments args = arguments_of(p);
  run_row(p, args, &ordered_rows(p, args));
}

}  // namespace rig::on_cuda
