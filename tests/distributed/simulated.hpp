#pragma once

// A rank without the others: what it receives by its plan, for more ranks than a machine runs.

#include <algorithm>
#include <chrono>
#include <cstring>

#include "rig/distributed_mxm.hpp"

namespace ranks {

/// Rank `rank` of `size`. The others say what it says, and send zeros: what is left of a plan is
/// the rows that this rank needs of each other one.
inline rig::communicator simulated(int rank, int size) {
  static constexpr rig::communicator::functions alone = {
      [](void*, std::span<const rig::message>, std::span<const rig::message> receives, void*) {
        for (const rig::message& m : receives)
          if (m.bytes > 0) std::memset(m.data, 0, m.bytes);
      },
      [](void*, rig::int64 number, rig::joining) { return number; }, [](void*) {}};
  return {rank, size, alone, nullptr};
}

/// What a product by fetch moves between all ranks, from the plan of each.
struct volumes {
  double share = 0;         ///< rows that move, of those that an all-gather of X moves
  double balance = 0;       ///< the most that a rank receives, over the mean; 0: nothing moves
  double plan_seconds = 0;  ///< the longest that a rank builds its plan, without messages
};

template <class T>
volumes volumes_of(const rig::matrix<T>& a, const rig::layout& rows) {
  const int size = rows.ranks();
  std::size_t all = 0, most = 0;
  volumes out;
  for (int rank = 0; rank < size; ++rank) {
    const auto part = rig::distributed<rig::matrix<T>>::from_whole(simulated(rank, size), a, rows);
    const auto began = std::chrono::steady_clock::now();
    part.prepare(rows);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::size_t received = 0;
    for (const auto& pair : rig::over_ranks::access::find(part, rows)->pairs)
      if (pair.rank != rank) received += pair.received.size();
    all += received;
    most = std::max(most, received);
    out.plan_seconds = std::max(out.plan_seconds, took.count());
  }
  if (all > 0) out.balance = static_cast<double>(most) * size / static_cast<double>(all);
  if (size > 1)
    out.share = static_cast<double>(all) / (static_cast<double>(size - 1) * a.columns());
  return out;
}

}  // namespace ranks
