// Memory that runs out on one rank is an error on all of them, wherever it runs out.

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "distributed/product_cases.hpp"
#include "io/files.hpp"

namespace {

constexpr long never = -1;
thread_local long until_failure = never;  // allocations of this thread that still succeed

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (until_failure != never && until_failure-- == 0) throw std::bad_alloc();
  void* const p = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t n) { return allocate(n, usual); }
void* operator new[](std::size_t n) { return allocate(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::matrix;

struct operands {
  matrix<float> whole_a = random_matrix<float>(12, 12, 4, 1);
  dense<float> whole_x = random_dense<float>(12, 5, 2);
  rig::quantized codes = rig::quantized::from(whole_x);
  rig::layout rows =
      rig::layout::by_partition(std::vector<int>{0, 1, 2, 0, 1, 2, 2, 1, 0, 2, 1, 0}, 3);
  distributed<matrix<float>> a;
  distributed<matrix<float>> ones;
  distributed<dense<float>> x;
  explicit operands(const rig::communicator& here)
      : a(distributed<matrix<float>>::from_whole(here, whole_a, rows)),
        ones(a.with_value(1.0f)),
        x(distributed<dense<float>>::from_whole(here, whole_x, rows)) {}
};
const std::string edges = file_of("edges.txt", "0 1 2\n1 0 3\n2 0 1\n0 2 5\n");

using call = std::function<void(const rig::communicator&, const operands&)>;

/// Makes the first, second, third … allocation of rank 1 fail, until there are no more. Returns how
/// many failed the call: `read_matrix` starts again with less.
int fail_each(const call& work) {
  int failures = 0;
  for (int n = 0; n < 10'000; ++n) {
    bool is_over = false;
    const auto thrown = run(3, [&](const rig::communicator& here) {
      const operands of(here);
      if (here.rank() == 1) until_failure = n;
      const auto stop = [&] {
        if (here.rank() == 1) is_over = until_failure != never;
        until_failure = never;
      };
      try {
        work(here, of);
      } catch (...) {
        stop();
        throw;
      }
      stop();
    });
    failures += thrown[1] != nullptr;
    for (const auto& other : thrown) {
      CHECK((other == nullptr) == (thrown[1] == nullptr));
      if (other == nullptr) continue;
      try {
        std::rethrow_exception(other);
      } catch (const rig::error& cause) {
        CHECK_MESSAGE(cause.code() == rig::errc::out_of_memory, cause.what());
        CHECK_MESSAGE(std::string(cause.what()).find("rank 1 of 3") != std::string::npos,
                      cause.what());
      }
    }
    if (is_over) return failures;
  }
  return -1;
}

TEST_CASE("each allocation of one rank") {
  using sums = rig::plus_times<float>;
  const std::pair<const char*, call> calls[] = {
      {"layout", [](const auto& here, const operands&) { rig::layout::contiguous(here, 4); }},
      {"from_whole",
       [](const auto& here, const operands& of) {
         distributed<matrix<float>>::from_whole(here, of.whole_a, of.rows);
         distributed<dense<float>>::from_whole(here, of.whole_x, of.rows);
       }},
      {"fetch", [](const auto&, const operands& of) { rig::mxm(of.a, of.x, sums()); }},
      {"sparse", [](const auto&, const operands& of) { rig::mxm(of.a, of.ones, sums()); }},
      {"features",
       [](const auto&, const operands& of) {
         rig::mxm(of.a, of.x, sums(), {.exchange = rig::exchange::features});
       }},
      {"cover",
       [](const auto&, const operands& of) {
         rig::mxm(of.a, of.x, rig::max_second<float>(), {.exchange = rig::exchange::cover});
       }},
      {"prepare", [](const auto&, const operands& of) { of.a.prepare(of.rows); }},
      {"gather",
       [](const auto&, const operands& of) {
         of.x.by_rows();
         of.x.by_features().gather();
       }},
      {"read_matrix",
       [](const auto& here, const operands&) { rig::read_matrix<float>(here, edges); }},
      {"codes",
       [](const auto& here, const operands& of) {
         const auto x = distributed<rig::quantized>::from_whole(here, of.codes, of.rows);
         rig::mxm(of.a, x, sums());
       }},
      {"transposed",
       [](const auto&, const operands& of) {
         rig::mxm(of.a, of.x, sums(), {.transpose_a = true});
       }},
      {"closure", [](const auto&,
                     const operands& of) { rig::closure(of.x, of.ones, rig::min_plus<float>()); }},
      {"bfs", [](const auto&, const operands& of) { rig::bfs(of.a, 0); }},
      {"sssp", [](const auto&, const operands& of) { rig::sssp(of.ones, 0); }},
      {"components", [](const auto&, const operands& of) { rig::components(of.a); }},
      {"pagerank",
       [](const auto&, const operands& of) { rig::pagerank(of.a, {.most_iterations = 2}); }},
      {"explain", [](const auto&, const operands& of) { rig::explain(of.a, of.x, sums()); }},
      {"explain sparse",
       [](const auto&, const operands& of) { rig::explain(of.a, of.ones, sums()); }},
  };
  for (const auto& [name, work] : calls) {
    CAPTURE(std::string(name));
    CHECK(fail_each(work) > 0);
  }
}

}  // namespace
