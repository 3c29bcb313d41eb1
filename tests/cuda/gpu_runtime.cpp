// The CUDA side around its kernels: places, faults, run-time compilation and its caches.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "child.hpp"
#include "cuda/device/arguments.cuh"
#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

RIG_SEMIRING(
    sum_of_squares, using left = float; using right = float; using accum = float;
    static constexpr bool ignores_left = true;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float, float b) { return b * b; });

RIG_SEMIRING(
    does_not_compile_on_a_gpu, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static float add(float x, float y) {
      return x + static_cast<float>(getpid() * 0) + y;
    } static float multiply(float a, float b) { return a * b; });

RIG_SEMIRING(
    moments_of_neighbours,
    struct moments {
      double count;
      double sum;
      double squares;
    };
    using left = float; using right = float; using accum = moments;
    static constexpr bool ignores_left = true; static constexpr moments zero() {
      return {0, 0, 0};
    } static constexpr moments add(moments x, moments y) {
      return {x.count + y.count, x.sum + y.sum, x.squares + y.squares};
    } static constexpr moments multiply(float, float b) {
      return {1, b, double(b) * b};
    });

RIG_SEMIRING(
    range_of_neighbours,
    struct seen {
      float least;
      float most;
      int count;
      int even;
      bool any;
    };
    using left = float; using right = float; using accum = seen;
    static constexpr bool ignores_left = true; static constexpr seen zero() {
      return {1e30f, -1e30f, 0, 0, false};
    } static constexpr seen add(seen x, seen y) {
      return {x.least < y.least ? x.least : y.least, x.most > y.most ? x.most : y.most,
              x.count + y.count, x.even + y.even, x.any || y.any};
    } static constexpr seen multiply(float, float b) {
      return {b, b, 1, static_cast<int>(b * 1000) % 2 == 0, true};
    } static constexpr float finish(seen x, rig::int64 n) {
      return x.any && x.count == n ? (x.most - x.least) * static_cast<float>(x.even) : -1;
    });

/// Summed from the last entry to the first.
RIG_SEMIRING(
    place_of_greatest,
    struct best {
      double value;
      int place;
    };
    using left = float; using right = float; using accum = best;
    static constexpr bool ignores_left = true; static constexpr best zero() {
      return {-1e300, 2147483647};
    } static constexpr best add(best x, best y) {
      return x.value > y.value || (x.value == y.value && x.place < y.place) ? x : y;
    } static constexpr bool replaces(best sum, best x) {
      return x.value >= sum.value;
    } static constexpr best multiply(float, float b, rig::position at) {
      return {b, at.inner};
    } static constexpr int finish(best x, rig::int64) { return x.place; });

/// Its text is not that of what it is made from.
struct made_from_another : sum_of_squares {
  static constexpr float multiply(float, float b) { return 2 * b * b; }
};
struct without_text {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float a, float b) { return a * b; }
};

