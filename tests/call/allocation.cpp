// Every allocation of every call fails in turn: the error is out_of_memory, inputs and C stay, and
// nothing leaks. The last tests bound the bytes that a call allocates.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <vector>

#include "failing_allocator.hpp"
#include "io/files.hpp"
#include "rig/check_semiring.hpp"
#include "rig/generate.hpp"
#include "rig/mxv.hpp"
#include "rig/rig.hpp"

namespace {

using rig::dense;
using rig::index;
using rig::matrix;

struct operands {
  matrix<float> a;
  dense<float> b{60, 60, 1.0f}, c{60, 60, 42.0f};

  operands() {
    std::vector<index> i, j;
    std::vector<float> v;
    for (index k = 0; k < 60; ++k)
      for (const index step : {1, 7, 20}) {
        i.push_back(k);
        j.push_back((k + step) % 60);
        v.push_back(static_cast<float>(step));
      }
    a = matrix<float>::from_tuples(60, 60, i, j, v);
  }
  bool intact() const {
    for (index i = 0; i < 60; ++i)
      for (index j = 0; j < 60; ++j)
        if (c(i, j) != 42 || b(i, j) != 1) return false;
    return a.nnz() == 180 && a.value(0) == 1;
  }
};

TEST_CASE("a product without room for its entries says how many there are") {
  const auto a = rig::generate::from_text("rmat:10:8");
  const auto mask = rig::generate::from_text("uniform:1024:300");
  for (const bool masked : {false, true}) {
    const auto made = [&] {
      return masked ? rig::mxm(a, a, rig::plus_times<float>(), rig::structure(mask),
                               {.kernel = "gustavson"})
                    : rig::mxm(a, a, rig::plus_times<float>(), {.kernel = "gustavson"});
    };
    const rig::int64 nnz = made().nnz();
    std::string text;
    most_bytes = 1 << 14;
    try {
      made();
    } catch (const rig::error& e) {
      CHECK(e.code() == rig::errc::out_of_memory);
      text = e.what();
    }
    most_bytes = SIZE_MAX;
    CAPTURE(text);
    CHECK(text.find("the product has " + std::to_string(nnz) + " entries, which need " +
                    std::to_string(8 * nnz) + " bytes on cpu") != text.npos);
  }
}

TEST_CASE("a product without room for its sums says what they need") {
  const auto one = matrix<float>::from_positions(2, 2, std::vector{0}, std::vector{0});
  const auto wide = matrix<float>::from_positions(2, 200000, std::vector{0}, std::vector{7});
  const auto u = rig::vector<float>::from_indices(2, std::vector{0});
  const auto said = [](auto work) {
    std::string text;
    most_bytes = 1 << 16;
    try {
      work();
    } catch (const rig::error& e) {
      CHECK(e.code() == rig::errc::out_of_memory);
      text = e.what();
    }
    most_bytes = SIZE_MAX;
    return text;
  };
  const rig::plus_times<float> s;
  const std::string needs = "a row of sums for 200000 columns needs 800000 bytes on cpu";
  CHECK(said([&] { rig::mxm(one, wide, s); }).find(needs) != std::string::npos);
  CHECK(said([&] { rig::vxm(u, wide, s); }).find(needs) != std::string::npos);
}

TEST_CASE("products") {
  operands o;
  const auto without_derived = [&] { o.a.drop_derived(); };
  const auto intact = [&] { return o.intact(); };
  const rig::plus_times<float> s;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const char* kernel : {"", "row", "split", "adaptive"}) {
        const rig::descriptor desc{
            .transpose_a = ta, .transpose_b = tb, .kernel = kernel, .width = 2, .rescale = true};
        check_every_failure(
            2 + ta * 4 + tb, without_derived,
            [&] { static_cast<void>(rig::mxm(o.a, o.b, s, desc)); }, intact);
        check_every_failure(
            2, without_derived,
            [&] { static_cast<void>(rig::mxm(o.a, o.b, s, rig::values(o.c), desc)); }, intact);
        // A success changes C, so each attempt starts with a new one.
        dense<float> c(60, 60);
        const auto again = [&] {
          without_derived();
          for (index i = 0; i < 60; ++i) std::ranges::fill(c.row(i), 42.0f);
        };
        const auto c_intact = [&] { return c(0, 0) == 42 && c(59, 59) == 42 && o.intact(); };
        check_every_failure(
            1, again, [&] { rig::mxm(c, rig::accumulator::plus, o.a, o.b, s, desc); }, c_intact);
      }
}

