// MaxK on the CPU: the selection, the places of a cbsr in a dense, and the kernels' answers.

#include "rig/kernels/cpu/maxk.hpp"

#include <omp.h>

#include <algorithm>
#include <thread>

#include "rig/kernels/cpu/run.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"
#include "storage/sort_key.hpp"

namespace rig::on_cpu {
namespace {

/// Writes the k greatest of `columns` numbers in column order. A bisection over the bits of keys
/// finds the least retained one: one vectorised count per bit, often fewer.
template <class T, class Index, class Word>
void select_top_k(const T* x, index columns, int k, Word* keys, T* values, Index* indices) {
  for (index j = 0; j < columns; ++j) keys[j] = sort_key(x[j]);
  const auto count = [&](Word least) {
    int found = 0;
    for (index j = 0; j < columns; ++j) found += keys[j] >= least;
    return found;
  };
  Word threshold = 0;
  int reached = columns;  // how many keys are at least `threshold`; never fewer than k
  for (Word bit = word_of<sizeof(T)>::sign; bit != 0 && reached > k; bit >>= 1) {
    const auto least = static_cast<Word>(threshold | bit);
    if (const int found = count(least); found >= k) {
      threshold = least;
      reached = found;
    }
  }
  // Among numbers equal to the least retained one, the first in the row are retained.
  int ties = k;
  if (reached > k)
    for (index j = 0; j < columns; ++j) ties -= keys[j] > threshold;
  // Branchless, because branches would be unpredictable: the next entry overwrites one that is not
  // retained.
  for (index j = 0, p = 0; p < k; ++j) {
    const bool tied = keys[j] == threshold;
    values[p] = x[j];
    indices[p] = static_cast<Index>(j);
    p += (keys[j] > threshold) | (tied & (ties > 0));
    ties -= tied;
  }
}

/// The number of threads for `columns` elements of each row.
int threads_over(const dense_operand& x, index columns, int asked = 0) {
  return threads_for(static_cast<double>(x.rows) * columns, asked);
}

template <class T, class Index>
void select_top_k(const dense_operand& x, const dense_operand& retained, int threads) {
  using word = typename word_of<sizeof(T)>::type;
  const int64 columns = x.columns;
  const buffer keys = buffer::allocate(static_cast<std::size_t>(threads * columns) * sizeof(word));
  auto* const indices = static_cast<Index*>(const_cast<void*>(retained.indices));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (index i = 0; i < x.rows; ++i) {
    const int64 to = static_cast<int64>(i) * retained.k;
    select_top_k(static_cast<const T*>(x.data) + i * x.stride, x.columns, retained.k,
                 keys.data<word>() + omp_get_thread_num() * columns,
                 static_cast<T*>(retained.data) + to, indices + to);
  }
}

/// Copies between a cbsr and the elements of a dense in its places; elsewhere the dense becomes 0.
template <bool ToDense, class Word, class Index>
void copy_retained(const dense_operand& full, const dense_operand& retained) {
  const int threads = threads_over(full, ToDense ? full.columns : retained.k);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (index i = 0; i < full.rows; ++i) {
    Word* const row = static_cast<Word*>(full.data) + i * full.stride;
    Word* const values = static_cast<Word*>(retained.data) + static_cast<int64>(i) * retained.k;
    const Index* const columns =
        static_cast<const Index*>(retained.indices) + static_cast<int64>(i) * retained.k;
    if constexpr (ToDense) std::fill_n(row, full.columns, Word());
    for (int p = 0; p < retained.k; ++p)
      if constexpr (ToDense)
        row[columns[p]] = values[p];
      else
        values[p] = row[columns[p]];
  }
}

template <bool ToDense>
void copy_retained(const dense_operand& full, const dense_operand& retained) {
  const auto as = [&]<class Word>(Word) {
    retained.indices_8 ? copy_retained<ToDense, Word, unsigned char>(full, retained)
                       : copy_retained<ToDense, Word, unsigned short>(full, retained);
  };
  if (full.value_bytes == 2) return as(static_cast<unsigned short>(0));
  if (full.value_bytes == 4) return as(0u);
  as(0ul);
}

answer with_estimate(answer out, const problem& p) {
  if (out.says != verdict::cannot)
    out.seconds =
        estimate(p, 1.0 / std::max(1u, std::thread::hardware_concurrency()), retained_per_row(p));
  return out;
}

}  // namespace

void select_top_k(const dense_operand& x, const dense_operand& retained, const descriptor& desc) {
  const int threads = threads_over(x, x.columns, desc.threads);
  const auto as = [&]<class T>(T) {
    retained.indices_8 ? select_top_k<T, unsigned char>(x, retained, threads)
                       : select_top_k<T, unsigned short>(x, retained, threads);
  };
  if (x.value_type == type::float32) as(float());
  if (x.value_type == type::float64) as(double());
  if (x.value_type == type::half) as(half());
  if (x.value_type == type::bfloat16) as(bfloat16());
}

void take_retained(const dense_operand& full, const dense_operand& retained) {
  copy_retained<false>(full, retained);
}

void scatter_retained(const dense_operand& retained, const dense_operand& full) {
  copy_retained<true>(full, retained);
}

answer maxk_answer(const problem& p) { return with_estimate(rig::maxk_answer(p), p); }
answer maxk_backward_answer(const problem& p) {
  return with_estimate(rig::maxk_backward_answer(p), p);
}

void maxk_run(const problem& p, workspace& work) {
  run_with_cbsr(p, work, [](const problem& q, workspace&) { run_converted(maxk_family, q); });
}

}  // namespace rig::on_cpu
