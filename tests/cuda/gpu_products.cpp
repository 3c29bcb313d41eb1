// Products with sparse results on a GPU: each kernel gives what the CPU gives, bit by bit where the
// sums are exact or added in the order of A's entries.

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "battery.hpp"
#include "gpu.hpp"
#include "rig/generate.hpp"
#include "rig/kernels/list.hpp"
#include "rig/rig.hpp"
#include "seed.hpp"

RIG_SEMIRING(
    first_and_row, using left = float; using right = float; using accum = rig::int64;
    static constexpr rig::int64 zero() { return 0; } static constexpr rig::int64 add(rig::int64 x,
                                                                                     rig::int64 y) {
      return x + y;
    } static constexpr rig::int64 multiply(float a, float b, rig::position at) {
      return rig::int64(4 * a) + 10 * rig::int64(4 * b) + 100 * at.row + 10000 * at.inner;
    });
RIG_SEMIRING(
    mean_of_products, using left = float; using right = float; using accum = double;
    static constexpr double zero() { return 0; } static constexpr double add(double x, double y) {
      return x + y;
    } static constexpr double multiply(float a, float b) {
      return double(a) * b;
    } static constexpr float finish(double x, rig::int64 n) { return float(x / double(n)); });

namespace {

using rig::matrix;

template <class T>
matrix<T> drawn(int rows, int columns, double density, random_bits& random) {
  std::vector<int> i, j;
  std::vector<float> values;
  const oracle::sparse pattern = random_pattern(rows, columns, density, random);
  for (int row = 0; row < rows; ++row)
    for (long p = pattern.offsets[row]; p < pattern.offsets[row + 1]; ++p) {
      i.push_back(row);
      j.push_back(pattern.inner[p]);
      values.push_back(float(random.below(17) - 8) / 4);
    }
  return rig::apply<T>(
      matrix<float>::from_tuples(rows, columns, i, j, std::span<const float>(values)),
      rig::unary::identity);
}

template <class T>
void check_same(const matrix<T>& here, const matrix<T>& there, double tolerance = 0) {
  REQUIRE(there.where() == gpu);
  const matrix<T> back = there.to(rig::cpu());
  REQUIRE(here.rows() == back.rows());
  REQUIRE(here.columns() == back.columns());
  REQUIRE(here.nnz() == back.nnz());
  int wrong = 0;
  for (int row = 0; row <= here.rows(); ++row)
    wrong += here.structure().offset(row) != back.structure().offset(row);
  for (long p = 0; p < here.nnz(); ++p) {
    wrong += here.structure().column_indices()[p] != back.structure().column_indices()[p];
    const double x = double(here.value(p)), y = double(back.value(p));
    wrong += !(x == y || std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y)));
  }
  CHECK(wrong == 0);
}
template <class T>
void check_same(const rig::vector<T>& here, const rig::vector<T>& there, double tolerance = 0) {
  check_same(here.as_row(), there.as_row(), tolerance);
}

/// The kernels of the GPU that take such operands, and the library's own choice.
std::vector<std::string> kernels_for(rig::operands of) {
  std::vector<std::string> names{""};
  for (const rig::kernel& k : rig::kernels())
    if (k.where == gpu.where && includes(k.takes, of)) names.push_back(k.name);
  return names;
}
std::map<std::string, int> served;

/// Runs make(copy to a place, descriptor) on both places.
template <class Make>
void same(const std::string& kernel, Make make, rig::descriptor desc = {}, double tolerance = 0) {
  CAPTURE(kernel);
  desc.kernel = "";
  const auto here = make([](const auto& x) { return x; }, desc);
  desc.kernel = kernel;
  try {
    check_same(here, make([](const auto& x) { return x.to(gpu); }, desc), tolerance);
    ++served[kernel];
  } catch (const rig::error& refused) {
    if (refused.code() != rig::errc::cannot || kernel.empty()) throw;
  }
}

/// Calls run() without a mask, or run(mask) with a drawn one.
template <class M, class Run>
auto with_mask(const M& mask, bool masked, bool structural, bool complemented, Run run) {
  if (!masked) return run();
  const auto of = structural ? rig::structure(mask) : rig::values(mask);
  return run(complemented ? rig::complement(of) : of);
}

