// Suite cpu: sparse × dense products and PageRank, beside SuiteSparse:GraphBLAS and a plain OpenMP
// loop; products of one column, beside a plain loop on one thread.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "bench.hpp"
#include "graphblas.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench {
namespace {

using rig::index;
using rig::int64;

const std::vector<std::string> usual_graphs = {"rmat:16:16", "uniform:65536:28", "grid:512:512",
                                               "arxiv-like", "pubmed-like"};
const std::vector<int> usual_features = {1, 16, 64, 100, 128};

rig::dense<float> random_features(index rows, index columns) {
  rig::dense<float> out(rows, columns);
  std::minstd_rand random(7);
  std::uniform_real_distribution<float> draw(0, 1);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j) out(i, j) = draw(random);
  return out;
}

/// The loop that a user writes without a library.
void plain_loop(rig::dense<float>& c, const rig::matrix<float>& a, const rig::dense<float>& b,
                int threads) {
  const index f = b.columns();
  const auto* const offsets = static_cast<const rig::int32*>(a.structure().offsets());
  const index* const columns = a.structure().column_indices();
  const float* const values = a.values();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
  for (index i = 0; i < a.rows(); ++i) {
    if (f == 1) {
      float sum = 0;
      for (int64 p = offsets[i]; p < offsets[i + 1]; ++p) sum += values[p] * b.data()[columns[p]];
      c.data()[i] = sum;
      continue;
    }
    float* const to = c.data() + int64{i} * f;
    std::fill_n(to, f, 0.0f);
    for (int64 p = offsets[i]; p < offsets[i + 1]; ++p) {
      const float weight = values[p];
      const float* const from = b.data() + int64{columns[p]} * f;
      for (index j = 0; j < f; ++j) to[j] += weight * from[j];
    }
  }
}

template <class T>
void expect_alike(std::span<const T> ours, std::span<const T> theirs, double tolerance,
                  const std::string& whose) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double x = ours[i], y = theirs[i];
    if (!(std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y))))
      rig::fail(rig::errc::range, {whose, " differs from rig at ", i, ": ", y, " and ", x});
  }
}

std::span<const float> elements(const rig::dense<float>& of) {
  return {of.data(), static_cast<std::size_t>(of.rows()) * static_cast<std::size_t>(of.columns())};
}

struct ratios {
  std::vector<double> products, vectors;
};

/// The product into an existing C, added to C, and into a new C, each with the peers that do the
/// same.
void products(const std::string& name, const rig::matrix<float>& a, int features,
              const options& given, record& out, ratios& over_graphblas) {
  const int threads = threads_of(given);
  const rig::dense<float> b = random_features(a.columns(), features);
  const rig::plus_times<float> algebra;
  const rig::descriptor desc{.threads = threads};
  a.drop_derived();
  const double prepare_ms = wall_clock([&] { a.prepare(desc); });

  rig::dense<float> into(a.rows(), features), sum = into, plain = into;
  using graphblas::form;
  graphblas::product rows(a, b, form::rows), columns(a, b, form::columns), dot(a, b, form::dot),
      fresh(a, b, form::fresh);
  const contender field[] = {
      {"rig into", [&] { rig::mxm(into, rig::none, a, b, algebra, desc); }},
      {"rig accumulated", [&] { rig::mxm(sum, rig::accumulator::plus, a, b, algebra, desc); }},
      {"rig fresh", [&] { rig::mxm(a, b, algebra, desc); }},
      {"graphblas_rows", [&] { rows.run(); }},
      {"graphblas_columns", [&] { columns.run(); }},
      {"graphblas_dot", [&] { dot.run(); }},
      {"graphblas_fresh", [&] { fresh.run(); }},
      {"openmp_loop", [&] { plain_loop(plain, a, b, threads); }},
  };
  const std::vector<double> ms = race(field, repeat_of(given));
  for (graphblas::product* peer : {&rows, &columns, &dot, &fresh})
    expect_alike(elements(into), elements(peer->result()), 1e-3, "GraphBLAS");
  expect_alike(elements(into), elements(plain), 1e-3, "the plain loop");

  row line;
  line.graph = name;
  line.n = a.rows();
  line.nnz = a.nnz();
  line.features = features;
  line.semiring = "plus_times";
  line.type = "float";
  line.kernel = line.chosen = rig::explain(a, b, algebra, desc).chosen;
  line.prepare_ms = prepare_ms;
  const double width = 4.0 * features;
  line.bytes = static_cast<double>(a.nnz()) * (8 + width) + a.rows() * (4 + width);

  const double best = *std::min_element(ms.begin() + 3, ms.begin() + 7);
  const auto add = [&](const char* operation, std::size_t ours,
                       std::initializer_list<std::size_t> peers, double peer_ms) {
    line.operation = operation;
    line.ms = ms[ours];
    line.share_of_ceiling = out.share(line.bytes, line.ms, a.columns() * width);
    line.ratio = peer_ms / line.ms;
    line.peer_ms.clear();
    for (const std::size_t peer : peers) line.peer_ms[field[peer].name] = ms[peer];
    out.add(line);
  };
  add("mxm", 0, {3, 4, 5, 6, 7}, best);
  add("mxm accumulated", 1, {3, 4, 5}, *std::min_element(ms.begin() + 3, ms.begin() + 6));
  add("mxm fresh", 2, {6}, ms[6]);

  const double ratio = best / ms[0];
  (features == 1 ? over_graphblas.vectors : over_graphblas.products).push_back(ratio);
  if (name == "rmat:16:16" && features == 64) out.summarise("spmm_64_over_graphblas", ratio, 1.3);
}