namespace {

namespace files = std::filesystem;

struct folder {
  folder() : path(files::temp_directory_path() / ("rig_cache_" + std::to_string(getpid()))) {
    files::remove_all(path);
    setenv("RIG_CACHE_DIR", path.c_str(), 1);
  }
  ~folder() {
    unsetenv("RIG_CACHE_DIR");
    files::remove_all(path);
  }
  std::vector<files::path> kept() const {
    std::vector<files::path> out;
    if (files::exists(path))
      for (const auto& entry : files::directory_iterator(path)) out.push_back(entry.path());
    return out;
  }
  files::path path;
};

TEST_CASE("a round trip between places keeps every bit, also of strided views") {
  const rig::dense<float> b = waves(1000, 37);
  CHECK(distance(b, b.to(gpu).to(rig::cpu())) == 0);
  const auto view = rig::dense<float>::view(b.data() + 3, 1000, 20, 37);
  CHECK(distance(view, view.to(gpu).to(rig::cpu())) == 0);
  const rig::matrix<float> a = banded(5000), back = a.to(gpu).to(rig::cpu());
  CHECK(back.nnz() == a.nnz());
  for (rig::int64 p = 0; p < a.nnz(); ++p) REQUIRE(back.value(p) == a.value(p));
}

TEST_CASE("the error names operands in two places") {
  const auto a = banded(10);
  const auto b = waves(10, 4);
  CHECK(message_of([&] { rig::mxm(a.to(gpu), b, rig::plus_times<float>{}); }, rig::errc::place) ==
        "mxm: A is on cuda:0, B is on cpu; copy one with .to()");
  CHECK(message_of([&] { b.to(rig::cuda(40)); }, rig::errc::place).find("cuda:40") !=
        std::string::npos);
}

TEST_CASE("a semiring of the caller runs on both places") {
  const auto a = banded(300);
  const auto b = waves(300, 64);
  const auto here = rig::mxm(a, b, sum_of_squares{});
  const auto there = rig::mxm(a.to(gpu), b.to(gpu), sum_of_squares{}).to(rig::cpu());
  CHECK(distance(here, there) < 1e-4);
  const auto places = rig::mxm(a, b, place_of_greatest{});
  const auto on_gpu = rig::mxm(a.to(gpu), b.to(gpu), place_of_greatest{}).to(rig::cpu());
  int unlike = 0;
  for (int i = 0; i < places.rows(); ++i)
    for (int j = 0; j < places.columns(); ++j) unlike += places(i, j) == on_gpu(i, j) ? 0 : 1;
  CHECK(unlike == 0);
}

/// A matrix whose row i has columns 0 … lengths[i] − 1.
rig::matrix<float> rows_of(const std::vector<int>& lengths) {
  std::vector<int> offsets{0}, columns;
  for (const int length : lengths) {
    for (int k = 0; k < length; ++k) columns.push_back(k);
    offsets.push_back(offsets.back() + length);
  }
  const int most = *std::max_element(lengths.begin(), lengths.end());
  return rig::matrix<float>::from_csr(static_cast<int>(lengths.size()), most,
                                      std::span<const int>(offsets), std::span<const int>(columns));
}

/// Runs semirings in turn on one matrix, because each product of `spmv` reuses the marks of the one
/// before. Small integers make sums exact.
void check_chunks(const std::vector<int>& lengths) {
  const auto a = rows_of(lengths), on_gpu = a.to(gpu);
  rig::dense<float> b(a.columns(), 1);
  for (int k = 0; k < a.columns(); ++k) b(k, 0) = static_cast<float>(k * 7L % 5 - 2);
  const auto features = b.to(gpu);
  const rig::descriptor desc{.fill = 0, .kernel = "spmv"};
  const auto sums = rig::mxm(a, b, rig::plus_second<float>{}, {.fill = 0});
  const auto ranges = rig::mxm(a, b, range_of_neighbours{}, {.fill = 0});
  for (int run = 0; run < 3; ++run) {
    CAPTURE(run);
    CHECK(distance(sums,
                   rig::mxm(on_gpu, features, rig::plus_second<float>{}, desc).to(rig::cpu())) ==
          0);
    CHECK(distance(ranges,
                   rig::mxm(on_gpu, features, range_of_neighbours{}, desc).to(rig::cpu())) == 0);
  }
}

TEST_CASE("rows span chunks, and late blocks or blocks with work complete them") {
  constexpr int chunk = rig::on_cuda::chunk_items, completed_behind = rig::on_cuda::blocks_behind;
  // More than 2100 chunks: rows of 40 chunks, one row of over a thousand, and short rows.
  std::vector<int> lengths{5, chunk - 1, 2 * chunk - 1, 0, 3 * chunk};
  for (int i = 0; i < 30; ++i) lengths.push_back(40 * chunk - 1);
  lengths.push_back((completed_behind + 76) * chunk);
  for (int i = 0; i < 20; ++i) lengths.push_back(i % 2 == 0 ? 0 : 11 * chunk + i);
  check_chunks(lengths);
  // Rows of half a chunk, the first slightly shorter, so that every second row crosses chunks.
  for (const int chunks : {1, 2, completed_behind - 1, completed_behind, completed_behind + 1}) {
    CAPTURE(chunks);
    std::vector<int> halves(static_cast<std::size_t>(2 * chunks), chunk / 2 - 1);
    halves[0] -= 7;
    check_chunks(halves);
  }
}

TEST_CASE("results that do not fit the kernels' arguments are refused") {
  const auto a = banded(10);
  const auto b = waves(10, 4);
  CHECK(rig::mxm(a, b, moments_of_neighbours{})(0, 0).count == 4);
  const std::string said = message_of(
      [&] { rig::mxm(a.to(gpu), b.to(gpu), moments_of_neighbours{}); }, rig::errc::cannot);
  CHECK_MESSAGE(said.find("more than 16 bytes") != std::string::npos, said);
}

TEST_CASE("errors of the GPU's compiler keep its words, with file and line") {
  const auto a = banded(10).to(gpu);
  const auto b = waves(10, 4).to(gpu);
  const std::string said =
      message_of([&] { rig::mxm(a, b, does_not_compile_on_a_gpu{}); }, rig::errc::cannot);
  CHECK(said.find("gpu_runtime.cpp:") != std::string::npos);
  CHECK(said.find("getpid") != std::string::npos);
  const std::string refused =
      message_of([&] { rig::mxm(a, b, without_text{}, {.kernel = "row"}); }, rig::errc::cannot);
  CHECK(refused.find("RIG_SEMIRING") != std::string::npos);
  CHECK(
      message_of([&] { rig::mxm(a, b, made_from_another{}, {.kernel = "row"}); }, rig::errc::cannot)
          .find("RIG_SEMIRING") != std::string::npos);
}

TEST_CASE("a product without elements, or of a semiring without text, derives nothing") {
  const auto a = banded(100).to(gpu);
  const auto c = rig::mxm(a, waves(100, 0).to(gpu), rig::plus_times<float>{});
  CHECK(c.columns() == 0);
  CHECK_THROWS_AS(rig::mxm(a, waves(100, 8).to(gpu), without_text{}), rig::error);
  CHECK(a.derived_structures().empty());
}

// The children select their test by this constant: a wrong name would run no test, and pass.
constexpr const char* one_product = "child: one product";
constexpr const char* a_fault = "child: a fault";
constexpr const char* at_exit = "child: products while the process ends";

/// The child starts with an empty memory cache.
int product_in_a_child() { return result_of(start_child(one_product)); }

TEST_CASE(one_product* doctest::skip()) {
  const auto a = banded(200);
  const auto b = waves(200, 32);
  CHECK(distance(rig::mxm(a, b, sum_of_squares{}),
                 rig::mxm(a.to(gpu), b.to(gpu), sum_of_squares{}).to(rig::cpu())) < 1e-4);
}

TEST_CASE("the disk cache is kept, read, rebuilt if damaged, and skipped if it cannot be written") {
  const folder cache;
  REQUIRE(product_in_a_child() == 0);
  REQUIRE(cache.kept().size() == 1);
  const files::path kept = cache.kept()[0];
  const auto size = files::file_size(kept);
  const auto time = files::last_write_time(kept);
  REQUIRE(product_in_a_child() == 0);
  CHECK(files::last_write_time(kept) == time);

  files::resize_file(kept, size / 2);
  REQUIRE(product_in_a_child() == 0);
  CHECK(files::file_size(kept) == size);
  const auto middle = static_cast<std::streamoff>(size / 2);
  const std::string damage = "damage";
  std::fstream(kept, std::ios::in | std::ios::out | std::ios::binary).seekp(middle) << damage;
  REQUIRE(product_in_a_child() == 0);
  CHECK(files::file_size(kept) == size);
  std::string rebuilt = damage;
  std::ifstream(kept, std::ios::binary).seekg(middle).read(rebuilt.data(), 6);
  CHECK(rebuilt != damage);
  files::resize_file(kept, std::uintmax_t{1} << 33);
  REQUIRE(product_in_a_child() == 0);
  CHECK(files::file_size(kept) == size);

  files::remove(kept);
  files::create_directory(kept);
  CHECK(product_in_a_child() == 0);

  setenv("RIG_CACHE_DIR", "/proc/no/such/folder", 1);
  CHECK(product_in_a_child() == 0);
  setenv("RIG_CACHE", "off", 1);
  setenv("RIG_CACHE_DIR", (cache.path / "off").c_str(), 1);
  CHECK(product_in_a_child() == 0);
  CHECK(!files::exists(cache.path / "off"));
  unsetenv("RIG_CACHE");
}

TEST_CASE("the disk cache neither reads nor writes files that others may write") {
  const folder cache;
  REQUIRE(product_in_a_child() == 0);
  REQUIRE(cache.kept().size() == 1);
  const auto nobody_else = files::perms::group_all | files::perms::others_all;
  const files::path kept = cache.kept()[0];
  CHECK((files::status(cache.path).permissions() & nobody_else) == files::perms::none);
  CHECK((files::status(kept).permissions() & nobody_else) == files::perms::none);

  // A file that others may write is compiled anew; so is a link, and the new file replaces it.
  const auto time = files::last_write_time(kept);
  files::permissions(kept, files::perms::others_write, files::perm_options::add);
  REQUIRE(product_in_a_child() == 0);
  CHECK(files::last_write_time(kept) != time);
  CHECK((files::status(kept).permissions() & nobody_else) == files::perms::none);
  const files::path elsewhere = cache.path.string() + "_elsewhere";
  files::rename(kept, elsewhere);
  files::create_symlink(elsewhere, kept);
  REQUIRE(product_in_a_child() == 0);
  CHECK(!files::is_symlink(kept));
  files::remove(elsewhere);

  // A folder that others may write is not used.
  files::remove(kept);
  files::permissions(cache.path, files::perms::others_write, files::perm_options::add);
  REQUIRE(product_in_a_child() == 0);
  CHECK(cache.kept().empty());
}

/// The last action of the process runs products of kinds that it has not run before.
TEST_CASE(at_exit* doctest::skip()) {
  static auto& a = *new rig::matrix<float>();
  static auto& b = *new rig::dense<float>();
  std::atexit([] {
    try {
      rig::mxm(a, b, rig::min_plus<float>{});
      rig::mxm(a, b, rig::plus_times<float>{}, {.transpose_a = true});
      rig::mxm(a, rig::maxk(b, 4), rig::max_second<float>{});
    } catch (const rig::error&) {
      // CUDA may be unloaded already.
    }
  });
  a = banded(500).to(gpu);
  b = waves(500, 32).to(gpu);
  rig::mxm(a, b, rig::max_second<float>{});
  // The thread runs until the process ends.
  std::thread([] {
    try {
      for (;;) rig::mxm(a, b, rig::max_second<float>{});
    } catch (const rig::error&) {
    }
  }).detach();
}

TEST_CASE("products may run while the process exits") {
  for (int run = 0; run < 3; ++run) CHECK(result_of(start_child(at_exit)) == 0);
}

TEST_CASE("eight processes on an empty cache") {
  const folder cache;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) children.push_back(start_child(one_product));
  for (const pid_t child : children) CHECK(result_of(child) == 0);
  CHECK(cache.kept().size() == 1);
}

