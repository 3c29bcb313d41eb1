// Suite cpu, second part: products of every width beside oneMKL, other reductions beside rig's sum,
// and first calls beside prepared ones; on one thread and on all.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench.hpp"
#include "onemkl.hpp"
#include "rig/cbsr.hpp"
#include "rig/mxm.hpp"
#include "rig/quantized.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace bench {
namespace {

using rig::index;

RIG_SEMIRING(
    own_sum, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) { return a * b; });

template <class T>
rig::dense<T> features_of(index rows, index columns) {
  rig::dense<T> out(rows, columns);
  for (rig::int64 i = 0; i < rig::int64{rows} * columns; ++i)
    out.data()[i] = static_cast<T>((i * 7919) % 1009) / T(1009);
  return out;
}

template <class T>
void expect_equal(const rig::dense<T>& ours, const rig::dense<T>& theirs) {
  const rig::int64 count = rig::int64{ours.rows()} * ours.columns();
  for (rig::int64 i = 0; i < count; ++i) {
    const T x = ours.data()[i], y = theirs.data()[i];
    if (!(std::abs(x - y) <= T(1e-3) * std::max(std::abs(x), std::abs(y))))
      rig::fail(rig::errc::range, {"oneMKL differs from rig at ", i, ": ", y, " and ", x});
  }
}

rig::matrix<double> in_doubles(const rig::matrix<float>& a) {
  return a.with_values(std::vector<double>(a.values(), a.values() + a.nnz()));
}

/// A copy that shares no derived structure with `a`.
rig::matrix<float> copy_of(const rig::matrix<float>& a) {
  const auto* const offsets = static_cast<const rig::int32*>(a.structure().offsets());
  return rig::matrix<float>::from_csr(
      a.rows(), a.columns(), std::span(offsets, static_cast<std::size_t>(a.rows()) + 1),
      std::span(a.structure().column_indices(), static_cast<std::size_t>(a.nnz())),
      std::span(a.values(), static_cast<std::size_t>(a.nnz())));
}

row line_of(const std::string& graph, const rig::matrix<float>& a, int features, int threads) {
  row line;
  line.graph = graph;
  line.n = a.rows();
  line.nnz = a.nnz();
  line.features = features;
  line.type = "float";
  line.threads = threads;
  return line;
}

/// The ratios: more than 1 is in rig's favour.
struct width_ratios {
  std::vector<double> sums, doubles;  ///< oneMKL's time over rig's
  std::vector<double> reductions;     ///< the time of rig's weighted sum over that of others
  std::vector<double> own;            ///< the same, over that of a user's own sum
  std::vector<double> first;          ///< the time of a prepared call over that of a first one
  std::vector<double> samples;        ///< the time of exact sums over that of samples of 16
  void sum_up(record& out) const;
};

/// Products of one graph with one number of threads.
class widths {
 public:
  widths(std::string name, const rig::matrix<float>& a, int threads, const options& given,
         record& out, width_ratios& ratios)
      : name_(std::move(name)),
        a_(a),
        threads_(threads),
        given_(given),
        out_(out),
        ratios_(ratios),
        desc_{.threads = threads} {}

