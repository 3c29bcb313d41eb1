#pragma once

/// @file
/// The options of a call: `descriptor`.

#include <cstdint>
#include <string>

#include "rig/accumulate.hpp"
#include "rig/checked_index.hpp"
#include "rig/checked_number.hpp"

namespace rig {

/// How exactly a kernel multiplies floats.
enum class precision : std::uint8_t {
  full,  ///< as floats
  tf32,  ///< the kernel `hybrid` may round operands to eleven significant bits, for Tensor cores
};

/// How a product over ranks moves data.
enum class exchange : std::uint8_t {
  automatic,  ///< as X is distributed: `fetch` by rows, `features` by columns
  fetch,      ///< each rank fetches the rows of X that its rows of A name
  features,   ///< each rank has some columns of X and all of A, which is gathered once
  cover,      ///< as `fetch`, or rows of C in parts from ranks that have rows of X, whichever are
              ///< fewer; for sums that are exact in any order
};

/// Options of a call. The meaning fields change the result; the tuning fields change at most the
/// rounding, unless `kernel` names an approximate one. Field order is part of the API.
/// @code
/// const rig::descriptor desc = {.transpose_a = true, .fill = 0, .threads = 4};
/// const auto product = rig::mxm(A, B, rig::max_second<float>{}, desc);
/// @endcode
struct descriptor {
  // meaning
  bool transpose_a = false;  ///< use Aᵀ; the first call builds the derived structure "transpose"
  bool transpose_b = false;  ///< use Bᵀ; each call makes one transposed copy of B
  bool replace = false;      ///< outside the mask, C becomes `fill`; false: C stays
  /// The value of places without products; default: the semiring's zero, finished. Integers that
  /// cannot hold it are error(range), and floats round. Refused where results are sparse, and where
  /// their type is not rig's.
  scalar fill = {};
  // tuning
  std::string kernel = {};  ///< a kernel's name; empty: the cheapest one that can serve
  /// Entries per row that a sampled kernel reads: 1 … 4096; others ignore it.
  checked_option<"width"> width = 0;
  /// Entries per row of a dense B that the kernel `maxk` keeps: 1 … columns. A cbsr has its own k;
  /// other kernels ignore it.
  checked_option<"k"> k = 0;
  bool rescale = false;  ///< sampled sums are multiplied by row_nnz / staged: GCN weights hold full
                         ///< degrees, so GCN inference needs it. Means divide by staged anyway
  /// tf32 lets `hybrid` serve a B of float. Its error has a bound: docs/reference/mxm.md.
  rig::precision precision = rig::precision::full;
  /// The same bits each time. If false, `vendor` can serve, and on a device `maxk_backward` may add
  /// the floats of a `linear` semiring by atomics.
  bool reproducible = true;
  /// CPU threads; 0: as the work, OpenMP, the process's cores and their load allow
  /// (docs/guide/threads.md). At most 256, or the machine's processors if there are more. One if
  /// there is little to do, or in a forked child whose parent had threads. If the system refuses a
  /// thread, GCC's OpenMP prints an error and ends the process; then set a number that `ulimit -u`
  /// and cgroups allow.
  checked_option<"threads"> threads = 0;
  /// The cudaStream_t to work on. Null: rig's own stream of the device, which CUDA's default stream
  /// does not order; that one is cudaStreamLegacy. New results belong to rig's stream, which waits
  /// for the call; so results outlive `stream`, and any thread may use them.
  /// Work on `stream` must be complete before the stream is destroyed. Work on cudaStreamPerThread
  /// must be complete before its thread ends, otherwise CUDA's driver can hang. A kernel of the
  /// caller that reads a result on `stream` must be complete before the result is dropped or used
  /// on another stream. While `stream` is captured, new results belong to the graph and to
  /// `stream`.
  void* stream = nullptr;
  /// Over ranks (`rig/distributed.hpp`): what moves; other calls ignore it. No bit depends on it,
  /// except by `cover` the sign of a zero tie, and the bits of NaN.
  rig::exchange exchange = exchange::automatic;
};

}  // namespace rig
