#pragma once

// Ranges of entries, and the sum over one: the inner loop of `row` and of the kernels built on it.

#include "cuda/device/write.cuh"

namespace rig::on_cuda {

/// Entries [first, first + count) of the row that begins at entry `begin`. Streamed: the kernel
/// reads all of A, so loads also fetch the entries that follow. The address is computed once, not
/// for every load; rows of one lane and samples lose by that; docs/lab/exact.md.
template <class S, bool Streamed>
struct entry_range {
  static constexpr bool is_sample = false;
  const index* entries;
  const typename S::left* values;  ///< null: every value is `iso` of the arguments
  unsigned count;

  __device__ entry_range(const arguments& args, int64 begin, int64 first, int64 count)
      : entries(computed_once(args.entries + begin + first)),
        values(
            args.a_values != nullptr
                ? computed_once(static_cast<const typename S::left*>(args.a_values) + begin + first)
                : nullptr),
        count(static_cast<unsigned>(count)) {}

  template <class T>
  __device__ static const T* computed_once(const T* at) {
    if constexpr (Streamed) asm volatile("" : "+l"(at));
    return at;
  }
  template <class T>
  __device__ __forceinline__ static T load(const T* from) {
    return Streamed ? load_ahead(from) : load_vector<T, 1>(from).element[0];
  }
};

/// Slots [first, first + count) of a sample of the row.
template <class S>
struct sampled_range {
  static constexpr bool is_sample = true;
  const index* entries;
  const typename S::left* values;
  unsigned count, first;
  row_sample sample;

  __device__ sampled_range(const arguments& args, int64 begin, int64 first, int64 count,
                           const row_sample& sample)
      : entries(args.entries + begin),
        values(args.a_values != nullptr
                   ? static_cast<const typename S::left*>(args.a_values) + begin
                   : nullptr),
        count(static_cast<unsigned>(count)),
        first(static_cast<unsigned>(first)),
        sample(sample) {}
  __device__ unsigned at(unsigned e) const { return sample.entry(first + e); }
};

/// The place of B's rows: element (k, j) is at data + k · row_bytes + j elements. Each use reads
/// the arguments anew, because values handed on would spill registers in arg-max; docs/lab/max.md.
struct rows_of_b {
  __device__ static const void* data(const arguments& args) { return args.b; }
  __device__ static unsigned row_bytes(const arguments& args) { return args.b_row_bytes; }
};
struct tile_of_b {
  unsigned tile;
  __device__ const void* data(const arguments& args) const {
    return static_cast<const char*>(args.b) + tile * args.b_tile_bytes;
  }
  __device__ static unsigned row_bytes(const arguments& args) { return args.b_row_bytes; }
};
struct rest_of_b {
  __device__ static const void* data(const arguments& args) { return args.b_rest; }
  __device__ static unsigned row_bytes(const arguments& args) { return args.b_rest_row_bytes; }
};

/// Sets sum = x if `taken`. A float is set by a predicated multiply-add, because selections share
/// the pipe of comparisons, which has half the width of that of sums; docs/lab/max.md. A NaN stays
/// a NaN, with other bits.
template <class T>
__device__ __forceinline__ void take_where(bool taken, const T& x, T& sum) {
  if constexpr (is_indexed<T>) {
    take_where(taken, x.value, sum.value);
    take_where(taken, x.index, sum.index);
  } else if constexpr (is_same<T, float>) {
    asm("{\n\t.reg .pred taken;\n\tsetp.ne.s32 taken, %2, 0;\n\t"
        "@taken fma.rn.f32 %0, %1, 0f3f800000, 0f80000000;\n\t}"
        : "+f"(sum)
        : "f"(x), "r"(static_cast<int>(taken)));
  } else {
    sum = taken ? x : sum;
  }
}

/// out = the sums of RowLanes / TileLanes subwarps; returns the first column that the lane holds.
/// Until a lane has W columns, two lanes exchange halves, which makes arg-max faster
/// (docs/lab/max.md). The other steps are a tree, after which all lanes have its sums.
template <class S, int TileLanes, int RowLanes, int Coarsening, int V, int W>
__device__ __forceinline__ int reduce_subwarps(unsigned members, int lane,
                                               const typename S::accum (&sum)[Coarsening][V],
                                               typename S::accum (&out)[Coarsening][W]) {
  using accum = typename S::accum;
  if constexpr (W < V) {
    static_assert(TileLanes < RowLanes);
    constexpr int half = V / 2;
    const bool is_upper = (lane & TileLanes) != 0;
    accum part[Coarsening][half];
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < half; ++v) {
        const accum given = is_upper ? sum[c][v] : sum[c][v + half],
                    kept = is_upper ? sum[c][v + half] : sum[c][v];
        part[c][v] = S::add(kept, shuffle_xor(members, given, TileLanes));
      }
    return (is_upper ? half : 0) +
           reduce_subwarps<S, 2 * TileLanes, RowLanes>(members, lane, part, out);
  } else {
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) out[c][v] = sum[c][v];
#pragma unroll
    for (int distance = TileLanes; distance < RowLanes; distance *= 2)
#pragma unroll
      for (int c = 0; c < Coarsening; ++c)
#pragma unroll
        for (int v = 0; v < V; ++v)
          out[c][v] = S::add(out[c][v], shuffle_xor(members, out[c][v], distance));
    return 0;
  }
}

