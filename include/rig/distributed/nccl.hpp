#pragma once

/// @file
/// Ranks of NCCL: `nccl_communicator`. It is compiled in the user's program, which links NCCL and
/// CUDA's runtime; librig does not link NCCL.

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <thread>

#include "rig/buffer.hpp"
#include "rig/communicator.hpp"
#include "rig/error.hpp"

namespace rig {

/// @cond internal
namespace over_nccl {

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) fail(errc::device, {call, ": ", cudaGetErrorString(code)});
}
/// Waits for a call of a non-blocking communicator, which returns before it is done.
inline void check(ncclResult_t code, const char* call, ncclComm_t ranks) {
  while (code == ncclInProgress) {
    std::this_thread::yield();
    if (ncclCommGetAsyncError(ranks, &code) != ncclSuccess) break;
  }
  if (code != ncclSuccess)
    fail(errc::cannot, {call, ": ", ncclGetErrorString(code), "; ", ncclGetLastError(ranks)});
}

/// Makes a device current, and the one before again at the end.
class current_device {
 public:
  explicit current_device(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  current_device(const current_device&) = delete;
  ~current_device() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

/// The caller's communicator, and what its messages in host memory pass through. No host memory is
/// pinned: that may wait for another rank's device, which waits for this rank.
struct participant {
  ncclComm_t ranks;
  int device = 0;
  cudaStream_t own = nullptr;  ///< of reductions, which wait for no product that fills the device
  cudaStream_t stream;         ///< of messages, if their call has none
  buffer number;               ///< of a reduction, on the device
  buffer staged;               ///< on the device, grown at need; free between two calls

  participant(ncclComm_t of, cudaStream_t on) : ranks(of), stream(on) {
    check(ncclCommCuDevice(of, &device), "ncclCommCuDevice", of);
    const current_device here(device);
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&own, cudaStreamNonBlocking, greatest), "cudaStreamCreate");
    if (stream == nullptr) stream = own;
    try {
      number = buffer::allocate(sizeof(int64), cuda(device), own);
    } catch (...) {
      leave();
      throw;
    }
  }
  participant(const participant&) = delete;
  ~participant() { leave(); }

  /// Waits for the device, and throws what NCCL reports meanwhile: another rank may have ended.
  void wait(cudaStream_t on) const {
    cudaError_t done = cudaStreamQuery(on);
    for (; done == cudaErrorNotReady; done = cudaStreamQuery(on)) {
      ncclResult_t reported = ncclSuccess;
      check(ncclCommGetAsyncError(ranks, &reported), "ncclCommGetAsyncError", ranks);
      if (reported != ncclInProgress) check(reported, "NCCL", ranks);
      std::this_thread::yield();
    }
    check(done, "cudaStreamQuery");
  }

 private:
  void leave() {
    number = staged = buffer();
    cudaStreamDestroy(own);
  }
};

inline void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

inline int64 all_reduce(void* state, int64 number, joining how) {
  const participant& of = *static_cast<participant*>(state);
  const current_device here(of.device);
  const ncclRedOp_t by = how == joining::sum ? ncclSum : how == joining::least ? ncclMin : ncclMax;
  void* const there = of.number.data();
  copy(there, &number, sizeof(number), of.own);
  check(ncclAllReduce(there, there, 1, ncclInt64, by, of.ranks, of.own), "ncclAllReduce", of.ranks);
  of.wait(of.own);
  copy(&number, there, sizeof(number), of.own);
  check(cudaStreamSynchronize(of.own), "cudaStreamSynchronize");
  return number;
}

inline void barrier(void* state) { all_reduce(state, 0, joining::sum); }

inline bool is_on_device(const message& of) {
  cudaPointerAttributes known{};
  check(cudaPointerGetAttributes(&known, of.data), "cudaPointerGetAttributes");
  return known.type == cudaMemoryTypeDevice || known.type == cudaMemoryTypeManaged;
}

/// Calls work(message, where its bytes are on the device, whether they are staged there). Returns
/// the bytes of `staged` in use, of which `used` are in use before.
template <class Work>
std::size_t for_each(std::span<const message> messages, unsigned char* staged, std::size_t used,
                     Work work) {
  constexpr std::size_t aligned = 16;
  for (const message& m : messages) {
    if (m.bytes == 0) continue;
    const bool is_staged = !is_on_device(m);
    work(m, is_staged ? staged + used : m.data, is_staged);
    if (is_staged) used += (m.bytes + aligned - 1) / aligned * aligned;
  }
  return used;
}

