#pragma once

// The gradients of the GNN client against central differences in double, in a place. The CPU's and
// the GPU's test share these cases.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gnn/loss.hpp"
#include "gnn/model.hpp"
#include "rig/generate.hpp"
#include "seed.hpp"

namespace gnn_cases {

using T = double;
using rig::index;
using dense = rig::dense<T>;

/// sin(p·i + q·j + r): no two alike, so that no maximum ties.
template <class X = T>
rig::dense<X> waves(index rows, index columns, double p, double q, double r = 0.1) {
  rig::dense<X> x(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j) x(i, j) = static_cast<X>(std::sin(p * i + q * j + r));
  return x;
}

/// A directed graph of 40 nodes, some without neighbours and some that are nobody's.
template <class X = T>
rig::matrix<X> graph() {
  std::vector<int> i, j;
  for (int n = 0; n < 34; ++n)
    for (int d = 1; d <= 1 + n % 5; ++d) {
      i.push_back(n);
      j.push_back((n * 7 + d * d * 3) % 38);
    }
  return rig::matrix<X>::from_positions(40, 40, i, j, 1, true);
}

/// Checks that `gradient` is the slope of `loss` at x, element by element.
inline void check_slopes(const std::string& what, dense x, const dense& gradient,
                         const std::function<double(const dense&)>& loss) {
  CAPTURE(what);
  REQUIRE(gradient.rows() == x.rows());
  REQUIRE(gradient.columns() == x.columns());
  const double step = 1e-5;
  double most = 0, wrong = 0;
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.columns(); ++j) {
      const double at = x(i, j);
      x(i, j) = at + step;
      const double above = loss(x);
      x(i, j) = at - step;
      const double below = loss(x);
      x(i, j) = at;
      most = std::max(most, std::abs(gradient(i, j)));
      wrong = std::max(wrong, std::abs(gradient(i, j) - (above - below) / (2 * step)));
    }
  CAPTURE(most);
  CAPTURE(wrong);
  CHECK(most > 1e-4);  // a gradient of zeros would prove nothing
  CHECK(wrong < 1e-7 * std::max(1.0, most));
}

/// A layer: what it computes from X.
using layer = std::function<gnn::var<T>(gnn::tape&, const gnn::var<T>&)>;

/// Checks dX of a layer, for L = Σ W ∘ Y.
inline void check_layer(const std::string& what, const dense& x, rig::place where, layer of) {
  dense weights;
  const auto run = [&](const dense& at, dense* gradient) {
    gnn::tape t(true, where);
    const auto in = gnn::variable_of<T>(at.to(where));
    const auto out = of(t, in);
    if (weights.rows() == 0) weights = waves(out->rows(), out->columns(), 1.7, 0.9, 0.3);
    const double sum = rig::reduce(
        rig::ewise_mult(out->value, weights.to(where), rig::binary::times), rig::binary::plus);
    if (gradient != nullptr) {
      out->add(weights.to(where));
      t.backward();
      *gradient = in->gradient.to(rig::cpu());
    }
    return sum;
  };
  dense gradient;
  run(x, &gradient);
  check_slopes(what, x, gradient, [&](const dense& at) { return run(at, nullptr); });
}

