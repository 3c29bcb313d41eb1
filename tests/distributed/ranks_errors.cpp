// An error on one rank is an error on all ranks, with that rank's text, and soon; and
// what products over ranks refuse, with the remedy.

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <string>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;
using sums = rig::plus_times<float>;

/// The code and the text of each rank's rig::error.
struct outcome {
  rig::errc code;
  std::string text;
};
template <class Work>
std::vector<outcome> outcomes(int size, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<outcome> out;
  for (const std::exception_ptr& thrown : run(size, work)) {
    try {
      REQUIRE(thrown != nullptr);
      std::rethrow_exception(thrown);
    } catch (const rig::error& cause) {
      out.push_back({cause.code(), cause.what()});
    }
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));  // a second if idle
  return out;
}

/// Expects one error on all of four ranks, whose text contains the words.
template <class Work>
void expect(rig::errc code, std::initializer_list<const char*> words, const Work& work) {
  for (const outcome& of : outcomes(4, work)) {
    CHECK(of.code == code);
    for (const char* const part : words)
      CHECK_MESSAGE(of.text.find(part) != std::string::npos, part, " is not in: ", of.text);
  }
}

/// A matrix and a dense of 12 rows over four ranks.
struct operands {
  rig::layout rows = rig::layout::contiguous(std::vector<int>{3, 3, 3, 3});
  distributed<matrix<float>> a;
  distributed<dense<float>> x;
  explicit operands(const rig::communicator& here)
      : a(distributed<matrix<float>>::from_whole(here, random_matrix<float>(12, 12, 4, 1), rows)),
        x(distributed<dense<float>>::from_whole(here, random_dense<float>(12, 3, 2), rows)) {}
};

TEST_CASE("a rank's error is thrown on all ranks, with its text") {
  expect(rig::errc::cannot, {"mxm: rank 2 of 4: kernel 'sell' does not run over ranks"},
         [](const rig::communicator& here) {
           const operands of(here);
           rig::descriptor desc;
           if (here.rank() == 2) desc.kernel = "sell";
           rig::mxm(of.a, of.x, sums(), desc);
         });
  expect(rig::errc::range, {"mxm: rank 1 of 4: threads is -1"}, [](const rig::communicator& here) {
    const operands of(here);
    rig::descriptor desc;  // found after the exchange, by the local product
    if (here.rank() == 1) desc.threads = -1;
    rig::mxm(of.a, of.x, sums(), desc);
  });
  expect(rig::errc::shape, {"from_rows: rank 3 of 4: the part has 2 rows", "gives this rank 3"},
         [](const rig::communicator& here) {
           const operands of(here);
           const dense<float> part(here.rank() == 3 ? 2 : 3, 5);
           distributed<dense<float>>::from_rows(here, part, of.rows);
         });
  expect(rig::errc::range, {"layout: rank 0 of 4: rank 0 has -1 rows after 0"},
         [](const rig::communicator& here) {
           rig::layout::contiguous(here, here.rank() == 0 ? -1 : 3);
         });
}

TEST_CASE("a rank that leaves does not hang the others") {
  const auto thrown = run(4, [](const rig::communicator& here) {
    const operands of(here);
    rig::mxm(of.a, of.x, sums());
    if (here.rank() == 1) throw std::runtime_error("the program's own");
    rig::mxm(of.a, of.x, sums());
  });
  for (std::size_t rank = 0; rank < 4; ++rank) {
    REQUIRE(thrown[rank] != nullptr);
    try {
      std::rethrow_exception(thrown[rank]);
    } catch (const rig::error& cause) {
      CHECK(rank != 1);
      CHECK(std::strstr(cause.what(), "rank 1 of 4 has left") != nullptr);
    } catch (const std::runtime_error& cause) {
      CHECK(rank == 1);
    }
  }
}

TEST_CASE("ranks that differ") {
  expect(rig::errc::shape, {"the ranks differ in the dense's columns", "is 2 and 5"},
         [](const rig::communicator& here) {
           const operands of(here);
           distributed<dense<float>>::from_rows(here, dense<float>(3, here.rank() == 2 ? 2 : 5),
                                                of.rows);
         });
  expect(rig::errc::shape, {"layout differs from another rank's"},
         [](const rig::communicator& here) {
           const auto rows = rig::layout::by_partition(
               here.rank() == 0 ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0, 1, 3, 2}, 4);
           distributed<dense<float>>::from_rows(here, dense<float>(1, 1), rows);
         });
  expect(rig::errc::cannot, {"1 of 4 ranks use exchange::features"},
         [](const rig::communicator& here) {
           const operands of(here);
           using enum rig::exchange;
           rig::mxm(of.a, of.x, sums(), {.exchange = here.rank() == 3 ? features : fetch});
         });
}

