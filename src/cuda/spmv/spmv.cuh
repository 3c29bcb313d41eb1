// spmv: B has one column. A block takes a chunk of entries, whichever rows they belong to.
//
// Wins at f = 1: chunks are even on skewed rows, loads of A are contiguous, and every lane gathers.
// Source: the even chunks of merge-based SpMV (Merrill & Garland, SC 2016); row sums from shared
// memory as in CSR-stream (Greathouse & Daga, SC 2014). Sums of one row pass between blocks with
// flags, as in a single-pass scan (Merrill & Garland, NVR-2016-002). A block writes the rows that
// begin and end in its chunk, and sends its parts of the others. One of its warps completes the row
// that ends `blocks_behind` chunks earlier. Extra blocks complete the rows of the last chunks.
// No atomics on sums and a fixed order, so results are deterministic. Cost: O(nnz + n); scratch per
// chunk: 16 bytes for every 4 of an accumulator. Measured: suite spmv.

#pragma once

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

constexpr int spmv_threads = 256;

/// A segmented scan over the warp, in a fixed tree: the sum of the lanes from the last row end to
/// this lane. `ended`: in, whether a row ends among the lane's entries; out, whether a row ends in
/// any lane up to this one.
template <class S>
__device__ __forceinline__ void scan_warp(typename S::accum& sum, bool& ended) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const typename S::accum before = shuffle_up(sum, distance);
    const bool before_ended = __shfl_up_sync(0xffffffffu, ended ? 1 : 0, distance) != 0;
    if (lane < distance) continue;
    if (!ended) sum = S::add(before, sum);
    ended = ended || before_ended;
  }
}

/// A chunk holds entries [begin, end) of A, and rows [first, last) begin in it; rows and entries
/// together are `chunk_items`.
struct chunk_range {
  int64 begin, end;
  index first, last;

  __device__ chunk_range(const arguments& args, int64 chunk)
      : chunk_range(args, chunk, args.chunk_rows[chunk], args.chunk_rows[chunk + 1]) {}
  __device__ chunk_range(const arguments& args, int64 chunk, index first_row, index last_row)
      : first(first_row), last(last_row) {
    begin = chunk * chunk_items - first;
    end = (chunk + 1) * chunk_items - last;
    if (end > args.nnz) end = args.nnz;
  }
};

/// A sum sent from one block to another. One store carries 4 bytes and a mark that they are valid,
/// so neither side needs a fence. A word of 0 is empty.
constexpr int sent_words(int64 accum_bytes) { return static_cast<int>((accum_bytes + 3) / 4); }

template <class T>
struct sent_sum {
  static constexpr int words = sent_words(sizeof(T));
  using word = volatile unsigned long;
  static constexpr unsigned long mark = 1ul << 32;
  unsigned long seen[words];

  static __device__ void put(word* to, const T& sum) {
    unsigned parts[words] = {};
    memcpy(parts, &sum, sizeof(T));
    for (int w = 0; w < words; ++w) to[w] = mark | parts[w];
  }
  __device__ void read(const word* from) {
    for (int w = 0; w < words; ++w) seen[w] = from[w];
  }
  /// Waits for the sum at the place of the last `read`, returns it and empties the place.
  __device__ T take(word* from) {
    unsigned parts[words];
    for (int w = 0; w < words; ++w) {
      while (seen[w] < mark) seen[w] = from[w];
      from[w] = 0;
      parts[w] = static_cast<unsigned>(seen[w]);
    }
    T sum;
    memcpy(&sum, parts, sizeof(T));
    return sum;
  }
};

/// `tail_at` is the place for a chunk's part of a row that continues after it. `head_at` is the
/// place for its part of a row that began before and ends in it.
template <class S>
__device__ typename sent_sum<typename S::accum>::word* tail_at(const arguments& args, int64 chunk) {
  using sent = sent_sum<typename S::accum>;
  return reinterpret_cast<typename sent::word*>(args.completion_counters) + 2 * chunk * sent::words;
}
template <class S>
__device__ typename sent_sum<typename S::accum>::word* head_at(const arguments& args, int64 chunk) {
  return tail_at<S>(args, chunk) + sent_sum<typename S::accum>::words;
}

