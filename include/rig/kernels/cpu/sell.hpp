#pragma once

// sell: eight rows of like length at once, for a product with one column.
//
// Wins if rows have many entries, because their ends are not predicted one by one. Source: SELL-C-σ
// (Kreutzer et al., SIAM J. Sci. Comput. 2014), here without padding: what a row has beside the
// shortest of its slice is read from A. Cost: O(nnz), and the columns of A once more. Entries of a
// slice are added one after the other, so that sums of floats round otherwise than in `row`.

#include <algorithm>

#include "rig/kernels/cpu/row.hpp"
#include "rig/kernels/cpu/slices.hpp"

namespace rig::on_cpu {

/// Forms and writes the sums of slices; one per thread.
template <class S>
class slice_sums {
 public:
  using accum = typename S::accum;
  static constexpr index height = slices::height;
  static constexpr int written = 2 * half_tile<S>;  ///< sums that a writer takes at once
  /// Slices whose sums are written together.
  static constexpr index together = written > height ? written / height : 1;

  slice_sums(const problem& p, const slices& of) : p_(p), of_(of), write_(p) {
    read_.a = &value_;
    if constexpr (!is_ignoring_left<S>) value_ = entry_value();
    read_.inner = read_.b_rows = p.a.entries;
    read_.b = static_cast<const typename S::right*>(p.b.data);
    read_.b_stride = 1;
  }

  /// Slices first … end, which lie in one window; at most `together`.
  void run(index first, index end) {
    read_.row = first * height / slices::window * slices::window;
    const int32* const list = of_.rows.data<int32>() + first * height;
    const int count = std::min(end * height, p_.a.rows) - first * height;
    for (index s = first; s < end; ++s)
      sum(s, list + (s - first) * height, sums_ + (s - first) * height);
    const auto length = [&](int k) {
      const index row = read_.row + list[k];
      return p_.a.offset(row + 1) - p_.a.offset(row);
    };
    int k = 0;  // rows without entries come first
    while (k < count && length(k) == 0) ++k;
    if (p_.accum == accumulator::none)
      for (int j = 0; j < k; j += written)
        write_.write_fill(read_.row, 0, {std::min(written, k - j), list + j, true});
    for (; k < count; k += written)
      write_.write_sums(read_.row, 0, {std::min(written, count - k), list + k, true}, sums_ + k,
                        [&](int j) { return length(k + j); });
  }

 private:
  typename S::left entry_value() const {
    typename S::left out{};
    if constexpr (is_storage<typename S::left>)
      convert_row(p_.a.iso, p_.a.value_type, &out, 1);
    else
      __builtin_memcpy(&out, p_.a.iso, sizeof(out));
    return out;
  }
  accum product_of(int32 row, index column) const {
    const position at{read_.row + row, column};
    if constexpr (is_ignoring_right<S>)
      return product<S>(value_, typename S::right{}, at);
    else
      return product<S>(value_, read_.b[column], at);
  }

  /// out[r] = the sum of row list[r].
  void sum(index slice, const int32* list, accum* out) const {
    const int64* const begin = of_.begin.data<int64>() + slice;
    const index* columns = of_.columns.data<index>() + begin[0];
    const int64 common = (begin[1] - begin[0]) / height;
    // Eight variables because g++ keeps an array in memory.
    accum x0 = S::zero(), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0;
    const auto add = [&](accum & x, index r) __attribute__((always_inline)) {
      x = add_scalar<S>(x, product_of(list[r], columns[r]));
      keep_scalar(x);
    };
    for (int64 e = 0; e < common; ++e, columns += height) {
      add(x0, 0);
      add(x1, 1);
      add(x2, 2);
      add(x3, 3);
      add(x4, 4);
      add(x5, 5);
      add(x6, 6);
      add(x7, 7);
    }
    const accum x[height] = {x0, x1, x2, x3, x4, x5, x6, x7};
    const index rows = std::min(height, p_.a.rows - slice * height);
    for (index r = 0; r < rows; ++r) {
      const int64 from = p_.a.offset(read_.row + list[r]) + common,
                  rest = p_.a.offset(read_.row + list[r] + 1) - from;
      out[r] = x[r];
      if (rest == 0 || !add_entries(out[r], read_, list[r], from, rest)) continue;
      if constexpr (has_terminal<S>) out[r] = S::terminal();
    }
  }

  const problem& p_;
  const slices& of_;
  const writer<S> write_;
  typename S::left value_{};  ///< of every entry
  block<S> read_{};
  accum sums_[std::size_t(together * height)];
};

template <class S>
void sell(const problem& p) {
  const auto kept = p.oriented->derived_of<slices>();
  const int threads = threads_for(p);
  const int pieces = threads == 1 ? 1 : threads * pieces_per_thread;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    slice_sums<S> sums(p, *kept);
#pragma omp for schedule(dynamic, 1)
    for (int piece = 0; piece < pieces; ++piece) {
      const index end = kept->first_of(piece + 1, pieces);
      for (index s = kept->first_of(piece, pieces), next; s < end; s = next) {
        next = std::min({s + sums.together, end, kept->window_after(s)});
        sums.run(s, next);
      }
    }
  }
}

answer sell_answer(const problem& p);

}  // namespace rig::on_cpu
