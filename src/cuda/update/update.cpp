// update: its answer and its launches. update.cuh holds the second kernel, and says when it wins.

#include <algorithm>

#include "cuda/families.hpp"
#include "cuda/runtime/compile.hpp"
#include "cuda/runtime/launch.hpp"

namespace rig::on_cuda {
namespace {

/// Rows of C per block, and the most columns, in tiles of 16.
constexpr int64 block_rows = update_threads / 32 * 16;
constexpr int most_tiles = 4;

/// The product as a call of its own, into Z or into memory that the buffer then holds.
problem product_of(const problem& p, buffer& memory) {
  problem out = p;
  out.is_updated = false;
  out.named = nullptr;
  if (out.c.data != nullptr) return out;
  out.c.rows = p.a.rows;
  out.c.columns = out.c.stride = p.b.columns;
  memory = buffer::allocate(out.c.extent(), p.a.where, p.desc->stream);
  out.c.data = memory.data();
  return out;
}

/// Bytes of shared memory for `columns` of Z.
std::size_t shared_for(index columns, int tiles) {
  const auto steps = static_cast<std::size_t>((std::min(columns, weights_panel) + 15) / 16);
  return 512 * sizeof(float) * steps * static_cast<std::size_t>(tiles);
}

void multiply_by_weights(const problem& p, const dense_operand& z) {
  arguments args = arguments_of(p);
  args.c = z.data;
  args.c_stride = z.stride;
  args.weights = static_cast<const float*>(p.weights.data);
  args.weights_stride = p.weights.stride;
  args.update_columns = p.weights.columns;
  args.updated = static_cast<float*>(p.updated.data);
  args.updated_stride = p.updated.stride;
  const int tiles = std::min((p.weights.columns + 15) / 16, most_tiles);
  const bool in_fours = p.b.columns % 4 == 0 && is_aligned(z.data, z.stride, sizeof(float));
  const kernel_request wanted = {.name = "multiply_rows",
                                 .file = "cuda/update/update.cuh",
                                 .arguments = {in_fours ? 4 : 1, tiles},
                                 .reads_b = false,
                                 .most_shared = shared_for(weights_panel, tiles)};
  // Each block stages W, so there are about as many as a large device runs at once.
  constexpr int64 most_blocks = 396;
  const int64 blocks = std::min((p.a.rows + block_rows - 1) / block_rows, most_blocks);
  launch(p, "multiply_rows", kernel_for(p, wanted),
         dim3(static_cast<unsigned>(blocks),
              static_cast<unsigned>((p.weights.columns + 16 * tiles - 1) / (16 * tiles))),
         update_threads, args, shared_for(p.b.columns, tiles));
}

}  // namespace

answer update_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p)) || cannot(out, p, no_compiler_because())) return out;
  out.seconds = estimate(p);
  return out;
}

void update_run(const problem& p, workspace& work) {
  if (p.b.columns == 0) {
    check(cudaMemset2DAsync(p.updated.data, static_cast<std::size_t>(p.updated.stride) * 4, 0,
                            static_cast<std::size_t>(p.updated.columns) * 4,
                            static_cast<std::size_t>(p.updated.rows), stream_of(p)),
          "mxm_update");
    return;
  }
  buffer memory;
  const problem product = product_of(p, memory);
  cheapest_kernel(product)->run(product, work);
  multiply_by_weights(p, product.c);
}

}  // namespace rig::on_cuda
