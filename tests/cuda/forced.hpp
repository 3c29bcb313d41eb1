#pragma once

// What `row` and `split` are made to take in place of what their rules say.

#include "cuda/families.hpp"

/// As long as this lives.
class forced {
 public:
  explicit forced(const rig::on_cuda::forced_choice& what) { rig::on_cuda::forced = what; }
  explicit forced(const rig::on_cuda::row_shape& shape)
      : forced(rig::on_cuda::forced_choice{.shape = shape}) {}
  ~forced() { rig::on_cuda::forced = {}; }
  forced(const forced&) = delete;
  forced& operator=(const forced&) = delete;
};
