// Messages name what is wrong, and their remedies work when they are followed.

#include <doctest/doctest.h>

#include <vector>

#include "provoked.hpp"
#include "rig/rig.hpp"

namespace {

using rig::binary;
using rig::errc;
using rig::index;
using indices = std::vector<index>;

TEST_CASE("repeated positions") {
  const indices twice{1, 1};
  const std::vector<float> values{2, 3};
  check_error(errc::duplicate, {"tuples 0 and 1", "(1, 1)", "merge_duplicates of from_positions"},
              [&] { rig::matrix<float>::from_positions(3, 3, twice, twice); });
  CHECK(rig::matrix<float>::from_positions(3, 3, twice, twice, 1, true).nnz() == 1);
  check_error(errc::duplicate, {"from_indices"},
              [&] { rig::vector<float>::from_indices(3, twice); });
  CHECK(rig::vector<float>::from_indices(3, twice, 1, true).nnz() == 1);
  check_error(errc::duplicate, {"a combiner of from_tuples"},
              [&] { rig::matrix<float>::from_tuples(3, 3, twice, twice, values); });
  CHECK(rig::matrix<float>::from_tuples(3, 3, twice, twice, values, std::plus<>()).value(0) == 5);
  const auto column = rig::dense<float>::from(2, 1, values);
  check_error(errc::duplicate, {"build"}, [&] { rig::build(3, twice, column); });
  CHECK(rig::build(3, twice, column, binary::plus).value(0) == 5);
}

TEST_CASE("unsorted columns") {
  const indices offsets{0, 2}, columns{1, 0};
  const std::vector<float> values{2, 3};
  check_error(errc::order, {"column 0 after 1", "pass input::sorted"},
              [&] { rig::matrix<float>::from_csr(1, 2, offsets, columns, values); });
  check_error(errc::order, {"column 0 after 1", "from_csr and input::sorted"},
              [&] { rig::matrix<float>::view(1, 2, offsets, columns, values); });
  CHECK(rig::matrix<float>::from_csr(1, 2, offsets, columns, values, rig::input::sorted).value(0) ==
        3);
}

TEST_CASE("ranges and lists beyond a matrix") {
  const rig::matrix<float> a(3, 4);
  check_error(errc::range, {"the range {0, 5, 1} names row 4, which is outside 0 … 2"}, [&] {
    rig::extract(a, rig::range{0, 5}, rig::all);
  });
  check_error(errc::range, {"the range {-1, 2, 1} names column -1, which is outside 0 … 3"}, [&] {
    rig::extract(a, rig::all, rig::range{-1, 2});
  });
  check_error(errc::range, {"the range {5, 0, -2} names row 5"}, [&] {
    rig::extract(a, rig::range{5, 0, -2}, rig::all);
  });
  check_error(errc::range, {"row 7, number 1 of the list, is outside 0 … 2"}, [&] {
    rig::extract(a, indices{0, 7}, rig::all);
  });
  CHECK(rig::extract(a, rig::range{0, 3}, rig::all).rows() == 3);
  const rig::matrix<float> none(0, 4);
  check_error(errc::range, {"names row 0, which is outside an empty dimension"}, [&] {
    rig::extract(none, rig::range{0, 1}, rig::all);
  });
  check_error(errc::range, {"row 0, number 0 of the list, is outside an empty dimension"},
              [&] { rig::extract(none, indices{0}, rig::all); });
}

TEST_CASE("a fill for results whose type is none of rig's") {
  const auto bytes = rig::dense<unsigned char>(2, 2, 1);
  check_error(errc::type, {"extract: fill is 7", "none of rig's", "leave fill unset"},
              [&] { rig::extract(bytes, rig::all, rig::all, {.fill = 7}); });
  // A sparse result has no fill of any type.
  const auto sparse = rig::matrix<unsigned char>(2, 2);
  const rig::matrix<int> integers(2, 2);
  for (const double number : {7.0, 1e300}) {
    const rig::descriptor desc{.fill = number};
    const char* const given = number == 7 ? "extract: fill is 7," : "extract: fill is 1e+300,";
    check_error(errc::cannot, {given, "a sparse result has no fill", "leave fill unset"},
                [&] { rig::extract(sparse, rig::all, rig::all, desc); });
    check_error(errc::cannot, {given, "a sparse result has no fill", "leave fill unset"},
                [&] { rig::extract(integers, rig::all, rig::all, desc); });
  }
}

TEST_CASE("a cbsr as the mask of another call than matrix times dense") {
  const rig::matrix<float> a(4, 4);
  const auto y = rig::maxk(rig::dense<float>(4, 4, 1), 2);
  check_error(errc::cannot, {"ewise_add: a cbsr masks products of a matrix and a dense alone"},
              [&] { rig::ewise_add(a, a, rig::binary::plus, rig::structure(y)); });
}

TEST_CASE("operators that do not fit an operation") {
  const auto a = rig::matrix<float>::from_positions(2, 2, indices{0}, indices{1}, 3);
  check_error(errc::cannot, {"reduce_rows", "binary::minus is no monoid", "pass plus, times"},
              [&] { rig::reduce_rows(a, binary::minus); });
  check_error(errc::cannot, {"reduce", "binary::less is no monoid"},
              [&] { rig::reduce(a, binary::less); });
  check_error(errc::range, {"operator 77"}, [&] { rig::reduce(a, static_cast<binary>(77)); });
  check_error(errc::cannot, {"build", "binary::less", "logical_and"},
              [&] { rig::build(2, indices{0}, rig::dense<float>(1, 1), binary::less); });
  auto c = a;
  check_error(errc::cannot, {"apply", "accumulator::plus"},
              [&] { rig::apply(c, rig::accumulator::own, a, rig::unary::negate); });
  rig::apply(c, rig::accumulator::plus, a, rig::unary::negate);
  CHECK(c.value(0) == 0);
  const rig::dense<float> x(2, 3, 1.0f), y(3, 2, 1.0f);
  check_error(errc::cannot, {"rig::transpose of it"},
              [&] { rig::ewise_add(x, y, binary::plus, {.transpose_b = true}); });
  CHECK(rig::ewise_add(x, rig::transpose(y), binary::plus)(1, 2) == 2);
}

TEST_CASE("kernels that no build has") {
  const rig::matrix<float> a(3, 3);
  check_error(errc::unknown_kernel, {"prepare", "'nope'", "row, split"},
              [&] { a.prepare({.kernel = "nope"}); });
  check_error(errc::unknown_kernel, {"prepare", "'nope'"},
              [&] { a.prepare({.transpose_a = true, .kernel = "nope"}); });
  a.prepare({.kernel = "split"});
}

TEST_CASE("kernels of another place") {
  const rig::matrix<float> a(3, 3);
  const rig::dense<float> x(3, 2, 1.0f);
  const rig::plus_times<float> s;
  for (const auto& kernel : rig::explain(a, x, s).kernels)  // none of a GPU in a build without CUDA
    if (kernel.name == "vendor") {
      check_error(errc::cannot, {"'vendor' does not run on cpu", "copy the operands by .to(), or"},
                  [&] { rig::mxm(a, x, s, {.kernel = "vendor"}); });
      CHECK(rig::mxm(a, x, s, {}).rows() == 3);
    }
}

}  // namespace
