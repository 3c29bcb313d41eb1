// Suite collection: on the GPU by the suites there, or else on the CPU, beside oneMKL and
// SuiteSparse:GraphBLAS.

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>

#include "collection.hpp"
#include "graphblas.hpp"
#include "onemkl.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#ifdef RIG_HAS_CUDA
#include "gpu_suites.hpp"
#endif

namespace bench {
namespace {

using rig::index;
using rig::int64;

/// Between 0 and 1, so that sums do not cancel.
rig::dense<float> features_of(index rows, int columns) {
  rig::dense<float> out(rows, columns);
  for (int64 i = 0; i < int64{rows} * columns; ++i)
    out.data()[i] = static_cast<float>((i * 7919) % 1009) / 1009;
  return out;
}

/// Throws if the machine has less memory than a product with all its peers takes, because Linux
/// would grant it and end the process later.
void expect_memory(const rig::matrix<float>& a, int features) {
  double kilobytes = 0;
  std::ifstream facts("/proc/meminfo");
  for (std::string word; facts >> word;)
    if (word == "MemAvailable:") facts >> kilobytes;
  // A in CSR by rig and oneMKL and thrice by GraphBLAS; B and C of each; the tuples of a result.
  const double needed =
      64.0 * static_cast<double>(a.nnz()) + features * (20.0 * a.columns() + 48.0 * a.rows());
  if (needed > 1024 * kilobytes)
    rig::fail(rig::errc::out_of_memory,
              {"rig and its peers need about ", needed, " bytes of memory, and ", 1024 * kilobytes,
               " are available; give fewer --features"});
}

/// Where a peer's result is not rig's, or nothing. Maxima must be equal; a sum of positive terms
/// may be off by a rounding per term.
std::string difference(const rig::pattern& a, const rig::dense<float>& ours,
                       const rig::dense<float>& theirs, bool is_sum) {
  for (index i = 0; i < ours.rows(); ++i) {
    const auto terms = static_cast<double>(a.offset(i + 1) - a.offset(i));
    const double tolerance = is_sum ? 1e-3 + 6e-8 * terms : 0;
    for (index j = 0; j < ours.columns(); ++j) {
      const float x = ours(i, j), y = theirs(i, j);
      if (x != y && !(std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y))))
        return "in row " + std::to_string(i) + " it has " + std::to_string(y) + " where rig has " +
               std::to_string(x);
    }
  }
  return "";
}

/// The races of a matrix on the CPU.
class races {
 public:
  races(std::string name, const rig::matrix<float>& pattern, const options& given, record& out,
        comparison& to)
      : name_(std::move(name)),
        weighted_(rig::generate::random_values(pattern)),
        ones_(weighted_.with_value(1.0f)),
        given_(given),
        out_(out),
        to_(to),
        desc_{.threads = threads_of(given)} {}

  void run(int features) {
    expect_memory(weighted_, features);
    const rig::dense<float> b = features_of(weighted_.columns(), features);
    run(weighted_, b, rig::plus_times<float>{}, graphblas::algebra::plus_times);
    run(ones_, b, rig::max_second<float>{}, graphblas::algebra::max_second);
  }

 private:
  template <class S>
  void run(const rig::matrix<float>& a, const rig::dense<float>& b, const S& semiring,
           graphblas::algebra theirs) {
    const bool is_sum = theirs == graphblas::algebra::plus_times;
    rig::dense<float> c(a.rows(), b.columns());
    std::vector<contender> field = {
        {"rig", [&] { rig::mxm(c, rig::none, a, b, semiring, desc_); }}};
    const double prepare_ms = wall_clock([&] { a.prepare(desc_); });
    field[0].run();
    if (is_sum && !onemkl::name().empty())
      enter("onemkl", c, is_sum, field,
            [&] { return std::make_shared<onemkl::product<float>>(a, b, desc_.threads); });
    enter_graphblas(a, b, c, theirs, field);
    row line;
    line.graph = name_;
    line.n = a.rows();
    line.columns = a.columns();
    line.nnz = a.nnz();
    line.features = b.columns();
    line.semiring = S::name;
    line.type = "float";
    line.kernel = line.chosen = rig::explain(a, b, semiring, desc_).chosen;
    line.prepare_ms = prepare_ms;
    const double width = 4.0 * line.features;
    line.bytes = static_cast<double>(a.nnz()) * ((rig::is_ignoring_left<S> ? 4 : 8) + width) +
                 a.rows() * (4 + width);
    to_.add(line, field, race(field, repeat_of(given_)));
  }

