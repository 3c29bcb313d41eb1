// Containers from the caller's data: tuples, CSR, views and dense arrays; their checks and errors.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "provoked.hpp"
#include "rig/graph.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::dense;
using rig::errc;
using rig::index;
using rig::input;
using rig::matrix;

using indices = std::vector<index>;
using floats = std::vector<float>;

/// (row, column, value) of every entry, in order.
template <class T>
std::vector<std::array<double, 3>> entries_of(const matrix<T>& a) {
  std::vector<std::array<double, 3>> out;
  const rig::pattern& s = a.structure();
  for (index i = 0; i < a.rows(); ++i)
    for (long p = s.offset(i); p < s.offset(i + 1); ++p)
      out.push_back({double(i), double(s.column_indices()[p]), double(a.value(p))});
  return out;
}
using entries = std::vector<std::array<double, 3>>;

TEST_CASE("tuples in any order") {
  const auto a = matrix<float>::from_tuples(3, 4, indices{2, 0, 2, 0}, indices{1, 3, 0, 0},
                                            floats{1, 2, 3, 0});
  CHECK(a.rows() == 3);
  CHECK(a.columns() == 4);
  CHECK(a.nnz() == 4);
  CHECK(!a.iso());
  CHECK(entries_of(a) == entries{{0, 0, 0}, {0, 3, 2}, {2, 0, 3}, {2, 1, 1}});
  CHECK(matrix<float>().rows() == 0);
  CHECK(matrix<float>(3, 2).nnz() == 0);
  CHECK(matrix<float>::from_tuples(0, 0, indices{}, indices{}, floats{}).nnz() == 0);
}

TEST_CASE("duplicates need a combiner, which folds in the order of the input") {
  const indices i{1, 0, 1, 1}, j{2, 0, 2, 2};
  const floats v{10, 1, 4, 3};
  check_error(errc::duplicate, {"0", "2", "(1, 2)"},
              [&] { matrix<float>::from_tuples(2, 3, i, j, v); });
  const auto minus =
      matrix<float>::from_tuples(2, 3, i, j, v, [](float x, float y) { return x - y; });
  CHECK(entries_of(minus) == entries{{0, 0, 1}, {1, 2, 3}});
  const auto last = matrix<float>::from_tuples(2, 3, i, j, v, [](float, float y) { return y; });
  CHECK(entries_of(last) == entries{{0, 0, 1}, {1, 2, 3}});
  check_error(errc::duplicate, {"(1, 2)"}, [&] { matrix<float>::from_positions(2, 3, i, j); });
  const auto merged = matrix<float>::from_positions(2, 3, i, j, 5.0f, true);
  CHECK(merged.iso());
  CHECK(merged.values() == nullptr);
  CHECK(entries_of(merged) == entries{{0, 0, 5}, {1, 2, 5}});
}

TEST_CASE("bad tuples") {
  const auto make = [](index rows, index columns, indices i, indices j, floats v) {
    return [=] { matrix<float>::from_tuples(rows, columns, i, j, v); };
  };
  check_error(errc::shape, {"-1", "3"}, make(-1, 3, {}, {}, {}));
  check_error(errc::shape, {"2", "1"}, make(3, 3, {0, 1}, {0}, {1, 2}));
  check_error(errc::shape, {"2", "3"}, make(3, 3, {0, 1}, {0, 1}, {1, 2, 3}));
  check_error(errc::range, {"tuple 1", "(3, 0)", "3x3"}, make(3, 3, {0, 3}, {0, 0}, {1, 2}));
  check_error(errc::range, {"tuple 0", "(0, -1)"}, make(3, 3, {0}, {-1}, {1}));
  check_error(errc::range, {"(-7, 0)"}, make(3, 3, {-7}, {0}, {1}));
  check_error(errc::range, {"(0, 3)", "3x3"}, make(3, 3, {0}, {3}, {1}));
  check_error(errc::range, {"0x0"}, make(0, 0, {0}, {0}, {1}));
  check_error(errc::shape, {"-2"}, [] { matrix<float>(3, -2); });
}

template <class Offset, class Column>
matrix<float> csr(index rows, index columns, const std::vector<Offset>& offsets,
                  const std::vector<Column>& j, const floats& v, input how = input::checked) {
  return matrix<float>::from_csr(rows, columns, std::span<const Offset>(offsets),
                                 std::span<const Column>(j), std::span<const float>(v), how);
}

