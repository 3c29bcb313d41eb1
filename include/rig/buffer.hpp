#pragma once

/// @file
/// Memory in a place, owned or borrowed, and the allocator of device memory.

#include <cstddef>
#include <memory>
#include <utility>

#include "rig/place.hpp"

namespace rig {

/// @cond internal
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
/// @endcond

/// A shared block of bytes in one place, owned or borrowed. Copies share the block; a moved-from
/// buffer has none.
///
/// Places: all. Concurrent use of copies is safe, except for writes to the bytes.
/// @code
/// const auto bytes = rig::buffer::allocate(3 * sizeof(float));
/// bytes.data<float>()[0] = 1;
/// @endcode
class buffer {
 public:
  /// No bytes, on the CPU.
  buffer() = default;

  /// Allocates `bytes` uninitialised bytes, aligned to 64. Device memory is allocated and freed in
  /// the order of `stream`, which must outlive the buffer (null: rig's stream of the device).
  /// Throws error: out_of_memory, with the number of bytes; place, if the device is not there;
  /// cannot, for cudaStreamPerThread, because that is another stream in every thread.
  /// @code
  /// const auto features = rig::buffer::allocate(1024 * sizeof(float), rig::cuda(0));
  /// const auto on_host = features.to(rig::cpu());
  /// @endcode
  static buffer allocate(std::size_t bytes, place where = cpu(), void* stream = nullptr);

  /// @cond internal
  /// The same for memory that one call allocates and frees, so that `stream` may be
  /// cudaStreamPerThread.
  static buffer temporary(std::size_t bytes, place where, void* stream);
  /// @endcond

  /// Returns `bytes` read-only zeros on the CPU; a large block takes address space and no
  /// memory. Throws as `allocate`.
  static buffer zeros(std::size_t bytes);

  /// Borrows memory of the caller, who keeps it and `stream` alive. On a device rig uses it in the
  /// order of `stream`. Throws error: cannot, for cudaStreamPerThread, because that is another
  /// stream in every thread; range, for a null pointer to a positive number of bytes; place.
  /// @code
  /// std::vector<float> numbers(3);
  /// const auto view = rig::buffer::borrow(numbers.data(), 3 * sizeof(float));
  /// @endcode
  static buffer borrow(void* data, std::size_t bytes, place where = cpu(), void* stream = nullptr);

  /// Copies the bytes to a place, always into a new block. A copy to the CPU is complete on return;
  /// a copy to a device has read `data` on return. Throws error: place, out_of_memory; cannot, as
  /// `allocate`, and while the stream of either block is captured in a CUDA graph.
  buffer to(place target, void* stream = nullptr) const;

  /// The first `bytes` of this buffer, in the same block. Throws error(range) if there are fewer.
  /// @code
  /// const auto room = rig::buffer::allocate(1024);
  /// const auto used = room.first(12);
  /// @endcode
  buffer first(std::size_t bytes) const;

  /// The address of the first byte, in memory of `where()`; null if there are no bytes.
  template <class T = void>
  T* data() const {
    return static_cast<T*>(data_.get());
  }
  /// The size in bytes.
  std::size_t bytes() const { return bytes_; }
  /// The place of the bytes.
  place where() const { return where_; }
  /// The stream that a device buffer belongs to: rig writes, reads and frees it in that order.
  void* stream() const { return stream_; }

  /// @cond internal
  /// Whether another buffer has the same block.
  bool is_shared() const { return data_.use_count() > 1; }
  /// @endcond

 private:
  std::shared_ptr<void> data_;
  cleared_by_move<std::size_t> bytes_;
  cleared_by_move<place> where_;
  cleared_by_move<void*> stream_;
};

/// @cond internal
/// Throws error(out_of_memory), which names the bytes and the CPU.
[[noreturn]] void cannot_allocate(std::size_t bytes);

/// The stream that a result of a call on `stream` belongs to. It is rig's stream of the device, so
/// results outlive `stream`; while `stream` is captured in a CUDA graph, it is `stream`.
void* owner_for(place where, void* stream);
/// @endcond

/// Device memory from the caller's allocator instead of CUDA's pool. Both functions work in the
/// order of `stream` (a cudaStream_t). `allocate` returns null on failure, otherwise an address
/// that is a multiple of 256; rig releases any other address and throws error(cannot).
/// A captured call allocates from CUDA's pool because the graph keeps that memory for its replays.
/// @code
/// const rig::device_allocator mine = {my_allocate, my_release, nullptr};
/// rig::set_device_allocator(mine);
/// rig::set_device_allocator({});  // CUDA's pool again
/// @endcode
struct device_allocator {
  /// Allocates; `context` is the member of this name.
  void* (*allocate)(std::size_t bytes, int device, void* stream, void* context);
  /// Frees; the arguments are those of the allocation.
  void (*release)(void* data, std::size_t bytes, int device, void* stream, void* context);
  /// Any pointer of the caller.
  void* context;
};

/// Sets the allocator for later allocations; {} restores the pool. A buffer is freed by the
/// allocator that allocated it. A build without CUDA ignores the allocator. Throws error(range) if
/// exactly one function is null.
/// @code
/// rig::set_device_allocator({my_allocate, my_release, nullptr});
/// rig::set_device_allocator({});  // CUDA's pool again
/// @endcode
void set_device_allocator(device_allocator allocator);

}  // namespace rig
