#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "rig/place.hpp"

namespace rig {

/// A member that a move resets to T(). A class with such members for its sizes is empty after a
/// move from it.
template <class T>
class cleared_by_move {
 public:
  cleared_by_move(T value = T()) : value_(value) {}
  cleared_by_move(const cleared_by_move&) = default;
  cleared_by_move(cleared_by_move&& other) noexcept : value_(std::exchange(other.value_, T())) {}
  cleared_by_move& operator=(cleared_by_move other) noexcept {
    value_ = other.value_;
    return *this;
  }
  ~cleared_by_move() = default;
  operator T() const { return value_; }

 private:
  T value_;
};

/// A shared block of bytes in one place, owned or borrowed. Copies share the block; a moved-from
/// buffer has none.
class buffer {
 public:
  buffer() = default;

  /// Allocates `bytes` uninitialised bytes, aligned to 64. Device memory is allocated and freed in
  /// the order of `stream`, which must outlive the buffer (null: rig's stream of the device).
  /// Throws error(out_of_memory) with the number of bytes.
  static buffer allocate(std::size_t bytes, place where = cpu(), void* stream = nullptr);

  /// Returns `bytes` read-only zeros on the CPU; a large block takes address space and no
  /// memory. Throws as `allocate`.
  static buffer zeros(std::size_t bytes);

  /// Borrows memory of the caller, who keeps it and `stream` alive. On a device rig uses it in the
  /// order of `stream`. Throws error(cannot) for cudaStreamPerThread, because that is another
  /// stream in every thread.
  static buffer borrow(void* data, std::size_t bytes, place where = cpu(), void* stream = nullptr);

  /// Copies the bytes to another place. A copy to the CPU is complete on return; a copy to a device
  /// has read `data` on return.
  buffer to(place target, void* stream = nullptr) const;

  template <class T = void>
  T* data() const {
    return static_cast<T*>(data_.get());
  }
  std::size_t bytes() const { return bytes_; }
  place where() const { return where_; }
  /// The stream that a device buffer belongs to: rig writes, reads and frees it in that order.
  void* stream() const { return stream_; }

 private:
  std::shared_ptr<void> data_;
  cleared_by_move<std::size_t> bytes_;
  cleared_by_move<place> where_;
  cleared_by_move<void*> stream_;
};

/// The stream that a result of a call on `stream` belongs to. It is rig's stream of the device, so
/// results outlive `stream`; while `stream` is captured in a CUDA graph, it is `stream`.
void* owner_for(place where, void* stream);

/// Device memory from the caller's allocator instead of CUDA's pool. Both functions work in the
/// order of `stream` (a cudaStream_t). `allocate` returns null on failure, otherwise an address
/// that is a multiple of 256; rig releases any other address and throws error(cannot).
/// A captured call allocates from CUDA's pool because the graph keeps that memory for its replays.
struct device_allocator {
  void* (*allocate)(std::size_t bytes, int device, void* stream, void* context);
  void (*release)(void* data, std::size_t bytes, int device, void* stream, void* context);
  void* context;
};

/// Sets the allocator for later allocations; {} restores the pool. A buffer is freed by the
/// allocator that allocated it. Throws error(range) if exactly one function is null.
void set_device_allocator(device_allocator allocator);

}  // namespace rig
