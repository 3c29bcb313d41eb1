#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "rig/place.hpp"

namespace rig {

/// A member that a move leaves as T(). A class whose sizes are such members is empty once it was
/// moved from.
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

/// A shared block of bytes in one place, owned or borrowed. Copies share the block; what was
/// moved from has none.
class buffer {
 public:
  buffer() = default;

  /// `bytes` uninitialised bytes, aligned to 64. On a device they come and go in the order of
  /// `stream` (null: the device's stream of rig), which lives longer than the buffer. Throws
  /// error(out_of_memory) with the bytes asked.
  static buffer allocate(std::size_t bytes, place where = cpu(), void* stream = nullptr);

  /// `bytes` zeros on the CPU that nobody writes: many of them take address space, but no memory.
  /// Throws as `allocate`.
  static buffer zeros(std::size_t bytes);

  /// Memory of the caller, who keeps it and `stream` alive; on a device, used in the order of
  /// `stream`. Throws error(cannot) for cudaStreamPerThread, another stream in every thread.
  static buffer borrow(void* data, std::size_t bytes, place where = cpu(), void* stream = nullptr);

  /// The same bytes in another place. To the CPU it waits for the copy; to a device `data` is read
  /// before it returns.
  buffer to(place target, void* stream = nullptr) const;

  template <class T = void>
  T* data() const {
    return static_cast<T*>(data_.get());
  }
  std::size_t bytes() const { return bytes_; }
  place where() const { return where_; }
  /// The stream a device buffer belongs to: it is written, read and freed in that order.
  void* stream() const { return stream_; }

 private:
  std::shared_ptr<void> data_;
  cleared_by_move<std::size_t> bytes_;
  cleared_by_move<place> where_;
  cleared_by_move<void*> stream_;
};

/// The stream that a result of a call on `stream` belongs to in a place: the device's stream of
/// rig, so that results outlive `stream`; or `stream`, while it is captured in a CUDA graph.
void* owner_for(place where, void* stream);

/// Device memory by the caller's allocator instead of CUDA's pool: both functions work in the order
/// of `stream` (a cudaStream_t). `allocate` returns null where it fails, else a multiple of 256;
/// other addresses are released again, and are error(cannot).
/// What a captured call allocates comes from CUDA's pool, since the graph keeps it for its replays.
struct device_allocator {
  void* (*allocate)(std::size_t bytes, int device, void* stream, void* context);
  void (*release)(void* data, std::size_t bytes, int device, void* stream, void* context);
  void* context;
};

/// Sets the allocator for later allocations; {} restores the pool. A buffer is freed by the
/// allocator that made it. Throws error(range) where one function is null alone.
void set_device_allocator(device_allocator allocator);

}  // namespace rig
