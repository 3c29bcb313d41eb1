// update: its answer and its launches. update.cuh holds the second kernel, and says when it wins.

#include <algorithm>

#include "cuda/families.hpp"
#include "cuda/tuning/product.hpp"

namespace rig::on_cuda {
namespace {

/// The most columns of C per block, in tiles of 16, and the most blocks in y.
constexpr int most_tiles = 4;
constexpr index most_columns = 65535 * 16 * most_tiles;

/// Bytes of shared memory for `columns` of Z.
std::size_t shared_for(index columns, int tiles) {
  const auto steps = static_cast<std::size_t>((std::min(columns, weights_panel) + 15) / 16);
  return 512 * sizeof(float) * steps * static_cast<std::size_t>(tiles);
}

/// Tiles of C's columns per block.
int tiles_of(const problem& p) { return std::min((p.weights.columns + 15) / 16, most_tiles); }

device_kernel multiply_kernel(const problem& p, const dense_operand& z) {
  const bool in_fours = p.b.columns % 4 == 0 && is_aligned(z.data, z.stride, sizeof(float));
  const int tiles = tiles_of(p);
  return kernel_for(key_of(p), {.name = "multiply_rows",
                                .file = "cuda/update/update.cuh",
                                .arguments = {in_fours ? 4 : 1, tiles},
                                .reads_b = false,
                                .most_shared = shared_for(weights_panel, tiles)});
}

void multiply_by_weights(const problem& p, const dense_operand& z, const device_kernel& kernel) {
  arguments args = arguments_of(p);
  args.c = z.data;
  args.c_stride = z.stride;
  args.weights = static_cast<const float*>(p.weights.data);
  args.weights_stride = p.weights.stride;
  args.update_columns = p.weights.columns;
  args.updated = static_cast<float*>(p.updated.data);
  args.updated_stride = p.updated.stride;
  const int tiles = tiles_of(p);
  // Each block stages W, so there are only as many as a device runs at once.
  const int64 most_blocks =
      int64{update_blocks} * attribute_of(p.a.where.device, cudaDevAttrMultiProcessorCount);
  const int64 blocks = std::min((int64{p.a.rows} + update_rows - 1) / update_rows, most_blocks);
  launch(stream_of(p), kernel,
         dim3(static_cast<unsigned>(blocks),
              static_cast<unsigned>((int64{p.weights.columns} + 16 * tiles - 1) / (16 * tiles))),
         update_threads, &args, shared_for(p.b.columns, tiles));
}

void clear(const problem& p) {
  clear_rows(p.updated.data, static_cast<std::size_t>(p.updated.stride) * sizeof(float),
             static_cast<std::size_t>(p.updated.columns) * sizeof(float),
             static_cast<std::size_t>(p.updated.rows), stream_of(p).stream, "mxm_update");
}

}  // namespace

answer update_answer(const problem& p) {
  answer out = rig::update_answer(p);
  if (cannot(out, p, no_kernel_because(p)) || cannot(out, p, no_compiler_because())) return out;
  if (p.weights.columns > most_columns) {
    out.says = verdict::cannot;
    if (p.reasons)
      out.reason = "W has " + std::to_string(p.weights.columns) + " columns, more than " +
                   std::to_string(most_columns);
    return out;
  }
  out.seconds = estimate(p);
  return out;
}

void update_run(const problem& p, workspace& work) {
  if (p.b.columns == 0) return clear(p);
  problem product = product_to_update(p);
  buffer memory;
  if (product.c.data == nullptr) {
    memory = buffer::temporary(product.c.extent(), p.a.where, p.desc->stream);
    product.c.data = memory.data();
  }
  const bool is_updated = p.weights.columns > 0;
  // A kernel that does not compile throws here, before the product is written.
  const device_kernel kernel = is_updated ? multiply_kernel(p, product.c) : device_kernel{};
  inner_kernel(product)->run(product, work);
  if (is_updated) multiply_by_weights(p, product.c, kernel);
}

}  // namespace rig::on_cuda