/// Calls on operands, of which every allocation fails in turn.
struct failing_calls : operands {
  template <class Work>
  void fails(int at_least, Work work) {
    check_every_failure(
        at_least, [&] { a.drop_derived(); }, work, [&] { return intact(); });
  }
};

TEST_CASE("operations by elements") {
  failing_calls o;
  using rig::binary;
  o.fails(3, [&] { rig::ewise_add(o.a, o.a, binary::plus, {.transpose_b = true}); });
  o.fails(3, [&] { rig::ewise_mult(o.a, o.a, binary::plus, rig::values(o.b)); });
  o.fails(1, [&] { rig::apply(o.a, rig::unary::square); });
  o.fails(1, [&] { rig::apply(o.b, rig::unary::square); });
  o.fails(3, [&] { rig::select(o.a, rig::selection::greater, 5); });
  o.fails(2, [&] { rig::ewise_add(o.a, o.b, binary::plus); });
  o.fails(1, [&] { rig::ewise_mult(o.b, o.a, binary::plus); });
  o.fails(3, [&] { rig::edge_softmax(o.a, rig::structure(o.a)); });
}

TEST_CASE("sums") {
  failing_calls o;
  using rig::binary;
  o.fails(3, [&] { rig::reduce_columns(o.a, binary::plus); });
  o.fails(1, [&] { rig::reduce(o.a, binary::plus); });
  o.fails(2, [&] { rig::reduce_rows(o.b, binary::plus); });
  o.fails(2, [&] { rig::reduce_columns(o.b, binary::plus); });
  o.fails(2, [&] { rig::reduce_rows(o.a, rig::arg_max_second<float>()); });
}

TEST_CASE("parts, moves and conversions") {
  failing_calls o;
  using rig::binary;
  const std::vector<index> order{5, 3, 59, 3};
  o.fails(3, [&] { rig::extract(o.a, order, order); });
  o.fails(3, [&] { rig::kronecker(o.a, o.a, binary::plus); });
  o.fails(3, [&] { rig::diag(rig::diag(o.a, 1)); });
  o.fails(3, [&] { rig::to_tuples(o.a); });
  o.fails(3, [&] { rig::vector<float>::from_indices(60, order, 1, true).to_dense(); });
  o.fails(1, [&] { rig::vector<float>::from(dense<float>::view(o.b.data(), 3600, 1)); });
  o.fails(1, [&] { rig::extract(o.b, order, order); });
  const auto u = dense<float>::view(o.b.data(), 60, 1);
  const rig::indices all_of_u = rig::range{0, 60};
  o.fails(3, [&] { rig::build(60, 60, all_of_u, rig::range{59, -1, -1}, dense<float>(u)); });
  for (const auto by : {rig::ordering::loa, rig::ordering::degree, rig::ordering::rcm})
    o.fails(3, [&] { rig::permute(o.a, rig::reorder(o.a, by)); });
  o.fails(1, [&] { rig::entries_per_tile(o.a); });
}

TEST_CASE("products of sparse operands") {
  failing_calls o;
  const auto u = dense<float>::view(o.b.data(), 60, 1);
  o.fails(3, [&] { rig::vxm(u, o.a, rig::plus_first<float>()); });
  const auto sparse = rig::vector<float>::from_indices(o.a.rows(), std::vector{0, 1});
  const rig::plus_times<float> plus_times;
  o.fails(3, [&] { rig::mxm(o.a, o.a, plus_times, {.transpose_b = true}); });
  o.fails(3, [&] { rig::mxm(o.a, o.a, plus_times, rig::structure(o.a), {.kernel = "dot"}); });
  o.fails(3, [&] { rig::mxm(u, u, plus_times, rig::structure(o.a), {.transpose_b = true}); });
  // Enough products that the choice counts the columns that a dense mask allows.
  const auto full = rig::generate::from_text("cliques:60:60");
  const auto unmarked = rig::complement(rig::values(o.b));
  for (const int threads : {1, 3}) {
    const rig::descriptor desc{.transpose_b = true, .threads = threads};
    o.fails(3, [&] { rig::mxm(full, full, plus_times, unmarked, desc); });
    o.fails(3, [&] { rig::mxm(full, full, plus_times, rig::values(o.b), desc); });
    o.fails(3, [&] { static_cast<void>(rig::explain(full, full, plus_times, unmarked, desc)); });
  }
  for (const char* kernel : {"push", "pull"})
    o.fails(3, [&] { rig::vxm(sparse, o.a, plus_times, {.kernel = kernel}); });
}

