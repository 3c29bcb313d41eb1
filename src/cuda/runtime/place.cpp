// Devices as places: memory in stream order, copies through pinned memory.

#include "rig/place.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>

#include "cuda/runtime/driver.hpp"

namespace rig {
namespace on_cuda {
namespace {

/// Copies between host and device go through two pinned pieces of this size: one is filled while
/// the other travels.
constexpr std::size_t pinned_bytes = 4u << 20;

}  // namespace

/// rig's state for one device: its context, a stream, and, from the first copy on, pinned memory.
/// Never destroyed, because a product may run while the process ends.
struct context {
  std::mutex making;
  std::atomic<bool> made = false;
  CUcontext primary = nullptr;
  cudaStream_t stream = nullptr;
  std::atomic<const char*> last_kernel = nullptr;
  std::mutex copying;
  char* pinned[2] = {};
  cudaEvent_t travelled[2] = {};
  std::atomic<struct unfreed*> waiting = nullptr;  ///< memory dropped during its stream's capture

  /// If it throws, the next call tries again.
  void make(int device);
};

namespace {

context contexts[most_devices];
std::mutex allocator_mutex;
device_allocator allocator = {};
std::atomic<bool> has_allocator = false;  ///< read without the mutex

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

/// Not inlined in `context_of`, because each of its calls would set up the stack frame for this
/// code.
[[gnu::cold]] context& make_context(int device) {
  if (device < 0 || device >= device_count())
    fail(errc::place, {to_string(cuda(device)), " is not available: there are ", device_count(),
                       " CUDA devices", *found().why_none != '\0' ? ": " : "", found().why_none});
  contexts[device].make(device);
  return contexts[device];
}

/// The context of a device. A flag guards it, because std::call_once writes to thread storage each
/// time.
context& context_of(int device) {
  const bool is_made =
      device >= 0 && device < most_devices && contexts[device].made.load(std::memory_order_acquire);
  return is_made ? contexts[device] : make_context(device);
}

/// Returns whether a stream is captured. The stream's device must be current.
bool is_capturing(void* stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver().is_capturing(static_cast<CUstream>(stream), &status), "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// Allocates the pinned pieces of a device; the caller holds `copying`. Both come in one allocation
/// after their events, so that a failure leaves no single piece to a later copy.
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
          "copy to the host");  // an earlier copy, maybe on another stream, may still use the piece
  start(0, 0);
  for (std::size_t at = 0, piece = 0; at < bytes; at += pinned_bytes, piece ^= 1) {
    if (at + pinned_bytes < bytes) start(at + pinned_bytes, piece ^ 1);
    check(cudaEventSynchronize(c.travelled[piece]), "copy to the host");
    std::memcpy(to + at, c.pinned[piece], std::min(pinned_bytes, bytes - at));
  }
}

/// An event of the current context. CUDA keeps a destroyed event until all its waiters have passed.
class event {
 public:
  event() { check(driver().create_event(&made_, CU_EVENT_DISABLE_TIMING), "cuEventCreate"); }
  event(const event&) = delete;
  ~event() { driver().destroy_event(made_); }
  CUevent get() const { return made_; }

