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

/// How lanes share the sums of a row. A group of `row_lanes` takes it; `tile_lanes` of them take an
/// entry, `coarsening` vectors of `vector` columns each; `unroll` entries are in flight per lane.
struct lane_plan {
  int vector, tile_lanes, row_lanes, unroll, coarsening;
};

/// One lane's sums over the entries `of` a row. Iso: all of A's values are equal.
template <class S, class TB, lane_plan P, bool Iso, class Rows, class Range>
struct lane_sums {
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;
  using reader = b_reader<S, TB, P.vector, P.coarsening>;
  static constexpr unsigned subwarps = P.row_lanes / P.tile_lanes, step = P.unroll * subwarps;
  /// Past the end, lanes with two vectors load the last entry again and drop it, while lanes with
  /// one vector test first; docs/lab/exact.md.
  static constexpr bool again = P.coarsening > 1;
  /// A semiring with `replaces` is summed from the last entry to the first. The entries of a sample
  /// need not ascend.
  static constexpr bool backward = has_replaces<S> && !Range::is_sample;

  /// The entries in flight. All their loads are issued before the first sum, so that their
  /// latencies overlap.
  struct batch {
    bool there[P.unroll];
    index k[P.unroll] = {};
    left a[P.unroll];
    vector_of<TB, P.vector> from[P.unroll][P.coarsening];
  };

  const arguments& args;
  const Rows& rows;
  const index row;
  const Range& of;
  const reader codes;
  const char* b[P.coarsening];
  left iso = left();
  accum sum[P.coarsening][P.vector], factors = S::zero();

  __device__ __forceinline__ lane_sums(const arguments& args, const Rows& rows, index row,
                                       const Range& of, const index (&columns)[P.coarsening])
      : args(args), rows(rows), row(row), of(of), codes(args, columns) {
    for (int c = 0; c < P.coarsening; ++c) {
      b[c] = reinterpret_cast<const char*>(static_cast<const TB*>(rows.data(args)) + columns[c]);
      for (int v = 0; v < P.vector; ++v) sum[c][v] = S::zero();
    }
    if constexpr (Iso) iso = iso_of<left>(args);
  }

  static constexpr bool loads_values = !Iso && !is_ignoring_left<S>;
  /// Short rows have batches of two entries, which gain nothing by what deep ones do.
  static constexpr bool is_deep = P.unroll > 2;

  /// Entries p, p + subwarps, … of a whole batch, at constants from one address per array.
  __device__ __forceinline__ void load_deep(batch& some, unsigned p) const {
    constexpr int stride = backward ? -static_cast<int>(subwarps) : static_cast<int>(subwarps);
    const unsigned first = backward ? of.count - 1 - p : p;
    const index* const entries = of.entries + first;
    [[maybe_unused]] const left* const values = loads_values ? of.values + first : nullptr;
#pragma unroll
    for (int u = 0; u < P.unroll; ++u) {
      some.there[u] = true;
      some.k[u] = of.load(entries + u * stride);
      if constexpr (Iso) some.a[u] = iso;
      if constexpr (loads_values) some.a[u] = of.load(values + u * stride);
    }
  }
  /// The same with an address per entry, also where the row ends in the batch.
  template <bool Ends>
  __device__ __forceinline__ void load_entries(batch& some, unsigned p) const {
#pragma unroll
    for (int u = 0; u < P.unroll; ++u) {
      unsigned e = p + u * subwarps;
      some.there[u] = !Ends || e < of.count;
      if constexpr (Iso) some.a[u] = iso;
      if (!again && !some.there[u]) continue;
      if (!some.there[u]) e = of.count - 1;
      if constexpr (backward) e = of.count - 1 - e;
      some.k[u] = of.load(of.entries + e);
      if constexpr (loads_values) some.a[u] = of.load(of.values + e);
    }
  }

  __device__ __forceinline__ void load_rows(batch& some) const {
#pragma unroll
    for (int u = 0; u < P.unroll; ++u)
#pragma unroll
      for (int c = 0; c < P.coarsening; ++c)
        if (again || some.there[u])
          some.from[u][c] =
              load_vector<TB, P.vector>(at_row<TB>(b[c], some.k[u], rows.row_bytes(args)));
#pragma unroll
    for (int u = 0; u < P.unroll; ++u)
#pragma unroll
      for (int c = 0; c < P.coarsening; ++c) hold(some.from[u][c]);
  }

  template <bool Waits>
  __device__ __forceinline__ void add(batch& some) {
    if constexpr (!is_ignoring_right<S>) load_rows(some);
    if constexpr (Waits && !is_ignoring_left<S> && !is_ignoring_right<S>)
      wait_for(some.from[P.unroll - 1][P.coarsening - 1], some.a[0]);
#pragma unroll
    for (int u = 0; u < P.unroll; ++u) {
      if (!some.there[u]) continue;
      const position at = {row, some.k[u]};
      if constexpr (reader::folds) factors = S::add(factors, product<S>(some.a[u], 1.0f, at));
#pragma unroll
      for (int c = 0; c < P.coarsening; ++c)
#pragma unroll
        for (int v = 0; v < P.vector; ++v) {
          right value = right();
          if constexpr (!is_ignoring_right<S>) value = codes.value(some.from[u][c], c, v);
          const accum x = product<S>(some.a[u], value, at);
          if constexpr (backward)
            take_where(S::replaces(sum[c][v], x), x, sum[c][v]);
          else
            sum[c][v] = S::add(sum[c][v], x);
        }
    }
  }

