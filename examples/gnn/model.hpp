#pragma once

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention.hpp"
#include "norms.hpp"

// The networks: which parameters each has, and which layers it is.

namespace gnn {

enum class kind { gcn, sage, gin, gat, mlp, appnp, gcnii };
/// How SAGE gathers; gcn also divides the sums of GIN.
enum class gathering { mean, pool, gcn };
inline constexpr std::array<std::string_view, 7> kind_names = {"gcn", "sage",  "gin",  "gat",
                                                               "mlp", "appnp", "gcnii"};
inline constexpr std::array<std::string_view, 3> gathering_names = {"mean", "pool", "gcn"};

struct shape {
  kind model = kind::gcn;
  gathering aggregate = gathering::mean;
  int inputs = 0, hidden = 64, outputs = 0, layers = 2;
  int k = 0;  ///< entries that MaxK keeps; 0: ReLU
  double dropout = 0.5;
  int heads = 1;            ///< of gat, side by side in `hidden`; the last layer has one
  double edge_dropout = 0;  ///< share of the edges that an epoch leaves out
  gnn::norm norm = gnn::norm::none;
  bool residual = false;  ///< whether a layer's input is added to its result, of the same width
  double alpha = 0.1;     ///< share of the start in each product of appnp and gcnii
  int hops = 10;          ///< products of appnp