/// The loop that a user writes for one column without a library: calls to(row, sum) for the rows
/// that `is_in` admits. A sum adds its entries until it `is_done`.
template <class T, class In, class Add, class Done, class Write>
void column_loop(const rig::matrix<T>& a, T zero, In is_in, Add add, Done is_done, Write to) {
  const auto* const offsets = static_cast<const rig::int32*>(a.structure().offsets());
  const index* const columns = a.structure().column_indices();
  for (index i = 0; i < a.rows(); ++i) {
    if (!is_in(i)) continue;
    T sum = zero;
    for (rig::int32 p = offsets[i]; p < offsets[i + 1] && !is_done(sum); ++p)
      sum = add(sum, columns[p]);
    to(i, sum);
  }
}

/// Products of one column on one thread, as in searches, shortest paths and components, beside a
/// loop that does the same.
class column_products {
 public:
  column_products(std::string name, const rig::matrix<float>& graph, const options& given,
                  record& out)
      : name_(std::move(name)),
        given_(given),
        out_(out),
        graph_(graph),
        flags_(graph.shared_structure()),
        b_(random_features(graph.columns(), 1)),
        c_(graph.rows(), 1),
        looped_(c_),
        reached_(graph.columns(), 1),
        found_(graph.rows(), 1),
        looked_(found_) {
    std::minstd_rand random(11);
    for (index i = 0; i < graph.columns(); ++i) reached_(i, 0) = random() % 8 == 0;
    for (rig::dense<bool>& mask : masks_) {
      mask = rig::dense<bool>(graph.rows(), 1);
      for (index i = 0; i < graph.rows(); ++i) mask(i, 0) = random() % 2 == 0;
    }
  }

  void run() {
    const rig::plus_second<float> sum;
    const auto all = [](index) { return true; };
    const auto has_entries =
        [offsets = static_cast<const rig::int32*>(graph_.structure().offsets())](index i) {
          return offsets[i] < offsets[i + 1];
        };
    const auto never = [](auto) { return false; };
    const auto add = [b = b_.data()](float x, index k) { return x + b[k]; };
    float* const c = looped_.data();
    const auto store = [c](index i, float x) { c[i] = x; };
    add_line(
        "column", "plus_second", [&] { rig::mxm(c_, rig::none, graph_, b_, sum, one_); },
        [&] { column_loop(graph_, 0.0f, all, add, never, store); });
    add_line(
        "column, minimum", "plus_second",
        [&] { rig::mxm(c_, rig::accumulator::minimum, graph_, b_, sum, one_); },
        [&] {
          column_loop(graph_, 0.0f, has_entries, add, never,
                      [c](index i, float x) { c[i] = std::min(c[i], x); });
        });
    add_line(
        "column, masked", "plus_second",
        [&] {
          rig::mxm(c_, rig::none, graph_, b_, sum, rig::values(masks_[our_turn_++ % masks]), one_);
        },
        [&] {
          const bool* const mask = masks_[their_turn_++ % masks].data();
          column_loop(
              graph_, 0.0f, [=](index i) { return mask[i]; }, add, never, store);
        });
    expect_alike(elements(c_), elements(looped_), 1e-3, "the plain loop");
    flags();
  }