/// A boolean as a type.
template <bool Value>
struct truth {
  constexpr operator bool() const { return Value; }
};

/// Turns the group's sums of codes into sums of the numbers that they stand for. `factors`: this
/// lane's part of the sum of A's values.
template <class S, int TileLanes, int RowLanes, class Reader, int Coarsening, int V>
__device__ __forceinline__ void unfold_codes(unsigned members, const Reader& reader,
                                             typename S::accum factors,
                                             typename S::accum (&out)[Coarsening][V]) {
#pragma unroll
  for (int distance = TileLanes; distance < RowLanes; distance *= 2)
    factors = S::add(factors, shuffle_xor(members, factors, distance));
#pragma unroll
  for (int c = 0; c < Coarsening; ++c)
#pragma unroll
    for (int v = 0; v < V; ++v) out[c][v] = reader.unfold(out[c][v], factors, c, v);
}

/// out[c][w] = ⊕ over the entries `of` a row, for the vectors of columns at first + c·TileLanes·V;
/// if W < V, from the returned column of each vector on. docs/tour.md has the lanes. All lanes of
/// the group must call.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          bool Iso, class Rows, class Range, int W>
__device__ __forceinline__ int gather_from(const arguments& args, Rows rows, index row,
                                           const Range& of, int lane, index first,
                                           typename S::accum (&out)[Coarsening][W]) {
  using left = typename S::left;
  using right = typename S::right;
  constexpr unsigned subwarps = RowLanes / TileLanes;
  // A lane beyond the last column reads the first column and drops it, because an unconditional
  // load does not hold up others.
  typename S::accum sum[Coarsening][V];
  [[maybe_unused]] const char* b[Coarsening];
  index columns[Coarsening];
  for (int c = 0; c < Coarsening; ++c) {
    columns[c] = first + c * TileLanes * V;
    if (columns[c] >= args.columns) columns[c] = 0;
    b[c] = reinterpret_cast<const char*>(static_cast<const TB*>(rows.data(args)) + columns[c]);
    for (int v = 0; v < V; ++v) sum[c][v] = S::zero();
  }
  [[maybe_unused]] left iso = left();
  if constexpr (Iso) iso = iso_of<left>(args);
  // All loads of a batch are issued before its first sum, so that their latencies overlap. Past the
  // end, lanes with two vectors load the last entry again and drop it, while lanes with one vector
  // test first; docs/lab/exact.md.
  constexpr bool again = Coarsening > 1;
  // A semiring with `replaces` is summed from the last entry to the first. The entries of a sample
  // need not ascend.
  constexpr bool backward = has_replaces<S> && !Range::is_sample;
  using b_reader = b_reader<S, TB, V, Coarsening>;
  [[maybe_unused]] const b_reader reader(args, columns);
  [[maybe_unused]] typename S::accum factors = S::zero();
  [[maybe_unused]] index sampled = 0;
  [[maybe_unused]] left sampled_a = left();
  [[maybe_unused]] const unsigned members = group_members<RowLanes>();
  [[maybe_unused]] const int leader = static_cast<int>(threadIdx.x) % 32 / RowLanes * RowLanes;
  const auto batch = [&](unsigned p, unsigned count, auto checked) {
    bool there[Unroll];
    index k[Unroll] = {};
    [[maybe_unused]] left a[Unroll];
    [[maybe_unused]] vector_of<TB, V> from[Unroll][Coarsening];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      unsigned e = p + u * subwarps;
      there[u] = !checked || e < count;
      if constexpr (Range::is_sample) {
        const int from = leader + static_cast<int>(e) % RowLanes;
        k[u] = __shfl_sync(members, sampled, from);
        if constexpr (!is_ignoring_left<S>) a[u] = shuffle_from(members, sampled_a, from);
      } else {
        if (again && !there[u]) e = count - 1;
        if constexpr (backward) e = count - 1 - e;
        if (again || there[u]) k[u] = of.load(of.entries + e);
        if constexpr (Iso) {
          a[u] = iso;
        } else if constexpr (!is_ignoring_left<S>) {
          if (again || there[u]) a[u] = of.load(of.values + e);
        }
      }
    }
    if constexpr (!is_ignoring_right<S>) {
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
#pragma unroll
        for (int c = 0; c < Coarsening; ++c)
          if (again || there[u])
            from[u][c] = load_vector<TB, V>(at_row<TB>(b[c], k[u], rows.row_bytes(args)));
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
#pragma unroll
        for (int c = 0; c < Coarsening; ++c) hold(from[u][c]);
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      if (!there[u]) continue;
      if constexpr (b_reader::folds)
        factors = S::add(factors, product<S>(a[u], 1.0f, position{row, k[u]}));
#pragma unroll
      for (int c = 0; c < Coarsening; ++c)
#pragma unroll
        for (int v = 0; v < V; ++v) {
          right value = right();
          if constexpr (!is_ignoring_right<S>) value = reader.value(from[u][c], c, v);
          const typename S::accum x = product<S>(a[u], value, position{row, k[u]});
          if constexpr (backward)
            take_where(S::replaces(sum[c][v], x), x, sum[c][v]);
          else
            sum[c][v] = S::add(sum[c][v], x);
        }
    }
  };
  if constexpr (Range::is_sample) {
    // Each lane loads one of the next RowLanes slots, so that no entry is computed or awaited
    // twice.
    for (unsigned slot = 0; slot < of.count; slot += RowLanes) {
      const unsigned mine = slot + static_cast<unsigned>(lane);
      const unsigned e = of.at(mine < of.count ? mine : of.count - 1);
      sampled = __ldg(of.entries + e);
      if constexpr (!is_ignoring_left<S>)
        sampled_a = of.values == nullptr ? iso_of<left>(args)
                                         : load_vector<left, 1>(of.values + e).element[0];
      const unsigned slots = of.count - slot < RowLanes ? of.count - slot : RowLanes;
      // All lanes of the group run the same batches, because they shuffle the entries that they
      // loaded.
      for (unsigned p = 0; p < slots; p += Unroll * subwarps)
        if (p + Unroll * subwarps <= slots)
          batch(p + lane / TileLanes, slots, truth<false>());
        else
          batch(p + lane / TileLanes, slots, truth<true>());
    }
  } else {
    unsigned p = lane / TileLanes;
    for (; p + (Unroll - 1) * subwarps < of.count; p += Unroll * subwarps)
      batch(p, of.count, truth<false>());
    if (p < of.count) batch(p, of.count, truth<true>());
  }
  const int held = reduce_subwarps<S, TileLanes, RowLanes>(members, lane, sum, out);
  if constexpr (b_reader::folds) {
    static_assert(W == V);
    unfold_codes<S, TileLanes, RowLanes>(members, reader, factors, out);
  }
  return held;
}

