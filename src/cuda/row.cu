// row: a group of lanes takes a row, a tile of columns at a time.
//
// Wins on matrices of even row lengths. Source: GE-SpMM (Huang et al., SC 2020): coalesced row caching (the group reads G
// entries of the row at once and hands them round) and coarse-grained merging (a lane keeps several columns, so
// an entry that was read serves them all). CSR as it is, any reduction, no atomics, one owner an output: same bits.
// O(nnz · f), no memory but the result. Measured: docs/measured.md, suite exact.

#include "write.cuh"

namespace rig::on_cuda {

/// C(i, tile) for the rows of this block. A group of G lanes covers G·V·CF columns: a lane holds CF packs of V
/// neighbouring columns, G·V apart. `Plain`: no mask, no accumulator, C stores the semiring's output.
template <class S, class TB, int V, int CF, int G, bool Plain>
__global__ void __launch_bounds__(256) row(const arguments args) {
  using accum = typename S::accum;
  using left = typename S::left;
  using right = typename S::right;
  const int lane = static_cast<int>(threadIdx.x) % G;
  const int64 group = (static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x) / G;
  if (group >= args.rows) return;
  const index i = static_cast<index>(group);
  const unsigned members = G == 32 ? 0xffffffffu : ((1u << (G % 32)) - 1u) << (threadIdx.x % 32 / G * G);
  const int64 begin = args.offset(i), end = args.offset(i + 1);
  const TB* b = static_cast<const TB*>(args.b);

  for (index tile = static_cast<index>(blockIdx.y) * (G * V * CF); tile < args.columns;
       tile += static_cast<index>(gridDim.y) * (G * V * CF)) {
    accum sum[CF][V];
    index column[CF];
    for (int c = 0; c < CF; ++c) {
      column[c] = tile + (c * G + lane) * V;
      for (int v = 0; v < V; ++v) sum[c][v] = S::zero();
    }
    for (int64 e = begin; e < end; e += G) {
      // Coalesced row caching: each lane fetches one entry, then all walk them together.
      const bool mine = e + lane < end;
      const index my_inner = mine ? args.entries[e + lane] : 0;
      const left my_a = mine ? load_a<S>(args, e + lane) : left();
      const int count = end - e < G ? static_cast<int>(end - e) : G;
#pragma unroll 4
      for (int s = 0; s < count; ++s) {
        const index k = __shfl_sync(members, my_inner, s, G);
        left a = left();
        if constexpr (!is_ignoring_left<S>) a = shuffle(members, my_a, s, G);
        for (int c = 0; c < CF; ++c) {
          pack<TB, V> from = {};
          if constexpr (!is_ignoring_right<S>)
            if (column[c] < args.columns)
              from = *reinterpret_cast<const pack<TB, V>*>(b + k * args.b_stride + column[c]);
          for (int v = 0; v < V; ++v)
            sum[c][v] = S::add(sum[c][v], product<S>(a, convert<right>(from.element[v]), position{i, k}));
        }
      }
    }
    for (int c = 0; c < CF; ++c) {
      if (column[c] >= args.columns) continue;
      if constexpr (Plain) {
        using O = output<S>;
        pack<O, V> out;
        for (int v = 0; v < V; ++v)
          out.element[v] = begin < end ? finished<S>(sum[c][v], end - begin)
                                       : *reinterpret_cast<const O*>(args.fill.bytes);
        *reinterpret_cast<pack<O, V>*>(static_cast<O*>(args.c) + i * args.c_stride + column[c]) = out;
      } else {
        for (int v = 0; v < V; ++v)
          if (column[c] + v < args.columns) write_any<S>(args, i, column[c] + v, sum[c][v], end - begin);
      }
    }
  }
}

}  // namespace rig::on_cuda

#ifndef __CUDACC_RTC__

#include <array>
#include <utility>

#include "families.hpp"
#include "launch.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {
namespace {

/// Launch shapes: V neighbouring columns a load, CF loads a lane, G lanes a row, plain write-back or any.
struct row_shape {
  int v, cf, g;
  bool plain;
};
constexpr row_shape shapes[] = {
    {4, 1, 8, true},    // f ≤ 32: four rows a warp, 16-byte loads
    {4, 1, 16, true},   // f ≤ 64: two rows a warp
    {4, 1, 32, true},   // wider: a warp a row
    {1, 1, 8, true},    // odd widths or alignment, f ≤ 8
    {1, 1, 32, true},   // … f ≤ 32
    {1, 2, 32, true},   // … wider: coarsening 2, GE-SpMM's choice
    {1, 1, 8, false},   // masks, accumulators, conversions, indices: the same three, element by element
    {1, 1, 32, false},
    {1, 2, 32, false},
};
constexpr unsigned threads = 256;

int shape_for(const problem& p) {
  const index f = p.b.columns;
  if (is_plain(p) && is_aligned(p, 4, true)) return f <= 32 ? 0 : f <= 64 ? 1 : 2;
  return (is_plain(p) ? 3 : 6) + (f <= 8 ? 0 : f <= 32 ? 1 : 2);
}

std::string expression(int shape, const std::string& semiring, const std::string& b_type) {
  const row_shape& s = shapes[shape];
  return "rig::on_cuda::row<" + semiring + ", " + b_type + ", " + std::to_string(s.v) + ", " + std::to_string(s.cf) + ", " +
         std::to_string(s.g) + ", " + (s.plain ? "true" : "false") + ">";
}

/// Every shape of one builtin pair; plain shapes of an indexed result do not exist.
template <class S, std::size_t I>
const void* kernel_of_shape() {
  constexpr row_shape s = shapes[I];
  if constexpr (s.plain && is_indexed<output<S>>) return nullptr;
  else return reinterpret_cast<const void*>(&row<S, typename S::right, s.v, s.cf, s.g, s.plain>);
}
using kernels_of_a_pair = std::array<const void*, std::size(shapes)>;

template <class S, std::size_t... I>
kernels_of_a_pair kernels_of(std::index_sequence<I...>) {
  return {kernel_of_shape<S, I>()...};
}

/// In the order of builtin.def.
const kernels_of_a_pair ahead[] = {
#define RIG_BUILTIN(semiring, type) kernels_of<semiring<type>>(std::make_index_sequence<std::size(shapes)>()),
#include "rig/builtin.def"
#undef RIG_BUILTIN
};

}  // namespace

answer row_answer(const problem& p) {
  answer out;
  if (const char* why = no_kernel_because(p)) {
    out.says = verdict::cannot;
    if (p.reasons) out.reason = why;
    return out;
  }
  out.seconds = estimate(p);
  return out;
}

void row_run(const problem& p) {
  const device_scope scope(p.a.where.device);
  const int shape = shape_for(p);
  const row_shape& s = shapes[shape];
  const void* kernel = kernel_for(p, {"row.cu", shape, std::size(shapes), expression, ahead[0].data()});
  const int64 rows_a_block = threads / static_cast<unsigned>(s.g);
  const int64 tiles = (p.b.columns + s.v * s.cf * s.g - 1) / (s.v * s.cf * s.g);
  const dim3 grid(static_cast<unsigned>((p.a.rows + rows_a_block - 1) / rows_a_block),
                  static_cast<unsigned>(tiles < 65535 ? tiles : 65535));
  launch(p, "row", kernel, grid, threads, arguments_of(p));
}

}  // namespace rig::on_cuda

#endif