TEST_CASE("ranks whose calls differ") {
  const auto uneven = rig::layout::contiguous(std::vector<int>{6, 2, 2, 2});
  const auto differing = [&](const char* what, const auto& work) {
    expect(rig::errc::shape, {"the ranks differ in ", what},
           [&](const rig::communicator& here) { work(here, operands(here), here.rank() == 1); });
  };
  const auto dense_of = [](const auto& here, index columns, const rig::layout& rows) {
    return distributed<dense<float>>::from_whole(here, random_dense<float>(12, columns, 2), rows);
  };
  differing("the layout of the right operand", [&](const auto& here, const operands& of, bool is) {
    const auto z = dense_of(here, 3, uneven);
    rig::mxm(of.a, is ? z : of.x, sums());
  });
  differing("the layout of the right operand", [&](const auto& here, const operands& of, bool is) {
    const auto b =
        distributed<matrix<float>>::from_whole(here, random_matrix<float>(12, 12, 4, 1), uneven);
    rig::mxm(of.a, is ? b : of.a, sums());
  });
  differing("the columns of the right operand", [&](const auto& here, const operands& of, bool is) {
    const auto y = dense_of(here, 5, of.rows);
    rig::mxm(of.a, is ? y : of.x, sums());
  });
  differing("the columns of the right operand", [&](const auto& here, const operands& of, bool is) {
    const auto y = dense_of(here, 5, of.rows);
    rig::closure(is ? y : of.x, of.a, rig::min_plus<float>());
  });
  differing("the type of the right operand", [&](const auto& here, const operands& of, bool is) {
    const auto y = dense_of(here, 4, of.rows);
    const auto wide =
        distributed<dense<double>>::from_whole(here, random_dense<double>(12, 4, 2), of.rows);
    is ? static_cast<void>(rig::mxm(of.a, wide, sums()))
       : static_cast<void>(rig::mxm(of.a, y, sums()));
  });
  differing("the semiring", [&](const auto&, const operands& of, bool is) {
    is ? static_cast<void>(rig::mxm(of.a, of.x, rig::max_second<float>()))
       : static_cast<void>(rig::mxm(of.a, of.x, sums()));
  });
  differing("the kernel", [&](const auto&, const operands& of, bool is) {
    rig::mxm(of.a, of.x, sums(), {.kernel = is ? "row" : "split"});
  });
  differing("the fill", [&](const auto&, const operands& of, bool is) {
    rig::mxm(of.a, of.x, sums(), {.fill = is ? 0.5 : 0.25});
  });
  differing("the fill", [&](const auto&, const operands& of, bool is) {
    rig::mxm(of.a, of.x, sums(), {.fill = is ? rig::scalar(0) : rig::scalar()});
  });
  differing("the mask", [&](const auto&, const operands& of, bool is) {
    is ? static_cast<void>(rig::mxm(of.a, of.a, sums(), rig::structure(of.a)))
       : static_cast<void>(rig::mxm(of.a, of.a, sums()));
  });
  differing("the layout of X",
            [&](const auto&, const operands& of, bool is) { of.a.prepare(is ? uneven : of.rows); });
  differing("the columns", [&](const auto& here, const operands& of, bool is) {
    const auto y = dense_of(here, 5, of.rows);
    (is ? y : of.x).gather();
  });
  differing("the columns", [&](const auto& here, const operands& of, bool is) {
    const auto y = dense_of(here, 5, of.rows);
    (is ? y : of.x).by_features();
  });
  differing("the columns", [&](const auto& here, const operands& of, bool is) {
    const auto b =
        distributed<matrix<float>>::from_whole(here, random_matrix<float>(12, 7, 4, 1), of.rows);
    (is ? b : of.a).gather();
  });
}

TEST_CASE("what was moved from stays a communicator, a layout") {
  for (const std::exception_ptr& thrown : run(2, [](const rig::communicator& here) {
         rig::communicator ranks = here;
         rig::layout rows = rig::layout::contiguous(std::vector<int>{2, 2});
         const rig::communicator other = std::move(ranks);
         const rig::layout same = std::move(rows);
         ranks.barrier();  // NOLINT(bugprone-use-after-move): that it serves
         if (rows.rows() != 4 || !(rows == same)) throw std::runtime_error("the layout");
       }))
    CHECK(thrown == nullptr);
}

