// Devices as places: memory in the order of streams, copies through pinned memory.

#include "rig/place.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

#include "driver.hpp"

namespace rig {
namespace on_cuda {
namespace {

/// Copies between host and device go through two pinned pieces of this size, one filled while the
/// other travels.
constexpr std::size_t pinned_bytes = 4u << 20;

/// What rig keeps for one device: a stream, and pinned memory from the first copy on.
struct context {
  std::mutex making;
  std::atomic<bool> made = false;
  cudaStream_t stream = nullptr;
  std::mutex ordering;
  cudaEvent_t reached = nullptr;  ///< recorded anew for every wait between streams
  std::atomic<const char*> last_kernel = nullptr;
  std::mutex copying;
  char* pinned[2] = {};
  cudaEvent_t travelled[2] = {};
};

context contexts[most_devices];
std::mutex allocator_mutex;
device_allocator allocator = {};
std::atomic<bool> has_allocator = false;  ///< asked without the mutex

struct devices_found {
  int count;
  const char* why_none;  ///< in CUDA's words: no driver, one that is too old, no device
};
const devices_found& found() {
  static const devices_found once = [] {
    int n = 0;
    const cudaError_t status = cudaGetDeviceCount(&n);
    if (status == cudaSuccess) return devices_found{std::min(n, most_devices), ""};
    cudaGetLastError();
    return devices_found{0, cudaGetErrorString(status)};
  }();
  return once;
}
int device_count() { return found().count; }

/// Makes the stream and the event of a device. Tried again by the next call where it failed. Apart
/// from `context_of`, whose every call would make room for it.
[[gnu::cold]] void make(int device) {
  if (device < 0 || device >= device_count())
    fail(errc::place, {to_string(cuda(device)), " is not available: there are ", device_count(),
                       " CUDA devices", *found().why_none != '\0' ? ": " : "", found().why_none});
  context& c = contexts[device];
  const std::lock_guard lock(c.making);
  if (c.made.load(std::memory_order_relaxed)) return;
  const device_scope scope(device);
  if (c.stream == nullptr)
    check(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  if (c.reached == nullptr)
    check(cudaEventCreateWithFlags(&c.reached, cudaEventDisableTiming), "cudaEventCreate");
  // Keep freed memory in the pool: the next product needs it again.
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  unsigned long long keep = ~0ull;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
  c.made.store(true, std::memory_order_release);
}

/// By a flag, not std::call_once, which writes to thread storage each time: a call comes here six
/// times, 400 of 5 130 instructions.
context& context_of(int device) {
  if (device < 0 || device >= most_devices ||
      !contexts[device].made.load(std::memory_order_acquire))
    make(device);
  return contexts[device];
}

/// The pinned pieces of a device; the caller holds `copying`. They come in one allocation, after
/// their events: a failure leaves nothing that a later copy would take for both.
void pin(context& c) {
  if (c.pinned[0] != nullptr) return;
  for (cudaEvent_t& event : c.travelled)
    if (event == nullptr)
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  void* both = nullptr;
  const cudaError_t status = cudaHostAlloc(&both, 2 * pinned_bytes, cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    fail(errc::out_of_memory,
         {"out of memory: ", 2 * pinned_bytes, " bytes asked of pinned memory on cpu"});
  }
  check(status, "cudaHostAlloc");
  c.pinned[0] = static_cast<char*>(both);
  c.pinned[1] = c.pinned[0] + pinned_bytes;
}

void to_device(const char* from, char* to, std::size_t bytes, int device, cudaStream_t stream) {
  context& c = context_of(device);
  const std::lock_guard lock(c.copying);
  pin(c);
  for (std::size_t at = 0, piece = 0; at < bytes; at += pinned_bytes, piece ^= 1) {
    const std::size_t count = std::min(pinned_bytes, bytes - at);
    check(cudaEventSynchronize(c.travelled[piece]), "copy to the device");
    std::memcpy(c.pinned[piece], from + at, count);
    check(cudaMemcpyAsync(to + at, c.pinned[piece], count, cudaMemcpyHostToDevice, stream),
          "copy to the device");
    check(cudaEventRecord(c.travelled[piece], stream), "copy to the device");
  }
}

void to_host(const char* from, char* to, std::size_t bytes, int device, cudaStream_t stream) {
  context& c = context_of(device);
  const std::lock_guard lock(c.copying);
  pin(c);
  const auto start = [&](std::size_t at, std::size_t piece) {
    const std::size_t count = std::min(pinned_bytes, bytes - at);
    check(cudaMemcpyAsync(c.pinned[piece], from + at, count, cudaMemcpyDeviceToHost, stream),
          "copy to the host");
    check(cudaEventRecord(c.travelled[piece], stream), "copy to the host");
  };
  for (int piece = 0; piece < 2; ++piece)
    check(cudaEventSynchronize(c.travelled[piece]),
          "copy to the host");  // of an earlier copy, maybe on another stream
  start(0, 0);
  for (std::size_t at = 0, piece = 0; at < bytes; at += pinned_bytes, piece ^= 1) {
    if (at + pinned_bytes < bytes) start(at + pinned_bytes, piece ^ 1);
    check(cudaEventSynchronize(c.travelled[piece]), "copy to the host");
    std::memcpy(to + at, c.pinned[piece], std::min(pinned_bytes, bytes - at));
  }
}

/// Makes `later` wait for what `earlier`, a stream of the current device, holds now. An event is
/// recorded on its own device only; a wait keeps to what was recorded when it was asked for, so one
/// event a device serves all.
void order(void* earlier, int device, void* later, int later_device) {
  context& c = context_of(device);
  const std::lock_guard lock(c.ordering);
  check(driver().record(c.reached, static_cast<cudaStream_t>(earlier)), "cuEventRecord");
  std::optional<device_scope> there;
  if (later_device != device) there.emplace(later_device);
  check(driver().wait(static_cast<cudaStream_t>(later), c.reached, 0), "cuStreamWaitEvent");
}

}  // namespace

namespace {

/// Is this a kernel's doing, told by whichever call waits next?
bool is_fault(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

}  // namespace

void fail_by(cudaError_t status, const char* what) {
  cudaGetLastError();
  if (is_fault(status)) {
    int device = 0;
    cudaGetDevice(&device);
    if (const char* const kernel = last_kernel(device); kernel != nullptr)
      fail(errc::device, {what, ": ", cudaGetErrorName(status), ", ", cudaGetErrorString(status),
                          "; rig's last kernel on ", to_string(cuda(device)), " is ", kernel});
  }
  fail(status == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::device,
       {what, ": ", cudaGetErrorName(status), ", ", cudaGetErrorString(status)});
}

void launched(int device, const char* kernel) {
  contexts[device].last_kernel.store(kernel, std::memory_order_relaxed);
}

const char* last_kernel(int device) {
  return device < most_devices ? contexts[device].last_kernel.load(std::memory_order_relaxed)
                               : nullptr;
}

device_scope::device_scope(int device) : device_(device) {
  check(cudaGetDevice(&previous_), "cudaGetDevice");
  if (previous_ != device_) check(cudaSetDevice(device_), "cudaSetDevice");
}

device_scope::~device_scope() {
  if (previous_ != device_) cudaSetDevice(previous_);
}

std::vector<device_info> list_devices() {
  std::vector<device_info> out;
  for (int device = 0; device < device_count(); ++device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    out.push_back({cuda(device), properties.name, properties.multiProcessorCount,
                   static_cast<long>(properties.totalGlobalMem)});
  }
  return out;
}

void synchronise(int device) {
  context_of(device);
  const device_scope scope(device);
  check(cudaDeviceSynchronize(), "synchronise");
}

void* stream_for(int device, void* stream) {
  context& c = context_of(device);
  return stream != nullptr ? stream : c.stream;
}

std::shared_ptr<void> allocate(std::size_t bytes, int device, void* stream) {
  context_of(device);
  const device_scope scope(device);
  device_allocator from = {};
  if (has_allocator.load(std::memory_order_acquire)) {
    const std::lock_guard lock(allocator_mutex);
    from = allocator;
  }
  void* data = nullptr;
  if (from.allocate != nullptr) {
    data = from.allocate(bytes, device, stream, from.context);
  } else {
    const cudaError_t status = cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream));
    if (status != cudaErrorMemoryAllocation) check(status, "cudaMallocAsync");
    if (status != cudaSuccess) {
      cudaGetLastError();
      data = nullptr;
    }
  }
  if (data == nullptr)
    fail(errc::out_of_memory,
         {"out of memory: ", bytes, " bytes asked on ", to_string(cuda(device))});
  return std::shared_ptr<void>(data, [=](void* p) {
    // At exit the driver may be gone before the last buffer: then the memory is, too.
    if (from.release != nullptr)
      from.release(p, bytes, device, stream, from.context);
    else if (cudaFreeAsync(p, static_cast<cudaStream_t>(stream)) != cudaSuccess)
      cudaGetLastError();
  });
}

void copy(const buffer& from, const buffer& to) {
  const auto* source = from.data<const char>();
  auto* target = to.data<char>();
  const std::size_t bytes = from.bytes();
  if (from.where() == cpu()) {
    const device_scope scope(to.where().device);
    to_device(source, target, bytes, to.where().device, static_cast<cudaStream_t>(to.stream()));
  } else if (to.where() == cpu()) {
    const device_scope scope(from.where().device);
    to_host(source, target, bytes, from.where().device, static_cast<cudaStream_t>(from.stream()));
  } else {
    // `to` was allocated a moment ago, which made both devices' contexts known to this thread.
    const int here = from.where().device, there = to.where().device;
    {
      const device_scope scope(here);
      order(from.stream(), here, to.stream(), there);
    }
    const device_scope scope(there);
    check(cudaMemcpyPeerAsync(target, there, source, here, bytes,
                              static_cast<cudaStream_t>(to.stream())),
          "copy between devices");
    order(to.stream(), there, from.stream(), here);
  }
}

void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, int device, void* stream) {
  const device_scope scope(device);
  check(cudaMemcpy2DAsync(to, to_stride, from, from_stride, bytes, static_cast<std::size_t>(rows),
                          cudaMemcpyDeviceToDevice,
                          static_cast<cudaStream_t>(stream_for(device, stream))),
        "copy of rows");
}

namespace {

/// The runtime also makes its context the thread's own here, which the driver's functions need.
bool is_capturing(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

stream_order::stream_order(const problem& p)
    : device_(p.a.where.device), current_(device_), stream_(stream_for(device_, p.desc->stream)) {
  // While a graph is captured nothing outside it may be waited for; what it replays on must be
  // ready then.
  captured_ = is_capturing(stream_);
  if (captured_) return;
  const auto follow = [&](std::initializer_list<void*> streams) {
    for (void* stream : streams)
      if (stream != nullptr && stream != stream_) add(stream, p.operation);
  };
  follow({p.a.stream, p.a.values_stream, p.b.stream, p.b.indices_stream, p.c.stream,
          p.indices.stream});
  if (p.mask.over != mask_operand::kind::absent)
    follow({p.mask.sparse.stream, p.mask.sparse.values_stream, p.mask.full.stream,
            p.mask.full.indices_stream});
}

void stream_order::add(void* stream, const char* operation) {
  for (int i = 0; i < count_; ++i)
    if (others_[i] == stream) return;
  // To wait for it would draw the call into the graph, where nothing outside it is waited for.
  if (is_capturing(stream))
    fail(errc::cannot,
         {operation, ": an operand belongs to a stream of ", to_string(cuda(device_)),
          " that is being captured in a CUDA graph, and the call is on a stream that is not"});
  order(stream, device_, stream_, device_);
  others_[count_++] = stream;
}

stream_order::~stream_order() {
  // A buffer's own stream frees it: it must not run ahead of the call. What fails here is a fault
  // of the device, which the next call that waits reports.
  for (int i = 0; i < count_; ++i) try {
      order(stream_, device_, others_[i], device_);
    } catch (...) {
    }
}

}  // namespace on_cuda

void set_device_allocator(device_allocator chosen) {
  const std::lock_guard lock(on_cuda::allocator_mutex);
  on_cuda::allocator = chosen;
  on_cuda::has_allocator.store(chosen.allocate != nullptr, std::memory_order_release);
}

}  // namespace rig