/// Writes the last row that began before a chunk, with entries [row_begin, row_end), if it ends in
/// that chunk. One warp adds in a fixed order: a tree over the tails, then the head.
template <class S, bool Plain>
__device__ __forceinline__ void complete(const arguments& args, int64 number,
                                         const chunk_range& chunk, int64 row_begin, int64 row_end,
                                         int lane) {
  using accum = typename S::accum;
  using sent = sent_sum<accum>;
  const index row = chunk.first - 1;
  if (row < 0 || row_end <= chunk.begin || row_end > chunk.end) return;
  sent head = {};
  if (lane == 0) head.read(head_at<S>(args, number));
  accum sum = S::zero();
  constexpr int batch = 4;  // a lane reads this many before it waits for one
  for (int64 c = (row_begin + row + 1) / chunk_items + lane; c < number; c += 32 * batch) {
    sent from[batch];
#pragma unroll
    for (int p = 0; p < batch; ++p)
      if (c + 32 * p < number) from[p].read(tail_at<S>(args, c + 32 * p));
#pragma unroll
    for (int p = 0; p < batch; ++p)
      if (c + 32 * p < number) sum = S::add(sum, from[p].take(tail_at<S>(args, c + 32 * p)));
  }
  for (int distance = 1; distance < 32; distance *= 2)
    sum = S::add(sum, shuffle_xor(0xffffffffu, sum, distance));
  if (lane > 0) return;
  const accum whole[1][1] = {{S::add(sum, head.take(head_at<S>(args, number)))}};
  write_tile<S, 1, 1, 1, Plain>(args, row, 0, row_end - row_begin, whole);
}

/// An extra block's warp completes the row of one of the last chunks.
template <class S, bool Plain>
__device__ __forceinline__ void complete_late(const arguments& args, int64 block, int warp,
                                              int lane) {
  const int64 count = args.chunk_count, behind = blocks_behind < count ? blocks_behind : count;
  const int64 late = count - behind + (block - count) * (spmv_threads / 32) + warp;
  if (late >= count) return;
  const chunk_range chunk(args, late);
  if (chunk.first > 0)
    complete<S, Plain>(args, late, chunk, args.offset(chunk.first - 1), args.offset(chunk.first),
                       lane);
}

/// Loads this thread's vectors of a chunk's columns and values, up to `end`. `has_vectors`: A has
/// entries to fill the last vector. Null values: every value is `iso`.
template <class S, int V, int Vectors>
__device__ __forceinline__ void load_chunk(const arguments& args, const index* entries,
                                           const typename S::left* values, bool has_vectors,
                                           int end, vector_of<index, V> (&k)[Vectors],
                                           vector_of<typename S::left, V> (&a)[Vectors]) {
  using left = typename S::left;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int p = 0; p < Vectors; ++p) {
    const int at = (p * spmv_threads + thread) * V;
    if (at >= end) continue;
    if (has_vectors || at + V <= end)
      k[p] = stream_vector<index, V>(entries + at);
    else
      for (int v = 0; v < V; ++v)
        if (at + v < end) k[p].element[v] = entries[at + v];
  }
  if constexpr (!is_ignoring_left<S>) {
    const left iso = iso_of<left>(args);
#pragma unroll
    for (int p = 0; p < Vectors; ++p) {
      const int at = (p * spmv_threads + thread) * V;
      if (values == nullptr) {
        for (int v = 0; v < V; ++v) a[p].element[v] = iso;
      } else if (at < end) {
        if (has_vectors || at + V <= end)
          a[p] = stream_vector<left, V>(values + at);
        else
          for (int v = 0; v < V; ++v)
            if (at + v < end) a[p].element[v] = values[at + v];
      }
    }
  }
}

/// Marks row ends in `ends`: the entry before each row that begins in the chunk, the entry before
/// the chunk, and the chunk's last entry. Entries are counted from `base`.
__device__ __forceinline__ void mark_ends(const arguments& args, const chunk_range& chunk,
                                          int64 base, unsigned* ends) {
  const int thread = static_cast<int>(threadIdx.x);
  const int begin = static_cast<int>(chunk.begin - base), end = static_cast<int>(chunk.end - base);
  const auto mark = [&](int at) { atomicOr(&ends[at / 32], 1u << at % 32); };
  for (index row = chunk.first + thread; row < chunk.last; row += spmv_threads) {
    const int64 last = args.offset(row) - base;
    if (last > 0) mark(static_cast<int>(last) - 1);
  }
  if (thread == 0) {
    if (begin > 0) mark(begin - 1);
    if (end > begin) mark(end - 1);
  }
}

