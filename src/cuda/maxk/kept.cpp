#include "cuda/maxk/kept.hpp"

namespace rig::on_cuda {

int number_of(const kept_shape& s) {
  return (s.v * 64 + s.l) * 32 + s.adds * 16 + s.indices_8 * 8 + s.has_flags * 4 + s.plain * 2 +
         s.whole;
}
kept_shape shape_of(int n) {
  return {n / 2048,     n / 32 % 64,  (n & 8) != 0, (n & 4) != 0,
          (n & 2) != 0, (n & 1) != 0, (n & 16) != 0};
}
std::string kept_expression(const char* kernel, int shape, const std::string& semiring,
                            const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return std::string("rig::on_cuda::") + kernel + "<" + semiring + ", " + b_type + ", " +
         (s.indices_8 ? "unsigned char, " : "unsigned short, ");
}
const char* in_words(bool x) { return x ? "true" : "false"; }

int lanes_for(int packs, int least) {
  int lanes = least;
  while (lanes < 32 && lanes < packs) lanes *= 2;
  return lanes;
}

dim3 grid_for(const arguments& args, unsigned warps, index tiles) {
  const int64 parts = static_cast<int64>(args.piece_count) + args.rows;
  return {static_cast<unsigned>((parts + warps - 1) / warps), static_cast<unsigned>(tiles)};
}

index tiles_of(int places, const kept_shape& s) { return (places + s.l * s.v - 1) / (s.l * s.v); }

buffer cut_rows(const problem& p, std::size_t bytes, index tiles, arguments& args) {
  return cut_in_pieces(p, ordered_rows(p, args), bytes, tiles, args);
}

answer kept_answer(answer out, const problem& p) {
  if (out.says == verdict::cannot) return out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  constexpr double bytes_a_second = 4e12, launch_seconds = 3e-6;
  out.seconds = launch_seconds +
                predicted_bytes(p, static_cast<double>(p.a.nnz), kept_of(p)) / bytes_a_second;
  return out;
}

}  // namespace rig::on_cuda
