// Launch plans on a GPU. Products over graphs of every class of rows must equal the CPU's. Their
// numbers are quarters, which add without rounding.

#include <doctest/doctest.h>

#include <bit>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/runtime/runtime.hpp"
#include "gpu.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/quantized.hpp"
#include "rig/semirings.hpp"
#include "seed.hpp"
#include "tuned.hpp"

namespace {

/// Graphs of each class of rows: three tiny ones, then short, skewed, uniform and long rows.
constexpr const char* graphs[] = {"uniform:2000:16",  "rmat:12:16",       "pubmed-like",
                                  "grid:400:400",     "rmat:16:4",        "rmat:14:20",
                                  "uniform:30000:16", "uniform:15000:24", "uniform:8000:50",
                                  "uniform:4000:120"};

rig::matrix<float> weighted(const rig::matrix<float>& graph) {
  std::vector<float> weights(static_cast<std::size_t>(graph.nnz()));
  for (std::size_t e = 0; e < weights.size(); ++e)
    weights[e] = static_cast<float>(static_cast<int>(e * 29 % 33) - 16) / 4;
  return graph.with_values(std::span<const float>(weights));
}

template <class T>
rig::dense<T> quarters(int rows, int columns) {
  rig::dense<T> out(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out(i, j) = rig::convert<T>(static_cast<float>((i * 11 + j * 5) % 37 - 18) / 4);
  return out;
}

rig::quantized codes(int rows, int columns, rig::ranges over) {
  std::vector<unsigned char> bytes;
  for (int e = 0; e < rows * columns; ++e)
    bytes.push_back(static_cast<unsigned char>(e * 37L % 31));
  std::vector<float> low(over == rig::ranges::column ? static_cast<std::size_t>(columns) : 1), step;
  for (std::size_t r = 0; r < low.size(); ++r) {
    low[r] = static_cast<float>(r % 7) - 20;
    step.push_back(static_cast<float>(1 + r % 3) / 4);
  }
  return rig::quantized::from_codes(rows, columns, bytes, low, step);
}

template <class T>
int unlike(const rig::dense<T>& x, const rig::dense<T>& y) {
  int count = x.rows() == y.rows() && x.columns() == y.columns() ? 0 : 1;
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j) count += x(i, j) == y(i, j) ? 0 : 1;
  return count;
}

/// A matrix or features in both places.
template <class T>
struct on_both {
  T here, there;
  explicit on_both(T of) : here(std::move(of)), there(here.to(gpu)) {}
};

template <class S>
void check_as_on_cpu(const auto& a, const auto& b, const rig::descriptor& desc = {}) {
  const auto here = rig::mxm(a.here, b.here, S{}, desc);
  const auto there = rig::mxm(a.there, b.there, S{}, desc);
  CAPTURE(b.here.columns());
  CAPTURE(S::name);
  CAPTURE(desc.kernel);
  CAPTURE(desc.width);
  if constexpr (rig::is_indexed<rig::output<S>>) {
    CHECK(unlike(here.values, there.values.to(rig::cpu())) == 0);
    CHECK(unlike(here.indices, there.indices.to(rig::cpu())) == 0);
  } else {
    CHECK(unlike(here, there.to(rig::cpu())) == 0);
  }
}

/// The graphs above, and two whose neighbouring rows share columns: long rows and skewed rows.
std::vector<std::pair<std::string, rig::matrix<float>>> graphs_and_communities() {
  std::vector<std::pair<std::string, rig::matrix<float>>> out;
  for (const char* text : graphs) out.emplace_back(text, rig::generate::from_text(text));
  out.emplace_back("long", rig::generate::community({8000, 64, 50, 0.2, 3, 150}));
  out.emplace_back("skewed", rig::generate::community({30000, 16, 100, 0.3, 2.2, 3000}));
  for (const auto& [name, community] : std::span(out).last(2)) {
    const auto statistics =
        community.to(gpu).structure().derived_of<rig::on_cuda::row_statistics>();
    REQUIRE(statistics->local);
    REQUIRE(community.nnz() >= 300000);
    REQUIRE(rig::on_cuda::is_skewed(*statistics, community.nnz()) == (name == "skewed"));
    REQUIRE((statistics->mean_length >= 40) == (name == "long"));
  }
  return out;
}

TEST_CASE("exact products") {
  for (const auto& [name, pattern] : graphs_and_communities()) {
    CAPTURE(name);
    const on_both graph(pattern);
    const on_both a(weighted(graph.here));
    const int n = a.here.columns();
    for (const int features :
         {1, 2, 3, 7, 8, 16, 29, 32, 33, 34, 47, 64, 65, 97, 100, 128, 129, 193, 225, 256}) {
      const on_both b(quarters<float>(n, features));
      check_as_on_cpu<rig::plus_times<float>>(a, b);
      check_as_on_cpu<rig::max_second<float>>(graph, b);
      check_as_on_cpu<rig::mean_second<float>>(graph, b);
      check_as_on_cpu<rig::arg_max_second<float>>(graph, b);
    }
    const on_both of_double(a.here.with_value(2.0));
    for (const int features : {3, 4, 17, 32, 47, 64, 65, 128, 193, 256}) {
      const on_both h(quarters<rig::half>(n, features));
      check_as_on_cpu<rig::plus_times<float>>(a, h);
      check_as_on_cpu<rig::max_second<float>>(graph, h);
      check_as_on_cpu<rig::arg_max_second<float>>(graph, h);
      check_as_on_cpu<rig::plus_times<float>>(a, on_both(quarters<rig::bfloat16>(n, features)));
      const on_both d(quarters<double>(n, features));
      check_as_on_cpu<rig::plus_times<double>>(of_double, d);
      check_as_on_cpu<rig::arg_max_second<double>>(of_double, d);
    }
  }
}

template <class S>
bool goes_in_tiles(const auto& a, const auto& b) {
  const rig::explanation of = rig::explain(a.there, b.there, S{});
  for (const rig::explained& kernel : of.kernels)
    if (kernel.chosen) return kernel.says.plan.find("B in tiles") != std::string::npos;
  return false;
}

TEST_CASE("B in tiles, with columns beyond them") {
  const auto of_type = [](const auto& a, auto zero, auto semiring, int l, int g) {
    using T = decltype(zero);
    constexpr int width = 16 / sizeof(T);
    const int tile = l * width;
    for (const int left : {1, width})
      for (const int tiles : {1, 3}) {
        const tuned by = tuned::tiles(lanes(l, g, 4, 1));
        const on_both b(quarters<T>(a.here.columns(), tiles * tile + left));
        CHECK(goes_in_tiles<decltype(semiring)>(a, b));
        check_as_on_cpu<decltype(semiring)>(a, b);
        if (left == 4)  // fewer than a vector
          check_as_on_cpu<decltype(semiring)>(
              a, on_both(quarters<T>(a.here.columns(), tiles * tile + 2)));
      }
  };
  for (const char* text :
       {"uniform:2000:16", "rmat:12:16"}) {  // rmat: rows in segments, empty rows
    CAPTURE(text);
    const on_both graph(rig::generate::from_text(text));
    const on_both a(weighted(graph.here)), iso(graph.here.with_value(0.5f));
    for (const auto& [l, g] : {std::pair{8, 8}, {8, 16}, {8, 32}, {16, 16}, {16, 32}}) {
      CAPTURE(l);
      CAPTURE(g);
      of_type(a, 0.0f, rig::plus_times<float>{}, l, g);
      of_type(iso, 0.0f, rig::plus_times<float>{}, l, g);
      of_type(graph, 0.0f, rig::max_second<float>{}, l, g);
      of_type(graph, 0.0f, rig::mean_second<float>{}, l, g);
      of_type(graph, 0.0f, rig::arg_max_second<float>{}, l, g);
      of_type(a, rig::half(), rig::plus_times<float>{}, l, g);
      of_type(on_both(graph.here.with_value(2.0)), 0.0, rig::plus_times<double>{}, l, g);
    }
    // Rows of B and C that lie further apart.
    const on_both b(quarters<float>(a.here.columns(), 40));
    const auto part = rig::dense<float>::view(b.there.data(), b.there.rows(), 33, 40, gpu);
    const auto part_here = rig::dense<float>::view(b.here.data(), b.here.rows(), 33, 40);
    auto room = rig::dense<float>(a.here.rows(), 48, 7.0f).to(gpu);
    auto c = rig::dense<float>::view(room.data(), a.here.rows(), 33, 48, gpu);
    {
      const tuned by = tuned::tiles(lanes(8, 8, 6, 1));
      rig::mxm(c, rig::none, a.there, part, rig::plus_times<float>{});
    }
    const auto expected = rig::mxm(a.here, part_here, rig::plus_times<float>{});
    const auto got = room.to(rig::cpu());
    int wrong = 0;
    for (int i = 0; i < got.rows(); ++i)
      for (int j = 0; j < got.columns(); ++j)
        wrong += got(i, j) == (j < 33 ? expected(i, j) : 7.0f) ? 0 : 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("B goes in tiles if A has twenty entries per row of B") {
  const on_both a(weighted(rig::generate::from_text("uniform:16384:32"))),
      few(weighted(rig::generate::from_text("uniform:2000:32")));
  for (const int features : {33, 65, 97}) {
    const on_both b(quarters<float>(16384, features)), of_few(quarters<float>(2000, features));
    check_as_on_cpu<rig::plus_times<float>>(a, b);
    CHECK(goes_in_tiles<rig::plus_times<float>>(a, b));
    check_as_on_cpu<rig::plus_times<float>>(few, of_few);
    CHECK(!goes_in_tiles<rig::plus_times<float>>(few, of_few));
  }
  const on_both whole(quarters<float>(16384, 32));
  check_as_on_cpu<rig::plus_times<float>>(a, whole);
  CHECK(!goes_in_tiles<rig::plus_times<float>>(a, whole));
}

TEST_CASE("products over 8-bit features") {
  for (const char* text : graphs) {
    CAPTURE(text);
    const on_both graph(rig::generate::from_text(text));
    const on_both a(weighted(graph.here));
    for (const int features : {16, 32, 64, 100, 128, 200, 256})
      check_as_on_cpu<rig::plus_times<float>>(
          a, on_both(codes(a.here.columns(), features, rig::ranges::column)));
    for (const int features : {64, 128})
      check_as_on_cpu<rig::max_second<float>>(
          graph, on_both(codes(a.here.columns(), features, rig::ranges::matrix)));
  }
}

/// One case per kernel, so that cases can run beside each other.
void check_samples_of(const char* kernel) {
  for (const char* text : graphs) {
    CAPTURE(text);
    const on_both graph(rig::generate::from_text(text));
    const on_both a(weighted(graph.here));
    const int n = a.here.columns();
    for (const int features : {16, 32, 64, 128, 256}) {
      const on_both b(quarters<float>(n, features));
      const on_both c(codes(n, features, rig::ranges::matrix));
      const on_both h(quarters<rig::half>(n, features));
      for (const int width : {2, 8, 32, 64, 100, 300})
        check_as_on_cpu<rig::plus_times<float>>(a, b, {.kernel = kernel, .width = width});
      for (const int width : {8, 32, 64, 300}) {
        check_as_on_cpu<rig::max_second<float>>(graph, b, {.kernel = kernel, .width = width});
        check_as_on_cpu<rig::mean_second<float>>(graph, b, {.kernel = kernel, .width = width});
        check_as_on_cpu<rig::arg_max_second<float>>(graph, b, {.kernel = kernel, .width = width});
        check_as_on_cpu<rig::plus_times<float>>(a, h, {.kernel = kernel, .width = width});
        check_as_on_cpu<rig::plus_times<float>>(a, c, {.kernel = kernel, .width = width});
      }
    }
  }
}
TEST_CASE("samples of bucket") { check_samples_of("bucket"); }
TEST_CASE("samples of fastrand") { check_samples_of("fastrand"); }
TEST_CASE("samples of adaptive") { check_samples_of("adaptive"); }

TEST_CASE("one column, in chunks of many rows, of no rows and of a part of a row") {
  for (const int rows : {1023, 1024, 1025, 32769, 200000}) {
    CAPTURE(rows);
    std::vector<int> offsets = {0}, columns;
    for (int i = 0; i < rows; ++i) {
      const int length = i == rows / 2 ? 50000 : i % 7 < 4 || i > rows - 900 ? 0 : i % 11;
      for (int e = 0; e < length; ++e) columns.push_back(e);
      offsets.push_back(static_cast<int>(columns.size()));
    }
    std::vector<rig::int64> values(columns.size());
    for (std::size_t e = 0; e < values.size(); ++e)
      values[e] = static_cast<rig::int64>(e * 13 % 101) - 50;
    const on_both a(rig::matrix<rig::int64>::from_csr(rows, 50000, std::span<const int>(offsets),
                                                      std::span<const int>(columns),
                                                      std::span<const rig::int64>(values)));
    rig::dense<rig::int64> x(50000, 1);
    for (int i = 0; i < x.rows(); ++i) x(i, 0) = i * 31L % 203 - 101;
    const on_both b(std::move(x));
    const auto here = rig::mxm(a.here, b.here, rig::plus_times<rig::int64>{});
    const auto there = rig::mxm(a.there, b.there, rig::plus_times<rig::int64>{}, {.kernel = "spmv"})
                           .to(rig::cpu());
    CHECK(unlike(here, there) == 0);
  }
}

/// Rows of 60 000 that have entries in each panel of `spmv_panels`, in one, or nowhere.
rig::matrix<float> graph_of_panels() {
  std::vector<int> offsets = {0}, columns;
  for (int i = 0; i < 60000; ++i) {
    const int length =
        i == 4321 ? 30000 : std::vector{0, 21, 130, 260, 7}[static_cast<std::size_t>(i) % 5];
    const int apart = i % 3 == 0 ? 1 : 120000 / (length + 1);
    for (int e = 0; e < length; ++e) columns.push_back(i % apart + e * apart);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  return rig::matrix<float>::from_csr(60000, 120000, std::span<const int>(offsets),
                                      std::span<const int>(columns));
}

TEST_CASE("one column, panels of columns") {
  const on_both graph(graph_of_panels());
  const on_both a(weighted(graph.here));
  const on_both b(quarters<float>(120000, 1));
  const rig::descriptor panels{.kernel = "spmv_panels"};
  const auto check = [&]<class S>(S s, const auto& of, const auto& x) {
    const auto here = rig::mxm(of.here, x.here, s);
    const auto there = rig::mxm(of.there, x.there, s, panels);
    CAPTURE(S::name);
    CHECK(unlike(here, there.to(rig::cpu())) == 0);
  };
  check(rig::plus_times<float>{}, a, b);
  check(rig::min_plus<float>{}, a, b);
  check(rig::max_second<float>{}, graph, b);
  check(rig::plus_second<float>{}, graph, b);
  check(rig::plus_times<float>{}, on_both(graph.here.with_value(0.5f)), b);
  check(rig::plus_times<float>{}, a, on_both(quarters<rig::half>(120000, 1)));
  rig::dense<rig::int32> x(120000, 1);
  for (int i = 0; i < x.rows(); ++i) x(i, 0) = i * 31 % 203 - 101;
  std::vector<rig::int32> values(static_cast<std::size_t>(a.here.nnz()));
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = static_cast<int>(e * 13 % 101) - 50;
  check(rig::plus_times<rig::int32>{},
        on_both(graph.here.with_values(std::span<const rig::int32>(values))),
        on_both(std::move(x)));

  // Values that begin 4 bytes after a multiple of 16 take scalar loads.
  const rig::pattern& s = a.there.structure();
  const auto nnz = static_cast<std::size_t>(s.nnz());
  rig::dense<float> moved(static_cast<int>(nnz) + 1, 1, 0.0f);
  for (std::size_t e = 0; e < nnz; ++e) moved(static_cast<int>(e) + 1, 0) = a.here.values()[e];
  const rig::dense<float> kept = moved.to(gpu);
  const auto view = rig::matrix<float>::view(
      s.rows(), s.columns(), std::span(static_cast<const rig::int32*>(s.offsets()), 60001),
      std::span(s.column_indices(), nnz), std::span<const float>(kept.data() + 1, nnz),
      rig::input::trusted, gpu);
  rig::synchronise(gpu);
  const auto there = rig::mxm(view, b.there, rig::plus_times<float>{}, panels).to(rig::cpu());
  CHECK(unlike(rig::mxm(a.here, b.here, rig::plus_times<float>{}), there) == 0);
}

/// n rows: every tenth has `longer` entries, the others have `shorter`. Entries lie side by side
/// from the diagonal on, or are spread over all columns.
rig::matrix<float> rows_of(int n, int shorter, int longer, bool spread) {
  std::vector<int> offsets = {0}, columns;
  for (int i = 0; i < n; ++i) {
    const int length = i % 10 == 0 ? longer : shorter;
    const int apart = spread ? n / length : 1, first = spread ? i % apart : std::min(i, n - length);
    for (int e = 0; e < length; ++e) columns.push_back(first + e * apart);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  return rig::matrix<float>::from_csr(n, n, std::span<const int>(offsets),
                                      std::span<const int>(columns));
}

TEST_CASE("panels of columns are chosen if rows have many entries in each panel") {
  const auto check = [](const char* name, const rig::matrix<float>& graph, bool chosen) {
    CAPTURE(name);
    const on_both a(weighted(graph));
    const on_both b(quarters<float>(a.here.columns(), 1));
    CHECK((rig::explain(a.there, b.there, rig::plus_times<float>{}).chosen == "spmv_panels") ==
          chosen);
    check_as_on_cpu<rig::plus_times<float>>(a, b);
  };
  for (const auto& [text, chosen] : {std::pair{"uniform:60000:140", true},
                                     {"uniform:120000:32", true},  // 10 entries in each of 3 panels
                                     {"uniform:290000:48", false},  // 8 in each of 6
                                     {"uniform:50000:140", true},   // one panel
                                     {"uniform:50000:110", false},
                                     {"uniform:60000:30", false}}) {  // 1.8 million entries
    check(text, rig::generate::from_text(text), chosen);
  }
  check("alike", rows_of(120000, 40, 40, true), true);
  check("neighbours share columns", rows_of(120000, 40, 40, false), false);
  check("not alike", rows_of(120000, 20, 250, true), false);
}

/// Ties, the limits of normal numbers, subnormal and special numbers, and random ones of all sizes.
std::vector<float> numbers_of_all_kinds() {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::vector<float> out = {0.0f,    -0.0f,          inf,      -inf,     1e-45f,
                            -1e-40f, 6e-8f,          65504.0f, 65519.9f, 65520.0f,
                            3.4e38f, -3.3953139e38f, 5.96e-8f, 2.98e-8f};
  for (unsigned low : {0x7fffu, 0x8000u, 0x8001u, 0x18000u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u})
    for (unsigned high : {0x3f800000u, 0xc1230000u, 0x00010000u, 0x7f7e0000u})
      out.push_back(std::bit_cast<float>(high + low));
  std::mt19937 random(static_cast<unsigned>(test_seed()));
  while (out.size() < 4096) {
    const float x = std::bit_cast<float>(static_cast<unsigned>(random()));
    if (x == x) out.push_back(x);
  }
  return out;
}

template <class T>
void check_narrowed(const on_both<rig::matrix<float>>& one, const on_both<rig::dense<float>>& x) {
  const auto here = rig::mxm<T>(one.here, x.here, rig::max_second<float>{});
  const auto there = rig::mxm<T>(one.there, x.there, rig::max_second<float>{}).to(rig::cpu());
  int wrong = 0;
  for (int j = 0; j < here.columns(); ++j) wrong += here(0, j).bits == there(0, j).bits ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("numbers are narrowed to the same bits as on the CPU, and arg-max keeps the bits") {
  const std::vector<float> numbers = numbers_of_all_kinds();
  rig::dense<float> x(1, static_cast<int>(numbers.size()));
  for (int j = 0; j < x.columns(); ++j) x(0, j) = numbers[static_cast<std::size_t>(j)];
  const int zero[] = {0};
  const on_both one(rig::matrix<float>::from_positions(1, 1, zero, zero));
  const on_both row(std::move(x));
  check_narrowed<rig::half>(one, row);
  check_narrowed<rig::bfloat16>(one, row);
  const auto here = rig::mxm(one.here, row.here, rig::arg_max_second<float>{}).values;
  const auto there =
      rig::mxm(one.there, row.there, rig::arg_max_second<float>{}).values.to(rig::cpu());
  int wrong = 0;
  for (int j = 0; j < here.columns(); ++j)
    wrong += std::bit_cast<unsigned>(here(0, j)) == std::bit_cast<unsigned>(there(0, j)) ? 0 : 1;
  CHECK(wrong == 0);
}

}  // namespace