TEST_CASE("pieces of a product that grow") {
  // More entries than the first block of a piece takes, on one thread.
  constexpr index n = 1200, wide = 1 << 21;
  std::vector<index> i, j, all_columns(wide);
  for (index k = 0; k < n; ++k)
    for (const index inner : {0, 1}) {
      i.push_back(k);
      j.push_back(inner);
    }
  std::iota(all_columns.begin(), all_columns.end(), 0);
  const auto tall = matrix<float>::from_positions(n, 2, i, j), flat = rig::transpose(tall);
  const auto row = matrix<float>::from_positions(1, wide, std::vector<index>(wide), all_columns);
  row.prepare({.transpose_a = true});
  const auto one = rig::vector<float>::from_indices(1, std::vector{0});
  const rig::plus_times<float> s;
  for (const int threads : {1, 2}) {
    rig::mxm(tall, tall, s, {.transpose_b = true, .threads = threads});  // starts the threads
    const long before = in_regions;
    const auto product = rig::mxm(tall, flat, s, {.kernel = "gustavson", .threads = threads});
    const auto pulled = rig::vxm(one, row, s, {.kernel = "pull", .threads = threads});
    CHECK(in_regions == before);
    REQUIRE(product.nnz() == rig::int64{n} * n);
    for (const rig::int64 e : {rig::int64{0}, product.nnz() / 2, product.nnz() - 1}) {
      CHECK(product.structure().column_indices()[e] == e % n);
      CHECK(product.value(e) == 2);
    }
    REQUIRE(pulled.nnz() == wide);
    CHECK(pulled == rig::vector<float>(row));
  }
}

TEST_CASE("assignments to a dense") {
  operands o;
  const auto without_derived = [&] { o.a.drop_derived(); };
  dense<float> written(60, 60, 4);
  const auto written_intact = [&] { return written(59, 59) == 4 && written(0, 0) == 4; };
  const std::vector<index> twice(60, 7);
  check_every_failure(
      2, without_derived,
      [&] {
        rig::assign(written, rig::accumulator::plus, o.b, twice, rig::all);
        written = dense<float>(60, 60, 4);
      },
      written_intact);
}

TEST_CASE("sparse operations into an existing result") {
  operands o;
  const auto without_derived = [&] { o.a.drop_derived(); };
  const std::vector<index> order{5, 3, 59, 3};
  using rig::binary;
  matrix<float> c;
  const auto again = [&] {
    without_derived();
    c = o.a;
  };
  const auto c_intact = [&] { return c.nnz() == 180 && c.value(0) == 1 && o.intact(); };
  check_every_failure(
      3, again,
      [&] {
        rig::ewise_add(c, rig::accumulator::plus, o.a, c, binary::minus, rig::structure(o.b));
      },
      c_intact);
  check_every_failure(
      3, again,
      [&] {
        rig::assign(c, rig::none, o.a, rig::range{59, -1, -1}, rig::all);
      },
      c_intact);
  check_every_failure(
      3, again, [&] { rig::assign(c, rig::none, 2, order, rig::all, rig::values(o.b)); }, c_intact);
}

