// MaxK on a GPU: the CPU's cases, the CPU's bits if sums are exact, rows and tiles of every size.
// Streams and graphs: gpu_maxk_streams.cpp.

#include "gpu_maxk_cases.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

RIG_SEMIRING(
    sum_of_products_tripled, using left = float; using right = float; using accum = float;
    static constexpr rig::reduction samples_as = rig::reduction::sum;
    static constexpr bool linear = true;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) { return 3 * a * b; });

// Sums of the largest size that kernels keep in shared memory, and larger ones.
RIG_SEMIRING(
    sum_of_64_bytes, using left = float; using right = float; struct accum {
      float sum;
      float rest[15];
    };
    static constexpr rig::reduction samples_as = rig::reduction::sum;
    static constexpr accum zero() { return {}; } static constexpr accum add(accum x, accum y) {
      x.sum += y.sum;
      return x;
    } static constexpr accum multiply(float a, float b) {
      return {a * b, {}};
    } static constexpr float finish(accum x, rig::int64) { return x.sum; });
RIG_SEMIRING(
    sum_of_68_bytes, using left = float; using right = float; struct accum {
      float sum;
      float rest[16];
    };
    static constexpr rig::reduction samples_as = rig::reduction::sum;
    static constexpr accum zero() { return {}; } static constexpr accum add(accum x, accum y) {
      x.sum += y.sum;
      return x;
    } static constexpr accum multiply(float a, float b) {
      return {a * b, {}};
    } static constexpr float finish(accum x, rig::int64) { return x.sum; });

namespace {

using rig::cbsr;
using rig::descriptor;
using rig::errc;

const descriptor transposed{.transpose_a = true};

TEST_CASE_TEMPLATE("maxk keeps the same elements as a sort", T, float, double, rig::half,
                   rig::bfloat16) {
  check_selections<T>(gpu);
}

TEST_CASE_TEMPLATE("ties, NaN, infinities and zeros of both signs", T, float, double, rig::half,
                   rig::bfloat16) {
  check_ties<T>(gpu);
}

TEST_CASE("refusals of maxk and maxk_gradient") {
  check_selection_refusals(gpu);
  const rig::dense<float> x(3, 8, 1.0f);
  const auto retained = rig::maxk(x, 2);
  const auto there = retained.to(gpu);
  check_error(errc::place, {to_string(gpu), to_string(rig::cpu())},
              [&] { rig::maxk_gradient(x, there); });
  check_error(errc::place, {to_string(gpu), to_string(rig::cpu())},
              [&] { rig::maxk_gradient(x.to(gpu), retained); });
}

/// Compares maxk, to_dense and maxk_gradient in both places.
template <class T>
bool selects_as_cpu(const rig::dense<T>& x, const rig::dense<T>& there, int k) {
  const auto want = rig::maxk(x, k);
  const auto made = rig::maxk(there, k);
  if (!same(want, made.to(rig::cpu()))) return false;
  const auto full = rig::to_dense(made).to(rig::cpu()), want_full = rig::to_dense(want);
  if (full.extent() != want_full.extent()) return false;
  if (full.extent() > 0 && std::memcmp(full.data(), want_full.data(), full.extent()) != 0)
    return false;
  return same(rig::maxk_gradient(x, want), rig::maxk_gradient(there, made).to(rig::cpu()));
}

TEST_CASE_TEMPLATE("maxk as on the CPU, bit for bit, over widths and k", T, float, double,
                   rig::half, rig::bfloat16) {
  random_bits random(test_seed() + 1);
  for (const int columns :
       {1, 2, 3, 7, 8, 31, 32, 33, 64, 100, 255, 256, 257, 384, 1000, 4096, 20000, 65536}) {
    std::set<int> counts = {columns / 2, columns - 1, columns};
    for (const int k : {1, 2, 7, 8, 16, 31, 32, 33, 64, 65, 127, 128, 129, 256, 300})
      counts.insert(k);
    const int rows = columns <= 384 ? 20 : columns <= 4096 ? 5 : 2;
    const rig::dense<T> inputs[] = {drawn<T>(rows, columns, draw::quarters, random),
                                    drawn<T>(rows, columns, draw::reals, random),
                                    drawn<T>(rows, columns, draw::extremes, random),
                                    any_bits<T>(rows, columns, random),
                                    rig::dense<T>(3, columns, rig::convert<T>(2.5))};
    for (const rig::dense<T>& x : inputs) {
      const rig::dense<T> there = x.to(gpu);
      for (const int k : counts) {
        if (k < 1 || k > columns) continue;
        CAPTURE(columns);
        CAPTURE(k);
        CAPTURE(&x - inputs);
        CHECK(selects_as_cpu(x, there, k));
      }
    }
  }
}

/// A dense on the GPU with `gap` unused elements between rows; its first row starts `offset`
/// elements into the memory. All unused elements are 77.
template <class T>
struct apart {
  int rows, columns, stride, offset;
  rig::dense<T> memory;

