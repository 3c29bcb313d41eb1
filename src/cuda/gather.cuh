#pragma once

// Which entries, and the sum over them: the inner loop of every exact kernel.

#include "write.cuh"

namespace rig::on_cuda {

/// sum[c][v] = ⊕ over entries [begin, end) of `row`, for the columns of this lane. G lanes work together: L of them
/// cover a tile of L·V·CF columns, the G / L teams take every G / L-th entry, and U entries a team are in flight.
/// Lane `lane` holds columns first + v and, L·V further, the next pack. Teams meet in a fixed tree, so the result is the
/// same each time; all lanes of the group must call.
template <class S, class TB, int V, int L, int G, int U, int CF>
__device__ __forceinline__ void gather(const arguments& args, index row, int64 begin, int64 end, int lane, index first,
                                       typename S::accum (&sum)[CF][V]) {
  using left = typename S::left;
  using right = typename S::right;
  constexpr int teams = G / L;
  const TB* b = static_cast<const TB*>(args.b) + first;
  bool inside[CF];
  for (int c = 0; c < CF; ++c) {
    inside[c] = first + c * L * V < args.columns;
    for (int v = 0; v < V; ++v) sum[c][v] = S::zero();
  }
  const auto* values = static_cast<const left*>(args.a_values);
  left iso = left();
  if constexpr (!is_ignoring_left<S>)
    if (values == nullptr) iso = *reinterpret_cast<const left*>(args.iso.bytes);
  // All loads of a batch are issued before its first sum: their latencies overlap.
  const auto batch = [&](int64 p, auto checked) {
    index k[U];
    left a[U];
    pack<TB, V> from[U][CF];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const int64 e = p + u * teams;
      const bool there = !checked || e < end;
      k[u] = there ? __ldg(args.entries + e) : -1;
      if constexpr (!is_ignoring_left<S>) {
        a[u] = iso;
        if (there && values != nullptr) a[u] = values[e];
      }
    }
    if constexpr (!is_ignoring_right<S>) {
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int c = 0; c < CF; ++c)
          if ((!checked || k[u] >= 0) && inside[c]) from[u][c] = load_pack<TB, V>(b + k[u] * args.b_stride + c * L * V);
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (checked && k[u] < 0) continue;
#pragma unroll
      for (int c = 0; c < CF; ++c)
#pragma unroll
        for (int v = 0; v < V; ++v) {
          right value = right();
          if constexpr (!is_ignoring_right<S>) value = convert<right>(from[u][c].element[v]);
          sum[c][v] = S::add(sum[c][v], product<S>(a[u], value, position{row, k[u]}));
        }
    }
  };
  struct no { constexpr operator bool() const { return false; } };
  struct yes { constexpr operator bool() const { return true; } };
  int64 p = begin + lane / L;
  for (; p + (U - 1) * teams < end; p += U * teams) batch(p, no());
  if (p < end) batch(p, yes());
  if constexpr (teams > 1) {
    const unsigned members = G == 32 ? 0xffffffffu : ((1u << (G % 32)) - 1u) << (threadIdx.x % 32 / G * G);
#pragma unroll
    for (int distance = L; distance < G; distance *= 2)
#pragma unroll
      for (int c = 0; c < CF; ++c)
#pragma unroll
        for (int v = 0; v < V; ++v) sum[c][v] = S::add(sum[c][v], shuffle_xor(members, sum[c][v], distance));
  }
}

/// The sums of one row, n of its products, to C: whole packs where the call is plain.
template <class S, int V, int L, int CF, bool Plain>
__device__ __forceinline__ void write_tile(const arguments& args, index row, index first, int64 n,
                                           const typename S::accum (&sum)[CF][V]) {
  using O = output<S>;
#pragma unroll
  for (int c = 0; c < CF; ++c) {
    const index column = first + c * L * V;
    if (column >= args.columns) continue;
    if constexpr (!Plain) {
      for (int v = 0; v < V; ++v)
        if (column + v < args.columns) write_any<S>(args, row, column + v, sum[c][v], n);
    } else if constexpr (is_indexed<O>) {
      using value = decltype(O::value);
      pack<value, V> values;
      pack<int32, V> indices;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const O out = finished<S>(sum[c][v], n);
        values.element[v] = n > 0 ? out.value : *reinterpret_cast<const value*>(args.fill.bytes);
        indices.element[v] = n > 0 ? out.index : -1;
      }
      store_pack<value, V>(static_cast<value*>(args.c) + row * args.c_stride + column, values);
      store_pack<int32, V>(args.indices + row * args.indices_stride + column, indices);
    } else {
      pack<O, V> out;
#pragma unroll
      for (int v = 0; v < V; ++v)
        out.element[v] = n > 0 ? finished<S>(sum[c][v], n) : *reinterpret_cast<const O*>(args.fill.bytes);
      store_pack<O, V>(static_cast<O*>(args.c) + row * args.c_stride + column, out);
    }
  }
}

}  // namespace rig::on_cuda