 private:
  static constexpr std::size_t masks = 32;  // so many that the processor cannot learn the branches

  void flags() {
    const auto all = [](index) { return true; };
    const auto is_set = [](bool x) { return x; };
    const auto store = [to = looked_.data()](index i, bool x) { to[i] = x; };
    add_line(
        "column", "lor_land",
        [&] { rig::mxm(found_, rig::none, flags_, reached_, rig::lor_land<bool>{}, one_); },
        [&] {
          column_loop(
              flags_, false, all, [b = reached_.data()](bool, index k) { return b[k]; }, is_set,
              store);
        });
    add_line(
        "column", "any_pair",
        [&] { rig::mxm(found_, rig::none, flags_, reached_, rig::any_pair<bool>{}, one_); },
        [&] {
          column_loop(
              flags_, false, all, [](bool, index) { return true; }, is_set, store);
        });
    for (index i = 0; i < graph_.rows(); ++i)
      if (found_(i, 0) != looked_(i, 0))
        rig::fail(rig::errc::range, {"the plain loop differs from rig at ", i});
  }

  void add_line(const char* operation, const char* semiring, std::function<void()> ours,
                std::function<void()> loop) {
    const contender field[] = {{"rig", std::move(ours)}, {"loop", std::move(loop)}};
    const std::vector<double> ms = race(field, repeat_of(given_));
    row line;
    line.operation = operation;
    line.graph = name_;
    line.n = graph_.rows();
    line.nnz = graph_.nnz();
    line.semiring = semiring;
    line.type = line.semiring == "plus_second" ? "float" : "bool";
    line.kernel = line.chosen = rig::explain(graph_, b_, rig::plus_second<float>{}, one_).chosen;
    line.ms = ms[0];
    line.ratio = ms[1] / ms[0];
    line.peer_ms[field[1].name] = ms[1];
    out_.add(line);
  }

  std::string name_;
  const options& given_;
  record& out_;
  rig::matrix<float> graph_;
  rig::matrix<bool> flags_;
  rig::dense<float> b_, c_, looped_;
  rig::dense<bool> reached_, found_, looked_;
  std::array<rig::dense<bool>, masks> masks_;
  std::size_t our_turn_ = 0, their_turn_ = 0;
  rig::descriptor one_{.threads = 1};
};

/// PageRank as a user of rig writes it: one product and one loop per iteration.
template <class T>
class our_pagerank {
 public:
  our_pagerank(const rig::matrix<float>& graph, double damping, int iterations, int threads)
      : graph_(graph),
        damping_(static_cast<T>(damping)),
        iterations_(iterations),
        desc_{.transpose_a = true, .threads = threads},
        rank_(graph.rows(), 1),
        sent_(graph.rows(), 1),
        received_(graph.rows(), 1),
        share_(graph.rows(), 1) {
    for (index i = 0; i < graph.rows(); ++i) {
      const int64 arcs = graph.structure().offset(i + 1) - graph.structure().offset(i);
      share_(i, 0) = arcs == 0 ? T(0) : damping_ / static_cast<T>(arcs);
    }
    graph_.prepare(desc_);
  }

  void run() {
    const index n = graph_.rows();
    const T one = T(1) / static_cast<T>(n);
    for (index i = 0; i < n; ++i) received_(i, 0) = one;
    step(0);
    for (int k = 0; k < iterations_; ++k) {
      rig::mxm(received_, rig::none, graph_, sent_, rig::plus_second<T>{}, desc_);
      step((1 - damping_ + damping_ * dangling_) * one);
    }
  }

