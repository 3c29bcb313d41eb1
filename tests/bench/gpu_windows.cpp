// bench windows: fits the selector of `hybrid` on the GPU at hand, and writes it into the table.
//
// A point is a matrix whose windows are alike: so many distinct columns, of such a density. Its
// product is timed with all windows on Tensor cores, and by the kernel that the library chooses
// without them. A logistic regression over columns and density learns which is faster, one for each
// row of section `hybrid`; every third point is held out and must be told right in nine of ten
// cases.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>

#include "cuda/hybrid/hybrid.hpp"
#include "cuda/tuned.hpp"
#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "table_text.hpp"

namespace bench::gpu {
namespace {

using namespace rig::on_cuda;

const rig::plus_times<float> sum;
constexpr int window_columns[] = {16, 32, 64, 128, 256, 512};
constexpr double densities[] = {0.0625, 0.08, 0.1, 0.12, 0.14, 0.17, 0.2, 0.24, 0.3, 0.4, 0.6, 0.9};

/// Windows of so many distinct columns, seven apart, from a random one on. Each column has an
/// entry, and further ones by chance.
rig::matrix<float> alike(int columns, double density) {
  constexpr double entries = 2e6;
  const auto windows =
      static_cast<int>(std::clamp(entries / (columns * window_height * density), 1000.0, 60000.0));
  const int n = std::max(windows * window_height, 7 * columns + 1);
  std::mt19937 random(5);
  std::bernoulli_distribution more((density * window_height - 1) / (window_height - 1));
  std::vector<rig::int64> offsets{0};
  std::vector<rig::index> of;
  std::array<std::vector<rig::index>, window_height> rows;
  for (int w = 0; w < windows; ++w) {
    for (auto& row : rows) row.clear();
    const int first = static_cast<int>(random() % static_cast<unsigned>(n - 7 * columns));
    for (int c = 0; c < columns; ++c) {
      const unsigned own = random() % window_height;
      for (unsigned r = 0; r < window_height; ++r)
        if (r == own || more(random)) rows[r].push_back(first + 7 * c);
    }
    for (const auto& row : rows) {
      of.insert(of.end(), row.begin(), row.end());
      offsets.push_back(static_cast<rig::int64>(of.size()));
    }
  }
  return rig::matrix<float>::from_csr(windows * window_height, n,
                                      std::span<const rig::int64>(offsets),
                                      std::span<const rig::index>(of));
}

/// What was measured at one point of one case.
struct sample_point {
  double columns, density;
  double gain;  ///< time on CUDA cores over time on Tensor cores
};

/// A row of section `hybrid`, and its points.
struct selector_case {
  const char* name;
  bool is_iso, is_float;
  std::vector<sample_point> points;
};

/// The weights of a logistic regression, for columns in hundreds. Newton's method; the ridge keeps
/// them finite where the points are separable.
std::array<double, 3> regress(const std::vector<sample_point>& points) {
  constexpr double ridge = 1e-3;
  std::array<double, 3> weights{};
  for (int step = 0; step < 50; ++step) {
    double h[3][4] = {};
    for (int i = 0; i < 3; ++i) {
      h[i][i] = ridge;
      h[i][3] = -ridge * weights[static_cast<std::size_t>(i)];
    }
    for (const sample_point& at : points) {
      const double x[] = {1, at.columns / 100, at.density};
      const double odds = weights[0] + weights[1] * x[1] + weights[2] * x[2];
      const double chance = 1 / (1 + std::exp(-odds)), loss = (at.gain > 1 ? 1 : 0) - chance;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) h[i][j] += chance * (1 - chance) * x[i] * x[j];
        h[i][3] += loss * x[i];
      }
    }
    // The matrix is positive definite, so Gauss-Jordan needs no pivots.
    for (int i = 0; i < 3; ++i)
      for (int r = 0; r < 3; ++r) {
        if (r == i) continue;
        const double by = h[r][i] / h[i][i];
        for (int j = i; j < 4; ++j) h[r][j] -= by * h[i][j];
      }
    for (int i = 0; i < 3; ++i) weights[static_cast<std::size_t>(i)] += h[i][3] / h[i][i];
  }
  return weights;
}

/// The weights as a row of the table has them.
std::string plan_of(const std::array<double, 3>& weights) {
  const auto thousandths = [](double x) {
    return std::to_string(static_cast<int>(std::clamp(std::rint(1000 * x), -1e6, 1e6)));
  };
  return "bias=" + thousandths(weights[0]) + " per_column=" + thousandths(weights[1] / 100) +
         " per_density=" + thousandths(std::max(0.0, weights[2]));
}

class fitter {
 public:
  fitter(const options& given, record& out)
      : given_(given), out_(out), text_(table_text::of_file(given.table)) {}