inline void check_layers(rig::place where) {
  using namespace gnn;
  const auto a = graph().to(where);
  const auto x = waves(40, 6, 0.37, 1.13);
  const auto fixed = [&](index rows, index columns, double p) {
    return variable_of<T>(waves(rows, columns, p, 0.77).to(where));
  };
  const auto w = fixed(6, 5, 0.9), w_self = fixed(6, 6, 1.3), b = fixed(1, 6, 0.2);
  const auto s = fixed(40, 1, 0.6), u = fixed(40, 1, 0.8), h = fixed(40, 6, 0.45);
  const auto column = waves(40, 1, 0.61, 0);
  const aggregation<T> sum{a}, mean{rig::mean_normalise(a), true}, normal{rig::gcn_normalise(a)},
      loops{rig::add_self_loops(a)};
  using v = const var<T>&;

  check_layer("linear", x, where, [&](tape& t, v in) { return linear(t, in, w); });
  check_layer("linear by W", waves(6, 5, 0.9, 0.77), where,
              [&](tape& t, v in) { return linear(t, h, in); });
  check_layer("add_linear", x, where, [&](tape& t, v in) {
    const auto y = linear(t, in, w_self);
    add_linear(t, y, in, w_self);
    return y;
  });
  check_layer("bias", waves(1, 6, 1, 1), where, [&](tape& t, v in) {
    const auto y = linear(t, h, w_self);
    add_bias(t, y, in);
    return y;
  });
  check_layer("relu", x, where, [&](tape& t, v in) {
    relu(t, in);
    return in;
  });
  check_layer("dropout", x, where, [&](tape& t, v in) { return dropout(t, in, 0.4, 7); });
  check_layer("sum", x, where, [&](tape& t, v in) { return aggregate(t, sum, in); });
  check_layer("mean", x, where, [&](tape& t, v in) { return aggregate(t, mean, in); });
  check_layer("gcn", x, where, [&](tape& t, v in) { return aggregate(t, normal, in); });
  check_layer("maxk", x, where, [&](tape& t, v in) { return aggregate_maxk(t, normal, in, 2); });
  check_layer("max", x, where, [&](tape& t, v in) { return max_pool(t, sum, in); });
  check_layer("attention by H", x, where,
              [&](tape& t, v in) { return attend(t, loops, in, s, u); });
  check_layer("attention by s", column, where,
              [&](tape& t, v in) { return attend(t, loops, h, in, u); });
  check_layer("attention by t", column, where,
              [&](tape& t, v in) { return attend(t, loops, h, s, in); });
  check_layer("attention with empty rows", x, where,
              [&](tape& t, v in) { return attend(t, sum, in, s, u); });
  check_layer("scaled", x, where, [&](tape& t, v in) { return scaled(t, in, 0.3); });
  check_layer("added to itself", x, where, [&](tape& t, v in) {
    const auto y = linear(t, in, w_self);
    add(t, y, in);
    return y;
  });
  check_layer("scores of pairs", x, where, [&](tape& t, v in) { return score(t, a, in); });
}

inline void check_norms_and_heads(rig::place where) {
  using namespace gnn;
  const auto x = waves(40, 6, 0.37, 1.13);
  const auto fixed = [&](index rows, index columns, double p) {
    return variable_of<T>(waves(rows, columns, p, 0.77).to(where));
  };
  const auto h = fixed(40, 6, 0.45), v = fixed(6, 1, 0.8), w = fixed(6, 1, 1.4);
  const aggregation<T> loops{rig::add_self_loops(graph().to(where))};
  using in = const var<T>&;
  const running<T> batches{fixed(1, 6, 1), fixed(1, 6, 2)};
  for (const norm by : {norm::batch, norm::layer})
    check_layer(by == norm::batch ? "batch norm" : "layer norm", x, where,
                [&](tape& t, in from) { return standardise(t, from, by, batches); });
  check_layer("factors of columns", x, where,
              [&](tape& t, in from) { return scale_columns(t, from, fixed(1, 6, 0.3)); });
  check_layer("factors of columns by f", waves(1, 6, 1, 1), where,
              [&](tape& t, in from) { return scale_columns(t, h, from); });
  for (const int heads : {1, 2, 3}) {
    CAPTURE(heads);
    check_layer("heads by H", x, where,
                [&](tape& t, in from) { return attend_by_heads(t, loops, from, v, w, heads); });
    check_layer("heads by v", waves(6, 1, 0.6, 0), where,
                [&](tape& t, in from) { return attend_by_heads(t, loops, h, from, w, heads); });
    check_layer("heads by w", waves(6, 1, 0.6, 0), where,
                [&](tape& t, in from) { return attend_by_heads(t, loops, h, v, from, heads); });
  }
}

/// Norms, heads and drawn edges against loops.
inline void check_against_loops(rig::place where) {
  using namespace gnn;
  const auto x = waves(7, 4, 0.37, 1.13);
  tape plain(false, where), records(true, where);
  const auto on = variable_of<T>(x.to(where));
  const running<T> batches{variable_of<T>(dense(1, 4).to(where)),
                           variable_of<T>(dense(1, 4, 1).to(where))};
  const auto by_nodes = standardise(records, on, norm::batch, batches)->value.to(rig::cpu()),
             by_columns = standardise(plain, on, norm::layer)->value.to(rig::cpu()),
             inferred = standardise(plain, on, norm::batch, batches)->value.to(rig::cpu());
  const auto standard = [&](index i, index j, bool is_batch) {
    const index count = is_batch ? 7 : 4;
    const auto at = [&](index k) { return is_batch ? x(k, j) : x(i, k); };
    double sum = 0, squares = 0;
    for (index k = 0; k < count; ++k) sum += at(k);
    for (index k = 0; k < count; ++k) squares += std::pow(at(k) - sum / count, 2);
    return std::array{sum / count, squares / count};
  };
  for (index i = 0; i < 7; ++i)
    for (index j = 0; j < 4; ++j) {
      const auto [mean, variance] = standard(i, j, true);
      const auto [mean_i, variance_i] = standard(i, j, false);
      CHECK(by_nodes(i, j) == doctest::Approx((x(i, j) - mean) / std::sqrt(variance + 1e-5)));
      CHECK(by_columns(i, j) == doctest::Approx((x(i, j) - mean_i) / std::sqrt(variance_i + 1e-5)));
      // One batch moves the running mean and variance by a tenth.
      CHECK(inferred(i, j) ==
            doctest::Approx((x(i, j) - 0.1 * mean) / std::sqrt(0.9 + 0.1 * variance + 1e-5)));
    }
}

