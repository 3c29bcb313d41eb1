// The order between streams: of a call and its operands, of results and their readers.

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define RIG_HAS_NVTX
#endif

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <optional>

#include "cuda/runtime/context.hpp"
#include "storage/backend.hpp"

namespace rig::on_cuda {

bool is_capturing(void* stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver().is_capturing(static_cast<CUstream>(stream), &status), "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

namespace {

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

}  // namespace

void order(void* earlier, int device, void* later, int later_device) {
  const event reached;
  check(driver().record(reached.get(), static_cast<CUstream>(earlier)), "cuEventRecord");
  std::optional<device_scope> there;
  if (later_device != device) there.emplace(later_device);
  check(driver().wait(static_cast<CUstream>(later), reached.get(), 0), "cuStreamWaitEvent");
}

void* stream_for(int device, void* stream) {
  context& c = context_of(device);
  return stream != nullptr ? stream : c.stream;
}

namespace {

cudaStream_t make_transfer_stream(int device) {
  const device_scope scope(device);
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, greatest), "cudaStreamCreate");
  return made;
}

}  // namespace

std::shared_ptr<void> transfer_stream(int device) {
  context& c = context_of(device);
  const auto give_back = [&c](void* of) {
    const auto stream = static_cast<cudaStream_t>(of);
    const std::lock_guard lock(c.making);
    if (c.transfer_count < static_cast<int>(std::size(c.transfers)))
      c.transfers[c.transfer_count++] = stream;
    else
      cudaStreamDestroy(stream);
  };
  cudaStream_t taken = nullptr;
  {
    const std::lock_guard lock(c.making);
    if (c.transfer_count > 0) taken = c.transfers[--c.transfer_count];
  }
  // Without the lock, because the pointer gives the stream back if it lacks memory.
  return {taken != nullptr ? taken : make_transfer_stream(device), give_back};
}

void* lasting_stream(int device, void* stream) {
  if (stream == cudaStreamPerThread)
    fail(errc::cannot, {"memory on ", to_string(cuda(device)),
                        " cannot belong to cudaStreamPerThread, which is another stream in every "
                        "thread; pass a stream that cudaStreamCreate made"});
  return stream_for(device, stream);
}

void refuse_captured_build(const char* structure, int device, void* stream) {
  const device_scope scope(device);
  if (is_capturing(stream) || is_capturing(stream_for(device, nullptr)))
    fail(errc::cannot,
         {"the ", structure, " of a matrix cannot be built while its stream, or rig's own, of ",
          to_string(cuda(device)),
          " is captured in a CUDA graph; call prepare() before the capture"});
}

void* owner_for(int device, void* stream) {
  context& c = context_of(device);
  if (stream == nullptr) return c.stream;
  const device_scope scope(device);
  return is_capturing(stream) ? stream : c.stream;
}

void synchronise(int device) {
  const device_scope scope(device);
  // Every call is ordered before later work on this stream. A wait for the whole device would end
  // the captures of other threads.
  void* const own = stream_for(device, nullptr);
  if (is_capturing(own))
    fail(errc::cannot, {"synchronise: rig's own stream of ", to_string(cuda(device)),
                        " is being captured in a CUDA graph; synchronise after the capture"});
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(own)), "synchronise");
  free_waiting(context_of(device));
}

namespace {

#ifdef RIG_HAS_NVTX
/// A range that profilers show, in the domain "rig". Without one, NVTX tests a pointer.
class marked_range {
 public:
  explicit marked_range(const char* name) {
    nvtxEventAttributes_t what = {};
    what.version = NVTX_VERSION;
    what.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    what.messageType = NVTX_MESSAGE_TYPE_ASCII;
    what.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &what);
  }
  marked_range(const marked_range&) = delete;
  ~marked_range() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t made = nvtxDomainCreateA("rig");
    return made;
  }
};
#else  // the toolkit is installed without NVTX
struct marked_range {
  explicit marked_range(const char*) {}
};
#endif

/// What a `stream_order` keeps.
class order_of_call {
 public:
  order_of_call(int device, void* stream, const char* operation,
                std::initializer_list<void*> others);
  ~order_of_call();
  order_of_call(const order_of_call&) = delete;
  bool is_captured() const { return captured_; }

 private:
  bool add(void* stream, const char* operation);
  const marked_range range_;
  bool captured_ = false;
  int device_;
  device_scope current_;
  void* stream_;
  void* others_[16];
  int count_ = 0;
};

order_of_call::order_of_call(int device, void* stream, const char* operation,
                             std::initializer_list<void*> others)
    : range_(operation), device_(device), current_(device_), stream_(stream_for(device_, stream)) {
  // A captured call cannot wait for work outside its graph: its operands must be ready when the
  // graph replays.
  captured_ = is_capturing(stream_);
  if (captured_) return;
  for (void* const other : others)
    if (other != nullptr && add(other, operation)) order(other, device_, stream_, device_);
  // The call does not wait for rig's own stream. That stream waits for every call, because
  // `synchronise` waits for it alone.
  add(stream_for(device_, nullptr), operation);
}

bool order_of_call::add(void* stream, const char* operation) {
  if (stream == stream_ || std::find(others_, others_ + count_, stream) != others_ + count_)
    return false;
  // An order with a captured stream would draw the call into the graph, where work cannot wait for
  // anything outside.
  if (is_capturing(stream))
    fail(errc::cannot, {operation, ": an operand belongs to a stream of ", to_string(cuda(device_)),
                        " that is being captured in a CUDA graph, but the call is on another "
                        "stream; call on the captured stream, or after the capture"});
  others_[count_++] = stream;
  return true;
}

order_of_call::~order_of_call() {
  // A buffer's own stream frees it, so that stream must not run ahead of the call. If it cannot be
  // made to wait, the host waits. The next call that waits reports a fault of the device.
  for (int i = 0; i < count_; ++i) try {
      order(stream_, device_, others_[i], device_);
    } catch (...) {
      if (cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)) != cudaSuccess)
        cudaGetLastError();
    }
}

}  // namespace

bool begin_order(void* memory, int device, void* stream, const char* operation,
                 std::initializer_list<void*> others) {
  static_assert(sizeof(order_of_call) <= stream_order::room);
  return (new (memory) order_of_call(device, stream, operation, others))->is_captured();
}

void end_order(void* memory) { static_cast<order_of_call*>(memory)->~order_of_call(); }

}  // namespace rig::on_cuda
