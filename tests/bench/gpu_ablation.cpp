// Suite ablation: the worth of the order of rows and of row segments, by other tuning tables; and
// coarsening as GE-SpMM has it, with entries shared by shuffles, in a kernel of the bench's own.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/tuned.hpp"
#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

constexpr const char* by_the_table = "by the table";

/// Entries per segment of a long row; 0 leaves every row whole.
constexpr int split_lengths[] = {0, 128, 256, 512, 1024, 2048};

class ablation : public suite {
 public:
  using suite::suite;

  void measure(product& of) override {
    race_tables(of, "plus_times", of.c, [&](const rig::matrix<float>& from) {
      rig::mxm(of.c, rig::none, from, of.b, rig::plus_times<float>{});
    });
    auto greatest = rig::indexed_dense<float>{
        rig::dense<float>::uninitialised(of.n(), of.features, rig::cuda()),
        rig::dense<rig::int32>::uninitialised(of.n(), of.features, rig::cuda())};
    race_tables(of, "arg_max_second", greatest.values, [&](const rig::matrix<float>& from) {
      rig::mxm(greatest, rig::none, from, of.b, rig::arg_max_second<float>{});
    });
    race_ge_spmm(of);
  }

  void summarise() override {}

 private:
  /// The product by the table in use, and by tables that differ in one section. `c`: the array that
  /// `multiply` writes.
  void race_tables(product& of, const char* semiring, rig::dense<float>& c,
                   const std::function<void(const rig::matrix<float>&)>& multiply) {
    const rig::matrix<float>& a = of.graph.weighted;
    std::vector<contender> field = {{by_the_table, [&] { multiply(a); }}};
    field[0].run();
    const std::vector<float> expected = sample(c);
    std::vector<peer> others;
    const auto add = [&](std::string name, const rig::matrix<float>& from, const std::string& row) {
      const auto table =
          std::make_shared<rig::on_cuda::tuning_table>("of the ablation", tuned::text_of({row}));
      others.push_back({std::move(name),
                        [&multiply, from, table] {
                          const rig::on_cuda::tuning_scope in_use(*table);
                          multiply(from);
                        },
                        {}});
    };
    const auto lists = a.structure().derived_of<rig::on_cuda::row_lists>();
    if (lists->by_length != nullptr) add("with rows in their order", a, "order,,by_length=0");
    for (const int length : split_lengths)
      if (lists->segment_count > 0)
        add(length > 0 ? "segments of " + std::to_string(length) : "with whole rows", view_of(a),
            "segments,,split_length=" + std::to_string(length));
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
        {by_the_table, [&] { rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{}); }}};
    field[0].run();
    const std::vector<float> expected = sample(of.c);
    std::vector<peer> kernels;
    for (const bool shuffles : {false, true})
      for (const int coarsening : {1, 2, 4})
        kernels.push_back({std::string("GE-SpMM, ") + (shuffles ? "shuffles, " : "") + "CF " +
                               std::to_string(coarsening),
                           [&of, &a, shuffles, coarsening] {
                             ge_spmm(coarsening, shuffles, a, of.b.data(), of.features,
                                     of.c.data());
                           },
                           {}});
    verify(kernels, of.c, expected, of, float_rounding, with_);
    with_.enter(kernels, of, field);
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
