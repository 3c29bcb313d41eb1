// Parts of a matrix on a device, whose ranks are threads: products with the bits of one device, and
// what is refused.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distributed/product_cases.hpp"
#include "gpu.hpp"
#include "provoked.hpp"
#include "rig/user_semiring.hpp"

RIG_SEMIRING(
    eased, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) {
      return a * b;
    } static constexpr float finish(float x, rig::int64 n) { return x / float(1 + n); });
RIG_SEMIRING(
    placed, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b, rig::position at) {
      return a * b * float(1 + at.row) + float(at.inner);
    });
RIG_SEMIRING(
    of_colours, using left = float; struct right { float r, g, b; }; using accum = right;
    static constexpr right zero() { return {}; } static constexpr right add(right x, right y) {
      return {x.r + y.r, x.g + y.g, x.b + y.b};
    } static constexpr right multiply(float a, right x) {
      return {a * x.r, a * x.g, a * x.b};
    });

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;

template <class T>
rig::place place_of(const distributed<dense<T>>& of) {
  return of.local().where();
}
template <class T>
rig::place place_of(const distributed<rig::indexed_dense<T>>& of) {
  return of.values.local().where();
}

/// The layout of X: that of A's rows if A is square, else one of A's columns.
rig::layout inner_layout(const rig::pattern& a, const rig::layout& rows, int ranks) {
  if (a.rows() == a.columns()) return rows;
  std::vector<int> rank_of_row;
  for (index j = 0; j < a.columns(); ++j) rank_of_row.push_back(j % ranks);
  return rig::layout::by_partition(rank_of_row, ranks);
}

/// Copies messages on a device from there, or to it; the others pass the host alone.
void exchange_by_host(void* state, std::span<const rig::message> sends,
                      std::span<const rig::message> receives, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  std::vector<std::vector<char>> held;
  const auto on_host = [&](std::span<const rig::message> messages) {
    std::vector<rig::message> out;
    for (const rig::message& m : messages)
      out.push_back({m.rank, held.emplace_back(m.bytes).data(), m.bytes});
    return out;
  };
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    if (cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on) != cudaSuccess ||
        cudaStreamSynchronize(on) != cudaSuccess)
      rig::fail(rig::errc::device, {"exchange_by_host"});
  };
  const auto out = on_host(sends), in = on_host(receives);
  for (std::size_t k = 0; k < out.size(); ++k) copy(out[k].data, sends[k].data, out[k].bytes);
  static_cast<rig::communicator*>(state)->exchange(out, in);
  for (std::size_t k = 0; k < in.size(); ++k) copy(receives[k].data, in[k].data, in[k].bytes);
}

/// The same rank, by a transport that takes messages on devices.
rig::communicator reaching_devices(const rig::communicator& rank) {
  static constexpr rig::communicator::functions calls = {
      exchange_by_host,
      [](void* state, rig::int64 number, rig::joining how) {
        return static_cast<rig::communicator*>(state)->all_reduce(number, how);
      },
      [](void* state) { static_cast<rig::communicator*>(state)->barrier(); }, true};
  return {rank.rank(), rank.size(), calls, std::make_shared<rig::communicator>(rank)};
}

/// Whether X is by features there and back, and a product of it has the bits of one device by the
/// kernel that the ranks name.
template <class S, class TA, class TX>
void compare_by_features(const distributed<matrix<TA>>& part, const distributed<dense<TX>>& of_x,
                         const matrix<TA>& whole, const dense<TX>& features,
                         const rig::descriptor& desc) {
  const auto columns = of_x.by_features();
  require(place_of(columns) == gpu && same_bits(columns.gather(), of_x.gather()), "by_features");
  require(same_bits(columns.by_rows().local().to(rig::cpu()), of_x.local().to(rig::cpu())),
          "by_rows");
  rig::descriptor one = desc;
  one.kernel = rig::explain(part, columns, S(), desc).kernel;
  const auto found = rig::mxm(part, columns, S(), desc);
  require(place_of(found) == gpu, "the result by features is not on the device");
  require(same_bits(found.gather(), on_host(rig::mxm(whole, features, S(), one))),
          words_of(rig::name_of<S>(), part.communicator().size(), 0, features.columns()) +
              ", by features, kernel " + one.kernel);
}

