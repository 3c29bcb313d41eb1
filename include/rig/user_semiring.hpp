#pragma once

#include "rig/kernels/problem.hpp"

/// Defines a semiring that runs on the CPU and, without nvcc, on CUDA. It is a struct `name` with
/// the given members, and keeps their text for the run-time compiler.
///
///   RIG_SEMIRING(log_plus,
///     using left = float; using right = float; using accum = float;
///     static constexpr float zero() { return rig::lowest<float>(); }
///     static constexpr float add(float x, float y) { … }
///     static constexpr float multiply(float a, float b) { return a + b; })
///
/// The body may use the language, the declarations of rig/scalar.hpp, rig::position and
/// rig::reduction, all qualified by rig::. It may use nothing else of the program, because the
/// GPU's compiler sees only this text. Place it in a namespace or at file scope.
#define RIG_SEMIRING(name_, ...)                                                             \
  struct name_ {                                                                             \
    __VA_ARGS__                                                                              \
    using rig_defined = name_; /* what is derived from it has another text */                \
    [[maybe_unused]] static constexpr const char* name = #name_;                             \
    [[maybe_unused]] static constexpr ::rig::source_text rig_source = {#name_, #__VA_ARGS__, \
                                                                       __FILE__, __LINE__};  \
  }