  std::span<const T> ranks() const {
    return {rank_.data(), static_cast<std::size_t>(rank_.rows())};
  }
  std::string kernel() const {
    return rig::explain(graph_, sent_, rig::plus_second<T>{}, desc_).chosen;
  }

 private:
  /// rank = received + base, with the sums that the next iteration needs.
  void step(T base) {
    const T* const received = received_.data();
    const T* const share = share_.data();
    T* const rank = rank_.data();
    T* const sent = sent_.data();
    T change = 0, dangling = 0;
#pragma omp parallel for simd num_threads(index(desc_.threads)) schedule(static) reduction(+ : change, dangling)
    for (index i = 0; i < graph_.rows(); ++i) {
      const T fresh = received[i] + base;
      change += std::abs(fresh - rank[i]);
      dangling += share[i] == 0 ? fresh : T(0);
      rank[i] = fresh;
      sent[i] = fresh * share[i];
    }
    change_ = change;
    dangling_ = dangling;
  }

  rig::matrix<float> graph_;
  T damping_;
  int iterations_;
  rig::descriptor desc_;
  rig::dense<T> rank_, sent_, received_;
  rig::dense<T> share_;  ///< damping / out-degree, or 0 without outgoing arcs
  T change_ = 0;         ///< the change that a loop with a tolerance would test
  T dangling_ = 0;
};

template <class T>
void pagerank(const std::string& name, const rig::matrix<float>& graph, const char* type,
              const options& given, record& out) {
  constexpr double damping = 0.85;
  constexpr int iterations = 20;
  our_pagerank<T> ours(graph, damping, iterations, threads_of(given));
  graph.drop_derived();
  const double prepare_ms = wall_clock([&] { graph.prepare({.transpose_a = true}); });
  graphblas::pagerank<T> theirs(graph, damping, iterations);
  const contender field[] = {{"rig", [&] { ours.run(); }}, {"graphblas", [&] { theirs.run(); }}};
  const std::vector<double> ms = race(field, repeat_of(given));
  const std::vector<T> their_ranks = theirs.ranks();
  expect_alike(ours.ranks(), std::span<const T>(their_ranks), sizeof(T) == 4 ? 1e-3 : 1e-9,
               "GraphBLAS");

  row line;
  line.operation = "pagerank, 20 iterations";
  line.graph = name;
  line.n = graph.rows();
  line.nnz = graph.nnz();
  line.semiring = "plus_second";
  line.type = type;
  line.kernel = line.chosen = ours.kernel();
  line.ms = ms[0];
  line.prepare_ms = prepare_ms;
  line.bytes = iterations * (static_cast<double>(graph.nnz()) * (4 + sizeof(T)) +
                             graph.rows() * (4 + 6.0 * sizeof(T)));
  line.ratio = ms[1] / ms[0];
  line.peer_ms[field[1].name] = ms[1];
  out.add(line);
  if (name == "rmat:16:16")
    out.summarise(std::string("pagerank_") + type + "_over_graphblas", *line.ratio, 1.0);
}

}  // namespace

void cpu(const options& given, record& out) {
  graphblas::start(threads_of(given));
  out.peer("graphblas", graphblas::name());
  out.ceilings(measure_ceilings(threads_of(given)));
  ratios over_graphblas;
  for (const std::string& name : given.graphs.empty() ? usual_graphs : given.graphs) {
    const rig::matrix<float> graph = graph_of(name);
    const rig::matrix<float> weighted = rig::generate::random_values(graph);
    for (const int features : given.features.empty() ? usual_features : given.features)
      products(name, weighted, features, given, out, over_graphblas);
    pagerank<float>(name, graph, "float", given, out);
    pagerank<double>(name, graph, "double", given, out);
    column_products(name, graph, given, out).run();
  }
  const auto sum_up = [&](const std::string& what, const std::vector<double>& of) {
    if (of.empty()) return;
    out.summarise(what + "_over_graphblas_geomean", geometric_mean(of));
    out.summarise(what + "_over_graphblas_least", *std::min_element(of.begin(), of.end()));
  };
  sum_up("spmm", over_graphblas.products);
  sum_up("spmv", over_graphblas.vectors);
  widths_suite(given, out);
}

}  // namespace bench