TEST_CASE("CSR of every width") {
  const entries want{{0, 1, 1}, {2, 0, 2}, {2, 2, 3}};
  CHECK(entries_of(csr<int, int>(3, 3, {0, 1, 1, 3}, {1, 0, 2}, {1, 2, 3})) == want);
  CHECK(entries_of(csr<long, int>(3, 3, {0, 1, 1, 3}, {1, 0, 2}, {1, 2, 3})) == want);
  CHECK(entries_of(csr<long, long>(3, 3, {0, 1, 1, 3}, {1, 0, 2}, {1, 2, 3})) == want);
  CHECK(entries_of(csr<int, int>(3, 3, {0, 1, 1, 3}, {1, 0, 2}, {1, 2, 3}, input::trusted)) ==
        want);
  // Copies keep 32-bit offsets if these suffice.
  CHECK(!csr<long, int>(3, 3, {0, 1, 1, 3}, {1, 0, 2}, {1, 2, 3}).structure().offsets_64());
  const std::vector<long> offsets{0, 2};
  const indices j{0, 1};
  const auto iso = matrix<float>::from_csr(1, 2, std::span<const long>(offsets),
                                           std::span<const int>(j), input::checked, 4.0f);
  CHECK(iso.iso());
  CHECK(entries_of(iso) == entries{{0, 0, 4}, {0, 1, 4}});
}

TEST_CASE("bad CSR") {
  check_error(errc::shape, {"3 rows", "4", "3"}, [] { csr<int, int>(3, 3, {0, 1, 1}, {1}, {1}); });
  check_error(errc::range, {"first offset", "1"}, [] { csr<int, int>(1, 3, {1, 1}, {}, {}); });
  check_error(errc::range, {"offset 2", "1", "2"}, [] {
    csr<int, int>(2, 3, {0, 2, 1}, {0}, {1});
  });
  check_error(errc::shape, {"2", "3"}, [] { csr<int, int>(1, 3, {0, 2}, {0, 1, 2}, {1, 2, 3}); });
  check_error(errc::range, {"3", "row 0", "0..2"}, [] { csr<int, int>(1, 3, {0, 1}, {3}, {1}); });
  check_error(errc::range, {"-1"}, [] { csr<int, int>(1, 3, {0, 1}, {-1}, {1}); });
  check_error(errc::order, {"row 0", "0", "2", "sorted"}, [] {
    csr<int, int>(1, 3, {0, 2}, {2, 0}, {1, 2});
  });
  check_error(errc::duplicate, {"(0, 2)"}, [] { csr<int, int>(1, 3, {0, 2}, {2, 2}, {1, 2}); });
  check_error(errc::duplicate, {"(0, 2)"}, [] {
    csr<int, int>(1, 3, {0, 3}, {2, 0, 2}, {1, 2, 3}, input::sorted);
  });
  check_error(errc::range, {"7"}, [] { csr<int, int>(1, 3, {0, 1}, {7}, {1}, input::sorted); });
  check_error(errc::shape, {"2 entries", "1 values"}, [] {
    csr<int, int>(1, 3, {0, 2}, {0, 2}, {1});
  });
  // Narrowing is checked even if the caller's arrays are trusted.
  check_error(errc::range, {"4294967296", "entry 0"}, [] {
    csr<long, long>(1, 3, {0, 1}, {1l << 32}, {1});
  });
  check_error(errc::range, {"4294967297"}, [] {
    csr<long, long>(1, 3, {0, 1}, {(1l << 32) + 1}, {1}, input::trusted);
  });
}

/// One matrix from arrays whose offsets are Offsets and whose columns are Columns.
template <class Offset, class Column>
void check_types_of_csr() {
  const std::vector<Offset> offsets{0, 1, 1, 3};
  const std::vector<Column> columns{1, 0, 2};
  const floats v{1, 2, 3};
  const entries want{{0, 1, 1}, {2, 0, 2}, {2, 2, 3}};
  for (const input how : {input::checked, input::sorted, input::trusted}) {
    CHECK(entries_of(matrix<float>::from_csr(3, 3, offsets, columns, v, how)) == want);
    CHECK(matrix<float>::from_csr(3, 3, offsets, columns, how).iso());
  }
  CHECK(entries_of(matrix<float>::from_tuples(3, 3, std::array<Offset, 3>{2, 0, 2},
                                              std::array<Column, 3>{2, 1, 0}, floats{3, 1, 2})) ==
        want);
  if constexpr (sizeof(Offset) >= 4 && sizeof(Column) == 4)
    for (const input how : {input::checked, input::trusted}) {
      const auto view = matrix<float>::view(3, 3, offsets, columns, v, how);
      CHECK(view.structure().offsets() == offsets.data());
      CHECK(entries_of(view) == want);
    }
}

