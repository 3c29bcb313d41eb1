// INT8 features: the rounding error of codes, products with codes, and .npz files.

#include <omp.h>

#include <bit>
#include <cfloat>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "io/archives.hpp"
#include "provoked.hpp"
#include "quantized_cases.hpp"
#include "rig/io.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::quantized;
using rig::ranges;
using rig::rounding;
constexpr float inf = std::numeric_limits<float>::infinity();

struct input {
  const char* name;
  int rows, columns;
  double (*at)(int i, int j, random_bits& random);
};

double unit(int, int, random_bits& random) { return 2 * random.unit() - 1; }

const input inputs[] = {
    {"random", 40, 33, unit},
    {"one row", 1, 57, unit},
    {"one column", 70, 1, unit},
    {"no rows", 0, 5, unit},
    {"no columns", 5, 0, unit},
    {"constant", 9, 4, [](int, int, random_bits&) { return 0.1; }},
    {"zeros of both signs", 9, 4,
     [](int i, int j, random_bits&) { return (i + j) % 2 ? 0. : -0.; }},
    {"constant columns", 9, 6, [](int, int j, random_bits&) { return j * 0.3; }},
    {"the least denormals", 9, 5,
     [](int, int, random_bits& random) { return random.below(4) * 0x1p-149; }},
    {"denormals", 60, 5,
     [](int, int, random_bits& random) { return (random.below(2000) - 1000) * 0x1p-149; }},
    {"just denormal steps", 60, 5,
     [](int, int, random_bits& random) { return random.unit() * 0x1p-118; }},
    {"every float", 50, 7,
     [](int i, int j, random_bits& random) {
       return i == 0   ? static_cast<double>(j % 2 ? FLT_MAX : -FLT_MAX)
              : i == 1 ? static_cast<double>(j % 2 ? -FLT_MAX : FLT_MAX)
                       : (2 * random.unit() - 1) * FLT_MAX;
     }},
    {"a greatest code just beyond every float", 2, 1,
     [](int i, int, random_bits&) { return i == 0 ? -1.48462046e38 : FLT_MAX; }},
    {"nearly every float", 50, 7,
     [](int, int, random_bits& random) { return (2 * random.unit() - 1) * 3e38; }},
    {"far from zero", 80, 3, [](int, int, random_bits& random) { return 1e6 + random.unit(); }},
    {"finer than floats", 80, 3,
     [](int, int, random_bits& random) { return 1 + random.unit() * 1e-12; }},
    {"of all sizes", 80, 3,
     [](int, int, random_bits& random) {
       return std::ldexp(unit(0, 0, random), random.below(60));
     }},
};

template <class T>
rig::dense<T> dense_of(const input& in) {
  random_bits random(test_seed());
  rig::dense<T> x(in.rows, in.columns);
  for (int i = 0; i < in.rows; ++i)
    for (int j = 0; j < in.columns; ++j) {
      double number = in.at(i, j, random);
      if (std::is_same_v<T, rig::half> && std::fabs(number) > 65504)
        number = std::copysign(65504, number) * random.unit();
      if (std::is_same_v<T, rig::bfloat16> && std::fabs(number) > 3.3e38)
        number = std::copysign(3.3e38, number);
      x(i, j) = rig::convert<T>(number);
    }
  return x;
}