TEST_CASE("a layout of other ranks is refused before it is read") {
  const auto with_layout = [](int ranks, auto work) {
    return [=](const rig::communicator& here) {
      const operands of(here);
      work(here, of,
           rig::layout::contiguous(std::vector<int>(static_cast<std::size_t>(ranks), 12 / ranks)));
    };
  };
  for (const int ranks : {2, 6}) {
    const std::string words =
        "the layout has " + std::to_string(ranks) + " ranks, the communicator 4";
    const auto refused = [&](const char* name, auto work) {
      expect(rig::errc::shape, {name, words.c_str()}, with_layout(ranks, work));
    };
    refused("from_whole", [](const auto& here, const auto&, const rig::layout& rows) {
      distributed<matrix<float>>::from_whole(here, random_matrix<float>(12, 12, 4, 1), rows);
    });
    refused("from_whole", [](const auto& here, const auto&, const rig::layout& rows) {
      distributed<dense<float>>::from_whole(here, random_dense<float>(12, 3, 2), rows);
    });
    refused("prepare",
            [](const auto&, const operands& of, const rig::layout& rows) { of.a.prepare(rows); });
  }
  expect(rig::errc::cannot, {"prepare: 1 of 4 ranks use exchange::features"},
         [](const rig::communicator& here) {
           const operands of(here);
           using enum rig::exchange;
           of.a.prepare(of.rows, {.exchange = here.rank() == 3 ? features : fetch});
         });
}

TEST_CASE("a part is written through a view, which keeps its shape") {
  run_all(4, [](const rig::communicator& here) {
    operands of(here);
    dense<float> part = of.x.view();
    part(0, 0) = 5;
    part = dense<float>(1, 1);
    if (of.x.local()(0, 0) != 5 || of.x.local().rows() != 3) throw std::runtime_error("view");
  });
}

TEST_CASE("refusals name the remedy") {
  const auto product = [](auto semiring, rig::descriptor desc) {
    return [=](const rig::communicator& here) {
      const operands of(here);
      rig::mxm(of.a, of.x, semiring, desc);
    };
  };
  expect(rig::errc::cannot, {"does not transpose X"}, product(sums(), {.transpose_b = true}));
  expect(rig::errc::cannot,
         {"multiply of weighted_by_place reads positions", "use exchange::features"},
         product(weighted_by_place(), {.exchange = rig::exchange::fetch}));
  expect(rig::errc::range, {"exchange 7 is outside"},
         product(sums(), {.exchange = static_cast<rig::exchange>(7)}));
  expect(rig::errc::shape, {"A is 12x12, X is 8x1"}, [](const rig::communicator& here) {
    const operands of(here);
    const auto rows = rig::layout::contiguous(here, 2);
    rig::mxm(of.a, distributed<dense<float>>::from_rows(here, dense<float>(2, 1), rows), sums());
  });
  expect(rig::errc::type, {"X is a column of another type than plus_times reads", "convert X"},
         [](const rig::communicator& here) {
           const operands of(here);
           const dense<rig::half> part(3, 1);
           rig::mxm(of.a, distributed<dense<rig::half>>::from_rows(here, part, of.rows), sums());
         });
  expect(rig::errc::cannot, {"takes no mask; use exchange::fetch"},
         [](const rig::communicator& here) {
           const operands of(here);
           rig::mxm(of.a, of.x, sums(), rig::values(of.x), {.exchange = rig::exchange::features});
         });
  expect(rig::errc::shape, {"distribute it by A.layout()"}, [](const rig::communicator& here) {
    const operands of(here);
    const auto rows =
        rig::layout::by_partition(std::vector<int>{3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0}, 4);
    const auto m = distributed<dense<float>>::from_whole(here, random_dense<float>(12, 3, 2), rows);
    rig::mxm(of.a, of.x, sums(), rig::values(m));
  });
}

TEST_CASE("layouts and communicators") {
  const auto code = [](auto work) {
    try {
      work();
    } catch (const rig::error& cause) {
      return std::string(cause.what());
    }
    return std::string("no error");
  };
  CHECK(code([] { rig::loopback(0); }) == "loopback: 0 is no number of ranks; pass at least 1");
  CHECK(code([] {
          rig::layout::by_partition(std::vector<int>{0, 2, 1}, 2);
        }) == "layout: row 1 is on rank 2, outside 0 … 1; give each row the number of its rank");
  CHECK(code([] {
          rig::layout::contiguous(std::vector<long>{1, 1L << 40});
        }) == "layout: rank 1 has 1099511627776 rows after 1; a layout has 0 … 2147483647 rows");
  CHECK(rig::layout::by_partition(std::vector<int>{0, 0, 2, 2, 2}, 4) ==
        rig::layout::contiguous(std::vector<int>{2, 0, 3, 0}));
  const auto odd = rig::layout::by_partition(std::vector<int>{1, 0, 1, 0}, 2);
  CHECK(odd.rows_of(1) == 2);
  CHECK(odd.row_at(1, 1) == 2);
  CHECK(odd.place_of(3) == 1);
  CHECK(!odd.is_contiguous());
  run_all(3, [](const rig::communicator& here) {
    const auto rows = rig::layout::contiguous(here, here.rank());
    if (rows.rows() != 3 || rows.rows_of(2) != 2 || rows.rank_of(0) != 1)
      throw std::runtime_error("contiguous");
    here.barrier();
    if (here.all_reduce(here.rank(), rig::joining::sum) != 3) throw std::runtime_error("sum");
  });
}

}  // namespace
