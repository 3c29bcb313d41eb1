#pragma once

// What the builders of structures share: launches, memory and copies in the order of a stream.

#include "cuda/runtime/runtime.hpp"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

/// Threads per block of the kernels that build.
constexpr int build_threads = 256;

/// Blocks for `count` threads, none for none; kernels take further items in turn.
inline unsigned blocks_for(int64 count) {
  const int64 wanted = (count + build_threads - 1) / build_threads;
  return static_cast<unsigned>(wanted < 65536 ? wanted : 65536);
}

/// Where a structure is built, in which order, and its name in messages.
struct build {
  build(const pattern& of, const char* structure) : build(of.where(), of.stream(), structure) {}
  build(place device, void* in_order, const char* what)
      : where(device), stream(static_cast<cudaStream_t>(in_order)), name(what) {}

  buffer room(int64 count, std::size_t bytes) const {
    return buffer::temporary(static_cast<std::size_t>(count) * bytes, where, stream);
  }
  void clear(const buffer& room) const {
    check(cudaMemsetAsync(room.data(), 0, room.bytes(), stream), name);
  }
  /// Launches a kernel with a thread for each of `count` items, or fewer that take several.
  template <class... Parameters>
  void start(void (*kernel)(Parameters...), int64 count,
             std::type_identity_t<Parameters>... given) const {
    launch_kernel(kernel, name, where.device, stream, blocks_for(count), build_threads, given...);
  }
  /// Calls f(k) for 0 … count − 1, in parallel; each.hpp.
  template <class F>
  void each(int64 count, F f) const;
  /// The host may read `to` after `wait`.
  void to_host(void* to, const void* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), name);
  }
  void to_device(void* to, const void* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), name);
  }
  void wait() const { check(cudaStreamSynchronize(stream), name); }

  /// Calls a function of CUB twice: call(null, bytes) sets the bytes of its scratch.
  template <class Call>
  void with_scratch(Call call) const {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), name);
    const buffer scratch = buffer::temporary(bytes, where, stream);
    check(call(scratch.data(), bytes), name);
  }

  place where;
  cudaStream_t stream;
  const char* name;
};

}  // namespace rig::on_cuda
