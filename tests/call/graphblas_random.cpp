// SuiteSparse:GraphBLAS beside rig on random sparse × dense products.
//
// Both libraries compute C⟨M⟩ = C ⊙ (A ⊕.⊗ B) = C ⊙ T with C full. GraphBLAS deletes C's entries
// outside a replacing mask, and those without an entry of T if there is no accumulator. rig writes
// the fill there.

#include <cstdio>
#include <string>
#include <vector>

#include "battery.hpp"
#include "graphblas.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

struct accumulator_pair {
  rig::accumulator ours;
  GrB_BinaryOp theirs;
};

/// Runs one random case; returns the number of elements that differ.
template <class S, class T>
int run_case(GrB_Semiring semiring, const std::vector<accumulator_pair>& accumulators,
             random_bits& random) {
  const int m = 1 + random.below(14), k = 1 + random.below(14);
  const int f = feature_widths[1 + static_cast<std::size_t>(random.below(6))];
  const bool ta = random.below(2) != 0, tb = random.below(2) != 0;
  rig::descriptor desc{.transpose_a = ta, .transpose_b = tb, .replace = random.below(3) == 0};
  constexpr int fill = std::is_same_v<T, bool> ? 1 : 99;
  desc.fill = fill;
  desc.kernel = random.below(2) != 0 ? "row" : "split";
  T* tag = nullptr;

  const oracle::sparse pattern =
      random_pattern(ta ? k : m, ta ? m : k, random.unit() * 0.5, random);
  theirs a(pattern.rows, pattern.columns, tag), b(tb ? f : k, tb ? k : f, tag), c(m, f, tag),
      mask(m, f, tag);
  std::vector<rig::index> i, j;
  std::vector<double> weights;  // GraphBLAS converts them to the semiring's type
  for (int row = 0; row < pattern.rows; ++row)
    for (long p = pattern.offsets[row]; p < pattern.offsets[row + 1]; ++p) {
      const T x = small_value<T>(random);
      i.push_back(row);
      j.push_back(pattern.inner[p]);
      weights.push_back(static_cast<double>(x));
      set(a.m, x, static_cast<GrB_Index>(row), static_cast<GrB_Index>(pattern.inner[p]));
    }
  const auto our_a = rig::matrix<double>::from_tuples(pattern.rows, pattern.columns, i, j,
                                                      std::span<const double>(weights));
  const auto draw_dense = [&](int rows, int columns, GrB_Matrix to) {
    rig::dense<T> d(rows, columns);
    for (int r = 0; r < rows; ++r)
      for (int s = 0; s < columns; ++s) {
        d(r, s) = small_value<T>(random);
        set(to, d(r, s), static_cast<GrB_Index>(r), static_cast<GrB_Index>(s));
      }
    return d;
  };
  const auto our_b = draw_dense(tb ? f : k, tb ? k : f, b.m);
  auto our_c = draw_dense(m, f, c.m);

  i.clear();
  j.clear();
  std::vector<int> marks;
  const oracle::sparse allowed = random_pattern(m, f, 0.5, random);
  for (int row = 0; row < m; ++row)
    for (long p = allowed.offsets[row]; p < allowed.offsets[row + 1]; ++p) {
      i.push_back(row);
      j.push_back(allowed.inner[p]);
      marks.push_back(random.below(2));
      set(mask.m, static_cast<T>(marks.back()), static_cast<GrB_Index>(row),
          static_cast<GrB_Index>(allowed.inner[p]));
    }
  const auto our_mask = rig::matrix<int>::from_tuples(m, f, i, j, std::span<const int>(marks));
  const bool masked = random.below(4) != 0, structural = random.below(2) != 0,
             complemented = random.below(2) != 0;

  const auto& accum =
      accumulators[static_cast<std::size_t>(random.below(static_cast<int>(accumulators.size())))];
  // In GraphBLAS the complement of no mask admits no element; rig has no such call.
  GrB_Descriptor d = nullptr;
  ok(GrB_Descriptor_new(&d));
  if (ta) ok(GrB_Descriptor_set(d, GrB_INP0, GrB_TRAN));
  if (tb) ok(GrB_Descriptor_set(d, GrB_INP1, GrB_TRAN));
  if (desc.replace) ok(GrB_Descriptor_set(d, GrB_OUTP, GrB_REPLACE));
  if (masked && structural) ok(GrB_Descriptor_set(d, GrB_MASK, GrB_STRUCTURE));
  if (masked && complemented) ok(GrB_Descriptor_set(d, GrB_MASK, GrB_COMP));
  ok(GrB_mxm(c.m, masked ? mask.m : nullptr, accum.theirs, semiring, a.m, b.m, d));
  GrB_Descriptor_free(&d);

  if (masked) {
    const auto of = structural ? rig::structure(our_mask) : rig::values(our_mask);
    rig::mxm(our_c, accum.ours, our_a, our_b, S{}, complemented ? rig::complement(of) : of, desc);
  } else {
    rig::mxm(our_c, accum.ours, our_a, our_b, S{}, desc);
  }

  int wrong = 0;
  for (int r = 0; r < m; ++r)
    for (int s = 0; s < f; ++s) {
      T x{};
      const GrB_Info info = get(&x, c.m, static_cast<GrB_Index>(r), static_cast<GrB_Index>(s));
      const T want = info == GrB_NO_VALUE ? static_cast<T>(fill) : x;
      const T got = our_c(r, s);
      wrong += !(got == want || (got != got && want != want));
    }
  if (wrong > 0)
    FAIL_CHECK(std::string(S::name), ": ", wrong, " of ", m * f, " places differ; masked ", masked,
               " structural ", structural, " complemented ", complemented, " replace ",
               desc.replace, " accumulator ", static_cast<int>(accum.ours), " transposes ", ta, tb);
  return wrong;
}

