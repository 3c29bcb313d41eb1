#pragma once

// Shared by the MaxK tests on a GPU: numbers whose sums are exact, and comparisons of results.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "gpu_cases.hpp"
#include "maxk_cases.hpp"
#include "rig/generate.hpp"

/// True if both have the same bits in the same elements.
template <class T>
bool same(const rig::cbsr<T>& x, const rig::cbsr<T>& y) {
  const auto equal = [](const void* a, const void* b, std::size_t bytes) {
    return bytes == 0 || std::memcmp(a, b, bytes) == 0;
  };
  const std::size_t nnz = x.structure().nnz();
  return x.rows() == y.rows() && x.columns() == y.columns() && x.k() == y.k() &&
         equal(x.values(), y.values(), nnz * sizeof(T)) &&
         equal(x.indices(), y.indices(), nnz * static_cast<std::size_t>(x.index_bytes()));
}

/// True if all numbers are equal; −0 equals +0.
template <class T>
bool equal(const rig::dense<T>& x, const rig::dense<T>& y) {
  bool is_same = x.rows() == y.rows() && x.columns() == y.columns();
  for (int i = 0; is_same && i < x.rows(); ++i) is_same = std::ranges::equal(x.row(i), y.row(i));
  return is_same;
}
template <class T>
bool equal(const rig::cbsr<T>& x, const rig::cbsr<T>& y) {
  return equal(rig::to_dense(x), rig::to_dense(y));
}

/// Multiples of 1/4 in [-4, 4]. They are few, so most are tied, and sums of their products are
/// exact.
inline float quarter(long number) { return static_cast<float>(number % 33 - 16) / 4; }

template <class T = float>
rig::dense<T> quarters(int rows, int columns, int salt = 0) {
  rig::dense<T> x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      x(i, j) = rig::convert<T>(quarter(i * 31L + j * 17L + i * j % 7 + salt));
  return x;
}

template <class T = float>
rig::matrix<T> quarters_on(const oracle::sparse& p) {
  std::vector<T> values(p.inner.size());
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = rig::convert<T>(quarter(static_cast<long>(e) * 29));
  return rig::matrix<T>::from_csr(p.rows, p.columns, std::span<const long>(p.offsets),
                                  std::span<const int>(p.inner), std::span<const T>(values));
}

template <class Result>
bool equal_results(const Result& x, const Result& y) {
  if constexpr (requires { x.indices.row(0); })
    return equal(x.values, y.values) && equal(x.indices, y.indices);
  else
    return equal(x, y);
}
template <class T>
rig::indexed_dense<T> on_cpu(const rig::indexed_dense<T>& x) {
  return {x.values.to(rig::cpu()), x.indices.to(rig::cpu())};
}
auto on_cpu(const auto& x) { return x.to(rig::cpu()); }

/// A graph and features in both places.
template <class T>
struct pair_of_places {
  rig::matrix<T> a, a_there;
  rig::dense<T> x, x_there;

  pair_of_places(const oracle::sparse& p, int columns)
      : pair_of_places(quarters_on<T>(p), columns) {}
  pair_of_places(const rig::matrix<T>& of, int columns)
      : a(of), a_there(a.to(gpu)), x(quarters<T>(a.columns(), columns)), x_there(x.to(gpu)) {}

  /// Checks A·maxk(X, k), with B a cbsr and with B a dense, against the CPU.
  template <class S>
  void check_forward(S s, int k, rig::descriptor desc = {}) const {
    CAPTURE(S::name);
    CAPTURE(x.columns());
    CAPTURE(k);
    const auto want = rig::mxm(a, rig::maxk(x, k), s, desc);
    CHECK(equal_results(on_cpu(rig::mxm(a_there, rig::maxk(x_there, k), s, desc)), want));
    desc.kernel = "maxk";
    desc.k = k;
    CHECK(equal_results(on_cpu(rig::mxm(a_there, x_there, s, desc)), want));
  }
  /// Checks op(A)·dC under the structure of a cbsr, by both orders of addition, against the CPU.
  template <class S>
  void check_backward(S s, int k, rig::descriptor desc = {}) const {
    CAPTURE(S::name);
    CAPTURE(x.columns());
    CAPTURE(k);
    CAPTURE(desc.transpose_a);
    const int rows = desc.transpose_a ? a.columns() : a.rows(),
              inner = desc.transpose_a ? a.rows() : a.columns();
    const auto retained = rig::maxk(quarters<T>(rows, x.columns(), 5), k);
    const auto dc = quarters<T>(inner, x.columns(), 11);
    const auto there = retained.to(gpu);
    const auto dc_there = dc.to(gpu);
    const auto want = rig::mxm(a, dc, s, rig::structure(retained), desc);
    for (const bool reproducible : {true, false}) {
      CAPTURE(reproducible);
      desc.reproducible = reproducible;
      const auto made = rig::mxm(a_there, dc_there, s, rig::structure(there), desc);
      CHECK(made.indices() == there.indices());
      CHECK(equal(made.to(rig::cpu()), want));
    }
  }
};

/// Empty rows, hubs, and few common neighbours, so that the gradient takes rows by length.
inline rig::matrix<float> quarters_of_hubs() {
  const rig::matrix<float> graph = rig::generate::from_text("rmat:14:32");
  std::vector<float> values(static_cast<std::size_t>(graph.nnz()));
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = quarter(static_cast<long>(e) * 29);
  return graph.with_values(std::span<const float>(values));
}
