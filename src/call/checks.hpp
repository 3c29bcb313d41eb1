#pragma once

// The checks that products and other operations share. Each throws a rig::error.

#include <string>

#include "rig/kernels/problem.hpp"

namespace rig {

void check_threads(const char* name, const descriptor& desc);

/// Throws unless `what` is where the operand `first` is.
void check_place(const any_call& of, const char* first, place here, const char* what, place where);

/// Throws unless sums of this semiring can join the content of C so.
void check_accumulator(const any_call& of, const semiring_info& s);

/// Throws error(shape) for a mask or a C that has not the result's shape. `operands` states shapes
/// from which the result's follows, and ends with "; ".
[[noreturn]] void refuse_result(const any_call& of, const std::string& operands,
                                const std::string& result, const char* what,
                                const std::string& given);

}  // namespace rig
