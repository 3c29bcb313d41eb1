// Copies: through pinned memory from and to the host, within a device, between devices.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "cuda/runtime/context.hpp"

namespace rig::on_cuda {

void refuse_captured(void* stream, int device) {
  if (is_capturing(stream))
    fail(errc::cannot,
         {"copy: the memory belongs to a stream of ", to_string(cuda(device)),
          " that is being captured in a CUDA graph; copy before or after the capture"});
}

void refuse_captured_copy(int device, void* stream) {
  const device_scope scope(device);
  refuse_captured(stream_for(device, stream), device);
}

namespace {

/// Copies between host and device go through two pinned pieces of this size: one is filled while
/// the other travels.
constexpr std::size_t pinned_bytes = 4u << 20;

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
         {"out of memory: cannot allocate ", 2 * pinned_bytes, " bytes of pinned memory on cpu"});
  }
  check(status, "cudaHostAlloc");
  c.pinned[0] = static_cast<char*>(both);
  c.pinned[1] = c.pinned[0] + pinned_bytes;
}

/// Pinned numbers that no call has. Never destroyed, because a call may run while the process ends.
struct free_numbers {
  std::mutex changing;
  std::vector<std::int64_t*> list;
  std::size_t made = 0;  ///< those of calls too
};
free_numbers& numbers() {
  static auto* const all = new free_numbers;
  return *all;
}

/// Adds a page of numbers. Another thread may capture a stream meanwhile.
void add_numbers(free_numbers& to) {
  constexpr std::size_t count = 512;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaHostAlloc");
  void* page = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&page, count * sizeof(std::int64_t), cudaHostAllocPortable);
  check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaHostAlloc");
  check(status, "cudaHostAlloc");
  to.list.reserve(to.made + count);
  to.made += count;
  for (std::size_t i = 0; i < count; ++i) to.list.push_back(static_cast<std::int64_t*>(page) + i);
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

void copy_between_devices(const buffer& from, const buffer& to) {
  const int here = from.where().device, there = to.where().device;
  {
    const device_scope scope(here);
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
  auto* const stream = static_cast<cudaStream_t>(there.stream());
  if (from.where() == cpu())
    to_device(from.data<const char>(), to.data<char>(), from.bytes(), device, stream);
  else
    to_host(from.data<const char>(), to.data<char>(), from.bytes(), device, stream);
}

namespace {

/// The distance of rows that CUDA's functions of two dimensions reach. Rows further apart are few,
/// so they are handled one by one. Packed rows are one, because its length has no limit.
constexpr std::size_t most_pitch = highest<int32>();

void copy_in_order(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                   std::size_t bytes, std::size_t rows, cudaStream_t stream) {
  constexpr auto how = cudaMemcpyDeviceToDevice;
  const char* const what = "copy of rows";
  if (to_stride == bytes && from_stride == bytes)
    return check(cudaMemcpyAsync(to, from, rows * bytes, how, stream), what);
  if (std::max(to_stride, from_stride) <= most_pitch)
    return check(cudaMemcpy2DAsync(to, to_stride, from, from_stride, bytes, rows, how, stream),
                 what);
  for (std::size_t i = 0; i < rows; ++i)
    check(cudaMemcpyAsync(static_cast<char*>(to) + i * to_stride,
                          static_cast<const char*>(from) + i * from_stride, bytes, how, stream),
          what);
}

}  // namespace

void clear_rows(void* to, std::size_t stride, std::size_t bytes, std::size_t rows,
                cudaStream_t stream, const char* what) {
  if (stride == bytes) return check(cudaMemsetAsync(to, 0, rows * bytes, stream), what);
  if (stride <= most_pitch)
    return check(cudaMemset2DAsync(to, stride, 0, bytes, rows, stream), what);
  for (std::size_t i = 0; i < rows; ++i)
    check(cudaMemsetAsync(static_cast<char*>(to) + i * stride, 0, bytes, stream), what);
}

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

pinned_number::pinned_number() {
  free_numbers& all = numbers();
  const std::lock_guard lock(all.changing);
  if (all.list.empty()) add_numbers(all);
  at_ = all.list.back();
  all.list.pop_back();
}

pinned_number::~pinned_number() {
  const std::lock_guard lock(numbers().changing);
  numbers().list.push_back(at_);  // within the reserved size
}

}  // namespace rig::on_cuda
