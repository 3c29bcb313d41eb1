// gustavson on a GPU at the borders of its classes of rows: each number of products that is the
// last of a class or the first of the next, with the products of a column added in the order of A's
// entries. The oracle is a loop.

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "rig/rig.hpp"
#include "seed.hpp"

/// Its sums differ by the order of products.
RIG_SEMIRING(
    order_of_products,
    struct seen {
      rig::int64 order;
      rig::int64 count;
    };
    using left = float; using right = float; using accum = seen; static constexpr seen zero() {
      return {0, 0};
    } static constexpr seen add(seen x, seen y) {
      return {(x.order * 31 + y.order) % 1000003, x.count + y.count};
    } static constexpr seen multiply(float a, float b, rig::position at) {
      return {rig::int64(8 * a) * 17 + rig::int64(4 * b) + 1000 + at.inner % 1000 + at.row, 1};
    } static constexpr rig::int64 finish(seen x, rig::int64 n) {
      return x.order + 1000003 * (x.count + n);
    });

namespace {

using rig::int64;

/// CSR arrays of floats.
struct arrays {
  int rows = 0, columns = 0;
  std::vector<int64> offsets{0};
  std::vector<int> entries;
  std::vector<float> values;

  void add_row(const std::map<int, float>& row) {
    for (const auto& [column, value] : row) {
      entries.push_back(column);
      values.push_back(value);
    }
    offsets.push_back(static_cast<int64>(entries.size()));
    ++rows;
  }
  rig::matrix<float> matrix() const {
    return rig::matrix<float>::from_csr(rows, columns, offsets, entries,
                                        std::span<const float>(values));
  }
  template <class Visit>
  void each(int64 row, Visit visit) const {
    for (int64 p = offsets[row]; p < offsets[row + 1]; ++p) visit(entries[p], values[p]);
  }
};

/// B has rows of 0, 1, 2, 4 … 2¹⁵ entries, several of each, so that a row of A can have any number
/// of products. Their columns are of `pool` places among all columns.
constexpr int lengths = 17, copies = 3, all_columns = 1 << 20;

arrays rows_of_every_length(int pool, random_bits& random) {
  arrays b;
  b.columns = all_columns;
  const int step = all_columns / pool;
  for (int copy = 0; copy < copies; ++copy)
    for (int k = 0; k < lengths; ++k) {
      std::map<int, float> row;
      const auto length = static_cast<std::size_t>(k == 0 ? 0 : 1 << (k - 1));
      const float powers[] = {1, -1, 2, 0.5f};  // so that products are exact
      while (row.size() < length)
        row[random.below(pool) * step + (step > 1 ? 1 : 0)] = powers[random.below(4)];
      b.add_row(row);
    }
  return b;
}

/// A row of A for each number of products.
arrays rows_with(const std::vector<int>& products, random_bits& random) {
  arrays a;
  a.columns = lengths * copies;
  const auto value = [&] { return static_cast<float>(random.unit()) * 4 - 2; };
  for (int left : products) {
    std::map<int, float> row;
    for (int copy = 0; copy < copies; ++copy) {
      row[copy * lengths] = value();  // of no products
      // The first copies take some of a third, and the last one takes the rest.
      const int some = copy + 1 < copies ? left / 3 & random.below(1 << 15) : left;
      REQUIRE(some < 2 << 15);
      for (int k = 1; k < lengths; ++k)
        if ((some >> (k - 1) & 1) != 0) row[copy * lengths + k] = value();
      left -= some;
    }
    a.add_row(row);
  }
  return a;
}

/// The sums of each row: multiply(a, b, row, inner), and add in the order of A's entries.
template <class Sum, class Multiply, class Add>
std::vector<std::map<int, Sum>> sums_of(const arrays& a, const arrays& b, Multiply multiply,
                                        Add add) {
  std::vector<std::map<int, Sum>> out(static_cast<std::size_t>(a.rows));
  for (int row = 0; row < a.rows; ++row)
    a.each(row, [&](int inner, float x) {
      b.each(inner, [&](int column, float y) {
        const Sum product = multiply(x, y, row, inner);
        const auto [at, is_new] = out[static_cast<std::size_t>(row)].try_emplace(column, product);
        if (!is_new) at->second = add(at->second, product);
      });
    });
  return out;
}

/// Compares bit by bit.
template <class T, class Sum>
void check_equal(const rig::matrix<T>& there, const std::vector<std::map<int, Sum>>& sums) {
  REQUIRE(there.where() == gpu);
  const rig::matrix<T> c = there.to(rig::cpu());
  int wrong_rows = 0, first_wrong = -1;
  for (int row = 0; row < c.rows(); ++row) {
    const auto& expected = sums[static_cast<std::size_t>(row)];
    int64 p = c.structure().offset(row);
    bool is_wrong = c.structure().offset(row + 1) - p != static_cast<int64>(expected.size());
    if (!is_wrong)
      for (const auto& [column, sum] : expected) {
        const T value = c.value(p);
        is_wrong = is_wrong || c.structure().column_indices()[p] != column || !(value == T(sum));
        ++p;
      }
    if (is_wrong && wrong_rows++ == 0) first_wrong = row;
  }
  CAPTURE(first_wrong);
  CHECK(wrong_rows == 0);
}

const std::vector<int> borders = {
    0,     1,     47,    48,    49,    191,  192,  193,  767,  768,   769,   1535,  1536,  1537,
    3071,  3072,  3073,  5119,  5120,  5121, 7935, 7936, 7937, 16383, 16384, 16385, 20000, 0,
    32767, 32768, 32769, 40000, 65535, 2,    1536, 1537, 3072, 3073,  8192,  8193,  4096,  4097};

/// A matrix of places of the product, each with the given chance, and of others.
arrays places_near(const std::vector<std::map<int, float>>& sums, double chance,
                   random_bits& random) {
  arrays out;
  out.columns = all_columns;
  for (const auto& row : sums) {
    std::map<int, float> places;
    for (const auto& [column, sum] : row)
      if (random.chance(chance)) places[column] = static_cast<float>(random.below(2));
    for (int k = 0; k < 100; ++k)
      places[random.below(all_columns)] = static_cast<float>(random.below(2));
    out.add_row(places);
  }
  return out;
}

const rig::descriptor by_rows = {.kernel = "gustavson"};

TEST_CASE("rows at the borders of classes, few and many products of a column") {
  random_bits random(test_seed());
  for (const int pool : {all_columns, 1 << 17, 40000}) {
    CAPTURE(pool);
    const arrays b = rows_of_every_length(pool, random), a = rows_with(borders, random);
    const auto x = a.matrix().to(gpu), y = b.matrix().to(gpu);
    const auto sums = sums_of<float>(
        a, b, [](float s, float t, int, int) { return s * t; },
        [](float s, float t) { return s + t; });
    const auto c = rig::mxm(x, y, rig::plus_times<float>(), by_rows);
    check_equal(c, sums);
    for (int again = 0; again < 3; ++again)
      check_equal(rig::mxm(x, y, rig::plus_times<float>(), by_rows), sums);
    check_equal(rig::mxm(x, y, rig::plus_times<float>(), rig::structure(c), by_rows), sums);

    using seen = std::pair<int64, int64>;
    auto orders = sums_of<seen>(
        a, b,
        [](float s, float t, int row, int inner) {
          return seen(int64(8 * s) * 17 + int64(4 * t) + 1000 + inner % 1000 + row, 1);
        },
        [](const seen& s, const seen& t) {
          return seen((s.first * 31 + t.first) % 1000003, s.second + t.second);
        });
    std::vector<std::map<int, int64>> finished(orders.size());
    for (std::size_t row = 0; row < orders.size(); ++row)
      for (const auto& [column, sum] : orders[row])
        finished[row][column] =
            sum.first + 1000003 * (sum.second + a.offsets[row + 1] - a.offsets[row]);
    check_equal(rig::mxm(x, y, order_of_products(), by_rows), finished);
  }
}

TEST_CASE("rows at the borders of classes under masks, and accumulated") {
  random_bits random(test_seed());
  for (const double chance : {0.01, 0.9}) {
    CAPTURE(chance);
    const arrays b = rows_of_every_length(40000, random), a = rows_with(borders, random);
    const auto x = a.matrix().to(gpu), y = b.matrix().to(gpu);
    const auto sums = sums_of<float>(
        a, b, [](float s, float t, int, int) { return s * t; },
        [](float s, float t) { return s + t; });
    const arrays places = places_near(sums, chance, random);
    const auto mask = places.matrix().to(gpu);
    const auto allowed = [&](bool structural, bool complemented) {
      std::vector<std::map<int, float>> out(sums.size());
      for (std::size_t row = 0; row < sums.size(); ++row) {
        std::map<int, float> set;
        places.each(static_cast<int64>(row), [&](int column, float value) {
          if (structural || value != 0) set[column] = value;
        });
        for (const auto& [column, sum] : sums[row])
          if (set.contains(column) != complemented) out[row][column] = sum;
      }
      return out;
    };
    const rig::plus_times<float> s;
    check_equal(rig::mxm(x, y, s, rig::structure(mask), by_rows), allowed(true, false));
    check_equal(rig::mxm(x, y, s, rig::values(mask), by_rows), allowed(false, false));
    check_equal(rig::mxm(x, y, s, rig::complement(rig::structure(mask)), by_rows),
                allowed(true, true));
    check_equal(rig::mxm(x, y, s, rig::complement(rig::values(mask)), by_rows),
                allowed(false, true));
    auto c = mask;
    rig::mxm(c, rig::accumulator::plus, x, y, s, by_rows);
    auto joined = sums;
    for (int row = 0; row < places.rows; ++row)
      places.each(row, [&](int column, float value) {
        const auto [at, is_new] = joined[static_cast<std::size_t>(row)].try_emplace(column, value);
        if (!is_new) at->second = value + at->second;
      });
    check_equal(c, joined);
  }
}

TEST_CASE("rows at the borders of classes, of other types") {
  random_bits random(test_seed());
  const arrays b = rows_of_every_length(1 << 17, random);
  arrays a = rows_with(borders, random);
  for (float& value : a.values) value = static_cast<float>(random.below(17) - 8) / 4;
  const auto x = a.matrix().to(gpu), y = b.matrix().to(gpu);
  const auto exact = sums_of<double>(
      a, b, [](float s, float t, int, int) { return double(s) * t; },
      [](double s, double t) { return s + t; });
  check_equal(rig::mxm(x, y, rig::plus_times<double>(), by_rows), exact);
  const auto half_x = rig::apply<rig::half>(x, rig::unary::identity),
             half_y = rig::apply<rig::half>(y, rig::unary::identity);
  check_equal(rig::mxm(half_x, half_y, rig::plus_times<float>(), by_rows), exact);

  const auto times = [](int by, const rig::matrix<float>& of) {
    return rig::apply<int64>(of, rig::binary::times, static_cast<float>(by));
  };
  const auto whole = sums_of<int64>(
      a, b, [](float s, float t, int, int) { return int64(4 * s) * int64(2 * t); },
      [](int64 s, int64 t) { return s + t; });
  check_equal(rig::mxm(times(4, x), times(2, y), rig::plus_times<int64>(), by_rows), whole);

  const auto truth = sums_of<bool>(
      a, b, [](float s, float t, int, int) { return s != 0 && t != 0; },
      [](bool s, bool t) { return s || t; });
  check_equal(rig::mxm(rig::apply<bool>(x, rig::unary::identity),
                       rig::apply<bool>(y, rig::unary::identity), rig::lor_land<bool>(), by_rows),
              truth);
}

TEST_CASE("a row of all columns, and one column of many products") {
  random_bits random(test_seed());
  arrays b, a;
  b.columns = 1 << 18;
  std::map<int, float> all;
  for (int j = 0; j < b.columns; ++j) all[j] = static_cast<float>(j % 7);
  b.add_row(all);
  for (int k = 1; k < 30000; ++k) b.add_row({{12345, static_cast<float>(k % 5 + 1)}});
  a.columns = b.rows;
  for (const int count : {0, 1, 200, 767, 3000, 9000, 16384, 16385, 29999}) {
    std::map<int, float> row;
    for (int k = 1; k <= count; ++k) row[k] = static_cast<float>(random.unit());
    a.add_row(row);
    row[0] = 1;
    a.add_row(row);
  }
  const auto sums = sums_of<double>(
      a, b, [](float s, float t, int, int) { return double(s) * t; },
      [](double s, double t) { return s + t; });
  check_equal(rig::mxm(a.matrix().to(gpu), b.matrix().to(gpu), rig::plus_times<double>(), by_rows),
              sums);
}

}  // namespace