/// A product of ranks beside that of one device by the kernel that the ranks name.
template <class S, class TA, class TX>
void compare_on_device(const matrix<TA>& a, const dense<TX>& x, rig::descriptor desc = {},
                       bool in_slices = false) {
  const auto whole = a.to(gpu);
  const auto features = x.to(gpu);
  const std::vector<int> sizes = in_slices ? std::vector{2, 3} : std::vector{1, 2, 5};
  for (const int size : sizes)
    for (const int kind : {0, 1}) {
      const auto rows = layout_of(a.structure(), size, kind, 3);
      const auto inner = inner_layout(a.structure(), rows, size);
      run_all(size, [&](const rig::communicator& rank) {
        const rig::communicator here = in_slices ? reaching_devices(rank) : rank;
        const auto part = distributed<matrix<TA>>::from_whole(here, a, rows).to(gpu);
        const auto of_x = distributed<dense<TX>>::from_whole(here, x, inner).to(gpu);
        require(part.gather() == a, "gather");
        rig::descriptor one = desc;
        const auto why = rig::explain(part, of_x, S(), desc);
        require((why.slices > 1) == in_slices, "slices: " + std::to_string(why.slices));
        one.kernel = why.kernel;
        const auto found = rig::mxm(part, of_x, S(), desc);
        require(place_of(found) == gpu, "the result is not on the device");
        require(same_bits(found.gather(), on_host(rig::mxm(whole, features, S(), one))),
                words_of(rig::name_of<S>(), size, kind, x.columns()) + ", kernel " + one.kernel);
        if (!in_slices) compare_by_features<S>(part, of_x, whole, features, desc);
      });
    }
}

template <class S>
void sweep(const matrix<float>& a, const std::vector<index>& widths) {
  for (const index features : widths)
    compare_on_device<S>(a, random_dense<float>(a.columns(), features, 5));
}

TEST_CASE("products of parts on a device have the bits of one device") {
  SUBCASE("even rows") {
    const auto a = random_matrix<float>(997, 997, 20, 1);
    sweep<rig::plus_times<float>>(a, {1, 3, 32, 33, 128});
    sweep<rig::max_second<float>>(a, {1, 64});
    sweep<rig::arg_max_second<float>>(a, {1, 3, 32});
    sweep<rig::mean_second<float>>(a, {32});
    sweep<rig::min_plus<float>>(a, {3});
    sweep<eased>(a, {1, 32});
  }
  SUBCASE("rows that are split") {
    const auto a = random_matrix<float>(3001, 3001, 1.5, 2);
    sweep<rig::plus_times<float>>(a, {1, 32, 100});
    sweep<rig::arg_max_second<float>>(a, {32});
  }
  SUBCASE("more columns than rows, and the reverse") {
    sweep<rig::plus_times<float>>(random_matrix<float>(211, 1777, 9, 4), {4, 32});
    sweep<rig::plus_times<float>>(random_matrix<float>(1777, 211, 9, 5), {4, 32});
  }
  SUBCASE("fewer rows than ranks, and no entries") {
    sweep<rig::plus_times<float>>(random_matrix<float>(3, 3, 2, 6), {3});
    sweep<rig::plus_times<float>>(matrix<float>(40, 40), {3});
  }
}

TEST_CASE("columns of a rank that begin or end within a tile, a vector or beyond the tiles") {
  const auto even = rig::generate::random_values(rig::generate::uniform(16384, 32));
  const auto skewed = rig::generate::random_values(rig::generate::rmat(14, 32));
  for (const index features : {33, 34, 65, 85, 257}) {
    const auto x = random_dense<float>(16384, features, 14);
    compare_on_device<rig::plus_times<float>>(even, x);
    compare_on_device<rig::plus_times<float>>(skewed, x);
  }
  compare_on_device<rig::arg_max_second<float>>(even, random_dense<float>(16384, 65, 15));
  compare_on_device<rig::plus_times<float>>(skewed, random_dense<rig::half>(16384, 70, 16));
  compare_on_device<rig::plus_times<double>>(random_matrix<double>(499, 499, 12, 7),
                                             random_dense<double>(499, 45, 17));
  const auto one = rig::explain(even.to(gpu), random_dense<float>(16384, 65, 14).to(gpu),
                                rig::plus_times<float>(), {.kernel = "row"});
  const bool has_tiles = std::ranges::any_of(one.kernels, [](const rig::explained& kernel) {
    return kernel.chosen && kernel.says.plan.find("B in tiles") != std::string::npos;
  });
  CHECK(has_tiles);
}

