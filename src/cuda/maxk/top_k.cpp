#include "cuda/maxk/top_k.hpp"

namespace rig::on_cuda {

product_facts facts_of_top_k(const problem& p, const row_statistics& statistics) {
  using enum fact;
  product_facts out = facts_of_rows(statistics, p.a.nnz);
  const int retained = retained_per_row(p);
  out[k] = retained;
  out[columns] = p.b.columns;
  out[k_over_columns] = static_cast<double>(retained) / p.b.columns;
  out[per_row] = static_cast<double>(p.a.nnz) / p.a.rows;
  out[atomics] = adds_by_atomics(p);
  out[b_row_bytes] = static_cast<double>(p.b.columns) * static_cast<double>(p.b.value_bytes);
  out[b_bytes] = p.b.rows * out[b_row_bytes];
  return out;
}

int lanes_for(int vectors, int least) {
  int lanes = least;
  while (lanes < 32 && lanes < vectors) lanes *= 2;
  return lanes;
}

dim3 grid_for(const arguments& args, unsigned warps, index tiles) {
  const int64 parts = static_cast<int64>(args.segment_count) + args.rows;
  return {static_cast<unsigned>((parts + warps - 1) / warps), static_cast<unsigned>(tiles)};
}

index tiles_of(int places, int lanes, int values) {
  return (places + lanes * values - 1) / (lanes * values);
}

buffer split_rows(const problem& p, std::size_t bytes, index tiles, arguments& args,
                  workspace& work) {
  const row_lists& lists = lists_of(*p.oriented, work);
  args.order = order_of(p, lists);
  return split_into_segments(stream_of(p), lists, lists.of_warps, bytes, tiles, args, work);
}

answer top_k_answer(answer out, const problem& p) {
  if (out.says == verdict::cannot) return out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const tuning_table& table = current_table();
  out.seconds = table[constant::launch_seconds] +
                predicted_bytes(p, static_cast<double>(p.a.nnz), retained_per_row(p)) /
                    table[constant::maxk_bytes_per_second];
  return out;
}

}  // namespace rig::on_cuda
