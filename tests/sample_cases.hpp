#pragma once

// The cases of `rig::sample` that every place shares. Which entries the kernels read is written a
// second time in sampling_cases.hpp.

#include <algorithm>
#include <set>

#include "rig/reduce.hpp"
#include "rig/sample.hpp"
#include "sampling_cases.hpp"

/// A pattern of the oracle as a matrix whose values are 1, 2, 3, … in the order of entries.
template <class T>
rig::matrix<T> numbered(const oracle::sparse& a) {
  std::vector<T> values(a.inner.size());
  std::iota(values.begin(), values.end(), T(1));
  return rig::matrix<T>::from_csr(a.rows, a.columns, std::span<const long>(a.offsets),
                                  std::span<const int>(a.inner), std::span<const T>(values));
}

/// The numbers of the entries that S has of each row of A, counted from the row's start: found by
/// their columns, and compared by their values. Any other content fails.
inline std::vector<std::vector<long>> entries_of(const rig::matrix<int>& s,
                                                 const oracle::sparse& a) {
  std::vector<std::vector<long>> out(static_cast<std::size_t>(a.rows));
  REQUIRE(s.rows() == a.rows);
  REQUIRE(s.columns() == a.columns);
  for (const auto& [i, j, value] : s.entries()) {
    const auto begin = a.inner.begin() + a.offsets[i], end = a.inner.begin() + a.offsets[i + 1];
    const auto at = std::lower_bound(begin, end, j);
    REQUIRE(at != end);
    CHECK(*at == j);
    CHECK(value == at - a.inner.begin() + 1);
    out[static_cast<std::size_t>(i)].push_back(at - begin);
  }
  return out;
}

/// Seed 0 takes what the sampled kernels read, each entry once and in ascending order.
inline void check_kernels_entries(rig::place where) {
  for (const shape& of : battery())
    for (const auto& [name, how] : sampled_kernels)
      for (const int width : widths) {
        const auto s =
            rig::sample(numbered<int>(of.pattern).to(where), {.strategy = how, .width = width});
        const auto got = entries_of(s.to(rig::cpu()), of.pattern);
        for (int i = 0; i < of.pattern.rows; ++i) {
          const long n = of.pattern.offsets[i + 1] - of.pattern.offsets[i];
          const auto staged = staged_entries(how, n, width);
          const std::set<long> want(staged.begin(), staged.end());
          CHECK(std::ranges::equal(got[static_cast<std::size_t>(i)], want));
        }
      }
}

/// The product with a sample is the sampled kernel's: of maxima always, of sums and means if the
/// kernel reads no entry twice. Integers are exact.
inline void check_products(rig::place where) {
  int of_sums = 0;
  for (const shape& of : {row_lengths_shape(), battery()[0]})
    for (const auto& [name, how] : sampled_kernels)
      for (const int width : {1, 16, 100}) {
        const auto a = numbered<int>(of.pattern).to(where);
        rig::dense<int> x(a.columns(), 3);
        for (int k = 0; k < a.columns(); ++k)
          for (int j = 0; j < 3; ++j) x(k, j) = (k * 37 + j * 11) % 101 - 50;
        const auto b = x.to(where);
        const rig::descriptor desc{.kernel = name, .width = width};
        const auto s = rig::sample(a, {.strategy = how, .width = width});
        const auto same = [&](auto semiring) {
          const auto got = rig::mxm(s, b, semiring).to(rig::cpu()),
                     want = rig::mxm(a, b, semiring, desc).to(rig::cpu());
          CHECK(std::ranges::equal(got.span(), want.span()));
        };
        same(rig::max_second<int>{});
        const auto report = rig::sampling_report(a, desc);
        if (report.distinct != report.staged) continue;
        ++of_sums;
        same(rig::plus_times<int>{});
        same(rig::plus_pair<int>{});
      }
  CHECK(of_sums > 6);
}

/// Other seeds: full rows of distinct entries by bucket and fastrand, each entry equally often.
inline void check_seeds(rig::place where) {
  // Lengths at which the kernels' own rule repeats entries are among them.
  const std::vector<int> lengths = {0, 1, 16, 17, 40, 577, 1154};
  random_bits random(test_seed());
  const oracle::sparse a = pattern_of_lengths(lengths, 1200, random);
  const auto on = numbered<int>(a).to(where);
  constexpr int width = 16, seeds = 400;
  for (const auto& [name, how] : sampled_kernels) {
    std::vector<std::vector<int>> times;
    for (const int n : lengths) times.emplace_back(n, 0);
    std::set<std::vector<long>> of_row;
    long kept = 0;
    for (unsigned long seed = 1; seed <= seeds; ++seed) {
      const auto s = rig::sample(on, {.strategy = how, .width = width, .seed = seed});
      const auto got = entries_of(s.to(rig::cpu()), a);
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        CHECK(std::ranges::is_sorted(got[i]));
        if (how != sampling::adaptive)
          CHECK(static_cast<int>(got[i].size()) == std::min(lengths[i], width));
        for (const long entry : got[i]) ++times[i][static_cast<std::size_t>(entry)];
      }
      kept += static_cast<long>(got[5].size());
      of_row.insert(got[5]);
    }
    CHECK(of_row.size() > 100);
    for (const int t : times[2]) CHECK(t == seeds);  // a whole row
    // Binomial: the mean of each entry's times, within five standard deviations.
    const double share = static_cast<double>(kept) / seeds / lengths[5];
    const double mean = seeds * share, off = 5 * std::sqrt(seeds * share * (1 - share));
    for (const int t : times[5]) CHECK(std::fabs(t - mean) <= off);
    CHECK(rig::sample(on, {.strategy = how, .width = width, .seed = 9}) ==
          rig::sample(on, {.strategy = how, .width = width, .seed = 9}));
  }
}

/// Rescaled rows keep the sum of a row of ones; weights and types of values stay.
inline void check_rescale(rig::place where) {
  const auto a = numbered<int>(row_lengths_shape().pattern).to(where);
  const auto ones = a.with_value(1.0f);
  const auto s = rig::sample(ones, {.width = 16, .seed = 3, .rescale = true});
  const auto sums = rig::reduce_rows(s, rig::binary::plus).to(rig::cpu());
  const auto want = rig::reduce_rows(ones, rig::binary::plus).to(rig::cpu());
  REQUIRE(sums.nnz() == want.nnz());
  for (long p = 0; p < sums.nnz(); ++p)
    CHECK(std::fabs(sums.value(p) - want.value(p)) <= 1e-5f * want.value(p));
  const auto plain = rig::sample(ones, {.width = 16, .seed = 3});
  CHECK(plain.iso());
  CHECK(plain.iso_value() == 1);
  const auto of_half = rig::sample(a.with_value(rig::half(1.0f)), {.width = 16, .rescale = true});
  CHECK(of_half.nnz() == rig::sample(a, {.width = 16}).nnz());
  CHECK(rig::sample(a, {.strategy = sampling::whole}) == a);
  CHECK(rig::sample(a, {.width = rig::widest_sample, .seed = 5}) == a);
}

inline void check_sample_errors(rig::place where) {
  const auto a = one_row(9).to(where);
  for (const int width : {0, -1, 4097})
    check_error(rig::errc::range, {"sample", "width", std::to_string(width), "4096"},
                [&] { rig::sample(a, {.width = width}); });
  check_error(rig::errc::cannot, {"sample", "rescale", "float"},
              [&] { rig::sample(a.with_value(1), {.width = 4, .rescale = true}); });
}
