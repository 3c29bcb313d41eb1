#pragma once

// A rank without the others: what it receives by its plan, for more ranks than a machine runs.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

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
      [](void* all, rig::int64 number, rig::joining how) {
        return how == rig::joining::sum ? number * *static_cast<const int*>(all) : number;
      },
      [](void*) {}};
  return {rank, size, alone, std::make_shared<int>(size)};
}

/// Rows that this rank receives by its plan.
template <class T>
std::size_t rows_received(const rig::distributed<rig::matrix<T>>& part, const rig::layout& rows,
                          rig::exchange by) {
  using rig::over_ranks::access;
  auto plan = access::find(part, rows);
  std::size_t received = 0;
  if (by == rig::exchange::cover) {
    const auto& cover = access::cover(part, rows, "volumes").plan;
    plan = cover->fetched;
    received = cover->added.size();
  }
  for (const auto& pair : plan->pairs)
    if (pair.rank != part.communicator().rank()) received += pair.received.size();
  return received;
}

/// What a product by fetch, or by cover, moves between all ranks, from the plan of each.
struct volumes {
  double share = 0;         ///< rows of X and C that move, of those that an all-gather of X moves
  double balance = 0;       ///< the most that a rank receives, over the mean; 0: nothing moves
  double plan_seconds = 0;  ///< the longest that a rank builds its plan, without messages
};

template <class T>
volumes volumes_of(const rig::matrix<T>& a, const rig::layout& rows,
                   rig::exchange by = rig::exchange::fetch) {
  const int size = rows.ranks();
  std::size_t all = 0, most = 0;
  volumes out;
  for (int rank = 0; rank < size; ++rank) {
    const auto part = rig::distributed<rig::matrix<T>>::from_whole(simulated(rank, size), a, rows);
    const auto began = std::chrono::steady_clock::now();
    part.prepare(rows, {.exchange = by});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const std::size_t received = rows_received(part, rows, by);
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
