// loopback: ranks that are threads of one process. They meet at barriers under one lock, and copy
// from each other's memory between two of them.

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "rig/communicator.hpp"
#include "rig/error.hpp"

namespace rig {
namespace {

/// What the ranks share.
class meeting {
 public:
  explicit meeting(int size)
      : size(size),
        sends(static_cast<std::size_t>(size)),
        numbers(static_cast<std::size_t>(size), 0) {}

  const int size;
  std::vector<std::span<const message>> sends;  ///< of each rank, between two calls of `meet`
  std::vector<int64> numbers;                   ///< the same

  /// Returns when all ranks are here. Throws error(cannot) if one has left.
  void meet(int rank) {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (left_ < 0 && ++arrived_ == size) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round || left_ >= 0; });
    if (round_ == round)
      fail(errc::cannot, {"loopback: rank ", left_, " of ", size, " has left, and rank ", rank,
                          " waits for it; all ranks make the same calls"});
  }
  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    if (left_ < 0) left_ = rank;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned long round_ = 0;
  int arrived_ = 0, left_ = -1;
};

struct participant {
  participant(std::shared_ptr<meeting> all, int rank) : all(std::move(all)), rank(rank) {}
  participant(const participant&) = delete;
  ~participant() { all->leave(rank); }

  const std::shared_ptr<meeting> all;
  const int rank;
};

std::span<const message>& sends_of(meeting& all, int rank) {
  return all.sends[static_cast<std::size_t>(rank)];
}

/// The bytes that `receives[number]` awaits: the send at the same place among those of its pair.
const message* match(const participant& here, std::span<const message> receives,
                     std::size_t number) {
  const int from = receives[number].rank;
  if (from < 0 || from >= here.all->size) return nullptr;
  auto before = std::count_if(receives.begin(), receives.begin() + static_cast<long>(number),
                              [&](const message& m) { return m.rank == from; });
  for (const message& sent : sends_of(*here.all, from))
    if (sent.rank == here.rank && before-- == 0) return &sent;
  return nullptr;
}

void exchange(void* state, std::span<const message> sends, std::span<const message> receives,
              void*) {
  const participant& here = *static_cast<participant*>(state);
  meeting& all = *here.all;
  sends_of(all, here.rank) = sends;
  all.meet(here.rank);
  const message* wrong = nullptr;
  for (std::size_t k = 0; k < receives.size(); ++k) {
    const message& to = receives[k];
    const message* const from = match(here, receives, k);
    if (from == nullptr || from->bytes != to.bytes)
      wrong = &to;
    else if (to.bytes > 0)
      std::memcpy(to.data, from->data, to.bytes);
  }
  all.meet(here.rank);  // until then the senders keep their bytes
  if (wrong != nullptr)
    fail(errc::cannot, {"loopback: rank ", here.rank, " awaits ", wrong->bytes, " bytes that rank ",
                        wrong->rank, " does not send; all ranks make the same calls"});
}

int64 all_reduce(void* state, int64 number, joining how) {
  const participant& here = *static_cast<participant*>(state);
  meeting& all = *here.all;
  all.numbers[static_cast<std::size_t>(here.rank)] = number;
  all.meet(here.rank);
  int64 joined = all.numbers[0];
  for (std::size_t k = 1; k < all.numbers.size(); ++k) {
    const int64 next = all.numbers[k];
    joined = how == joining::sum     ? joined + next
             : how == joining::least ? std::min(joined, next)
                                     : std::max(joined, next);
  }
  all.meet(here.rank);
  return joined;
}

void barrier(void* state) {
  const participant& here = *static_cast<participant*>(state);
  here.all->meet(here.rank);
}

constexpr communicator::functions by_threads = {exchange, all_reduce, barrier};

}  // namespace

std::vector<communicator> loopback(int ranks) {
  if (ranks < 1)
    fail(errc::range, {"loopback: ", ranks, " is no number of ranks; pass at least 1"});
  return or_out_of_memory("loopback", [&] {
    const auto all = std::make_shared<meeting>(ranks);
    std::vector<communicator> made;
    made.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      made.emplace_back(rank, ranks, by_threads, std::make_shared<participant>(all, rank));
    return made;
  });
}

}  // namespace rig
