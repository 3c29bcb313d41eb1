// Products by exchange::cover: the bits of one rank for sums that are exact in any order, the
// fewest rows that can move, and refusals of other sums.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::int64;
using rig::matrix;

constexpr rig::descriptor by_cover = {.threads = 1, .exchange = rig::exchange::cover};

/// An integer mean: an exact sum with a finish, which is of another type.
struct mean_of_integers {
  using left = rig::int32;
  using right = rig::int32;
  using accum = int64;
  static constexpr const char* name = "mean_of_integers";
  static constexpr int64 zero() { return 0; }
  static constexpr int64 add(int64 x, int64 y) { return x + y; }
  static constexpr int64 multiply(rig::int32 a, rig::int32 b) { return int64{a} * b; }
  static constexpr float finish(int64 x, int64 n) { return n > 0 ? float(x) / float(n) : -1; }
};

/// The element nearest to one, a struct of the caller.
struct distance {
  float value, from_one;
};
struct nearest_to_one {
  using left = float;
  using right = float;
  using accum = distance;
  static constexpr const char* name = "nearest_to_one";
  static constexpr bool selective = true;
  static constexpr accum zero() { return {0, std::numeric_limits<float>::infinity()}; }
  static constexpr accum add(accum x, accum y) {
    const bool is_first =
        x.from_one < y.from_one || (x.from_one == y.from_one && x.value <= y.value);
    return is_first ? x : y;
  }
  static constexpr accum multiply(float a, float b) {
    const float x = a * b;
    return {x, x > 1 ? x - 1 : 1 - x};
  }
  static constexpr float finish(accum x, int64) { return x.value; }
};

/// Without zeros: the sign of a zero tie is unspecified.
template <class T>
dense<T> nonzero_dense(index rows, index columns, unsigned long seed) {
  random_bits bits(test_seed() + seed);
  dense<T> made(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (T& x : made.row(i)) x = draw<T>(bits);
  return made;
}

/// Products by cover over 1 … 7 ranks have the bits of one rank; X by rows and by features, A as it
/// is, transposed, and with other values.
template <class Element, class S, class TA, class TX>
void compare_cover(const matrix<TA>& a, const std::vector<index>& widths,
                   const rig::scalar& fill = {}) {
  rig::descriptor desc = by_cover;
  desc.fill = fill;
  rig::descriptor turned = desc;
  turned.transpose_a = true;
  const auto other = a.with_value(TA(1));
  const matrix<bool> inner(a.columns(), 1);
  for (const index features : widths) {
    const auto x = nonzero_dense<TX>(a.columns(), features, 90);
    const auto expected = rig::mxm<Element>(a, x, S(), desc),
               expected_of_other = rig::mxm<Element>(other, x, S(), desc);
    const bool is_square = a.rows() == a.columns();
    const auto transposed = is_square ? rig::mxm<Element>(a, x, S(), turned) : expected;
    for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
      const std::string words = words_of(S::name, here.size(), rows.is_contiguous(), features);
      const auto of_x =
          is_square ? rows : layout_of(inner.structure(), here.size(), !rows.is_contiguous(), 91);
      const auto part = distributed<matrix<TA>>::from_whole(here, a, rows);
      const auto by_rows = distributed<dense<TX>>::from_whole(here, x, of_x);
      require(same_bits(rig::mxm<Element>(part, by_rows, S(), desc).gather(), expected), words);
      require(
          same_bits(rig::mxm<Element>(part, by_rows.by_features(), S(), desc).gather(), expected),
          words + ", X by features");
      require(same_bits(rig::mxm<Element>(part.with_value(TA(1)), by_rows, S(), desc).gather(),
                        expected_of_other),
              words + ", other values");
      if (is_square)
        require(same_bits(rig::mxm<Element>(part, by_rows, S(), turned).gather(), transposed),
                words + ", transposed");
    });
  }
}
template <class S, class T>
void compare_builtin(const matrix<T>& a) {
  if constexpr (rig::is_exact<S>) compare_cover<void, S, T, T>(a, {1, 3, 32});
}

TEST_CASE("builtin semirings whose sums are exact") {
  const auto square = random_matrix<float>(61, 61, 7, 92);
#define RIG_BUILTIN(name, type) \
  compare_builtin<rig::name<type>, type>(random_matrix<type>(61, 61, 7, 92));
#include "rig/builtin.def"
#undef RIG_BUILTIN
  compare_cover<void, rig::min_plus<float>, float, float>(square, {1, 5});
  compare_cover<void, rig::any_pair<bool>, bool, bool>(square.with_value(true), {1, 5});
  compare_cover<void, rig::arg_min_second<float>, float, float>(square, {1, 5});
}