TEST_CASE("CSR from ranges of any integer type") {
  check_types_of_csr<int, int>();
  check_types_of_csr<unsigned, unsigned>();
  check_types_of_csr<std::size_t, std::size_t>();
  check_types_of_csr<long long, long long>();
  check_types_of_csr<long long, unsigned>();
  check_types_of_csr<unsigned long long, int>();
  check_types_of_csr<short, unsigned char>();
  const int offsets[] = {0, 1, 2};
  dense<int> columns(1, 2, 1);
  const auto a = matrix<float>::from_csr(2, 3, offsets, columns);
  CHECK(entries_of(a) == entries{{0, 1, 1}, {1, 1, 1}});
  const floats halves{0.5f, 0.25f};
  CHECK(entries_of(a.with_values(halves)) == entries{{0, 1, 0.5}, {1, 1, 0.25}});
  CHECK(entries_of(rig::scale_rows(a, halves)) == entries{{0, 1, 0.5}, {1, 1, 0.25}});
  CHECK(entries_of(rig::scale_columns(a, floats{1, 2, 3})) == entries{{0, 1, 2}, {1, 1, 2}});
}

TEST_CASE("the error of an integer that fits no index names the integer") {
  using longs = std::vector<unsigned long>;
  constexpr unsigned long most = std::numeric_limits<unsigned long>::max();
  const auto csr_of = [](const auto& offsets, const auto& columns, input how = input::checked) {
    return [=] { matrix<float>::from_csr(1, 3, offsets, columns, how); };
  };
  check_error(errc::shape, {"18446744073709551615", "1 entries"}, csr_of(longs{0, most}, longs{0}));
  check_error(errc::range, {"18446744073709551615", "entry 1", "0..2"},
              csr_of(longs{0, 2}, longs{0, most}));
  for (const input how : {input::checked, input::sorted, input::trusted})
    check_error(errc::range, {"4294967295", "entry 0"},
                csr_of(longs{0, 1}, std::vector<unsigned>{4294967295u}, how));
  check_error(errc::range, {"-3", "entry 0"}, csr_of(longs{0, 1}, std::vector<short>{-3}));
  const std::vector<unsigned> column{4294967295u};
  const longs offsets{0, 1}, wide_columns{0};
  const std::vector<short> short_offsets{0, 1};
  const indices columns{0};
  const floats v{1};
  check_error(errc::range, {"4294967295", "entry 0"},
              [&] { matrix<float>::view(1, 3, offsets, column, v); });
  check_error(errc::range, {"row 4294967296", "tuple 1", "0..2"}, [] {
    matrix<float>::from_positions(3, 3, std::vector<long>{0, 1l << 32}, indices{0, 0});
  });
  check_error(errc::range, {"column -1", "tuple 0", "0..2"},
              [] { matrix<float>::from_positions(3, 3, indices{0}, std::vector<long long>{-1}); });
  // A view reads the caller's arrays in place, so it converts no index type.
  check_error(errc::type, {"columns of 4 bytes", "8", "from_csr"},
              [&] { matrix<float>::view(1, 3, offsets, wide_columns, v); });
  check_error(errc::type, {"offsets of 4 or 8 bytes", "2", "from_csr"},
              [&] { matrix<float>::view(1, 3, short_offsets, columns, v); });
}

TEST_CASE("unsorted columns are sorted on request, values with them") {
  const auto a = csr<int, int>(3, 9, {0, 3, 3, 5}, {8, 0, 4, 1, 0}, {1, 2, 3, 4, 5}, input::sorted);
  CHECK(entries_of(a) == entries{{0, 0, 2}, {0, 4, 3}, {0, 8, 1}, {2, 0, 5}, {2, 1, 4}});
  const auto wide = csr<long, long>(1, 9, {0, 3}, {8, 0, 4}, {1, 2, 3}, input::sorted);
  CHECK(entries_of(wide) == entries{{0, 0, 2}, {0, 4, 3}, {0, 8, 1}});
  // Rows that are sorted already stay unchanged.
  CHECK(entries_of(csr<int, int>(1, 3, {0, 2}, {0, 2}, {1, 2}, input::sorted)) ==
        entries{{0, 0, 1}, {0, 2, 2}});
}