TEST_CASE("elements of twelve, one and eight bytes") {
  for (const auto& [rows, degree] : {std::pair(499, 12.0), std::pair(3001, 1.5)}) {  // row, split
    const auto numbers = random_dense<float>(rows, 66, 18);
    dense<of_colours::right> x(rows, 22);
    for (index i = 0; i < x.rows(); ++i)
      for (index j = 0; j < x.columns(); ++j)
        x(i, j) = {numbers(i, 3 * j), numbers(i, 3 * j + 1), numbers(i, 3 * j + 2)};
    compare_on_device<of_colours>(random_matrix<float>(rows, rows, degree, 7), x);
    compare_on_device<rig::lor_land<bool>>(random_matrix<bool>(rows, rows, degree, 19),
                                           random_dense<bool>(rows, 128, 20));
    compare_on_device<rig::plus_times<rig::int64>>(
        random_matrix<rig::int64>(rows, rows, degree, 21), random_dense<rig::int64>(rows, 72, 22));
  }
}

TEST_CASE("positions, chained products and fewer columns than ranks, by features") {
  const auto a = random_matrix<float>(499, 499, 12, 7);
  const auto x = random_dense<float>(499, 3, 8);
  const auto there = a.to(gpu);
  run_all(5, [&](const rig::communicator& here) {
    const auto rows = layout_of(a.structure(), 5, 1, 3);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows).to(gpu);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows).to(gpu);
    require(same_bits(rig::mxm(part, of_x, placed(), {.kernel = "row"}).gather(),
                      on_host(rig::mxm(there, x.to(gpu), placed(), {.kernel = "row"}))),
            "positions");
    const rig::plus_times<float> s;
    const auto twice = rig::mxm(part, rig::mxm(part, of_x.by_features(), s), s);
    require(twice.is_by_features(), "a chained product is by features");
    rig::descriptor one;
    one.kernel = rig::explain(part, of_x, s).kernel;
    require(same_bits(twice.gather(),
                      on_host(rig::mxm(there, rig::mxm(there, x.to(gpu), s, one), s, one))),
            "a chained product");
    part.drop_plans();
    require(
        same_bits(rig::mxm(part.with_value(2.0f), of_x, s, {.exchange = rig::exchange::features})
                      .gather(),
                  on_host(rig::mxm(there.with_value(2.0f), x.to(gpu), s, one))),
        "another value");
  });
}

TEST_CASE("real structure: roads and a power law") {
  sweep<rig::plus_times<float>>(rig::generate::rmat(13, 16), {32, 64});
  sweep<rig::plus_times<float>>(rig::generate::grid(90, 110), {32, 64});
}

TEST_CASE("slices of columns, whose rows travel while others are multiplied") {
  const auto in_slices = [](auto s, const matrix<float>& a, const auto& x,
                            rig::descriptor desc = {}) {
    compare_on_device<decltype(s)>(a, x, desc, true);
  };
  SUBCASE("even rows") {
    const auto a = rig::generate::random_values(rig::generate::uniform(140000, 12));
    const auto x = random_dense<float>(a.columns(), 256, 10);
    in_slices(rig::plus_times<float>(), a, x);
    in_slices(rig::arg_max_second<float>(), a, x, {.fill = -3});
    in_slices(eased(), a.with_value(0.5f), x);
    in_slices(rig::mean_second<float>(), a, random_dense<rig::half>(a.columns(), 512, 11));
  }
  SUBCASE("rows that are split") {
    const auto a = rig::generate::random_values(rig::generate::rmat(18, 8));
    in_slices(rig::plus_times<float>(), a, random_dense<float>(a.columns(), 256, 12));
  }
  SUBCASE("a stream of the caller") {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    const auto a = rig::generate::random_values(rig::generate::uniform(140000, 12));
    in_slices(rig::max_second<float>(), a, random_dense<float>(a.columns(), 256, 13),
              {.stream = stream});
    cudaStreamDestroy(stream);
  }
}

