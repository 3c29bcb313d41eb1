#pragma once

// One rank's share of the tests of products over ranks; threads and MPI run the same.

#include <stdexcept>
#include <string>
#include <vector>

#include "distributed/ranks.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"
#include "seed.hpp"

namespace ranks {

template <class T>
rig::dense<T> on_host(const rig::dense<T>& of) {
  return of.to(rig::cpu());
}
template <class T>
rig::indexed_dense<T> on_host(const rig::indexed_dense<T>& of) {
  return {of.values.to(rig::cpu()), of.indices.to(rig::cpu())};
}

/// A sum of the caller that rounds, with a finish.
struct damped {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr const char* name = "damped";
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float a, float b) { return a * b; }
  static constexpr float finish(float x, rig::int64 n) { return x / float(1 + n); }
};

/// A sum of the caller's own type: its sum and its greatest term.
struct spread_sum {
  float sum, greatest;
};
struct sum_and_greatest {
  using left = float;
  using right = float;
  using accum = spread_sum;
  static constexpr const char* name = "sum_and_greatest";
  static constexpr accum zero() { return {0, 0}; }
  static constexpr accum add(accum x, accum y) {
    return {x.sum + y.sum, x.greatest > y.greatest ? x.greatest : y.greatest};
  }
  static constexpr accum multiply(float a, float b) { return {a * b, a * b}; }
};

/// A sum of the caller that reads positions.
struct weighted_by_place {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr const char* name = "weighted_by_place";
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float a, float b, rig::position at) {
    return a * b * float(1 + at.row) + float(at.inner);
  }
};

template <class T>
T draw(random_bits& bits) {
  if constexpr (rig::is_same<T, bool>)
    return bits.chance(0.5);
  else
    return static_cast<T>(static_cast<float>(bits.unit() * 4 - 1.5));
}

/// rows×columns with about `degree` entries a row, some rows empty and some full.
template <class T>
rig::matrix<T> random_matrix(rig::index rows, rig::index columns, double degree,
                             unsigned long seed) {
  random_bits bits(test_seed() + seed);
  std::vector<rig::int64> offsets{0};
  std::vector<rig::index> entries;
  for (rig::index i = 0; i < rows; ++i) {
    const double chance = i % 11 == 3 ? 0 : i % 17 == 5 ? 1 : degree / columns;
    for (rig::index j = 0; j < columns; ++j)
      if (bits.chance(chance)) entries.push_back(j);
    offsets.push_back(static_cast<rig::int64>(entries.size()));
  }
  const rig::buffer values = rig::buffer::allocate(entries.size() * sizeof(T));
  for (std::size_t p = 0; p < entries.size(); ++p) values.data<T>()[p] = draw<T>(bits);
  return rig::matrix<T>(rig::pattern_from_csr(rows, columns, offsets, entries, rig::input::checked),
                        values);
}
template <class T>
rig::dense<T> random_dense(rig::index rows, rig::index columns, unsigned long seed) {
  random_bits bits(test_seed() + seed);
  rig::dense<T> made(rows, columns);
  for (rig::index i = 0; i < rows; ++i)
    for (T& x : made.row(i)) x = bits.chance(0.1) ? static_cast<T>(-0.0f) : draw<T>(bits);
  return made;
}

/// Contiguous layouts by entries, even ones, and random partitions.
inline rig::layout layout_of(const rig::pattern& rows, int ranks, int kind, unsigned long seed) {
  if (kind == 0) return rig::layout::by_entries(rows, ranks);
  random_bits bits(test_seed() + seed);
  std::vector<int> rank_of_row;
  for (rig::index i = 0; i < rows.rows(); ++i) rank_of_row.push_back(bits.below(ranks));
  return rig::layout::by_partition(rank_of_row, ranks);
}

/// Runs work(ranks, layout) for 1 … 7 ranks and both kinds of layout of some rows.
template <class Work>
void for_ranks(const rig::pattern& rows, const Work& work) {
  for (int size = 1; size <= 7; ++size)
    for (const int kind : {0, 1})
      run_all(size,
              [&](const rig::communicator& here) { work(here, layout_of(rows, size, kind, 40)); });
}

inline void require(bool holds, const std::string& words) {
  if (!holds) throw std::runtime_error(words);
}

/// A product of one rank, and what this rank of many finds wrong with its own. `rows` and `inner`
/// lay out A and X.
template <class S, class TA, class TX>
std::string compare(const rig::communicator& here, const rig::matrix<TA>& a,
                    const rig::dense<TX>& x, const rig::layout& rows, const rig::layout& inner,
                    const rig::descriptor& desc = {.threads = 1}) {
  const auto expected = rig::mxm(a, x, S(), desc);
  const auto part = rig::distributed<rig::matrix<TA>>::from_whole(here, a, rows);
  const auto by_rows = rig::distributed<rig::dense<TX>>::from_whole(here, x, inner);
  const auto by_features = by_rows.by_features();
  std::string wrong;
  const auto check = [&](const char* words, const auto& of, rig::exchange by) {
    rig::descriptor with = desc;
    with.exchange = by;
    if (!same_bits(rig::mxm(part, of, S(), with).gather(), expected))
      wrong += std::string(" ") + words;
  };
  using enum rig::exchange;
  if (!same_bits(by_features.gather(), x)) wrong += " by_features";
  check("automatic", by_rows, automatic);
  check("automatic of features", by_features, automatic);
  check("features", by_rows, features);
  if constexpr (!rig::over_ranks::needs_whole_numbers<S>) {
    check("fetch", by_rows, fetch);
    check("fetch of features", by_features, fetch);
  }
  return wrong;
}

inline std::string words_of(const char* semiring, int ranks, int kind, rig::index features) {
  return std::string(semiring) + ", " + std::to_string(ranks) + " ranks, layout " +
         std::to_string(kind) + ", F = " + std::to_string(features);
}

}  // namespace ranks