TEST_CASE("aliased and indexed products") {
  operands o;
  dense<float> c(60, 60);
  const auto again = [&] {
    o.a.drop_derived();
    for (index i = 0; i < 60; ++i) std::ranges::fill(c.row(i), 42.0f);
  };
  const auto intact = [&] { return c(0, 0) == 42 && c(59, 59) == 42; };
  const rig::plus_times<float> s;
  check_every_failure(
      2, again, [&] { rig::mxm(c, rig::none, o.a, c, s, rig::values(c)); }, intact);
  check_every_failure(
      3, again,
      [&] { rig::mxm(c, rig::none, o.a, c, s, {.transpose_b = true, .kernel = "split"}); }, intact);

  rig::indexed_dense<float> best{dense<float>(60, 60), dense<int>(60, 60)};
  const auto once_more = [&] {
    o.a.drop_derived();
    best.values(0, 0) = 42;
    best.indices(0, 0) = 42;
  };
  const auto best_intact = [&] { return best.values(0, 0) == 42 && best.indices(0, 0) == 42; };
  const rig::arg_max_second<float> arg;
  check_every_failure(
      4, once_more, [&] { static_cast<void>(rig::mxm(o.a, o.b, arg)); }, best_intact);
  check_every_failure(
      3, once_more, [&] { rig::mxm(best, rig::none, o.a, best.values, arg, {.kernel = "split"}); },
      best_intact);
}

TEST_CASE("maxk, and products with its cbsr") {
  operands o;
  const auto without_derived = [&] { o.a.drop_derived(); };
  const auto intact = [&] { return o.intact(); };
  const rig::plus_times<float> s;
  const rig::cbsr<float> y = rig::maxk(o.b, 5);
  check_every_failure(
      3, nothing, [&] { static_cast<void>(rig::maxk(o.b, 5)); }, intact);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(rig::to_dense(y)); }, intact);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(rig::maxk_gradient(o.b, y)); }, intact);
  check_every_failure(
      2, without_derived, [&] { static_cast<void>(rig::mxm(o.a, y, s)); }, intact);
  check_every_failure(
      4, without_derived,
      [&] { static_cast<void>(rig::mxm(o.a, o.b, s, {.kernel = "maxk", .k = 5})); }, intact);
  check_every_failure(
      4, without_derived,
      [&] { static_cast<void>(rig::mxm(o.a, o.b, s, rig::structure(y), {.transpose_a = true})); },
      intact);
}

TEST_CASE("a row that is split") {
  std::vector<index> i(70000, 1), j(70000);
  for (index k = 0; k < 70000; ++k) j[k] = k;
  const auto a = matrix<float>::from_positions(3, 70000, i, j);
  const dense<float> b(70000, 2, 1.0f);
  check_every_failure(
      3, [&] { a.drop_derived(); },
      [&] { static_cast<void>(rig::mxm(a, b, rig::plus_times<float>{}, {.kernel = "split"})); },
      always);
}

TEST_CASE("construction") {
  const std::vector<index> i{1, 0, 1, 1}, j{2, 0, 2, 0};
  const std::vector<float> v{1, 2, 3, 4};
  const auto sum = [](float x, float y) { return x + y; };
  check_every_failure(
      5, nothing, [&] { matrix<float>::from_tuples(2, 3, i, j, v, sum); }, always);
  check_every_failure(
      3, nothing, [&] { matrix<float>::from_positions(2, 3, i, j, 1.0f, true); }, always);
  check_every_failure(
      2, nothing, [&] { matrix<float>(5, 5); }, always);
  check_every_failure(
      2, nothing, [&] { matrix<float>(); }, always);

  const std::vector<long> offsets{0, 2, 4}, wide_columns{2, 0, 0, 1};
  const std::vector<int> columns{2, 0, 0, 1};
  const std::span<const long> o(offsets);
  const std::span<const float> values(v);
  check_every_failure(
      3, nothing,
      [&] {
        matrix<float>::from_csr(2, 3, o, std::span<const int>(columns), values, rig::input::sorted);
      },
      always);
  check_every_failure(
      4, nothing,
      [&] {
        matrix<float>::from_csr(2, 3, o, std::span<const long>(wide_columns), values,
                                rig::input::sorted);
      },
      always);
  check_every_failure(
      2, nothing,
      [&] {
        matrix<float>::from_csr(2, 3, o, std::span<const int>(columns), rig::input::sorted, 1.0f);
      },
      always);
  check_every_failure(
      1, nothing,
      [&] {
        matrix<float>::view(2, 3, o, std::span<const int>(columns), values, rig::input::trusted);
      },
      always);

  const operands kept;
  const std::vector<double> weights(180, 0.5);
  check_every_failure(
      1, nothing, [&] { kept.a.with_values(std::span<const double>(weights)); }, always);
  check_every_failure(
      1, nothing, [&] { dense<float>(30, 30); }, always);
  check_every_failure(
      1, nothing, [&] { const dense<float> copy = kept.b; }, always);
}

