#pragma once

// SuiteSparse:GraphBLAS for tests that compare rig with it.

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "seed.hpp"

// The header of version 7.4 declares its functions without a language linkage, so this file adds
// one. The headers that it includes stay outside, above.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
extern "C" {
#include <GraphBLAS.h>
}

inline void ok(GrB_Info info) { REQUIRE(info == GrB_SUCCESS); }

template <class T>
GrB_Type type_in_graphblas();
template <>
inline GrB_Type type_in_graphblas<bool>() {
  return GrB_BOOL;
}
template <>
inline GrB_Type type_in_graphblas<int>() {
  return GrB_INT32;
}
template <>
inline GrB_Type type_in_graphblas<long>() {
  return GrB_INT64;
}
template <>
inline GrB_Type type_in_graphblas<float>() {
  return GrB_FP32;
}
template <>
inline GrB_Type type_in_graphblas<double>() {
  return GrB_FP64;
}

inline void set(GrB_Matrix m, bool x, GrB_Index i, GrB_Index j) {
  ok(GrB_Matrix_setElement_BOOL(m, x, i, j));
}
inline void set(GrB_Matrix m, int x, GrB_Index i, GrB_Index j) {
  ok(GrB_Matrix_setElement_INT32(m, x, i, j));
}
inline void set(GrB_Matrix m, long x, GrB_Index i, GrB_Index j) {
  ok(GrB_Matrix_setElement_INT64(m, x, i, j));
}
inline void set(GrB_Matrix m, float x, GrB_Index i, GrB_Index j) {
  ok(GrB_Matrix_setElement_FP32(m, x, i, j));
}
inline void set(GrB_Matrix m, double x, GrB_Index i, GrB_Index j) {
  ok(GrB_Matrix_setElement_FP64(m, x, i, j));
}
inline GrB_Info get(bool* x, GrB_Matrix m, GrB_Index i, GrB_Index j) {
  return GrB_Matrix_extractElement_BOOL(x, m, i, j);
}
inline GrB_Info get(int* x, GrB_Matrix m, GrB_Index i, GrB_Index j) {
  return GrB_Matrix_extractElement_INT32(x, m, i, j);
}
inline GrB_Info get(long* x, GrB_Matrix m, GrB_Index i, GrB_Index j) {
  return GrB_Matrix_extractElement_INT64(x, m, i, j);
}
inline GrB_Info get(float* x, GrB_Matrix m, GrB_Index i, GrB_Index j) {
  return GrB_Matrix_extractElement_FP32(x, m, i, j);
}
inline GrB_Info get(double* x, GrB_Matrix m, GrB_Index i, GrB_Index j) {
  return GrB_Matrix_extractElement_FP64(x, m, i, j);
}

/// A GraphBLAS matrix, freed with its scope.
struct theirs {
  GrB_Matrix m = nullptr;
  template <class T>
  theirs(int rows, int columns, T*) {
    ok(GrB_Matrix_new(&m, type_in_graphblas<T>(), static_cast<GrB_Index>(rows),
                      static_cast<GrB_Index>(columns)));
  }
  theirs(const theirs&) = delete;
  ~theirs() { GrB_Matrix_free(&m); }
};

template <class T>
T small_value(random_bits& random) {
  if constexpr (std::is_same_v<T, bool>)
    return random.below(3) != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random.below(9) - 4);
  else
    return static_cast<T>(random.below(33) - 16) / 4;
}
