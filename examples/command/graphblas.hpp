#pragma once

#include <functional>
#include <string>

#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace command {

/// A product by another library, or why it computes none.
struct peer {
  std::string name;
  std::string absent = {};  ///< why there is none; empty if there is one
  std::function<void()> run = {};
  std::function<rig::dense<float>()> result = {};  ///< of one run
};

/// C ⊕= A ⊕.⊗ B by SuiteSparse:GraphBLAS into a full C, if the machine has the library. It is not
/// linked: the loader looks for it when this is called.
peer graphblas(const rig::matrix<float>& a, const rig::dense<float>& b,
               const std::string& semiring);
/// The file of that library, or an empty name.
std::string graphblas_path();

}  // namespace command
