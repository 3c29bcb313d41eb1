// Suite analytics: products with sparse results beside SuiteSparse:GraphBLAS, as triangle counts,
// masked products and squares use them; then whole algorithms.

#include "analytics.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "gap.hpp"
#include "graphblas.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace bench {
namespace {

using rig::int64;

/// The grid has no triangles, so only its square is measured.
const std::vector<std::string> usual_graphs = {"rmat:14:16", "rmat:16:16", "uniform:65536:28"};
const std::vector<std::string> usual_for_algorithms = {"rmat:16:16", "rmat:18:16", "rmat:20:16",
                                                       "uniform:65536:16", "uniform:1048576:16"};
const std::string squared_only = "grid:512:512";

/// A square of more products takes gigabytes; it is measured only with --all.
constexpr int64 usual_products = 400'000'000;

int64 products_of_square(const rig::pattern& a) {
  int64 products = 0;
  for (int64 p = 0; p < a.nnz(); ++p) {
    const rig::index k = a.column_indices()[p];
    products += a.offset(k + 1) - a.offset(k);
  }
  return products;
}

/// The products of one graph, with equal threads.
class sparse_products {
 public:
  sparse_products(std::string name, const rig::matrix<float>& graph, const options& given,
                  record& out, ratios_by_kind& ratios)
      : name_(std::move(name)),
        given_(given),
        out_(out),
        ratios_(ratios),
        desc_{.threads = threads_of(given)},
        graph_(graph),
        weighted_(rig::generate::random_values(graph)) {}

  void triangles() {
    using rig::selection;
    const auto both = rig::ewise_add(graph_, rig::transpose(graph_), rig::binary::maximum);
    const auto lower = rig::select(both, selection::lower, -1);
    const auto upper = rig::select(both, selection::upper, 1);
    const rig::matrix<int64> l = lower.with_value(int64{1});
    const double prepare_ms = wall_clock([&] { l.prepare({.transpose_a = true}); });
    const rig::plus_pair<int64> pairs;
    const auto chosen = [&](const rig::descriptor& desc) {
      return rig::explain(l, l, pairs, rig::structure(l), desc).chosen;
    };
    rig::descriptor by_dot = desc_;
    by_dot.transpose_b = true;
    const rig::descriptor otherwise = by_other_kernel(chosen(desc_));
    int64 found = 0, found_otherwise = 0, found_by_dot = 0;
    const auto count = [&](const rig::descriptor& desc) {
      return rig::reduce(rig::mxm(l, l, pairs, rig::structure(l), desc), rig::binary::plus, desc_);
    };
    std::vector<contender> field = {{"rig", [&] { found = count(desc_); }},
                                    {"rig otherwise", [&] { found_otherwise = count(otherwise); }},
                                    {"rig transposed", [&] { found_by_dot = count(by_dot); }}};
    const auto peers = enter(lower, upper, field);
    const std::vector<double> ms = race(field, repeat_of(given_));
    expect_equal("triangles", found, found_otherwise, "the other kernel");
    expect_equal("triangles", found, found_by_dot, "L·Lᵀ");
    for (const auto& peer : peers) expect_equal("triangles", found, peer->count(), "GraphBLAS");

    row line = line_of("plus_pair", "int64");
    line.prepare_ms = prepare_ms;
    line.operation = "triangles L·L";
    line.kernel = line.chosen = chosen(desc_);
    ratios_["triangles"].push_back(add(line, field, ms, 0, 3));
    line.kernel = otherwise.kernel;
    add(line, field, ms, 1, 3);
    line.operation = "triangles L·Lᵀ";
    line.kernel = line.chosen = chosen(by_dot);
    ratios_["triangles_transposed"].push_back(add(line, field, ms, 2, 3));
  }

  /// C⟨A⟩ = A·A, by the chosen kernel and by the other one.
  void masked_square() {
    const auto& a = weighted_;
    const auto mask = rig::structure(a);
    row line = line_of("plus_times", "float");
    line.operation = "A·A, masked";
    line.prepare_ms = wall_clock([&] { a.prepare({.transpose_a = true}); });
    line.kernel = line.chosen = rig::explain(a, a, algebra_, mask, desc_).chosen;
    const rig::descriptor otherwise = by_other_kernel(line.chosen);
    std::vector<contender> field = {
        {"rig", [&] { rig::mxm(a, a, algebra_, mask, desc_); }},
        {"rig otherwise", [&] { rig::mxm(a, a, algebra_, mask, otherwise); }}};
    using graphblas::sparse_form;
    const auto peers = enter(
        &a, {sparse_form::chosen, sparse_form::gustavson, sparse_form::hash, sparse_form::dot},
        field);
    verify(line.operation, rig::mxm(a, a, algebra_, mask, desc_), peers);
    const std::vector<double> ms = race(field, repeat_of(given_));
    ratios_["masked"].push_back(add(line, field, ms, 0, 2));
    line.kernel = otherwise.kernel;
    add(line, field, ms, 1, 2);
  }

  /// C = A·A.
  void whole_square() {
    const auto& a = weighted_;
    if (!given_.all && products_of_square(a.structure()) > usual_products) return;
    row line = line_of("plus_times", "float");
    line.operation = "A·A";
    line.kernel = line.chosen = rig::explain(a, a, algebra_, desc_).chosen;
    std::vector<contender> field = {{"rig", [&] { rig::mxm(a, a, algebra_, desc_); }}};
    using graphblas::sparse_form;
    const auto peers =
        enter(nullptr, {sparse_form::chosen, sparse_form::gustavson, sparse_form::hash}, field);
    verify(line.operation, rig::mxm(a, a, algebra_, desc_), peers);
    ratios_["unmasked"].push_back(add(line, field, race(field, repeat_of(given_)), 0, 1));
  }