  /// The layers, of which gcnii has a dense one before the others and one behind them.
  int all_layers() const { return model == kind::gcnii ? layers + 2 : layers; }
  friend bool operator==(const shape&, const shape&) = default;
};

/// Throws error(cannot) for parts that a model does not have.
inline void check_fits(const shape& s) {
  const auto refuse = [](std::initializer_list<rig::message_piece> why) {
    rig::fail(rig::errc::cannot, why);
  };
  const std::string_view name = kind_names[static_cast<std::size_t>(s.model)];
  if (s.heads > 1 && s.model != kind::gat)
    refuse({"model: ", s.heads, " heads, and ", name, " has no attention; use gat, or 1 head"});
  if (s.hidden % s.heads != 0)
    refuse({"model: ", s.heads, " heads do not divide ", s.hidden,
            " hidden columns; give a multiple of ", s.heads});
  if (s.edge_dropout > 0 && s.model == kind::mlp)
    refuse({"model: edge dropout is ", s.edge_dropout, ", and mlp does not see edges; give 0"});
  if (s.norm != norm::none && s.all_layers() < 2)
    refuse({"model: a norm lies between two layers, and there is ", s.layers,
            "; give at least 2, or no norm"});
  if (s.residual && s.all_layers() < 3)
    refuse({"model: a residual connection spans a layer between two others, and there are ",
            s.layers, "; give at least 3, or none"});
}

/// Throws error(range) unless a shape makes sense, with the values.
inline void check(const shape& s) {
  const auto among = [](const char* name, int value, int least, int most) {
    if (value < least || value > most)
      rig::fail(rig::errc::range,
                {"model: ", name, " is ", value, "; it must be ", least, " to ", most});
  };
  among("inputs", s.inputs, 1, 1 << 24);
  among("outputs", s.outputs, 1, 1 << 16);
  among("hidden", s.hidden, 1, 1 << 16);
  among("layers", s.layers, 1, 64);
  among("k", s.k, 0, s.hidden);
  if (!(s.dropout >= 0 && s.dropout < 1))
    rig::fail(rig::errc::range,
              {"model: dropout is ", s.dropout, "; it must be at least 0 and below 1"});
  among("heads", s.heads, 1, s.hidden);
  among("hops", s.hops, 1, 1000);
  if (!(s.edge_dropout >= 0 && s.edge_dropout < 1))
    rig::fail(rig::errc::range,
              {"model: edge dropout is ", s.edge_dropout, "; it must be at least 0 and below 1"});
  if (!(s.alpha > 0 && s.alpha <= 1))
    rig::fail(rig::errc::range, {"model: alpha is ", s.alpha, "; it must be above 0, at most 1"});
  check_fits(s);
  const bool has_linear_sums = s.model == kind::gcn || s.model == kind::gin ||
                               (s.model == kind::sage && s.aggregate != gathering::pool);
  if (s.k > 0 && !has_linear_sums)
    rig::fail(rig::errc::cannot,
              {"model: MaxK precedes a sum or mean; use gcn, gin, or sage with mean or gcn"});
}

/// What a parameter is before training. drawn: as Glorot & Bengio do, AISTATS 2010; narrow: within
/// ±1/√inputs, as PyTorch's linear layers.
enum class start { drawn, narrow, zero, one };
/// A parameter of a layer.
struct parameter_shape {
  rig::index rows, columns;
  start from;
};

/// The parameters of the norm before a layer: factors, offsets, and what `running` follows.
inline std::vector<parameter_shape> norm_of(const shape& s, int layer) {
  if (layer == 0 || s.norm == norm::none) return {};
  const parameter_shape zero{1, s.hidden, start::zero}, one{1, s.hidden, start::one};
  if (s.norm == norm::layer) return {one, zero};
  return {one, zero, zero, one};
}

inline std::vector<parameter_shape> weights_of(const shape& s, int layer) {
  using enum start;
  const bool is_first = layer == 0, is_last = layer + 1 == s.all_layers();
  const rig::index in = is_first ? s.inputs : s.hidden, hidden = s.hidden,
                   out = is_last ? s.outputs : s.hidden;
  const parameter_shape w{in, out, drawn}, b{1, out, zero};
  switch (s.model) {
    case kind::sage: {
      const parameter_shape v{in, out, narrow};
      if (s.aggregate == gathering::mean) return {v, v, b};
      if (s.aggregate == gathering::gcn) return {v, b};
      return {{in, hidden, narrow}, {1, hidden, zero}, {hidden, out, narrow}, v, b};
    }
    case kind::gin:
      return {{in, hidden, narrow}, {1, hidden, zero}, {hidden, out, narrow}, b};
    case kind::gat:
      return {w, {out, 1, drawn}, {out, 1, drawn}, b};
    case kind::gcnii:
      if (!is_first && !is_last) return {w};
      return {w, b};
    default:
      return {w, b};
  }
}
/// The parameters of a layer: of the norm before it, then its own.
inline std::vector<parameter_shape> parameters_of(const shape& s, int layer) {
  auto out = norm_of(s, layer);
  for (const parameter_shape& p : weights_of(s, layer)) out.push_back(p);
  return out;
}

/// The operator that a model gathers by, of a graph of ones.
template <class T>
aggregation<T> aggregation_of(const shape& s, const rig::matrix<T>& graph,
                              const rig::descriptor& desc) {
  const auto with_loops = [&] { return rig::add_self_loops(graph); };
  switch (s.model) {
    case kind::gcn:
      return {rig::gcn_normalise(graph), false, desc};
    case kind::gin:  // (1 + ε)·x_i + Σ x_k with ε = 0
      if (s.aggregate == gathering::gcn) return {rig::gcn_normalise(graph), false, desc};
      return {with_loops(), false, desc};
    case kind::gat:
      return {with_loops(), false, desc};
    case kind::appnp:
    case kind::gcnii:  // (1 − α)·Â, beside α times the start
      return {
          rig::apply(rig::gcn_normalise(graph), rig::binary::times, static_cast<T>(1 - s.alpha)),
          false, desc};
    case kind::sage:
      if (s.aggregate == gathering::pool) return {graph, false, desc};
      return {rig::mean_normalise(s.aggregate == gathering::gcn ? with_loops() : graph), true,
              desc};
    case kind::mlp:
      break;
  }
  return {};
}

/// The operator of an epoch, whose edges a seed draws: without those that the shape's dropout
/// takes, and with at most `width` in each row if that is not 0. Sums are rescaled, so that GCN's
/// degrees are those of the whole graph; self loops stay.
template <class T>
aggregation<T> drawn_aggregation_of(const shape& s, const rig::matrix<T>& graph,
                                    const rig::descriptor& desc, int width, std::uint64_t seed) {
  const bool has_sums = s.model != kind::sage && s.model != kind::gat;
  rig::matrix<T> part = graph;
  if (s.edge_dropout > 0) {
    part = rig::select(rig::apply(graph, dropped{}, dropout_key(s.edge_dropout, ~seed)),
                       rig::selection::greater, T(0));
    if (!has_sums) part = part.with_value(T(1));
  }
  if (width > 0) part = rig::sample(part, {.width = width, .seed = seed, .rescale = has_sums});
  return aggregation_of(s, part, desc);
}

template <class T>
class network {
 public:
  /// Weights are drawn as `start` says, the same on any machine; biases are 0.
  network(const shape& s, std::uint64_t seed, rig::place where) : shape_(s) {
    check(s);
    lay_out(where);
    rig::dense<T> drawn(1, values_.columns());
    std::mt19937_64 random(seed);
    T* next = drawn.data();
    for (const auto& [rows, columns, from] : parameters_) {
      const bool is_drawn = from == start::drawn || from == start::narrow;
      const double limit = std::sqrt(from == start::narrow ? 1.0 / rows : 6.0 / (rows + columns));
      for (long p = 0; p < static_cast<long>(rows) * columns; ++p)
        *next++ = is_drawn
                      ? static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * limit)
                      : T(from == start::one);
    }
    values_ = drawn.to(where);
    refer();
  }