template <class T>
void check_bounds() {
  for (const input& in : inputs)
    for (const ranges over : {ranges::matrix, ranges::column})
      for (const rounding how : {rounding::floor, rounding::nearest}) {
        const rig::dense<T> x = dense_of<T>(in);
        const quantized q = quantized::from(x, over, how);
        CAPTURE(in.name);
        CAPTURE(static_cast<int>(over));
        CAPTURE(static_cast<int>(how));
        REQUIRE(q.rows() == in.rows);
        REQUIRE(q.columns() == in.columns);
        REQUIRE(q.range_count() == (over == ranges::column ? in.columns : 1));
        CHECK(q.per_column() == (q.range_count() != 1));
        const rig::dense<T> back = q.dequantised<T>();
        const rig::dense<float> floats = q.dequantised<float>();
        int wrong = 0;
        for (int i = 0; i < in.rows; ++i)
          for (int j = 0; j < in.columns; ++j) {
            const int r = q.per_column() ? j : 0, code = q.data()[i * in.columns + j];
            const long double number = to_number(x(i, j)), step = q.step()[r];
            // The close numbers are subtracted first, which loses no digits.
            const long double off = std::fabs((q.low()[r] - number) + step * code);
            const long double most = how == rounding::floor ? step : step / 2;
            wrong += !(off <= most * (1 + 0x1p-50L));
            const float value = std::fma(q.step()[r], static_cast<float>(code), q.low()[r]);
            wrong += !std::isfinite(value) || floats(i, j) != value;
            wrong += to_number(back(i, j)) != to_number(rig::convert<T>(value));
            if (step == 0) wrong += value != static_cast<float>(number);
          }
        CHECK(wrong == 0);
      }
}

TEST_CASE("codes differ from their numbers by at most a step, or half a step") {
  check_bounds<float>();
  check_bounds<double>();
  check_bounds<rig::half>();
  check_bounds<rig::bfloat16>();
}

TEST_CASE("codes equal the published ones") {
  const rig::dense<float> x = dense_of<float>(inputs[0]);
  double least = inf, greatest = -inf;
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j) {
      least = std::min<double>(least, x(i, j));
      greatest = std::max<double>(greatest, x(i, j));
    }
  const quantized q = quantized::from(x, ranges::matrix, rounding::floor);
  CHECK(q.low()[0] == least);
  CHECK(q.step()[0] == doctest::Approx((greatest - least) / 255));
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j)
      REQUIRE(q.data()[i * x.columns() + j] ==
              std::floor((x(i, j) - least) / (greatest - least) * 255));
  const auto ends = rig::dense<float>::from(3, 1, std::vector<float>{-2, 509, 253.5f});
  const quantized two = quantized::from(ends);
  CHECK(two.step()[0] == doctest::Approx(511.0 / 255));
  CHECK(int(two.data()[0]) == 0);
  CHECK(int(two.data()[1]) == 255);
  CHECK(int(two.data()[2]) == 127);
}

TEST_CASE("codes do not depend on the number of threads, and views with gaps are read") {
  const int threads = omp_get_max_threads();
  std::vector<input> all(std::begin(inputs), std::end(inputs));
  all.push_back({"large", 1300, 61, unit});
  all.push_back({"large, of zeros", 1300, 61, inputs[6].at});
  for (const input& in : all) {
    const rig::dense<float> x = dense_of<float>(in);
    std::vector<float> memory(static_cast<std::size_t>(in.rows) * (in.columns + 3) + 1, NAN);
    auto gaps = rig::dense<float>::view(memory.data(), in.rows, in.columns, in.columns + 3);
    for (int i = 0; i < in.rows; ++i) std::ranges::copy(x.row(i), gaps.row(i).begin());
    for (const ranges over : {ranges::matrix, ranges::column}) {
      omp_set_num_threads(1);
      const quantized one = quantized::from(x, over);
      omp_set_num_threads(5);
      const quantized five = quantized::from(gaps, over);
      omp_set_num_threads(threads);
      const auto count = static_cast<std::size_t>(one.range_count()) * sizeof(float);
      CHECK(std::equal(one.data(), one.data() + in.rows * in.columns, five.data()));
      if (count == 0) continue;
      CHECK(std::memcmp(one.low(), five.low(), count) == 0);
      CHECK(std::memcmp(one.step(), five.step(), count) == 0);
    }
  }
}

