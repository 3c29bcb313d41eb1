#pragma once

// A launch shape in place of the one that the rules of `row` choose.

#include "cuda/families.hpp"

/// Plain exact products go by the shape while this lives.
class forced_shape {
 public:
  explicit forced_shape(const rig::on_cuda::row_shape& by) : by_(by) {
    rig::on_cuda::forced_shape = &by_;
  }
  ~forced_shape() { rig::on_cuda::forced_shape = nullptr; }
  forced_shape(const forced_shape&) = delete;
  forced_shape& operator=(const forced_shape&) = delete;

 private:
  rig::on_cuda::row_shape by_;
};