 private:
  CUevent made_ = nullptr;
};

/// Orders `later` after the work that `earlier`, a stream of the current device, holds now. Each
/// order has an event of its own, because waits on a shared event passed too early
/// (docs/lab/events.md).
void order(void* earlier, int device, void* later, int later_device) {
  const event reached;
  check(driver().record(reached.get(), static_cast<CUstream>(earlier)), "cuEventRecord");
  std::optional<device_scope> there;
  if (later_device != device) there.emplace(later_device);
  check(driver().wait(static_cast<CUstream>(later), reached.get(), 0), "cuStreamWaitEvent");
}

/// Returns whether a kernel caused the error. Such an error appears at the next call that waits.
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

void context::make(int device) {
  const std::lock_guard lock(making);
  if (made.load(std::memory_order_relaxed)) return;
  if (primary == nullptr) {
    CUdevice at = 0;
    check(driver().device(&at, device), "cuDeviceGet");
    check(driver().retain_context(&primary, at), "cuDevicePrimaryCtxRetain");
  }
  const device_scope scope(device, primary);
  if (stream == nullptr)
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  // Keep freed memory in the pool, because the next product needs it again.
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  unsigned long long keep = ~0ull;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
  made.store(true, std::memory_order_release);
}

device_scope::device_scope(int device) : device_scope(device, context_of(device).primary) {}

device_scope::device_scope(int device, void* device_context)
    : mode_(CU_STREAM_CAPTURE_MODE_RELAXED) {
  const driver_functions& call = driver();
  auto* const wanted = static_cast<CUcontext>(device_context);
  CUcontext before = nullptr;
  check(call.current_context(&before), "cuCtxGetCurrent");
  if (before != wanted) check(call.set_context(wanted), "cuCtxSetCurrent");
  previous_ = before;
  // A thread that had no context keeps the first device's, as CUDA's runtime does: a stream of the
  // thread's own would vanish with the context.
  restores_ = before != wanted && (before != nullptr || device != 0);
  auto mode = static_cast<CUstreamCaptureMode>(mode_);
  if (const CUresult status = call.exchange_mode(&mode); status != CUDA_SUCCESS) {
    if (before != wanted) call.set_context(before);
    check(status, "cuThreadExchangeStreamCaptureMode");
  }
  mode_ = mode;
}

device_scope::~device_scope() {
  const driver_functions& call = driver();
  auto mode = static_cast<CUstreamCaptureMode>(mode_);
  call.exchange_mode(&mode);
  if (restores_) call.set_context(static_cast<CUcontext>(previous_));
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

void* stream_for(int device, void* stream) {
  context& c = context_of(device);
  return stream != nullptr ? stream : c.stream;
}

void* lasting_stream(int device, void* stream) {
  if (stream == cudaStreamPerThread)
    fail(errc::cannot, {"a view on ", to_string(cuda(device)),
                        " cannot belong to cudaStreamPerThread, which is another stream in every "
                        "thread; give a stream that cudaStreamCreate made"});
  return stream_for(device, stream);
}

void* owner_for(int device, void* stream) {
  context& c = context_of(device);
  if (stream == nullptr) return c.stream;
  const device_scope scope(device);
  return is_capturing(stream) ? stream : c.stream;
}

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

/// Frees the waiting blocks, except blocks whose stream is still captured. The device must be
/// current.
[[gnu::cold]] void free_waiting(context& c) {
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
                      "; its memory begins at multiples of ", device_alignment, " bytes"});
}

device_allocator chosen_allocator() {
  if (!has_allocator.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(allocator_mutex);
  return allocator;
}

}  // namespace

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
         {"out of memory: ", bytes, " bytes asked on ", to_string(cuda(device))});
  check_alignment(made, data);
  return std::shared_ptr<void>(data, [made](void* p) {
    // At exit the driver may be gone before the last buffer, and the memory with it.
    try {
      drop(made, p);
    } catch (...) {
    }
  });
}

void synchronise(int device) {
  const device_scope scope(device);
  // Every call is ordered before later work on this stream. A wait for the whole device would end
  // the captures of other threads.
  void* const own = stream_for(device, nullptr);
  if (is_capturing(own))
    fail(errc::cannot, {"synchronise: rig's own stream of ", to_string(cuda(device)),
                        " is being captured in a CUDA graph"});
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(own)), "synchronise");
  free_waiting(context_of(device));
}

namespace {

/// Throws for a captured stream: a copy through the host cannot be part of a graph, nor may an
/// event that all copies share.
void refuse_captured(void* stream, int device) {
  if (is_capturing(stream))
    fail(errc::cannot,
         {"copy: the memory belongs to a stream of ", to_string(cuda(device)),
          " that is being captured in a CUDA graph; copy before or after the capture"});
}

void copy_between_devices(const buffer& from, const buffer& to) {
  const int here = from.where().device, there = to.where().device;
  {
    const device_scope scope(there);
    refuse_captured(to.stream(), there);
  }
  {
    const device_scope scope(here);
    refuse_captured(from.stream(), here);
    order(from.stream(), here, to.stream(), there);
  }
  const device_scope scope(there);
  check(cudaMemcpyPeerAsync(to.data(), there, from.data(), here, from.bytes(),
                            static_cast<cudaStream_t>(to.stream())),
        "copy between devices");
  order(to.stream(), there, from.stream(), here);
}

}  // namespace

