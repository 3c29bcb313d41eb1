#pragma once

#include <string_view>

#include "calls.hpp"

// Semirings by name, and those of a program.

namespace rigblas {

/// A semiring of a program: a pair in a library that was compiled for it.
struct own_semiring {
  std::string name;
  const rig::builtin_pair* pair = nullptr;
};

/// What a product computes in: a pair, and the type of its results.
struct algebra {
  const rig::builtin_pair* pair;
  type natural;  ///< of results that are not named
};

/// The algebra of a name or an own semiring, for operands of these types; null: the type of that
/// operand says nothing. Throws ValueError.
algebra algebra_from(nb::handle semiring, const char* call, const operand* a, const operand* b,
                     type named);
/// The pair of a name over a type in which elements are computed. Throws ValueError.
const rig::builtin_pair& pair_over(std::string_view name, type over, const char* call);
/// The same with operands exchanged: u ⊗ a in place of a ⊗ u. None: throws ValueError.
nb::object exchanged(nb::handle semiring, const char* call);

}  // namespace rigblas
