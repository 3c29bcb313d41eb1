#pragma once

// SuiteSparse:GraphBLAS's C API with owned objects, for the files that call it.

#include <complex>
#include <memory>

#include "graphblas.hpp"

// The header of version 7.4 declares its functions without a language linkage, so this file adds
// one. The headers that it includes stay outside, above and here.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/mman.h>

extern "C" {
#include <GraphBLAS.h>
}

namespace bench::graphblas {

inline void check(GrB_Info info, const char* what) {
  if (info != GrB_SUCCESS)
    rig::fail(rig::errc::cannot, {"GraphBLAS: ", what, " failed with ", static_cast<int>(info)});
}
#define CHECKED(call) check(call, #call)

struct release {
  void operator()(GrB_Matrix m) const { GrB_Matrix_free(&m); }
  void operator()(GrB_Vector v) const { GrB_Vector_free(&v); }
  void operator()(GrB_Descriptor d) const { GrB_Descriptor_free(&d); }
};
using matrix_handle = std::unique_ptr<GB_Matrix_opaque, release>;
using vector_handle = std::unique_ptr<GB_Vector_opaque, release>;
using descriptor_handle = std::unique_ptr<GB_Descriptor_opaque, release>;

inline GrB_Index count_of(rig::int64 n) { return static_cast<GrB_Index>(n); }

inline matrix_handle new_matrix(GrB_Type type, rig::int64 rows, rig::int64 columns) {
  GrB_Matrix made = nullptr;
  CHECKED(GrB_Matrix_new(&made, type, count_of(rows), count_of(columns)));
  return matrix_handle(made);
}

inline vector_handle new_vector(GrB_Type type, rig::int64 size) {
  GrB_Vector made = nullptr;
  CHECKED(GrB_Vector_new(&made, type, count_of(size)));
  return vector_handle(made);
}

/// A in CSR or CSC, with its values, or with one value unless `with_values` is set.
matrix_handle sparse(const rig::matrix<float>& a, bool by_row, bool with_values = true);
matrix_handle transposed(const matrix_handle& a, rig::index rows, rig::index columns);

}  // namespace bench::graphblas
