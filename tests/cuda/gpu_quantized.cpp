// INT8 features on a GPU: products by every kernel that reads codes, against the oracle, the CPU
// and products over dequantised numbers.

#include <cstring>

#include "gpu.hpp"
#include "provoked.hpp"
#include "quantized_cases.hpp"
#include "rig/semirings.hpp"
#include "sampling_cases.hpp"

namespace {

using rig::quantized;
using rig::ranges;

/// On both sides of the widths at which vector loads of 4, 8 and 16 codes change the launch
/// configuration.
const std::vector<int> all_widths = {0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 64, 100, 128, 257};
/// Few widths, because each pair, kind of ranges and launch configuration is compiled here.
const std::vector<int> some_widths = {1, 33, 64};

/// Runs each exact kernel that reads codes; none may refuse.
void run_exact(auto& t, const char* name, const trial_spec& spec) {
  for (const char* kernel : {"row", "split"}) {
    std::string wrong;
    try {
      wrong = t.run(kernel);
    } catch (const rig::error& e) {
      wrong = e.what();
    }
    if (!wrong.empty())
      FAIL_CHECK(std::string(kernel), ", ", std::string(name), ", ", spec.of->name,
                 ", F = ", spec.features, ", ", spec.name,
                 spec.quantized == ranges::column ? ", a range a column" : ", one range", ", seed ",
                 spec.seed, ": ", wrong);
  }
}
constexpr auto exactly = [](auto& t, const char* name, const trial_spec& spec) {
  run_exact(t, name, spec);
};

TEST_CASE("products with codes: every width, both kinds of ranges, every variant") {
  const std::vector<shape> shapes = battery();
  for (const ranges over : {ranges::matrix, ranges::column})
    for (const int number : {0, 3, 8}) {  // so that widths, shapes and variants combine differently
      sweep_quantized<rig::plus_times<float>, float, float>(shapes, number, all_widths, over, gpu,
                                                            exactly);
      sweep_quantized<rig::arg_max_second<float>, float, float>(shapes, number, all_widths, over,
                                                                gpu, exactly);
    }
}

TEST_CASE("products with codes: other semirings and types of A and C") {
  const std::vector<shape> shapes = battery();
  const auto sweep = [&]<class S, class TA, class TC>(S, TA, TC, int number, ranges over) {
    sweep_quantized<S, TA, TC>(shapes, number, some_widths, over, gpu, exactly);
  };
  using rig::half, rig::bfloat16;
  sweep(rig::plus_second<float>{}, 0.f, half(), 1, ranges::matrix);
  sweep(rig::mean_second<float>{}, 0.f, 0.f, 2, ranges::column);
  sweep(rig::max_second<float>{}, 0.f, bfloat16(), 3, ranges::column);
  sweep(rig::min_second<float>{}, bfloat16(), 0.f, 4, ranges::matrix);
  sweep(rig::arg_min_second<float>{}, half(), 0.f, 5, ranges::matrix);
  sweep(rig::min_plus<float>{}, 0.f, 0., 6, ranges::column);
  sweep(rig::plus_times<double>{}, 0., 0., 7, ranges::column);
  sweep(rig::min_max<int>{}, 0, 0, 8, ranges::matrix);
  sweep(rig::lor_land<bool>{}, false, false, 9, ranges::column);
  sweep(rig::plus_first<float>{}, 0.f, 0.f, 10, ranges::matrix);  // B is not read
}

/// Rows of which some are split into up to six row segments.
shape split_rows_shape() {
  random_bits random(test_seed() + 6);
  return {"split rows", pattern_of_lengths({3, 640, 0, 129, 128, 300, 1, 513}, 700, random)};
}

TEST_CASE("rows that are split, over codes") {
  const shape rows = split_rows_shape();
  for (const ranges over : {ranges::matrix, ranges::column})
    for (const int features : {1, 2, 7, 33, 64, 100, 257}) {
      trial_spec spec;
      spec.name = "plain";
      spec.of = &rows;
      spec.features = features;
      spec.seed = test_seed();
      spec.quantized = over;
      spec.where = gpu;
      trial<rig::plus_times<float>, float, float, float> sums(spec);
      trial<rig::arg_max_second<float>, float, float, float> greatest(spec);
      run_exact(sums, "plus_times", spec);
      run_exact(greatest, "arg_max_second", spec);
    }
}

template <class S>
void check_sampled(const shape& rows, ranges over, const std::vector<int>& widths_of_b) {
  int step = 0;
  for (const int features : widths_of_b)
    for (const int width : {3, 64, 100, 200, 600})
      for (const auto& [name, how] : sampled_kernels)
        for (const char* which : {"plain", "transpose_a", "transpose_b", "values", "plus"}) {
          if (++step % 2 == 0 && features > 1) continue;
          trial_spec spec;
          spec.name = which;
          spec.of = &rows;
          spec.features = features;
          spec.seed = test_seed() + static_cast<unsigned long>(step);
          spec.where = gpu;
          spec.quantized = over;
          spec.rescale = rig::is_rescaling<S> && step % 3 == 0;
          for (const variant& v : variants())
            if (v.name == spec.name) v.apply(spec);
          normalise<S>(spec);
          if (spec.transpose_b) spec.quantized = ranges::matrix;
          sample_with(spec, how, width);
          CAPTURE(name);
          CAPTURE(which);
          CAPTURE(width);
          CAPTURE(features);
          CHECK(trial<S, float, float, float>(spec).run(name) == "");
        }
}

TEST_CASE("samples over codes") {
  const shape rows = split_rows_shape();
  check_sampled<rig::plus_times<float>>(rows, ranges::matrix, {1, 8, 33, 64, 128});
  check_sampled<rig::plus_times<float>>(rows, ranges::column, {1, 8, 33, 64, 128});
  check_sampled<rig::mean_second<float>>(rows, ranges::column, {33, 64});
  check_sampled<rig::arg_max_second<float>>(rows, ranges::matrix, {33, 64});
}

TEST_CASE("a product over codes equals the product over the dequantised numbers") {
  // Launch configurations differ, and so does the order of sums.
  check_dequantised(gpu, [](int) { return true; });
}

std::vector<float> quarters(std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t e = 0; e < count; ++e)
    out[e] = static_cast<float>(static_cast<int>(e * 29 % 33) - 16) / 4;
  return out;
}