/// The edges that a seed leaves: about the share, other ones by another seed, weights that keep the
/// sums of GIN in the mean and ones for means.
inline void check_drawn_edges(rig::place where) {
  const auto whole = rig::generate::uniform(500, 20).with_value(T(1)).to(where);
  gnn::shape s{gnn::kind::gin, gnn::gathering::mean, 3, 5, 4};
  s.edge_dropout = 0.25;
  const auto drawn = [&](std::uint64_t seed) {
    return gnn::drawn_aggregation_of(s, whole, {}, 0, seed).a.to(rig::cpu());
  };
  const auto one = drawn(1);
  const double edges = static_cast<double>(one.nnz() - 500), all = static_cast<double>(whole.nnz());
  CHECK(edges / all == doctest::Approx(0.75).epsilon(0.03));
  for (const auto& [i, j, value] : one.entries())
    if (i != j) REQUIRE(value == doctest::Approx(1 / 0.75).epsilon(1e-4));
  const auto same = drawn(1), other = drawn(2);
  CHECK(rig::ewise_mult(one, same, rig::binary::plus).nnz() == one.nnz());
  CHECK(same.nnz() == one.nnz());
  CHECK(rig::ewise_mult(one, other, rig::binary::plus).nnz() < one.nnz() - 500);
  s.model = gnn::kind::sage;
  const auto mean = drawn(1);
  double sum = 0;
  for (const auto& [i, j, value] : mean.entries()) sum += value;
  CHECK(sum == doctest::Approx(500));
}

/// Labels of the nodes of `graph`: of 4 classes, some without; or 4 tasks.
template <class X = T>
gnn::truth<X> labels(bool multi_label) {
  const index n = 40, classes = 4;
  gnn::truth<X> out{multi_label, {n, classes}, {n, 1, -1}, {}, {}, {}};
  std::vector<int> i, j, all_i, all_j, part, node;
  for (int r = 0; r < n; ++r) {
    part.push_back(r % 3);
    node.push_back(r);
    for (int c = 0; c < classes; ++c) {
      all_i.push_back(r);
      all_j.push_back(c);
      if (r % 3 != 0) continue;
      i.push_back(r);
      j.push_back(c);
    }
    for (int c = 0; c < classes; ++c)
      if (multi_label ? (r * 5 + c * c) % 3 == 0 : c == r * r % 4) out.y(r, c) = 1;
    out.label(r, 0) = r * r % 4;
  }
  out.trained = rig::matrix<X>::from_positions(n, classes, i, j);
  out.all = rig::matrix<X>::from_positions(n, classes, all_i, all_j);
  out.parts = rig::matrix<X>::from_positions(3, n, part, node);
  return out;
}

inline void check_losses(rig::place where) {
  for (const bool multi_label : {false, true}) {
    const auto of = labels(multi_label).to(where);
    const auto z = waves(40, 4, 0.7, 1.9);
    gnn::tape t(true, where);
    const auto at = gnn::variable_of<T>(z.to(where));
    gnn::loss(t, at, of);
    check_slopes(multi_label ? "sigmoid" : "softmax", z, at->gradient.to(rig::cpu()),
                 [&](const dense& x) {
                   gnn::tape plain(false, where);
                   return gnn::loss(plain, gnn::variable_of<T>(x.to(where)), of);
                 });
  }
}

