// Suite analytics: products with sparse results beside SuiteSparse:GraphBLAS, as triangle counts,
// masked products and squares use them.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "bench.hpp"
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
                  record& out, std::map<std::string, std::vector<double>>& ratios)
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
    rig::descriptor by_dot = desc_;
    by_dot.transpose_b = true;
    int64 by_choice = 0, transposed = 0;
    const auto count = [&](const rig::descriptor& desc) {
      return rig::reduce(rig::mxm(l, l, pairs, rig::structure(l), desc), rig::binary::plus, desc_);
    };
    using graphblas::triangle_form;
    graphblas::triangles saxpy(lower, upper, triangle_form::lower_saxpy),
        dot(lower, upper, triangle_form::lower_dot),
        lower_upper(lower, upper, triangle_form::lower_upper),
        upper_lower(lower, upper, triangle_form::upper_lower);
    const contender field[] = {
        {"rig", [&] { by_choice = count(desc_); }},
        {"rig transposed", [&] { transposed = count(by_dot); }},
        {"graphblas_saxpy", [&] { saxpy.run(); }},
        {"graphblas_dot", [&] { dot.run(); }},
        {"graphblas_lower_upper", [&] { lower_upper.run(); }},
        {"graphblas_upper_lower", [&] { upper_lower.run(); }},
    };
    const std::vector<double> ms = race(field, repeat_of(given_));
    expect_equal("triangles", by_choice, transposed, "L·Lᵀ");
    for (const graphblas::triangles* peer : {&saxpy, &dot, &lower_upper, &upper_lower})
      expect_equal("triangles", by_choice, peer->count(), "GraphBLAS");

    row line = line_of(l.nnz(), "plus_pair", "int64");
    line.prepare_ms = prepare_ms;
    line.operation = "triangles L·L";
    line.kernel = line.chosen = rig::explain(l, l, pairs, rig::structure(l), desc_).chosen;
    add("triangles", line, field, ms, 0, 2);
    line.operation = "triangles L·Lᵀ";
    line.kernel = line.chosen = rig::explain(l, l, pairs, rig::structure(l), by_dot).chosen;
    add("triangles_transposed", line, field, ms, 1, 2);
  }

  /// C⟨A⟩ = A·A.
  void masked_square() {
    const auto& a = weighted_;
    const double prepare_ms = wall_clock([&] { a.prepare({.transpose_a = true}); });
    const auto mask = rig::structure(a);
    square(
        "masked", [&] { return rig::mxm(a, a, algebra_, mask, desc_); }, &a,
        {graphblas::sparse_form::chosen, graphblas::sparse_form::gustavson,
         graphblas::sparse_form::hash, graphblas::sparse_form::dot},
        rig::explain(a, a, algebra_, mask, desc_).chosen, prepare_ms);
  }

  /// C = A·A.
  void whole_square() {
    if (!given_.all && products_of_square(weighted_.structure()) > usual_products) return;
    const auto& a = weighted_;
    square("unmasked", [&] { return rig::mxm(a, a, algebra_, desc_); }, nullptr,
           {graphblas::sparse_form::chosen, graphblas::sparse_form::gustavson,
            graphblas::sparse_form::hash},
           rig::explain(a, a, algebra_, desc_).chosen, {});
  }

 private:
  /// A product beside the forms of its peer, all into new matrices.
  void square(const std::string& kind, const std::function<rig::matrix<float>()>& product,
              const rig::matrix<float>* mask, const std::vector<graphblas::sparse_form>& forms,
              const std::string& kernel, std::optional<double> prepare_ms) {
    constexpr const char* names[] = {"graphblas_chosen", "graphblas_gustavson", "graphblas_hash",
                                     "graphblas_dot"};
    std::vector<contender> field = {{"rig", [&] { product(); }}};
    std::vector<std::unique_ptr<graphblas::sparse_product>> peers;
    for (const graphblas::sparse_form form : forms) {
      peers.push_back(
          std::make_unique<graphblas::sparse_product>(weighted_, weighted_, mask, form));
      field.push_back(
          {names[static_cast<int>(form)], [peer = peers.back().get()] { peer->run(); }});
    }
    check(kind, product(), peers);
    const std::vector<double> ms = race(field, repeat_of(given_));
    row line = line_of(weighted_.nnz(), "plus_times", "float");
    line.operation = "A·A, " + kind;
    line.prepare_ms = prepare_ms;
    line.kernel = line.chosen = kernel;
    add(kind, line, field, ms, 0, 1);
  }

  /// Runs each peer once and compares its result with C.
  void check(const std::string& kind, const rig::matrix<float>& c,
             std::span<const std::unique_ptr<graphblas::sparse_product>> peers) const {
    const auto sum = rig::reduce<double>(c, rig::binary::plus, desc_);
    for (const auto& peer : peers) {
      peer->run();
      expect_equal(kind + ": entries", c.nnz(), peer->nnz(), "GraphBLAS");
      if (!(std::abs(sum - peer->sum()) <= 1e-3 * std::abs(sum)))
        rig::fail(rig::errc::range,
                  {kind, ": GraphBLAS has the sum ", peer->sum(), ", rig has ", sum});
    }
  }

  static void expect_equal(const std::string& what, int64 ours, int64 theirs, const char* whose) {
    if (ours != theirs)
      rig::fail(rig::errc::range, {what, ": ", whose, " has ", theirs, ", rig has ", ours});
  }

  row line_of(int64 nnz, const char* semiring, const char* type) const {
    row line;
    line.graph = name_;
    line.n = graph_.rows();
    line.nnz = nnz;
    line.semiring = semiring;
    line.type = type;
    return line;
  }

  /// Adds a line: contender `ours` beside those from `first_peer` on.
  void add(const std::string& kind, row line, std::span<const contender> field,
           const std::vector<double>& ms, std::size_t ours, std::size_t first_peer) {
    line.ms = ms[ours];
    for (std::size_t i = first_peer; i < field.size(); ++i) line.peer_ms[field[i].name] = ms[i];
    line.ratio =
        *std::min_element(ms.begin() + static_cast<std::ptrdiff_t>(first_peer), ms.end()) / line.ms;
    out_.add(line);
    ratios_[kind].push_back(*line.ratio);
  }

  std::string name_;
  const options& given_;
  record& out_;
  std::map<std::string, std::vector<double>>& ratios_;  ///< of each kind of product
  rig::descriptor desc_;
  rig::plus_times<float> algebra_;
  rig::matrix<float> graph_, weighted_;
};

}  // namespace

void analytics(const options& given, record& out) {
  graphblas::start(threads_of(given));
  out.peer("graphblas", graphblas::name());
  std::map<std::string, std::vector<double>> ratios;
  for (const std::string& name : given.graphs.empty() ? usual_graphs : given.graphs) {
    sparse_products of(name, graph_of(name), given, out, ratios);
    of.triangles();
    of.masked_square();
    of.whole_square();
  }
  if (given.graphs.empty())
    sparse_products(squared_only, graph_of(squared_only), given, out, ratios).whole_square();
  for (const auto& [kind, numbers] : ratios) {
    out.summarise(kind + "_over_graphblas_geomean", geometric_mean(numbers), 1.3);
    out.summarise(kind + "_over_graphblas_least", *std::min_element(numbers.begin(), numbers.end()),
                  1.0);
  }
}

}  // namespace bench
