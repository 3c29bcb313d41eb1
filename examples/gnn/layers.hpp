#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "../gemm.hpp"
#include "algebra.hpp"
#include "rig/cbsr.hpp"
#include "rig/graph.hpp"
#include "rig/mxm_update.hpp"
#include "rig/reduce.hpp"
#include "rig/sample.hpp"
#include "rig/scatter.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "tape.hpp"

// Layers of graph neural networks as the mathematics: each function computes its result and records
// how the gradient is passed on. d in front of a name is the gradient of the loss by it.

namespace gnn {

/// Whether a product with the graph and the one with W that follows it are one call.
enum class joining { where_faster, always, never };

/// The operator of an aggregation.
template <class T>
struct aggregation {
  rig::matrix<T> a;
  bool is_mean = false;  ///< whether A is D⁻¹ times a graph: then inference needs no values
  rig::descriptor desc = {};
  joining joins = joining::where_faster;
  std::shared_ptr<rig::matrix<T>> turned = std::make_shared<rig::matrix<T>>();

  /// Aᵀ with its values in their order, made once: a descriptor would order them in each product.
  const rig::matrix<T>& by_columns() const {
    if (turned->rows() == 0) *turned = rig::transpose(a);
    return *turned;
  }

  rig::descriptor transposed() const {
    rig::descriptor turned = desc;
    turned.transpose_a = true;
    return turned;
  }
  rig::descriptor empty_as_zero() const {
    rig::descriptor filled = desc;
    filled.fill = 0;
    return filled;
  }