/// Values are small multiples of 1/4, so sums are exact in any order and every element must be
/// equal.
template <class S, class T>
int run_cases(GrB_Semiring semiring, const std::vector<accumulator_pair>& accumulators, int count) {
  random_bits random(test_seed() * 31 + std::hash<std::string>()(S::name) + sizeof(T));
  for (int c = 0; c < count; ++c) run_case<S, T>(semiring, accumulators, random);
  return count;
}

#define OPERATORS(T)                                                                            \
  {                                                                                             \
    {rig::none, nullptr}, {rig::accumulator::plus, GrB_PLUS_##T},                               \
        {rig::accumulator::minus, GrB_MINUS_##T}, {rig::accumulator::times, GrB_TIMES_##T},     \
        {rig::accumulator::minimum, GrB_MIN_##T}, {rig::accumulator::maximum, GrB_MAX_##T},     \
        {rig::accumulator::first, GrB_FIRST_##T}, {rig::accumulator::second, GrB_SECOND_##T}, { \
      rig::none, nullptr                                                                        \
    }                                                                                           \
  }

TEST_CASE("rig and GraphBLAS agree") {
  ok(GrB_init(GrB_BLOCKING));
  const std::vector<accumulator_pair> on_float = OPERATORS(FP32), on_double = OPERATORS(FP64),
                                      on_int = OPERATORS(INT32), on_long = OPERATORS(INT64);
  const std::vector<accumulator_pair> on_bool = {{rig::none, nullptr},
                                                 {rig::accumulator::logical_or, GrB_LOR},
                                                 {rig::accumulator::logical_and, GrB_LAND},
                                                 {rig::accumulator::minus, GrB_LXOR},
                                                 {rig::accumulator::own, GrB_LOR},
                                                 {rig::accumulator::first, GrB_FIRST_BOOL}};
  int cases = 0;
  const int each = 60;
  cases += run_cases<rig::plus_times<float>, float>(GrB_PLUS_TIMES_SEMIRING_FP32, on_float, each);
  cases +=
      run_cases<rig::plus_times<double>, double>(GrB_PLUS_TIMES_SEMIRING_FP64, on_double, each);
  cases += run_cases<rig::plus_times<int>, int>(GrB_PLUS_TIMES_SEMIRING_INT32, on_int, each);
  cases += run_cases<rig::plus_times<long>, long>(GrB_PLUS_TIMES_SEMIRING_INT64, on_long, each);
  cases += run_cases<rig::min_plus<float>, float>(GrB_MIN_PLUS_SEMIRING_FP32, on_float, each);
  cases += run_cases<rig::min_plus<int>, int>(GrB_MIN_PLUS_SEMIRING_INT32, on_int, each);
  cases += run_cases<rig::max_plus<float>, float>(GrB_MAX_PLUS_SEMIRING_FP32, on_float, each);
  cases += run_cases<rig::max_plus<long>, long>(GrB_MAX_PLUS_SEMIRING_INT64, on_long, each);
  cases += run_cases<rig::plus_second<float>, float>(GxB_PLUS_SECOND_FP32, on_float, each);
  cases += run_cases<rig::plus_first<float>, float>(GxB_PLUS_FIRST_FP32, on_float, each);
  cases += run_cases<rig::max_second<float>, float>(GrB_MAX_SECOND_SEMIRING_FP32, on_float, each);
  cases +=
      run_cases<rig::max_second<double>, double>(GrB_MAX_SECOND_SEMIRING_FP64, on_double, each);
  cases += run_cases<rig::min_first<float>, float>(GrB_MIN_FIRST_SEMIRING_FP32, on_float, each);
  cases += run_cases<rig::plus_pair<float>, float>(GxB_PLUS_PAIR_FP32, on_float, each);
  cases += run_cases<rig::plus_pair<int>, int>(GxB_PLUS_PAIR_INT32, on_int, each);
  cases += run_cases<rig::min_max<float>, float>(GrB_MIN_MAX_SEMIRING_FP32, on_float, each);
  cases += run_cases<rig::max_min<int>, int>(GrB_MAX_MIN_SEMIRING_INT32, on_int, each);
  cases += run_cases<rig::max_times<float>, float>(GrB_MAX_TIMES_SEMIRING_FP32, on_float, each);
  cases += run_cases<rig::lor_land<bool>, bool>(GrB_LOR_LAND_SEMIRING_BOOL, on_bool, 2 * each);
  std::printf("%d cases beside GraphBLAS\n", cases);
  REQUIRE(cases >= 1000);
  ok(GrB_finalize());
}

}  // namespace
