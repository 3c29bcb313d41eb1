// Parts of a matrix on a device, whose ranks are threads: products with the bits of one device, and
// what is refused.

#include <string>
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

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;

template <class T>
dense<T> on_host(const dense<T>& of) {
  return of.to(rig::cpu());
}
template <class T>
rig::indexed_dense<T> on_host(const rig::indexed_dense<T>& of) {
  return {of.values.to(rig::cpu()), of.indices.to(rig::cpu())};
}
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

/// A product of ranks beside that of one device by the kernel that the ranks name.
template <class S, class TA, class TX>
void compare_on_device(const matrix<TA>& a, const dense<TX>& x, rig::descriptor desc = {}) {
  const auto whole = a.to(gpu);
  const auto features = x.to(gpu);
  for (const int size : {1, 2, 5})
    for (const int kind : {0, 1}) {
      const auto rows = layout_of(a.structure(), size, kind, 3);
      const auto inner = inner_layout(a.structure(), rows, size);
      run_all(size, [&](const rig::communicator& here) {
        const auto part = distributed<matrix<TA>>::from_whole(here, a, rows).to(gpu);
        const auto of_x = distributed<dense<TX>>::from_whole(here, x, inner).to(gpu);
        rig::descriptor one = desc;
        one.kernel = rig::explain(part, of_x, S(), desc).kernel;
        const auto found = rig::mxm(part, of_x, S(), desc);
        require(place_of(found) == gpu, "the result is not on the device");
        require(same_bits(found.gather(), on_host(rig::mxm(whole, features, S(), one))),
                words_of(rig::name_of<S>(), size, kind, x.columns()) + ", kernel " + one.kernel);
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

TEST_CASE("real structure: roads and a power law") {
  sweep<rig::plus_times<float>>(rig::generate::rmat(13, 16), {32, 64});
  sweep<rig::plus_times<float>>(rig::generate::grid(90, 110), {32, 64});
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
  refused(cannot, {"reads positions", "rig::cpu()"},
          [&](auto&, auto& part, auto&, auto& of_x) { rig::mxm(part, of_x, weighted_by_place()); });
  for (const auto by : {rig::exchange::features, rig::exchange::cover})
    refused(cannot, {"runs on cpu", "exchange::fetch"}, [&](auto&, auto& part, auto&, auto& of_x) {
      rig::mxm(part, of_x, rig::max_second<float>{}, {.exchange = by});
    });
  refused(place, {"by_features", "cuda:0"},
          [&](auto&, auto&, auto&, auto& of_x) { of_x.by_features(); });
  refused(place, {"mxm", "cuda:0", "rig::cpu()"},
          [&](auto&, auto& part, auto&, auto&) { rig::mxm(part, part, s); });
  refused(place, {"bfs", "cuda:0", "rig::cpu()"},
          [&](auto&, auto& part, auto&, auto&) { rig::bfs(part, 0); });
  refused(place, {"1 of 2 ranks", ".to()"}, [&](auto& part, auto&, auto&, auto&) {
    part.to(part.communicator().rank() == 0 ? gpu : rig::cpu());
  });
}

}  // namespace