rig::matrix<float> weighted_split_rows() {
  const oracle::sparse p = split_rows_shape().pattern;
  return rig::matrix<float>::from_csr(p.rows, p.columns, std::span<const long>(p.offsets),
                                      std::span<const int>(p.inner),
                                      std::span<const float>(quarters(p.inner.size())));
}

/// Checks that the result equals the CPU's exactly: sums of quarters and choices of extremes do not
/// round. Codes are less than `codes_end`.
template <class S>
void check_as_on_cpu(const rig::matrix<float>& a, const std::vector<int>& widths_of_b,
                     int codes_end, ranges over, const std::string& kernel) {
  for (const int features : widths_of_b) {
    std::vector<unsigned char> codes;
    for (int e = 0; e < a.columns() * features; ++e)
      codes.push_back(static_cast<unsigned char>(e * 37L % codes_end));
    std::vector<float> low(over == ranges::column ? static_cast<std::size_t>(features) : 1), step;
    for (std::size_t r = 0; r < low.size(); ++r) {
      low[r] = static_cast<float>(r % 7) - 20;
      step.push_back(static_cast<float>(1 + r % 3) / 4);
    }
    const auto q = quantized::from_codes(a.columns(), features, codes, low, step);
    const rig::descriptor desc{.kernel = kernel, .width = 200};
    const auto want = rig::mxm(a, q, S{}, desc);
    const auto got = rig::mxm(a.to(gpu), q.to(gpu), S{}, desc).to(rig::cpu());
    int wrong = 0;
    for (int i = 0; i < a.rows(); ++i)
      for (int j = 0; j < features; ++j) wrong += !(got(i, j) == want(i, j));
    CAPTURE(kernel);
    CAPTURE(features);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the CPU's results if sums are exact") {
  for (const ranges over : {ranges::matrix, ranges::column})
    for (const char* kernel : {"row", "split", "bucket", "fastrand", "adaptive"}) {
      check_as_on_cpu<rig::plus_times<float>>(weighted_split_rows(), {1, 33, 64}, 251, over,
                                              kernel);
      check_as_on_cpu<rig::max_second<float>>(weighted_split_rows(), {1, 33, 64}, 251, over,
                                              kernel);
    }
}

TEST_CASE("a dense on the GPU is quantised there, and codes are copied there") {
  rig::dense<float> x(70, 9);
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 9; ++j) x(i, j) = static_cast<float>(i * j % 23) / 3;
  for (const ranges over : {ranges::matrix, ranges::column}) {
    const quantized here = quantized::from(x, over), there = quantized::from(x.to(gpu), over);
    CHECK(there.where() == gpu);
    const quantized same = there.to(gpu);
    CHECK(same.data() == there.data());
    const quantized back = there.to(rig::cpu());
    CHECK(std::equal(here.data(), here.data() + 70 * 9, back.data()));
    CHECK(std::equal(here.low(), here.low() + here.range_count(), back.low()));
    CHECK(std::equal(here.step(), here.step() + here.range_count(), back.step()));
  }
}

