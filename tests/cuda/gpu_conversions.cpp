// Conversions, equality, text, stacks and matrices of structures on a GPU: as on the CPU.

#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::errc;

rig::matrix<float> weighted() {
  return rig::generate::random_values(rig::generate::from_text("rmat:8:8"), 3);
}

TEST_CASE("to_dense, from and stacks") {
  const auto a = weighted(), there = a.to(gpu);
  const auto full = rig::to_dense(a, 7), full_there = rig::to_dense(there, 7);
  CHECK(full_there.where() == gpu);
  CHECK(full_there == full);
  const auto sparse = rig::matrix<float>::from(full_there, 7);
  CHECK(sparse.where() == gpu);
  CHECK(sparse == a);
  CHECK(rig::matrix<float>::from(full_there) == rig::matrix<float>::from(full));
  CHECK(rig::hstack({there, there}) == rig::hstack({a, a}));
  CHECK(rig::vstack(std::vector{there, there, there}) == rig::vstack({a, a, a}));
  CHECK(rig::diagonal(there, 2) == rig::diagonal(a, 2));
  check_error(errc::place, {"vstack", "cuda:0", "cpu", ".to()"}, [&] { rig::vstack({a, there}); });
}

TEST_CASE("equality and text copy to the host; entries do not") {
  const auto a = weighted(), there = a.to(gpu);
  CHECK(a == there);
  CHECK(there == there.to(rig::cpu()).to(gpu));
  CHECK(there != there.with_value(1.0f));
  CHECK(rig::extract_row(there, 1) == rig::extract_row(a, 1));
  CHECK(rig::to_text(there) == rig::to_text(a));
  CHECK(rig::to_text(rig::to_dense(there)) == rig::to_text(rig::to_dense(a)));
  check_error(errc::place, {"cuda:0", ".to(rig::cpu())"}, [&] { there.entries(); });
}

TEST_CASE("masks of temporaries") {
  const auto a = weighted().to(gpu);
  const rig::dense<float> b = rig::dense<float>(256, 256, 1).to(gpu);
  const auto s = rig::plus_times<float>{};
  const auto below = rig::select(a, rig::selection::lower, -1);
  const auto by_matrix = rig::values(rig::select(a, rig::selection::lower, -1));
  const auto by_dense = rig::values(rig::to_dense(below));
  const auto expected = rig::mxm(a, b, s, rig::structure(below), {.fill = 0});
  const auto more = rig::dense<float>(512, 512, 3).to(gpu);
  CHECK(rig::mxm(a, b, s, by_matrix, {.fill = 0}) == expected);
  CHECK(rig::mxm(a, b, s, by_dense, {.fill = 0}) == expected);
}

template <class T>
void check_places(const rig::matrix<T>& a) {
  const auto there = a.to(gpu);
  CHECK(rig::transpose(there) == rig::transpose(a));
  CHECK(rig::select(there, rig::selection::lower, 0) == rig::select(a, rig::selection::lower, 0));
  CHECK(rig::to_dense(there) == rig::to_dense(a));
  const auto ones = weighted(), ones_there = ones.to(gpu);
  const auto s = rig::plus_times<float>{};
  CHECK(rig::mxm(ones_there, ones_there, s, rig::structure(there)).nnz() ==
        rig::mxm(ones, ones, s, rig::structure(a)).nnz());
}

TEST_CASE("matrices of complex numbers") {
  using complex = std::complex<double>;
  const auto a = weighted();
  std::vector<complex> values;
  for (const auto& [i, j, x] : a.entries()) values.emplace_back(x, i - j);
  check_places(a.with_values(values));
  check_places(a.with_value(complex(1, 2)));
}

}  // namespace