  /// Whether (A·X)·W is one call, for X of `from` columns and W of `to`. It is on large graphs:
  /// docs/lab/gnn.md has the measurements.
  bool joins_update(rig::index from, rig::index to) const {
    constexpr rig::index few_rows = 65536, many_columns = 128;
    if (joins == joining::never || !desc.kernel.empty()) return false;
    const bool is_faster =
        a.where() != rig::cpu() && a.rows() >= few_rows && std::max(from, to) <= many_columns;
    return joins == joining::always || is_faster;
  }
};

/// Narrow features as T's.
template <class T>
rig::dense<T> widened(const narrow_features& x) {
  return std::visit(
      []<class Narrow>(const Narrow& numbers) {
        if constexpr (std::is_same_v<Narrow, rig::quantized>)
          return numbers.template dequantised<T>();
        else
          return rig::apply<T>(numbers, rig::unary::identity);
      },
      x);
}
/// X, with narrow features as T's: for two products with it.
template <class T>
var<T> widened(tape& t, const var<T>& x) {
  if (!x->narrow) return x;
  const auto y = variable_of<T>(t.run(stage::update, [&] { return widened<T>(*x->narrow); }));
  y->needs_gradient = false;
  return y;
}

/// C = X·W, or C += X·W.
template <class T>
void multiply(rig::dense<T>& c, rig::accumulator accum, const variable<T>& x, const var<T>& w) {
  if (x.is_sparse)
    rig::mxm(c, accum, x.sparse, w->value, rig::plus_times<T>{});
  else if (x.narrow)
    example::gemm(c, accum, widened<T>(*x.narrow), w->value);
  else
    example::gemm(c, accum, x.value, w->value);
}

/// dW += Xᵀ·dY.
template <class T>
void weights_backward(const variable<T>& x, variable<T>& w, const rig::dense<T>& dy) {
  const auto into_w = w.open(w.rows(), w.columns(), dy.where());
  if (x.is_sparse)
    rig::mxm(w.gradient, into_w, x.sparse, dy, rig::plus_times<T>{}, {.transpose_a = true});
  else
    example::gemm(w.gradient, into_w, x.value, dy, {.x = true});
}

/// dW += Xᵀ·dY, and dX += dY·Wᵀ.
template <class T>
void multiply_backward(variable<T>& x, variable<T>& w, const rig::dense<T>& dy) {
  weights_backward(x, w, dy);
  if (!x.needs_gradient) return;
  const auto into_x = x.open(x.rows(), x.columns(), dy.where());
  example::gemm(x.gradient, into_x, dy, w.value, {.w = true});
}

template <class T>
rig::dense<T> room(rig::index rows, rig::index columns, rig::place where) {
  return rig::dense<T>::uninitialised(rows, columns, where);
}

/// Y = X·W.
template <class T>
var<T> linear(tape& t, const var<T>& x, const var<T>& w) {
  const auto y = variable_of<T>(room<T>(x->rows(), w->columns(), w->where()));
  t.run(stage::update, [&] { multiply(y->value, rig::none, *x, w); });
  t.then(stage::update, [=] { multiply_backward(*x, *w, y->gradient); });
  return y;
}

/// Y += X·W, in the place of Y.
template <class T>
void add_linear(tape& t, const var<T>& y, const var<T>& x, const var<T>& w) {
  t.run(stage::update, [&] { multiply(y->value, rig::accumulator::plus, *x, w); });
  t.then(stage::update, [=] { multiply_backward(*x, *w, y->gradient); });
}

/// The first rows of X, which stand for the nodes that a block's rows are.
template <class T>
var<T> first_rows(tape& t, const var<T>& x, rig::index count) {
  const rig::range first{0, count};
  if (x->is_sparse) return variable_of<T>(rig::extract(x->sparse, first, rig::all));
  const auto y =
      variable_of<T>(t.run(stage::update, [&] { return rig::extract(x->value, first, rig::all); }));
  y->needs_gradient = x->needs_gradient;
  if (x->needs_gradient)
    t.then(stage::update, [=] {
      x->open_at_zero();
      rig::assign(x->gradient, rig::accumulator::plus, y->gradient, first, rig::all);
    });
  return y;
}

/// The row 1ᵀ·X: the sums of the columns, which are written or added.
template <class T>
void sum_columns(rig::dense<T>& row, rig::accumulator accum, const rig::dense<T>& x) {
  auto column = rig::dense<T>::view(row.data(), x.columns(), 1, 1, x.where());
  rig::reduce_rows(column, accum, x, rig::binary::plus, {.transpose_a = true});
}

/// Y += 1·b in the place of Y: a row b for each node. db = 1ᵀ·dY.
template <class T>
void add_bias(tape& t, const var<T>& y, const var<T>& b) {
  t.run(stage::update, [&] {
    const auto ones = constant<T>(y->rows(), 1, 1, y->where());
    example::gemm(y->value, rig::accumulator::plus, ones, b->value);
  });
  t.then(stage::update, [=] {
    const auto into = b->open(1, b->columns(), b->where());
    sum_columns(b->gradient, into, y->gradient);
  });
}

/// Y = p·X.
template <class T>
var<T> scaled(tape& t, const var<T>& x, std::type_identity_t<T> p) {
  const auto y = variable_of<T>(
      t.run(stage::update, [&] { return rig::apply(x->value, rig::binary::times, p); }));
  t.then(stage::update, [=] { x->add(rig::apply(y->gradient, rig::binary::times, p)); });
  return y;
}

/// Y += X, in the place of Y.
template <class T>
void add(tape& t, const var<T>& y, const var<T>& x) {
  t.run(stage::update,
        [&] { rig::ewise_add(y->value, rig::none, y->value, x->value, rig::binary::plus); });
  t.then(stage::update, [=] { x->add(y->gradient); });
}

/// Y = max(Y, 0), in the place of Y. dY passes where Y is not 0.
template <class T>
void relu(tape& t, const var<T>& y) {
  t.run(stage::update, [&] { rig::apply(y->value, rig::none, y->value, rig::unary::relu); });
  t.then(stage::update, [=] {
    rig::apply(y->gradient, rig::none, y->gradient, rig::unary::identity, rig::values(y->value),
               {.replace = true, .fill = 0});
  });
}

/// A probability and a seed as the number that `dropped` takes.
inline rig::int64 dropout_key(double p, std::uint64_t seed) {
  const auto part = static_cast<std::uint64_t>(p * 65536 + 0.5);
  return static_cast<rig::int64>(seed * 0x9e3779b97f4a7c15u << 16 |
                                 std::min<std::uint64_t>(part, 65535));
}

/// Y(i,j) = X(i,j) / (1 − p), or 0 with probability p; dX = dY, dropped alike. Y takes the place of
/// X, except if X is features, which stay.
template <class T>
var<T> dropout(tape& t, const var<T>& x, double p, std::uint64_t seed) {
  const rig::int64 key = dropout_key(p, seed);
  const auto apart = [&](const auto& features) {
    const auto y =
        variable_of<T>(t.run(stage::update, [&] { return rig::apply(features, dropped{}, key); }));
    y->needs_gradient = false;
    return y;
  };
  if (x->is_sparse) return apart(x->sparse);
  if (!x->needs_gradient) return apart(x->value);
  t.run(stage::update, [&] { rig::apply(x->value, rig::none, x->value, dropped{}, key); });
  t.then(stage::update, [=] { rig::apply(x->gradient, rig::none, x->gradient, dropped{}, key); });
  return x;
}

/// work(s, desc) for the semiring and the descriptor that gather by A.
template <class T, class Work>
auto gather_by(const aggregation<T>& a, Work work) {
  // A mean over a sample divides by the entries read, so it is not rescaled; `vendor` has no mean.
  if (a.is_mean && a.desc.kernel != "vendor") {
    rig::descriptor desc = a.desc;
    desc.rescale = false;
    return work(rig::mean_second<T>{}, desc);
  }
  return work(rig::plus_times<T>{}, a.desc);
}

/// A·X, as a product with any type of X.
template <class T, class X>
rig::dense<T> gathered(const aggregation<T>& a, const X& x) {
  return gather_by(a, [&](auto s, const auto& desc) { return rig::mxm(a.a, x, s, desc); });
}

/// dX += Aᵀ·dY.
template <class T>
void aggregate_backward(const aggregation<T>& a, variable<T>& x, const rig::dense<T>& dy) {
  const auto into = x.open(a.a.columns(), dy.columns(), dy.where());
  rig::mxm(x.gradient, into, a.by_columns(), dy, rig::plus_times<T>{}, a.desc);
}

/// Y = A·X: sums and means of the neighbours. dX = Aᵀ·dY.
template <class T>
var<T> aggregate(tape& t, const aggregation<T>& a, const var<T>& x) {
  const auto y = variable_of<T>(t.run(stage::aggregate, [&] {
    if (x->narrow)
      return std::visit([&](const auto& narrow) { return gathered(a, narrow); }, *x->narrow);
    return gathered(a, x->value);
  }));
  y->needs_gradient = x->needs_gradient;
  if (x->needs_gradient) t.then(stage::aggregate, [=] { aggregate_backward(a, *x, y->gradient); });
  return y;
}

/// dX += (Aᵀ·dY)·Wᵀ in one call, if this is the first part of dX. Returns Aᵀ·dY.
template <class T>
rig::dense<T> joined_backward(const aggregation<T>& a, variable<T>& x, const rig::dense<T>& w,
                              const rig::dense<T>& dy) {
  auto dh = room<T>(a.a.columns(), dy.columns(), dy.where());
  const auto into = x.open(dh.rows(), w.rows(), dy.where());
  const rig::plus_times<T> sum;
  if (into == rig::none) {
    rig::mxm_update(x.gradient, dh, a.by_columns(), dy, rig::transpose(w), sum, a.desc);
  } else {
    rig::mxm(dh, rig::none, a.by_columns(), dy, sum, a.desc);
    example::gemm(x.gradient, into, dh, w, {.w = true});
  }
  return dh;
}

/// Y = (A·X)·W in one call, which leaves Z = A·X for dW = Zᵀ·dY.
template <class T>
var<T> aggregate_then_update(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>& w) {
  const auto y = variable_of<T>(room<T>(a.a.rows(), w->columns(), x->where()));
  const auto z = variable_of<T>(room<T>(t.records() ? a.a.rows() : 0, x->columns(), x->where()));
  z->needs_gradient = x->needs_gradient && w->rows() < w->columns();
  t.run(stage::aggregate, [&] {
    gather_by(a, [&](auto s, const auto& desc) {
      if (t.records())
        rig::mxm_update(y->value, z->value, a.a, x->value, w->value, s, desc);
      else
        rig::mxm_update(y->value, a.a, x->value, w->value, s, desc);
    });
  });
  // Aᵀ gathers the narrower of dY and dZ.
  if (z->needs_gradient)
    t.then(stage::aggregate, [=] { aggregate_backward(a, *x, z->gradient); });
  else if (x->needs_gradient)
    t.then(stage::aggregate, [=] { joined_backward(a, *x, w->value, y->gradient); });
  t.then(stage::update, [=] { multiply_backward(*z, *w, y->gradient); });
  return y;
}

/// Y = A·(X·W), where dX = (Aᵀ·dY)·Wᵀ is one call.
template <class T>
var<T> update_then_aggregate(tape& t, const aggregation<T>& a, const var<T>& x, const var<T>& w) {
  auto h = room<T>(x->rows(), w->columns(), x->where());
  t.run(stage::update, [&] { multiply(h, rig::none, *x, w); });
  const auto y = variable_of<T>(t.run(stage::aggregate, [&] { return gathered(a, h); }));
  const auto dh = std::make_shared<rig::dense<T>>();
  t.then(stage::update, [=] { weights_backward(*x, *w, *dh); });
  t.then(stage::aggregate, [=] { *dh = joined_backward(a, *x, w->value, y->gradient); });
  return y;
}

/// Y = A·maxk(X): MaxK before the aggregation. dX = Aᵀ·dY at the places that MaxK kept, else 0.
template <class T>
var<T> aggregate_maxk(tape& t, const aggregation<T>& a, const var<T>& x, int k) {
  const auto kept = t.run(stage::update, [&] { return rig::maxk(x->value, k); });
  const auto y = variable_of<T>(
      t.run(stage::aggregate, [&] { return rig::mxm(a.a, kept, rig::plus_times<T>{}, a.desc); }));
  t.then(stage::aggregate, [=] {
    x->add(rig::to_dense(
        rig::mxm(a.a, y->gradient, rig::plus_times<T>{}, rig::structure(kept), a.transposed())));
  });
  return y;
}

/// Y(i,j) = the greatest X(k,j) among the neighbours k of i, or 0 without neighbours.
/// dX(k,j) = Σ dY(i,j) over the i that took it from k.
template <class T>
var<T> max_pool(tape& t, const aggregation<T>& a, const var<T>& x) {
  rig::descriptor desc = a.empty_as_zero();
  desc.rescale = false;  // a maximum over a sample is one of its elements
  if (!t.records())
    return variable_of<T>(t.run(
        stage::aggregate, [&] { return rig::mxm(a.a, x->value, rig::max_second<T>{}, desc); }));
  auto best = t.run(stage::aggregate,
                    [&] { return rig::mxm(a.a, x->value, rig::arg_max_second<T>{}, desc); });
  const auto y = variable_of<T>(std::move(best.values));
  const auto winners = std::make_shared<rig::dense<rig::int32>>(std::move(best.indices));
  const rig::index rows = x->rows(), columns = x->columns();  // X may be dropped
  t.then(stage::aggregate, [=] {
    const auto into = x->open(rows, columns, y->gradient.where());
    rig::scatter_add(x->gradient, into, y->gradient, *winners);
  });
  return y;
}

}  // namespace gnn