 private:
  using square_peers = std::vector<std::unique_ptr<graphblas::sparse_product>>;

  rig::descriptor by_other_kernel(const std::string& chosen) const {
    rig::descriptor out = desc_;
    out.kernel = chosen == "dot" ? "gustavson" : "dot";
    return out;
  }

  /// Adds the forms of a triangle count to `field`.
  static std::vector<std::unique_ptr<graphblas::triangles>> enter(const rig::matrix<float>& lower,
                                                                  const rig::matrix<float>& upper,
                                                                  std::vector<contender>& field) {
    using form = graphblas::triangle_form;
    constexpr std::pair<const char*, form> forms[] = {{"graphblas_saxpy", form::lower_saxpy},
                                                      {"graphblas_dot", form::lower_dot},
                                                      {"graphblas_lower_upper", form::lower_upper},
                                                      {"graphblas_upper_lower", form::upper_lower}};
    std::vector<std::unique_ptr<graphblas::triangles>> out;
    for (const auto& [name, how] : forms) {
      out.push_back(std::make_unique<graphblas::triangles>(lower, upper, how));
      field.push_back({name, [peer = out.back().get()] { peer->run(); }});
    }
    return out;
  }

  /// Adds the forms of A·A to `field`; each has run once.
  square_peers enter(const rig::matrix<float>* mask,
                     const std::vector<graphblas::sparse_form>& forms,
                     std::vector<contender>& field) const {
    constexpr const char* names[] = {"graphblas_chosen", "graphblas_gustavson", "graphblas_hash",
                                     "graphblas_dot"};
    square_peers out;
    for (const graphblas::sparse_form form : forms) {
      out.push_back(std::make_unique<graphblas::sparse_product>(weighted_, weighted_, mask, form));
      field.push_back({names[static_cast<int>(form)], [peer = out.back().get()] { peer->run(); }});
      out.back()->run();
    }
    return out;
  }

  /// Compares entries and sums.
  void verify(const std::string& what, const rig::matrix<float>& c, const square_peers& all) const {
    const auto sum = rig::reduce<double>(c, rig::binary::plus, desc_);
    for (const auto& peer : all) {
      expect_equal(what + ": entries", c.nnz(), peer->nnz(), "GraphBLAS");
      if (!(std::abs(sum - peer->sum()) <= 1e-3 * std::abs(sum)))
        rig::fail(rig::errc::range,
                  {what, ": GraphBLAS has the sum ", peer->sum(), ", rig has ", sum});
    }
  }

  static void expect_equal(const std::string& what, int64 ours, int64 theirs, const char* whose) {
    if (ours != theirs)
      rig::fail(rig::errc::range, {what, ": ", whose, " has ", theirs, ", rig has ", ours});
  }

  row line_of(const char* semiring, const char* type) const {
    row line;
    line.graph = name_;
    line.n = graph_.rows();
    line.nnz = graph_.nnz();
    line.semiring = semiring;
    line.type = type;
    return line;
  }

  /// Adds a line: contender `ours` beside those from `first_peer` on. Returns its ratio.
  double add(row line, std::span<const contender> field, const std::vector<double>& ms,
             std::size_t ours, std::size_t first_peer) {
    line.ms = ms[ours];
    for (std::size_t i = first_peer; i < field.size(); ++i) line.peer_ms[field[i].name] = ms[i];
    line.ratio =
        *std::min_element(ms.begin() + static_cast<std::ptrdiff_t>(first_peer), ms.end()) / line.ms;
    out_.add(line);
    return *line.ratio;
  }

  std::string name_;
  const options& given_;
  record& out_;
  ratios_by_kind& ratios_;  ///< of each kind of product
  rig::descriptor desc_;
  rig::plus_times<float> algebra_;
  rig::matrix<float> graph_, weighted_;
};

}  // namespace

void analytics(const options& given, record& out) {
  graphblas::start(threads_of(given));
  out.peer("graphblas", graphblas::name());
  gap::introduce(given, out);
  ratios_by_kind ratios, over_gap;
  const auto graphs = [&](const std::vector<std::string>& usual) {
    return given.graphs.empty() ? usual : given.graphs;
  };
  for (const std::string& name : graphs(usual_for_algorithms))
    race_algorithms(name, given, out, ratios, over_gap);
  for (const std::string& name : graphs(usual_graphs)) {
    sparse_products of(name, graph_of(name), given, out, ratios);
    of.triangles();
    of.masked_square();
    of.whole_square();
  }
  if (given.graphs.empty())
    sparse_products(squared_only, graph_of(squared_only), given, out, ratios).whole_square();
  std::vector<double> means;
  for (const auto& [kind, numbers] : ratios) {
    means.push_back(geometric_mean(numbers));
    out.summarise(kind + "_over_graphblas_geomean", means.back());
    out.summarise(kind + "_over_graphblas_least", *std::min_element(numbers.begin(), numbers.end()),
                  1.0);
  }
  for (const auto& [kind, numbers] : over_gap) {
    out.summarise(kind + "_over_gap_geomean", geometric_mean(numbers));
    out.summarise(kind + "_over_gap_least", *std::min_element(numbers.begin(), numbers.end()));
  }
  out.summarise("all_over_graphblas_geomean", geometric_mean(means), 1.3);
}

}  // namespace bench