TEST_CASE("derived structures and explain") {
  operands o;
  const auto none = [&] {
    return o.a.derived_structures().empty() || o.a.derived_structures().size() < 2;
  };
  check_every_failure(
      5, [&] { o.a.drop_derived(); }, [&] { o.a.prepare({.transpose_a = true}); }, none);
  o.a.prepare({.transpose_a = true});
  check_every_failure(
      1, nothing, [&] { o.a.derived_structures(); }, always);
  check_every_failure(
      3, [&] { o.a.drop_derived(); },
      [&] { static_cast<void>(rig::explain(o.a, o.b, rig::plus_times<float>{})); }, always);
}

TEST_CASE("explain, the sampling report, and the devices") {
  operands o;
  const rig::descriptor sampled{.kernel = "adaptive", .width = 2};
  const rig::explanation choice = rig::explain(o.a, o.b, rig::plus_times<float>{}, sampled);
  const rig::sampling_statistics sample = rig::sampling_report(o.a, sampled);
  check_every_failure(
      3, nothing, [&] { static_cast<void>(choice.text()); }, always);
  check_every_failure(
      3, nothing, [&] { static_cast<void>(choice.json()); }, always);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(sample.text()); }, always);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(rig::sampling_report(o.a, sampled)); }, always);
  check_every_failure(
      1, nothing, [] { static_cast<void>(rig::devices()); }, always);
  check_every_failure(
      1, nothing, [] { static_cast<void>(to_string(rig::cuda(-2147483647))); }, always);
  check_every_failure(
      1, [&] { o.a.drop_derived(); },
      [&] { static_cast<void>(o.a.structure().derived_of<rig::row_lengths>()); }, always);
}

TEST_CASE("the laws of a semiring, zeros, and what an order costs in words") {
  const auto check = [](int at_least, auto work) {
    check_every_failure(at_least, nothing, work, always);
  };
  check(1, [] { static_cast<void>(rig::buffer::zeros(8u << 20)); });
  check(1, [] { static_cast<void>(rig::order_explanation().text()); });
  // Too many allocations for a try with each.
  goes_on_failing = false;
  for (const long n : {0, 1, 10, 100, 1000}) {
    until_failure = n;
    CHECK_THROWS_AS(static_cast<void>(rig::check_semiring<rig::plus_times<int>>()), rig::error);
    until_failure = never;
  }
}

TEST_CASE("graphs") {
  namespace generate = rig::generate;
  const operands o;
  const std::vector<float> factors(60, 2.0f);
  const std::span<const float> scale(factors);
  const auto check = [](int at_least, auto work) {
    check_every_failure(at_least, nothing, work, always);
  };
  check(4, [&] { rig::symmetrise(o.a); });
  check(4, [&] { rig::add_self_loops(o.a); });
  check(1, [&] { rig::scale_rows(o.a, scale); });
  check(1, [&] { rig::scale_columns(o.a, scale); });
  check(4, [&] { rig::gcn_normalise(o.a); });
  check(1, [&] { rig::mean_normalise(o.a); });
  const std::vector<index> fan_outs = {2, 2};
  check(4, [&] { rig::sample(o.a, {.width = 2, .seed = 1, .rescale = true}); });
  check(8, [&] { rig::neighbours(o.a, rig::range{0, 4}, fan_outs, 1); });
  check(8, [&] {
    rig::choose_sample(o.a, o.b, rig::mean_second<float>{}, {.tolerance = 1, .rows = 20});
  });
  check(4, [] { generate::karate(); });
  check(4, [] { generate::rmat(5, 4); });
  check(4, [] { generate::uniform(20, 4); });
  check(4, [] { generate::grid(5, 7); });
  check(4, [] { generate::cliques(9, 4); });
  check(4, [] { generate::banded(9, 4); });
  check(8, [] { generate::community({30, 4, 3, 0.2, 2.5, 9, 1}); });
  check(6, [&] { generate::shuffled(o.a); });
  check(1, [&] { generate::random_values(o.a); });
  check(5, [] { generate::from_text("grid:5:7"); });
  check(1, [&] { generate::degree_quantiles(o.a.structure()); });
}