  void run(int features) {
    const auto b = features_of<float>(a_.columns(), features);
    rig::dense<float> c(a_.rows(), features), largest = c, least = c, mean = c, own = c, first = c;
    const rig::plus_times<float> sum;
    onemkl::product<float> peer(a_, b, threads_);
    const rig::matrix<float> unprepared = copy_of(a_);
    const contender field[] = {
        {"rig_plus_times", [&] { rig::mxm(c, rig::none, a_, b, sum, desc_); }},
        {"onemkl", [&] { peer.run(); }},
        {"max_second", [&] { rig::mxm(largest, rig::none, a_, b, maximum_, desc_); }},
        {"min_second", [&] { rig::mxm(least, rig::none, a_, b, minimum_, desc_); }},
        {"mean_second", [&] { rig::mxm(mean, rig::none, a_, b, mean_, desc_); }},
        {"own_sum", [&] { rig::mxm(own, rig::none, a_, b, own_sum{}, desc_); }},
        {"first call",
         [&] {
           unprepared.drop_derived();
           rig::mxm(first, rig::none, unprepared, b, sum, desc_);
         }},
    };
    // Whoever calls a product of one column often prepares its slices.
    const rig::descriptor usual{.kernel = features == 1 ? "sell" : ""};
    const double prepare_ms = wall_clock([&] { a_.prepare(usual); });
    const std::vector<double> ms = race(field, repeat_of(given_));
    expect_equal(c, peer.result());
    row line = line_of(name_, a_, features, threads_);
    line.operation = "beside oneMKL";
    line.semiring = "plus_times";
    line.kernel = line.chosen = rig::explain(a_, b, sum, desc_).chosen;
    line.ms = ms[0];
    line.prepare_ms = prepare_ms;
    line.ratio = ms[1] / ms[0];
    line.peer_ms = {{"onemkl", ms[1]}};
    out_.add(line);
    ratios_.sums.push_back(*line.ratio);
    line.operation = "beside rig's sum";
    line.prepare_ms.reset();
    line.kernel = line.chosen = rig::explain(a_, b, maximum_, desc_).chosen;
    for (std::size_t i = 2; i < std::size(field); ++i) {
      line.semiring = i + 1 == std::size(field) ? "plus_times" : field[i].name;
      if (i + 1 == std::size(field)) line.operation = "first call";
      if (i == 5) line.kernel = line.chosen = rig::explain(a_, b, own_sum{}, desc_).chosen;
      line.ms = ms[i];
      line.ratio = ms[0] / ms[i];
      line.peer_ms = {{"rig_plus_times", ms[0]}};
      out_.add(line);
      (i < 5 ? ratios_.reductions : i == 5 ? ratios_.own : ratios_.first).push_back(*line.ratio);
    }
  }

  void run_doubles(const rig::matrix<double>& a, int features) {
    const auto b = features_of<double>(a.columns(), features);
    rig::dense<double> c(a.rows(), features);
    onemkl::product<double> peer(a, b, threads_);
    const rig::plus_times<double> sum;
    a.prepare(desc_);
    const contender field[] = {{"rig", [&] { rig::mxm(c, rig::none, a, b, sum, desc_); }},
                               {"onemkl", [&] { peer.run(); }}};
    const std::vector<double> ms = race(field, repeat_of(given_));
    expect_equal(c, peer.result());
    row line = line_of(name_, a_, features, threads_);
    line.operation = "beside oneMKL";
    line.semiring = "plus_times";
    line.type = "double";
    line.kernel = line.chosen = rig::explain(a, b, sum, desc_).chosen;
    line.ms = ms[0];
    line.ratio = ms[1] / ms[0];
    line.peer_ms = {{"onemkl", ms[1]}};
    out_.add(line);
    ratios_.doubles.push_back(*line.ratio);
  }

  /// Sums that read less, beside the exact sum: samples, MaxK and 8-bit codes.
  void run_savings(int features) {
    if (a_.nnz() < least_mean_to_save * a_.rows()) return;
    const auto b = features_of<float>(a_.columns(), features);
    rig::dense<float> c(a_.rows(), features), saved = c;
    const rig::plus_times<float> sum;
    const int k = std::max(1, features / 8);
    const rig::cbsr<float> retained = rig::maxk(b, k);
    const rig::quantized codes = rig::quantized::from(b, rig::ranges::matrix);
    std::vector<contender> field{{"exact", [&] { rig::mxm(c, rig::none, a_, b, sum, desc_); }}};
    for (const char* kernel : {"bucket", "fastrand", "adaptive"})
      field.push_back({kernel, [&, kernel] {
                         rig::mxm(saved, rig::none, a_, b, sum,
                                  {.kernel = kernel, .width = sample, .threads = threads_});
                       }});
    field.push_back({"maxk", [&] { rig::mxm(saved, rig::none, a_, retained, sum, desc_); }});
    field.push_back({"codes", [&] { rig::mxm(saved, rig::none, a_, codes, sum, desc_); }});
    const std::vector<double> ms = race(field, repeat_of(given_));
    row line = line_of(name_, a_, features, threads_);
    line.operation = "beside the exact sum";
    line.semiring = "plus_times";
    for (std::size_t i = 1; i < field.size(); ++i) {
      line.kernel = line.chosen = field[i].name;
      line.width = i < 4 ? sample : 0;
      line.k = field[i].name == "maxk" ? k : 0;
      line.ms = ms[i];
      line.ratio = ms[0] / ms[i];
      line.peer_ms = {{"exact", ms[0]}};
      out_.add(line);
      if (i < 4) ratios_.samples.push_back(*line.ratio);
    }
  }