  // Its parameters are views of its own memory, so it moves but is not copied.
  network(network&&) noexcept = default;
  network& operator=(network&&) noexcept = default;

  const gnn::shape& shape() const { return shape_; }
  /// Every parameter, layer by layer, in one row; and the gradients of the loss by them.
  rig::dense<T>& values() { return values_; }
  const rig::dense<T>& values() const { return values_; }
  rig::dense<T>& gradients() { return gradients_; }
  /// How many of the parameters the first layer has.
  rig::index first_layer() const { return first_layer_; }

  /// Sets parameters. Throws error(shape) unless there are as many.
  void set_values(const rig::dense<T>& x) {
    if (x.rows() != 1 || x.columns() != values_.columns())
      rig::fail(rig::errc::shape,
                {"model: ", x.columns(), " parameters, and the model has ", values_.columns()});
    rig::apply(values_, rig::none, x.to(values_.where()), rig::unary::identity);
  }
  void clear_gradients() { rig::assign(gradients_, rig::none, T(0), rig::all, rig::all); }

  /// The results of the network; with a tape that records, dropout is on and `seed` draws it.
  var<T> forward(tape& t, const aggregation<T>& a, var<T> x, std::uint64_t seed = 0) const {
    return forward(t, std::span(&a, 1), std::move(x), seed);
  }
  /// The same with an operator for each layer, over fewer nodes from layer to layer, or one for
  /// all.
  var<T> forward(tape& t, std::span<const aggregation<T>> by_layer, var<T> x,
                 std::uint64_t seed = 0) const {
    const var<T>* w = weights_.data();
    var<T> given, first;  // to the layer before; to the layers of gcnii
    if (t.records() && x->narrow)
      rig::fail(rig::errc::cannot, {"model: training reads floats, and the features are narrower; "
                                    "make floats of them"});
    for (int l = 0; l < shape_.all_layers(); ++l) {
      const auto& a = by_layer[std::min(static_cast<std::size_t>(l), by_layer.size() - 1)];
      if (l > 0) x = between(t, x, l > 1 ? given : nullptr, w);
      if (l == 1 && shape_.model == kind::gcnii) {
        first = scaled(t, x, T(shape_.alpha));
        x = scaled(t, x, 1);  // dropout works in place, and the gradient of ReLU reads its results
      }
      if (t.records() && shape_.dropout > 0)
        x = dropout(t, x, shape_.dropout, seed * 64 + static_cast<std::uint64_t>(l));
      if (shape_.residual) given = x;
      x = layer(t, a, x, first, w + norm_of(shape_, l).size(), l);
      w += parameters_of(shape_, l).size();
    }
    return shape_.model == kind::appnp ? propagate(t, by_layer.back(), x) : x;
  }

