#pragma once

// What the element-wise operations share: the work of one call, and the kernels of operators.

#include <vector>

#include "cuda/analysis/build.hpp"
#include "cuda/device/element.cuh"
#include "cuda/runtime/context.hpp"
#include "cuda/runtime/launch.hpp"
#include "storage/backend.hpp"

namespace rig::on_cuda {

/// The work of one operation. Scratch is in the order of the call's stream; results belong to the
/// stream that outlives it.
class work : public build {
 public:
  explicit work(const operation& o) : work(o.where(), o.desc->stream, o.name) {}
  explicit work(const problem& p) : work(p.a.where, p.desc->stream, p.name) {}

  work(const work&) = delete;
  /// Results that are dropped, by an exception or because they were copied, are freed by their
  /// stream after the work so far.
  ~work() {
    if (results_.empty()) return;
    try {
      order(stream, where.device, owner_, where.device);
    } catch (...) {
      static_cast<void>(cudaStreamSynchronize(stream));
    }
  }

  /// Memory of a result, which this call may write to.
  buffer result(int64 count, std::size_t bytes) const {
    buffer out = buffer::allocate(static_cast<std::size_t>(count) * bytes, where, owner_);
    if (owner_ == stream) return out;
    order(owner_, where.device, stream, where.device);
    results_.push_back(out);
    return out;
  }

  /// Waits, and returns the number at `from`.
  int64 read(const int64* from) const {
    const pinned_number number;
    to_host(number.get(), from, sizeof(int64));
    wait();
    return *number.get();
  }

  void launch(const device_kernel& kernel, int64 blocks, const void* arguments,
              unsigned threads = element_threads, std::size_t shared = 0) const {
    on_cuda::launch({where.device, stream, captured_}, kernel, dim3(static_cast<unsigned>(blocks)),
                    threads, arguments, shared);
  }
  /// Blocks that wait for each other.
  void launch_together(const device_kernel& kernel, unsigned blocks, const void* arguments,
                       unsigned threads) const {
    on_cuda::launch_together({where.device, stream, captured_}, kernel, blocks, threads, arguments);
  }

 private:
  work(place device, void* of_call, const char* what)
      : build(device, stream_for(device.device, of_call), what),
        owner_(owner_for(device.device, of_call)),
        captured_(is_capturing(stream)) {}

  void* owner_;
  bool captured_;
  mutable std::vector<buffer> results_;  ///< kept until the destructor has ordered the streams
};

/// Blocks of a kernel whose threads compute `elements_in_flight` elements in turn.
inline int64 element_blocks(int64 count) {
  constexpr int64 each = element_threads * elements_in_flight, most = 1 << 20;
  const int64 wanted = (count + each - 1) / each;
  return wanted < most ? wanted : most;
}

element_array array_of(const element_source& from);
element_arguments arguments_of(const operation& o, const operator_info& op, unsigned char code);

/// The key of kernels of an operator that is not builtin. Throws error(cannot) if the run-time
/// compiler has no text of it.
kernel_key key_of(const operation& o, const operator_info& op);

/// An operator as an argument.
template <class Op>
struct operator_tag {
  using type = Op;
};

/// Returns work(operator_tag<Op>()) for a builtin operator, else null.
template <class Work>
const void* with_builtin(const operator_info& op, type stored, Work work) {
  const auto by_algebra = [&]<template <class> class Op>() -> const void* {
    switch (op.algebra) {
      case type::boolean:
        return work(operator_tag<Op<bool>>());
      case type::int32:
        return work(operator_tag<Op<int32>>());
      case type::int64:
        return work(operator_tag<Op<int64>>());
      case type::float64:
        return work(operator_tag<Op<double>>());
      default:
        return work(operator_tag<Op<float>>());
    }
  };
  switch (op.kind) {
    case operator_kind::join:
      return by_algebra.template operator()<builtin_join>();
    case operator_kind::map:
    case operator_kind::select:
      return by_algebra.template operator()<builtin_map>();
    case operator_kind::copy:
      switch (stored) {
        case type::boolean:
          return work(operator_tag<copying<unsigned char>>());
        case type::half:
        case type::bfloat16:
          return work(operator_tag<copying<unsigned short>>());
        case type::int32:
        case type::float32:
          return work(operator_tag<copying<unsigned>>());
        case type::int64:
        case type::float64:
          return work(operator_tag<copying<unsigned long>>());
        default:
          return work(operator_tag<copying<raw_element>>());
      }
    default:
      return nullptr;
  }
}

/// Joins entries of X that meet at one place to `out`, which has the first of each group: members
/// starts[g] … starts[g + 1] of group g are numbers of entries.
void accumulate_groups(const work& by, const operation& o, int64 groups, const int64* starts,
                       const int64* members, const buffer& out);

/// The kernel of a builtin operator, by `builtin` as above; else the one compiled at run time.
template <class Work>
device_kernel kernel_of(const operation& o, const operator_info& op, type stored,
                        kernel_request wanted, Work builtin) {
  const void* const found = with_builtin(op, stored, builtin);
  if (found != nullptr) return kernel_by_nvcc(found, wanted.name);
  wanted.reads_b = false;
  return kernel_for(key_of(o, op), wanted);
}

}  // namespace rig::on_cuda
