// Label big: more entries than 32 bits count. The matrix is made on the device, where it takes 9
// GB.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <vector>

#include "gpu.hpp"
#include "rig/mxm.hpp"

namespace {

TEST_CASE("2^31 + 8 entries, most of them in one row") {
  constexpr rig::int64 nnz = (rig::int64{1} << 31) + 8;
  std::size_t free_bytes = 0, all_bytes = 0;
  REQUIRE(cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess);
  if (free_bytes < 12ul << 30) {
    MESSAGE("SKIPPED: needs 12 GB of device memory, ", free_bytes, " bytes are free");
    return;
  }
  // Rows 0 and 2 have four entries; every entry is column 0, so B's first row is all that counts.
  // Columns that repeat are nothing a checked matrix may have, but a trusted one sums them.
  const std::vector<rig::int64> offsets = {0, 4, nnz - 4, nnz};
  void *columns = nullptr, *starts = nullptr;
  REQUIRE(cudaMalloc(&columns, static_cast<std::size_t>(nnz) * sizeof(rig::index)) == cudaSuccess);
  REQUIRE(cudaMemset(columns, 0, static_cast<std::size_t>(nnz) * sizeof(rig::index)) ==
          cudaSuccess);
  REQUIRE(cudaMalloc(&starts, offsets.size() * sizeof(rig::int64)) == cudaSuccess);
  REQUIRE(cudaMemcpy(starts, offsets.data(), offsets.size() * sizeof(rig::int64),
                     cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const auto* entries = static_cast<const rig::index*>(columns);
  const auto* device_offsets = static_cast<const rig::int64*>(starts);
  {
    const auto pattern =
        rig::pattern_view(3, 2, std::span<const rig::int64>(device_offsets, offsets.size()),
                          std::span<const rig::index>(entries, static_cast<std::size_t>(nnz)),
                          rig::input::trusted, gpu);
    const rig::matrix<double> a(pattern);
    const auto b = rig::dense<double>(2, 2, 1.0).to(gpu);
    for (const char* kernel : {"split", ""}) {
      const auto c = rig::mxm(a, b, rig::plus_second<double>{}, {.kernel = kernel}).to(rig::cpu());
      CHECK(c(0, 0) == 4);
      CHECK(c(1, 0) == static_cast<double>(nnz - 8));
      CHECK(c(1, 1) == static_cast<double>(nnz - 8));
      CHECK(c(2, 1) == 4);
    }
  }
  cudaFree(columns);
  cudaFree(starts);
}

}  // namespace