TEST_CASE("sums of integers, a finish after the merge, structs of the caller") {
  const auto whole = random_matrix<rig::int32>(61, 61, 7, 93);
  compare_cover<void, rig::plus_times<rig::int32>, rig::int32, rig::int32>(whole, {1, 3});
  compare_cover<void, rig::plus_times<int64>, rig::int32, rig::int32>(whole, {3});
  compare_cover<void, mean_of_integers, rig::int32, rig::int32>(whole, {1, 3});
  compare_cover<void, mean_of_integers, rig::int32, rig::int32>(whole, {3}, 7.0f);
  compare_cover<void, nearest_to_one, float, float>(random_matrix<float>(61, 61, 7, 94), {1, 3});
}

TEST_CASE("named types, fills, stored types") {
  const auto square = random_matrix<float>(50, 50, 6, 95);
  compare_cover<double, rig::max_second<float>, float, float>(square, {3}, -2.0);
  compare_cover<rig::half, rig::arg_max_second<float>, float, float>(square, {3}, 0.5f);
  compare_cover<void, rig::max_second<float>, float, rig::half>(square, {1, 3}, 0.0f);
  compare_cover<void, rig::max_second<float>, float, float>(square.with_value(2.0f), {3});
}

TEST_CASE("shapes: empty ranks, more ranks than rows, no entries, no columns") {
  for (const index rows : {0, 1, 3, 20})
    for (const index columns : {0, 1, 5, 70}) {
      const auto a = random_matrix<float>(rows, columns, 4, static_cast<unsigned>(rows + columns));
      compare_cover<void, rig::max_second<float>, float, float>(a, {0, 1, 3});
      compare_cover<void, rig::arg_max_second<float>, float, float>(a, {1, 3});
      compare_cover<void, mean_of_integers, rig::int32, rig::int32>(
          random_matrix<rig::int32>(rows, columns, 4, 96), {0, 2});
      compare_cover<void, rig::max_second<float>, float, float>(matrix<float>(rows, columns), {3});
    }
}

TEST_CASE("sums that a loop adds") {
  const auto a = random_matrix<rig::int32>(30, 30, 6, 97);
  const auto x = nonzero_dense<rig::int32>(30, 4, 98);
  dense<rig::int32> expected(30, 4, 0);
  for (const auto& [i, j, value] : a.entries())
    for (index f = 0; f < 4; ++f) expected(i, f) += value * x(j, f);
  for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
    const auto part = distributed<matrix<rig::int32>>::from_whole(here, a, rows);
    const auto of_x = distributed<dense<rig::int32>>::from_whole(here, x, rows);
    const auto c = rig::mxm(part, of_x, rig::plus_times<rig::int32>(), by_cover).gather();
    require(same_bits(c, expected), words_of("plus_times", here.size(), 0, 4));
  });
}

/// The fewest rows of X and C that cover the entries between two ranks: of all sets of rows of C,
/// with the rows of X that they leave.
int64 fewest_rows(const matrix<float>& a, const rig::layout& rows, int from, int to) {
  std::vector<unsigned> columns;  // of each row of X: the rows of C that name it
  for (index k = 0; k < rows.rows_of(from); ++k) {
    unsigned named = 0;
    for (const auto& [i, j, value] : a.entries())
      if (j == rows.row_at(from, k) && rows.rank_of(i) == to) named |= 1u << rows.place_of(i);
    columns.push_back(named);
  }
  int64 fewest = std::numeric_limits<int64>::max();
  for (unsigned set = 0; set < 1u << rows.rows_of(to); ++set)
    fewest = std::min<int64>(
        fewest, __builtin_popcount(set) + std::ranges::count_if(columns, [&](unsigned named) {
                  return (named & ~set) != 0;
                }));
  return fewest;
}

TEST_CASE("no cover is smaller: all are tried") {
  for (unsigned long seed = 0; seed < 40; ++seed) {
    const int size = 2 + static_cast<int>(seed % 2);
    const auto a = random_matrix<float>(16, 16, 1 + static_cast<double>(seed % 7), 100 + seed);
    run_all(size, [&](const rig::communicator& here) {
      const auto rows = layout_of(matrix<bool>(16, 1).structure(), size, seed % 3 == 0, 99);
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      const auto x = distributed<dense<float>>::from_whole(here, dense<float>(16, 3), rows);
      const auto why = rig::explain(part, x, rig::max_second<float>(), by_cover);
      const auto fetched = rig::explain(part, x, rig::max_second<float>());
      int64 all = 0, of_fetch = 0;
      for (int from = 0; from < size; ++from)
        for (int to = 0; to < size; ++to) {
          const auto at = static_cast<std::size_t>(from * size + to);
          const int64 least = from == to ? 0 : fewest_rows(a, rows, from, to);
          require(why.bytes[at] == least * 3 * int64{sizeof(float)},
                  "from " + std::to_string(from) + " to " + std::to_string(to) + ": " +
                      std::to_string(why.bytes[at]) + ", least " + std::to_string(least));
          all += why.bytes[at];
          of_fetch += fetched.bytes[at];
        }
      require(why.bytes_by_fetch == of_fetch, "bytes by fetch");
      require(all <= of_fetch, "more than fetch");
    });
  }
}

