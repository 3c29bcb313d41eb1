#pragma once

#include <cstddef>
#include <memory>

#include "rig/place.hpp"

namespace rig {

/// A shared block of bytes in one place, owned or borrowed. Copies share the block.
class buffer {
 public:
  buffer() = default;

  /// `bytes` uninitialised bytes, aligned to 64. Throws error(out_of_memory) with the bytes asked.
  static buffer allocate(std::size_t bytes, place where = cpu());

  /// Memory of the caller, who keeps it alive.
  static buffer borrow(void* data, std::size_t bytes, place where = cpu());

  template <class T = void>
  T* data() const {
    return static_cast<T*>(data_.get());
  }
  std::size_t bytes() const { return bytes_; }
  place where() const { return where_; }

 private:
  std::shared_ptr<void> data_;
  std::size_t bytes_ = 0;
  place where_;
};

}  // namespace rig
