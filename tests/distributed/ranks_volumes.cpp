// The volumes that explain reports are those of a direct count, and those that a product moves.

#include <doctest/doctest.h>

#include <functional>
#include <numeric>
#include <set>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::int64;
using rig::matrix;
using sums = rig::plus_times<float>;

/// A communicator that counts the bytes that it sends to each rank.
struct counting {
  rig::communicator inner;
  std::vector<int64> sent;
};
const rig::communicator::functions counted = {
    [](void* state, std::span<const rig::message> sends, std::span<const rig::message> receives,
       void* stream) {
      auto& here = *static_cast<counting*>(state);
      for (const rig::message& m : sends)
        here.sent[static_cast<std::size_t>(m.rank)] += static_cast<int64>(m.bytes);
      here.inner.exchange(sends, receives, stream);
    },
    [](void* state, int64 number, rig::joining how) {
      return static_cast<counting*>(state)->inner.all_reduce(number, how);
    },
    [](void* state) { static_cast<counting*>(state)->inner.barrier(); }};

/// Rows of X that rank `to` needs of rank `from`, by sets.
int64 rows_needed(const matrix<float>& a, const rig::layout& rows, int from, int to) {
  std::set<index> needed;
  for (const auto& [i, j, value] : a.entries())
    if (rows.rank_of(i) == to && rows.rank_of(j) == from) needed.insert(j);
  return static_cast<int64>(needed.size());
}

/// What each rank finds: explain's bytes are those that a product sends.
template <class S = sums>
void compare_volumes(const matrix<float>& a, int size, int kind, index features, rig::exchange by,
                     bool from_features) {
  const auto rows = layout_of(a.structure(), size, kind, 20);
  rig::ranks_explanation why;
  std::vector<std::vector<int64>> sent(static_cast<std::size_t>(size));
  run_all(size, [&](const rig::communicator& inner) {
    const auto state = std::make_shared<counting>(
        counting{inner, std::vector<int64>(static_cast<std::size_t>(size), 0)});
    const rig::communicator here(inner.rank(), size, counted, state);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto x = random_dense<float>(a.columns(), features, 21);
    auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    if (from_features) of_x = of_x.by_features();
    const auto of_this = rig::explain(part, of_x, S(), {.exchange = by});
    if (here.rank() == 0) why = of_this;
    part.prepare(rows, {.exchange = by});
    state->sent.assign(static_cast<std::size_t>(size), 0);
    rig::mxm(part, of_x, S(), {.exchange = by});
    sent[static_cast<std::size_t>(here.rank())] = state->sent;
  });
  REQUIRE(why.bytes.size() == static_cast<std::size_t>(size * size));
  int64 largest = 0, all = 0;
  for (int to = 0; to < size; ++to) {
    int64 received = 0;
    for (int from = 0; from < size; ++from) {
      const int64 bytes = why.bytes[static_cast<std::size_t>(from * size + to)];
      CHECK(bytes == sent[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]);
      if (by == rig::exchange::fetch && !from_features && from != to)
        CHECK(bytes == rows_needed(a, rows, from, to) * features * int64{sizeof(float)});
      received += bytes;
    }
    largest = std::max(largest, received);
    all += received;
  }
  CHECK(why.largest_bytes == largest);
  CHECK(why.mean_bytes == doctest::Approx(static_cast<double>(all) / size));
  CHECK(why.scheme == by);
  if (by == rig::exchange::features) {
    int64 most = 0;
    for (int rank = 0; rank < size; ++rank) {
      int64 computed = 0;
      for (const auto& part : rig::on_cpu::column_parts<S>(features * rank / size,
                                                           features * (rank + 1) / size, features))
        computed += part.computed;
      most = std::max(most, computed);
    }
    CHECK(why.largest_part == doctest::Approx(double(most) / features));
    CHECK(why.largest_part >= double((features + size - 1) / size) / features);
    return;
  }
  int64 interior = 0, most = 0;
  for (int rank = 0; rank < size; ++rank) {
    std::set<index> outside;
    int64 entries = 0;
    for (const auto& [i, j, value] : a.entries()) {
      entries += rows.rank_of(i) == rank;
      if (rows.rank_of(i) == rank && rows.rank_of(j) != rank) outside.insert(i);
    }
    interior += rows.rows_of(rank) - static_cast<int64>(outside.size());
    most = std::max(most, entries);
  }
  CHECK(why.interior == doctest::Approx(double(interior) / a.rows()));
  CHECK(why.largest_part == doctest::Approx(double(most) / double(a.nnz())));
  CHECK(why.text().find("named by the descriptor") != std::string::npos);
}

TEST_CASE("volumes by pair") {
  const auto a = rig::generate::rmat(7, 8);
  for (const int size : {1, 2, 5, 7})
    for (const int kind : {0, 1})
      for (const index features : {1, 3, 32})
        for (const bool from_features : {false, true}) {
          compare_volumes(a, size, kind, features, rig::exchange::fetch, from_features);
          compare_volumes(a, size, kind, features, rig::exchange::features, from_features);
          compare_volumes<rig::max_second<float>>(a, size, kind, features, rig::exchange::cover,
                                                  from_features);
        }
}

