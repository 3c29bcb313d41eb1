// The sampled kernels: their samples, their products against the oracle on matrices sampled here,
// what they refuse, and the report. Rules are written out once more, from the words of the papers.

#include "rig/sampling.hpp"

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "table.hpp"

namespace {

using rig::sampling;

struct sampled_kernel {
  const char* name;
  sampling how;
};
constexpr sampled_kernel sampled_kernels[] = {{"bucket", sampling::bucket},
                                              {"fastrand", sampling::fastrand},
                                              {"adaptive", sampling::adaptive}};

/// The entries staged of a row, slot by slot.
std::vector<long> staged_entries(sampling how, long row_nnz, int width) {
  std::vector<long> slots(static_cast<std::size_t>(std::min<long>(row_nnz, width)));
  std::iota(slots.begin(), slots.end(), 0L);
  const long double ratio = static_cast<long double>(row_nnz) / width;
  if (ratio <= 1 || how == sampling::bucket) return slots;
  if (how == sampling::fastrand) {
    for (long& entry : slots) entry = entry * 577 % row_nnz;
    return slots;
  }
  int runs = 32;
  if (ratio <= 2)
    runs = 4;
  else if (ratio <= 36)
    runs = 8;
  else if (ratio <= 54)
    runs = 16;
  const int length = std::max(1, width / runs);
  runs = std::min(runs, width);
  slots.resize(static_cast<std::size_t>(runs) * length);
  for (int i = 0; i < runs; ++i)
    for (int j = 0; j < length; ++j)
      slots[static_cast<std::size_t>(i + j * runs)] = i * 1429L % (row_nnz - length + 1) + j;
  return slots;
}

/// What differs from the rules, or nothing.
std::string compare_sample(sampling how, long row_nnz, int width) {
  const std::vector<long> want = staged_entries(how, row_nnz, width);
  const rig::row_sample got = rig::sample_of(how, row_nnz, width);
  const std::string where = std::to_string(static_cast<int>(how)) + ", " + std::to_string(row_nnz) +
                            " entries, width " + std::to_string(width);
  if (got.count != static_cast<long>(want.size()))
    return where + ": " + std::to_string(got.count) + " slots";
  for (std::size_t slot = 0; slot < want.size(); ++slot)
    if (got.entry(static_cast<unsigned>(slot)) != want[slot])
      return where + ": slot " + std::to_string(slot);
  return "";
}

TEST_CASE("samples follow the rules") {
  std::string wrong;
  const auto check = [&](long row_nnz, int width) {
    for (const auto& [name, how] : sampled_kernels)
      if (wrong.empty() && row_nnz >= 0) wrong = compare_sample(how, row_nnz, width);
  };
  for (int width = 1; width <= 1100; ++width) {
    for (long n = width % 41; n <= 5000; n += 41) check(n, width);  // every width, every length
    for (const long factor : {1, 2, 36, 54})
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
  static_assert(rig::sample_of(sampling::none, 65, 64).entry(64) == 64);
}

template <sampling How>
oracle::sparse sampled_matrix(const oracle::sparse& a, int width) {
  oracle::sparse out;
  out.rows = a.rows;
  out.columns = a.columns;
  for (int i = 0; i < a.rows; ++i) {
    const long begin = a.offsets[i];
    for (const long entry : staged_entries(How, a.offsets[i + 1] - begin, width)) {
      out.inner.push_back(a.inner[begin + entry]);
      out.values.push_back(a.values[begin + entry]);
    }
    out.offsets.push_back(out.nnz());
  }
  return out;
}

void sample_with(trial_spec& spec, sampling how, int width) {
  spec.width = width;
  spec.sample = how == sampling::bucket     ? sampled_matrix<sampling::bucket>
                : how == sampling::fastrand ? sampled_matrix<sampling::fastrand>
                                            : sampled_matrix<sampling::adaptive>;
}

constexpr int widths[] = {1, 3, 16, 64, 100};

/// A semiring over all shapes, widths and variants, by each kernel; true if it is served.
template <class S, class T>
bool walk_sampled(const std::vector<shape>& shapes, int number) {
  if (rig::samples_as<S> == rig::reduction::none) return false;
  std::set<std::tuple<std::string, std::string, bool>> met;
  int step = 0;
  for (const shape& of : shapes)
    for (const int width : widths) {
      const variant& v =
          variants()[static_cast<std::size_t>(step + 5 * number) % variants().size()];
      for (const auto& [name, how] : sampled_kernels) {
        trial_spec spec;
        spec.of = &of;
        spec.name = v.name;
        spec.features = feature_widths[static_cast<std::size_t>(step * 4 + number + step / 11) %
                                       feature_widths.size()];
        spec.seed = test_seed() * 1009 + static_cast<unsigned long>(step);
        spec.values = std::array{draw::quarters, draw::reals, draw::quarters, draw::extremes,
                                 draw::reals}[static_cast<std::size_t>(step + number) % 5];
        // Odd and even rounds through the variants differ in it.
        spec.rescale = rig::is_rescaling<S> &&
                       (step / static_cast<int>(variants().size()) + step + number) % 2 == 0;
        v.apply(spec);
        settle<S>(spec);
        sample_with(spec, how, width);
        trial<S, T, T, T> here(spec);
        std::string wrong;
        try {
          wrong = here.run(name);
        } catch (const rig::error& e) {
          wrong = e.what();
        }
        if (!wrong.empty())
          FAIL_CHECK(std::string(name), ", width ", width, ", ", std::string(S::name), ", ",
                     of.name, ", F = ", spec.features, ", ", spec.name,
                     spec.rescale ? ", rescaled" : "", ", seed ", spec.seed, ": ", wrong);
        met.insert({name, v.name, spec.rescale});
      }
      ++step;
    }
  CHECK(met.size() >= std::size(sampled_kernels) * variants().size());
  return true;
}

TEST_CASE("every sampled kernel, semiring, shape, width and variant") {
  const std::vector<shape> shapes = battery();
  int number = 0, served = 0;
#define RIG_BUILTIN(semiring, type) \
  served += walk_sampled<rig::semiring<type>, type>(shapes, number++);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(served == 15);
}

template <class S, class TA, class TB, class TC>
void check_types() {
  const shape rows = row_lengths_shape();
  for (const auto& [name, how] : sampled_kernels)
    for (const bool transposed : {false, true})
      for (const bool rescale : {false, rig::is_rescaling<S>}) {
        trial_spec spec;
        spec.of = &rows;
        spec.features = 33;
        spec.seed = test_seed();
        spec.transpose_a = transposed;
        spec.rescale = rescale;
        sample_with(spec, how, 32);
        CHECK(trial<S, TA, TB, TC>(spec).run(name) == "");
      }
}

TEST_CASE("stored in other types") {
  check_types<rig::plus_times<float>, rig::half, rig::bfloat16, double>();
  check_types<rig::plus_times<double>, bool, long, rig::half>();
  check_types<rig::plus_times<int>, int, int, int>();
  check_types<rig::plus_pair<int>, float, float, int>();
  check_types<rig::mean_times<float>, int, rig::half, float>();
  check_types<rig::max_times<int>, long, int, long>();
  check_types<rig::arg_min_second<int>, int, rig::bfloat16, int>();
}

template <class S, class T>
void check_same_bits(int features) {
  const shape rows = row_lengths_shape();
  for (const auto& [name, how] : sampled_kernels) {
    trial_spec spec;
    spec.of = &rows;
    spec.features = features;
    spec.seed = test_seed();
    spec.values = draw::reals;
    spec.rescale = rig::is_rescaling<S>;
    sample_with(spec, how, 100);
    trial<S, T, T, T> t(spec);
    std::vector<unsigned char> once, again;
    CHECK(t.run(name, 1, &once) == "");
    for (const int threads : {2, 7, 0}) {
      again.clear();
      CHECK(t.run(name, threads, &again) == "");
      CHECK(again == once);
    }
    // No row is longer: the exact product.
    for (const int width : {1000, rig::widest_sample}) {
      sample_with(spec, how, width);
      trial<S, T, T, T> whole(spec);
      std::vector<unsigned char> exact, sampled;
      CHECK(whole.run("row", 0, &exact) == "");
      CHECK(whole.run(name, 0, &sampled) == "");
      CHECK(sampled == exact);
    }
  }
}

TEST_CASE("same bits for any number of threads, and as row where nothing is left out") {
  check_same_bits<rig::plus_times<float>, float>(100);
  check_same_bits<rig::plus_times<float>, float>(1);
  check_same_bits<rig::mean_second<float>, float>(33);
  check_same_bits<rig::arg_max_second<float>, float>(64);
}

/// A row of n entries, 1 each.
rig::matrix<float> one_row(rig::index n) {
  std::vector<rig::index> i(static_cast<std::size_t>(n), 0), j(static_cast<std::size_t>(n));
  std::iota(j.begin(), j.end(), 0);
  return rig::matrix<float>::from_positions(1, n, i, j);
}

TEST_CASE("counts, means and ties in a sample with repetitions") {
  const auto a = one_row(80);
  rig::descriptor desc{.kernel = "adaptive", .width = 64};
  const rig::dense<float> ones(80, 3, 1.0f);
  CHECK(rig::mxm(a, ones, rig::plus_pair<float>{}, desc)(0, 0) == 64);
  CHECK(rig::mxm(a, ones, rig::mean_second<float>{}, desc)(0, 1) == 1);
  const auto tied = rig::mxm(a, ones, rig::arg_min_second<float>{}, desc);
  CHECK(tied.indices(0, 2) == 0);
  // Run 3 starts at 3·1429 mod 65 = 62, run 1 at 64, run 2 at 63: of 62 … 79 the lowest wins.
  rig::dense<float> steps(80, 1);
  for (int k = 0; k < 80; ++k) steps(k, 0) = k < 62 ? 0 : 5;
  const auto greatest = rig::mxm(a, steps, rig::arg_max_second<float>{}, desc);
  CHECK(greatest.values(0, 0) == 5);
  CHECK(greatest.indices(0, 0) == 62);
  desc.rescale = true;
  CHECK(rig::mxm(a, ones, rig::plus_pair<float>{}, desc)(0, 0) == 80);
  CHECK(rig::rescaled(5, 7, 5) == 7);
  CHECK(rig::rescaled(3.0f, 10, 4) == 7.5f);
}

template <class S, class T>
void check_refusal() {
  const auto a = one_row(9);
  const rig::dense<T> b(9, 2, T(1));
  for (const auto& [name, how] : sampled_kernels) {
    const rig::descriptor desc{.kernel = name, .width = 4};
    const auto product = [&] { rig::mxm(a, b, S{}, desc); };
    if (rig::samples_as<S> == rig::reduction::none)
      check_error(rig::errc::cannot, {name, S::name, "samples_as"}, product);
    else
      CHECK_NOTHROW(product());
    const rig::descriptor rescaling{.kernel = name, .width = 4, .rescale = true};
    const auto rescaled = [&] { rig::mxm(a, b, S{}, rescaling); };
    if (rig::is_rescaling<S>)
      CHECK_NOTHROW(rescaled());
    else
      check_error(rig::errc::cannot, {name, S::name}, rescaled);
  }
}

TEST_CASE("semirings that a sample does not serve") {
#define RIG_BUILTIN(semiring, type) check_refusal<rig::semiring<type>, type>();
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

TEST_CASE("widths, and nothing is written") {
  const auto a = one_row(9);
  const rig::dense<float> b(9, 2, 1.0f);
  rig::dense<float> c(1, 2, 42.0f);
  for (const auto& [name, how] : sampled_kernels) {
    for (const int width : {0, -1, 4097}) {
      const rig::descriptor desc{.kernel = name, .width = width};
      const auto in_message = {std::string(name), std::to_string(width), std::string("4096")};
      check_error(rig::errc::range, in_message,
                  [&] { rig::mxm(c, rig::none, a, b, rig::plus_times<float>{}, desc); });
      check_error(rig::errc::range, in_message,
                  [&] { rig::explain(a, b, rig::plus_times<float>{}, desc); });
      check_error(rig::errc::range, in_message, [&] { rig::sampling_report(a, desc); });
    }
    check_error(rig::errc::cannot, {name, "mean_times"}, [&] {
      rig::mxm(c, rig::none, a, b, rig::mean_times<float>{},
               {.kernel = name, .width = 4, .rescale = true});
    });
  }
  CHECK(c(0, 0) == 42);
  // Exact kernels do not look at it.
  CHECK(rig::mxm(a, b, rig::plus_times<float>{}, {.kernel = "row", .width = -1})(0, 0) == 9);
}

TEST_CASE("only the descriptor switches a sampled kernel on") {
  const auto a = one_row(9);
  const rig::dense<float> b(9, 2, 1.0f);
  const rig::descriptor desc{.width = 4};
  for (const auto& [name, how] : sampled_kernels) {
    setenv("RIG_KERNEL", name, 1);
    CHECK(rig::mxm(a, b, rig::plus_times<float>{}, desc)(0, 0) == 9);
    CHECK(rig::explain(a, b, rig::plus_times<float>{}, desc).chosen == "row");
    unsetenv("RIG_KERNEL");
    CHECK(rig::mxm(a, b, rig::plus_times<float>{}, desc)(0, 0) == 9);
    const auto e = rig::explain(a, b, rig::plus_times<float>{}, {.kernel = name, .width = 4});
    CHECK(e.chosen == name);
    CHECK(e.text().find("stages 44.4 % of 9 entries (44.4 % distinct), 0.0 % of rows whole") !=
          std::string::npos);
    int lines = 0;
    for (const rig::explained& line : e.kernels)
      if (line.name == name) lines += line.approximate;
    CHECK(lines == 1);
  }
  // Whoever lists another one is told to name it here.
  std::size_t listed = 0;
  for (const rig::kernel& k : rig::kernels()) {
    CHECK((k.samples == sampling::none || k.approximate));
    if (k.where != rig::place::kind::cpu || k.samples == sampling::none) continue;
    ++listed;
    for (const auto& [name, how] : sampled_kernels)
      CHECK((k.name == std::string(name)) == (k.samples == how));
  }
  CHECK(listed == std::size(sampled_kernels));
}

/// Sums of a caller, with and without a word on samples.
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

/// The share that `part` of all rows do not exceed, by walking them.
double share_of_rows(std::vector<double> shares, double part) {
  std::sort(shares.begin(), shares.end());
  for (std::size_t r = 0; r < shares.size(); ++r)
    if (static_cast<double>(r + 1) >= part * static_cast<double>(shares.size())) return shares[r];
  return 1;
}

void check_report(const oracle::sparse& pattern, const sampled_kernel& k, int width,
                  bool transposed) {
  const auto a = rig::matrix<float>::from_csr(
      pattern.rows, pattern.columns, std::span<const long>(pattern.offsets),
      std::span<const int>(pattern.inner), rig::input::checked, 1.0f);
  const auto got =
      rig::sampling_report(a, {.transpose_a = transposed, .kernel = k.name, .width = width});
  const oracle::sparse op = transposed ? oracle::transpose(pattern) : pattern;
  long staged = 0, distinct = 0;
  int whole = 0;
  std::vector<double> shares;
  double sum = 0;
  for (int i = 0; i < op.rows; ++i) {
    const long n = op.offsets[i + 1] - op.offsets[i];
    const auto entries = staged_entries(k.how, n, width);
    staged += static_cast<long>(entries.size());
    distinct += static_cast<long>(std::set<long>(entries.begin(), entries.end()).size());
    whole += n <= width;
    if (n > 0) shares.push_back(static_cast<double>(entries.size()) / static_cast<double>(n));
    if (n > 0) sum += shares.back();
  }
  CHECK(got.entries == op.nnz());
  CHECK(got.staged == staged);
  CHECK(got.distinct == distinct);
  CHECK(got.rows == op.rows);
  CHECK(got.whole_rows == whole);
  const auto nnz = static_cast<double>(op.nnz());
  CHECK(got.kept_share() == (op.nnz() > 0 ? static_cast<double>(staged) / nnz : 1));
  CHECK(got.distinct_share() == (op.nnz() > 0 ? static_cast<double>(distinct) / nnz : 1));
  CHECK(got.least_share == share_of_rows(shares, 0));
  CHECK(got.percent_1_share == share_of_rows(shares, 0.01));
  CHECK(got.percent_10_share == share_of_rows(shares, 0.1));
  CHECK(got.median_share == share_of_rows(shares, 0.5));
  const double mean = shares.empty() ? 1 : sum / static_cast<double>(shares.size());
  CHECK(std::fabs(got.mean_share - mean) <= 1e-12);
}

TEST_CASE("the report, against every row in turn") {
  for (const shape& of : battery())
    for (const sampled_kernel& k : sampled_kernels)
      for (const int width : widths)
        for (const bool transposed : {false, true}) check_report(of.pattern, k, width, transposed);
  check_report(long_rows_shape().pattern, sampled_kernels[2], 4096, false);
}

TEST_CASE("the report in words, and what it refuses") {
  const auto a = rig::generate::from_text("rmat:10:16");
  const auto seen = rig::sampling_report(a, {.kernel = "bucket", .width = 8});
  CHECK(seen.text().find("stages ") == 0);
  CHECK(seen.text().find(" k entries (") != std::string::npos);
  check_error(rig::errc::unknown_kernel, {"no such"},
              [&] { rig::sampling_report(a, {.kernel = "no such", .width = 8}); });
  check_error(rig::errc::cannot, {"row"},
              [&] { rig::sampling_report(a, {.kernel = "row", .width = 8}); });
  check_error(rig::errc::cannot, {"names no"}, [&] { rig::sampling_report(a, {.width = 8}); });
}

}  // namespace