 private:
  /// A·X·W, in the order that gathers fewer columns; MaxK lies between the products.
  static var<T> convolve(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>& w,
                         int k) {
    if (k > 0) return aggregate_maxk(t, a, linear(t, x, w), k);
    const rig::index from = w->rows(), to = w->columns();
    if constexpr (rig::is_same<T, float>)  // the type of mxm_update
      if (!x->narrow && !x->is_sparse && a.joins_update(from, to)) {
        if (from <= to) return aggregate_then_update(t, a, x, w);
        if (x->needs_gradient) return update_then_aggregate(t, a, x, w);
      }
    if (x->is_sparse || to <= from) return aggregate(t, a, linear(t, x, w));
    return linear(t, aggregate(t, a, x), w);
  }

  /// The results of a layer as the next one takes them: a norm with the parameters w, what the
  /// layer itself was given, ReLU.
  var<T> between(tape& t, var<T> x, const var<T>& given, const var<T>* w) const {
    if (shape_.norm != norm::none) {
      const bool is_batch = shape_.norm == norm::batch;
      const auto batches = is_batch ? running<T>{w[2], w[3]} : running<T>{};
      x = scale_columns(t, standardise(t, x, shape_.norm, batches), w[0]);
      add_bias(t, x, w[1]);
    }
    if (shape_.residual && given) add(t, x, of_rows(t, given, x->rows()));
    if (shape_.k == 0) relu(t, x);
    return x;
  }

  /// Z = (1 − α)·Â·Z + α·X, some times from Z = X.
  /// Source: Gasteiger et al., Predict then Propagate, ICLR 2019.
  var<T> propagate(tape& t, const aggregation<T>& a, var<T> x) const {
    const auto first = scaled(t, x, T(shape_.alpha));
    for (int hop = 0; hop < shape_.hops; ++hop) {
      x = aggregate(t, a, x);
      add(t, x, first);
    }
    return x;
  }

  /// H·((1 − β)·I + β·W), where H = (1 − α)·Â·X and α times the first layer's results.
  /// Source: Chen et al., Simple and Deep Graph Convolutional Networks, ICML 2020.
  var<T> deep(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>& first,
              const var<T>& w, int layer) const {
    constexpr double lambda = 0.5;
    const T beta = static_cast<T>(std::log(1 + lambda / layer));
    const auto h = aggregate(t, a, x);
    add(t, h, first);
    const auto y = scaled(t, h, 1 - beta);
    add_linear(t, y, scaled(t, h, beta), w);
    return y;
  }

  /// Layer l with weights w[0], w[1], …, as `weights_of` lists them.
  var<T> layer(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>& first,
               const var<T>* w, int l) const {
    const bool is_last = l + 1 == shape_.all_layers();
    const int k = is_last ? 0 : shape_.k;
    switch (shape_.model) {
      case kind::sage:
        return sage(t, a, x, w, k);
      case kind::gin: {
        const auto gathered = k > 0 ? linear(t, x, w[0]) : convolve(t, a, x, w[0], 0);
        add_bias(t, gathered, w[1]);
        if (k == 0) relu(t, gathered);
        const auto inner = k > 0 ? aggregate_maxk(t, a, gathered, k) : gathered;
        const auto y = linear(t, inner, w[2]);
        add_bias(t, y, w[3]);
        return y;
      }
      case kind::gat: {
        const auto y =
            attend_by_heads(t, a, linear(t, x, w[0]), w[1], w[2], is_last ? 1 : shape_.heads);
        add_bias(t, y, w[3]);
        return y;
      }
      case kind::gcnii:
        if (l > 0 && !is_last) return deep(t, a, x, first, w[0], l);
        [[fallthrough]];
      default: {
        const auto y = shape_.model == kind::gcn ? convolve(t, a, x, w[0], k) : linear(t, x, w[0]);
        add_bias(t, y, w[1]);
        return y;
      }
    }
  }

  /// X, or its rows of the nodes that a block's rows are.
  static var<T> of_rows(tape& t, const var<T>& x, rig::index rows) {
    return rows < x->rows() ? first_rows(t, x, rows) : x;
  }

