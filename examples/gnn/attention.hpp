#pragma once

#include "layers.hpp"

// Layers that compute numbers for the edges: attention, and the scores of pairs of nodes.

namespace gnn {

/// The values of a matrix's entries as a column. Matrices with the same entries are joined so,
/// because a join of matrices looks for entries that only one of them has.
template <class T>
rig::dense<T> entries_of(const rig::matrix<T>& a) {
  return rig::dense<T>::view(a.values(), static_cast<rig::index>(a.nnz()), 1, 1, a.where());
}

/// A matrix with the entries of another one, whose values work(values) writes.
template <class T, class Work>
rig::matrix<T> with_entries(const rig::matrix<T>& a, Work work) {
  const auto count = static_cast<rig::index>(a.nnz());
  const rig::buffer room =
      rig::buffer::allocate(static_cast<std::size_t>(count) * sizeof(T), a.where());
  auto values = rig::dense<T>::view(room.data<T>(), count, 1, 1, a.where());
  work(values);
  return {a.shared_structure(), room};
}

/// Y = softmax(LeakyReLU(s_i + t_k))·H over the neighbours k of i, for columns s and t.
/// Y is written where `y` has room, if it is given.
/// Source: Veličković et al., Graph Attention Networks, ICLR 2018.
template <class T>
var<T> attend(tape& t, const aggregation<T>& a, const var<T>& h, const var<T>& s, const var<T>& u,
              var<T> y = {}) {
  constexpr T slope = T(0.2);
  using rig::binary;
  const rig::descriptor by_rows{.transpose_b = true}, turned{.transpose_a = true};
  const auto sums = t.run(stage::aggregate, [&] {  // s_i + t_k is a product over (max, +)
    return rig::mxm(s->value, u->value, rig::max_plus<T>{}, rig::structure(a.a), by_rows);
  });
  const auto attention = t.run(stage::aggregate, [&] {
    return rig::edge_softmax(with_entries(a.a, [&](auto& out) {
      rig::apply(out, rig::none, entries_of(sums), leaky_relu{}, slope);
    }));
  });
  if (!y) y = variable_of<T>(room<T>(a.a.rows(), h->columns(), h->where()));
  t.run(stage::aggregate,
        [&] { rig::mxm(y->value, rig::none, attention, h->value, rig::plus_times<T>{}, a.desc); });
  t.then(stage::aggregate, [=] {
    const auto& dy = y->gradient;
    const auto ones = constant<T>(h->rows(), 1, 1, h->where());
    // dα_ik = dY_i·H_k, and the softmax passes on α_ik·(dα_ik − Σ_j α_ij·dα_ij).
    const auto among = rig::structure(a.a);
    const auto da = rig::mxm(dy, h->value, rig::plus_times<T>{}, among, by_rows);
    const auto weighted = with_entries(a.a, [&](auto& out) {
      rig::ewise_mult(out, rig::none, entries_of(da), entries_of(attention), binary::times);
    });
    const auto sum = rig::mxm(weighted, ones, rig::plus_first<T>{});
    const auto of_row = rig::mxm(sum, ones, rig::plus_times<T>{}, among, by_rows);
    const auto d = with_entries(a.a, [&](auto& out) {
      rig::ewise_mult(out, rig::none, entries_of(of_row), entries_of(attention), binary::times);
      rig::ewise_add(out, rig::none, entries_of(weighted), out, binary::minus);
      const auto slopes = rig::apply(entries_of(sums), leaky_slope{}, slope);
      rig::ewise_mult(out, rig::none, out, slopes, binary::times);
    });
    h->add(rig::mxm(attention, dy, rig::plus_times<T>{}, a.transposed()));
    s->add(rig::mxm(d, ones, rig::plus_first<T>{}));
    u->add(rig::mxm(d, ones, rig::plus_first<T>{}, turned));
  });
  return y;
}

/// Columns of X from `first` on, as a view.
template <class T>
rig::dense<T> columns_of(rig::dense<T>& x, rig::index first, rig::index count) {
  return rig::dense<T>::view(x.data() + first, x.rows(), count, x.stride(), x.where());
}
/// Elements of a column from `first` on, as a view.
template <class T>
rig::dense<T> elements_of(rig::dense<T>& x, rig::index first, rig::index count) {
  return rig::dense<T>::view(x.data() + first, count, 1, 1, x.where());
}

/// The results of several heads side by side. Each has its part of the columns of H, and of the
/// columns v and w: its scores are s = H·v and t = H·w.
template <class T>
var<T> attend_by_heads(tape& t, const aggregation<T>& a, const var<T>& h, const var<T>& v,
                       const var<T>& w, int heads) {
  struct head {
    rig::index first;
    var<T> h, v, w, y;
  };
  const rig::index width = h->columns() / heads;
  const auto y = variable_of<T>(room<T>(a.a.rows(), h->columns(), h->where()));
  std::vector<head> all;
  for (rig::index first = 0; first < h->columns(); first += width) {
    all.push_back({first, part_of(h, columns_of(h->value, first, width)),
                   part_of(v, elements_of(v->value, first, width)),
                   part_of(w, elements_of(w->value, first, width)),
                   part_of(y, columns_of(y->value, first, width))});
    const head& one = all.back();
    attend(t, a, one.h, linear(t, one.h, one.v), linear(t, one.h, one.w), one.y);
  }
  t.then(stage::update, [=] {  // the first step backward: the heads' gradients are parts too
    for (const auto& whole : {h, v, w}) whole->open_at_zero();
    for (const head& one : all) {
      one.h->gradient = columns_of(h->gradient, one.first, width);
      one.v->gradient = elements_of(v->gradient, one.first, width);
      one.w->gradient = elements_of(w->gradient, one.first, width);
      one.y->gradient = columns_of(y->gradient, one.first, width);
    }
  });
  return y;
}

/// The scores X_i·X_k of pairs (i, k), which are the entries of a matrix; in their order, as a
/// column. dX = (D + Dᵀ)·X, where D has dY at the pairs.
template <class T>
var<T> score(tape& t, const rig::matrix<T>& pairs, const var<T>& x) {
  const rig::plus_times<T> sum;
  const auto y = variable_of<T>(t.run(stage::aggregate, [&] {
    const auto products =
        rig::mxm(x->value, x->value, sum, rig::structure(pairs), {.transpose_b = true});
    return rig::apply(entries_of(products), rig::unary::identity);
  }));
  t.then(stage::aggregate, [=] {
    const auto d = with_entries(
        pairs, [&](auto& out) { rig::apply(out, rig::none, y->gradient, rig::unary::identity); });
    x->add(rig::mxm(d, x->value, sum));
    x->add(rig::mxm(d, x->value, sum, {.transpose_a = true}));
  });
  return y;
}

}  // namespace gnn