TEST_CASE("numbers without a range are refused, and the error names the first") {
  const auto range = rig::errc::range;
  for (const ranges over : {ranges::matrix, ranges::column}) {
    rig::dense<float> x(300, 7, 1.5f);
    x(211, 3) = NAN;
    x(212, 0) = inf;
    CHECK(refusal(range, [&] {
            quantized::from(x, over);
          }).starts_with("quantized: element (211, 3) is nan"));
    x(17, 6) = -inf;
    CHECK(refusal(range, [&] {
            quantized::from(x, over);
          }).starts_with("quantized: element (17, 6) is -inf"));
    rig::dense<double> large(2, 2, 1.0);
    large(1, 0) = 1e39;
    CHECK(refusal(range, [&] {
            quantized::from(large, over);
          }).starts_with("quantized: element (1, 0) is 1e+39"));
    rig::dense<rig::half> small(2, 2);
    small(0, 1) = rig::half(inf);
    CHECK(refusal(range, [&] {
            quantized::from(small, over);
          }).starts_with("quantized: element (0, 1) is inf"));
  }
}

TEST_CASE("codes of the caller") {
  const std::vector<unsigned char> codes{0, 1, 2, 253, 254, 255};
  using floats = std::vector<float>;
  const quantized q = quantized::from_codes(2, 3, codes, floats{-1, 0, 1}, floats{0, 0.5f, 2});
  const quantized copy = q;
  CHECK(copy.data() == q.data());
  const quantized here = q.to(rig::cpu());
  CHECK(here.data() == q.data());
  const auto x = q.dequantised<double>();
  CHECK(x(0, 1) == 0.5);
  CHECK(x(1, 0) == -1);
  CHECK(x(1, 2) == 511);
  CHECK(quantized().dequantised<float>().rows() == 0);
  const auto last = q.dequantised<float>(1, 1);
  CHECK(last.rows() == 1);
  CHECK(std::ranges::equal(last.row(0), std::vector<float>{-1, 127, 511}));
  CHECK(q.dequantised<float>(2, 0).rows() == 0);
  for (const auto& [first, count] : {std::pair{-1, 1}, {1, 2}, {0, -1}, {3, 0}})
    CHECK(refusal(rig::errc::range, [&] { q.dequantised<float>(first, count); }) ==
          "quantized: " + std::to_string(count) + " rows from row " + std::to_string(first) +
              " on, and there are 2; name rows that are there");
  const auto attempt = [&](rig::errc code, int rows, const floats& low, const floats& step) {
    return refusal(code, [&] { quantized::from_codes(rows, 3, codes, low, step); });
  };
  using enum rig::errc;
  CHECK(attempt(shape, 3, {0}, {0}) == "quantized: 3x3 needs 9 codes, got 6");
  CHECK(attempt(shape, -1, {0}, {0}) ==
        "quantized: -1x3 is not a shape; rows and columns must be at least 0");
  CHECK(attempt(shape, 2, {0, 0}, {0, 0}).find("give each 1 or 3") != std::string::npos);
  CHECK(attempt(shape, 2, {0}, {0, 0, 0}).find("low has 1 numbers") != std::string::npos);
  for (const float bad : {inf, -inf, NAN}) {
    CHECK(attempt(range, 2, {bad}, {1}).find("range 0 is ") != std::string::npos);
    CHECK(attempt(range, 2, {0, 0, 0}, {1, 1, bad}).find("range 2 is ") != std::string::npos);
  }
  CHECK(attempt(range, 2, {0}, {-1}).find("range 0 is 0 + -1 · q") != std::string::npos);
  CHECK(attempt(range, 2, {FLT_MAX}, {FLT_MAX / 255}).find("range 0") != std::string::npos);
}

TEST_CASE("memory for codes must fit the shape and the ranges") {
  const auto shape = rig::errc::shape;
  check_error(shape, {"-1x3"}, [] { quantized::uninitialised(-1, 3, 1); });
  check_error(shape, {"3x-1"}, [] { quantized::uninitialised(3, -1, 1); });
  check_error(shape, {"2 ranges", "2x3"}, [] { quantized::uninitialised(2, 3, 2); });
  check_error(shape, {"-1 ranges"}, [] { quantized::uninitialised(2, 3, -1); });
  check_error(shape, {"0 ranges"}, [] { quantized::uninitialised(2, 3, 0); });
  CHECK(quantized::uninitialised(2, 3, 3).made.per_column());
  CHECK(quantized::uninitialised(2, 0, 0).made.columns() == 0);
  check_error(rig::errc::out_of_memory, {"4611686014132420"},
              [] { quantized::uninitialised(2147483647, 2147483647, 1); });
}

