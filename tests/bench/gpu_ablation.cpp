// Suite ablation: what each idea of `row` is worth. Its launch shapes, one after the other, and
// coalesced row caching and coarsening as GE-SpMM has them, in a kernel of the bench's own.

#include "../forced_shape.hpp"
#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

using rig::on_cuda::row_shape;

constexpr row_shape shapes[] = {
    {true, 8, 8, 2, 1, true},   {true, 8, 8, 4, 1, true},   {true, 8, 8, 8, 1, true},
    {true, 8, 8, 6, 1, true},   {true, 8, 8, 7, 1, true},   {true, 8, 16, 4, 1, true},
    {true, 8, 32, 4, 1, true},  {true, 8, 8, 2, 2, true},   {true, 8, 8, 4, 2, true},
    {true, 8, 8, 2, 4, true},   {true, 16, 16, 2, 1, true}, {true, 16, 16, 4, 1, true},
    {true, 16, 32, 4, 1, true}, {true, 16, 16, 2, 2, true}, {true, 16, 16, 4, 2, true},
    {true, 16, 16, 2, 4, true}, {true, 32, 32, 2, 1, true}, {true, 32, 32, 4, 1, true},
    {true, 32, 32, 8, 1, true}, {true, 32, 32, 2, 2, true}, {true, 32, 32, 4, 2, true}};

/// Without packs, for rows of B that begin anywhere.
constexpr row_shape unaligned_shapes[] = {
    {false, 8, 8, 2, 5, true},   {false, 8, 8, 4, 5, true},   {false, 16, 16, 2, 3, true},
    {false, 16, 16, 4, 3, true}, {false, 32, 32, 2, 2, true}, {false, 32, 32, 4, 2, true},
    {false, 32, 32, 8, 2, true}, {false, 16, 32, 4, 3, true}, {false, 32, 32, 4, 4, true}};

/// With B in tiles, and one column beyond them.
constexpr row_shape tiled_shapes[] = {
    {true, 8, 8, 4, 1, true, 16, 1},  {true, 8, 8, 6, 1, true, 16, 1},
    {true, 8, 16, 4, 1, true, 16, 1}, {true, 8, 32, 4, 1, true, 16, 1},
    {true, 8, 32, 6, 1, true, 16, 1}, {true, 16, 16, 4, 1, true, 16, 1},
    {true, 16, 32, 4, 1, true, 16, 1}};

/// Of one column.
constexpr row_shape column_shapes[] = {
    {false, 1, 1, 4, 1, true},  {false, 1, 2, 2, 1, true},  {false, 1, 2, 4, 1, true},
    {false, 1, 4, 2, 1, true},  {false, 1, 4, 4, 1, true},  {false, 1, 8, 2, 1, true},
    {false, 1, 8, 4, 1, true},  {false, 1, 16, 2, 1, true}, {false, 1, 16, 4, 1, true},
    {false, 1, 32, 2, 1, true}, {false, 1, 32, 4, 1, true}, {false, 1, 32, 8, 1, true}};

std::string name_of(const row_shape& s) {
  return (s.rest > 0 ? "in tiles, L "
          : s.packs  ? "L "
                     : "singly, L ") +
         std::to_string(s.l) + ", G " + std::to_string(s.g) + ", U " + std::to_string(s.u) +
         ", CF " + std::to_string(s.cf);
}

class ablation : public suite {
 public:
  using suite::suite;

  void measure(product& of) override {
    const rig::descriptor column{.kernel = "split"};
    const rig::matrix<float>& a = of.graph.weighted;
    const rig::matrix<float>& pattern = of.graph.pattern;
    auto with_indices = rig::indexed_dense<float>{
        rig::dense<float>::uninitialised(of.n(), of.features, rig::cuda()),
        rig::dense<rig::int32>::uninitialised(of.n(), of.features, rig::cuda())};
    const auto tried = of.features == 1 ? std::span<const row_shape>(column_shapes)
                                        : std::span<const row_shape>(shapes);
    race_shapes(of, "plus_times", tried, [&] {
      rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{},
               of.features == 1 ? column : rig::descriptor{});
    });
    if (of.features > 1) race_ge_spmm(of);
    if (of.features % 4 != 0 && of.features > 1)
      race_shapes(of, "plus_times", unaligned_shapes,
                  [&] { rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{}); });
    if (of.features % 8 == 1 && of.features > 32)
      race_shapes(of, "plus_times", tiled_shapes,
                  [&] { rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{}); });
    if (of.features > 1)
      race_shapes(of, "arg_max_second", tried, [&] {
        rig::mxm(with_indices, rig::none, pattern, of.b, rig::arg_max_second<float>{});
      });
  }

  void summarise() override {}

 private:
  void race_ge_spmm(product& of) {
    const rig::matrix<float>& a = of.graph.weighted;
    std::vector<contender> field = {
        {"by the rules", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{}); }}};
    field[0].run();
    const std::vector<float> expected = sample(of.c);
    std::vector<peer> kernels;
    for (const bool caching : {false, true})
      for (const int coarsening : {1, 2, 4})
        kernels.push_back({std::string("GE-SpMM, ") + (caching ? "CRC, " : "") + "CF " +
                               std::to_string(coarsening),
                           [&of, &a, caching, coarsening] {
                             ge_spmm(coarsening, caching, a, of.b.data(), of.features, of.c.data());
                           },
                           {}});
    verify(kernels, of.c, expected, of, float_rounding, with_);
    with_.enter(kernels, of, field);
    enter(of, "plus_times", field);
  }

  void race_shapes(product& of, const char* semiring, std::span<const row_shape> tried,
                   const std::function<void()>& call) {
    std::vector<contender> field = {{"by the rules", call}};
    for (const row_shape& s : tried) {
      const int tile = s.l * s.cf * (s.packs ? 4 : 1);
      if (of.features > 1 && tile >= 2 * of.features && s.l > 8) continue;  // half its lanes idle
      if (s.rest > 0 && (of.features < tile || of.features % tile != s.rest)) continue;
      field.push_back({name_of(s), [&s, &call] {
                         const forced_shape by(s);
                         call();
                       }});
    }
    enter(of, semiring, field);
  }

  void enter(product& of, const char* semiring, const std::vector<contender>& field) {
    const std::vector<double> ms = with_.race(field);
    row line = with_.line("ablation", of, 4, 4);
    line.semiring = semiring;
    for (std::size_t i = 0; i < field.size(); ++i) {
      line.operation = field[i].name;
      line.ms = ms[i];
      line.ratio = ms[0] / ms[i];
      with_.out.add(line);
    }
  }
};

}  // namespace

std::unique_ptr<suite> make_ablation(setting& with) { return std::make_unique<ablation>(with); }

}  // namespace bench::gpu
