#pragma once

// mxm_update in one place: against sums in double precision, with its bound, and its errors.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "battery.hpp"
#include "provoked.hpp"
#include "rig/mxm_update.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "seed.hpp"

namespace update_cases {

template <class T>
rig::dense<T> random_dense(rig::index rows, rig::index columns, random_bits& random) {
  rig::dense<T> out(rows, columns);
  for (rig::index i = 0; i < rows; ++i)
    for (rig::index j = 0; j < columns; ++j)
      out(i, j) = static_cast<T>(static_cast<float>(random.unit() * 2 - 1));
  return out;
}

inline rig::matrix<float> random_matrix(const shape& of, random_bits& random) {
  std::vector<int> offsets(of.pattern.offsets.begin(), of.pattern.offsets.end());
  std::vector<int> columns(of.pattern.inner.begin(), of.pattern.inner.end());
  std::vector<float> values(columns.size());
  for (float& x : values) x = static_cast<float>(random.unit() * 2 - 1);
  return rig::matrix<float>::from_csr(of.pattern.rows, of.pattern.columns,
                                      std::span<const int>(offsets), std::span<const int>(columns),
                                      std::span<const float>(values));
}

/// Row i of Z in double precision, and the sum of its terms' magnitudes.
template <class S, class TB>
void expect_row(const rig::matrix<float>& a, const rig::dense<TB>& b, rig::index i,
                std::vector<double>& z, std::vector<double>& scale) {
  const rig::pattern& of = a.structure();
  const bool is_max = std::string(S::name) == "max_second";
  const auto n = static_cast<double>(of.offset(i + 1) - of.offset(i));
  for (rig::index f = 0; f < b.columns(); ++f) {
    const auto at = static_cast<std::size_t>(f);
    z[at] = is_max && n > 0 ? -std::numeric_limits<double>::infinity() : 0;
    scale[at] = 0;
    for (rig::int64 p = of.offset(i); p < of.offset(i + 1); ++p) {
      const double x = static_cast<float>(b(of.column_indices()[p], f));
      const double term = is_max ? x : static_cast<double>(a.values()[p]) * x;
      z[at] = is_max ? std::max(z[at], term) : z[at] + term;
      scale[at] += std::fabs(term);
    }
    if (std::string(S::name) == "mean_times" && n > 0) {
      z[at] /= n;
      scale[at] /= n;
    }
  }
}

/// The number of elements beyond the bound of docs/reference/mxm.md.
template <class S, class TB>
int count_wrong(const rig::matrix<float>& a, const rig::dense<TB>& b, const rig::dense<float>& w,
                const rig::dense<float>& c) {
  const auto columns = static_cast<std::size_t>(b.columns());
  std::vector<double> z(columns), scale(columns);
  int wrong = 0;
  for (rig::index i = 0; i < a.rows(); ++i) {
    expect_row<S>(a, b, i, z, scale);
    const auto n = static_cast<double>(a.structure().offset(i + 1) - a.structure().offset(i));
    for (rig::index g = 0; g < w.columns(); ++g) {
      double sum = 0, of_product = 0, of_update = 0;
      for (rig::index f = 0; f < b.columns(); ++f) {
        const auto at = static_cast<std::size_t>(f);
        sum += z[at] * w(f, g);
        of_product += scale[at] * std::fabs(w(f, g));
        of_update += std::fabs(z[at] * w(f, g));
      }
      const double bound = (n + 1) * 0x1p-23 * of_product + (b.columns() + 4) * 0x1p-22 * of_update;
      wrong += !(std::fabs(c(i, g) - sum) <= bound);
    }
  }
  return wrong;
}

/// One shape and width, fresh, with the product stored, and into an operand's memory.
template <class S, class TB>
void check_update(const shape& of, rig::index f, rig::index g, rig::place where) {
  CAPTURE(S::name);
  CAPTURE(of.name);
  CAPTURE(f);
  CAPTURE(g);
  random_bits random(test_seed() + static_cast<unsigned long>(f * 131 + g));
  const rig::matrix<float> a = random_matrix(of, random);
  const auto b = random_dense<TB>(a.columns(), f, random);
  const auto w = random_dense<float>(f, g, random);
  const auto a_there = a.to(where);
  const auto b_there = b.to(where);
  const auto w_there = w.to(where);
  const rig::descriptor desc = {.fill = 0};
  const auto c = rig::mxm_update(a_there, b_there, w_there, S{}, desc).to(rig::cpu());
  REQUIRE(c.rows() == a.rows());
  REQUIRE(c.columns() == g);
  CHECK(count_wrong<S>(a, b, w, c) == 0);

  auto again = rig::dense<float>(a.rows(), g, 7.0f).to(where);
  auto z = rig::dense<float>(a.rows(), f, 7.0f).to(where);
  rig::mxm_update(again, z, a_there, b_there, w_there, S{}, desc);
  const auto same = again.to(rig::cpu()), product = z.to(rig::cpu());
  const auto expected = rig::mxm(a, b, S{}, desc);
  int unlike = 0;
  for (rig::index i = 0; i < a.rows(); ++i) {
    for (rig::index j = 0; j < g; ++j) unlike += same(i, j) != c(i, j);
    const auto n = static_cast<float>(a.structure().offset(i + 1) - a.structure().offset(i));
    for (rig::index j = 0; j < f; ++j)
      unlike += !(std::fabs(product(i, j) - expected(i, j)) <= (n + 1) * (n + 1) * 0x1p-22f);
  }
  CHECK(unlike == 0);
}

inline void check_battery(rig::place where) {
  int step = 0;
  for (const shape& of : small_battery())
    for (const rig::index f : {1, 4, 8, 20, 33, 64, 100, 128}) {
      const rig::index g =
          std::vector{16, 1, 64, 17, 128, 41, 8}[static_cast<std::size_t>(step++) % 7];
      check_update<rig::plus_times<float>, float>(of, f, g, where);
      if (step % 3 == 0) check_update<rig::max_second<float>, float>(of, f, g, where);
      if (step % 3 == 1) check_update<rig::mean_times<float>, rig::half>(of, f, g, where);
    }
}

/// Nothing to multiply, or nothing to store.
inline void check_empty(rig::place where) {
  random_bits random(test_seed());
  const shape of{"few", pattern_of_lengths({2, 0, 3}, 5, random)};
  const auto a = random_matrix(of, random).to(where);
  const auto none = rig::mxm_update(a, rig::dense<float>(5, 0).to(where),
                                    rig::dense<float>(0, 4).to(where), rig::plus_times<float>{});
  const auto c = none.to(rig::cpu());
  REQUIRE(c.columns() == 4);
  for (rig::index i = 0; i < 3; ++i)
    for (rig::index j = 0; j < 4; ++j) CHECK(c(i, j) == 0);
  CHECK(rig::mxm_update(a, rig::dense<float>(5, 3).to(where), rig::dense<float>(3, 0).to(where),
                        rig::plus_times<float>{})
            .columns() == 0);
}

/// An infinity or NaN of Z reaches its row of C alone.
inline void check_not_finite(rig::place where) {
  random_bits random(test_seed());
  const shape of{"rows", pattern_of_lengths(std::vector<int>(70, 3), 70, random)};
  const auto a = random_matrix(of, random);
  auto b = random_dense<float>(70, 24, random);
  b(11, 5) = std::numeric_limits<float>::infinity();
  b(12, 6) = std::numeric_limits<float>::quiet_NaN();
  const auto w = random_dense<float>(24, 40, random);
  const auto c = rig::mxm_update(a.to(where), b.to(where), w.to(where), rig::plus_times<float>{})
                     .to(rig::cpu());
  const auto z = rig::mxm(a, b, rig::plus_times<float>{});
  int unlike = 0;
  for (rig::index i = 0; i < 70; ++i)
    for (rig::index g = 0; g < 40; ++g) {
      float sum = 0;
      for (rig::index f = 0; f < 24; ++f) sum += z(i, f) * w(f, g);
      unlike += std::isnan(sum) != std::isnan(c(i, g)) || std::isinf(sum) != std::isinf(c(i, g));
    }
  CHECK(unlike == 0);
}

/// C may be B, or W.
inline void check_aliased(rig::place where) {
  random_bits random(test_seed());
  const shape of{"square", pattern_of_lengths(std::vector<int>(32, 4), 32, random)};
  const auto a = random_matrix(of, random).to(where);
  auto b = random_dense<float>(32, 32, random).to(where);
  auto w = random_dense<float>(32, 32, random).to(where);
  const auto c = rig::mxm_update(a, b, w, rig::plus_times<float>{}).to(rig::cpu());
  auto held = b.to(where), weights = w.to(where);
  rig::mxm_update(b, a, b, w, rig::plus_times<float>{});
  rig::mxm_update(w, a, held, w, rig::plus_times<float>{});
  const auto in_b = b.to(rig::cpu()), in_w = w.to(rig::cpu());
  int unlike = 0;
  for (rig::index i = 0; i < 32; ++i)
    for (rig::index j = 0; j < 32; ++j) unlike += in_b(i, j) != c(i, j) || in_w(i, j) != c(i, j);
  CHECK(unlike == 0);
}

inline void check_refusals(rig::place where) {
  random_bits random(test_seed());
  const shape of{"few", pattern_of_lengths({2, 0, 3}, 5, random)};
  const auto a = random_matrix(of, random).to(where);
  const auto b = random_dense<float>(5, 6, random).to(where);
  const rig::plus_times<float> s;
  check_error(rig::errc::shape, {"mxm_update", "6 columns", "7 rows"},
              [&] { rig::mxm_update(a, b, rig::dense<float>(7, 2).to(where), s); });
  auto c = rig::dense<float>(3, 3).to(where);
  check_error(rig::errc::shape, {"mxm_update", "3x2", "3x3"},
              [&] { rig::mxm_update(c, a, b, rig::dense<float>(6, 2).to(where), s); });
  check_error(rig::errc::cannot, {"row", "weights"}, [&] {
    rig::mxm_update(a, b, rig::dense<float>(6, 2).to(where), s, {.kernel = "row"});
  });
  check_error(rig::errc::cannot, {"update", "weights"},
              [&] { rig::mxm(a, b, s, {.kernel = "update"}); });
  check_error(rig::errc::range, {"mxm_update", "precision"}, [&] {
    rig::mxm_update(a, b, rig::dense<float>(6, 2).to(where), s,
                    {.precision = static_cast<rig::precision>(9)});
  });
  auto z = rig::dense<float>(3, 6).to(where);
  auto in_z = rig::dense<float>::view(z.data(), 3, 2, 6, where);
  check_error(rig::errc::range, {"mxm_update", "3x2", "3x6", "share memory"},
              [&] { rig::mxm_update(in_z, z, a, b, rig::dense<float>(6, 2).to(where), s); });
  const auto why = rig::explain(a, b, rig::dense<float>(6, 2).to(where), s);
  CHECK(why.chosen == "update");
  const std::string inner = rig::explain(a, b, s).chosen;
  CHECK(why.text().find("plan: product by " + inner) != std::string::npos);
}

/// Rows of operands and results that are apart, transposed operands, and Z without C.
inline void check_views(rig::place where) {
  random_bits random(test_seed());
  const shape of{"few", pattern_of_lengths({2, 0, 3, 5}, 6, random)};
  const auto a = random_matrix(of, random).to(where);
  const rig::index f = 7, g = 3;
  const rig::plus_times<float> s;
  const auto b_here = random_dense<float>(6, f, random);
  const auto b = b_here.to(where);
  rig::dense<float> flipped(f, 6);
  for (rig::index i = 0; i < 6; ++i)
    for (rig::index j = 0; j < f; ++j) flipped(j, i) = b_here(i, j);
  const auto w = random_dense<float>(f, g, random).to(where);
  const auto c = rig::mxm_update(a, b, w, s).to(rig::cpu());
  const auto apart = [&](const rig::dense<float>& x, rig::dense<float>& memory) {
    memory = rig::dense<float>(x.rows(), x.columns() + 5, 7.0f).to(where);
    auto out =
        rig::dense<float>::view(memory.data(), x.rows(), x.columns(), x.columns() + 5, where);
    rig::assign(out, rig::none, x, rig::all, rig::all);
    return out;
  };
  rig::dense<float> memory[4];
  const auto wide_b = apart(b, memory[0]), wide_w = apart(w, memory[1]);
  auto wide_c = apart(rig::dense<float>(4, g).to(where), memory[2]);
  auto wide_z = apart(rig::dense<float>(4, f).to(where), memory[3]);
  rig::mxm_update(wide_c, wide_z, a, wide_b, wide_w, s);
  const auto got = wide_c.to(rig::cpu()), z = wide_z.to(rig::cpu()),
             expected_z = rig::mxm(a, b, s).to(rig::cpu());
  const auto turned = rig::mxm_update(rig::transpose(a), flipped.to(where), w, s,
                                      {.transpose_a = true, .transpose_b = true})
                          .to(rig::cpu());
  const auto around = memory[2].to(rig::cpu());
  // C and Z side by side in the rows of one memory.
  auto both = rig::dense<float>(4, g + f, 7.0f).to(where);
  auto left = rig::dense<float>::view(both.data(), 4, g, g + f, where),
       right = rig::dense<float>::view(both.data() + g, 4, f, g + f, where);
  rig::mxm_update(left, right, a, b, w, s);
  const auto side = both.to(rig::cpu());
  auto only_z = rig::dense<float>(4, f, 7.0f).to(where);
  auto nothing = rig::dense<float>(4, 0).to(where);
  rig::mxm_update(nothing, only_z, a, b, rig::dense<float>(f, 0).to(where), s);
  const auto alone = only_z.to(rig::cpu());
  for (rig::index i = 0; i < 4; ++i) {
    for (rig::index j = 0; j < g; ++j) {
      CHECK(got(i, j) == doctest::Approx(c(i, j)));
      CHECK(turned(i, j) == doctest::Approx(c(i, j)));
    }
    for (rig::index j = g; j < g + 5; ++j) CHECK(around(i, j) == 7);
    for (rig::index j = 0; j < g; ++j) CHECK(side(i, j) == doctest::Approx(c(i, j)));
    for (rig::index j = 0; j < f; ++j) {
      CHECK(side(i, g + j) == doctest::Approx(expected_z(i, j)));
      CHECK(z(i, j) == doctest::Approx(expected_z(i, j)));
      CHECK(alone(i, j) == doctest::Approx(expected_z(i, j)));
    }
  }
}

}  // namespace update_cases