TEST_CASE("views copy nothing") {
  const std::vector<long> offsets{0, 2, 3};
  const indices j{0, 2, 1};
  floats v{1, 2, 3};
  const auto view = [&](input how) {
    return matrix<float>::view(2, 3, std::span<const long>(offsets), std::span<const int>(j),
                               std::span<const float>(v), how);
  };
  for (const input how : {input::checked, input::trusted}) {
    const auto a = view(how);
    CHECK(a.values() == v.data());
    CHECK(a.structure().column_indices() == j.data());
    CHECK(a.structure().offsets() == offsets.data());
    CHECK(a.structure().offsets_64());
    CHECK(entries_of(a) == entries{{0, 0, 1}, {0, 2, 2}, {1, 1, 3}});
  }
  check_error(errc::order, {"2x3", "from_csr"}, [&] { view(input::sorted); });
  const std::vector<int> narrow{0, 2, 3};
  const auto a = matrix<float>::view(2, 3, std::span<const int>(narrow), std::span<const int>(j),
                                     std::span<const float>(v));
  CHECK(!a.structure().offsets_64());
  const indices bad{0, 5, 1};
  check_error(errc::range, {"5"}, [&] {
    matrix<float>::view(2, 3, std::span<const int>(narrow), std::span<const int>(bad),
                        std::span<const float>(v));
  });
}

TEST_CASE("other values on the same pattern") {
  const auto a = matrix<float>::from_positions(2, 2, indices{0, 1}, indices{1, 0});
  const std::vector<double> v{2.5, -1};
  const auto b = a.with_values(std::span<const double>(v));
  CHECK(entries_of(b) == entries{{0, 1, 2.5}, {1, 0, -1}});
  CHECK(b.shared_structure() == a.shared_structure());
  CHECK(a.with_value(7l).iso_value() == 7);
  check_error(errc::shape, {"2 entries", "1 values"},
              [&] { a.with_values(std::span<const double>(v).first(1)); });
  check_error(errc::shape, {"2 entries", "8", "3"},
              [&] { matrix<float>(a.shared_structure(), rig::buffer::allocate(3)); });
}

TEST_CASE("dense") {
  const dense<float> zero(2, 3, 1.5f);
  CHECK(zero.stride() == 3);
  CHECK(zero(1, 2) == 1.5f);
  const auto from = dense<int>::from(2, 2, std::vector<int>{1, 2, 3, 4});
  CHECK(from(1, 0) == 3);
  check_error(errc::shape, {"2x2", "4", "3"}, [] {
    dense<int>::from(2, 2, std::vector<int>{1, 2, 3});
  });
  check_error(errc::shape, {"-1x2"}, [] { dense<int>(-1, 2); });
  check_error(errc::shape, {"2x-1"}, [] { dense<int>::uninitialised(2, -1); });

  // Copies are deep, moves keep the memory.
  dense<int> copy = from;
  copy(0, 0) = 9;
  CHECK(from(0, 0) == 1);
  const int* memory = copy.data();
  const dense<int> moved = std::move(copy);
  CHECK(moved.data() == memory);
  CHECK(dense<float>().rows() == 0);
  CHECK(dense<float>(0, 5).columns() == 5);
  CHECK(dense<float>(5, 0).extent() == 0);
}

TEST_CASE("a dense too large for a size_t of bytes is out of memory") {
  constexpr index edge = 1518500250;  // its square is slightly more than 2^61
  check_error(errc::out_of_memory, {"1518500250"}, [] { dense<double>(edge, edge); });
  check_error(errc::out_of_memory, {}, [] { dense<double>(INT_MAX, INT_MAX); });
  check_error(errc::out_of_memory, {"bytes"}, [] { dense<char>(INT_MAX, INT_MAX); });
}

