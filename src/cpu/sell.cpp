// The parts of `sell` that do not depend on a semiring: its slices, and its answer.

#include "rig/kernels/cpu/sell.hpp"

#include <algorithm>
#include <utility>

#include "cpu/measured.hpp"

namespace rig {
namespace {

int64 length(const pattern& a, index row) { return a.offset(row + 1) - a.offset(row); }

/// Sorts rows first … first + count by length, then by number, counted from `first`.
void sort_window(const pattern& a, index first, index count, int32* to) {
  constexpr int64 counted = 256;  // longer rows are few; they are compared
  index begin[counted + 2] = {};
  const auto bucket = [&](index k) { return std::min(length(a, first + k), counted); };
  for (index k = 0; k < count; ++k) ++begin[bucket(k) + 1];
  for (int64 l = 0; l <= counted; ++l) begin[l + 1] += begin[l];
  const index compared = begin[counted];
  for (index k = 0; k < count; ++k) to[begin[bucket(k)]++] = k;
  // By number last: a stable sort would allocate, and this runs in a parallel region.
  std::sort(to + compared, to + count, [&](int32 x, int32 y) {
    return std::pair(length(a, first + x), x) < std::pair(length(a, first + y), y);
  });
}

}  // namespace

slices::slices(const pattern& a)
    : count((a.rows() + height - 1) / height),
      rows(buffer::allocate(static_cast<std::size_t>(a.rows()) * sizeof(int32))),
      begin(buffer::allocate((static_cast<std::size_t>(count) + 1) * sizeof(int64))),
      work(buffer::allocate((static_cast<std::size_t>(count) + 1) * sizeof(int64))) {
  auto* const list = rows.data<int32>();
  auto *const starts = begin.data<int64>(), *const before = work.data<int64>();
  const index windows = (a.rows() + window - 1) / window;
  const int threads = on_cpu::threads_for(static_cast<double>(a.nnz() + a.rows()));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (index w = 0; w < windows; ++w)
    sort_window(a, w * window, std::min(window, a.rows() - w * window), list + w * window);

  const auto row_at = [&](index k) { return k / window * window + list[k]; };
  starts[0] = before[0] = 0;
  for (index s = 0; s < count; ++s) {
    const index first = s * height, end = std::min(a.rows(), first + height);
    const bool is_whole = end - first == height;
    starts[s + 1] = starts[s] + (is_whole ? height * length(a, row_at(first)) : 0);
    before[s + 1] = before[s] + end - first;
    for (index k = first; k < end; ++k) before[s + 1] += length(a, row_at(k));
  }
  columns = buffer::allocate(static_cast<std::size_t>(starts[count]) * sizeof(index));
  auto* const packed = columns.data<index>();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
  for (index s = 0; s < count; ++s) {
    const int64 common = (starts[s + 1] - starts[s]) / height;
    for (index r = 0; common > 0 && r < height; ++r) {
      const index* const from = a.column_indices() + a.offset(row_at(s * height + r));
      for (int64 e = 0; e < common; ++e) packed[starts[s] + e * height + r] = from[e];
    }
  }
}

index slices::first_of(int piece, int pieces) const {
  const auto* const before = work.data<int64>();
  const int64 total = before[count];
  const int64 target = total / pieces * piece + total % pieces * piece / pieces;
  return static_cast<index>(std::lower_bound(before, before + count, target) - before);
}

namespace on_cpu {
namespace {

/// Why slices do not serve a problem, or null.
const char* no_sell_because(const problem& p) {
  if (p.b.columns != 1) return "serves B of one column";
  if (p.mask.over != mask_operand::kind::absent) return "serves no mask";
  if (!p.algebra->ignores_left && p.a.values != nullptr)
    return "reads no values of A, whose order its slices do not have";
  if (p.algebra->ignores_right) return nullptr;
  if (p.b.value_type != p.algebra->right) return "reads B in the semiring's type only";
  return p.b.stride != 1 ? "reads B without gaps between elements" : nullptr;
}

}  // namespace

answer sell_answer(const problem& p) {
  if (const char* const why = no_sell_because(p)) return refusal(p, why);
  answer out = row_answer(p);
  out.seconds *= measured::sell_over_row;
  const char* why = nullptr;
  if (!slices::pays(p.a.nnz, p.a.rows))
    why = "rows have fewer than 8 entries on average";
  else if (p.algebra->ends_early)
    why = "sums can end before their last product, but a slice is read to its end";
  else if (!p.structure->is_prepared(p.desc->transpose_a, "sell"))
    why = p.desc->transpose_a ? "its slices are not prepared; call A.prepare({.transpose_a = true, "
                                ".kernel = \"sell\"})"
                              : "its slices are not prepared; call A.prepare({.kernel = \"sell\"})";
  if (why == nullptr) return out;
  out.says = verdict::slower;
  if (p.reasons) out.reason = why;
  return out;
}

}  // namespace on_cpu
}  // namespace rig