/// `gather_from` with or without values to load: the test is outside the loop. Samples test at
/// their loads and have one copy, because small graphs wait until a kernel's code is fetched.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          class Rows, class Range, int W>
__device__ __forceinline__ int gather(const arguments& args, Rows rows, index row, const Range& of,
                                      int lane, index first,
                                      typename S::accum (&sum)[Coarsening][W]) {
  if constexpr (!is_ignoring_left<S> && !Range::is_sample)
    if (of.values == nullptr)
      return gather_from<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, true>(
          args, rows, row, of, lane, first, sum);
  return gather_from<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, false>(args, rows, row, of,
                                                                               lane, first, sum);
}
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          class Range, int W>
__device__ __forceinline__ int gather(const arguments& args, index row, const Range& of, int lane,
                                      index first, typename S::accum (&sum)[Coarsening][W]) {
  return gather<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening>(args, rows_of_b(), row, of, lane,
                                                                   first, sum);
}

/// Stores the vectors of a row in `to`: whole vectors if C's rows begin and end on vectors, else
/// single elements.
template <class T, int V, int TileLanes, int Coarsening>
__device__ __forceinline__ void store(const arguments& args, T* to, index first,
                                      const vector_of<T, V> (&from)[Coarsening]) {
#pragma unroll
  for (int c = 0; c < Coarsening; ++c) {
    const index column = first + c * TileLanes * V;
    if (column >= args.columns) continue;
    if constexpr (V > 1) {
      if (!args.c_in_vectors) {
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (column + v < args.columns) to[column + v] = from[c].element[v];
        continue;
      }
    }
    store_vector<T, V>(to + column, from[c]);
  }
}