TEST_CASE("products with codes") {
  const std::vector<shape> shapes = battery();
  tally met(rig::cpu());
  const auto meet = [&](auto& t, const char* name, const trial_spec& spec) {
    met.meet(t, name, spec);
  };
  sweep_quantized<rig::plus_times<float>, float, float>(shapes, 0, feature_widths, {}, rig::cpu(),
                                                        meet);
  sweep_quantized<rig::plus_second<float>, float, rig::half>(shapes, 1, feature_widths, {},
                                                             rig::cpu(), meet);
  sweep_quantized<rig::mean_second<float>, float, float>(shapes, 2, feature_widths, {}, rig::cpu(),
                                                         meet);
  sweep_quantized<rig::max_second<float>, float, float>(shapes, 3, feature_widths, {}, rig::cpu(),
                                                        meet);
  sweep_quantized<rig::min_second<float>, rig::bfloat16, float>(shapes, 4, feature_widths, {},
                                                                rig::cpu(), meet);
  sweep_quantized<rig::arg_max_second<float>, float, float>(shapes, 5, feature_widths, {},
                                                            rig::cpu(), meet);
  sweep_quantized<rig::min_plus<float>, float, double>(shapes, 6, feature_widths, {}, rig::cpu(),
                                                       meet);
  sweep_quantized<rig::max_plus<double>, double, double>(shapes, 7, feature_widths, {}, rig::cpu(),
                                                         meet);
  sweep_quantized<rig::min_max<int>, int, int>(shapes, 8, feature_widths, {}, rig::cpu(), meet);
  sweep_quantized<rig::lor_land<bool>, bool, bool>(shapes, 9, feature_widths, {}, rig::cpu(), meet);
  sweep_quantized<rig::plus_first<float>, float, float>(shapes, 10, feature_widths, {}, rig::cpu(),
                                                        meet);
  met.conclude(11, shapes.size(), "sell");  // it reads numbers
}

TEST_CASE("a long row that is split, over codes") {
  const shape rows = long_rows_shape();
  for (const ranges over : {ranges::matrix, ranges::column}) {
    trial_spec spec;
    spec.of = &rows;
    spec.features = 5;
    spec.quantized = over;
    trial<rig::plus_times<float>, float, float, float> sums(spec);
    trial<rig::arg_max_second<float>, float, float, float> greatest(spec);
    for (const char* kernel : {"row", "split"}) {
      CHECK(sums.run(kernel) == "");
      CHECK(greatest.run(kernel) == "");
    }
  }
}

TEST_CASE("a product over codes equals the product over the dequantised numbers") {
  // A single column is summed block by block, which changes the order.
  check_dequantised(rig::cpu(), [](int features) { return features == 1; });
}

TEST_CASE("explain names codes, and unsupported calls are refused") {
  const auto a = rig::matrix<float>(4, 3);
  const quantized whole = quantized::from(rig::dense<float>(3, 4, 1.0f)),
                  columns = quantized::from(rig::dense<float>(3, 4, 1.0f), ranges::column);
  CHECK(rig::explain(a, whole, rig::plus_times<float>{}).operation.find("B 3x4 of int8 codes") !=
        std::string::npos);
  const auto b = quantized::from(rig::dense<float>(4, 3, 1.0f), ranges::column);
  CHECK(refusal(rig::errc::cannot, [&] {
          rig::mxm(a, b, rig::plus_times<float>{}, {.transpose_b = true});
        }).find("range per column") != std::string::npos);
  CHECK(rig::mxm(a, b, rig::plus_first<float>{}, {.transpose_b = true}).columns() == 4);
  CHECK(refusal(rig::errc::shape, [&] {
          rig::mxm(a, b, rig::plus_times<float>{});
        }).find("B is 4x3") != std::string::npos);
  static_assert(std::is_same_v<decltype(rig::mxm<rig::half>(a, columns, rig::max_second<float>{})),
                               rig::dense<rig::half>>);
}

