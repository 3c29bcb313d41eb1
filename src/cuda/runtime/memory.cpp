// Device memory in stream order, from CUDA's pool or from the caller's allocator.

#include <cstdint>
#include <cstdio>

#include "cuda/runtime/context.hpp"

namespace rig {
namespace on_cuda {
namespace {

std::mutex allocator_mutex;
device_allocator allocator = {};
std::atomic<bool> has_allocator = false;  ///< read without the mutex

}  // namespace

/// One block of device memory, and the allocator that frees it.
struct block {
  std::size_t bytes;
  int device;
  void* stream;
  bool is_graphs;  ///< allocated while the stream was captured
  device_allocator from;

  void* allocate() const {
    if (from.allocate != nullptr) return from.allocate(bytes, device, stream, from.context);
    void* data = nullptr;
    const cudaError_t status = cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return nullptr;
    }
    check(status, "cudaMallocAsync");
    return data;
  }

  void release(void* data) const {
    if (from.release != nullptr)
      from.release(data, bytes, device, stream, from.context);
    else if (cudaFreeAsync(data, static_cast<cudaStream_t>(stream)) != cudaSuccess)
      cudaGetLastError();
  }
};

/// A block that waits to be freed, because its stream was captured when the block was dropped.
struct unfreed {
  block of;
  void* data;
  unfreed* next;
};

namespace {

void keep_waiting(context& c, unfreed* one) {
  one->next = c.waiting.load(std::memory_order_relaxed);
  while (!c.waiting.compare_exchange_weak(one->next, one, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

/// Frees a block, or defers it while its stream is captured: a graph cannot free memory from
/// outside, and an attempt would end the capture.
void drop(const block& of, void* data) {
  const device_scope scope(of.device);
  if (of.is_graphs || !is_capturing(of.stream))
    of.release(data);
  else
    keep_waiting(context_of(of.device), new unfreed{of, data, nullptr});
}

/// The alignment that kernels, CUB and cuSPARSE expect, and that CUDA's own allocations have.
constexpr std::uintptr_t device_alignment = 256;

void check_alignment(const block& of, void* data) {
  if (reinterpret_cast<std::uintptr_t>(data) % device_alignment == 0) return;
  char address[2 + 2 * sizeof(data) + 1];
  std::snprintf(address, sizeof(address), "%p", data);
  of.release(data);
  fail(errc::cannot, {"the device allocator returned ", static_cast<const char*>(address), " for ",
                      of.bytes, " bytes on ", to_string(cuda(of.device)),
                      "; its memory must start at a multiple of ", device_alignment, " bytes"});
}

device_allocator chosen_allocator() {
  if (!has_allocator.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(allocator_mutex);
  return allocator;
}

}  // namespace

void free_waiting(context& c) {
  for (unfreed* one = c.waiting.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
    unfreed* const next = one->next;
    bool waits = false;
    try {
      waits = is_capturing(one->of.stream);
    } catch (...) {
      one->of.stream = c.stream;  // the capture's stream is gone, and its work is done
    }
    if (waits) {
      keep_waiting(c, one);
    } else {
      one->of.release(one->data);
      delete one;
    }
    one = next;
  }
}

std::shared_ptr<void> allocate(std::size_t bytes, int device, void* stream) {
  context& c = context_of(device);
  const device_scope scope(device);
  if (c.waiting.load(std::memory_order_relaxed) != nullptr) free_waiting(c);
  block made{bytes, device, stream, is_capturing(stream), {}};
  // A graph keeps its memory between replays, but an allocator reuses memory once it is released.
  if (!made.is_graphs) made.from = chosen_allocator();
  void* const data = made.allocate();
  if (data == nullptr)
    fail(errc::out_of_memory,
         {"out of memory: cannot allocate ", bytes, " bytes on ", to_string(cuda(device))});
  check_alignment(made, data);
  return std::shared_ptr<void>(data, [made](void* p) {
    // At exit the driver may be gone before the last buffer, and the memory with it.
    try {
      drop(made, p);
    } catch (...) {
    }
  });
}

}  // namespace on_cuda

void set_device_allocator(device_allocator chosen) {
  if ((chosen.allocate == nullptr) != (chosen.release == nullptr))
    fail(errc::range,
         {"set_device_allocator: ", chosen.allocate == nullptr ? "allocate" : "release",
          " is null, but the other is not; give both functions or neither"});
  const std::lock_guard lock(on_cuda::allocator_mutex);
  on_cuda::allocator = chosen;
  on_cuda::has_allocator.store(chosen.allocate != nullptr, std::memory_order_release);
}

}  // namespace rig
