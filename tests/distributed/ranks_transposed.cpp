// Transposed products, products with a column, and closures over ranks: the bits of one rank.

#include <doctest/doctest.h>

#include <string>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;

/// One rank's threads, as the ranks have: one.
const rig::descriptor one_thread = {.threads = 1};
const rig::descriptor turned = {.transpose_a = true, .threads = 1};

template <class S, class TA, class TX>
void compare_turned(const matrix<TA>& a, index features) {
  const auto x = random_dense<TX>(a.rows(), features, 41);
  const auto expected = rig::mxm(a, x, S(), turned);
  const auto other = a.with_value(TA(2));
  const auto expected_of_other = rig::mxm(other, x, S(), turned);
  for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
    const std::string words = words_of(S::name, here.size(), 0, features);
    const auto part = distributed<matrix<TA>>::from_whole(here, a, rows);
    const auto by_rows = distributed<dense<TX>>::from_whole(here, x, rows);
    require(same_bits(rig::mxm(part, by_rows, S(), turned).gather(), expected), words);
    rig::descriptor features_of = turned;
    features_of.exchange = rig::exchange::features;
    require(same_bits(rig::mxm(part, by_rows, S(), features_of).gather(), expected),
            words + ", by features");
    // Other values of the same pattern, whose transpose is known.
    const auto of_other = part.with_value(TA(2));
    require(same_bits(rig::mxm(of_other, by_rows, S(), turned).gather(), expected_of_other),
            words + ", other values");
  });
}

TEST_CASE("transposed products") {
  const auto a = random_matrix<float>(60, 60, 8, 42);
  for (const index features : {1, 3, 33}) {
    compare_turned<rig::plus_times<float>, float, float>(a, features);
    compare_turned<rig::max_second<float>, float, float>(a, features);
    compare_turned<rig::arg_max_second<float>, float, float>(a, features);
    compare_turned<damped, float, float>(a, features);
  }
  compare_turned<rig::plus_times<float>, float, float>(a.with_value(0.3f), 3);
  compare_turned<rig::plus_times<float>, float, float>(random_matrix<float>(3, 3, 2, 43), 2);
  compare_turned<rig::plus_times<float>, float, float>(matrix<float>(5, 5), 2);
  compare_turned<rig::plus_times<float>, float, float>(matrix<float>(0, 0), 2);
}

TEST_CASE("the transpose is prepared, listed and dropped") {
  const auto a = random_matrix<float>(30, 30, 5, 51);
  const auto x = random_dense<float>(30, 4, 52);
  const auto sums = rig::plus_times<float>();
  const auto expected = rig::mxm(a, x, sums, turned);
  run_all(3, [&](const rig::communicator& here) {
    const auto rows = rig::layout::by_entries(a.structure(), 3);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    part.prepare(rows, turned);
    require(part.plans().size() == 1, "one plan");
    require(same_bits(rig::mxm(part, of_x, sums, turned).gather(), expected), "prepared");
    if (here.rank() == 1) part.drop_plans();
    require(same_bits(rig::mxm(part, of_x, sums, turned).gather(), expected), "dropped on one");
    const auto why = rig::explain(part, of_x, sums, turned);
    require(why.scheme == rig::exchange::fetch && why.ranks == 3, "explain");
  });
}

TEST_CASE("a long column is split as a long row of the transpose is") {
  // Column 5 is full. One rank that transposes in the product reads values in stages, so its sum
  // of one column has another order; that of the transposed matrix has the order of the ranks.
  const index n = 70'000;
  std::vector<index> i, j;
  for (const auto& [row, column, value] : random_matrix<float>(6, n, 20, 6).entries()) {
    i.push_back(column);
    j.push_back(row);
  }
  const auto a =
      matrix<float>::from_positions(n, n, i, j).with_values(std::vector<float>(i.size(), 0.3f));
  const auto x = random_dense<float>(n, 1, 41);
  const auto sums = rig::plus_times<float>();
  const auto expected = rig::mxm(rig::transpose(a), x, sums, one_thread);
  for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    require(same_bits(rig::mxm(part, of_x, sums, turned).gather(), expected), "split");
  });
}

TEST_CASE("the transpose of a matrix that is not square") {
  const auto a = random_matrix<float>(31, 17, 5, 44);
  const auto expected = rig::transpose(a);
  for (int size = 1; size <= 7; ++size)
    run_all(size, [&](const rig::communicator& here) {
      const auto rows = layout_of(a.structure(), size, 0, 45),
                 columns = layout_of(expected.structure(), size, 1, 46);
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      const auto made = rig::transpose(part, columns);
      require(
          made.local() == distributed<matrix<float>>::from_whole(here, expected, columns).local(),
          "transpose");
      require(rig::transpose(made, rows).local() == part.local(), "back");
      const auto again = rig::transpose(
          part.with_values(std::vector<float>(static_cast<std::size_t>(part.local().nnz()), 3.0f)),
          columns);
      require(again.local() == made.local().with_values(std::vector<float>(
                                   static_cast<std::size_t>(made.local().nnz()), 3.0f)),
              "other values");
    });
}