bool same(const quantized& x, const quantized& y) {
  const auto ranges = static_cast<std::size_t>(x.range_count());
  return x.rows() == y.rows() && x.columns() == y.columns() && x.range_count() == y.range_count() &&
         std::equal(x.data(), x.data() + static_cast<std::size_t>(x.rows()) * x.columns(),
                    y.data()) &&
         std::equal(x.low(), x.low() + ranges, y.low()) &&
         std::equal(x.step(), x.step() + ranges, y.step());
}

TEST_CASE(".npz: a written file reads back") {
  const std::string path = scratch() / "q.npz";
  for (const input& in : inputs)
    for (const ranges over : {ranges::matrix, ranges::column}) {
      const quantized q = quantized::from(dense_of<float>(in), over);
      rig::write_quantized(path, q);
      CHECK(same(rig::read_quantized(path), q));
      const std::string first = bytes_of(path);
      rig::write_quantized(path, rig::read_quantized(path));
      CHECK(bytes_of(path) == first);
    }
  // The codes exceed the reader's buffers.
  const quantized large = quantized::from(dense_of<float>({"", 1500, 777, unit}));
  rig::write_quantized(path, large);
  CHECK(same(rig::read_quantized(path), large));
}

const std::string good_codes = npy_of("|u1", "(2, 3)", "abcdef"),
                  good_low = npy_of("<f4", "(3,)", little(1.f) + little(-2.f) + little(3.f)),
                  good_step = npy_of("<f4", "(3,)", little(0.f) + little(.5f) + little(1e-3f));

std::vector<zipped> good_members(bool deflate = false) {
  return {{"codes.npy", good_codes, deflate},
          {"low.npy", good_low, deflate},
          {"step.npy", good_step, deflate}};
}
quantized good() {
  const std::string codes = "abcdef";
  return quantized::from_codes(
      2, 3, std::span(reinterpret_cast<const unsigned char*>(codes.data()), codes.size()),
      std::vector<float>{1, -2, 3}, std::vector<float>{0, .5f, 1e-3f});
}

TEST_CASE(".npz of other programs") {
  const auto reads = [](const std::string& bytes) {
    return same(rig::read_quantized(file_of("other.npz", bytes)), good());
  };
  CHECK(reads(archive(good_members())));
  CHECK(reads(archive(good_members(true))));
  CHECK(reads(archive({good_members()[2], good_members(true)[0], good_members()[1]})));
  CHECK(reads(archive(good_members(), "a comment")));
  CHECK(reads(archive(good_members(), "a comment with PK\5\6 and 18 more bytes after it")));
  std::vector<zipped> turned = good_members();
  turned[0].bytes = npy_of("|u1", "(2, 3)", "adbecf", "True");
  CHECK(reads(archive(turned)));
  // Deflated codes that are longer than the reader's buffers.
  const std::string many = npy_of("|u1", "(1000, 1000)", std::string(1000000, '\7'));
  const quantized large = rig::read_quantized(
      file_of("other.npz", archive({{"codes.npy", many, true},
                                    {"low.npy", npy_of("<f4", "(1,)", little(1.f)), false},
                                    {"step.npy", npy_of("<f4", "(1,)", little(2.f)), false}})));
  CHECK(large.dequantised<float>()(999, 999) == 15);
}

