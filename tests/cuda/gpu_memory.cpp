// Device memory: exhaustion, the state after it, and allocators of the caller.

#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace {

TEST_CASE("the out-of-memory error states the bytes, and the device stays usable") {
  const auto a = banded(1000).to(gpu);
  std::vector<rig::dense<float>> full;
  const std::string said = message_of(
      [&] {
        for (;;) full.push_back(rig::dense<float>::uninitialised(1 << 20, 1 << 12, gpu));
      },
      rig::errc::out_of_memory);
  CHECK(said.find(std::to_string((1l << 32) * 4)) != std::string::npos);
  full.clear();
  const auto b = waves(1000, 8);
  CHECK(distance(rig::mxm(banded(1000), b, rig::plus_times<float>{}),
                 rig::mxm(a, b.to(gpu), rig::plus_times<float>{}).to(rig::cpu())) < 1e-4);
}

TEST_CASE("a result that does not fit is refused with its bytes, and the inputs stay") {
  constexpr rig::index rows = 1 << 21, features = 1 << 16;
  std::vector<int> i, j;
  std::vector<float> v;
  for (int row = 0; row < rows; row += 1000) {
    i.push_back(row);
    j.push_back(row / 1000 % 16);
    v.push_back(static_cast<float>(row % 7));
  }
  const auto a = rig::matrix<float>::from_tuples(rows, 16, i, j, v), on_gpu = a.to(gpu);
  const auto b = waves(16, features), wide = b.to(gpu);
  const std::string said = message_of([&] { rig::mxm(on_gpu, wide, rig::plus_times<float>{}); },
                                      rig::errc::out_of_memory);
  CHECK_MESSAGE(said.find(std::to_string((1l << 37) * 4) + " bytes on cuda:0") != std::string::npos,
                said);
  CHECK(distance(b, wide.to(rig::cpu())) == 0);
  const auto few = rig::dense<float>::view(wide.data(), 16, 8, features, gpu);
  const auto here = rig::dense<float>::view(b.data(), 16, 8, features);
  CHECK(distance(rig::mxm(a, here, rig::plus_times<float>{}),
                 rig::mxm(on_gpu, few, rig::plus_times<float>{}).to(rig::cpu())) < 1e-4);
}

TEST_CASE("every allocation of a product may fail: C stays, and so do the inputs") {
  failing_allocator allocator;
  const auto a = hubs(2500), on_gpu = a.to(gpu);
  const auto b = waves(41, 2500), before = waves(2500, 41);
  const auto features = b.to(gpu), before_there = before.to(gpu);
  for (const bool transpose : {false, true}) {
    const rig::descriptor desc = {.transpose_a = transpose, .transpose_b = true, .kernel = "split"};
    // With an accumulator; B of odd width is padded.
    auto expected = before;
    rig::mxm(expected, rig::accumulator::plus, a, b, rig::plus_times<float>{}, desc);
    auto c = before_there;
    on_gpu.drop_derived();
    const int failures = allocator.until_success(
        [&] {
          rig::mxm(c, rig::accumulator::plus, on_gpu, features, rig::plus_times<float>{}, desc);
        },
        [&] {
          CHECK(distance(before, c.to(rig::cpu())) == 0);
          on_gpu.drop_derived();
        });
    CHECK(distance(expected, c.to(rig::cpu())) < 1e-2);
    // Untransposed: B transposed, row lists of A, B padded, and, for row segments, counters and
    // sums. Transposed: Aᵀ and its values replace those of the segments, because Aᵀ has no long
    // rows.
    CHECK(failures >= (transpose ? 4 : 5));
  }
  CHECK(distance(b, features.to(rig::cpu())) == 0);
}

struct counted {
  int taken = 0, given = 0;
};

TEST_CASE("device memory may come from the caller") {
  static counted calls;
  rig::set_device_allocator(
      {[](std::size_t bytes, int, void* stream, void* context) -> void* {
         ++static_cast<counted*>(context)->taken;
         void* data = nullptr;
         return cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess
                    ? data
                    : nullptr;
       },
       [](void* data, std::size_t, int, void* stream, void* context) {
         ++static_cast<counted*>(context)->given;
         cudaFreeAsync(data, static_cast<cudaStream_t>(stream));
       },
       &calls});
  { const auto a = banded(100).to(gpu); }
  rig::set_device_allocator({});
  CHECK(calls.taken > 0);
  CHECK(calls.taken == calls.given);
}

/// The caller's allocator, which has no block of more than 256 MiB.
void* allocate_little(std::size_t bytes, int, void* stream, void*) {
  void* data = nullptr;
  return bytes <= 1u << 28 &&
                 cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess
             ? data
             : nullptr;
}
void release_little(void* data, std::size_t, int, void* stream, void*) {
  cudaFreeAsync(data, static_cast<cudaStream_t>(stream));
}

/// Each row of the product of A and B is the one row of B.
struct copies_of_a_row {
  rig::matrix<float> a, b;

  copies_of_a_row(int rows, int columns, int of_b)
      : a(rig::matrix<float>::from_positions(rows, 1, upto(rows, 1), std::vector<int>(rows, 0))
              .to(gpu)),
        b(rig::matrix<float>::from_positions(1, columns, std::vector<int>(of_b, 0),
                                             upto(of_b, columns / of_b), 2.0f)
              .to(gpu)) {}
  static std::vector<int> upto(int count, int step) {
    std::vector<int> out;
    for (int k = 0; k < count; ++k) out.push_back(k * step);
    return out;
  }
};

TEST_CASE("rows of many products over many columns name the memory that they need") {
  constexpr int rows = 20000, columns = 1 << 24, of_b = 600000;
  const copies_of_a_row of(rows, columns, of_b);
  const auto diagonal = copies_of_a_row::upto(rows, 1);
  const auto mask = rig::matrix<float>::from_positions(rows, columns, diagonal, diagonal).to(gpu);
  rig::set_device_allocator({&allocate_little, &release_little, nullptr});
  const rig::descriptor desc{.kernel = "gustavson"};
  // Windows have 4096 columns: 4096 of them, 16 bytes each, per row; 24 under a mask.
  check_error(rig::errc::out_of_memory,
              {"mxm", "gustavson", "1310720000 bytes on cuda:0", "20000 rows", "524287 products",
               "4096 windows", "multiply some rows of the product at a time"},
              [&] { rig::mxm(of.a, of.b, rig::plus_times<float>{}, desc); });
  check_error(rig::errc::out_of_memory, {"gustavson", "1966080000 bytes", "some rows"},
              [&] { rig::mxm(of.a, of.b, rig::plus_times<float>{}, rig::structure(mask), desc); });
  // The remedy.
  const auto part = rig::mxm(rig::extract(of.a, rig::range{0, 10}, rig::all), of.b,
                             rig::plus_times<float>{}, desc);
  CHECK(part.nnz() == 10l * of_b);
  rig::set_device_allocator({});
}

TEST_CASE("rows of some products over many columns need memory by their products alone") {
  const copies_of_a_row some(20000, 1 << 24, 2000), more(20, 1 << 24, 500000);
  rig::set_device_allocator({&allocate_little, &release_little, nullptr});
  const rig::descriptor desc{.kernel = "gustavson"};
  for (const copies_of_a_row* of : {&some, &more})
    CHECK(rig::mxm(of->a, of->b, rig::plus_times<float>{}, desc).nnz() ==
          of->a.nnz() * of->b.nnz());
  rig::set_device_allocator({});
}

}  // namespace
