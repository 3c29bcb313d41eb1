#pragma once

// closure: y = y ⊕ y·A until nothing changes, in one kernel. Nodes that changed wait in lists;
// those whose values are better than a limit are near, and offer products along their arcs. A round
// ends at a barrier of all blocks, or of one block while few nodes are near. Source: Davidson et
// al., IPDPS 2014; Gupta, Stuart & Owens, persistent threads, InPar 2012.

#include "cuda/spgemm/push.cuh"

namespace rig::on_cuda {

/// Threads per block, of which each multiprocessor runs one.
constexpr int closure_threads = 1024;
/// One block works alone on at most so many nodes that wait.
constexpr unsigned few_waiting = 8192;
/// Arcs that one lane reads alone, and arcs that one warp reads: longer rows are cut into parts.
constexpr int64 arcs_of_lane = 8, arcs_of_part = 1024;
/// Arcs that a lane has in flight.
constexpr int arcs_in_flight = 4;

/// What the blocks share, and what stays from one launch to the next. Counters are used in turns of
/// three: one is read, one is written, and one is cleared.
struct closure_state {
  unsigned arrived, generation;  ///< of the barrier
  unsigned near[3], parts[3];    ///< by round
  unsigned far[3];               ///< by limit
  unsigned round, limits;        ///< the number of this round, and of limits so far
  unsigned rounds_of_limit;
  bool has_limit, is_done, diverges;
  any_value limit;
  unsigned long long best[3];  ///< the best value that waits, by limit
};

struct closure_arguments {
  const void* offsets = nullptr;
  const index* ends = nullptr;        ///< of arcs
  const void* weights = nullptr;      ///< of arcs, in the semiring's right type; null: `iso`
  const void* permutation = nullptr;  ///< of weights; null: as they are
  any_value iso = {};
  bool offsets_64 = false;
  index nodes = 0;
  void* values = nullptr;  ///< x before and y after, in the type of sums
  int64 stride = 0;
  void* slots = nullptr;      ///< a value per node
  unsigned* marks = nullptr;  ///< the round for which a node is near last
  unsigned* waits = nullptr;  ///< whether a node waits
  index *near[2] = {}, *far[2] = {};
  int64* parts = nullptr;  ///< of long rows: node · 2³² + number
  closure_state* state = nullptr;
  double width = 0;          ///< of a limit; 0: none
  unsigned few_near = 0;     ///< one block works alone on at most so many near nodes
  unsigned most_rounds = 0;  ///< of this launch; 0: any number
  bool begins = false;       ///< this is the first launch
};

/// The threads that share a round: all, or those of one block. Neighbouring warps of all are in
/// different blocks, so that few nodes are spread over the device.
struct closure_team {
  int64 thread, threads;
  bool is_whole;
};

/// Waits for all blocks, which all run at once.
__device__ __forceinline__ void wait_for_blocks(closure_state* state) {
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile unsigned* const generation = &state->generation;
    const unsigned before = *generation;
    __threadfence();
    if (atomicAdd(&state->arrived, 1u) == gridDim.x - 1) {
      *static_cast<volatile unsigned*>(&state->arrived) = 0;
      __threadfence();
      *generation = before + 1;
    } else {
      while (*generation == before) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

/// A place in a list for each thread that calls this together.
__device__ __forceinline__ unsigned next_place(unsigned* count) {
  const unsigned together = __activemask(), lane = threadIdx.x % 32;
  const int first = __ffs(static_cast<int>(together)) - 1;
  unsigned begin = 0;
  if (static_cast<int>(lane) == first)
    begin = atomicAdd(count, static_cast<unsigned>(__popc(together)));
  begin = __shfl_sync(together, begin, first);
  return begin + static_cast<unsigned>(__popc(together & ((1u << lane) - 1)));
}

/// Whether a value takes the place of another. NaN stays, and so does a zero of the other sign.
template <class T>
__device__ __forceinline__ bool replaces_value(const T& now, const T& before) {
  if constexpr (is_float<T> || is_integer<T> || is_same<T, bool>) {
    return before == before && !(now == before);
  } else {
    unsigned long long x = 0, y = 0;
    memcpy(&x, &now, sizeof(T));
    memcpy(&y, &before, sizeof(T));
    return x != y;
  }
}

/// One thread's part of a closure over S.
template <class S>
struct closure_thread {
  using T = typename S::accum;
  using word = slot_word<S>;
  static constexpr bool has_order = is_float<T> || is_integer<T>;

  const closure_arguments& args;
  closure_state* state;
  unsigned round, limits, rounds_of_limit;
  bool has_limit, is_done = false, diverges = false;
  T limit;

  __device__ explicit closure_thread(const closure_arguments& of) : args(of), state(of.state) {
    load();
  }
  /// The course of the closure, which the threads of a team have in common.
  __device__ void load() {
    volatile closure_state* const from = state;
    round = from->round;
    limits = from->limits;
    rounds_of_limit = from->rounds_of_limit;
    has_limit = from->has_limit;
    is_done = from->is_done;
    diverges = from->diverges;
    word bits = *reinterpret_cast<volatile const word*>(&state->limit);
    limit = sum_of<S>(bits);
  }
  __device__ void store() const {
    state->round = round;
    state->limits = limits;
    state->rounds_of_limit = rounds_of_limit;
    state->has_limit = has_limit;
    state->is_done = is_done;
    state->diverges = diverges;
    *reinterpret_cast<word*>(&state->limit) = word_of<S>(limit);
  }

  __device__ static unsigned read(const unsigned& count) {
    return *static_cast<const volatile unsigned*>(&count);
  }
  __device__ int64 offset(index node) const {
    return offset_at(args.offsets, args.offsets_64, node);
  }
  __device__ unsigned near_count() const { return read(state->near[round % 3]); }
  __device__ unsigned far_count() const { return read(state->far[limits % 3]); }
  __device__ word* slot(index node) const { return static_cast<word*>(args.slots) + node; }
  __device__ T value(index node) const {
    return sum_of<S>(*static_cast<volatile word*>(slot(node)));
  }
  __device__ bool is_near(const T& of) const {
    if constexpr (has_order) return !has_limit || (S::add(of, limit) == of && of != limit);
    return true;
  }
  __device__ void sync(const closure_team& team) const {
    if (team.is_whole)
      wait_for_blocks(state);
    else
      __syncthreads();
  }

  /// All nodes with a value wait.
  __device__ void begin(const closure_team& team) {
    const T zero = S::zero();
    if (team.thread == 0)
      for (auto& best : state->best) *reinterpret_cast<word*>(&best) = word_of<S>(zero);
    for (int64 k = team.thread; k < args.nodes; k += team.threads) {
      const auto node = static_cast<index>(k);
      T given = static_cast<const T*>(args.values)[k * args.stride];
      const bool is_there = replaces_value(given, zero) || replaces_value(zero, given);
      if (is_there) given = S::add(zero, given);
      *slot(node) = word_of<S>(given);
      args.marks[k] = 0;
      args.waits[k] = is_there ? 1 : 0;
      if (is_there) args.far[0][next_place(&state->far[0])] = node;
    }
    sync(team);
  }
  __device__ void end(const closure_team& team) const {
    for (int64 k = team.thread; k < args.nodes; k += team.threads)
      static_cast<T*>(args.values)[k * args.stride] = value(static_cast<index>(k));
  }

  /// value = value ⊕ x, which x receives. Returns whether that changes it; `seen` was read before.
  __device__ bool improve(index node, word seen, T& x) const {
    for (;;) {
      const T before = sum_of<S>(seen), sum = S::add(before, x);
      if (!replaces_value(sum, before)) return false;
      const word found = atomicCAS(slot(node), seen, word_of<S>(sum));
      if (found == seen) {
        x = sum;
        return true;
      }
      seen = found;
    }
  }
  /// A node whose value changed comes next, or waits.
  __device__ void enqueue(index node, const T& of) const {
    if (is_near(of)) {
      if (atomicExch(args.marks + node, round + 1) != round + 1)
        args.near[(round + 1) % 2][next_place(&state->near[(round + 1) % 3])] = node;
    } else if (atomicExch(args.waits + node, 1u) == 0) {
      args.far[limits % 2][next_place(&state->far[limits % 3])] = node;
    }
  }
  /// The value of an arc, which is stored in the semiring's type.
  __device__ typename S::right weight(int64 arc) const {
    typename S::right out{};
    if constexpr (!is_ignoring_right<S>)
      memcpy(&out,
             args.weights == nullptr
                 ? static_cast<const void*>(args.iso.bytes)
                 : static_cast<const typename S::right*>(args.weights) +
                       (args.permutation == nullptr
                            ? arc
                            : offset_at(args.permutation, args.offsets_64, arc)),
             sizeof(out));
    return out;
  }
  /// Offers products along the arcs begin, begin + step … of a node, several at once.
  __device__ void offer(index node, const T& from, int64 begin, int64 end, int64 step) const {
    for (int64 first = begin; first < end; first += arcs_in_flight * step) {
      index ends[arcs_in_flight];
      T sums[arcs_in_flight];
      word seen[arcs_in_flight];
      for (int k = 0; k < arcs_in_flight; ++k) {
        const int64 arc = first + k * step;
        ends[k] = arc < end ? args.ends[arc] : -1;
      }
      for (int k = 0; k < arcs_in_flight; ++k) {
        if (ends[k] < 0) continue;
        seen[k] = *static_cast<volatile word*>(slot(ends[k]));
        sums[k] = product<S>(from, weight(first + k * step), {0, node});
      }
      for (int k = 0; k < arcs_in_flight; ++k)
        if (ends[k] >= 0 && improve(ends[k], seen[k], sums[k])) enqueue(ends[k], sums[k]);
    }
  }

  __device__ void leave_parts(index node, int64 count) const {
    const unsigned first = atomicAdd(&state->parts[round % 3], static_cast<unsigned>(count));
    for (int64 part = 0; part < count; ++part)
      args.parts[first + part] = (int64{node} << 32) | part;
  }
  /// The near nodes offer products. Short rows take a lane, longer ones a warp, and the longest
  /// several.
  __device__ void expand(const closure_team& team, unsigned count) const {
    const volatile index* const near = args.near[round % 2];
    const int64 warps = team.threads / 32, lane = threadIdx.x % 32;
    const int64 of_warp = count >= team.threads ? 32 : (count + warps - 1) / warps;
    for (int64 first = team.thread / 32 * of_warp; first < count; first += warps * of_warp) {
      index node = 0;
      int64 begin = 0, end = 0;
      T from{};
      if (lane < of_warp && first + lane < count) {
        node = near[first + lane];
        begin = offset(node);
        end = offset(node + 1);
        from = value(node);
      }
      const bool is_long = end - begin > arcs_of_lane;
      if (end - begin > arcs_of_part)
        leave_parts(node, (end - begin + arcs_of_part - 1) / arcs_of_part);
      else if (!is_long)
        offer(node, from, begin, end, 1);
      __syncwarp();
      unsigned rest = __ballot_sync(0xffffffffu, is_long && end - begin <= arcs_of_part);
      for (; rest != 0; rest &= rest - 1) {
        const int of = __ffs(static_cast<int>(rest)) - 1;
        const index its_node = __shfl_sync(0xffffffffu, node, of);
        const int64 its_begin = __shfl_sync(0xffffffffu, begin, of),
                    its_end = __shfl_sync(0xffffffffu, end, of);
        const T its_value = sum_of<S>(__shfl_sync(0xffffffffu, word_of<S>(from), of));
        offer(its_node, its_value, its_begin + lane, its_end, 32);
        __syncwarp();
      }
    }
  }
  __device__ void expand_parts(const closure_team& team, unsigned count) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (int64 at = team.thread / 32; at < count; at += team.threads / 32) {
      const int64 part = static_cast<const volatile int64*>(args.parts)[at];
      const auto node = static_cast<index>(part >> 32);
      const int64 begin = offset(node) + (part & 0xffffffff) * arcs_of_part, end = offset(node + 1);
      offer(node, value(node), begin + lane,
            end < begin + arcs_of_part ? end : begin + arcs_of_part, 32);
      __syncwarp();
    }
  }
  __device__ void make_round(const closure_team& team, unsigned count) {
    if (team.thread == 0) state->near[(round + 2) % 3] = state->parts[(round + 1) % 3] = 0;
    expand(team, count);
    sync(team);
    const unsigned parts = read(state->parts[round % 3]);
    if (parts > 0) {
      expand_parts(team, parts);
      sync(team);
    }
    ++round;
    ++rounds_of_limit;
  }

  /// The best value that waits. Nodes whose values got better than the last limit do not wait:
  /// their arcs are read.
  __device__ void find_best(const closure_team& team, unsigned count) const {
    const volatile index* const far = args.far[limits % 2];
    T best = S::zero();
    for (int64 k = team.thread; k < count; k += team.threads) {
      const T of = value(far[k]);
      if (!has_limit || !is_near(of)) best = S::add(best, of);
    }
    if (replaces_value(best, S::zero()))
      add_to_slot<S>(reinterpret_cast<word*>(&state->best[limits % 3]), best);
  }
  /// The best value that waits, and the width beyond it. Without one, or if rounding drops it,
  /// there is no limit.
  __device__ bool next_limit(const T& best, T& next) const {
    if constexpr (has_order) {
      if (!(args.width > 0)) return false;
      const double there = static_cast<double>(best);
      const bool is_least = S::add(T(0), T(1)) == T(0);
      next = convert<T>(is_least ? there + args.width : there - args.width);
      return S::add(best, next) == best && best != next;
    }
    return false;
  }
  /// Takes the nodes up to the next limit from those that wait.
  __device__ void pass_limit(const closure_team& team, unsigned count) {
    if (team.thread == 0) {
      state->far[(limits + 2) % 3] = 0;
      *reinterpret_cast<word*>(&state->best[(limits + 2) % 3]) = word_of<S>(S::zero());
    }
    if constexpr (has_order) find_best(team, count);
    sync(team);  // even without a best value: all have read the counts that change now
    const T best = sum_of<S>(*reinterpret_cast<volatile word*>(&state->best[limits % 3]));
    const bool had_limit = has_limit;
    T next = limit;
    const bool gets_limit = next_limit(best, next);
    const volatile index* const far = args.far[limits % 2];
    for (int64 k = team.thread; k < count; k += team.threads) {
      const index node = far[k];
      const T of = value(node);
      const bool is_read = had_limit && is_near(of);
      const bool goes = !gets_limit || (S::add(of, next) == of && replaces_value(of, next));
      if (is_read || goes) args.waits[node] = 0;
      if (is_read) continue;
      if (goes)
        args.near[round % 2][next_place(&state->near[round % 3])] = node;
      else
        args.far[(limits + 1) % 2][next_place(&state->far[(limits + 1) % 3])] = node;
    }
    has_limit = gets_limit;
    limit = next;
    rounds_of_limit = 0;
    ++limits;
    sync(team);
  }

  /// One round, or the next limit. All threads of the team see the same counts.
  __device__ void step(const closure_team& team, unsigned near, unsigned far) {
    if (near == 0)
      pass_limit(team, far);
    else
      make_round(team, near);
  }
  /// Whether one block can work alone.
  __device__ bool is_few(unsigned near, unsigned far) const {
    return near > 0 ? near <= args.few_near : far <= few_waiting;
  }
  /// Whether there is nothing left, or too much.
  __device__ bool ends(unsigned near, unsigned far) {
    diverges = near > 0 && rounds_of_limit > static_cast<unsigned>(args.nodes);
    is_done = diverges || (near == 0 && far == 0);
    return is_done;
  }
};

template <class S>
__global__ void __launch_bounds__(closure_threads) closure(const closure_arguments args) {
  const int64 warp = int64{threadIdx.x} / 32 * gridDim.x + blockIdx.x;
  const closure_team whole{warp * 32 + threadIdx.x % 32, int64{gridDim.x} * closure_threads, true},
      block{threadIdx.x, closure_threads, false};
  closure_thread<S> my(args);
  if (args.begins)
    my.begin(whole);
  else
    wait_for_blocks(args.state);  // all have loaded the course before it goes on
  const unsigned first = my.round;
  const auto goes_on = [&](unsigned near, unsigned far) {
    return !my.ends(near, far) && (args.most_rounds == 0 || my.round - first < args.most_rounds);
  };
  for (;;) {
    unsigned near = my.near_count(), far = near > 0 ? 1 : my.far_count();
    if (!goes_on(near, far)) break;
    if (!my.is_few(near, far)) {
      my.step(whole, near, far);
      continue;
    }
    wait_for_blocks(args.state);  // all have read the counts that one block changes now
    if (blockIdx.x == 0) {
      do {
        my.step(block, near, far);
        near = my.near_count();
        far = near > 0 ? 1 : my.far_count();
      } while (goes_on(near, far) && my.is_few(near, far));
      if (threadIdx.x == 0) my.store();
    }
    wait_for_blocks(args.state);
    my.load();
    if (my.is_done) break;
  }
  if (whole.thread == 0) my.store();
  if (my.is_done) my.end(whole);
}

}  // namespace rig::on_cuda