  /// Adds the forms of GraphBLAS, except those that take long: some take a hundred times as long as
  /// the fastest.
  void enter_graphblas(const rig::matrix<float>& a, const rig::dense<float>& b,
                       const rig::dense<float>& c, graphblas::algebra over,
                       std::vector<contender>& field) {
    using graphblas::form;
    constexpr std::pair<const char*, form> forms[] = {{"graphblas_rows", form::rows},
                                                      {"graphblas_columns", form::columns},
                                                      {"graphblas_dot", form::dot},
                                                      {"graphblas_fresh", form::fresh}};
    constexpr double long_ms = 20, nearly = 2;
    std::vector<contender> tried;
    for (const auto& [name, how] : forms)
      enter(name, c, over == graphblas::algebra::plus_times, tried,
            [&, how = how] { return std::make_shared<graphblas::product>(a, b, how, over); });
    std::vector<double> ms;
    for (const contender& one : tried) ms.push_back(wall_clock(one.run));
    if (ms.empty()) return;
    const double most = std::max(long_ms, nearly * *std::min_element(ms.begin(), ms.end()));
    for (std::size_t i = 0; i < tried.size(); ++i)
      if (ms[i] <= most) field.push_back(tried[i]);
  }

  /// Adds a peer that works and whose result is `expected`; the record keeps the errors of others.
  template <class Make>
  void enter(const std::string& name, const rig::dense<float>& expected, bool is_sum,
             std::vector<contender>& field, const Make& make) {
    const std::string which =
        name + " (" + name_ + ", F = " + std::to_string(expected.columns()) + ")";
    try {
      const auto peer = make();
      peer->run();
      const std::string apart = difference(weighted_.structure(), expected, peer->result(), is_sum);
      if (apart.empty()) return field.push_back({name, [peer] { peer->run(); }});
      out_.peer(which, "absent: " + apart);
      out_.miss(which + ": " + apart);
    } catch (const std::exception& wrong) {
      out_.peer(which, std::string("absent: ") + wrong.what());
    }
  }

  std::string name_;
  rig::matrix<float> weighted_, ones_;
  const options& given_;
  record& out_;
  comparison& to_;
  rig::descriptor desc_;
};

void on_cpu(const options& given, record& out) {
  graphblas::start(threads_of(given));
  out.peer("graphblas", graphblas::name());
  if (!onemkl::name().empty()) out.peer("onemkl", onemkl::name());
  const std::vector<std::string> names =
      given.graphs.empty() ? matrices_below(given.collection) : given.graphs;
  const std::vector<int> widths = collection_widths(given);
  comparison to("collection", widths, names.size(), out);
  for (const std::string& name : names) {
    out.guarded(name, [&] {
      const rig::matrix<float> pattern = read_pattern(given.collection + "/" + name);
      races here(name, pattern, given, out, to);
      for (const int features : widths)
        out.guarded(name + ", F = " + std::to_string(features), [&] { here.run(features); });
      to.end(name, pattern.structure());
    });
    malloc_trim(0);
  }
  to.summarise("collection_over_peers", "collection_max_over_peers");
}

}  // namespace

void collection(const options& given, record& out) {
  static_cast<void>(matrices_below(given.collection));  // so that an absent folder fails at once
#ifdef RIG_HAS_CUDA
  if (!given.cpu && rig::devices().size() > 1) return gpu_suites(given, out);
#endif
  on_cpu(given, out);
}

}  // namespace bench
