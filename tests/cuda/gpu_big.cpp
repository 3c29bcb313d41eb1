// Label big: more entries than 32 bits count. The device makes the matrices. Entries and values
// take up to 26 GB, and making their transpose takes 78 GB more.

#include <array>
#include <numeric>
#include <vector>

#include "gpu_cases.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace {

constexpr rig::int64 nnz = (rig::int64{1} << 31) + 8;

bool has_free(std::size_t gigabytes) {
  rig::synchronise(gpu);
  cudaMemPool_t pool = nullptr;  // keeps the memory that earlier tests freed
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, gpu.device) == cudaSuccess);
  REQUIRE(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  std::size_t free_bytes = 0, all_bytes = 0;
  REQUIRE(cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess);
  if (free_bytes >= gigabytes << 30) return true;
  MESSAGE("SKIPPED: needs ", gigabytes, " GB of device memory, ", free_bytes, " bytes are free");
  return false;
}

/// An array of `count` elements on the device.
template <class T>
class array {
 public:
  explicit array(rig::int64 count) : count_(static_cast<std::size_t>(count)) {
    REQUIRE(cudaMalloc(&data_, count_ * sizeof(T)) == cudaSuccess);
  }
  array(rig::int64 count, T value) : array(count) {
    put(0, value);
    for (std::size_t done = 1; done < count_; done *= 2)
      REQUIRE(cudaMemcpy(static_cast<T*>(data_) + done, data_,
                         std::min(done, count_ - done) * sizeof(T),
                         cudaMemcpyDeviceToDevice) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  array(const array&) = delete;
  ~array() { cudaFree(data_); }

  void put(rig::int64 at, T value) {
    REQUIRE(cudaMemcpy(static_cast<T*>(data_) + at, &value, sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
  }
  std::span<const T> view() const { return {static_cast<const T*>(data_), count_}; }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

/// 3×2: rows 0 and 2 have four entries, and row 1 has the others. All entries lie in column 0,
/// except those of row 2, which lie in column 1. Only a trusted matrix may repeat columns; products
/// sum them.
class structure {
 public:
  structure() : offsets_(4), columns_(nnz, 0) {
    const std::array<rig::int64, 4> offsets = {0, 4, nnz - 4, nnz};
    for (std::size_t i = 0; i < offsets.size(); ++i)
      offsets_.put(static_cast<rig::int64>(i), offsets[i]);
    for (rig::int64 p = nnz - 4; p < nnz; ++p) columns_.put(p, 1);
  }
  std::shared_ptr<const rig::pattern> view() const {
    return rig::pattern_view(3, 2, offsets_.view(), columns_.view(), rig::input::trusted, gpu);
  }
  template <class T>
  rig::matrix<T> with(const array<T>& values) const {
    return rig::matrix<T>::view(3, 2, offsets_.view(), columns_.view(), values.view(),
                                rig::input::trusted, gpu);
  }

 private:
  array<rig::int64> offsets_;
  array<rig::index> columns_;
};

TEST_CASE("2^31 + 8 entries, most of them in one row") {
  if (!has_free(12)) return;
  const structure s;
  const rig::matrix<double> a(s.view());
  const auto b = rig::dense<double>(2, 2, 1.0).to(gpu);
  for (const char* kernel : {"split", ""}) {
    const auto c = rig::mxm(a, b, rig::plus_second<double>{}, {.kernel = kernel}).to(rig::cpu());
    CHECK(c(0, 0) == 4);
    CHECK(c(1, 0) == static_cast<double>(nnz - 8));
    CHECK(c(1, 1) == static_cast<double>(nnz - 8));
    CHECK(c(2, 1) == 4);
  }
}

/// Every value is 1 except one value of row 1 and two of row 2 beyond 2^31, which are `odd`. All
/// sums are exact.
template <class T>
void check_values(T odd) {
  const structure s;
  array<T> values(nnz, T(1));
  for (const rig::int64 p : {nnz - 6, nnz - 4, nnz - 2}) values.put(p, odd);
  const rig::matrix<T> a = s.with(values);
  const double row_1 = static_cast<double>(nnz - 9) + static_cast<double>(odd),
               row_2 = 2 + 2 * static_cast<double>(odd);

  const auto b = rig::dense<double>::from(2, 2, std::vector<double>{1, 2, 10, 20}).to(gpu);
  for (const char* kernel : {"split", ""}) {
    const auto c = rig::mxm(a, b, rig::plus_times<double>{}, {.kernel = kernel}).to(rig::cpu());
    for (int j = 0; j < 2; ++j) {
      CHECK(c(0, j) == 4 * (j + 1));
      CHECK(c(1, j) == row_1 * (j + 1));
      CHECK(c(2, j) == row_2 * 10 * (j + 1));
    }
  }

  const auto x = rig::dense<double>::from(3, 2, std::vector<double>{1, 2, 3, 6, 10, 20}).to(gpu);
  const auto c = rig::mxm(a, x, rig::plus_times<double>{}, {.transpose_a = true}).to(rig::cpu());
  for (int j = 0; j < 2; ++j) {
    CHECK(c(0, j) == (4 + 3 * row_1) * (j + 1));
    CHECK(c(1, j) == row_2 * 10 * (j + 1));
  }
}

TEST_CASE("a product with more than 2^31 entries") {
  if (!has_free(40)) return;
  constexpr rig::index n = 46342;
  std::vector<rig::index> all(n);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<rig::index> none(n, 0);
  const auto column = rig::matrix<bool>::from_positions(n, 1, all, none, true).to(gpu),
             row = rig::matrix<bool>::from_positions(1, n, none, all, true).to(gpu);
  const auto c = rig::mxm(column, row, rig::any_pair<bool>());
  CHECK(c.nnz() == rig::int64{n} * n);
  // Each row has each column once, in order.
  rig::dense<rig::int64> numbers(n, 1);
  for (rig::index j = 0; j < n; ++j) numbers(j, 0) = j;
  const auto sums = rig::mxm(c, numbers.to(gpu), rig::plus_second<rig::int64>()).to(rig::cpu());
  int wrong = 0;
  for (const rig::int64 sum : sums) wrong += sum != rig::int64{n} * (n - 1) / 2;
  CHECK(wrong == 0);
  const auto last = rig::extract_row(c, n - 1).to(rig::cpu());
  CHECK(last.nnz() == n);
  for (rig::index j = 0; j < n; ++j) wrong += last.indices()[j] != j;
  CHECK(wrong == 0);
}

TEST_CASE("values beyond 2^31, stored in the type of the products; the transpose") {
  if (has_free(110)) check_values<double>(0.5);
}

TEST_CASE("values beyond 2^31, converted first; the transpose") {
  if (has_free(95)) check_values<bool>(false);
}

}  // namespace