TEST_CASE("other types, one value, a transpose, a mask, a fill") {
  const auto a = random_matrix<float>(499, 499, 12, 7);
  const auto x = random_dense<float>(499, 24, 8);
  compare_on_device<rig::plus_times<float>>(a.with_value(0.5f), x);
  compare_on_device<rig::plus_times<double>>(random_matrix<double>(499, 499, 12, 7),
                                             random_dense<double>(499, 24, 8));
  compare_on_device<rig::plus_times<float>>(a, random_dense<rig::half>(499, 24, 8));
  compare_on_device<rig::max_second<float>>(a, x, {.fill = 7});
  const auto turned = rig::transpose(a).to(gpu);
  const auto allowed = random_dense<float>(499, 24, 9);
  for (const int kind : {0, 1})
    run_all(3, [&](const rig::communicator& here) {
      const auto rows = layout_of(a.structure(), 3, kind, 3);
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows).to(gpu);
      const auto of_x = distributed<dense<float>>::from_whole(here, x, rows).to(gpu);
      const auto of_mask = distributed<dense<float>>::from_whole(here, allowed, rows).to(gpu);
      const rig::plus_times<float> s;
      rig::descriptor one;
      one.kernel = rig::explain(part, of_x, s, {.transpose_a = true}).kernel;
      require(same_bits(rig::mxm(part, of_x, s, {.transpose_a = true}).gather(),
                        on_host(rig::mxm(turned, x.to(gpu), s, one))),
              "a transposed product");
      require(same_bits(rig::mxm(part, of_x, s,
                                 {.transpose_a = true, .exchange = rig::exchange::features})
                            .gather(),
                        on_host(rig::mxm(turned, x.to(gpu), s, one))),
              "a transposed product by features");
      one.kernel = rig::explain(part, of_x, s, rig::values(of_mask)).kernel;
      require(
          same_bits(rig::mxm(part, of_x, s, rig::values(of_mask)).gather(),
                    on_host(rig::mxm(a.to(gpu), x.to(gpu), s, rig::values(allowed.to(gpu)), one))),
          "a mask");
    });
}

TEST_CASE("what parts on a device refuse") {
  const auto a = random_matrix<float>(97, 97, 9, 8);
  const auto x = random_dense<float>(97, 3, 9);
  const auto rows = layout_of(a.structure(), 2, 0, 3);
  const rig::plus_times<float> s;
  const auto refused = [&](rig::errc code, std::initializer_list<std::string> texts, auto work) {
    const auto thrown = run(2, [&](const rig::communicator& here) {
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
      const auto part_there = part.to(gpu);
      const auto x_there = of_x.to(gpu);
      work(part, part_there, of_x, x_there);
    });
    for (const std::exception_ptr& one : thrown)
      check_error(code, texts, [&] {
        if (one != nullptr) std::rethrow_exception(one);
      });
  };
  using enum rig::errc;
  refused(place, {"A's part is on cuda:0, X's on cpu", ".to()"},
          [&](auto&, auto& part, auto& of_x, auto&) { rig::mxm(part, of_x, s); });
  refused(cannot, {"reads positions", "exchange::features"},
          [&](auto&, auto& part, auto&, auto& of_x) {
            rig::mxm(part, of_x, placed(), {.exchange = rig::exchange::fetch});
          });
  refused(cannot, {"exchange::cover runs on cpu", "exchange::fetch or features"},
          [&](auto&, auto& part, auto&, auto& of_x) {
            rig::mxm(part, of_x, rig::max_second<float>{}, {.exchange = rig::exchange::cover});
          });
  refused(place, {"mxm", "cuda:0", "rig::cpu()"},
          [&](auto&, auto& part, auto&, auto&) { rig::mxm(part, part, s); });
  refused(place, {"bfs", "cuda:0", "rig::cpu()"},
          [&](auto&, auto& part, auto&, auto&) { rig::bfs(part, 0); });
  refused(place, {"1 of 2 ranks", ".to()"}, [&](auto& part, auto&, auto&, auto&) {
    part.to(part.communicator().rank() == 0 ? gpu : rig::cpu());
  });
}

}  // namespace
