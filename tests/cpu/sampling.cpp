// The sampled kernels: the samples, products against the oracle on matrices that the test samples,
// refusals, and the report.

#include <cstdlib>

#include "preferred_kernel.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "sampling_cases.hpp"

namespace {

/// The difference from the sampling rules in words, or nothing.
std::string compare_sample(sampling how, long row_nnz, int width) {
  const std::vector<long> want = staged_entries(how, row_nnz, width);
  const rig::row_sample got = rig::sample_of(how, row_nnz, width);
  const auto differs = [&](const std::string& in) {
    return std::to_string(static_cast<int>(how)) + ", " + std::to_string(row_nnz) +
           " entries, width " + std::to_string(width) + ": " + in;
  };
  if (got.count != static_cast<long>(want.size()))
    return differs(std::to_string(got.count) + " slots");
  for (std::size_t slot = 0; slot < want.size(); ++slot)
    if (got.entry(static_cast<unsigned>(slot)) != want[slot])
      return differs("slot " + std::to_string(slot));
  return "";
}

TEST_CASE("samples follow the rules") {
  std::string wrong;
  const auto check = [&](long row_nnz, int width) {
    for (const auto& [name, how] : sampled_kernels)
      if (const std::string found = compare_sample(how, row_nnz, width); !found.empty())
#pragma omp critical
        wrong = found;
  };
#pragma omp parallel for schedule(dynamic)
  for (int width = 1; width <= 1100; ++width) {
    for (long n = 0; n <= 5000; ++n) check(n, width);
    for (const long factor : {36, 54})  // n beyond 5000
      for (long n = factor * width - 1; n <= factor * width + 1; ++n) check(n, width);
  }
  for (const int width : {1024, 1792, 2304, 3000, 4095, 4096})
    for (const long n : {1023L, 1792L, 4096L, 4097L, 8193L, 150001L, 221185L, 1L << 20})
      check(n, width);
  for (const int width : {1, 3, 5, 31, 32, 33, 64, 100, 1000, 4096})
    for (const int power : {21, 22, 23, 24, 31, 32, 33})
      for (long n = (1L << power) - 2; n <= (1L << power) + 2; ++n) check(n, width);
  for (const long n : {577L, 1154L, 577L * 9, 1429L, 2858L, 1429L * 9})  // multiples of the primes
    for (int width = 1; width <= 4096; width += 13) check(n, width);
  CHECK(wrong == "");
  static_assert(rig::sample_of(sampling::adaptive, 300, 100).count == 96);
  static_assert(rig::sample_of(sampling::adaptive, 65, 64).entry(1) == 1429 % 50);
  static_assert(rig::sample_of(sampling::whole, 65, 64).entry(64) == 64);
}

TEST_CASE("every sampled kernel, semiring, shape, width and variant") {
  const std::vector<shape> shapes = battery();
  int number = 0, served = 0;
#define RIG_BUILTIN(semiring, type) \
  served += sweep_sampled<rig::semiring<type>, type>(shapes, number++, rig::cpu());
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(served == 15);
}

TEST_CASE("stored in other types") {
  check_types<rig::plus_times<float>, rig::half, rig::bfloat16, double>(rig::cpu());
  check_types<rig::plus_times<double>, bool, long, rig::half>(rig::cpu());
  check_types<rig::plus_times<int>, int, int, int>(rig::cpu());
  check_types<rig::plus_pair<int>, float, float, int>(rig::cpu());
  check_types<rig::mean_times<float>, int, rig::half, float>(rig::cpu());
  check_types<rig::max_times<int>, long, int, long>(rig::cpu());
  check_types<rig::arg_min_second<int>, int, rig::bfloat16, int>(rig::cpu());
}

TEST_CASE("same bits for any number of threads, and those of row if nothing is left out") {
  check_same_bits<rig::plus_times<float>, float>(rig::cpu(), 100, {2, 7, 0});
  check_same_bits<rig::plus_times<float>, float>(rig::cpu(), 1, {2, 7, 0});
  check_same_bits<rig::mean_second<float>, float>(rig::cpu(), 33, {2, 7, 0});
  check_same_bits<rig::arg_max_second<float>, float>(rig::cpu(), 64, {2, 7, 0});
}

TEST_CASE("counts, means and ties in a sample with repetitions") {
  check_repetitions(rig::cpu());
  CHECK(rig::rescaled(5, 7, 5) == 7);
  CHECK(rig::rescaled(3.0f, 10, 4) == 7.5f);
}

TEST_CASE("a width out of range is refused, and nothing is written") { check_widths(rig::cpu()); }

TEST_CASE("semirings without samples_as") {
#define RIG_BUILTIN(semiring, type) check_refusal<rig::semiring<type>, type>(rig::cpu());
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

TEST_CASE("only the descriptor selects a sampled kernel") {
  const auto a = one_row(9);
  const rig::dense<float> b(9, 2, 1.0f);
  const rig::descriptor desc{.width = 4};
  for (const auto& [name, how] : sampled_kernels) {
    {
      const preferred_kernel unfit(name);
      CHECK(rig::mxm(a, b, rig::plus_times<float>{}, desc)(0, 0) == 9);
      CHECK(rig::explain(a, b, rig::plus_times<float>{}, desc).chosen == "row");
    }
    CHECK(rig::mxm(a, b, rig::plus_times<float>{}, desc)(0, 0) == 9);
    const auto e = rig::explain(a, b, rig::plus_times<float>{}, {.kernel = name, .width = 4});
    CHECK(e.chosen == name);
    CHECK(e.text().find("stages 44.4 % of 9 entries (44.4 % distinct), 0.0 % of rows whole") !=
          std::string::npos);
    int lines = 0;
    for (const rig::explained& line : e.kernels)
      if (line.name == name && line.where == rig::place::kind::cpu) lines += line.approximate;
    CHECK(lines == 1);
  }
  check_listed(rig::cpu());
}

/// Sums of the caller, with and without samples_as.
struct count_of_entries {
  using left = float;
  using right = float;
  using accum = rig::int64;
  static constexpr rig::reduction samples_as = rig::reduction::sum;
  static constexpr accum zero() { return 0; }
  static constexpr accum add(accum x, accum y) { return x + y; }
  static constexpr accum multiply(float, float) { return 1; }
};
struct silent : count_of_entries {
  static constexpr rig::reduction samples_as = rig::reduction::none;
};
struct two_counts {
  struct accum {
    int x, y;
  };
  using left = float;
  using right = float;
  static constexpr rig::reduction samples_as = rig::reduction::sum;
  static constexpr accum zero() { return {0, 0}; }
  static constexpr accum add(accum s, accum t) { return {s.x + t.x, s.y + t.y}; }
  static constexpr accum multiply(float, float) { return {1, 2}; }
};
RIG_SEMIRING(
    sum_of_squares, using left = float; using right = float; using accum = float;
    static constexpr rig::reduction samples_as = rig::reduction::sum;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) { return a * b * b; });

TEST_CASE("semirings of the caller") {
  const auto a = one_row(9);
  const rig::dense<float> b(9, 2, 2.0f);
  rig::descriptor desc{.kernel = "fastrand", .width = 4};
  CHECK(rig::mxm(a, b, count_of_entries{}, desc)(0, 1) == 4);
  CHECK(rig::mxm(a, b, two_counts{}, desc)(0, 1).y == 8);
  CHECK(rig::mxm(a, b, sum_of_squares{}, desc)(0, 1) == 16);
  check_error(rig::errc::cannot, {"samples_as"}, [&] { rig::mxm(a, b, silent{}, desc); });
  desc.rescale = true;
  CHECK(rig::mxm(a, b, count_of_entries{}, desc)(0, 1) == 9);
  CHECK(rig::mxm(a, b, sum_of_squares{}, desc)(0, 1) == 36);
  check_error(rig::errc::cannot, {"rescale"}, [&] { rig::mxm(a, b, two_counts{}, desc); });
}

TEST_CASE("the report equals a count over every row") {
  for (const shape& of : battery())
    for (const sampled_kernel& k : sampled_kernels)
      for (const int width : widths)
        for (const bool transposed : {false, true})
          check_report(of.pattern, k, width, transposed, rig::cpu());
  check_report(long_rows_shape().pattern, sampled_kernels[2], 4096, false, rig::cpu());
}

TEST_CASE("the report as text, and its refusals") {
  const auto a = rig::generate::from_text("rmat:10:16");
  const auto seen = rig::sampling_report(a, {.kernel = "bucket", .width = 8});
  CHECK(seen.text().find("stages ") == 0);
  CHECK(seen.text().find(" k entries (") != std::string::npos);
  // Two of 300 006 entries are left out, so no share may print as "100.0 %".
  std::vector<int> offsets = {0}, columns;
  for (int i = 0; i <= 100000; ++i) {
    for (int j = 0; j < (i == 5 ? 6 : 3); ++j) columns.push_back(j);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  const auto nearly =
      rig::matrix<float>::from_csr(100001, 6, std::span<const int>(offsets),
                                   std::span<const int>(columns), rig::input::checked, 1.0f);
  CHECK(rig::sampling_report(nearly, {.kernel = "bucket", .width = 4}).text() ==
        "stages 99.9 % of 300 k entries (99.9 % distinct), 99.9 % of rows whole");
  check_error(rig::errc::unknown_kernel, {"no such"},
              [&] { rig::sampling_report(a, {.kernel = "no such", .width = 8}); });
  check_error(rig::errc::cannot, {"row"},
              [&] { rig::sampling_report(a, {.kernel = "row", .width = 8}); });
  check_error(rig::errc::cannot, {"names no"}, [&] { rig::sampling_report(a, {.width = 8}); });
}

}  // namespace
