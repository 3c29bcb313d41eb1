#pragma once

// maxk, maxk_backward: products with a matrix that has k entries per row.
//
// maxk (forward, sparse × cbsr): a row of C is a buffer of f sums; each entry of A adds the k
// entries of a row of B. An entry of A reads k values and indices instead of f values.
// maxk_backward (sparse × dense under a cbsr): k sums per row; each entry of A gathers k elements
// of a row of B. The transpose that training needs is A's derived structure, so rows share no place
// and nothing is atomic.
// Source: MaxK-GNN (Peng et al., ASPLOS 2024); its backward is an outer product with atomics. Cost:
// O(nnz · k + rows · f); forward scratch: f accumulators per thread. No row is split, so a sum's
// order is that of A's entries for any number of threads. No tuning.

#include "rig/kernels/cpu/row.hpp"

namespace rig::on_cpu {

answer maxk_answer(const problem& p);
void maxk_run(const problem& p, workspace& work);  ///< applies MaxK to a dense B first
answer maxk_backward_answer(const problem& p);

/// Calls work(row, first entry, last entry) for every row, on these threads; make(thread) returns
/// one thread's `work`.
template <class Make>
void for_each_row(const problem& p, int threads, Make make) {
  const int pieces = threads == 1 ? 1 : threads * pieces_per_thread;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    auto work = make(omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
    for (int piece = 0; piece < pieces; ++piece) {
      const index end = first_row_of(p.a, piece + 1, pieces);
      for (index row = first_row_of(p.a, piece, pieces); row < end; ++row)
        work(row, p.a.offset(row), p.a.offset(row + 1));
    }
  }
}

/// sums[j] = sums[j] ⊕ a ⊗ B(inner, j) for the stored entries of a row of B, whose values are of
/// the right type unless the semiring ignores them. If HasFlags, `present` marks their places.
template <class S, class Index, bool HasFlags>
[[gnu::always_inline]] inline void add_retained(const dense_operand& b, typename S::left a,
                                                position at, typename S::accum* __restrict sums,
                                                bool* __restrict present) {
  using right = typename S::right;
  const int64 begin = at.inner * b.stride;
  const auto* const columns = static_cast<const Index*>(b.indices) + begin;
  const auto* const values = static_cast<const right*>(b.data) + begin;
  const int k = b.k;
  for (int p = 0; p < k; ++p) {
    const Index j = columns[p];
    if constexpr (is_ignoring_right<S>)
      sums[j] = S::add(sums[j], product<S>(a, right{}, at));
    else
      sums[j] = S::add(sums[j], product<S>(a, values[p], at));
    if constexpr (HasFlags) present[j] = true;
  }
}

/// sums = ⊕ over the entries [begin, end) of `row`, one sum for each column of B. If HasFlags,
/// `present` marks the columns that have products.
template <class S, class Index, bool HasFlags>
void sum_retained_row(const problem& p, left_values<S>& left, index row, int64 begin, int64 end,
                      typename S::accum* sums, bool* present) {
  const int64 f = p.b.columns;
  for (int64 j = 0; j < f; ++j) sums[j] = S::zero();
  if constexpr (HasFlags)
    for (int64 j = 0; j < f; ++j) present[j] = false;
  const dense_operand b = p.b;  // a local copy cannot alias `sums`
  for (int64 first = begin; first < end; first += staged_a) {
    const int64 count = end - first < staged_a ? end - first : staged_a, step = left.step();
    const auto* const a = left.from(first, count);
    const index* const inner = p.a.entries + first;
    for (int64 e = 0; e < count; ++e)
      add_retained<S, Index, HasFlags>(b, a[e * step], {row, inner[e]}, sums, present);
  }
}

/// Writes the sums of a row of n entries to C, tile by tile. `present` null: all columns have
/// products if n > 0.
template <class S>
void write_retained_row(const problem& p, index row, int64 n, const typename S::accum* sums,
                        const bool* present) {
  constexpr int width = 2 * half_tile<S>;
  const writer<S> write(p);
  mask_row mask(p.mask, row);
  bool allowed_places[std::size_t(width)];
  const bool* const allowed = mask.absent() ? nullptr : allowed_places;
  const int64 f = p.b.columns;
  for (int64 first = 0; first < f; first += width) {
    const int count = static_cast<int>(f - first < width ? f - first : width);
    if (!mask.read(first, count, allowed_places) || n == 0)
      write.write_empty(row, first, count, allowed);
    else
      write.write(row, first, count, sums + first, n, allowed,
                  present != nullptr ? present + first : nullptr);
  }
}

/// A function of the above, for one type of index; the rest is compiled once for all.
template <class S>
using retained_row_sum = void (*)(const problem&, left_values<S>&, index, int64, int64,
                                  typename S::accum*, bool*);
template <class S>
void maxk_rows(const problem& p, bool has_flags, retained_row_sum<S> sum_row) {
  using accum = typename S::accum;
  const int64 f = p.b.columns;
  const int threads = threads_for(p);
  const std::size_t places = static_cast<std::size_t>(threads) * static_cast<std::size_t>(f);
  // Allocations that can fail come before any write.
  const buffer all_sums = buffer::allocate(places * sizeof(accum)),
               all_present = buffer::allocate(has_flags ? places : 0);
  for_each_row(p, threads, [&](int thread) {
    accum* const sums = all_sums.data<accum>() + thread * f;
    bool* const present = has_flags ? all_present.data<bool>() + thread * f : nullptr;
    return [&p, sum_row, sums, present, left = left_values<S>(p.a)](index row, int64 begin,
                                                                    int64 end) mutable {
      if (allows_in(p, row)) sum_row(p, left, row, begin, end, sums, present);
      write_retained_row<S>(p, row, end - begin, sums, present);
    };
  });
}

/// Runs `maxk` on a B that is a cbsr, in the right type.
template <class S>
void maxk(const problem& p) {
  // A cbsr has no other value types.
  if constexpr (is_storage<typename S::right>) {
    if (p.algebra->needs_presence_flags(p))
      maxk_rows<S>(p, true,
                   p.b.indices_8 ? &sum_retained_row<S, unsigned char, true>
                                 : &sum_retained_row<S, unsigned short, true>);
    else
      maxk_rows<S>(p, false,
                   p.b.indices_8 ? &sum_retained_row<S, unsigned char, false>
                                 : &sum_retained_row<S, unsigned short, false>);
  }
}

/// to[p] = from[columns[p]], for elements of `bytes` bytes.
template <class Index>
void gather_elements(const void* from, std::size_t bytes, const Index* columns, int count,
                     void* to) {
  const auto words = [&](auto word) {
    using element = decltype(word);
    for (int p = 0; p < count; ++p)
      static_cast<element*>(to)[p] = static_cast<const element*>(from)[columns[p]];
  };
  if (bytes == 1) return words(static_cast<unsigned char>(0));
  if (bytes == 2) return words(static_cast<unsigned short>(0));
  if (bytes == 4) return words(0u);
  words(0ul);
}

/// sums[j] = ⊕ over the entries [begin, end) of `row` of a ⊗ B(inner, columns[j]), for at most a
/// tile of columns.
template <class S, class Index>
void sum_gathered(const problem& p, left_values<S>& left, index row, int64 begin, int64 end,
                  const Index* columns, int count, typename S::accum* sums) {
  using right = typename S::right;
  constexpr int width = 2 * half_tile<S>;
  alignas(16) unsigned char gathered[width * sizeof(int64)];
  right converted[std::size_t(width)];
  const bool in_place = p.b.value_type == type_of<right>;
  for (int j = 0; j < count; ++j) sums[j] = S::zero();
  const typename S::left* values = nullptr;
  for (int64 e = begin; e < end; ++e) {
    const int64 staged = (e - begin) % staged_a;
    if (staged == 0) values = left.from(e, end - e < staged_a ? end - e : staged_a);
    const position at{row, p.a.entries[e]};
    const auto a = values[staged * left.step()];
    const auto* const from = static_cast<const unsigned char*>(p.b.data) +
                             static_cast<std::size_t>(at.inner * p.b.stride) * p.b.value_bytes;
    const auto add = [&](auto right_at) {
      for (int j = 0; j < count; ++j) sums[j] = S::add(sums[j], product<S>(a, right_at(j), at));
    };
    if constexpr (is_ignoring_right<S>) {
      add([](int) { return right{}; });
    } else if (in_place) {
      add([&](int j) { return reinterpret_cast<const right*>(from)[columns[j]]; });
    } else if constexpr (is_storage<right>) {
      gather_elements(from, p.b.value_bytes, columns, count, gathered);
      convert_row<right>(gathered, p.b.value_type, converted, count);
      add([&](int j) { return converted[j]; });
    }
  }
}

template <class S, class Index>
void maxk_backward_rows(const problem& p) {
  constexpr int width = 2 * half_tile<S>;
  const int k = p.c.k;
  for_each_row(p, threads_for(p), [&](int) {
    return [&p, k, left = left_values<S>(p.a)](index row, int64 begin, int64 end) mutable {
      const writer<S> write(p);
      typename S::accum sums[std::size_t(width)];
      const auto* const columns =
          static_cast<const Index*>(p.c.indices) + static_cast<int64>(row) * k;
      for (int first = 0; first < k; first += width) {
        const int count = k - first < width ? k - first : width;
        if (begin == end) {
          write.write_empty(row, first, count, nullptr);
        } else {
          sum_gathered<S>(p, left, row, begin, end, columns + first, count, sums);
          write.write(row, first, count, sums, end - begin, nullptr);
        }
      }
    };
  });
}

/// Runs `maxk_backward` into a C that is a cbsr.
template <class S>
void maxk_backward(const problem& p) {
  if constexpr (!is_indexed<output<S>>) {
    if (p.c.indices_8)
      maxk_backward_rows<S, unsigned char>(p);
    else
      maxk_backward_rows<S, unsigned short>(p);
  }
}

}  // namespace rig::on_cpu