/// Writes the rows that begin and end in the chunk. `terms` has each row's sum at its last entry,
/// counted from `base`.
template <class S, bool Plain>
__device__ __forceinline__ void write_rows(const arguments& args, const chunk_range& chunk,
                                           int64 base, const typename S::accum* terms) {
  using accum = typename S::accum;
  const int end = static_cast<int>(chunk.end - base);
  for (index row = chunk.first + static_cast<int>(threadIdx.x); row < chunk.last;
       row += spmv_threads) {
    const int64 row_begin = args.offset(row), row_end = args.offset(row + 1);
    const int64 stop = row_end - base;
    if (stop > end) continue;
    const accum whole[1][1] = {{row_end > row_begin ? terms[stop - 1] : S::zero()}};
    write_tile<S, 1, 1, 1, Plain>(args, row, 0, row_end - row_begin, whole);
  }
}

/// Sends the sums that end the chunk, or end a row that began before it, at these `edges`.
template <class S>
__device__ __forceinline__ void send_parts(const arguments& args, int64 number, const int* edges,
                                           int begin, int end, const typename S::accum* terms) {
  using sent = sent_sum<typename S::accum>;
  if (edges[1] < end && edges[2] > end) sent::put(tail_at<S>(args, number), terms[end - 1]);
  if (edges[0] > begin && edges[0] <= end) sent::put(head_at<S>(args, number), terms[edges[0] - 1]);
}

/// Stores this thread's products of a chunk in `terms`; beyond `end` zeros.
template <class S, class TB, int V, int Vectors>
__device__ __forceinline__ void multiply_chunk(const arguments& args, int thread, int end,
                                               const vector_of<index, V> (&k)[Vectors],
                                               const vector_of<typename S::left, V> (&a)[Vectors],
                                               typename S::accum* terms) {
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;
  [[maybe_unused]] const auto* const b = static_cast<const char*>(args.b);
#pragma unroll
  for (int p = 0; p < Vectors; ++p) {
    const int at = (p * spmv_threads + thread) * V;
    [[maybe_unused]] right from[V];
#pragma unroll
    for (int v = 0; v < V; ++v)
      if constexpr (!is_ignoring_right<S>)
        if (at < end)
          from[v] = convert<right>(
              load_vector<TB, 1>(at_row<TB>(b, k[p].element[v], args.b_row_bytes)).element[0]);
    vector_of<accum, V> out;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      left x = left();
      right y = right();
      if constexpr (!is_ignoring_left<S>) x = a[p].element[v];
      if constexpr (!is_ignoring_right<S>) y = from[v];
      out.element[v] = at < end ? product<S>(x, y, position{0, k[p].element[v]}) : S::zero();
    }
    *reinterpret_cast<vector_of<accum, V>*>(terms + at) = out;
  }
}

/// Replaces the term at each row end by its row's sum. Each thread sums `Own` neighbouring entries
/// from row end to row end; the scan supplies the part before its first row end. `warp_ended` has a
/// bit per warp: a row ends in it.
template <class S, int Own>
__device__ __forceinline__ void sum_terms(const unsigned* ends, typename S::accum* terms,
                                          typename S::accum* warp_sums, unsigned& warp_ended,
                                          int thread, int lane, int warp) {
  using accum = typename S::accum;
  const unsigned bits = ends[thread * Own / 32] >> thread * Own % 32;
  const auto mine = *reinterpret_cast<const vector_of<accum, Own>*>(terms + thread * Own);
  accum sum = S::zero(), first_sum = S::zero();
  int first_end = -1;
#pragma unroll
  for (int e = 0; e < Own; ++e) {
    sum = S::add(sum, mine.element[e]);
    if ((bits >> e & 1u) == 0) continue;
    if (first_end < 0) {
      first_end = e;
      first_sum = sum;
    } else {
      terms[thread * Own + e] = sum;
    }
    sum = S::zero();
  }
  bool ended = first_end >= 0;
  scan_warp<S>(sum, ended);
  if (lane == 31) {
    warp_sums[warp] = sum;
    if (ended) atomicOr(&warp_ended, 1u << warp);
  }
  accum before = shuffle_up(sum, 1);
  const bool before_ended = __shfl_up_sync(0xffffffffu, ended ? 1 : 0, 1) != 0;
  if (lane == 0) before = S::zero();
  __syncthreads();
  if (first_end >= 0) {
    if (lane == 0 || !before_ended)
      for (int w = warp - 1; w >= 0; --w) {
        before = S::add(warp_sums[w], before);
        if ((warp_ended >> w & 1u) != 0) break;
      }
    terms[thread * Own + first_end] = S::add(before, first_sum);
  }
}

