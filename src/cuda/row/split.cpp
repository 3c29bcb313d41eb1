// split: rows longer than the split length become segments, so that no group of lanes works long.
// Short rows may go by length.
//
// Wins on skewed rows: hubs of power laws, where one group would work while the GPU waits. The
// segments run through `row`'s kernel and are combined in order: reproducible, without atomics on
// floats. Source: the idea of merge- and nnz-splitting (Merrill & Garland, SC 2016), with fixed
// segments. O(nnz · F) work; segment_count · F accumulators of scratch. Measured: suite exact.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/families.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/tuning/plan.hpp"

namespace rig::on_cuda {

namespace {

const tuning_row& segments_row(const row_statistics& statistics, int64 nnz) {
  return current_table().find(section::segments, facts_of_rows(statistics, nnz));
}

const tuning_row& order_row(const problem& p, const row_statistics& statistics) {
  product_facts facts = facts_of_rows(statistics, p.a.nnz);
  facts[fact::b_bytes] = static_cast<double>(p.b.rows) * static_cast<double>(p.b.columns) *
                         static_cast<double>(p.b.value_bytes);
  return current_table().find(section::order, facts);
}

}  // namespace

int64 split_length_of(const row_statistics& statistics, int64 nnz) {
  int64 length = segments_row(statistics, nnz)[setting::split_length];
  // The segments of a row are combined one after the other.
  constexpr int64 most_segments = 4096;
  while (length > 0 && statistics.longest / length > most_segments) length *= 2;
  return length;
}

bool has_rows_to_split(const row_statistics& statistics) {
  return statistics.split_length > 0 && statistics.longest > statistics.split_length;
}

bool order_helps(const problem& p, const row_statistics& statistics) {
  return order_row(p, statistics)[setting::by_length] != 0;
}

bool split_helps(const problem& p, const row_statistics& statistics) {
  return has_rows_to_split(statistics) || order_helps(p, statistics);
}

std::string segments_in_words(const problem& p) {
  const row_statistics& statistics = statistics_of(p);
  return ", split_length=" + std::to_string(statistics.split_length) + " (" +
         line_of(segments_row(statistics, p.a.nnz)) + ")";
}

std::string order_in_words(const problem& p) {
  const tuning_row& row = order_row(p, statistics_of(p));
  return ", " + row.plan_text + " (" + line_of(row) + ")";
}

void find_statistics(problem& p) {
  if (no_kernel_because(*p.algebra) == nullptr)
    p.statistics = p.oriented->derived_of<row_statistics>();
}

void prepare_derived(const pattern& of) {
  of.derived_of<row_statistics>();
  of.derived_of<row_lists>();
}

/// Scratch up to this size stays with the lists, because an allocation costs the host time;
/// docs/lab/start.md.
constexpr std::size_t most_cached_bytes = 1 << 20;

const row_lists& lists_of(const problem& p, workspace& work) {
  const auto lists = p.oriented->derived_of<row_lists>();
  work.lists = lists;
  return *lists;
}

const listed_row* order_of(const problem& p, const row_lists& lists) {
  return order_helps(p, statistics_of(p)) ? lists.by_length : nullptr;
}

void set_segments(const row_lists& lists, arguments& args) {
  args.split_length = lists.split_length;
  args.segments = lists.segments;
  args.segment_count = lists.segment_count;
  args.split_rows = lists.split_rows;
  args.split_count = lists.split_count;
}

buffer scratch_for(const problem& p, const row_lists& lists, std::size_t bytes, std::size_t count,
                   arguments& args, workspace& work) {
  cudaStream_t const stream = stream_of(p);
  const std::size_t zeros = count * sizeof(unsigned);
  buffer cached;
  if (!p.captured && stream != cudaStreamPerThread && zeros <= most_cached_bytes)
    cached = lists.counters_of(stream, count);
  if (cached.data() != nullptr) {
    work.counters = cached;
    args.completion_counters = cached.data<unsigned>();
    if (bytes == 0) return {};
    buffer sums = bytes > most_cached_bytes ? buffer::temporary(bytes, p.a.where, p.desc->stream)
                                            : work.sums = lists.sums_of(stream, bytes);
    args.segment_sums = sums.data();
    return sums;
  }
  // Graphs may replay at the same time, and cudaStreamPerThread names a stream per thread: neither
  // may share counters.
  bytes = (bytes + 15) / 16 * 16;
  buffer both = buffer::temporary(bytes + zeros, p.a.where, p.desc->stream);
  args.segment_sums = both.data();
  args.completion_counters = reinterpret_cast<unsigned*>(both.data<char>() + bytes);
  check(cudaMemsetAsync(args.completion_counters, 0, zeros, stream), "counters between blocks");
  return both;
}

buffer split_into_segments(const problem& p, const row_lists& lists, std::size_t bytes, int64 tiles,
                           arguments& args, workspace& work) {
  if (lists.segment_count == 0) return {};
  set_segments(lists, args);
  return scratch_for(p, lists, bytes * static_cast<std::size_t>(lists.segment_count),
                     static_cast<std::size_t>(lists.split_count) * static_cast<std::size_t>(tiles),
                     args, work);
}

double lone_row_seconds(int64 entries) {
  return current_table()[constant::seconds_per_entry] * static_cast<double>(entries);
}

answer split_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const row_statistics& statistics = statistics_of(p);
  // The lists are read, and the last group sums a whole segment.
  out.seconds = estimate(p) + current_table()[constant::lists_seconds] +
                lone_row_seconds(statistics.split_length);
  if (p.reasons)
    out.plan = plan_in_words(p, sampling::whole) + segments_in_words(p) + order_in_words(p);
  if (!split_helps(p, statistics)) {
    out.says = verdict::slower;
    out.seconds += lone_row_seconds(statistics.longest);
    if (p.reasons) out.reason = "rows are even, so no row is split";
  }
  return out;
}

void split_run(const problem& p, workspace& work) {
  const row_lists& lists = lists_of(p, work);
  run_row(p, {.order = order_of(p, lists), .split_rows = &lists}, work);
}

}  // namespace rig::on_cuda
