#pragma once

// The state of each device, for the files of this folder.

#include <atomic>
#include <cstdint>
#include <mutex>

#include "cuda/runtime/driver.hpp"

namespace rig::on_cuda {

/// rig's state for one device: its context, a stream, and, from the first copy on, pinned memory.
/// Never destroyed, because a product may run while the process ends.
struct context {
  std::mutex making;
  std::atomic<bool> made = false;
  CUcontext primary = nullptr;
  cudaStream_t stream = nullptr;
  cudaStream_t transfers[16] = {};  ///< those that no call has now
  int transfer_count = 0;
  int capability = 0;  ///< such as 90
  const char* no_machine_code = nullptr;
  std::atomic<const char*> last_kernel = nullptr;
  std::mutex copying;
  char* pinned[2] = {};
  cudaEvent_t travelled[2] = {};
  std::atomic<struct unfreed*> waiting = nullptr;  ///< memory dropped during its stream's capture

  /// If it throws, the next call tries again.
  void make(int device);
};

extern context contexts[most_devices];
context& make_context(int device);

/// The context of a device. A flag guards it, because std::call_once writes to thread storage each
/// time.
inline context& context_of(int device) {
  const bool is_made =
      device >= 0 && device < most_devices && contexts[device].made.load(std::memory_order_acquire);
  return is_made ? contexts[device] : make_context(device);
}

/// Returns whether a stream is captured. The stream's device must be current.
bool is_capturing(void* stream);

/// Throws for a captured stream: a copy through the host cannot be part of a graph, nor may an
/// event that all copies share.
void refuse_captured(void* stream, int device);

/// Orders `later` after the work that `earlier`, a stream of the current device, holds now. Each
/// order has an event of its own, because waits on a shared event passed too early
/// (docs/lab/events.md).
void order(void* earlier, int device, void* later, int later_device);

/// A number in pinned memory that one call has, for a copy to the host that need not wait. The
/// device must be done with the number before its end.
class pinned_number {
 public:
  pinned_number();
  ~pinned_number();
  pinned_number(const pinned_number&) = delete;
  std::int64_t* get() const { return at_; }

 private:
  std::int64_t* at_;
};

/// Frees the memory that was dropped during captures that are over. The device must be current.
[[gnu::cold]] void free_waiting(context& c);

}  // namespace rig::on_cuda