template <class S>
void all_forms(random_bits& random) {
  using T = typename S::left;
  using R = rig::output<S>;
  const int m = 1 + random.below(40), k = 1 + random.below(40), n = 1 + random.below(40);
  rig::descriptor desc;
  desc.transpose_a = random.below(2) != 0;
  desc.transpose_b = random.below(2) != 0;
  desc.replace = random.below(2) != 0;
  const bool masked = random.below(3) != 0, structural = random.below(2) != 0,
             complemented = random.below(2) != 0, fresh = random.below(2) != 0;
  const auto accum = random.below(2) != 0 ? rig::none : rig::accumulator::plus;
  const auto a = drawn<T>(desc.transpose_a ? k : m, desc.transpose_a ? m : k, random.unit(),
                          random),
             b = drawn<T>(desc.transpose_b ? n : k, desc.transpose_b ? k : n, random.unit(),
                          random);
  const auto c = drawn<R>(m, n, 0.5, random);
  const auto mask = drawn<int>(m, n, 0.5, random);
  // Lanes of `dot` and `pull` add parts of a sum, so floats differ by rounding.
  for (const std::string& kernel : kernels_for(rig::operands::sparse))
    same(
        kernel,
        [&](auto at, const rig::descriptor& d) {
          auto out = at(c);
          const auto x = at(a), y = at(b);
          with_mask(at(mask), masked, structural, complemented, [&](const auto&... of) {
            if (fresh)
              out = rig::mxm(x, y, S(), of..., d);
            else
              rig::mxm(out, accum, x, y, S(), of..., d);
          });
          return out;
        },
        desc, 1e-5);
  const auto u = rig::vector<T>(drawn<T>(1, k, random.unit(), random));
  const auto w = rig::vector<R>(drawn<R>(1, n, 0.5, random));
  const auto g =
      drawn<T>(desc.transpose_b ? n : k, desc.transpose_b ? k : n, random.unit(), random);
  const auto vector_mask = rig::vector<int>(drawn<int>(1, n, 0.5, random));
  const auto full_mask = vector_mask.to_dense();
  const bool is_vxm = random.below(2) != 0, is_full = random.below(2) != 0;
  rig::descriptor of_vector = {.transpose_a = !is_vxm && !desc.transpose_b,
                               .transpose_b = is_vxm && desc.transpose_b,
                               .replace = desc.replace};
  for (const std::string& kernel : kernels_for(rig::operands::vector))
    same(
        kernel,
        [&](auto at, const rig::descriptor& d) {
          auto out = at(w);
          const auto x = at(u);
          const auto y = at(g);
          const auto run = [&](const auto&... of) {
            if (is_vxm)
              fresh ? void(out = rig::vxm(x, y, S(), of..., d))
                    : rig::vxm(out, accum, x, y, S(), of..., d);
            else
              fresh ? void(out = rig::mxv(y, x, S(), of..., d))
                    : rig::mxv(out, accum, y, x, S(), of..., d);
          };
          if (is_full)
            with_mask(at(full_mask), masked, structural, complemented, run);
          else
            with_mask(at(vector_mask), masked, structural, complemented, run);
          return out;
        },
        of_vector, 1e-5);
}

TEST_CASE("random products, every kernel, mask and form") {
  random_bits random(test_seed());
  for (int round = 0; round < 12; ++round) {
    all_forms<rig::plus_times<float>>(random);
    all_forms<rig::plus_times<double>>(random);
    all_forms<rig::min_plus<double>>(random);
    all_forms<rig::plus_first<float>>(random);
    all_forms<rig::max_second<float>>(random);
    all_forms<rig::plus_pair<int>>(random);
    all_forms<rig::any_pair<bool>>(random);
    all_forms<rig::lor_land<bool>>(random);
    all_forms<first_and_row>(random);
    all_forms<mean_of_products>(random);
  }
  for (const rig::kernel& k : rig::kernels())
    if (k.where == gpu.where && k.takes >= rig::operands::sparse &&
        k.takes < rig::operands::updated) {
      CAPTURE(std::string(k.name));
      CHECK(served[k.name] > 0);
    }
}

