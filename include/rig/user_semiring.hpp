#pragma once

/// @file
/// Semirings and operators of the caller: `RIG_SEMIRING` and `RIG_OPERATOR`.

#include "rig/kernels/problem.hpp"

/// Defines a semiring that runs on the CPU and, without nvcc, on CUDA. It is a struct `name` with
/// the given members, and keeps their text for the run-time compiler.
///
/// The body may use the language, the declarations of rig/scalar.hpp, `rig::position` and
/// `rig::reduction`, all qualified by `rig::`. It may use nothing else of the program, because the
/// GPU's compiler sees only this text. Place it in a namespace or at file scope.
/// Cost: on CUDA the first product compiles a kernel. A body that NVRTC rejects is error(cannot).
/// @code
/// RIG_SEMIRING(max_sum,
///   using left = float; using right = float; using accum = float;
///   static constexpr float zero() { return rig::lowest<float>(); }
///   static constexpr float add(float x, float y) { return rig::maximum(x, y); }
///   static constexpr float multiply(float a, float b) { return a + b; });
/// @endcode
#define RIG_SEMIRING(name_, ...)                                                             \
  struct name_ {                                                                             \
    __VA_ARGS__                                                                              \
    using rig_defined = name_; /* what is derived from it has another text */                \
    [[maybe_unused]] static constexpr const char* name = #name_;                             \
    [[maybe_unused]] static constexpr ::rig::source_text rig_source = {#name_, #__VA_ARGS__, \
                                                                       __FILE__, __LINE__};  \
  }

/// Defines an operator of `apply` and `select` that runs on the CPU and, without nvcc, on CUDA: a
/// struct `name` with the given members, one of which is `apply(x, i, j, y)`. The body is as that
/// of `RIG_SEMIRING`. On CUDA x and y have storage types.
/// @code
/// RIG_OPERATOR(decayed,
///   static constexpr float apply(float x, rig::index i, rig::index j, float rate) {
///     return i == j ? x : rate * x;
///   });
/// @endcode
#define RIG_OPERATOR(name_, ...) RIG_SEMIRING(name_, __VA_ARGS__)