template <class T>
void check_numbers(const quantized& codes) {
  const quantized there = codes.to(gpu);
  for (const auto& [first, count] : {std::pair{0, codes.rows()}, {1, 40}, {4, 1}, {7, 0}}) {
    const auto right = codes.dequantised<T>(first, count);
    const auto found = there.dequantised<T>(first, count);
    CHECK(found.where() == gpu);
    const auto back = found.to(rig::cpu());
    CHECK(std::memcmp(back.data(), right.data(),
                      sizeof(T) * static_cast<std::size_t>(count * codes.columns())) == 0);
  }
}

TEST_CASE("codes become the numbers of the CPU on the GPU, to the bit") {
  for (const int columns : {1, 9, 64}) {
    rig::dense<float> x(70, columns);
    for (int i = 0; i < 70; ++i)
      for (int j = 0; j < columns; ++j) x(i, j) = static_cast<float>(i * (j + 1) % 23) / 3 - j;
    for (const ranges over : {ranges::matrix, ranges::column}) {
      const quantized codes = quantized::from(x, over);
      check_numbers<float>(codes);
      check_numbers<double>(codes);
      check_numbers<rig::half>(codes);
      check_numbers<rig::bfloat16>(codes);
    }
  }
}

TEST_CASE("kernels that read no codes refuse them, and C stays") {
  const auto a =
      rig::matrix<float>::from_positions(3, 4, std::vector<int>{0, 1, 2}, std::vector<int>{3, 1, 0})
          .to(gpu);
  const std::vector<float> twos(3, 2.0f);
  const auto valued = a.with_values(std::span<const float>(twos));
  const quantized b = quantized::from(rig::dense<float>(4, 1, 1.0f)).to(gpu);
  const quantized columns = quantized::from(rig::dense<float>(3, 4, 1.0f), ranges::column).to(gpu);
  auto c = rig::dense<float>(3, 1, 42.0f).to(gpu);
  constexpr rig::plus_times<float> plus_times;
  check_error(rig::errc::cannot, {"spmv", "codes"},
              [&] { rig::mxm(c, rig::none, a, b, plus_times, {.kernel = "spmv"}); });
  check_error(rig::errc::cannot, {"vendor", "the same floating type"},
              [&] { rig::mxm(c, rig::none, valued, b, plus_times, {.kernel = "vendor"}); });
  check_error(rig::errc::cannot, {"range per column"},
              [&] { rig::mxm(a, columns, plus_times, {.transpose_b = true}); });
  CHECK(c.to(rig::cpu())(1, 0) == 42);
  for (const auto& line : rig::explain(valued, b, plus_times).kernels) {
    if (line.where != gpu.where || (!line.name.starts_with("spmv") && line.name != "vendor"))
      continue;
    CHECK(line.says.says == rig::verdict::cannot);
    CHECK(!line.says.reason.empty());
  }
  // A semiring that ignores B accepts codes in any kernel.
  for (const char* kernel : {"spmv", "spmv_panels"}) {
    const auto sums = rig::mxm(a, b, rig::plus_first<float>{}, {.kernel = kernel});
    CHECK(sums.to(rig::cpu())(2, 0) == 1);
  }
}

}  // namespace