  /// A·A, unless that takes seconds.
  void run_square() {
    const auto* const offsets = static_cast<const rig::int32*>(a_.structure().offsets());
    const index* const columns = a_.structure().column_indices();
    double products = 0;
    for (rig::int64 e = 0; e < a_.nnz(); ++e)
      products += offsets[columns[e] + 1] - offsets[columns[e]];
    if (products > 1e8) return;
    onemkl::sparse_product peer(a_, threads_);
    rig::matrix<float> c;
    const contender field[] = {
        {"rig", [&] { c = rig::mxm(a_, a_, rig::plus_times<float>(), desc_); }},
        {"onemkl", [&] { peer.run(); }}};
    const std::vector<double> ms = race(field, repeat_of(given_));
    if (c.nnz() != peer.nnz())
      rig::fail(rig::errc::range, {"oneMKL's A*A has ", peer.nnz(), " entries, rig's ", c.nnz()});
    row line = line_of(name_, a_, 0, threads_);
    line.operation = "A*A beside oneMKL";
    line.semiring = "plus_times";
    line.kernel = line.chosen = rig::explain(a_, a_, rig::plus_times<float>(), desc_).chosen;
    line.ms = ms[0];
    line.ratio = ms[1] / ms[0];
    line.peer_ms = {{"onemkl", ms[1]}};
    out_.add(line);
  }

 private:
  static constexpr rig::int64 least_mean_to_save = 100;
  static constexpr int sample = 16;
  static constexpr rig::max_second<float> maximum_{};
  static constexpr rig::min_second<float> minimum_{};
  static constexpr rig::mean_second<float> mean_{};

  std::string name_;
  rig::matrix<float> a_;
  int threads_;
  const options& given_;
  record& out_;
  width_ratios& ratios_;
  rig::descriptor desc_;
};

/// The last has rows so long that GraphBLAS's four forms would take minutes.
const std::vector<std::string> usual_graphs = {"rmat:16:16",   "uniform:65536:28",
                                               "grid:512:512", "arxiv-like",
                                               "pubmed-like",  "reddit-like-eighth"};
const std::vector<int> usual_widths = {1, 16, 32, 64, 100, 128, 256};

void beside_onemkl(const std::string& name, const rig::matrix<float>& a, const options& given,
                   record& out, width_ratios& ratios) {
  std::vector<int> threads{1};
  if (threads_of(given) > 1) threads.push_back(threads_of(given));
  const rig::matrix<double> doubles = in_doubles(a);
  for (const int with : threads) {
    widths of(name, a, with, given, out, ratios);
    for (const int features : given.features.empty() ? usual_widths : given.features) {
      of.run(features);
      of.run_doubles(doubles, features);
      if (features > 1) of.run_savings(features);
    }
    of.run_square();
  }
}

void width_ratios::sum_up(record& out) const {
  const auto add = [&](const std::string& what, const std::vector<double>& of, double mean,
                       double least) {
    if (of.empty()) return;
    out.summarise(what + "_geomean", geometric_mean(of), mean);
    out.summarise(what + "_least", *std::min_element(of.begin(), of.end()), least);
  };
  constexpr double noise = 0.03;
  add("float_over_onemkl", sums, 1.15, 1 - noise);
  add("double_over_onemkl", doubles, 1.0, 0);
  add("reductions_over_sum", reductions, 1.0, 1 - noise);
  add("own_over_builtin", own, 0.95, 0.95 - noise);
  add("first_call_over_prepared", first, 0.5, 0.5);
  add("exact_over_samples_of_16", samples, 5.0, 5.0);
}

}  // namespace

void widths_suite(const options& given, record& out) {
  if (onemkl::name().empty())
    return static_cast<void>(
        std::puts("oneMKL is absent: no lines beside it (RIG_ONEMKL names its folder to CMake)"));
  out.peer("onemkl", onemkl::name());
  width_ratios ratios;
  for (const std::string& name : given.graphs.empty() ? usual_graphs : given.graphs)
    beside_onemkl(name, rig::generate::random_values(graph_of(name)), given, out, ratios);
  ratios.sum_up(out);
}

}  // namespace bench