  /// What the neighbours give, plus X·W_self unless the node is among its neighbours.
  var<T> sage(tape& t, const aggregation<T>& a, const var<T>& given, const var<T>* w, int k) const {
    // Two dense products read X, unless the graph gathers it first.
    const bool multiplies_twice =
        shape_.aggregate == gathering::pool || k > 0 || w[0]->columns() <= w[0]->rows();
    const var<T> x = multiplies_twice ? widened(t, given) : given;
    var<T> y;
    if (shape_.aggregate == gathering::pool) {
      const auto inner = linear(t, x, *w++);
      add_bias(t, inner, *w++);
      const auto pooled = max_pool(t, a, inner);
      inner->value = {};  // its gradient comes from the winners
      relu(t, pooled);    // the greatest of ReLU's results is ReLU of the greatest
      y = linear(t, pooled, *w++);
    } else {
      y = convolve(t, a, x, *w++, k);
    }
    if (shape_.aggregate != gathering::gcn) add_linear(t, y, of_rows(t, x, a.a.rows()), *w++);
    add_bias(t, y, *w);
    return y;
  }

  void lay_out(rig::place where) {
    rig::int64 count = 0;
    for (int l = 0; l < shape_.all_layers(); ++l) {
      for (const auto& p : parameters_of(shape_, l)) {
        parameters_.push_back(p);
        count += static_cast<rig::int64>(p.rows) * p.columns;
      }
      if (count > rig::highest<rig::index>())
        rig::fail(rig::errc::range, {"model: ", count, " parameters or more; at most 2147483647"});
      if (l == 0) first_layer_ = static_cast<rig::index>(count);
    }
    values_ = rig::dense<T>::uninitialised(1, static_cast<rig::index>(count), where);
    gradients_ = constant<T>(1, static_cast<rig::index>(count), 0, where);
  }
  /// Makes each parameter a view of the row that holds all.
  void refer() {
    weights_.clear();
    rig::int64 at = 0;
    for (const auto& [rows, columns, from] : parameters_) {
      const auto view = [&](rig::dense<T>& of) {
        return rig::dense<T>::view(of.data() + at, rows, columns, 0, of.where());
      };
      weights_.push_back(variable_of<T>(view(values_)));
      weights_.back()->gradient = view(gradients_);
      at += static_cast<rig::int64>(rows) * columns;
    }
  }

  gnn::shape shape_;
  std::vector<parameter_shape> parameters_;
  rig::index first_layer_ = 0;
  rig::dense<T> values_, gradients_;
  std::vector<var<T>> weights_;
};

/// Adam with weight decay on the first layer alone, as Kipf & Welling have it.
/// Source: Kingma & Ba, ICLR 2015, in the order of its section 2.
template <class T>
class adam {
 public:
  adam(double rate, double decay) : rate_(rate), decay_(decay) {}

  void step(network<T>& of) {
    using enum rig::binary;
    using rig::accumulator;
    auto &x = of.values(), &g = of.gradients();
    if (m_.columns() == 0) {
      m_ = constant<T>(1, x.columns(), 0, x.where());
      v_ = constant<T>(1, x.columns(), 0, x.where());
    }
    if (decay_ > 0) {
      const auto first = [&](rig::dense<T>& all) {
        return rig::dense<T>::view(all.data(), 1, of.first_layer(), 0, all.where());
      };
      auto part = first(g);
      rig::apply(part, accumulator::plus, first(x), times, static_cast<T>(decay_));
    }
    rig::apply(m_, rig::none, m_, times, static_cast<T>(beta_1));  // m = β₁·m + (1 − β₁)·g
    rig::apply(m_, accumulator::plus, g, times, static_cast<T>(1 - beta_1));
    rig::apply(v_, rig::none, v_, times, static_cast<T>(beta_2));  // v = β₂·v + (1 − β₂)·g²
    rig::apply(v_, accumulator::plus, rig::apply(g, rig::unary::square), times,
               static_cast<T>(1 - beta_2));
    ++steps_;
    const double rate =
        rate_ * std::sqrt(1 - std::pow(beta_2, steps_)) / (1 - std::pow(beta_1, steps_));
    auto length = rig::apply(v_, rig::unary::square_root);
    rig::apply(length, rig::none, length, plus, static_cast<T>(1e-8));
    rig::apply(x, accumulator::minus, rig::ewise_mult(m_, length, divide), times,
               static_cast<T>(rate));
  }

 private:
  static constexpr double beta_1 = 0.9, beta_2 = 0.999;
  double rate_, decay_;
  int steps_ = 0;
  rig::dense<T> m_, v_;
};

}  // namespace gnn
