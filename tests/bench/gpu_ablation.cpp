// Suite ablation: what each idea of `row` and `split` is worth. Products without one of them; the
// launch shapes, one after the other; and coalesced row caching and coarsening as GE-SpMM has them,
// in a kernel of the bench's own.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/forced.hpp"
#include "cuda/kernel_ideas.hpp"
#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

using rig::on_cuda::forced_choice;
using rig::on_cuda::row_shape;

constexpr const char* by_the_rules = "by the rules";

/// Entries that a piece of a long row may have; the last leaves every row whole.
constexpr rig::int64 cuts[] = {128, 256, 512, 1024, 2048, rig::int64{1} << 40};

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
    {false, 32, 32, 8, 2, true}, {false, 16, 32, 4, 3, true}, {false, 32, 32, 4, 4, true},
    {false, 8, 8, 3, 5, true},   {false, 16, 16, 2, 5, true}, {false, 32, 32, 6, 2, true},
    {false, 32, 32, 2, 5, true}, {false, 32, 32, 4, 5, true}, {false, 32, 32, 6, 5, true}};

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
    if (of.features == 1) {
      race_shapes(of, column_shapes, {.kernel = "split"});
      return;
    }
    race_ideas(of, "plus_times", of.c, [&](const rig::matrix<float>& from) {
      rig::mxm(of.c, rig::none, from, of.b, rig::plus_times<float>{});
    });
    auto greatest = rig::indexed_dense<float>{
        rig::dense<float>::uninitialised(of.n(), of.features, rig::cuda()),
        rig::dense<rig::int32>::uninitialised(of.n(), of.features, rig::cuda())};
    race_ideas(of, "arg_max_second", greatest.values, [&](const rig::matrix<float>& from) {
      rig::mxm(greatest, rig::none, from, of.b, rig::arg_max_second<float>{});
    });
    race_ge_spmm(of);
    race_shapes(of, shapes);
    if (of.features % 4 != 0) race_shapes(of, unaligned_shapes);
    if (of.features % 8 == 1 && of.features > 32) race_shapes(of, tiled_shapes);
  }

  void summarise() override {}

 private:
  /// The product as it is, and without one idea after the other. `c`: what `multiply` writes.
  void race_ideas(product& of, const char* semiring, rig::dense<float>& c,
                  const std::function<void(const rig::matrix<float>&)>& multiply) {
    const rig::matrix<float>& a = of.graph.weighted;
    std::vector<contender> field = {{by_the_rules, [&] { multiply(a); }}};
    field[0].run();
    const std::vector<float> expected = sample(c);
    std::vector<peer> others;
    const auto add = [&](std::string name, const rig::matrix<float>& from, forced_choice choice) {
      others.push_back({std::move(name),
                        [&multiply, from, choice] {
                          const forced by(choice);
                          multiply(from);
                        },
                        {}});
    };
    const auto lists = a.structure().derived_of<rig::on_cuda::row_lists>();
    if (lists->by_length != nullptr) add("with rows in their order", a, {.in_order = true});
    add("without slices of columns", a, {.unsliced = true});
    for (const rig::int64 cut : cuts)
      if (lists->piece_count > 0)
        add(cut <= a.nnz() ? "cut at " + std::to_string(cut) : "without cuts", view_of(a),
            {.cut = cut});
    for (const rig::on_cuda::text_edit& idea : kernel_ideas) add(idea.name, a, {.edit = &idea});
    verify(others, c, expected, of, float_rounding, with_);
    with_.enter(others, of, field);
    enter(of, semiring, field);
  }

  /// The same arrays, under a pattern that has no lists yet.
  static rig::matrix<float> view_of(const rig::matrix<float>& a) {
    const rig::pattern& s = a.structure();
    const auto count = static_cast<std::size_t>(s.nnz());
    const auto view = [&](const auto* offsets) {
      return rig::matrix<float>::view(
          a.rows(), a.columns(), std::span(offsets, static_cast<std::size_t>(a.rows()) + 1),
          std::span(s.column_indices(), count), std::span(a.values(), count), rig::input::trusted,
          a.where(), stream());
    };
    return s.offsets_64() ? view(static_cast<const rig::int64*>(s.offsets()))
                          : view(static_cast<const rig::int32*>(s.offsets()));
  }

  void race_ge_spmm(product& of) {
    const rig::matrix<float>& a = of.graph.weighted;
    std::vector<contender> field = {
        {by_the_rules, [&] { rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{}); }}};
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

  void race_shapes(product& of, std::span<const row_shape> tried, const rig::descriptor& how = {}) {
    const auto multiply = [&] {
      rig::mxm(of.c, rig::none, of.graph.weighted, of.b, rig::plus_times<float>{}, how);
    };
    std::vector<contender> field = {{by_the_rules, multiply}};
    for (const row_shape& s : tried) {
      const int tile = s.l * s.cf * (s.packs ? 4 : 1);
      if (of.features > 1 && tile >= 2 * of.features && s.l > 8) continue;  // half its lanes idle
      if (s.rest > 0 && (of.features < tile || of.features % tile != s.rest)) continue;
      field.push_back({name_of(s), [&s, &multiply] {
                         const forced by(s);
                         multiply();
                       }});
    }
    enter(of, "plus_times", field);
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