TEST_CASE("codes") {
  const operands o;
  const rig::quantized q = rig::quantized::from(o.b);
  const std::vector<unsigned char> codes(6, 1);
  const std::vector<float> low{0}, step{1};
  check_every_failure(
      3, nothing, [&] { rig::quantized::from(o.b); }, always);
  check_every_failure(
      1, nothing, [&] { rig::quantized::from_codes(2, 3, codes, low, step); }, always);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(q.dequantised<float>()); }, always);
}

TEST_CASE("files: a failed write leaves the old file") {
  const operands o;
  const rig::quantized q = rig::quantized::from(o.b);
  const std::string path = scratch() / "a_path_too_long_for_the_string_to_hold_it_itself";
  const auto check = [&](int at_least, auto write, auto read) {
    const auto before = [&] { file_of(path, "before"); };
    check_every_failure(at_least, before, write, [&] { return bytes_of(path) == "before"; });
    write();
    check_every_failure(at_least, nothing, read, always);
  };
  check(
      2, [&] { rig::write_matrix(path, o.a); }, [&] { rig::read_matrix<float>(path); });
  check(
      3, [&] { rig::write_dense(path, o.b); }, [&] { rig::read_dense<float>(path); });
  check(
      5, [&] { rig::write_quantized(path, q); }, [&] { rig::read_quantized(path); });
  file_of(path, "0,2\n1,0\n0,2\n");
  check_every_failure(
      5, nothing, [&] { rig::read_matrix<float>(path, {.separator = ',', .symmetrise = true}); },
      always);
}

/// Makes each allocation of `work` fail. `work` itself is refused, so it always throws rig::error.
template <class Work>
void check_refusal(Work work) {
  for (const bool all_after_it : {false, true}) {
    bool refused = false;
    const auto attempt = [&] {
      try {
        work();
      } catch (const rig::error& e) {
        until_failure = never;
        refused = e.code() != rig::errc::out_of_memory;
        CHECK((failed || refused));
      }
    };
    CHECK(count_down(all_after_it, nothing, attempt, always).others == 0);
    CHECK(refused);
  }
}

TEST_CASE("refusals") {
  const operands o;
  const dense<float> small(2, 3);
  const matrix<float> oblong(200000, 30000);
  const std::vector<float> values(4, 1.0f);
  const std::vector<index> columns{0, 1, 0, 1};
  const std::span<const float> four(values);
  const std::string path = file_of("refused", "0 1 2 and more than a string holds by itself\n"),
                    missing = path + "_that_is_missing", in_missing = missing + "/file";
  const rig::plus_times<float> s;
  const rig::descriptor unknown{.kernel = "a name that no kernel has"},
      unable{.kernel = "maxk_backward"}, wide{.kernel = "maxk", .k = 1000000};
  check_refusal([&] { rig::generate::from_text("a name that no recipe and no graph has"); });
  check_refusal([&] { rig::generate::named("a name that no recipe and no graph has"); });
  check_refusal([&] { rig::cbsr<float>::from(2, 99999, 2, four, columns); });
  check_refusal([&] { rig::cbsr_pattern::uninitialised(2, 1000000, 2000000); });
  check_refusal([&] { rig::maxk(o.b, 1000000); });
  check_refusal([&] { static_cast<void>(rig::mxm(o.a, o.b, s, unknown)); });
  check_refusal([&] { static_cast<void>(rig::mxm(o.a, o.b, s, unable)); });
  check_refusal([&] { static_cast<void>(rig::mxm(o.a, o.b, s, wide)); });
  check_refusal([&] { static_cast<void>(rig::mxm(o.a, small, s)); });
  check_refusal([&] { static_cast<void>(rig::explain(o.a, small, s)); });
  check_refusal([&] { static_cast<void>(rig::sampling_report(o.a, rig::descriptor())); });
  check_refusal([&] { rig::symmetrise(oblong); });
  check_refusal([&] { rig::scale_rows(oblong, four); });
  check_refusal([&] { rig::read_matrix<float>(path); });
  check_refusal([&] { rig::read_dense<float>(path); });
  check_refusal([&] { rig::read_quantized(path); });
  check_refusal([&] { rig::read_dense<float>(missing); });
  check_refusal([&] { rig::write_matrix(in_missing, o.a); });
  check_refusal([&] { rig::write_dense(in_missing, o.b); });
}

