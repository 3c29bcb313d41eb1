#pragma once

/// @file
/// Ranks that work together: `communicator`, and `loopback`, ranks in one process.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rig/scalar.hpp"

namespace rig {

/// Bytes that one rank sends to another.
struct message {
  int rank;           ///< the other rank
  void* data;         ///< the bytes: read by the sender, written by the receiver
  std::size_t bytes;  ///< their number, the same on both ranks
};

/// How `communicator::all_reduce` joins the ranks' numbers.
enum class joining : unsigned char {
  sum,       ///< their sum
  least,     ///< the least one
  greatest,  ///< the greatest one
};

/// Some processes or threads, the ranks 0 … size − 1, and the means by which they exchange data.
///
/// A value that is cheap to copy; copies are one rank. `loopback`, `rig/distributed/mpi.hpp` and
/// `rig/distributed/nccl.hpp` make one, and so does a program with its own transport. Every call is
/// collective: all ranks make the same calls in the same order, one at a time.
/// @code
/// const rig::communicator ranks = rig::loopback(1)[0];
/// std::printf("rank %d of %d\n", ranks.rank(), ranks.size());
/// @endcode
class communicator {
 public:
  /// What a transport implements. Each function gets the transport's state, and throws
  /// `rig::error` if it fails.
  struct functions {
    /// Sends and receives; the messages between two ranks arrive in their order. Returns when the
    /// sends may be overwritten and the receives are there. Data on a device is used in the order
    /// of `stream`.
    void (*exchange)(void* state, std::span<const message> sends, std::span<const message> receives,
                     void* stream);
    /// Joins one number of every rank; each rank gets the result.
    int64 (*all_reduce)(void* state, int64 number, joining how);
    /// Returns when all ranks have called it.
    void (*barrier)(void* state);
    /// Whether `exchange` takes data on devices. Otherwise products copy it to host memory before.
    bool reaches_devices = false;
  };

  /// Rank `rank` of `size`. `calls` outlives the communicator, which keeps `state` alive.
  communicator(int rank, int size, const functions& calls, std::shared_ptr<void> state)
      : rank_(rank), size_(size), calls_(&calls), state_(std::move(state)) {}

  /// Copies, also in place of a move, so that every communicator stays what it is.
  communicator(const communicator&) = default;
  /// The same.
  communicator& operator=(const communicator&) = default;

  /// The number of this rank.
  int rank() const { return rank_; }
  /// The number of ranks.
  int size() const { return size_; }
  /// Sends and receives, as `functions::exchange` says. All ranks call it, also those without
  /// messages. No message goes from a rank to itself.
  void exchange(std::span<const message> sends, std::span<const message> receives,
                void* stream = nullptr) const {
    calls_->exchange(state_.get(), sends, receives, stream);
  }
  /// The sum, the least or the greatest of the ranks' numbers.
  int64 all_reduce(int64 number, joining how) const {
    return calls_->all_reduce(state_.get(), number, how);
  }
  /// Whether `exchange` takes data on devices.
  bool reaches_devices() const { return calls_->reaches_devices; }
  /// Waits for all ranks.
  void barrier() const { calls_->barrier(state_.get()); }

 private:
  int rank_, size_;
  const functions* calls_;
  std::shared_ptr<void> state_;
};

/// `ranks` ranks in this process, for tests and examples: each communicator is for one thread.
///
/// If a rank drops its last copy while another waits for it, the other gets error(cannot), which
/// names the rank. Throws error: range, unless there is at least one rank; out_of_memory.
/// @code
/// std::vector<std::jthread> threads;
/// for (rig::communicator& rank : rig::loopback(4))
///   threads.emplace_back([ranks = std::move(rank)] { ranks.barrier(); });
/// @endcode
std::vector<communicator> loopback(int ranks);

}  // namespace rig
