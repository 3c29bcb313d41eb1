// MaxK on the CPU: the selection, the products with its cbsr, and their gradients.

#include <omp.h>

#include "maxk_cases.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::cbsr;
using rig::errc;

const rig::place here = rig::cpu();

TEST_CASE_TEMPLATE("maxk keeps the same elements as a sort", T, float, double, rig::half,
                   rig::bfloat16) {
  check_selections<T>(here);
}

TEST_CASE_TEMPLATE("ties, NaN, infinities and zeros of both signs", T, float, double, rig::half,
                   rig::bfloat16) {
  check_ties<T>(here);
}

TEST_CASE("a cbsr is a mask by its structure alone, also through the mask's constructor") {
  const auto a = rig::matrix<float>::from_positions(4, 4, std::vector{0, 3}, std::vector{1, 2});
  const rig::dense<float> b(4, 6, 2.0f);
  const auto retained = rig::maxk(b, 2);
  const auto product = [&](const rig::mask<cbsr<float>>& mask) {
    return rig::mxm(a, b, rig::plus_times<float>{}, mask);
  };
  CHECK(product({retained, true, false}).k() == 2);
  CHECK_THROWS_AS(product({retained, true, true}), rig::error);
  CHECK_THROWS_AS(product({retained, false, false}), rig::error);
}

TEST_CASE("maxk of a view, of no rows, and with any number of threads") {
  padded<float> x({3, 2, {1, 2, 4, 3, 5, 6}}, 3);
  const auto retained = rig::maxk(x.view(), 1);
  CHECK(retained.structure().column(0, 0) == 1);
  CHECK(retained.values()[1] == 4);
  CHECK(x.gaps_untouched());
  CHECK(rig::maxk(rig::dense<float>(0, 5), 2).rows() == 0);
  CHECK(rig::to_dense(rig::maxk(rig::dense<float>(0, 5), 2)).columns() == 5);

  random_bits random(test_seed());
  rig::dense<float> many(700, 130);
  for (int i = 0; i < 700; ++i)
    for (int j = 0; j < 130; ++j) many(i, j) = static_cast<float>(random.below(50));
  const auto once = rig::maxk(many, 30, {.threads = 1});
  for (const int threads : {2, 3, 7, 0, 1 << 30}) {
    const auto again = rig::maxk(many, 30, {.threads = threads});
    CHECK(std::memcmp(again.values(), once.values(), 700 * 30 * sizeof(float)) == 0);
    CHECK(std::memcmp(again.indices(), once.indices(), 700 * 30) == 0);
  }
}

TEST_CASE("a cbsr of the caller's arrays is checked") {
  const std::vector<float> values{1, 2, 3, 4};
  const auto made = [&](int rows, int columns, int k, std::vector<int> indices) {
    return cbsr<float>::from(rows, columns, k, std::span<const float>(values), indices);
  };
  const auto good = made(2, 300, 2, {0, 299, 7, 8});
  CHECK(good.index_bytes() == 2);
  CHECK(good.structure().column(0, 1) == 299);
  CHECK(rig::to_dense(good)(1, 8) == 4);
  const auto same = good.to(rig::cpu());
  CHECK(same.values() == good.values());
  check_error(errc::range, {"row 1", "column 300"}, [&] { made(2, 300, 2, {0, 1, 2, 300}); });
  check_error(errc::range, {"row 0", "column -1"}, [&] { made(2, 300, 2, {-1, 1, 2, 3}); });
  check_error(errc::order, {"row 1", "column 5 after column 6"}, [&] {
    made(2, 300, 2, {8, 9, 6, 5});
  });
  check_error(errc::order, {"column 9 after column 9"}, [&] { made(2, 300, 2, {9, 9, 5, 6}); });
  check_error(errc::shape, {"4 indices", "got 3"}, [&] { made(2, 300, 2, {1, 2, 3}); });
  check_error(errc::shape, {"6 values", "got 4"}, [&] { made(3, 9, 2, {1, 2, 1, 2, 1, 2}); });
  check_error(errc::shape, {"-1"}, [&] { made(-1, 9, 2, {}); });
  for (const auto& [columns, k] : {std::pair{3, 4}, {3, 0}, {3, -2}, {0, 1}, {65537, 2}})
    check_error(errc::range, {std::to_string(k), std::to_string(columns)},
                [&, columns = columns, k = k] { made(2, columns, k, {}); });
  check_error(errc::shape, {"4 entries", "16 bytes", "got 12"},
              [&] { cbsr<float>(good.structure(), rig::buffer::allocate(12)); });
  check_selection_refusals(here);
}