TEST_CASE("rows of every class, in the order of A's entries") {
  for (const char* graph : {"rmat:11:16", "uniform:20000:6", "grid:60:60", "rmat:14:2"}) {
    CAPTURE(std::string(graph));
    const auto a = rig::generate::random_values(rig::generate::from_text(graph), 3);
    same("gustavson", [&](auto at, const rig::descriptor& d) {
      return rig::mxm(at(a), at(a), rig::plus_times<float>(), d);
    });
    // The pattern of the product as its mask, and one with places that it does not have.
    const auto c = rig::mxm(a, a, rig::plus_times<float>());
    for (const auto& mask : {c, rig::ewise_add(c, a, rig::binary::second), a})
      same("gustavson", [&](auto at, const rig::descriptor& d) {
        return rig::mxm(at(a), at(a), rig::plus_times<float>(), rig::structure(at(mask)), d);
      });
    // Some of its values are 0.
    const auto some =
        rig::apply(rig::ewise_add(c, a, rig::binary::second), rig::binary::greater, 0.5f);
    for (const bool complemented : {false, true})
      same("gustavson", [&](auto at, const rig::descriptor& d) {
        return with_mask(at(some), true, false, complemented, [&](const auto&... of) {
          return rig::mxm(at(a), at(a), rig::plus_times<float>(), of..., d);
        });
      });
    const auto x = a.to(gpu), known = c.to(gpu);
    const auto again =
        rig::mxm(x, x, rig::plus_times<float>(), rig::structure(known), {.kernel = "gustavson"});
    CHECK(again.shared_structure() == known.shared_structure());
    same("dot", [&](auto at, const rig::descriptor& d) {
      const auto x = at(a);
      return rig::mxm(x, x, rig::plus_pair<int>(), rig::structure(x), d);
    });
    const auto u = rig::vector<float>(rig::extract(a, std::vector{0}, rig::all));
    for (const char* kernel : {"push", "pull"}) {
      same(kernel, [&](auto at, const rig::descriptor& d) {
        return rig::vxm(at(u), at(a), rig::min_plus<float>(), d);
      });
      same(kernel, [&](auto at, const rig::descriptor& d) {
        return rig::mxv(at(a), at(u), rig::any_pair<bool>(), d);
      });
    }
    same("gustavson", [&](auto at, const rig::descriptor& d) {
      return rig::vxm(at(u), at(a), rig::plus_times<float>(), d);
    });
  }
}

TEST_CASE("columns that a thread, a warp or a block pulls") {
  random_bits random(test_seed());
  constexpr int rows = 6000;
  std::vector<int> i, j;
  std::vector<float> values;
  int columns = 0;
  for (const int length : {0, 1, 31, 32, 33, 288, 289, 290, 512, 544, 801, 5000, rows})
    for (int copy = 0; copy < 5; ++copy, ++columns)
      for (int k = 0; k < length; ++k) {
        i.push_back(static_cast<int>((long{k} * rows / length + copy) % rows));
        j.push_back(columns);
        values.push_back(float(random.below(17) - 8) / 4);
      }
  const auto a = matrix<float>::from_tuples(rows, columns, i, j, std::span<const float>(values));
  for (const double share : {1.0, 0.3, 0.001}) {
    CAPTURE(share);
    const auto u = rig::vector<float>(drawn<float>(1, rows, share, random));
    const auto mask = rig::vector<int>(drawn<int>(1, columns, 0.5, random));
    for (const bool masked : {false, true})
      for (const bool complemented : {false, true}) {
        const auto pulled = [&](auto s) {
          same("pull", [&](auto at, const rig::descriptor& d) {
            return with_mask(at(mask), masked, false, complemented, [&](const auto&... of) {
              return rig::vxm(at(u), at(a), s, of..., d);
            });
          });
        };
        pulled(rig::plus_times<float>());  // its sums are exact
        pulled(rig::min_plus<float>());
        pulled(rig::any_pair<bool>());
        pulled(first_and_row());
        pulled(mean_of_products());
      }
  }
}

TEST_CASE("dense operands under a mask") {
  random_bits random(test_seed());
  const auto mask = rig::generate::from_text("rmat:10:8").with_value(1.0f);
  for (const int inner : {0, 1, 7, 8, 33, 128}) {
    rig::dense<float> x(mask.rows(), inner), y(inner, mask.columns());
    for (int i = 0; i < mask.rows(); ++i)
      for (int k = 0; k < inner; ++k)
        x(i, k) = float(random.below(9) - 4), y(k, i) = float(random.below(9));
    same("dot", [&](auto at, const rig::descriptor& d) {
      return rig::mxm(at(x), at(y), rig::plus_times<float>(), rig::structure(at(mask)), d);
    });
    same("dot",
         [&](auto at, const rig::descriptor& d) {
           return rig::mxm(at(x), at(x), rig::plus_times<float>(), rig::structure(at(mask)), d);
         },
         {.transpose_b = true});
  }
}

TEST_CASE("no entries, and refusals") {
  const auto empty = matrix<float>(5, 7).to(gpu), other = matrix<float>(7, 3).to(gpu);
  CHECK(rig::mxm(empty, other, rig::plus_times<float>()).nnz() == 0);
  CHECK(rig::mxm(matrix<float>(0, 0).to(gpu), matrix<float>(0, 4).to(gpu), rig::plus_times<float>())
            .columns() == 4);
  const auto u = rig::vector<float>(5).to(gpu);
  for (const char* kernel : {"push", "pull", "gustavson"})
    CHECK(rig::vxm(u, empty, rig::min_plus<float>(), {.kernel = kernel}).nnz() == 0);
  CHECK_THROWS_AS(rig::vxm(u, empty, rig::plus_times<float>(), {.kernel = "push"}), rig::error);
  CHECK_THROWS_AS(rig::mxm(empty, other, rig::plus_times<float>(), {.kernel = "dot"}), rig::error);
}

}  // namespace
