#pragma once

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers.hpp"

// The networks: which parameters each has, and which layers it is.

namespace gnn {

enum class kind { gcn, sage, gin, gat, mlp };
/// How SAGE gathers; gcn also divides the sums of GIN.
enum class gathering { mean, pool, gcn };
inline constexpr std::array<std::string_view, 5> kind_names = {"gcn", "sage", "gin", "gat", "mlp"};
inline constexpr std::array<std::string_view, 3> gathering_names = {"mean", "pool", "gcn"};

struct shape {
  kind model = kind::gcn;
  gathering aggregate = gathering::mean;
  int inputs = 0, hidden = 64, outputs = 0, layers = 2;
  int k = 0;  ///< entries that MaxK keeps; 0: ReLU
  double dropout = 0.5;
  friend bool operator==(const shape&, const shape&) = default;
};

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
  const bool has_linear_sums = s.model == kind::gcn || s.model == kind::gin ||
                               (s.model == kind::sage && s.aggregate != gathering::pool);
  if (s.k > 0 && !has_linear_sums)
    rig::fail(rig::errc::cannot,
              {"model: MaxK precedes a sum or mean; use gcn, gin, or sage with mean or gcn"});
}

/// A parameter of a layer.
struct parameter_shape {
  rig::index rows, columns;
  bool is_bias;
};

inline std::vector<parameter_shape> parameters_of(const shape& s, int layer) {
  const rig::index in = layer == 0 ? s.inputs : s.hidden, hidden = s.hidden,
                   out = layer + 1 == s.layers ? s.outputs : s.hidden;
  const parameter_shape w{in, out, false}, b{1, out, true};
  switch (s.model) {
    case kind::sage:
      if (s.aggregate == gathering::mean) return {w, w, b};
      if (s.aggregate == gathering::gcn) return {w, b};
      return {{in, hidden, false}, {1, hidden, true}, {hidden, out, false}, w, b};
    case kind::gin:
      return {{in, hidden, false}, {1, hidden, true}, {hidden, out, false}, b};
    case kind::gat:
      return {w, {out, 1, false}, {out, 1, false}, b};
    default:
      return {w, b};
  }
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
    case kind::sage:
      if (s.aggregate == gathering::pool) return {graph, false, desc};
      return {rig::mean_normalise(s.aggregate == gathering::gcn ? with_loops() : graph), true,
              desc};
    case kind::mlp:
      break;
  }
  return {};
}

/// The operator of `width` entries of each row, which a seed draws. Sums are rescaled, so that
/// GCN's degrees are those of the whole graph; self loops stay.
template <class T>
aggregation<T> sampled_aggregation_of(const shape& s, const rig::matrix<T>& graph,
                                      const rig::descriptor& desc, int width, std::uint64_t seed) {
  const bool has_sums = s.model == kind::gcn || s.model == kind::gin;
  return aggregation_of(s, rig::sample(graph, {.width = width, .seed = seed, .rescale = has_sums}),
                        desc);
}

template <class T>
class network {
 public:
  /// Weights drawn as Glorot & Bengio do, AISTATS 2010, the same on any machine; biases are 0.
  network(const shape& s, std::uint64_t seed, rig::place where) : shape_(s) {
    check(s);
    lay_out(where);
    rig::dense<T> drawn(1, values_.columns());
    std::mt19937_64 random(seed);
    T* next = drawn.data();
    for (const auto& [rows, columns, is_bias] : parameters_) {
      const double limit = std::sqrt(6.0 / (rows + columns));
      for (long p = 0; p < static_cast<long>(rows) * columns; ++p)
        *next++ = is_bias
                      ? T(0)
                      : static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * limit);
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
    auto next = weights_.begin();
    for (int l = 0; l < shape_.layers; ++l) {
      const auto& a = by_layer[std::min(static_cast<std::size_t>(l), by_layer.size() - 1)];
      if (t.records() && shape_.dropout > 0)
        x = dropout(t, x, shape_.dropout, seed * 64 + static_cast<std::uint64_t>(l));
      const bool is_last = l + 1 == shape_.layers;
      x = layer(t, a, x, &*next, is_last ? 0 : shape_.k);
      next += static_cast<long>(parameters_of(shape_, l).size());
      if (!is_last && shape_.k == 0) relu(t, x);
    }
    return x;
  }

 private:
  /// A·X·W, in the order that gathers fewer columns, or narrow features as they are; MaxK lies
  /// between the products.
  static var<T> convolve(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>& w,
                         int k) {
    if (k > 0) return aggregate_maxk(t, a, linear(t, x, w), k);
    const bool is_narrow = x->narrow.index() != 0;
    const rig::index from = w->rows(), to = w->columns();
    if constexpr (rig::is_same<T, float>)  // the type of mxm_update
      if (!is_narrow && !x->is_sparse && a.joins_update(from, to)) {
        if (from <= to) return aggregate_then_update(t, a, x, w);
        if (x->needs_gradient) return update_then_aggregate(t, a, x, w);
      }
    if (!is_narrow && (x->is_sparse || to <= from)) return aggregate(t, a, linear(t, x, w));
    return linear(t, aggregate(t, a, x), w);
  }

  /// A layer with weights w[0], w[1], …, as `parameters_of` lists them.
  var<T> layer(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>* w, int k) const {
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
        const auto h = linear(t, x, w[0]);
        const auto y = attend(t, a, h, linear(t, h, w[1]), linear(t, h, w[2]));
        add_bias(t, y, w[3]);
        return y;
      }
      default: {
        const bool is_blind = shape_.model == kind::mlp;
        const auto y = is_blind ? linear(t, x, w[0]) : convolve(t, a, x, w[0], k);
        add_bias(t, y, w[1]);
        return y;
      }
    }
  }

  /// What the neighbours give, plus X·W_self unless the node is among its neighbours.
  var<T> sage(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>* w, int k) const {
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
    if (shape_.aggregate != gathering::gcn) {
      const bool is_block = a.a.rows() < x->rows();
      add_linear(t, y, is_block ? first_rows(t, x, a.a.rows()) : x, *w++);
    }
    add_bias(t, y, *w);
    return y;
  }

  void lay_out(rig::place where) {
    rig::int64 count = 0;
    for (int l = 0; l < shape_.layers; ++l) {
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
    for (const auto& [rows, columns, is_bias] : parameters_) {
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
