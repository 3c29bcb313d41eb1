#pragma once

#include <memory>
#include <string>

#include "arrays.hpp"

// Sparse matrices and vectors of Python: rig's, with their types erased.

namespace rigblas {

using sparse = rig::erased_matrix;
struct matrix : sparse {};
struct vector : sparse {};

/// The result of a function of rig on a matrix. Where rig returns its argument, so does this, with
/// what owns its memory.
template <class T, class Function>
matrix mapped(const matrix& a, Function function) {
  sparse out = erased<T>(function(typed<T>(a)));
  return !a.is_iso && out.values.data() == a.values.data() ? a : matrix{std::move(out)};
}

/// The matrix that an object is. Objects of SciPy, NetworkX and others are converted.
/// Throws TypeError.
matrix read_matrix(nb::handle object, const char* call, const char* name, const char* also = "");

void bind_sparse(nb::module_& m);

}  // namespace rigblas