/// C(i) = ⊕_k A(i,k) ⊗ B(k), V entries per load; the head of this file has the steps. No deadlock:
/// a block waits only for blocks of lower numbers. These started earlier, and they send before they
/// wait.
template <class S, class TB, int V, bool Plain>
__global__ void __launch_bounds__(spmv_threads) spmv(const arguments args) {
  using left = typename S::left;
  using accum = typename S::accum;
  constexpr int room = chunk_items + 4, own = room / spmv_threads, vectors = own / V;
  static_assert(vectors * spmv_threads * V == room && own <= 32);
  __shared__ __align__(16) unsigned char raw[sizeof(accum) * (room + spmv_threads / 32)];
  __shared__ unsigned ends[room / 32], warp_ended;  // one bit per entry, or warp: a row ends in it
  __shared__ int edges[3];  // the end of the incoming row; the begin and the end of the last row
  auto* const terms = reinterpret_cast<accum*>(raw);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int64 number = blockIdx.x, count = args.chunk_count;
  if (number >= count) return complete_late<S, Plain>(args, number, warp, lane);
  const bool looks_back = warp == spmv_threads / 32 - 1;  // the warp with the fewest rows
  const bool completes = looks_back && number >= blocks_behind;
  const chunk_range chunk(args, number);
  // Places are counted from `base`, so vector loads are aligned. Up to V − 1 entries of the chunk
  // before, and of the chunk after, are loaded too; no row of C includes them.
  const int64 base = chunk.begin / V * V;
  const int begin = static_cast<int>(chunk.begin - base), end = static_cast<int>(chunk.end - base);
  const auto* const values =
      args.a_values != nullptr ? static_cast<const left*>(args.a_values) + base : nullptr;
  const bool has_vectors = base + (end + V - 1) / V * V <= args.nnz;
  vector_of<index, V> k[vectors] = {};
  [[maybe_unused]] vector_of<left, V> a[vectors];
  load_chunk<S>(args, args.entries + base, values, has_vectors, end, k, a);
  for (int w = thread; w < room / 32; w += spmv_threads) ends[w] = 0;
  if (thread == 0) warp_ended = 0;
  __syncthreads();
  int64 edge = 0;
  if (looks_back && lane < 3) edge = args.offset(lane == 0 ? chunk.first : chunk.last - 2 + lane);
  // The rows of the chunk to complete, loaded by two lanes while the block waits for its own
  // entries.
  index rows = 0;
  if (completes && lane < 2) rows = args.chunk_rows[number - blocks_behind + lane];
  mark_ends(args, chunk, base, ends);
  multiply_chunk<S, TB>(args, thread, end, k, a, terms);
  if (looks_back && lane < 3) {
    // Places beyond the chunk need no distinction, so they are clamped.
    const int64 place = edge - base, most = end + 1;
    edges[lane] = static_cast<int>(place < -1 ? -1 : place > most ? most : place);
  }
  int64 row_edge = 0;
  if (completes) {
    const index first = __shfl_sync(0xffffffffu, rows, 0);
    if (lane < 2 && first > 0) row_edge = args.offset(first - 1 + lane);
  }
  __syncthreads();
  sum_terms<S, own>(ends, terms, terms + room, warp_ended, thread, lane, warp);
  __syncthreads();

  if (thread == 0) send_parts<S>(args, number, edges, begin, end, terms);
  write_rows<S, Plain>(args, chunk, base, terms);
  if (!completes) return;
  const index first = __shfl_sync(0xffffffffu, rows, 0), last = __shfl_sync(0xffffffffu, rows, 1);
  complete<S, Plain>(
      args, number - blocks_behind, chunk_range(args, number - blocks_behind, first, last),
      __shfl_sync(0xffffffffu, row_edge, 0), __shfl_sync(0xffffffffu, row_edge, 1), lane);
}

}  // namespace rig::on_cuda
