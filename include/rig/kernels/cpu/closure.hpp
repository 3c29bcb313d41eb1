#pragma once

// closure on a CPU: nodes whose values changed wait in lists, and offer products along their arcs.
// One list is near: its values are better than a limit, as in delta-stepping (Meyer & Sanders,
// 2003; Davidson et al., IPDPS 2014). docs/lab/analytics.md has the measurements.

#include <algorithm>
#include <atomic>
#include <utility>

#include "rig/kernels/closing.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cpu {

answer closure_answer(const problem& p);
void closure_run(const problem& p, workspace& work);

/// Nodes, each at most once; `add` of several threads goes through a `batch`.
struct node_list {
  buffer memory;
  index* nodes = nullptr;
  index count = 0;

  explicit node_list(index most)
      : memory(buffer::allocate(static_cast<std::size_t>(most) * sizeof(index))),
        nodes(memory.data<index>()) {}
};

/// The nodes that one thread adds to a list: a part of the list is theirs at once.
struct batch {
  node_list& to;
  int count = 0;
  index some[128];

  explicit batch(node_list& list) : to(list) {}
  batch(const batch&) = delete;
  ~batch() {
    if (count > 0) flush();
  }
  template <bool Shared>
  void add(index node) {
    if constexpr (!Shared) {
      to.nodes[to.count++] = node;
    } else {
      some[count++] = node;
      if (count == 128) flush();
    }
  }
  void flush() {
    const index at = std::atomic_ref(to.count).fetch_add(count, std::memory_order_relaxed);
    for (int k = 0; k < count; ++k) to.nodes[at + k] = some[k];
    count = 0;
  }
};

/// Whether a value takes the place of another. NaN stays, and so does a zero of the other sign.
template <class T>
bool differs(const T& now, const T& before) {
  if constexpr (is_number<T>)
    return before == before && !(now == before);
  else
    return __builtin_memcmp(&now, &before, sizeof(T)) != 0;
}

/// Whether a cycle can improve a value without end. NaN and infinities change each node once.
template <class T>
bool may_improve(const T& x) {
  if constexpr (is_float<T>) return x - x == 0;
  return true;
}

/// The values of a matrix, which have the type T.
template <class T>
struct arc_values {
  const T* values;
  const void* permutation;
  int64 step;
  bool is_wide;

  explicit arc_values(const sparse_operand& of)
      : values(static_cast<const T*>(of.values == nullptr ? static_cast<const void*>(of.iso)
                                                          : of.values)),
        permutation(of.values == nullptr ? nullptr : of.permutation),
        step(of.values == nullptr ? 0 : 1),
        is_wide(of.offsets_64) {}
  void prefetch(int64 e) const {
    if (step != 0 && permutation == nullptr) __builtin_prefetch(values + e);
  }
  const T& operator[](int64 e) const {
    if (permutation == nullptr) return values[e * step];
    return values[is_wide ? static_cast<const int64*>(permutation)[e]
                          : static_cast<const int32*>(permutation)[e]];
  }
};

/// The fixed point of one column of C.
template <class S>
class column_closure {
 public:
  using T = typename S::accum;

  column_closure(const problem& p, index column)
      : p_(p),
        of_(*p.closure),
        column_(static_cast<T*>(p.c.data) + column),
        copy_(
            buffer::allocate(p.c.stride == 1 ? 0 : static_cast<std::size_t>(p.a.rows) * sizeof(T))),
        values_(p.c.stride == 1 ? column_ : copy_.data<T>()),
        weights_(p.a),
        near_(p.a.rows),
        next_(p.a.rows),
        far_(p.a.rows),
        flags_(buffer::allocate(static_cast<std::size_t>(p.a.rows))) {}

  void run() {
    begin();
    while (!of_.diverges && next_limit())
      for (int64 rounds = 0; near_.count > 0 && !of_.diverges; ++rounds) {
        of_.diverges = rounds > p_.a.rows && may_go_on();
        if (!of_.diverges) round();
      }
    if (values_ != column_)
      for (index i = 0; i < p_.a.rows; ++i) column_[i * p_.c.stride] = value(i);
  }

 private:
  enum flag : unsigned char { queued = 1, waiting = 2 };
  static constexpr bool can_share = is_number<T>;
  static constexpr index nodes_ahead = 8;  ///< whose arcs are prefetched

  T& value(index node) const { return values_[node]; }
  std::atomic_ref<unsigned char> flags(index node) const {
    return std::atomic_ref(flags_.template data<unsigned char>()[node]);
  }
  bool is_near(const T& of) const {
    if constexpr (is_number<T>) return !has_limit_ || (S::add(of, limit_) == of && of != limit_);
    return true;
  }

  bool may_go_on() const {
    const auto improves = [this](index i) { return may_improve(value(i)); };
    return std::any_of(near_.nodes, near_.nodes + near_.count, improves);
  }

  /// All nodes with a value wait.
  void begin() {
    const T zero = S::zero();
    for (index i = 0; i < p_.a.rows; ++i) {
      value(i) = column_[i * p_.c.stride];
      const bool is_there = differs(value(i), zero) || differs(zero, value(i));
      flags_.template data<unsigned char>()[i] = is_there ? waiting : 0;
      if (!is_there) continue;
      value(i) = S::add(zero, value(i));
      far_.nodes[far_.count++] = i;
    }
  }