TEST_CASE("forward: every builtin semiring that maxk serves") {
  const std::vector<shape> shapes = battery();
  int number = 0, served = 0;
#define RIG_BUILTIN(semiring, type) \
  served += sweep_or_refuse<rig::semiring<type>, type>({here}, shapes, 7 * ++number);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(served > number / 2);
}

TEST_CASE("forward: storage types") {
  const std::vector<shape> shapes = battery();
  sweep_forward<rig::plus_times<float>, bool, rig::half, rig::bfloat16>({here}, shapes, 1);
  sweep_forward<rig::max_second<float>, float, rig::bfloat16, double>({here}, shapes, 2);
  sweep_forward<rig::mean_times<double>, rig::bfloat16, float, rig::half>({here}, shapes, 3);
  sweep_forward<rig::plus_second<int>, float, double, long>({here}, shapes, 4);
  sweep_forward<rig::arg_max_second<double>, float, rig::half, float>({here}, shapes, 5);
}

TEST_CASE("backward: semirings, shapes, and storage types") {
  for (int round = 0; round < 4; ++round) {
    const std::vector<shape> shapes = battery();
    sweep_backward<rig::plus_times<float>, float, float, float>({here}, shapes, 3 * round);
    sweep_backward<rig::plus_times<double>, double, double, double>({here}, shapes, 3 * round + 1);
    sweep_backward<rig::plus_second<float>, float, rig::half, rig::bfloat16, rig::half>(
        {here}, shapes, 3 * round + 2);
    sweep_backward<rig::max_second<float>, bool, float, float>({here}, shapes, 3 * round + 4);
    sweep_backward<rig::min_plus<float>, float, int, double>({here}, shapes, 3 * round + 5);
    sweep_backward<rig::mean_times<double>, rig::bfloat16, double, rig::half, double>(
        {here}, shapes, round);
    sweep_backward<rig::plus_first<float>, float, long, float>({here}, shapes, 5 * round);
    sweep_backward<rig::plus_times<int>, int, bool, float>({here}, shapes, 5 * round + 1);
  }
}

TEST_CASE("same bits for any number of threads") {
  const shape lengths = row_lengths_shape();
  for (const int features : {33, 300}) {
    trial_spec spec;
    spec.of = &lengths;
    spec.features = features;
    spec.seed = test_seed();
    spec.values = draw::reals;
    trial_spec backward = spec;
    spec.top_k = backward.stored = 20;
    trial<rig::plus_times<float>, float, float, float> forward(spec);
    trial<rig::plus_times<float>, float, float, float> under(backward);
    std::vector<unsigned char> once, once_under;
    CHECK(forward.run("maxk", 1, &once) == "");
    CHECK(under.run_under_cbsr("", 1, &once_under) == "");
    for (const int threads : {1, 2, 3, 7, 0, 1 << 30}) {
      std::vector<unsigned char> bytes;
      CHECK(forward.run("maxk", threads, &bytes) == "");
      CHECK(bytes == once);
      CHECK(under.run_under_cbsr("", threads, &bytes) == "");
      CHECK(bytes == once_under);
    }
  }
}

TEST_CASE("gradients equal central differences") { check_gradients(here); }

TEST_CASE("mean_normalise divides by the entries per row") {
  random_bits random(test_seed());
  const rig::matrix<double> a = random_graph(30, 0.1, random);
  const rig::dense<double> b = random_dense(30, 5, random);
  const auto ours = rig::mxm(rig::mean_normalise(a), b, rig::plus_times<double>{}),
             mean = rig::mxm(a, b, rig::mean_times<double>{});
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 5; ++j) CHECK(ours(i, j) == doctest::Approx(mean(i, j)).epsilon(1e-12));
}

TEST_CASE("an element without products holds the fill, or C's former element") {
  check_absent(here);
}

/// A mean of the caller that makes 1 of a sum of zeros.
struct mean_of_powers {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr bool ignores_left = true;
  static constexpr rig::reduction samples_as = rig::reduction::mean;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float, float y) { return y; }
  static float finish(float x, rig::int64 n) {
    return n > 0 ? std::exp(x / static_cast<float>(n)) : 0;
  }
};

TEST_CASE("a mean of the caller knows which places have no products") {
  const auto a = rig::matrix<float>::from_positions(2, 2, std::vector{0, 0}, std::vector{0, 1});
  const auto b = rig::dense<float>::from(2, 2, std::vector<float>{0, 2, 0, 4});
  const auto c = rig::mxm(a, rig::maxk(b, 1), mean_of_powers());
  CHECK(c(0, 0) == 0);
  CHECK(c(0, 1) == doctest::Approx(std::exp(3)));
  CHECK(c(1, 1) == 0);
}

TEST_CASE("which kernel serves, and what is refused") { check_dispatch(here); }

TEST_CASE("C may be the B that MaxK selects from") { check_alias(here); }

}  // namespace