/// The same for two sparse matrices.
template <class TB>
void compare_sparse_volumes(const matrix<float>& a, const matrix<TB>& b, int size, int kind,
                            const rig::descriptor& desc = {}) {
  const auto rows = layout_of(a.structure(), size, kind, 23);
  rig::ranks_explanation why;
  std::vector<std::vector<int64>> sent(static_cast<std::size_t>(size));
  run_all(size, [&](const rig::communicator& inner) {
    const auto state = std::make_shared<counting>(
        counting{inner, std::vector<int64>(static_cast<std::size_t>(size), 0)});
    const rig::communicator here(inner.rank(), size, counted, state);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto of_b = distributed<matrix<TB>>::from_whole(here, b, rows);
    const auto of_this = rig::explain(part, of_b, sums(), desc);
    if (here.rank() == 0) why = of_this;
    state->sent.assign(static_cast<std::size_t>(size), 0);
    rig::mxm(part, of_b, sums(), desc);
    sent[static_cast<std::size_t>(here.rank())] = state->sent;
  });
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      CHECK(why.bytes[static_cast<std::size_t>(from * size + to)] ==
            sent[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]);
}

TEST_CASE("volumes of sparse products") {
  const auto a = rig::generate::rmat(7, 8);
  for (const int size : {1, 2, 5, 7})
    for (const int kind : {0, 1}) {
      compare_sparse_volumes(a, random_matrix<float>(a.rows(), 40, 3, 24), size, kind);
      compare_sparse_volumes(a, a.with_value(1.0f), size, kind, {.transpose_a = true});
      compare_sparse_volumes(a, random_matrix<double>(a.rows(), 9, 3, 25), size, kind);
    }
}

/// Bytes of A that all ranks send before the first product by features, and what explain says.
void compare_gathered(const std::function<matrix<float>(int rank)>& values, int size) {
  const auto rows = rig::layout::by_entries(values(0).structure(), size);
  std::vector<int64> said(static_cast<std::size_t>(size)), moved = said;
  run_all(size, [&](const rig::communicator& inner) {
    const auto state = std::make_shared<counting>(
        counting{inner, std::vector<int64>(static_cast<std::size_t>(size), 0)});
    const rig::communicator here(inner.rank(), size, counted, state);
    const auto at = static_cast<std::size_t>(here.rank());
    const auto part = distributed<matrix<float>>::from_whole(here, values(here.rank()), rows);
    const auto x = distributed<dense<float>>::from_whole(here, dense<float>(rows.rows(), 7), rows);
    said[at] = rig::explain(part, x, sums(), {.exchange = rig::exchange::features}).bytes_once;
    state->sent.assign(static_cast<std::size_t>(size), 0);
    part.prepare(rows, {.exchange = rig::exchange::features});
    moved[at] = std::accumulate(state->sent.begin(), state->sent.end(), int64{0});
    const auto again = rig::explain(part, x, sums(), {.exchange = rig::exchange::features});
    require(again.bytes_once == 0, "A is gathered");
  });
  const int64 all = std::accumulate(moved.begin(), moved.end(), int64{0});
  for (const int64 bytes : said) CHECK(bytes == all);
}

TEST_CASE("bytes that the first product by features also moves") {
  const auto a = rig::generate::rmat(7, 8);
  for (const int size : {1, 2, 5}) {
    compare_gathered([&](int) { return rig::generate::random_values(a); }, size);
    compare_gathered([&](int) { return a.with_value(2.0f); }, size);
    compare_gathered([&](int rank) { return a.with_value(float(rank + 1)); }, size);
  }
}

TEST_CASE("seconds of a product") {
  rig::ranks_explanation why;
  why.largest_part = 0.25;
  why.largest_bytes = 1'000'000'000;
  CHECK(why.seconds(4, 1e9) == doctest::Approx(2));
  why.slices = 2;  // half the rows, the longer of the other half and half the product, the rest
  CHECK(why.seconds(4, 1e9) == doctest::Approx(1.5));
  CHECK(why.seconds(8, 1e9) == doctest::Approx(2.5));
  CHECK(why.seconds(1, 0.5e9) > 1);  // one rank is faster
  why.largest_bytes = 0;
  CHECK(why.seconds(4, 0) == doctest::Approx(1));
}

TEST_CASE("chained products by features move nothing") {
  const auto a = rig::generate::rmat(7, 8);
  run_all(4, [&](const rig::communicator& here) {
    const auto rows = rig::layout::by_entries(a.structure(), 4);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto x = random_dense<float>(a.columns(), 8, 22);
    auto h = distributed<dense<float>>::from_whole(here, x, rows).by_features();
    const auto why = rig::explain(part, h, sums());
    if (why.largest_bytes != 0 || why.bytes_once == 0) throw std::runtime_error("volume");
    for (int layer = 0; layer < 3; ++layer) h = rig::mxm(part, h, sums());
    auto expected = rig::mxm(a, rig::mxm(a, rig::mxm(a, x, sums()), sums()), sums());
    if (!same_bits(h.gather(), expected)) throw std::runtime_error("bits");
  });
}

TEST_CASE("the text") {
  // Rank 0 has all rows that others need.
  const auto star = matrix<float>::from_positions(4, 4, std::vector<int>{0, 1, 2, 3},
                                                  std::vector<int>{0, 0, 0, 0});
  std::string text;
  run_all(2, [&](const rig::communicator& here) {
    const auto rows = rig::layout::contiguous(std::vector<int>{1, 3});
    const auto part = distributed<matrix<float>>::from_whole(here, star, rows);
    const auto x = distributed<dense<float>>::from_whole(here, dense<float>(4, 2), rows);
    const auto why = rig::explain(part, x, sums());
    if (here.rank() == 0) text = why.text();
  });
  CHECK(text ==
        "mxm over 2 ranks: fetch (X is distributed by rows), kernel row\n"
        "a product moves 8 bytes; rank 1 receives most, 8, which is 200 % of the mean: another "
        "layout can balance the ranks\n"
        "25 % of the rows of A need no row of another rank; one rank has 75 % of the entries\n"
        "bytes from each rank, a line, to each rank:\n"
        "0\t8\n"
        "0\t0\n");
}

}  // namespace