TEST_CASE("the text, and a star whose rows of X or C are one") {
  // Node 0 names all others: its row of C comes in parts.
  const auto star = matrix<float>::from_positions(6, 6, std::vector<int>{0, 0, 0, 0},
                                                  std::vector<int>{2, 3, 4, 5});
  std::string text;
  run_all(2, [&](const rig::communicator& here) {
    const auto rows = rig::layout::contiguous(std::vector<int>{2, 4});
    const auto part = distributed<matrix<float>>::from_whole(here, star, rows);
    const auto x = distributed<dense<float>>::from_whole(here, dense<float>(6, 2), rows);
    const auto why = rig::explain(part, x, rig::max_second<float>(), by_cover);
    if (here.rank() == 0) text = why.text();
  });
  CHECK(text ==
        "mxm over 2 ranks: cover (named by the descriptor), kernel row\n"
        "a product moves 8 bytes, and by fetch 32; rank 0 receives most, 8, which is 200 % of the "
        "mean: another layout can balance the ranks\n"
        "83 % of the rows of A need no row of another rank; one rank has 100 % of the entries\n"
        "bytes from each rank, a line, to each rank:\n"
        "0\t0\n"
        "8\t0\n");
}

TEST_CASE("plans are kept, listed, shared and dropped") {
  run_all(3, [](const rig::communicator& here) {
    const auto a = random_matrix<float>(30, 30, 5, 101);
    const auto rows = rig::layout::by_entries(a.structure(), 3);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto by_rows =
        distributed<dense<float>>::from_whole(here, nonzero_dense<float>(30, 4, 102), rows);
    part.prepare(rows, by_cover);
    require(part.plans().size() == 1 && part.plans()[0].name == std::string("cover"), "listed");
    require(part.with_value(2.0f).plans().size() == 1, "shared");
    const auto before = rig::mxm(part, by_rows, rig::max_plus<float>(), by_cover).gather();
    if (here.rank() == 1) part.drop_plans();
    require(same_bits(rig::mxm(part, by_rows, rig::max_plus<float>(), by_cover).gather(), before),
            "after a drop on one rank");
    const auto others = rig::layout::by_entries(matrix<bool>(30, 1).structure(), 3);
    const auto moved = distributed<dense<float>>::from_whole(here, by_rows.gather(), others);
    require(same_bits(rig::mxm(part, moved, rig::max_plus<float>(), by_cover).gather(), before),
            "another layout of X");
  });
}

/// Runs work on three ranks, all of which throw these words.
template <class Work>
void refuses(const char* words, const Work& work) {
  for (const auto& thrown : run(3, [&](const rig::communicator& here) {
         const auto a = random_matrix<float>(9, 9, 3, 103);
         const auto rows = rig::layout::contiguous(std::vector<int>{3, 3, 3});
         work(here, distributed<matrix<float>>::from_whole(here, a, rows),
              distributed<dense<float>>::from_whole(here, random_dense<float>(9, 2, 104), rows));
       })) {
    REQUIRE(thrown != nullptr);
    try {
      std::rethrow_exception(thrown);
    } catch (const rig::error& cause) {
      CHECK_MESSAGE(std::string(cause.what()).find(words) != std::string::npos, cause.what());
    }
  }
}

TEST_CASE("refusals") {
  refuses("changes the bits of plus_times; use exchange::fetch",
          [](const auto&, const auto& a, const auto& x) {
            rig::mxm(a, x, rig::plus_times<float>(), by_cover);
          });
  refuses("changes the bits of sum_and_greatest", [](const auto&, const auto& a, const auto& x) {
    rig::explain(a, x, sum_and_greatest(), by_cover);
  });
  refuses("exchange::cover takes no mask", [](const auto&, const auto& a, const auto& x) {
    rig::mxm(a, x, rig::max_second<float>(), rig::structure(a), by_cover);
  });
  refuses("weighted_by_place reads positions", [](const auto&, const auto& a, const auto& x) {
    rig::mxm(a, x, weighted_by_place(), by_cover);
  });
  refuses("exchange::cover takes a dense X", [](const auto&, const auto& a, const auto&) {
    rig::mxm(a, a, rig::max_plus<float>(), by_cover);
  });
  refuses("1 of 3 ranks use exchange::cover", [](const auto& here, const auto& a, const auto& x) {
    rig::mxm(a, x, rig::max_second<float>(),
             {.exchange = here.rank() == 1 ? rig::exchange::cover : rig::exchange::fetch});
  });
}

}  // namespace
