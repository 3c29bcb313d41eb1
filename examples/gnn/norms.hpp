#pragma once

#include <string_view>

#include "layers.hpp"

// Norms between layers: batch norm (Ioffe & Szegedy, ICML 2015) has means over the nodes of each
// column, layer norm (Ba et al., 2016) over the columns of each node.

namespace gnn {

enum class norm { none, batch, layer };
inline constexpr std::array<std::string_view, 3> norm_names = {"none", "batch", "layer"};

/// The means that a norm takes: a row, or a column.
template <class T>
rig::dense<T> means(const rig::dense<T>& x, norm by) {
  const bool is_batch = by == norm::batch;
  auto out = is_batch ? room<T>(1, x.columns(), x.where()) : rig::reduce_rows(x, rig::binary::plus);
  if (is_batch) sum_columns(out, rig::none, x);
  rig::apply(out, rig::none, out, rig::binary::divide,
             static_cast<T>(std::max(1, is_batch ? x.rows() : x.columns())));
  return out;
}

/// A row below itself, or a column beside itself, in the shape of X.
template <class T>
rig::dense<T> spread(const rig::dense<T>& s, const rig::dense<T>& x) {
  auto out = room<T>(x.rows(), x.columns(), x.where());
  if (s.rows() == x.rows() && s.columns() == 1)
    example::gemm(out, rig::none, s, constant<T>(1, x.columns(), 1, x.where()));
  else
    example::gemm(out, rig::none, constant<T>(x.rows(), 1, 1, x.where()), s);
  return out;
}

/// Means and variances of batches, which an inference takes in place of its own.
template <class T>
struct running {
  var<T> mean, variance;

  void follow(const rig::dense<T>& mean_now, const rig::dense<T>& variance_now) const {
    constexpr T momentum = T(0.1);
    const auto step = [&](rig::dense<T>& old, const rig::dense<T>& now) {
      rig::apply(old, rig::none, old, rig::binary::times, 1 - momentum);
      rig::apply(old, rig::accumulator::plus, now, rig::binary::times, momentum);
    };
    step(mean->value, mean_now);
    step(variance->value, variance_now);
  }
};

/// Y = (X − mean) / √(variance + ε), element by element. With m(·) for the means of a norm,
/// dX = (dY − m(dY) − Y∘m(dY∘Y)) / √(variance + ε).
template <class T>
var<T> standardise(tape& t, const var<T>& x, norm by, const running<T>& batches = {}) {
  using enum rig::binary;
  constexpr T epsilon = T(1e-5);
  const bool is_batch = by == norm::batch, infers = is_batch && !t.records();
  const auto factors = variable_of<T>(rig::dense<T>());
  const auto y = variable_of<T>(t.run(stage::update, [&] {
    const auto mean = infers ? batches.mean->value : means(x->value, by);
    auto centred = rig::ewise_add(x->value, spread(mean, x->value), minus);
    const auto variance =
        infers ? batches.variance->value : means(rig::apply(centred, rig::unary::square), by);
    if (is_batch && !infers) batches.follow(mean, variance);
    const auto deviation = rig::apply(rig::apply(variance, plus, epsilon), rig::unary::square_root);
    factors->value = spread(rig::apply(deviation, rig::unary::reciprocal), x->value);
    rig::ewise_mult(centred, rig::none, centred, factors->value, times);
    return centred;
  }));
  t.then(stage::update, [=] {
    const auto& dy = y->gradient;
    auto dx = rig::ewise_mult(y->value, spread(means(rig::ewise_mult(dy, y->value, times), by), dy),
                              times);
    rig::ewise_add(dx, rig::none, dx, spread(means(dy, by), dy), plus);
    rig::ewise_add(dx, rig::none, dy, dx, minus);
    rig::ewise_mult(dx, rig::none, dx, factors->value, times);
    x->add(std::move(dx));
  });
  return y;
}

/// Y = X∘(1·f): each column times its factor. df = 1ᵀ·(dY∘X).
template <class T>
var<T> scale_columns(tape& t, const var<T>& x, const var<T>& f) {
  using rig::binary;
  const auto y = variable_of<T>(t.run(stage::update, [&] {
    return rig::ewise_mult(x->value, spread(f->value, x->value), binary::times);
  }));
  t.then(stage::update, [=] {
    const auto& dy = y->gradient;
    const auto into = f->open(1, f->columns(), f->where());
    sum_columns(f->gradient, into, rig::ewise_mult(dy, x->value, binary::times));
    x->add(rig::ewise_mult(dy, spread(f->value, dy), binary::times));
  });
  return y;
}

}  // namespace gnn