TEST_CASE("dense views") {
  std::vector<float> memory{1, 2, 3, 4, 5, 6, 7};
  auto view = dense<float>::view(memory.data(), 2, 3, 4);
  CHECK(view(1, 0) == 5);
  CHECK(view.extent() == 7 * sizeof(float));
  view(1, 2) = 70;
  CHECK(memory[6] == 70);
  const dense<float> copy = view;
  CHECK(copy.stride() == 3);
  CHECK(copy(1, 2) == 70);
  CHECK(dense<float>::view(memory.data(), 2, 3).stride() == 3);
  check_error(errc::shape, {"stride 2", "3"}, [&] { dense<float>::view(memory.data(), 2, 3, 2); });
  check_error(errc::shape, {"stride -4"}, [&] { dense<float>::view(memory.data(), 2, 3, -4); });
  check_error(errc::range, {"2x3"}, [] { dense<float>::view(static_cast<float*>(nullptr), 2, 3); });
  CHECK(dense<float>::view(static_cast<float*>(nullptr), 0, 3).rows() == 0);

  const auto fixed = dense<float>::view(static_cast<const float*>(memory.data()), 2, 3);
  CHECK(fixed.read_only());
  CHECK(fixed(0, 1) == 2);
  dense<float> taken = dense<float>::view(static_cast<const float*>(memory.data()), 2, 3);
  check_error(errc::read_only, {"2x3"}, [&] { taken.data(); });
  check_error(errc::read_only, {"2x3"}, [&] { taken.row(1); });
  // A copy owns its memory.
  dense<float> own = taken;
  CHECK(!own.read_only());
}

TEST_CASE("nothing is written through a read-only view") {
  const std::vector<float> memory{1, 2, 3, 4, 5, 6};
  auto view = dense<float>::view(memory.data(), 2, 3);
  check_error(errc::read_only, {"2x3", "copy"}, [&] { view(1, 2) = 70; });
  check_error(errc::read_only, {"2x3"}, [&] { view.data()[0] = 70; });
  check_error(errc::read_only, {"2x3"}, [&] { view.row(1)[0] = 70; });
  check_error(errc::read_only, {"2x3"}, [&] { view.span()[0] = 70; });
  check_error(errc::read_only, {"2x3"}, [&] { *view.begin() = 70; });
  check_error(errc::read_only, {"2x3"}, [&] { view.end()[-1] = 70; });
  CHECK(memory == floats{1, 2, 3, 4, 5, 6});
  CHECK(std::as_const(view)(1, 2) == 6);
  // Moving a view keeps it read-only; assigning to it replaces it.
  auto moved = std::move(view);
  check_error(errc::read_only, {"2x3"}, [&] { moved(0, 0) = 70; });
  view(0, 0);
  moved = dense<float>(1, 1, 5);
  moved(0, 0) = 7;
  CHECK(memory[0] == 1);
}

TEST_CASE("a packed dense is a range") {
  static_assert(std::ranges::contiguous_range<dense<float>>);
  static_assert(std::ranges::contiguous_range<const dense<bool>>);
  dense<int> d(2, 3);
  std::iota(d.begin(), d.end(), 1);
  CHECK(d(1, 2) == 6);
  int sum = 0;
  for (const int x : std::as_const(d)) sum += x;
  CHECK(sum == 21);
  d.span()[3] = 40;
  CHECK(d(1, 0) == 40);
  CHECK(std::as_const(d).span().size() == 6);
  for (int& x : d.row(0)) x = -x;
  CHECK(d(0, 2) == -3);
  const std::span<const int> elements = std::as_const(d);
  CHECK(elements.data() == d.data());
  CHECK(std::ranges::equal(std::as_const(d).row(1), std::vector<int>{40, 5, 6}));
  const dense<int> nothing, no_rows(0, 3);
  CHECK(nothing.begin() == nothing.end());
  CHECK(no_rows.span().empty());

  std::vector<int> memory(10, 7);
  auto strided = dense<int>::view(memory.data(), 2, 3, 5);
  check_error(errc::shape, {"2x3", "5", "row(i)"}, [&] { strided.begin(); });
  check_error(errc::shape, {"2x3"}, [&] { strided.end(); });
  check_error(errc::shape, {"2x3"}, [&] { std::as_const(strided).span(); });
  strided.row(1)[2] = 9;
  CHECK(memory[7] == 9);
  CHECK(std::as_const(strided).row(1).size() == 3);
  // A dense of one row is packed at any stride, and so is a dense without elements.
  const auto one_row = dense<int>::view(memory.data(), 1, 3, 5),
             no_columns = dense<int>::view(memory.data(), 2, 0, 5);
  CHECK(one_row.span().size() == 3);
  CHECK(no_columns.span().empty());
}

