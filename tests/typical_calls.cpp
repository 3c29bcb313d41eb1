// Typical calls, for warnings of the compiler in the templates of the public headers. It is
// compiled and not run.

#include <iostream>
#include <span>
#include <vector>

#include "rig/check_semiring.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

const std::vector<int> i{0, 1}, j{1, 0};

template <class T>
void products(const rig::matrix<T>& a, const rig::dense<T>& x, const rig::vector<T>& v) {
  auto c = rig::mxm(a, x, rig::plus_times<T>{}, rig::values(x), {.fill = 0, .threads = 1});
  rig::mxm(c, rig::accumulator::plus, a, x, rig::max_second<T>{},
           rig::complement(rig::structure(x)));
  rig::mxm(a, a, rig::plus_times<T>{}, rig::structure(a));
  rig::mxm(a, a, rig::min_plus<T>{}, rig::complement(rig::values(a)));
  rig::mxm(a, x, rig::arg_max_second<T>{});
  rig::mxm(a, x, rig::mean_times<T>{});
  rig::mxm(x, x, rig::plus_times<T>{}, rig::structure(a), {.transpose_b = true});
  rig::vxm(v, a, rig::plus_first<T>{});
  rig::mxv(a, v, rig::plus_pair<T>{});
  rig::mxv(a, rig::dense<T>(2, 1), rig::plus_times<T>{});
  rig::explain(a, x, rig::plus_times<T>{});
  rig::explain(a, a, rig::plus_times<T>{});
}

template <class T>
void operations(const rig::matrix<T>& a, const rig::dense<T>& x, const rig::vector<T>& v) {
  auto c = x;
  rig::ewise_add(a, a, rig::binary::plus);
  rig::ewise_add(c, rig::none, x, x, rig::binary::plus);
  rig::ewise_mult(x, x, rig::plus_times<T>{});
  rig::apply(a, rig::unary::relu);
  rig::apply(a, rig::binary::times, T(2));
  rig::select(a, rig::selection::greater, T(0));
  rig::select(a, rig::selection::lower, -1);
  rig::reduce_rows(a, rig::binary::plus);
  rig::reduce_columns(a, rig::plus_times<T>{});
  rig::reduce(x, rig::plus_times<T>{});
  rig::transpose(a);
  rig::transpose(x);
  rig::extract(a, rig::range{0, 2}, rig::all);
  rig::extract_row(a, 0L);
  rig::assign(c, rig::none, T(1), rig::all, rig::range{0, 1});
  rig::kronecker(a, a, rig::binary::times);
  rig::diag(v, 1L);
  const auto t = rig::to_tuples(a);
  rig::build(2L, 2L, t.rows, t.columns, t.values, rig::binary::plus);
  rig::at(a, 0L, 1L);
  rig::permute(a, j);
}

template <class T>
void conversions(const rig::matrix<T>& a, const rig::dense<T>& x, const rig::vector<T>& v) {
  static_cast<void>(rig::matrix<T>::from(rig::to_dense(a), T(0)) == a);
  static_cast<void>(rig::vector<T>::from(v.to_dense()) == v);
  static_cast<void>(x == x);
  std::cout << a << x << v;
  rig::hstack({a, a});
  rig::vstack(std::vector{a, a});
  for (const auto& [row, column, value] : a.entries()) std::cout << row + column << value;
}

template <class T>
void algorithms(const rig::matrix<T>& a) {
  rig::bfs(a, 0);
  rig::pagerank(a);
  rig::sssp(a, 0);
  rig::triangles(a);
  rig::msf(a);
  rig::betweenness(a);
}

template <class T>
void every_type() {
  const auto a = rig::matrix<T>::from_positions(2L, 2UL, i, j, T(1));
  const rig::dense<T> x(2L, 2, T(1));
  const auto v = rig::vector<T>::from_indices(2L, i, T(1));
  products(a, x, v);
  operations(a, x, v);
  conversions(a, x, v);
  algorithms(a);
}

template <class T>
void floats() {
  const auto a = rig::matrix<T>::from_positions(2, 2, i, j, T(1));
  const rig::dense<T> x(2, 3, T(1));
  const auto k = rig::maxk(x, 1L);
  rig::mxm(a, k, rig::plus_times<T>{});
  rig::mxm(a, x, rig::plus_times<T>{}, rig::structure(k));
  rig::to_dense(rig::maxk_gradient(x, k));
  rig::mxm(a, rig::quantized::from(x), rig::plus_times<T>{});
  rig::gcn_normalise(rig::add_self_loops(a));
  rig::edge_softmax(a);
}

template <class T>
void small_floats() {
  const auto a = rig::matrix<float>::from_positions(2, 2, i, j);
  const rig::dense<T> x(2, 3, T(1.0f));
  rig::mxm<T>(a, x, rig::plus_times<float>{});
  rig::mxm<T>(a, rig::maxk(x, 2), rig::max_second<float>{});
  rig::apply<T>(x, rig::unary::sigmoid);
  std::cout << x << (x == x);
  rig::quantized::from(x).template dequantised<T>();
}

}  // namespace

int main() {
  every_type<float>();
  every_type<double>();
  every_type<rig::int32>();
  every_type<rig::int64>();
  floats<float>();
  floats<double>();
  small_floats<rig::half>();
  small_floats<rig::bfloat16>();
  const auto a = rig::matrix<bool>::from_positions(2, 2, i, j);
  rig::vxm(rig::vector<bool>::from_indices(2, i), a, rig::any_pair<bool>{},
           rig::complement(rig::values(rig::dense<bool>(2, 1))));
  rig::mxm(a, a, rig::lor_land<bool>{});
  rig::mxm_update(rig::generate::karate(), rig::dense<float>(34, 2), rig::dense<float>(2, 2),
                  rig::plus_times<float>{}, {.width = 4L, .k = 2L});
  return rig::check_semiring<rig::plus_times<float>>().has_value() ? 1 : 0;
}
