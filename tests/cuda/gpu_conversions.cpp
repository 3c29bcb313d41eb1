// Conversions, equality, text and stacks on a GPU: as on the CPU.

#include <doctest/doctest.h>

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

}  // namespace