TEST_CASE(".npz: several threads read the codes") {
  const int threads = omp_get_max_threads();
  // The codes exceed one interval of progress and are no whole number of pieces.
  constexpr int rows = 70001, columns = 1000;
  std::vector<unsigned char> codes(static_cast<std::size_t>(rows) * columns);
  for (std::size_t n = 0; n < codes.size(); ++n)
    codes[n] = static_cast<unsigned char>(n * 0x9e3779b1u >> 24);
  const quantized q =
      quantized::from_codes(rows, columns, codes, std::vector{1.f}, std::vector{2.f});
  const std::string path = scratch() / "large.npz";
  rig::write_quantized(path, q);
  for (const int number : {1, 5}) {
    omp_set_num_threads(number);
    CHECK(same(rig::read_quantized(path), q));
  }
  // The codes end at most 1 KiB before the file does.
  const std::size_t size = std::filesystem::file_size(path);
  for (const std::size_t at :
       {std::size_t(1000), std::size_t(5) << 20, std::size_t(65) << 20, size - 1024}) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto turn = [&] {
      file.seekg(static_cast<std::streamoff>(at));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 4)).flush();
    };
    turn();
    std::string messages[2];
    for (const int n : {0, 1}) {
      omp_set_num_threads(n == 0 ? 1 : 5);
      messages[n] = refusal(rig::errc::format, [&] { rig::read_quantized(path); });
    }
    CHECK(messages[0].find("codes.npy: the CRC-32 is ") != std::string::npos);
    CHECK(messages[0] == messages[1]);
    turn();
  }
  CHECK(same(rig::read_quantized(path), q));
  omp_set_num_threads(threads);
  std::filesystem::remove(path);

  const auto of = [](std::size_t bytes) {
    return file_of("other.npz",
                   archive({{"codes.npy", npy_of("|u1", "(3000, 999)", std::string(bytes, '\7'))},
                            {"low.npy", npy_of("<f4", "(1,)", little(1.f))},
                            {"step.npy", npy_of("<f4", "(1,)", little(2.f))}}));
  };
  CHECK(rig::read_quantized(of(2997000)).dequantised<float>()(2999, 998) == 15);
  CHECK(refusal(rig::errc::format, [&] {
          rig::read_quantized(of(2997001));
        }).find("codes.npy: bytes follow the 2997000 numbers") != std::string::npos);
  CHECK(refusal(rig::errc::format, [&] {
          rig::read_quantized(of(2996999));
        }).find("which take 2997000 bytes") != std::string::npos);
}

/// A good archive with other bytes, and perhaps another name, of one member.
std::string with(std::size_t which, const std::string& bytes, const std::string& name = "") {
  std::vector<zipped> members = good_members();
  members[which].bytes = bytes;
  if (!name.empty()) members[which].name = name;
  return archive(members);
}

/// CHECKs that each file is refused, with its path and the reason beside its bytes.
void check_refusals(const std::vector<std::pair<std::string, std::string>>& table) {
  for (const auto& [bytes, reason] : table) {
    const std::string path = file_of("bad.npz", bytes);
    const std::string message = refusal(rig::errc::format, [&] { rig::read_quantized(path); });
    CAPTURE(reason);
    CAPTURE(message);
    CHECK(message.starts_with(path + ": "));
    CHECK(message.find(reason, path.size()) != std::string::npos);
  }
}

TEST_CASE("malformed .npz archives are refused with the reason") {
  const auto patched = [](std::size_t at, const std::string& bytes) {
    return archive(good_members()).replace(at, bytes.size(), bytes);
  };
  const std::string whole = archive(good_members());
  const std::size_t directory = whole.find("PK\1\2"), end = whole.find("PK\5\6");
  check_refusals({
      {"", "not a .npz file"},
      {good_codes, "not a .npz file"},
      {"PK\3\4", "the archive has no end"},
      {whole.substr(0, whole.size() - 1), "the archive has no end"},
      {whole + "x", "the archive has no end"},
      {archive({}), "not a .npz file"},
      {archive({good_members()[0], good_members()[1]}), "the member \"step.npy\" is missing"},
      {with(1, good_low, "codes.npy"), "the member \"codes.npy\" comes twice"},
      {with(1, good_low, "high.npy"), "the member \"high.npy\" is not known"},
      {patched(directory + 8, "\1"), "is encrypted"},
      {patched(directory + 10, "\14"), "is packed by method 12"},
      {patched(directory, "Q"), "an invalid entry"},
      {patched(directory + 42, "\1"), "is not at byte 1"},
      {patched(directory + 42, "\xff\xff"), "is at byte 65535, past"},
      {patched(directory + 20, "\xff"), "stored, but has 255 bytes"},
      {patched(directory + 20, "\xff\xff"), "has 65535 bytes from"},
      {patched(end + 16, "\xff\xff"), "past its end"},
      {patched(end + 12, std::string("\0\0\1", 3)), "past its end"},
      {patched(end + 10, "\4"), "the archive's directory is cut"},
      {patched(end + 10, "\2"), "longer than its entries"},
      {patched(directory + 16, "abc"), "codes.npy: the CRC-32 is "},
  });
  std::string raw = archive(good_members(true));
  raw[41] = static_cast<char>(raw[41] ^ 0x10);  // the first bytes of the deflated codes
  CHECK(refusal(rig::errc::format, [&] {
          rig::read_quantized(file_of("bad.npz", raw));
        }).find("codes.npy: ") != std::string::npos);
}