/// Checks the gradient of the loss by every parameter of a network, with dropout; over a sample
/// of so many entries of each row if `sample_width` is not 0.
inline void check_model(const std::string& what, gnn::shape s, bool multi_label, bool sparse,
                        rig::place where, int sample_width = 0) {
  const auto whole = graph().to(where);
  const auto a = sample_width > 0 || s.edge_dropout > 0
                     ? gnn::drawn_aggregation_of(s, whole, {}, sample_width, test_seed())
                     : gnn::aggregation_of(s, whole, {});
  const auto of = labels(multi_label).to(where);
  const auto full = waves(40, s.inputs, 0.37, 1.13).to(where);
  gnn::network<T> net(s, 3, where);
  // Biases of 0 leave nodes without neighbours at the kink of ReLU.
  net.set_values(waves(1, net.values().columns(), 1, 0.83));
  const auto run = [&](bool backward) {
    gnn::tape t(true, where);
    const auto x =
        sparse ? gnn::variable_of<T>(rig::select(rig::ewise_mult(of.all, full, rig::binary::second),
                                                 rig::selection::greater, 0.2))
               : gnn::variable_of<T>(full);
    if (!sparse) x->needs_gradient = false;
    const auto z = net.forward(t, a, x, 5);
    const double found = gnn::loss(t, z, of);
    if (backward) t.backward();
    return found;
  };
  run(true);
  const dense gradient = net.gradients().to(rig::cpu());
  check_slopes(what, net.values().to(rig::cpu()), gradient, [&](const dense& at) {
    net.set_values(at);
    return run(false);
  });
}

inline void check_models(rig::place where) {
  using enum gnn::kind;
  using by = gnn::gathering;
  struct model {
    const char* name;
    gnn::kind is;
    gnn::gathering gathers;
    bool has_maxk;
  };
  constexpr model models[] = {
      {"gcn", gcn, by::mean, true},         {"sage mean", sage, by::mean, true},
      {"sage pool", sage, by::pool, false}, {"sage gcn", sage, by::gcn, true},
      {"gin", gin, by::mean, true},         {"gin gcn", gin, by::gcn, true},
      {"gat", gat, by::mean, false},        {"mlp", mlp, by::mean, false},
      {"appnp", appnp, by::mean, false},    {"gcnii", gcnii, by::mean, false}};
  for (const model& m : models)
    for (const bool sparse : {false, true})
      for (const int layers : {1, 2, 3})
        for (const int k : {0, 2}) {
          if (k > 0 && !m.has_maxk) continue;
          // Sparse features have 4 columns; of dense ones, 3 are gathered before a product with 5.
          const gnn::shape s{m.is,   m.gathers, sparse ? 4 : 3,         5, 4,
                             layers, k,         layers == 2 ? 0.3 : 0.0};
          check_model(std::string(m.name) + (sparse ? ", sparse" : "") + ", layers " +
                          std::to_string(layers) + ", k " + std::to_string(k),
                      s, layers == 3, sparse, where);
          if (layers == 2 && !sparse)
            check_model(std::string(m.name) + ", sampled, k " + std::to_string(k), s, false, sparse,
                        where, 2);
        }
}

/// Networks with norms, residual connections, heads and fewer edges, and deep ones.
inline void check_variants(rig::place where) {
  using enum gnn::kind;
  struct variant {
    const char* name;
    gnn::kind is;
    int layers, k;
    gnn::norm norm;
    bool residual;
    int heads;
    double edge_dropout;
  };
  using gnn::norm;
  constexpr variant variants[] = {
      {"gcn, batch norm", gcn, 3, 0, norm::batch, false, 1, 0},
      {"gcn, layer norm, residual", gcn, 4, 0, norm::layer, true, 1, 0},
      {"gcn, MaxK, batch norm, residual", gcn, 3, 3, norm::batch, true, 1, 0},
      {"gcn, fewer edges", gcn, 2, 0, norm::none, false, 1, 0.4},
      {"gcn of 8 layers", gcn, 8, 0, norm::layer, true, 1, 0.2},
      {"sage, batch norm, residual", sage, 4, 0, norm::batch, true, 1, 0.3},
      {"gin, layer norm", gin, 3, 0, norm::layer, true, 1, 0},
      {"gat of 2 heads", gat, 2, 0, norm::none, false, 2, 0},
      {"gat of 3 heads, all", gat, 3, 0, norm::layer, true, 3, 0.3},
      {"mlp, batch norm", mlp, 3, 0, norm::batch, true, 1, 0},
      {"appnp, layer norm", appnp, 3, 0, norm::layer, true, 1, 0.3},
      {"gcnii of 8 layers", gcnii, 8, 0, norm::none, false, 1, 0},
      {"gcnii, all", gcnii, 2, 0, norm::batch, true, 1, 0.2}};
  for (const variant& v : variants)
    for (const bool drops : {false, true}) {
      gnn::shape s{v.is, gnn::gathering::mean, 3, 6, 4, v.layers, v.k, drops ? 0.3 : 0.0};
      s.norm = v.norm;
      s.residual = v.residual;
      s.heads = v.heads;
      s.edge_dropout = v.edge_dropout;
      check_model(v.name, s, drops, false, where);
    }
}