/// The bytes that `work` allocates.
template <class Work>
long bytes_of(Work work) {
  const long before = bytes_asked;
  work();
  return bytes_asked - before;
}

TEST_CASE("a product allocates its result, and scratch for its threads") {
  constexpr index n = 20000, f = 64;
  std::vector<index> i, j;
  for (index k = 0; k < n; ++k)
    for (index step = 1; step <= 8; ++step) {
      i.push_back(k);
      j.push_back((k + step * 17) % n);
    }
  const auto a = matrix<float>::from_positions(n, n, i, j);
  const dense<float> b(n, f, 1.0f);
  dense<float> c(n, f);
  const rig::plus_times<float> s;
  // The sums of 32 row segments, and the control blocks of shared structures.
  constexpr long scratch = 32 * f * static_cast<long>(sizeof(float)) + 4096;
  constexpr long result = static_cast<long>(n) * f * static_cast<long>(sizeof(float));
  for (const char* kernel : {"", "row", "split"})
    for (const int threads : {1, 2, 7}) {
      const rig::descriptor desc{.kernel = kernel, .threads = threads};
      a.drop_derived();
      CHECK(bytes_of([&] { rig::mxm(c, rig::none, a, b, s, desc); }) <= scratch);
      CHECK(bytes_of([&] { rig::mxm(c, rig::accumulator::plus, a, b, s, rig::values(b), desc); }) <=
            scratch);
      const long fresh = bytes_of([&] { static_cast<void>(rig::mxm(a, b, s, desc)); });
      CHECK(fresh >= result);
      CHECK(fresh <= result + scratch);
    }
}

/// The bytes of memory that this process holds.
long resident() {
  std::ifstream file("/proc/self/statm");
  long pages = 0;
  file >> pages >> pages;
  REQUIRE(file);
  return pages * sysconf(_SC_PAGESIZE);
}

TEST_CASE("an empty matrix takes no memory, however many rows it has") {
  constexpr long little = 8 << 20;
  const auto check_little = [&](index rows, const auto& make) {
    const long before = resident();
    const matrix<float> made = make(rows);
    CHECK(made.rows() == rows);
    CHECK(made.nnz() == 0);
    CHECK(made.structure().offset(rows) == 0);
    CHECK(!made.structure().offsets_64());
    REQUIRE(resident() - before < little);
  };
  // The small case comes first, so that a defect does not fill the machine's memory.
  for (const index rows : {100'000'000, INT_MAX}) {
    check_little(rows, [](index n) { return matrix<float>(n, n); });
    check_little(rows, [](index n) {
      return matrix<float>::from_tuples(n, 1, std::span<const index>(), std::span<const index>(),
                                        std::span<const float>());
    });
    check_little(rows, [](index n) {
      const auto flipped = matrix<float>(1, n).structure().derived_of<rig::transposed>();
      return matrix<float>(flipped->structure);
    });
  }
}

TEST_CASE("offsets of a few tuples are counted in place") {
  constexpr index rows = 20'000'000;
  const std::vector<index> i{rows - 1, 5, 5}, j{0, 1, 0};
  const std::vector<float> v{1, 2, 3};
  long asked = bytes_asked;
  const auto a = matrix<float>::from_tuples(rows, 2, i, j, v);
  CHECK(bytes_asked - asked < 4l * rows + 4096);
  CHECK(a.structure().offset(6) == 2);
  CHECK(a.structure().offset(rows) == 3);
  asked = bytes_asked;
  const auto flat = matrix<float>::from_positions(2, rows, j, i);
  flat.prepare({.transpose_a = true});
  CHECK(bytes_asked - asked < 4l * rows + 4096);
}

}  // namespace