TEST_CASE("products with a column") {
  const auto a = random_matrix<float>(50, 50, 7, 47);
  const auto u = random_dense<float>(50, 1, 48);
  const auto compare = [&]<class S>(S s) {
    const auto w = rig::mxv(a, u, s, one_thread), v = rig::vxm(u, a, s, one_thread),
               back = rig::mxv(a, u, s, turned);
    const rig::descriptor straight = {.transpose_b = true, .threads = 1};
    const auto forth = rig::vxm(u, a, s, straight);
    for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      const auto of_u = distributed<dense<float>>::from_whole(here, u, rows);
      require(same_bits(rig::mxv(part, of_u, s, one_thread).gather(), w), "mxv");
      require(same_bits(rig::vxm(of_u, part, s, one_thread).gather(), v), "vxm");
      require(same_bits(rig::mxv(part, of_u, s, turned).gather(), back), "mxv, transposed");
      require(same_bits(rig::vxm(of_u, part, s, straight).gather(), forth), "vxm, transposed");
    });
  };
  compare(rig::plus_times<float>());
  compare(rig::min_plus<float>());
  compare(rig::plus_first<float>());
  compare(rig::any_pair<bool>());
}

TEST_CASE("closures") {
  const auto compare = [&]<class S, class T>(S s, T away, T first, index columns) {
    using accum = typename S::accum;
    const auto a = rig::apply<typename S::right>(
        rig::apply(random_matrix<float>(128, 128, 3, 49), rig::unary::absolute),
        rig::unary::identity);
    dense<accum> x(128, columns, away);
    for (index j = 0; j < columns; ++j) x(j * 5, j) = first;
    const auto expected = rig::closure(x, a, s, {}, one_thread);
    for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
      const auto part = distributed<matrix<typename S::right>>::from_whole(here, a, rows);
      const auto of_x = distributed<dense<accum>>::from_whole(here, x, rows);
      require(same_bits(rig::closure(of_x, part, s, {}, one_thread).gather(), expected), S::name);
    });
  };
  compare(rig::min_plus<float>(), rig::highest<float>(), 0.0f, 1);
  compare(rig::min_plus<float>(), rig::highest<float>(), 0.5f, 3);
  compare(rig::min_max<float>(), rig::highest<float>(), 0.0f, 2);
  compare(rig::lor_land<bool>(), false, true, 2);
  compare(rig::any_pair<bool>(), false, true, 2);
  compare(rig::min_second<float>(), rig::highest<float>(), 0.5f, 2);
  compare(rig::min_first<float>(), rig::highest<float>(), 0.5f, 2);
}

TEST_CASE("an infinity goes around a cycle once more") {
  std::vector<int> from, to;
  for (int node = 0; node < 9; ++node) {
    from.push_back(node);
    to.push_back((node + 1) % 9);
  }
  std::vector<float> weights(9, 1);
  weights[7] = -rig::highest<float>();
  const auto a = matrix<float>::from_tuples(9, 9, from, to, weights);
  dense<float> x(9, 1, rig::highest<float>());
  x(0, 0) = 5;
  for_ranks(a.structure(), [&](const rig::communicator& here, const rig::layout& rows) {
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    const auto got = rig::closure(of_x, part, rig::min_plus<float>()).gather();
    require(got == dense<float>(9, 1, -rig::highest<float>()), "min_plus");
  });
}

template <class Work>
std::string refusal_of(const Work& work) {
  std::string text;
  for (const auto& thrown : run(3, work)) {
    REQUIRE(thrown != nullptr);
    try {
      std::rethrow_exception(thrown);
    } catch (const rig::error& cause) {
      text = cause.what();
    }
  }
  return text;
}

TEST_CASE("refusals") {
  const auto a = random_matrix<float>(9, 9, 3, 50);
  const auto refused = [&](const char* words, auto work) {
    const std::string text = refusal_of([&](const rig::communicator& here) {
      const auto rows = rig::layout::by_entries(a.structure(), 3);
      work(here, distributed<matrix<float>>::from_whole(here, a, rows), rows);
    });
    CHECK_MESSAGE(text.find(words) != std::string::npos, text);
  };
  const auto x = dense<float>(9, 2);
  refused("1 of 3 ranks transpose A", [&](const auto& here, const auto& part, const auto& rows) {
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    rig::mxm(part, of_x, rig::plus_times<float>(), {.transpose_a = here.rank() == 1});
  });
  refused("vxm: rank 0 of 3: u is a dense, which is not transposed",
          [&](const auto& here, const auto& part, const auto& rows) {
            const dense<float> u(9, 1);
            rig::vxm(distributed<dense<float>>::from_whole(here, u, rows), part,
                     rig::plus_times<float>(), {.transpose_a = true});
          });
  refused("give one column", [&](const auto& here, const auto& part, const auto& rows) {
    rig::mxv(part, distributed<dense<float>>::from_whole(here, x, rows), rig::plus_times<float>());
  });
  refused(
      "pass transpose(A, layout) instead", [&](const auto& here, const auto&, const auto& rows) {
        const auto wide = distributed<matrix<float>>::from_whole(here, matrix<float>(9, 4), rows);
        rig::mxm(wide, distributed<dense<float>>::from_whole(here, x, rows),
                 rig::plus_times<float>(), {.transpose_a = true});
      });
  refused("distribute it by A.layout()", [&](const auto& here, const auto& part, const auto&) {
    const auto other = rig::layout::contiguous(std::vector<int>{9, 0, 0});
    rig::closure(distributed<dense<float>>::from_whole(here, x, other), part,
                 rig::min_plus<float>());
  });
  refused("does not settle", [&](const auto& here, const auto& part, const auto& rows) {
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    const auto worse = part.with_value(-1.0f);
    rig::closure(of_x, worse, rig::min_plus<float>());
  });
}

}  // namespace