/// The gradients of SAGE over the blocks of a mini-batch, by every parameter.
inline void check_batches(rig::place where) {
  const std::vector<index> seeds = {5, 0, 33, 12, 7, 21};
  const auto drawn = rig::neighbours(graph().to(where), seeds, {2, 3, 2}, test_seed());
  const auto all = labels(false).to(where);
  gnn::truth<T> of;
  of.y = rig::extract(all.y, seeds, rig::all);
  of.trained = rig::extract(all.trained, seeds, rig::all);
  REQUIRE(of.trained.nnz() > 0);
  const auto full = waves(40, 3, 0.37, 1.13).to(where);
  for (const auto gathers : {gnn::gathering::mean, gnn::gathering::pool}) {
    gnn::shape s{gnn::kind::sage, gathers, 3, 5, 4, 3, 0, 0.3};
    s.norm = gnn::norm::batch;
    s.residual = true;
    std::vector<gnn::aggregation<T>> layers;
    for (const auto& block : drawn.blocks) layers.push_back(gnn::aggregation_of(s, block, {}));
    gnn::network<T> net(s, 3, where);
    net.set_values(waves(1, net.values().columns(), 1, 0.83));
    const auto run = [&](bool backward) {
      gnn::tape t(true, where);
      const auto x = gnn::variable_of<T>(rig::extract(full, drawn.nodes, rig::all));
      x->needs_gradient = false;
      const auto z = net.forward(t, layers, x, 5);
      CHECK(z->rows() == 6);
      const double found = gnn::loss(t, z, of);
      if (backward) t.backward();
      return found;
    };
    run(true);
    const dense gradient = net.gradients().to(rig::cpu());
    check_slopes("a batch", net.values().to(rig::cpu()), gradient, [&](const dense& at) {
      net.set_values(at);
      return run(false);
    });
  }
}

/// GCN over a sample divides by the degrees of the whole graph, so that self loops keep their
/// values.
inline void check_sampled_degrees(rig::place where) {
  const auto all = graph().to(where);
  const gnn::shape s{gnn::kind::gcn, gnn::gathering::mean, 3, 5, 4};
  const auto loops = [](const rig::matrix<T>& a) {
    std::vector<T> out;
    for (const auto& [i, j, value] : a.to(rig::cpu()).entries())
      if (i == j) out.push_back(value);
    return out;
  };
  const auto exact = loops(gnn::aggregation_of(s, all, {}).a),
             sampled = loops(gnn::drawn_aggregation_of(s, all, {}, 2, 7).a);
  REQUIRE(sampled.size() == exact.size());
  REQUIRE(sampled.size() == 40);
  // Except in rows whose loop is the graph's own, which a sample leaves out or rescales.
  int alike = 0;
  for (std::size_t i = 0; i < 40; ++i) alike += std::fabs(sampled[i] - exact[i]) < 1e-12;
  CHECK(alike >= 30);
}

/// The gradients by every parameter, with products and updates in one call or apart.
inline rig::dense<float> gradients_of(const gnn::shape& s, gnn::joining joins, rig::place where) {
  auto a = gnn::aggregation_of(s, graph<float>().to(where), {});
  a.joins = joins;
  const auto of = labels<float>(false).to(where);
  gnn::network<float> net(s, 3, where);
  gnn::tape t(true, where);
  const auto x = gnn::variable_of<float>(waves<float>(40, s.inputs, 0.37, 1.13).to(where));
  x->needs_gradient = false;
  gnn::loss(t, net.forward(t, a, x, 5), of);
  t.backward();
  return net.gradients().to(rig::cpu());
}

/// mxm_update in a network gives the gradients of separate calls.
inline void check_joined(rig::place where) {
  using enum gnn::kind;
  for (const gnn::kind model : {gcn, sage, gin})
    for (const int hidden : {6, 9, 3}) {
      CAPTURE(static_cast<int>(model));
      CAPTURE(hidden);
      const gnn::shape s{model, gnn::gathering::mean, 6, hidden, 4, 3, 0, 0.3};
      const auto apart = gradients_of(s, gnn::joining::never, where),
                 joined = gradients_of(s, gnn::joining::always, where);
      double most = 0, wrong = 0;
      for (index j = 0; j < apart.columns(); ++j) {
        most = std::max(most, std::abs(static_cast<double>(apart(0, j))));
        wrong = std::max(wrong, std::abs(static_cast<double>(apart(0, j) - joined(0, j))));
      }
      CHECK(most > 1e-3);
      CHECK(wrong < 1e-5 * most);
    }
}

}  // namespace gnn_cases
