// Rows that a mask of a matrix forbids are left out in long runs, and become the fill or stay.

#include <doctest/doctest.h>

#include <vector>

#include "rig/generate.hpp"
#include "rig/kernels/cpu/row.hpp"
#include "rig/rig.hpp"

namespace {

using rig::dense;
using rig::index;
using rig::matrix;

/// A mask with entries in these rows, and the rows that a product under it computes.
struct walk {
  rig::int64 computed = 0;
  int runs = 0;

  walk(index rows, const std::vector<index>& of) {
    const auto m = matrix<bool>::from_positions(rows, 1, of, std::vector<index>(of.size()));
    rig::mask_operand mask;
    mask.over = rig::mask_operand::kind::matrix;
    rig::fill_in(mask.sparse, m);
    std::size_t seen = 0;
    for (index row = 0; row < rows; ++runs) {
      const auto next = rig::on_cpu::rows_under_mask(mask, row, rows);
      REQUIRE(next.forbidden > row);
      for (; seen < of.size() && of[seen] < next.forbidden; ++seen) CHECK(of[seen] < next.computed);
      computed += next.computed - row;
      row = next.forbidden;
    }
    CHECK(seen == of.size());
  }
};

TEST_CASE("the rows that are computed are few if the mask's are") {
  constexpr index n = 1'000'000;
  const walk one(n, {777'777}), ends(n, {0, n - 1}), none(n, {});
  CHECK(one.computed <= 2 * rig::on_cpu::widest_tile);
  CHECK(one.runs <= 3);
  CHECK(ends.computed <= 2 * rig::on_cpu::widest_tile);
  CHECK(none.computed == 0);
  std::vector<index> all(1000);
  for (index i = 0; i < 1000; ++i) all[static_cast<std::size_t>(i)] = i;
  const walk every(1000, all);
  CHECK(every.computed == 1000);
  CHECK(every.runs == 1);
}

TEST_CASE("a product under few entries is the product under the same dense mask") {
  constexpr index n = 3000;
  const auto a = rig::generate::random_values(rig::generate::uniform(n, 8));
  for (const index f : {1, 3, 40}) {
    dense<float> b(n, f), where(n, f, 0.0f);
    for (index i = 0; i < n; ++i)
      for (index j = 0; j < f; ++j) b(i, j) = static_cast<float>(i % 17 - j);
    std::vector<index> rows{0, 3, 1500, 1501, n - 1}, columns{0, 0, f - 1, 0, f / 2};
    for (std::size_t k = 0; k < rows.size(); ++k) where(rows[k], columns[k]) = 1;
    const auto few = matrix<float>::from_positions(n, f, rows, columns);
    const rig::plus_times<float> s;
    const rig::arg_max_second<float> arg;
    for (const char* kernel : {"row", "split"})
      for (const int threads : {1, 2})
        for (const bool replace : {false, true}) {
          const rig::descriptor desc{
              .replace = replace, .fill = -3, .kernel = kernel, .threads = threads};
          CAPTURE(f);
          CAPTURE(kernel);
          CHECK(rig::mxm(a, b, s, rig::structure(few), desc) ==
                rig::mxm(a, b, s, rig::values(where), desc));
          for (const auto accum : {rig::none, rig::accumulator::plus}) {
            dense<float> x(n, f, 7.0f), y(n, f, 7.0f);
            rig::mxm(x, accum, a, b, s, rig::structure(few), desc);
            rig::mxm(y, accum, a, b, s, rig::values(where), desc);
            CHECK(x == y);
          }
          const auto best = rig::mxm(a, b, arg, rig::structure(few), {.kernel = kernel}),
                     same = rig::mxm(a, b, arg, rig::values(where), {.kernel = kernel});
          CHECK(best.values == same.values);
          CHECK(best.indices == same.indices);
        }
  }
}

/// The sum that counts its products, on one thread.
struct counting {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr rig::reduction samples_as = rig::reduction::sum;
  static inline rig::int64 products = 0;
  static float zero() { return 0; }
  static float add(float x, float y) { return x + y; }
  static float multiply(float a, float b) {
    ++products;
    return a * b;
  }
};

TEST_CASE("no kernel multiplies in rows that a mask forbids") {
  constexpr index n = 2000, f = 8;
  const auto a = rig::generate::random_values(rig::generate::uniform(n, 8));
  const dense<float> b(n, f, 1.0f);
  const auto few = matrix<float>::from_positions(n, f, std::vector<index>{7, 1500},
                                                 std::vector<index>{0, f - 1});
  const auto products = [](const auto& call) {
    counting::products = 0;
    call();
    return counting::products;
  };
  const counting s;
  for (const char* kernel : {"row", "split"})
    CHECK(products([&] {
            rig::mxm(a, b, s, rig::structure(few), {.kernel = kernel, .threads = 1});
          }) <= a.nnz() * f / 4);
  const auto of_two = a.structure().offset(8) - a.structure().offset(7) +
                      a.structure().offset(1501) - a.structure().offset(1500);
  CHECK(products([&] { rig::mxm(a, rig::maxk(b, 2), s, rig::structure(few), {.threads = 1}); }) ==
        2 * of_two);
}

}  // namespace