  apart(const rig::dense<T>& from, int gap, int offset)
      : rows(from.rows()), columns(from.columns()), stride(columns + gap), offset(offset) {
    rig::dense<T> host(1, offset + rows * stride, rig::convert<T>(77));
    for (int i = 0; i < rows; ++i) std::ranges::copy(from.row(i), &host(0, at(i, 0)));
    memory = host.to(gpu);
  }
  int at(int i, int j) const { return offset + i * stride + j; }
  rig::dense<T> view() {
    return rig::dense<T>::view(memory.data() + offset, rows, columns, stride, gpu);
  }
  bool gaps_untouched() const {
    const auto host = memory.to(rig::cpu());
    for (int p = 0; p < host.columns(); ++p) {
      const int within = p - offset;
      const bool in_gap = within < 0 || within % stride >= columns;
      if (in_gap && !same_bits(host(0, p), rig::convert<T>(77))) return false;
    }
    return true;
  }
};

TEST_CASE_TEMPLATE("maxk and its gradient with padded rows", T, float, double, rig::half,
                   rig::bfloat16) {
  random_bits random(test_seed() + 2);
  for (const int columns : {1, 7, 64, 100, 256, 300, 1000})
    for (const auto& [gap, offset] : {std::pair{1, 0}, {3, 1}, {64, 0}, {0, 3}}) {
      const auto x = drawn<T>(11, columns, draw::quarters, random);
      apart<T> there(x, gap, offset);
      CAPTURE(columns);
      CAPTURE(gap);
      for (const int k : {1, 5, 32, columns})
        if (k <= columns) CHECK(selects_as_cpu(x, there.view(), k));
      CHECK(there.gaps_untouched());
    }
}

TEST_CASE("maxk of no rows, of many rows, and of one row with many columns") {
  for (const int columns : {5, 300}) {
    const auto none = rig::maxk(rig::dense<float>(0, columns).to(gpu), 2);
    CHECK(none.rows() == 0);
    CHECK(none.columns() == columns);
    CHECK(rig::to_dense(none).to(rig::cpu()).columns() == columns);
    CHECK(rig::maxk_gradient(rig::dense<float>(0, columns).to(gpu), none).rows() == 0);
  }
  for (const auto& [rows, columns, k] :
       {std::tuple{200000, 8, 3}, {70001, 64, 7}, {20000, 256, 32}, {3000, 384, 64}}) {
    rig::dense<float> x(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        x(i, j) = static_cast<float>(static_cast<int>((i * 2654435761u + j * 40503u) >> 7) % 61);
    CAPTURE(rows);
    CHECK(selects_as_cpu(x, x.to(gpu), k));
  }
}

/// Few feature widths for semirings whose kernels are compiled here, because compiling costs more
/// than running.
const std::vector<int> few_features = {33, 64, 128, 100};

TEST_CASE("forward: sums, every variant") {
  const std::vector<shape> shapes = battery();
  for (const int number : {0, 7, 29})
    sweep_forward<rig::plus_times<float>, float, float, float>({gpu}, shapes, number);
}

TEST_CASE("forward: every builtin semiring that maxk serves") {
  const std::vector<shape> shapes = battery();
  int number = 0, served = 0;
#define RIG_BUILTIN(semiring, type)                                                           \
  served +=                                                                                   \
      sweep_or_refuse<rig::semiring<type>, type>({gpu, few_features, 3}, shapes, 7 * number); \
  ++number;
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(served > number / 2);
}

TEST_CASE("forward: storage types") {
  const std::vector<shape> shapes = battery();
  const sweep_plan some{gpu, few_features, 7};
  sweep_forward<rig::plus_times<float>, float, rig::half, rig::half>(some, shapes, 0);
  sweep_forward<rig::plus_times<float>, bool, rig::half, rig::bfloat16>(some, shapes, 1);
  sweep_forward<rig::max_second<float>, float, rig::bfloat16, double>(some, shapes, 2);
  sweep_forward<rig::mean_times<double>, rig::bfloat16, float, rig::half>(some, shapes, 3);
  sweep_forward<rig::plus_second<int>, float, double, long>(some, shapes, 4);
  sweep_forward<rig::arg_max_second<double>, float, rig::half, float>(some, shapes, 5);
}

TEST_CASE("forward: more than 256 columns, with 16-bit indices") {
  const std::vector<shape> shapes = battery();
  const sweep_plan wide{gpu, {257, 300, 384}, 5};
  sweep_forward<rig::plus_times<float>, float, float, float>({gpu, {257, 300, 384}, 3}, shapes, 0);
  sweep_forward<rig::mean_second<float>, float, float, float>(wide, shapes, 1);
  sweep_forward<rig::max_second<float>, float, float, float>(wide, shapes, 2);
  sweep_forward<rig::plus_times<double>, double, double, double>(wide, shapes, 3);
  sweep_forward<rig::plus_times<float>, float, rig::bfloat16, rig::bfloat16>(wide, shapes, 4);
}

TEST_CASE("backward: sums, reproducible and not") {
  const std::vector<shape> shapes = battery();
  for (const bool reproducible : {true, false}) {
    sweep_plan all{gpu};
    all.reproducible = reproducible;
    for (int round = 0; round < 6; ++round)
      sweep_backward<rig::plus_times<float>, float, float, float>(all, shapes, 3 * round);
    sweep_plan some = all;
    some.features = few_features;
    for (int round = 0; round < 2; ++round) {
      sweep_backward<rig::plus_times<double>, double, double, double>(some, shapes, round);
      sweep_backward<rig::plus_times<float>, float, rig::half, rig::half>(some, shapes, round + 1);
      sweep_backward<rig::plus_second<float>, float, rig::half, rig::bfloat16, rig::half>(
          some, shapes, round + 2);
    }
  }
}

TEST_CASE("backward: other semirings and storage types") {
  const std::vector<shape> shapes = battery();
  sweep_plan some{gpu, few_features};
  for (int round = 0; round < 2; ++round) {
    sweep_backward<rig::max_second<float>, bool, float, float>(some, shapes, 3 * round + 4);
    sweep_backward<rig::min_plus<float>, float, int, double>(some, shapes, 3 * round + 5);
    sweep_backward<rig::mean_times<double>, rig::bfloat16, double, rig::half, double>(some, shapes,
                                                                                      round);
    sweep_backward<rig::mean_second<float>, float, float, float>(some, shapes, round);
    sweep_backward<rig::plus_first<float>, float, long, float>(some, shapes, 5 * round);
    sweep_backward<rig::plus_times<int>, int, bool, float>(some, shapes, 5 * round + 1);
    // The second round includes means, whose sums are finished in a pass of their own.
    some.reproducible = false;
  }
}

TEST_CASE("every k, forward and backward: the CPU's results") {
  const shape rows = row_lengths_shape();
  const rig::plus_times<float> sum;
  for (const int columns : {3, 33, 128, 256, 257, 384}) {
    const pair_of_places<float> at(rows.pattern, columns);
    for (const int k : {1,  2,  3,  4,  5,  7,  8,   9,   12,  15,  16,  17,  24, 31,
                        32, 33, 48, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256}) {
      if (k > columns) continue;
      at.check_forward(sum, k);
      at.check_backward(sum, k, transposed);
    }
    at.check_forward(sum, columns);
    at.check_backward(sum, columns);
  }
}

TEST_CASE("rows of tens of thousands of entries") {
  random_bits random(test_seed() + 4);
  const oracle::sparse p = pattern_of_lengths(
      {25000, 3, 0, 40000, 1, 20001, 65540, 129, 30000, 300, 700}, 70000, random);
  for (const auto& [columns, k] : {std::pair{64, 7}, {128, 100}, {256, 32}, {256, 64}, {300, 33}}) {
    const pair_of_places<float> at(p, columns);
    at.check_forward(rig::plus_times<float>{}, k);
    at.check_backward(rig::plus_times<float>{}, k);
    at.check_backward(rig::plus_times<float>{}, k, transposed);
    if (columns != 64) continue;
    at.check_forward(rig::max_second<float>{}, k);
    at.check_forward(rig::mean_second<float>{}, k);
    at.check_forward(rig::arg_max_second<float>{}, k);
    at.check_backward(rig::max_second<float>{}, k);
  }
  const pair_of_places<double> doubles(p, 64);
  doubles.check_backward(rig::plus_times<double>{}, 40);
  doubles.check_backward(rig::plus_times<double>{}, 40, transposed);
  // These sums round, so the oracle checks them.
  const shape lengths = long_rows_shape();
  for (const bool reproducible : {true, false}) {
    trial_spec spec;
    spec.name = "long rows";
    spec.of = &lengths;
    spec.features = 33;
    spec.seed = test_seed();
    spec.values = draw::reals;
    spec.where = gpu;
    spec.reproducible = reproducible;
    trial_spec backward = spec;
    spec.top_k = backward.stored = 9;
    check_trial("plus_times", spec, [&] {
      return trial<rig::plus_times<float>, float, float, float>(spec).run("maxk");
    });
    check_trial("plus_times", backward, [&] {
      return trial<rig::plus_times<float>, float, float, float>(backward).run_under_cbsr("");
    });
    backward.features = 256;  // then backward sums all columns of half
    backward.stored = 130;
    check_trial("plus_times", backward, [&] {
      return trial<rig::plus_times<float>, float, rig::half, float>(backward).run_under_cbsr("");
    });
  }
}

TEST_CASE("many rows of tens of thousands of entries") {
  random_bits random(test_seed() + 5);
  const oracle::sparse p = pattern_of_lengths(std::vector<int>(150, 20500), 30000, random);
  const pair_of_places<float> at(p, 64);
  at.check_forward(rig::plus_times<float>{}, 16);
  at.check_backward(rig::plus_times<float>{}, 16);
  at.check_backward(rig::plus_times<float>{}, 16, transposed);
}

/// Enough entries near the diagonal for gradients by panels: rows of 0, 130 and 1900 entries. Most
/// rows also have column 0, which then lies in more panels than a warp adds up.
oracle::sparse band_with_hubs() {
  oracle::sparse p;
  p.rows = 5000;
  p.columns = 2000;
  for (int i = 0; i < p.rows; ++i) {
    const bool is_empty = i >= 100 && i < 300, is_hub = i >= 600 && i < 620;
    const int middle = i * p.columns / p.rows, width = is_empty ? 0 : is_hub ? 1900 : 130;
    const int first = std::clamp(middle - width / 2, 0, p.columns - width);
    if (first > 0 && !is_empty) p.inner.push_back(0);
    for (int j = first; j < first + width; ++j) p.inner.push_back(j);
    p.offsets.push_back(static_cast<long>(p.inner.size()));
  }
  return p;
}

TEST_CASE("backward by panels, in a fixed order") {
  random_bits random(test_seed() + 8);
  const oracle::sparse p = band_with_hubs();
  const pair_of_places<float> at(p, 130);
  const rig::plus_times<float> sum;
  const auto y = rig::maxk(at.x_there, 32);
  const auto dc = drawn<float>(p.rows, 130, draw::reals, random).to(gpu);
  const auto chosen = rig::explain(at.a_there, dc, sum, rig::structure(y), transposed);
  REQUIRE(chosen.text().find("by panels") != std::string::npos);
  const auto wide = rig::maxk(at.x_there, 100);
  const auto other = rig::explain(at.a_there, dc, sum, rig::structure(wide), transposed);
  CHECK(other.text().find("by panels") == std::string::npos);
  for (const int k : {1, 2, 4, 6, 8, 12, 15, 16, 24, 30, 32}) {
    at.check_backward(sum, k, transposed);
    if (k % 15 == 0) at.check_backward(rig::mean_second<float>{}, k, transposed);
    if (k % 8 == 0) at.check_backward(rig::max_second<float>{}, k, transposed);
    if (k % 8 == 0) at.check_backward(rig::min_plus<float>{}, k, transposed);
  }
  for (const int columns : {64, 128, 384, 1000, 1100}) {
    pair_of_places<float>(p, columns).check_backward(sum, 16, transposed);
    pair_of_places<rig::half>(p, columns).check_backward(sum, 12, transposed);
    pair_of_places<double>(p, columns).check_backward(rig::plus_times<double>{}, 16, transposed);
  }
  // Each row keeps more elements than a group of lanes adds at once, with one element per lane and
  // with four.
  pair_of_places<float>(p, 384).check_backward(sum, 33, transposed);
  pair_of_places<float>(p, 1000).check_backward(sum, 140, transposed);
  const auto made = [&] {
    return rig::mxm(at.a_there, dc, sum, rig::structure(y), transposed).to(rig::cpu());
  };
  const auto first = made();
  for (int run = 0; run < 100; ++run) REQUIRE(same(made(), first));
}

TEST_CASE("backward by panels, rows by length") {
  const pair_of_places<float> at(quarters_of_hubs(), 256);
  const rig::plus_times<float> sum;
  const auto answer = [&](int k) {
    const auto y = rig::maxk(at.x_there, k);
    return rig::explain(at.a_there, at.x_there, sum, rig::structure(y), transposed).text();
  };
  CHECK(answer(32).find("by panels") != std::string::npos);
  CHECK(answer(33).find("by panels") == std::string::npos);
  for (const int k : {1, 15, 16, 32, 33}) at.check_backward(sum, k, transposed);
  at.check_backward(rig::mean_second<float>{}, 16, transposed);
  at.check_backward(rig::min_plus<float>{}, 12, transposed);
}

TEST_CASE("a row of C that exceeds shared memory") {
  random_bits random(test_seed() + 6);
  const oracle::sparse p = pattern_of_lengths({3, 0, 40, 1, 7, 33, 2, 64, 17}, 64, random);
  for (const auto& [columns, k] :
       {std::pair{12001, 33}, {16385, 7}, {20000, 64}, {20000, 20000}, {65536, 1000}}) {
    const pair_of_places<float> at(p, columns);
    at.check_forward(rig::plus_times<float>{}, k);
    at.check_backward(rig::plus_times<float>{}, k);
    at.check_backward(rig::plus_times<float>{}, k, transposed);
  }
  // Sums of 8 and 16 bytes fill shared memory at fewer columns.
  for (const auto& [columns, k] : {std::pair{6200, 33}, {20000, 64}, {65536, 100}}) {
    const pair_of_places<double> doubles(p, columns);
    doubles.check_forward(rig::plus_times<double>{}, k);
    doubles.check_forward(rig::arg_max_second<double>{}, k);
    doubles.check_backward(rig::plus_times<double>{}, k, transposed);
    const pair_of_places<float> floats(p, columns);
    floats.check_forward(rig::arg_max_second<float>{}, k);
    floats.check_forward(rig::max_second<float>{}, k, {.fill = 0});
  }
  // Tiles handle elements without products, masks and accumulators one after the other.
  sweep_plan tiled{gpu, {12345, 20000}, 5};
  const shape small{"small", pattern_of_lengths({3, 0, 9, 1}, 12, random)};
  sweep_forward<rig::plus_times<float>, float, float, float>(tiled, {small}, 0);
}

TEST_CASE("operands with padded rows") {
  random_bits random(test_seed() + 7);
  const oracle::sparse p = random_pattern(60, 50, 0.15, random);
  const auto a = quarters_on(p), there = a.to(gpu);
  const rig::plus_times<float> sum;
  for (const int columns : {7, 64, 256, 300})
    for (const auto& [gap, offset] : {std::pair{1, 0}, {3, 1}, {64, 0}}) {
      CAPTURE(columns);
      CAPTURE(gap);
      const int k = std::min(columns, 32);
      const auto x = quarters(50, columns), dc = quarters(60, columns, 3);
      apart<float> features(x, gap, offset), gradient(dc, gap, offset), into(dc, gap, offset);
      auto want = dc;
      const descriptor named{.kernel = "maxk", .k = k};
      auto c = into.view();
      for (const auto accum : {rig::accumulator::plus, rig::accumulator::none}) {
        rig::mxm(want, accum, a, x, sum, named);
        rig::mxm(c, accum, there, features.view(), sum, named);
        CHECK(equal(c.to(rig::cpu()), want));
      }
      CHECK(into.gaps_untouched());
      const auto retained = rig::maxk(x, k);
      for (const bool reproducible : {true, false}) {
        descriptor desc = transposed;
        desc.reproducible = reproducible;
        CHECK(equal(rig::mxm(there, gradient.view(), sum, rig::structure(retained.to(gpu)), desc)
                        .to(rig::cpu()),
                    rig::mxm(a, dc, sum, rig::structure(retained), desc)));
      }
    }
}

TEST_CASE("a hundred runs, the same bits") {
  random_bits random(test_seed() + 8);
  const oracle::sparse p = pattern_of_lengths(
      {0, 1, 31, 300, 5000, 25000, 2, 1000, 64, 65, 40000, 7, 129, 513, 20001}, 45000, random);
  std::vector<float> values(p.inner.size());
  for (float& x : values) x = static_cast<float>(2 * random.unit() - 1);
  const auto a =
      rig::matrix<float>::from_csr(p.rows, p.columns, std::span<const long>(p.offsets),
                                   std::span<const int>(p.inner), std::span<const float>(values))
          .to(gpu);
  for (const auto& [columns, k] : {std::pair{256, 32}, {100, 7}, {300, 64}, {128, 64}}) {
    const auto x = drawn<float>(p.columns, columns, draw::reals, random).to(gpu);
    const auto dc = drawn<float>(p.rows, columns, draw::reals, random).to(gpu);
    const auto y = rig::maxk(x, k);
    const auto on_rows = rig::maxk(dc, k);
    const auto runs = [&] {
      return std::tuple{
          rig::maxk(x, k).to(rig::cpu()), rig::mxm(a, y, rig::plus_times<float>{}).to(rig::cpu()),
          rig::mxm(a, dc, rig::plus_times<float>{}, rig::structure(y), transposed).to(rig::cpu()),
          rig::mxm(a, x, rig::plus_times<float>{}, rig::structure(on_rows)).to(rig::cpu())};
    };
    const auto [retained, forward, backward, along] = runs();
    for (int run = 0; run < 100; ++run) {
      const auto again = runs();
      REQUIRE(same(std::get<0>(again), retained));
      REQUIRE(std::memcmp(std::get<1>(again).data(), forward.data(), forward.extent()) == 0);
      REQUIRE(same(std::get<2>(again), backward));
      REQUIRE(same(std::get<3>(again), along));
    }
  }
}

TEST_CASE("a semiring of the caller") {
  random_bits random(test_seed() + 9);
  const pair_of_places<float> at(random_pattern(40, 40, 0.2, random), 64);
  at.check_forward(sum_of_products_tripled{}, 10);
  at.check_backward(sum_of_products_tripled{}, 10, transposed);
}

TEST_CASE("structures as sums: of the largest size that maxk serves, and larger") {
  random_bits random(test_seed() + 10);
  const oracle::sparse p = random_pattern(40, 40, 0.2, random);
  for (const int columns : {64, 500, 3000}) {
    const pair_of_places<float> at(p, columns);
    at.check_forward(sum_of_64_bytes{}, 10);
    at.check_backward(sum_of_64_bytes{}, 10, transposed);
    at.check_backward(sum_of_68_bytes{}, 10, transposed);
    try {
      rig::mxm(at.a_there, rig::maxk(at.x_there, 10), sum_of_68_bytes{});
      FAIL_CHECK("a sum of 68 bytes was taken");
    } catch (const rig::error& e) {
      CHECK(e.code() == errc::cannot);
      CHECK(std::string(e.what()).find("a sum has 68 bytes") != std::string::npos);
    }
  }
}

TEST_CASE("gradients equal central differences") { check_gradients(gpu); }

TEST_CASE("an element without products holds the fill, or C's former element") {
  check_absent(gpu);
}

TEST_CASE("which kernel serves, and what is refused") { check_dispatch(gpu); }

TEST_CASE("C may be the B that MaxK selects from") { check_alias(gpu); }

TEST_CASE("operands in two places are refused, and C stays") {
  const auto a = row_of_ones(3);
  const rig::dense<float> x(3, 4, 1.0f);
  const auto retained = rig::maxk(x, 2), grown = rig::maxk(rig::dense<float>(1, 4), 2);
  const rig::plus_times<float> sum;
  auto c = rig::dense<float>(1, 4, 42.0f).to(gpu);
  const auto places = {to_string(gpu), to_string(rig::cpu())};
  check_error(errc::place, places, [&] { rig::mxm(c, rig::none, a.to(gpu), retained, sum); });
  check_error(errc::place, places, [&] { rig::mxm(c, rig::none, a, retained.to(gpu), sum); });
  check_error(errc::place, places, [&] { rig::mxm(a.to(gpu), retained, sum); });
  check_error(errc::place, places,
              [&] { rig::mxm(a.to(gpu), x.to(gpu), sum, rig::structure(grown)); });
  const auto after = c.to(rig::cpu());
  for (int j = 0; j < 4; ++j) CHECK(after(0, j) == 42);
}

}  // namespace