/// The fault makes the device unusable for this process.
TEST_CASE(a_fault* doctest::skip()) {
  // A trusted view whose column is far outside B.
  const std::vector<rig::int32> offsets = {0, 1};
  const std::vector<rig::index> columns = {1 << 30};
  void *there = nullptr, *starts = nullptr;
  REQUIRE(cudaMalloc(&there, sizeof(rig::index)) == cudaSuccess);
  REQUIRE(cudaMalloc(&starts, 2 * sizeof(rig::int32)) == cudaSuccess);
  REQUIRE(cudaMemcpy(there, columns.data(), sizeof(rig::index), cudaMemcpyHostToDevice) ==
          cudaSuccess);
  REQUIRE(cudaMemcpy(starts, offsets.data(), 2 * sizeof(rig::int32), cudaMemcpyHostToDevice) ==
          cudaSuccess);
  const rig::matrix<float> a(rig::pattern_view(
      1, 2, std::span(static_cast<const rig::int32*>(starts), 2),
      std::span(static_cast<const rig::index*>(there), 1), rig::input::trusted, gpu));
  const auto b = waves(2, 64).to(gpu);
  const auto c = rig::mxm(a, b, rig::plus_second<float>{}, {.kernel = "row"});
  for (const auto& wait : {std::function<void()>([] { rig::synchronise(gpu); }),
                           std::function<void()>([&] { c.to(rig::cpu()); }),
                           std::function<void()>([] { waves(2, 64).to(gpu); })}) {
    const std::string said = message_of(wait, rig::errc::device);
    CHECK_MESSAGE(said.find("cudaErrorIllegalAddress") != std::string::npos, said);
    CHECK_MESSAGE(said.find("rig's last kernel on cuda:0 is row") != std::string::npos, said);
  }
}

TEST_CASE("the next call that waits reports a fault, with the kernel's name") {
  CHECK(result_of(start_child(a_fault)) == 0);
}

TEST_CASE("elements on a device are not a range of the host") {
  rig::dense<float> d = rig::dense<float>(2, 3).to(rig::cuda());
  check_error(rig::errc::place, {"2x3", "cuda:0", "to()"}, [&] { d.begin(); });
  check_error(rig::errc::place, {"cuda:0"}, [&] { std::as_const(d).span(); });
  check_error(rig::errc::place, {"cuda:0"}, [&] { d.row(0); });
}

}  // namespace