/// Stores the finished sums of one row in C's type. The test of n is outside the loops, so that
/// `finish` computes its terms of n once.
template <class S, class T, int V, int TileLanes, int Coarsening>
__device__ __forceinline__ void write_vectors(const arguments& args, index row, index first,
                                              int64 n,
                                              const typename S::accum (&sum)[Coarsening][V]) {
  vector_of<T, V> out[Coarsening];
  if (n > 0) {
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) out[c].element[v] = convert<T>(finished<S>(sum[c][v], n));
  } else {
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) out[c].element[v] = *reinterpret_cast<const T*>(args.fill.bytes);
  }
  store<T, V, TileLanes, Coarsening>(args, static_cast<T*>(args.c) + row * args.c_stride, first,
                                     out);
}

/// Stores the sums of one row of n products in C: whole vectors if the call is plain.
template <class S, int V, int TileLanes, int Coarsening, bool Plain>
__device__ __forceinline__ void write_tile(const arguments& args, index row, index first, int64 n,
                                           const typename S::accum (&sum)[Coarsening][V]) {
  using O = output<S>;
  if constexpr (!Plain) {
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
      for (int v = 0; v < V; ++v) {
        const index column = first + c * TileLanes * V + v;
        if (column < args.columns) write_any<S>(args, row, column, sum[c][v], n);
      }
  } else if constexpr (is_indexed<O>) {
    using value = decltype(O::value);
    vector_of<value, V> values[Coarsening];
    vector_of<int32, V> indices[Coarsening];
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const O out = finished<S>(sum[c][v], n);
        values[c].element[v] = n > 0 ? out.value : *reinterpret_cast<const value*>(args.fill.bytes);
        indices[c].element[v] = n > 0 ? out.index : -1;
      }
    store<value, V, TileLanes, Coarsening>(args, static_cast<value*>(args.c) + row * args.c_stride,
                                           first, values);
    store<int32, V, TileLanes, Coarsening>(args, args.indices + row * args.indices_stride, first,
                                           indices);
  } else {
    if constexpr (is_same<O, float>) {  // features often keep the narrow type of the input
      if (args.c_type == type::half)
        return write_vectors<S, half, V, TileLanes, Coarsening>(args, row, first, n, sum);
      if (args.c_type == type::bfloat16)
        return write_vectors<S, bfloat16, V, TileLanes, Coarsening>(args, row, first, n, sum);
    }
    write_vectors<S, O, V, TileLanes, Coarsening>(args, row, first, n, sum);
  }
}

}  // namespace rig::on_cuda