void copy(const buffer& from, const buffer& to) {
  if (from.where() != cpu() && to.where() != cpu()) return copy_between_devices(from, to);
  const buffer& there = from.where() == cpu() ? to : from;
  const int device = there.where().device;
  const device_scope scope(device);
  refuse_captured(there.stream(), device);
  auto* const stream = static_cast<cudaStream_t>(there.stream());
  if (from.where() == cpu())
    to_device(from.data<const char>(), to.data<char>(), from.bytes(), device, stream);
  else
    to_host(from.data<const char>(), to.data<char>(), from.bytes(), device, stream);
}

namespace {

/// Packed rows are one copy, because its length has no limit, while the distance of rows has one.
void copy_in_order(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                   std::size_t bytes, std::size_t rows, cudaStream_t stream) {
  const bool is_packed = to_stride == bytes && from_stride == bytes;
  check(is_packed ? cudaMemcpyAsync(to, from, rows * bytes, cudaMemcpyDeviceToDevice, stream)
                  : cudaMemcpy2DAsync(to, to_stride, from, from_stride, bytes, rows,
                                      cudaMemcpyDeviceToDevice, stream),
        "copy of rows");
}

}  // namespace

void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, int device, void* stream, void* source) {
  const device_scope scope(device);
  stream = stream_for(device, stream);
  source = source != nullptr ? source : stream;
  if (source != stream) {
    refuse_captured(source, device);
    order(source, device, stream, device);
  }
  copy_in_order(to, to_stride, from, from_stride, bytes, static_cast<std::size_t>(rows),
                static_cast<cudaStream_t>(stream));
  if (source != stream) order(stream, device, source, device);
}

stream_order::stream_order(const problem& p)
    : device_(p.a.where.device), current_(device_), stream_(stream_for(device_, p.desc->stream)) {
  // A captured call cannot wait for work outside its graph: its operands must be ready when the
  // graph replays.
  captured_ = is_capturing(stream_);
  if (captured_) return;
  // An operand that is absent has no stream.
  for (const sparse_operand* of : {&p.a, &p.mask.sparse})
    for (void* stream : {of->stream, of->values_stream}) follow(stream, p.operation);
  for (const dense_operand* of : {&p.b, &p.c, &p.indices, &p.mask.full})
    for (void* stream : {of->stream, of->beside_stream}) follow(stream, p.operation);
  // The call does not wait for rig's own stream. That stream waits for every call, because
  // `synchronise` waits for it alone.
  add(stream_for(device_, nullptr), p.operation);
}

bool stream_order::add(void* stream, const char* operation) {
  if (stream == stream_ || std::find(others_, others_ + count_, stream) != others_ + count_)
    return false;
  // An order with a captured stream would draw the call into the graph, where work cannot wait for
  // anything outside.
  if (is_capturing(stream))
    fail(errc::cannot,
         {operation, ": an operand belongs to a stream of ", to_string(cuda(device_)),
          " that is being captured in a CUDA graph, and the call is on a stream that is not"});
  others_[count_++] = stream;
  return true;
}

void stream_order::follow(void* stream, const char* operation) {
  if (stream != nullptr && add(stream, operation)) order(stream, device_, stream_, device_);
}

stream_order::~stream_order() {
  // A buffer's own stream frees it, so that stream must not run ahead of the call. If it cannot be
  // made to wait, the host waits. The next call that waits reports a fault of the device.
  for (int i = 0; i < count_; ++i) try {
      order(stream_, device_, others_[i], device_);
    } catch (...) {
      if (cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)) != cudaSuccess)
        cudaGetLastError();
    }
}

}  // namespace on_cuda

void set_device_allocator(device_allocator chosen) {
  if ((chosen.allocate == nullptr) != (chosen.release == nullptr))
    fail(errc::range,
         {"set_device_allocator: ", chosen.allocate == nullptr ? "allocate" : "release",
          " is null, and the other is not"});
  const std::lock_guard lock(on_cuda::allocator_mutex);
  on_cuda::allocator = chosen;
  on_cuda::has_allocator.store(chosen.allocate != nullptr, std::memory_order_release);
}

}  // namespace rig