/// Throws unless bytes on a device are on the communicator's.
inline void require_here(const participant& of, std::span<const message> messages) {
  for (const message& m : messages) {
    if (m.bytes == 0 || !is_on_device(m)) continue;
    cudaPointerAttributes known{};
    check(cudaPointerGetAttributes(&known, m.data), "cudaPointerGetAttributes");
    if (known.device != of.device)
      fail(errc::place, {"nccl_communicator: a message is on ", to_string(cuda(known.device)),
                         ", the communicator on ", to_string(cuda(of.device)),
                         "; put the parts on the communicator's device"});
  }
}

/// Makes room for messages in host memory. If one rank has none, all throw, before any sends.
inline std::size_t make_room(participant& of, std::span<const message> sends,
                             std::span<const message> receives) {
  const auto nothing = [](const message&, void*, bool) {};
  std::size_t bytes = 0;
  std::exception_ptr failed;
  try {
    require_here(of, sends);
    require_here(of, receives);
    bytes = for_each(receives, nullptr, for_each(sends, nullptr, 0, nothing), nothing);
    if (of.staged.bytes() < bytes) of.staged = buffer();
    if (of.staged.bytes() < bytes) of.staged = buffer::allocate(bytes, cuda(of.device), of.own);
    if (bytes > 0) of.wait(of.own);  // so that another stream may use it
  } catch (...) {
    failed = std::current_exception();
  }
  const int64 failures = all_reduce(&of, failed != nullptr, joining::sum);
  if (failed != nullptr) std::rethrow_exception(failed);
  if (failures > 0)
    fail(errc::cannot, {"nccl_communicator: ", failures,
                        " other ranks have no room for messages, or messages on another device"});
  return bytes;
}

inline void exchange(void* state, std::span<const message> sends, std::span<const message> receives,
                     void* on) {
  participant& of = *static_cast<participant*>(state);
  const current_device here(of.device);
  const auto stream = on != nullptr ? static_cast<cudaStream_t>(on) : of.stream;
  const std::size_t bytes = make_room(of, sends, receives);
  auto* const staged = of.staged.data<unsigned char>();
  const std::size_t sent =
      for_each(sends, staged, 0, [&](const message& m, void* there, bool is_staged) {
        if (is_staged) copy(there, m.data, m.bytes, stream);
      });
  ncclResult_t started = ncclGroupStart();
  const auto keep = [&](ncclResult_t code) {
    if (started == ncclSuccess || started == ncclInProgress) started = code;
  };
  for_each(sends, staged, 0, [&](const message& m, void* there, bool) {
    keep(ncclSend(there, m.bytes, ncclInt8, m.rank, of.ranks, stream));
  });
  for_each(receives, staged, sent, [&](const message& m, void* there, bool) {
    keep(ncclRecv(there, m.bytes, ncclInt8, m.rank, of.ranks, stream));
  });
  keep(ncclGroupEnd());
  check(started, "ncclSend and ncclRecv", of.ranks);
  if (bytes == 0) return;
  of.wait(stream);
  for_each(receives, staged, sent, [&](const message& m, void* there, bool is_staged) {
    if (is_staged) copy(m.data, there, m.bytes, stream);
  });
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

inline constexpr communicator::functions calls = {exchange, all_reduce, barrier, true};

}  // namespace over_nccl
/// @endcond

/// The ranks of an NCCL communicator, each on its device.
///
/// Bytes on a device go from there by NCCL, in the order of the call's stream, or of `stream` if it
/// has none (null: a stream of its own). Bytes in host memory pass through the device; then the
/// call waits. The caller keeps `of` and `stream`, and makes no other call on `of` meanwhile. If a
/// rank throws before bytes travel, all do. If it ends between calls, the others wait unless NCCL
/// reports it: then they throw, and the program calls ncclCommAbort. Ranks of one process may wait
/// for ever if one maps memory or loads a kernel while another waits in NCCL, because CUDA waits
/// for all devices then; a process per device has no such wait. Throws error: cannot, with NCCL's
/// text; device; place, if the library has no CUDA; out_of_memory.
/// @code
/// ncclCommInitRank(&of, size, id, rank);
/// const rig::communicator ranks = rig::nccl_communicator(of, stream);
/// @endcode
inline communicator nccl_communicator(ncclComm_t of, cudaStream_t stream = nullptr) {
  return or_out_of_memory("nccl_communicator", [&] {
    int rank = 0, size = 0;
    over_nccl::check(ncclCommUserRank(of, &rank), "ncclCommUserRank", of);
    over_nccl::check(ncclCommCount(of, &size), "ncclCommCount", of);
    return communicator(rank, size, over_nccl::calls,
                        std::make_shared<over_nccl::participant>(of, stream));
  });
}

}  // namespace rig
