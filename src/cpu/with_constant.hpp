#pragma once

#include <type_traits>

namespace rig::on_cpu {

/// Calls work(constant) for the one of All that equals `given`, so that the operator is a constant
/// in the loop of `work`.
template <auto... All, class Given, class Work>
void with_constant(Given given, Work work) {
  const auto one = [&]<Given Constant>(std::integral_constant<Given, Constant> constant) {
    if (given == Constant) work(constant);
    return given == Constant;
  };
  static_cast<void>((one(std::integral_constant<Given, All>()) || ...));
}

}  // namespace rig::on_cpu
