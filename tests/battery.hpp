#pragma once

// The battery: the shapes and feature widths at which products most often go wrong.

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "seed.hpp"

struct shape {
  std::string name;
  oracle::sparse pattern;  ///< the pattern of op(A); each trial draws its values
};

/// Feature widths F on both sides of every width at which a kernel changes its inner loop.
inline const std::vector<int> feature_widths = {0, 1, 2, 3, 31, 32, 33, 64, 100, 128, 257};

/// A pattern from the columns of each row, in any order and with repetitions.
inline oracle::sparse pattern_of(int rows, int columns,
                                 const std::function<std::vector<int>(int)>& columns_of) {
  oracle::sparse out;
  out.rows = rows;
  out.columns = columns;
  for (int i = 0; i < rows; ++i) {
    std::vector<int> row = columns_of(i);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    out.inner.insert(out.inner.end(), row.begin(), row.end());
    out.offsets.push_back(out.nnz());
  }
  out.values.assign(out.inner.size(), 0);
  return out;
}

/// `count` different columns of `columns`, evenly spread from a random start.
inline std::vector<int> spread(int count, int columns, random_bits& random) {
  std::vector<int> out(count);
  const int start = columns > 0 ? random.below(columns) : 0;
  for (int e = 0; e < count; ++e)
    out[e] =
        static_cast<int>((start + static_cast<long>(e) * columns / std::max(count, 1)) % columns);
  return out;
}

inline oracle::sparse pattern_of_lengths(const std::vector<int>& lengths, int columns,
                                         random_bits& random) {
  return pattern_of(static_cast<int>(lengths.size()), columns,
                    [&](int i) { return spread(lengths[i], columns, random); });
}

inline oracle::sparse random_pattern(int rows, int columns, double density, random_bits& random) {
  return pattern_of(rows, columns, [&](int) {
    std::vector<int> row;
    for (int j = 0; j < columns; ++j)
      if (random.chance(density)) row.push_back(j);
    return row;
  });
}

inline std::vector<int> every_column(int columns) {
  std::vector<int> all(columns);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Shapes small enough for the sanitizers.
inline std::vector<shape> small_battery() {
  random_bits random(test_seed());
  const auto none = [](int) { return std::vector<int>(); };
  return {
      {"0x0", pattern_of(0, 0, none)},
      {"0xN", pattern_of(0, 7, none)},
      {"Nx0", pattern_of(7, 0, none)},
      {"1x1", pattern_of(1, 1, [](int) { return std::vector<int>{0}; })},
      {"1xN", random_pattern(1, 90, 0.4, random)},
      {"Nx1", random_pattern(90, 1, 0.5, random)},
      {"all rows empty", pattern_of(17, 13, none)},
      {"every other row empty",
       pattern_of(21, 19, [&](int i) { return spread(i % 2 * 4, 19, random); })},
      {"one full row",
       pattern_of(20, 50, [](int i) { return i == 11 ? every_column(50) : std::vector<int>(); })},
      {"one full column",
       pattern_of(50, 20,
                  [](int i) {
                    return i % 7 == 0 ? std::vector<int>{3, 5} : std::vector<int>{3};
                  })},
      {"full", pattern_of(13, 29, [](int) { return every_column(29); })},
      {"random", random_pattern(40, 60, 0.08, random)},
  };
}

/// Rows whose lengths lie just below, at and just above every block length of the kernels.
inline shape row_lengths_shape() {
  random_bits random(test_seed() + 1);
  return {"row lengths",
          pattern_of_lengths({0,  1,  2,  3,  4,  7,   8,   9,   15,  16,  17,  31,
                              32, 33, 63, 64, 65, 255, 256, 257, 300, 511, 513, 1000},
                             1200, random)};
}

/// All shapes whose products take little time.
inline std::vector<shape> battery() {
  std::vector<shape> out = small_battery();
  random_bits random(test_seed() + 2);
  out.push_back({"power law", pattern_of(250, 250, [&](int i) {
                   std::vector<int> row;
                   for (int e = 0; e < 500 / (i + 1) + random.below(3); ++e) {
                     const double u = random.unit();
                     row.push_back(static_cast<int>(250 * u * u * u));
                   }
                   return row;
                 })});
  out.push_back({"banded", pattern_of(150, 150, [](int i) {
                   std::vector<int> row;
                   for (int j = std::max(0, i - 3); j < std::min(150, i + 4); ++j) row.push_back(j);
                   return row;
                 })});
  out.push_back({"wide", random_pattern(30, 2000, 0.01, random)});
  out.push_back({"tall", random_pattern(2000, 30, 0.03, random)});
  out.push_back(row_lengths_shape());
  return out;
}

/// Rows of 0 to 100 000 entries: the only shape whose rows are long enough to be split.
inline shape long_rows_shape() {
  random_bits random(test_seed() + 3);
  return {"long rows", pattern_of_lengths({3, 65537, 0, 100000, 65536, 1}, 100000, random)};
}