  __device__ __forceinline__ void add_range(int lane) {
    unsigned p = static_cast<unsigned>(lane) / P.tile_lanes;
    for (; p + (P.unroll - 1) * subwarps < of.count; p += step) {
      batch some;
      if constexpr (is_deep)
        load_deep(some, p);
      else
        load_entries<false>(some, p);
      add<is_deep>(some);
    }
    if (p >= of.count) return;
    batch rest;
    load_entries<true>(rest, p);
    add<false>(rest);
  }

  /// Slots p, p + subwarps, … of the `count` that the group's lanes have loaded.
  template <bool Checked>
  __device__ __forceinline__ void add_slots(unsigned p, unsigned count, index loaded,
                                            const left& loaded_a) {
    const unsigned members = group_members<P.row_lanes>();
    const int leader = static_cast<int>(threadIdx.x) % 32 / P.row_lanes * P.row_lanes;
    batch some;
#pragma unroll
    for (int u = 0; u < P.unroll; ++u) {
      const unsigned e = p + u * subwarps;
      const int from = leader + static_cast<int>(e) % P.row_lanes;
      some.there[u] = !Checked || e < count;
      some.k[u] = __shfl_sync(members, loaded, from);
      if constexpr (!is_ignoring_left<S>) some.a[u] = shuffle_from(members, loaded_a, from);
    }
    add<false>(some);
  }
  /// Each lane loads one of the next row_lanes slots, so that no entry is computed or awaited
  /// twice. All lanes of the group run the same batches, because they shuffle what they loaded.
  __device__ __forceinline__ void add_sample(int lane) {
    constexpr unsigned lanes = P.row_lanes;
    for (unsigned slot = 0; slot < of.count; slot += lanes) {
      const unsigned mine = slot + static_cast<unsigned>(lane);
      const unsigned e = of.at(mine < of.count ? mine : of.count - 1);
      const index k = __ldg(of.entries + e);
      left a = left();
      if constexpr (!is_ignoring_left<S>)
        a = of.values == nullptr ? iso_of<left>(args)
                                 : load_vector<left, 1>(of.values + e).element[0];
      const unsigned slots = of.count - slot < lanes ? of.count - slot : lanes;
      for (unsigned p = 0; p < slots; p += step)
        if (p + step <= slots)
          add_slots<false>(p + lane / P.tile_lanes, slots, k, a);
        else
          add_slots<true>(p + lane / P.tile_lanes, slots, k, a);
    }
  }
};

template <class S, class TB, lane_plan P, bool Iso, class Rows, class Range, int W>
__device__ __forceinline__ int gather_from(const arguments& args, const Rows& rows, index row,
                                           const Range& of, int lane, index first,
                                           typename S::accum (&out)[P.coarsening][W]) {
  // A lane beyond the last column reads the first column and drops it, because an unconditional
  // load does not hold up others.
  index columns[P.coarsening];
  for (int c = 0; c < P.coarsening; ++c) {
    columns[c] = first + c * P.tile_lanes * P.vector;
    if (columns[c] >= args.columns) columns[c] = 0;
  }
  using sums = lane_sums<S, TB, P, Iso, Rows, Range>;
  sums mine(args, rows, row, of, columns);
  if constexpr (Range::is_sample)
    mine.add_sample(lane);
  else
    mine.add_range(lane);
  const unsigned members = group_members<P.row_lanes>();
  const int held = reduce_subwarps<S, P.tile_lanes, P.row_lanes>(members, lane, mine.sum, out);
  if constexpr (sums::reader::folds) {
    static_assert(W == P.vector);
    unfold_codes<S, P.tile_lanes, P.row_lanes>(members, mine.codes, mine.factors, out);
  }
  return held;
}

/// out[c][w] = ⊕ over the entries `of` a row, for the vectors of columns at first + c · tile_lanes
/// · vector; if W < vector, from the returned column of each vector on. docs/tour.md has the lanes.
/// All lanes of the group must call.
///
/// The test for values to load is outside the loop. Samples test at their loads and have one copy,
/// because small graphs wait until a kernel's code is fetched.
template <class S, class TB, lane_plan P, class Rows, class Range, int W>
__device__ __forceinline__ int gather(const arguments& args, const Rows& rows, index row,
                                      const Range& of, int lane, index first,
                                      typename S::accum (&out)[P.coarsening][W]) {
  if constexpr (!is_ignoring_left<S> && !Range::is_sample)
    if (of.values == nullptr)
      return gather_from<S, TB, P, true>(args, rows, row, of, lane, first, out);
  return gather_from<S, TB, P, false>(args, rows, row, of, lane, first, out);
}
template <class S, class TB, lane_plan P, class Range, int W>
__device__ __forceinline__ int gather(const arguments& args, index row, const Range& of, int lane,
                                      index first, typename S::accum (&out)[P.coarsening][W]) {
  return gather<S, TB, P>(args, rows_of_b(), row, of, lane, first, out);
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
