#pragma once

// A checked problem as kernels, launches and answers take it.

#include "cuda/analysis/lists.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// The problem as the arguments of kernels.
arguments arguments_of(const problem& p);

/// A mask as an argument of kernels.
mask_arguments mask_arguments_of(const mask_operand& mask);

/// The key of kernels over the problem's semiring and B.
kernel_key key_of(const problem& p);

inline launch_stream stream_of(const problem& p) {
  const int device = p.a.where.device;
  return {device, static_cast<cudaStream_t>(stream_for(device, p.desc->stream)), p.captured};
}

/// The statistics of the pattern by which A is read; empty if the call needs none.
inline const row_statistics& statistics_of(const problem& p) {
  // Never destroyed, because a product may run while the process ends.
  static const auto& none = *new const row_statistics;
  return p.statistics != nullptr ? static_cast<const row_statistics&>(*p.statistics) : none;
}

/// Returns whether kernels may write whole vectors: no mask, no accumulator, and C stores the
/// semiring's result type, or floats narrowed to half or bfloat16.
bool is_plain(const problem& p);

/// Bytes from one row of B to the next. Throws error(cannot) if they exceed 32 bits.
unsigned row_bytes(int64 stride, std::size_t element_bytes);

/// Returns whether rows begin on multiples of 16 bytes, or of `vector_bytes` if that is less.
inline bool is_aligned(const void* data, int64 stride, std::size_t element_bytes,
                       std::size_t vector_bytes = 16) {
  vector_bytes = vector_bytes < 16 ? vector_bytes : 16;
  return reinterpret_cast<std::size_t>(data) % vector_bytes == 0 &&
         static_cast<std::size_t>(stride) * element_bytes % vector_bytes == 0;
}

/// Returns why no kernel exists for this semiring, or for this problem, or null.
const char* no_kernel_because(const semiring_info& s);
const char* no_kernel_because(const problem& p);

/// Sets a refusal in `out` if `why` is not null, and returns whether it did.
inline bool cannot(answer& out, const problem& p, const char* why) {
  if (why == nullptr) return false;
  out.says = verdict::cannot;
  if (p.reasons) out.reason = why;
  return true;
}

/// Estimated seconds of a product that reads A once and gathers a row of B per entry.
double estimate(const problem& p);

/// Seconds that one group takes for a row of so many entries, with a batch of loads in flight.
double lone_row_seconds(int64 entries);

/// order_helps: returns whether taking rows by length pays. split_helps: whether that, or splitting
/// rows, pays.
bool order_helps(const problem& p, const row_statistics& statistics);
bool split_helps(const problem& p, const row_statistics& statistics);

/// The rows by length if that order pays; null: as A stores them.
const listed_row* order_of(const problem& p, const row_lists& lists);

}  // namespace rig::on_cuda