  /// Takes the nodes up to the next limit from those that wait. Returns whether there are any. A
  /// node whose value got better than the last limit is not among them: its arcs are read.
  bool next_limit() {
    index kept = 0;
    T best = S::zero();
    for (index k = 0; k < far_.count; ++k) {
      const index i = far_.nodes[k];
      if (has_limit_ && is_near(value(i))) {
        flags(i).store(0, std::memory_order_relaxed);
        continue;
      }
      best = S::add(best, value(i));
      far_.nodes[kept++] = i;
    }
    far_.count = kept;
    if (kept == 0) return false;
    set_limit(best);
    index left = 0;
    for (index k = 0; k < kept; ++k) {
      const index i = far_.nodes[k];
      const bool goes = is_near(value(i));
      flags(i).store(goes ? queued : waiting, std::memory_order_relaxed);
      (goes ? near_.nodes[near_.count++] : far_.nodes[left++]) = i;
    }
    far_.count = left;
    return true;
  }

  /// The best value that waits, and the width beyond it. Without one, or if rounding drops it,
  /// there is no limit.
  void set_limit(const T& best) {
    has_limit_ = false;
    if constexpr (is_number<T> && !is_same<T, bool>) {
      if (!of_.is_ordered || !(of_.width > 0)) return;
      const double there = static_cast<double>(best),
                   better = static_cast<double>(S::add(T(0), T(1)));
      limit_ = convert<T>(better == 0 ? there + of_.width : there - of_.width);
      has_limit_ = S::add(best, limit_) == best && best != limit_;
    }
  }

  /// The nodes that are near offer products along their arcs; those that change come next.
  void round() {
    const double arcs_per_node = static_cast<double>(p_.a.nnz) / p_.a.rows;
    const int threads =
        can_share ? threads_for(near_.count * (1 + arcs_per_node), p_.desc->threads) : 1;
    const index waited = far_.count;
    if (threads == 1) {
      batch near(next_), far(far_);
      for (index k = 0; k < near_.count; ++k) offer<false>(k, near, far);
    } else {
#pragma omp parallel num_threads(threads)
      {
        batch near(next_), far(far_);
#pragma omp for schedule(dynamic, 64)
        for (index k = 0; k < near_.count; ++k) offer<can_share>(k, near, far);
      }
    }
    ++of_.rounds;
    if (of_.progress != nullptr && *of_.progress)
      (*of_.progress)(static_cast<int>(of_.rounds), next_.count + far_.count - waited);
    near_.count = 0;
    std::swap(near_, next_);
  }

  /// Prefetches where the arcs of later nodes begin, because nodes come in no order.
  void look_ahead(index k) const {
    if (k + 2 * nodes_ahead < near_.count) {
      const auto node = static_cast<std::size_t>(near_.nodes[k + 2 * nodes_ahead]);
      __builtin_prefetch(static_cast<const char*>(p_.a.offsets) + node * (p_.a.offsets_64 ? 8 : 4));
    }
    if (k + nodes_ahead < near_.count) {
      const int64 first = p_.a.offset(near_.nodes[k + nodes_ahead]);
      __builtin_prefetch(p_.a.entries + first);
      if constexpr (!is_ignoring_right<S>) weights_.prefetch(first);
    }
  }

  template <bool Shared>
  void offer(index k, batch& near, batch& far) {
    look_ahead(k);
    const index i = near_.nodes[k];
    clear<Shared>(i);
    const T from = load<Shared>(i);
    const arc_values<typename S::right> weights = weights_;  // a copy that no store can change
    const index* const ends = p_.a.entries;
    const int64 end = p_.a.offset(i + 1);
    for (int64 e = p_.a.offset(i); e < end; ++e) {
      const index j = ends[e];
      T sum = product<S>(from, weights[e], {0, i});
      if (!improve<Shared>(j, sum)) continue;
      if (is_near(sum)) {
        if (mark<Shared>(j, queued)) near.template add<Shared>(j);
      } else if (mark<Shared>(j, waiting)) {
        far.template add<Shared>(j);
      }
    }
  }

  template <bool Shared>
  T load(index i) const {
    if constexpr (Shared)
      return std::atomic_ref(value(i)).load(std::memory_order_relaxed);
    else
      return value(i);
  }
  /// value(j) = value(j) ⊕ x, which x receives. Returns whether that changes it.
  template <bool Shared>
  bool improve(index j, T& x) const {
    T seen = load<Shared>(j);
    for (;;) {
      const T sum = S::add(seen, x);
      if (!differs(sum, seen)) return false;
      if constexpr (Shared) {
        if (!std::atomic_ref(value(j)).compare_exchange_weak(seen, sum, std::memory_order_relaxed))
          continue;
      } else {
        value(j) = sum;
      }
      x = sum;
      return true;
    }
  }
  /// Returns whether a node had no such flag. The order of these exchanges, and of `clear`, is that
  /// of the values around them: who clears a flag reads every value before it was set.
  template <bool Shared>
  bool mark(index j, flag what) const {
    unsigned char& of = flags_.template data<unsigned char>()[j];
    if constexpr (Shared) return (std::atomic_ref(of).fetch_or(what) & what) == 0;
    const bool is_new = (of & what) == 0;
    of |= what;
    return is_new;
  }
  template <bool Shared>
  void clear(index i) const {
    if constexpr (Shared)
      flags(i).fetch_and(static_cast<unsigned char>(~queued));
    else
      flags_.template data<unsigned char>()[i] &= static_cast<unsigned char>(~queued);
  }

  const problem& p_;
  closing& of_;
  T* column_;    ///< in C
  buffer copy_;  ///< of a column whose elements lie apart
  T* values_;
  arc_values<typename S::right> weights_;
  node_list near_, next_, far_;
  buffer flags_;
  bool has_limit_ = false;
  T limit_{};
};

/// The fixed points of all columns of C.
template <class S>
void close_columns(const problem& p) {
  require_openmp<S>();
  for (index column = 0; column < p.c.columns && !p.closure->diverges; ++column)
    column_closure<S>(p, column).run();
}

}  // namespace rig::on_cpu
