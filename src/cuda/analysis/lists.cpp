#include "cuda/analysis/lists.hpp"

namespace rig::on_cuda {

void prepare_derived(const pattern& of) {
  of.derived_of<row_statistics>();
  of.derived_of<row_lists>();
}

bool keep_whole(const pattern& part, const over_ranks::whole_rows& whole) {
  auto made = std::make_shared<const row_statistics>(whole);
  const bool splits = has_rows_to_split(*made);
  part.keep_derived(row_statistics::name, std::move(made));
  return splits;
}

/// Scratch up to this size stays with the lists, because an allocation costs the host time;
/// docs/lab/start.md.
constexpr std::size_t most_cached_bytes = 1 << 20;

const row_lists& lists_of(const pattern& oriented, workspace& work) {
  const auto lists = oriented.derived_of<row_lists>();
  work.lists = lists;
  return *lists;
}

void set_segments(const split_lists& lists, arguments& args) {
  args.split_length = lists.split_length;
  args.segments = lists.segments;
  args.segment_count = lists.segment_count;
  args.split_rows = lists.split_rows;
  args.split_count = lists.split_count;
}

buffer scratch_for(const launch_stream& on, const row_lists& lists, std::size_t bytes,
                   std::size_t count, arguments& args, workspace& work) {
  const place where = cuda(on.device);
  const std::size_t zeros = count * sizeof(unsigned);
  buffer cached;
  if (on.keeps_state() && zeros <= most_cached_bytes) cached = lists.counters_of(on.stream, count);
  if (cached.data() != nullptr) {
    work.counters = cached;
    args.completion_counters = cached.data<unsigned>();
    if (bytes == 0) return {};
    buffer sums = bytes > most_cached_bytes ? buffer::temporary(bytes, where, on.stream)
                                            : work.sums = lists.sums_of(on.stream, bytes);
    args.segment_sums = sums.data();
    return sums;
  }
  bytes = (bytes + 15) / 16 * 16;
  buffer both = buffer::temporary(bytes + zeros, where, on.stream);
  args.segment_sums = both.data();
  args.completion_counters = reinterpret_cast<unsigned*>(both.data<char>() + bytes);
  check(cudaMemsetAsync(args.completion_counters, 0, zeros, on.stream), "counters between blocks");
  return both;
}

buffer split_into_segments(const launch_stream& on, const row_lists& lists,
                           const split_lists& segments, std::size_t bytes, int64 tiles,
                           arguments& args, workspace& work) {
  if (segments.segment_count == 0) return {};
  set_segments(segments, args);
  return scratch_for(on, lists, bytes * static_cast<std::size_t>(segments.segment_count),
                     static_cast<std::size_t>(args.counters_per_tile() * tiles), args, work);
}

}  // namespace rig::on_cuda