  void run() {
    for (const int columns : window_columns)
      for (const double density : densities) measure(columns, density);
    for (selector_case& of : cases_) fit(of);
    text_.write(given_.table);
  }

 private:
  void measure(int columns, double density) {
    const subject graph = make_subject(
        "windows:" + std::to_string(columns) + ":" + digits(density, 3), alike(columns, density));
    const std::vector<int> widths =
        given_.features.empty() ? std::vector{64, 128} : given_.features;
    for (const int features : widths) {
      product of(graph, features);
      auto b = rig::dense<rig::half>::uninitialised(of.b.rows(), features, rig::cuda());
      auto c = rig::dense<rig::half>::uninitialised(of.n(), features, rig::cuda());
      round_to(rig::type::half, of.b.data(), b.data(), rig::int64{b.rows()} * features);
      for (selector_case& one : cases_) {
        const rig::matrix<float>& a = one.is_iso ? graph.pattern : graph.weighted;
        const double gain = one.is_float ? gain_of(a, of.b, of.c) : gain_of(a, b, c);
        const double width = (columns + tile_slots - 1) / tile_slots * tile_slots;
        one.points.push_back({width, density * columns / width, gain});
        row line = out_line(graph, features, one, gain);
        out_.add(line);
      }
    }
  }

  static row out_line(const subject& graph, int features, const selector_case& one, double gain) {
    row line;
    line.suite = "windows";
    line.operation = one.name;
    line.graph = graph.name;
    line.n = graph.weighted.rows();
    line.nnz = graph.weighted.nnz();
    line.features = features;
    line.kernel = "hybrid";
    line.ratio = gain;
    return line;
  }

  template <class T>
  double gain_of(const rig::matrix<float>& a, const rig::dense<T>& b, rig::dense<T>& c) const {
    const contender field[] = {
        {"Tensor cores",
         [&] {
           const tuning_scope in_use(every_window_);
           rig::mxm(c, rig::none, a, b, sum,
                    {.kernel = "hybrid", .precision = rig::precision::tf32});
         }},
        {"CUDA cores", [&] { rig::mxm(c, rig::none, a, b, sum, {.kernel = "row"}); }},
        {"CUDA cores, split", [&] { rig::mxm(c, rig::none, a, b, sum, {.kernel = "split"}); }}};
    const std::vector<double> ms = gpu::race(field, given_.repeat > 0 ? given_.repeat : 5);
    return std::min(ms[1], ms[2]) / ms[0];
  }

  void fit(selector_case& of) {
    std::vector<sample_point> known, held_out;
    for (std::size_t i = 0; i < of.points.size(); ++i)
      (i % 3 == 1 ? held_out : known).push_back(of.points[i]);
    const std::string plan = plan_of(regress(known));
    const std::string name = std::string(of.is_float ? "element=4_bytes" : "") +
                             (of.is_float && of.is_iso ? " " : "") + (of.is_iso ? "iso=1" : "");
    const tuning_table before("the table to fit", text_.text());
    const tuning_table after = [&] {
      for (const tuning_row& row : before.rows())
        if (row.in == section::hybrid && row.key == name) {
          std::vector<std::string>& line = text_.line_of(row);
          line[table_text::plan] = plan;
          line[table_text::graph] = "synthetic windows";
          line[table_text::commit] = out_.commit();
        }
      return tuning_table("the fitted table", text_.text());
    }();
    window_fit fitted;
    for (const tuning_row& row : after.rows())
      if (row.in == section::hybrid && row.key == name) fitted = fit_of(row);
    int right = 0;
    for (const sample_point& at : held_out)
      right += (fitted.odds(static_cast<float>(at.columns), static_cast<float>(at.density)) > 0) ==
               (at.gain > 1);
    std::printf("%s: %s\n", of.name, plan.c_str());
    out_.summarise(std::string("selector_right_on_held_out_") + of.name,
                   static_cast<double>(right) / static_cast<double>(held_out.size()), 0.9);
  }

  const options& given_;
  record& out_;
  table_text text_;
  const tuning_table every_window_{
      "every window", tuned::text_of({"windows,,least_entries=0",
                                      "hybrid,,bias=1000000 per_column=0 per_density=0"})};
  std::array<selector_case, 4> cases_ = {{{"float_iso", true, true, {}},
                                          {"float", false, true, {}},
                                          {"half_iso", true, false, {}},
                                          {"half", false, false, {}}}};
};

}  // namespace
}  // namespace bench::gpu

namespace bench {

void tune_windows(const options& given, record& out) {
  if (rig::devices().size() < 2) rig::fail(rig::errc::place, {"there is no GPU to measure"});
  out.device(gpu::driver(), gpu::toolkit());
  gpu::fitter(given, out).run();
}

}  // namespace bench