TEST_CASE("places") {
  const matrix<float> a(2, 2);
  const dense<float> b(2, 2);
  CHECK(a.to(rig::cpu()).shared_structure() == a.shared_structure());
  CHECK(b.to(rig::cpu()).rows() == 2);
  CHECK(rig::to_string(a.where()) == "cpu");
  CHECK(rig::to_string(rig::cuda(3)) == "cuda:3");
}

TEST_CASE("masks share the memory of their containers") {
  const matrix<float> a(2, 2);
  const auto m = rig::complement(rig::values(a));
  CHECK(m.container.shared_structure() == a.shared_structure());
  const dense<float> x(2, 2);
  CHECK(rig::complement(rig::values(x)).container == x);
  const auto of_dense = rig::values(x), copy = of_dense;
  CHECK(std::as_const(copy.container).data() == x.data());
  CHECK(m.complemented);
  CHECK(!m.structural);
  CHECK(rig::structure(a).structural);
}

/// Checks that a container is 0×0 in host memory, like one made without arguments.
template <class Container>
void check_empty(const Container& moved) {
  CHECK(moved.rows() == 0);
  CHECK(moved.columns() == 0);
  CHECK(moved.where() == rig::cpu());
}

TEST_CASE("a moved-from container is 0x0") {
  rig::buffer block = rig::buffer::allocate(64);
  const rig::buffer kept = std::move(block);
  CHECK(kept.bytes() == 64);
  CHECK(block.bytes() == 0);
  CHECK(block.data() == nullptr);

  auto a = matrix<float>::from_positions(2, 3, indices{0, 1}, indices{1, 2}, 4.0f);
  matrix<float> b = std::move(a);
  check_empty(a);
  CHECK(a.nnz() == 0);
  CHECK(a.structure().offset(0) == 0);
  CHECK(a.derived_structures().empty());
  CHECK(entries_of(b) == entries{{0, 1, 4}, {1, 2, 4}});
  CHECK(rig::mxm(a, dense<float>(0, 5), rig::plus_times<float>{}).columns() == 5);
  check_error(errc::shape, {"0x0"}, [&] {
    rig::mxm(b, dense<float>(3, 1), rig::plus_times<float>{}, rig::structure(a));
  });
  a = std::move(b);
  check_empty(b);
  CHECK(a.nnz() == 2);
  std::swap(a, b);
  check_empty(a);
  CHECK(b.nnz() == 2);
  matrix<float>& same = b;
  b = std::move(same);
  CHECK(entries_of(b) == entries{{0, 1, 4}, {1, 2, 4}});

  auto x = rig::maxk(dense<float>(4, 8, 1.5f), 2);
  const auto y = std::move(x);
  check_empty(x);
  CHECK(x.k() == 0);
  CHECK(x.structure().nnz() == 0);
  CHECK(rig::to_dense(x).rows() == 0);
  CHECK(rig::maxk_gradient(dense<float>(), x).rows() == 0);
  CHECK(y.values()[7] == 1.5f);
  rig::cbsr_pattern places = y.structure();
  const rig::cbsr_pattern taken = std::move(places);
  check_empty(places);
  CHECK(places.nnz() == 0);
  CHECK(taken.k() == 2);

  auto codes = rig::quantized::from(dense<float>(4, 8, 1.5f));
  rig::quantized more;
  more = std::move(codes);
  check_empty(codes);
  CHECK(codes.range_count() == 0);
  CHECK(codes.dequantised<float>().rows() == 0);
  rig::quantized& itself = more;
  more = std::move(itself);
  CHECK(more.dequantised<float>()(3, 7) == 1.5f);

  dense<float> d(2, 2);
  const dense<float> e = std::move(d);
  check_empty(d);
}

TEST_CASE("a vector has one row in every state") {
  const auto check_row = [](const rig::vector<float>& u) {
    CHECK(u.size() == 0);
    CHECK(u.nnz() == 0);
    CHECK(u.as_row().rows() == 1);
    CHECK(u.as_row().structure().offset(1) == 0);
  };
  auto u = rig::vector<float>::from_indices(5, indices{1, 4});
  rig::vector<float> v = std::move(u);
  check_row(u);
  CHECK(v.size() == 5);
  u = std::move(v);
  check_row(v);
  CHECK(u.nnz() == 2);
  rig::vector<float>& same = u;
  u = std::move(same);
  CHECK(u.nnz() == 2);
  check_row({});
  check_row(rig::vector<float>(matrix<float>(0, 0)));
  check_row(rig::vector<float>(0));
}

}  // namespace