TEST_CASE("malformed arrays of a .npz file are refused with the reason") {
  const std::string one = little(1.f);
  check_refusals({
      {with(0, "codes"), "codes.npy: not a .npy file"},
      {with(0, npy_of("<f4", "(2, 3)", std::string(24, '\0'))),
       "codes.npy: the type \"<f4\" is not |u1"},
      {with(1, npy_of("<f8", "(3,)", std::string(24, '\0'))),
       "low.npy: the type \"<f8\" is not <f4"},
      {with(2, npy_of(">f4", "(3,)", std::string(12, '\0'))), "step.npy: the type \">f4\""},
      {with(0, npy_of("|u1", "(2, 3, 1)", "abcdef")), "codes.npy: the array has 3 dimensions"},
      {with(0, npy_of("|u1", "(2, 3)", "abcde")),
       "codes.npy: the sizes announce 6 numbers, which take 6 bytes"},
      {with(0, npy_of("|u1", "(2, 3)", "abcdefg")), "codes.npy: bytes follow the 6 numbers"},
      {with(0, npy_of("|u1", "(2147483647, 3)", "abcdefg")), "codes.npy: the sizes announce"},
      {with(0, npy_of("|u1", "(2, 4)", "abcdefgh")), "low.npy: the shape is 3x1"},
      {with(1, npy_of("<f4", "(3, 2)", std::string(24, '\0'))), "low.npy: the shape is 3x2"},
      {with(2, npy_of("<f4", "(0,)", "")), "step.npy: the shape is 0x1"},
      {with(2, npy_of("<f4", "(1,)", one)), "low has 3 numbers, step has 1"},
      {with(2, npy_of("<f4", "(3,)", one + little(-1.f) + one)), "range 1 is -2 + -1"},
      {with(2, npy_of("<f4", "(3,)", one + little(NAN) + one)), "range 1 is -2 + nan"},
      {with(1, npy_of("<f4", "(3,)", one + one + little(inf))), "range 2 is inf"},
  });
}

TEST_CASE(".npz files that cannot be opened or written") {
  const std::string missing = scratch() / "missing.npz";
  CHECK(refusal(rig::errc::io, [&] {
          rig::read_quantized(missing);
        }).starts_with(missing + ": cannot open"));
  if (std::filesystem::exists("/dev/full"))
    CHECK(refusal(rig::errc::io, [&] {
            rig::write_quantized("/dev/full", good());
          }).starts_with("/dev/full: cannot write"));
}

TEST_CASE(".npz: every truncation is refused; a damaged byte is refused or changes nothing") {
  const std::string path = scratch() / "whole.npz";
  rig::write_quantized(path, good());
  int refused = 0, tried = 0;
  for (const std::string& bytes :
       {bytes_of(path), archive(good_members()), archive(good_members(true))}) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const std::string cut = file_of("fuzz.npz", bytes.substr(0, length));
      REQUIRE(refusal(rig::errc::format, [&] { rig::read_quantized(cut); }).starts_with(cut));
    }
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (int bit = 0; bit < 8; ++bit, ++tried) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        const std::string file = file_of("fuzz.npz", damaged);
        try {
          const quantized read = rig::read_quantized(file);
          REQUIRE(same(read, good()));
        } catch (const rig::error& e) {
          ++refused;
          REQUIRE(e.code() == rig::errc::format);
          REQUIRE(std::string(e.what()).starts_with(file));
        }
      }
  }
  CHECK(refused > tried / 2);
  CHECK(refused < tried);
}

}  // namespace
