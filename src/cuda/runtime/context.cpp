// The devices: their contexts, and the errors that they report.

#include "cuda/runtime/context.hpp"

#include <algorithm>
#include <vector>

namespace rig::on_cuda {

context contexts[most_devices];

namespace {

struct devices_found {
  int count;
  const char* why_none;  ///< in CUDA's words: a driver that is too old, no device
};
/// CUDA calls a driver that is not there too old.
bool is_without_driver() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess && version == 0;
}
const devices_found& found() {
  static const devices_found once = [] {
    int n = 0;
    const cudaError_t status = cudaGetDeviceCount(&n);
    if (status == cudaSuccess) return devices_found{std::min(n, most_devices), ""};
    cudaGetLastError();
    if (is_without_driver()) return devices_found{0, "no driver of NVIDIA is installed"};
    return devices_found{0, cudaGetErrorString(status)};
  }();
  return once;
}
int device_count() { return found().count; }

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

int capability_of(int device) {
  return 10 * attribute_of(device, cudaDevAttrComputeCapabilityMajor) +
         attribute_of(device, cudaDevAttrComputeCapabilityMinor);
}

/// Never freed, because a product may run while the process ends.
const char* sentence_without_machine_code(int capability) {
  static constexpr const char* end =
      "), and there is no run-time compiler: install NVRTC, or set RIG_NVRTC to its path";
  const auto* const kept =
      new std::string("librig has no machine code for this GPU (compute capability " +
                      capability_in_words(capability) + end);
  return kept->c_str();
}

}  // namespace

std::string capability_in_words(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

void require_capability(int device, int capability) {
  if (capability < least_capability)
    fail(errc::place,
         {to_string(cuda(device)), " has compute capability ", capability_in_words(capability),
          "; rig needs ", capability_in_words(least_capability), " or more"});
}

bool has_machine_code(std::span<const int> architectures, int capability) {
  return std::ranges::any_of(architectures, [&](int architecture) {
    const int code = architecture / 10;
    return code / 10 == capability / 10 && code <= capability;
  });
}

const char* no_machine_code_because(int device) { return context_of(device).no_machine_code; }

/// Not inlined in `context_of`, because each of its calls would set up the stack frame for this
/// code.
[[gnu::cold]] context& make_context(int device) {
  if (device < 0 || device >= device_count())
    fail(errc::place, {to_string(cuda(device)), " is not available: there are ", device_count(),
                       " CUDA devices", *found().why_none != '\0' ? ": " : "", found().why_none});
  contexts[device].make(device);
  return contexts[device];
}

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
  capability = capability_of(device);
  require_capability(device, capability);
  // nvcc's list decides, not cudaFuncGetAttributes: that loads a module, and it may report the
  // fault of an earlier kernel.
  if (!has_machine_code(aot_architectures(), capability))
    no_machine_code = sentence_without_machine_code(capability);
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
    if (10 * properties.major + properties.minor < least_capability) continue;
    out.push_back({cuda(device), properties.name, properties.multiProcessorCount,
                   static_cast<long>(properties.totalGlobalMem)});
  }
  return out;
}

}  // namespace rig::on_cuda
