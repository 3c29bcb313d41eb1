// Operations other than products on a GPU: each gives what it gives on the CPU, bit by bit where
// the arithmetic is exact.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

RIG_SEMIRING(
    scaled_plus, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) { return 2 * a * b; });
RIG_OPERATOR(
    place_of,
    static constexpr rig::int64 apply(float x, rig::index i, rig::index j, rig::int64 width) {
      return i * width + j + (x > 0 ? 1000000 : 0);
    });
RIG_OPERATOR(
    is_odd, static constexpr bool apply(float, rig::index i, rig::index j, int y) {
      return (i + j) % 2 == y;
    });

namespace {

using rig::binary;
using rig::index;

/// The numbers of two places agree: functions are several roundings apart, and sums of so many
/// terms, of magnitude 4 at most, one more per term. Small floats are rounded alike.
template <class T>
bool are_near(T x, T y, rig::int64 terms = 0) {
  if constexpr (std::is_floating_point_v<T>) {
    const double scale = std::max(std::abs(x), std::abs(y)), n = static_cast<double>(terms);
    const double rounding = (8 + n) * double{std::numeric_limits<T>::epsilon()};
    return x == y || (x != x && y != y) ||
           std::abs(double(x) - double(y)) <=
               std::min(rounding * std::max(scale, 4 * n), 1e-5 * scale);
  } else if constexpr (rig::is_small_float<T>) {
    return are_near(float(x), float(y), terms);
  } else {
    return x == y;
  }
}

template <class T>
bool are_equal(const rig::matrix<T>& x, const rig::matrix<T>& y, rig::int64 terms = 0) {
  if (x.rows() != y.rows() || x.columns() != y.columns() || x.nnz() != y.nnz()) return false;
  const auto s = rig::to_tuples(x), t = rig::to_tuples(y);
  for (index p = 0; p < s.rows.rows(); ++p)
    if (s.rows(p, 0) != t.rows(p, 0) || s.columns(p, 0) != t.columns(p, 0) ||
        !are_near(s.values(p, 0), t.values(p, 0), terms))
      return false;
  return true;
}
template <class T>
bool are_equal(const rig::vector<T>& x, const rig::vector<T>& y, rig::int64 terms = 0) {
  return are_equal(x.as_row(), y.as_row(), terms);
}
template <class T>
bool are_equal(const rig::dense<T>& x, const rig::dense<T>& y, rig::int64 terms = 0) {
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.columns(); ++j)
      if (!are_near(x(i, j), y(i, j), terms)) return false;
  return x.rows() == y.rows() && x.columns() == y.columns();
}

/// Runs work(copy to a place) in both places and compares the results, which are sums of so many
/// terms.
template <class Work>
void same(const std::string& what, Work work, rig::int64 terms = 0) {
  INFO(what);
  const auto here = work([](const auto& x) { return x; });
  const auto there = work([](const auto& x) { return x.to(gpu); });
  CHECK(there.where() == gpu);
  CHECK(are_equal(here, there.to(rig::cpu()), terms));
}
/// No row or column has more entries.
template <class T>
rig::int64 most_terms(const rig::matrix<T>& a) {
  return std::max(a.rows(), a.columns());
}

template <class T>
rig::matrix<T> numbers(const rig::matrix<float>& a) {
  return rig::apply<T>(rig::apply(a, binary::times, 16.0f), rig::unary::round);
}

/// Tiles of a merge hold 2 048 rows and entries: smaller, as large, larger; skewed, long, empty.
std::vector<std::pair<std::string, rig::matrix<float>>> graphs() {
  std::vector<std::pair<std::string, rig::matrix<float>>> out;
  const auto add = [&](const std::string& name, const rig::matrix<float>& pattern) {
    out.emplace_back(name, rig::generate::random_values(pattern, 3));
  };
  for (const char* text : {"karate", "rmat:8:8", "rmat:12:16", "uniform:4096:3", "uniform:700:3"})
    add(text, rig::generate::from_text(text));
  add("empty", rig::matrix<float>(5000, 17));
  add("0x0", rig::matrix<float>(0, 0));
  std::vector<int> rows, columns;
  for (int j = 0; j < 9000; j += 2) rows.push_back(3), columns.push_back(j);
  rows.push_back(9000), columns.push_back(5);
  add("one long row", rig::matrix<float>::from_positions(9001, 9001, rows, columns));
  return out;
}

/// The same shape with other places.
rig::matrix<float> partner(const rig::matrix<float>& a) {
  std::vector<index> reversed;
  for (index k = a.rows(); k-- > 0;) reversed.push_back(k);
  return rig::extract(a, reversed, rig::all);
}

template <class T>
void merges(const std::string& name, const rig::matrix<float>& graph) {
  const auto a = numbers<T>(graph), b = numbers<T>(partner(graph));
  const auto mask = rig::select(partner(graph), rig::selection::upper, 1);
  for (const binary op : {binary::plus, binary::minimum, binary::second, binary::less}) {
    const std::string what = name + ", operator " + std::to_string(static_cast<int>(op));
    same(what, [&](auto to) { return rig::ewise_add(to(a), to(b), op); });
    same(what, [&](auto to) { return rig::ewise_mult(to(a), to(b), op); });
    same(what + ", structure", [&](auto to) {
      const auto m = to(mask);
      return rig::ewise_add(to(a), to(b), op, rig::structure(m));
    });
    same(what + ", complement of values, accumulated", [&](auto to) {
      const auto m = to(mask);
      auto c = to(b);
      rig::ewise_mult(c, rig::accumulator::plus, to(a), to(b), op, rig::complement(rig::values(m)));
      return c;
    });
    same(what + ", replaced", [&](auto to) {
      const auto m = to(mask);
      auto c = to(b);
      rig::ewise_add(c, rig::none, to(a), to(a), op, rig::structure(m), {.replace = true});
      return c;
    });
  }
}

TEST_CASE("merges") {
  for (const auto& [name, graph] : graphs()) {
    merges<float>(name, graph);
    merges<rig::int64>(name, graph);
    merges<bool>(name, graph);
    merges<rig::half>(name, graph);
  }
}

TEST_CASE("one long row is cut between tiles") {
  constexpr index n = 300000;
  std::vector<index> even, third;
  for (index k = 0; k < n; ++k) {
    if (k % 2 == 0) even.push_back(k);
    if (k % 3 == 0) third.push_back(k);
  }
  const auto v = rig::vector<int>::from_indices(n, even, 2),
             w = rig::vector<int>::from_indices(n, third, 3);
  same("union", [&](auto to) { return rig::ewise_add(to(v), to(w), binary::plus); });
  same("intersection", [&](auto to) { return rig::ewise_mult(to(v), to(w), binary::plus); });
  rig::dense<bool> marks(n, 2, false);
  for (index k = 0; k < n; k += 7) marks(k, 1) = true;
  same("masked by a column of a dense", [&](auto to) {
    const auto on = to(marks);
    const auto column = rig::dense<bool>::view(on.data() + 1, n, 1, 2, on.where());
    return rig::ewise_add(to(v), to(w), binary::plus, rig::values(column));
  });
}

TEST_CASE("apply and select") {
  for (const auto& [name, graph] : graphs()) {
    const auto b = numbers<int>(graph);
    for (int op = 0; op <= static_cast<int>(rig::unary::one); ++op) {
      const auto f = static_cast<rig::unary>(op);
      const std::string what = name + ", unary " + std::to_string(op);
      same(what, [&, &a = graph](auto to) { return rig::apply(to(a), f); });
      same(what + ", int", [&](auto to) { return rig::apply(to(b), f); });
    }
    same(name + ", transposed, minus a number", [&, &a = graph](auto to) {
      return rig::apply<double>(to(a), binary::minus, 0.5f, {.transpose_a = true});
    });
    same(name + ", a number minus", [&, &a = graph](auto to) {
      return rig::apply<rig::bfloat16>(0.5f, binary::minus, to(a));
    });
    for (int how = 0; how <= static_cast<int>(rig::selection::greater_equal); ++how) {
      const float y =
          how < static_cast<int>(rig::selection::equal) ? 1 : 0.25f;  // places are whole
      same(name + ", selection " + std::to_string(how), [&, &a = graph](auto to) {
        return rig::select(to(a), static_cast<rig::selection>(how), y);
      });
    }
    const auto iso = rig::matrix<int>(graph.shared_structure(), 3);
    same(name + ", iso", [&](auto to) { return rig::select(to(iso), rig::selection::upper, 1); });
    same(name + ", iso, masked", [&](auto to) {
      const auto m = to(iso);
      return rig::apply(m, rig::unary::square, rig::complement(rig::structure(m)));
    });
  }
}

TEST_CASE("sums") {
  for (const auto& [name, graph] : graphs()) {
    const auto b = numbers<int>(graph);
    for (const binary by : {binary::plus, binary::maximum, binary::times, binary::logical_or}) {
      same(name, [&](auto to) { return rig::reduce_rows(to(b), by); });
      same(name, [&](auto to) { return rig::reduce_columns(to(b), by); });
      CHECK(rig::reduce(b.to(gpu), by) == rig::reduce(b, by));
    }
    same(name + ", half, accumulated", [&, &a = graph](auto to) {
      auto w = to(rig::vector<rig::half>::from_indices(a.rows(), std::vector<int>{}));
      rig::reduce_rows(w, rig::accumulator::plus, to(a), binary::maximum);
      return w;
    });
    CHECK(are_near(rig::reduce(graph.to(gpu), binary::plus), rig::reduce(graph, binary::plus),
                   graph.nnz()));
    const float once = rig::reduce(graph.to(gpu), binary::plus);
    CHECK(rig::reduce(graph.to(gpu), binary::plus) == once);
  }
  rig::dense<int> d(1000, 70, 0);
  for (index i = 0; i < 1000; ++i)
    for (index j = 0; j < 70; ++j) d(i, j) = (i * 31 + j * 17) % 101 - 50;
  const auto on = d.to(gpu);
  CHECK(rig::reduce(on, binary::plus) == rig::reduce(d, binary::plus));
  const auto part = rig::dense<int>::view(on.data() + 3, 900, 13, 70, gpu);
  const auto part_here = rig::dense<int>::view(d.data() + 3, 900, 13, 70);
  CHECK(rig::reduce(part, binary::minimum) == rig::reduce(part_here, binary::minimum));
  CHECK(rig::reduce(part, binary::plus) == rig::reduce(part_here, binary::plus));
}

TEST_CASE("entries at other places") {
  for (const auto& [name, a] : graphs()) {
    const index m = a.rows(), n = a.columns();
    std::vector<index> shuffled, some;
    for (index k = 0; k < m; ++k) shuffled.push_back((k * 7919 + 3) % m);
    for (index k = 0; k < n; k += 3) some.push_back(n - 1 - k / 2);
    same(name + ", rows", [&, &a = a](auto to) { return rig::extract(to(a), shuffled, rig::all); });
    same(name + ", block", [&, &a = a](auto to) {
      return rig::extract(to(a), rig::range{m / 4, m / 2}, rig::range{n / 8, n, 3});
    });
    same(name + ", repeated columns",
         [&, &a = a](auto to) { return rig::extract(to(a), shuffled, some); });
    same(name + ", transpose", [&, &a = a](auto to) { return rig::transpose<double>(to(a)); });
    same(name + ", diagonal", [&, &a = a](auto to) { return rig::diag(to(a), 1); });
    same(
        name + ", sums on a diagonal",
        [&, &a = a](auto to) { return rig::diag(rig::reduce_rows(to(a), binary::plus), -2); },
        most_terms(a));
    for (const auto accum : {rig::none, rig::accumulator::minus}) {
      // Rows repeat, so entries meet.
      std::vector<index> rows;
      for (index k = 0; k < m; ++k) rows.push_back(k / 2);
      same(name + ", assign", [&, &a = a](auto to) {
        auto c = to(partner(a));
        rig::assign(c, accum, to(a), rows, rig::all);
        return c;
      });
      same(name + ", assign a number", [&, &a = a](auto to) {
        auto c = to(a);
        rig::assign(c, accum, 2.5f, rig::range{0, m, 100}, some);
        return c;
      });
    }
  }
  const auto a = graphs().front().second;
  same("kronecker", [&](auto to) { return rig::kronecker(to(a), to(a), binary::times); });
  same("extract by a list on the device", [&](auto to) {
    rig::dense<index> list(5, 1, 0);
    for (index k = 0; k < 5; ++k) list(k, 0) = 3 * k;
    const auto rows = to(list);
    return rig::extract(to(a), rows, rig::all);
  });
}

rig::dense<float> features(index rows, index columns) {
  rig::dense<float> out(rows, columns, 0);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j)
      out(i, j) = static_cast<float>((i * 37 + j * 11) % 64 - 32) / 8;
  return out;
}

TEST_CASE("dense operands") {
  for (const auto& [rows, columns] :
       {std::pair<index, index>{1, 1}, {1000, 1}, {333, 65}, {7, 4099}}) {
    const auto x = features(rows, columns), y = rig::apply(x, binary::plus, 1.0f);
    const auto marks = rig::apply<bool>(x, binary::greater, 0.0f);
    const std::string what = std::to_string(rows) + "x" + std::to_string(columns);
    same(what, [&](auto to) { return rig::ewise_add(to(x), to(y), binary::times); });
    same(what + ", relu", [&](auto to) { return rig::apply(to(x), rig::unary::relu); });
    same(what + ", converted",
         [&](auto to) { return rig::apply<rig::half>(to(x), rig::unary::square); });
    same(what + ", masked, accumulated", [&](auto to) {
      auto c = to(y);
      const auto m = to(marks);
      rig::ewise_mult(c, rig::accumulator::minus, to(x), to(y), binary::plus, rig::values(m));
      return c;
    });
    same(what + ", transposed", [&](auto to) { return rig::transpose(to(x)); });
    same(what + ", transposed, converted", [&](auto to) { return rig::transpose<double>(to(x)); });
    same(what + ", part of the transpose", [&](auto to) {
      return rig::extract(to(x), rig::range{columns - 1, -1, -1}, rig::range{0, rows, 2},
                          {.transpose_a = true});
    });
    same(what + ", transpose added", [&](auto to) {
      auto c = to(rig::transpose(y));
      rig::transpose(c, rig::accumulator::plus, to(x));
      return c;
    });
    same(what + ", fill", [&](auto to) {
      const auto m = to(marks);
      return rig::apply(to(x), binary::divide, 3.0f, rig::complement(rig::values(m)), {.fill = -1});
    });
    same(what + ", into itself", [&](auto to) {
      auto c = to(x);
      rig::apply(c, rig::none, c, rig::unary::square);
      return c;
    });
    same(what + ", operator of the caller",
         [&](auto to) { return rig::apply(to(x), place_of(), rig::int64{columns}); });
  }
}

template <class T>
bool are_equal(const rig::indexed_dense<T>& x, const rig::indexed_dense<T>& y) {
  return are_equal(x.values, y.values) && are_equal(x.indices, y.indices);
}
template <class T>
rig::indexed_dense<T> on_host(const rig::indexed_dense<T>& x) {
  return {x.values.to(rig::cpu()), x.indices.to(rig::cpu())};
}

TEST_CASE("sums, parts and assignments of dense operands") {
  for (const auto& [m, n] : {std::pair<index, index>{1, 1},
                             {1, 40000},
                             {40000, 1},
                             {2500, 7},
                             {7, 2500},
                             {300, 257},
                             {5000, 33}}) {
    const std::string what = std::to_string(m) + "x" + std::to_string(n);
    const auto x = features(m, n);
    const auto y = rig::apply<int>(x, binary::times, 8.0f);
    for (const binary by : {binary::plus, binary::maximum, binary::logical_and}) {
      same(what + ", rows", [&](auto to) { return rig::reduce_rows(to(y), by); });
      same(what + ", columns", [&](auto to) { return rig::reduce_columns(to(y), by); });
    }
    same(what + ", half",
         [&](auto to) { return rig::reduce_columns<rig::half>(to(x), rig::max_plus<float>()); });
    same(what + ", own", [&](auto to) { return rig::reduce_rows(to(x), scaled_plus()); });
    std::vector<index> some;
    for (index k = 0; k < m; k += 2) some.push_back(k), some.push_back(m - 1 - k / 2);
    same(what + ", accumulated under a vector", [&, m = m](auto to) {
      const auto seen = to(rig::vector<bool>::from_indices(m, some, true, true));
      auto c = to(rig::apply<int>(features(m, 1), rig::unary::sign));
      rig::reduce_rows(c, rig::accumulator::plus, to(y), binary::plus,
                       rig::complement(rig::structure(seen)));
      return c;
    });
    same(what + ", extract", [&, n = n](auto to) {
      return rig::extract<double>(to(x), some, rig::range{n - 1, -1, -1});
    });
    for (const auto accum : {rig::none, rig::accumulator::minus}) {
      same(what + ", assign", [&, m = m](auto to) {
        auto c = to(x);
        const auto rows = static_cast<index>(some.size());
        rig::assign(c, accum, rig::extract(to(y), some, rig::all), some, rig::all);
        return rows > 0 ? c : to(x);
      });
      same(what + ", assign a number", [&, n = n](auto to) {
        auto c = to(x);
        const auto marks = to(rig::apply<bool>(x, binary::greater, 0.0f));
        rig::assign(c, accum, 2.5f, some, rig::range{0, n, 3}, rig::values(marks),
                    {.replace = true, .fill = -1});
        return c;
      });
    }
  }
  same("no columns",
       [](auto to) { return rig::reduce_rows(to(rig::dense<float>(3, 0)), binary::maximum); });
}

TEST_CASE("dense beside sparse") {
  for (const auto& [name, a] : graphs()) {
    if (a.rows() == 0) continue;
    const index m = a.rows(), n = std::min<index>(a.columns(), 3000);
    const auto part = rig::extract(a, rig::range{0, std::min<index>(m, 3000)}, rig::range{0, n});
    const auto d = features(part.rows(), part.columns());
    same(name + ", union", [&](auto to) { return rig::ewise_add(to(part), to(d), binary::minus); });
    same(name + ", union, dense first",
         [&](auto to) { return rig::ewise_add(to(d), to(part), binary::minus); });
    same(name + ", intersection",
         [&](auto to) { return rig::ewise_mult(to(part), to(d), binary::minus); });
    same(name + ", intersection, dense first",
         [&](auto to) { return rig::ewise_mult(to(d), to(part), scaled_plus()); });
    same(name + ", into", [&](auto to) {
      auto c = to(d);
      const auto mask = to(part);
      rig::ewise_add(c, rig::accumulator::plus, to(part), to(d), rig::plus_times<float>(),
                     rig::complement(rig::structure(mask)));
      return c;
    });
  }
}

TEST_CASE("a matrix times a column, and a column times a matrix") {
  for (const auto& [name, a] : graphs()) {
    if (a.rows() == 0) continue;
    const auto u = features(a.columns(), 1), of_rows = features(a.rows(), 1);
    same(
        name + ", mxv",
        [&, &a = a](auto to) { return rig::mxv(to(a), to(u), rig::plus_times<double>()); },
        most_terms(a));
    same(name + ", vxm",
         [&, &a = a](auto to) { return rig::vxm(to(of_rows), to(a), rig::plus_first<float>()); });
    const auto whole = numbers<float>(a);  // so that sums are exact
    same(name + ", vxm of an own semiring",
         [&](auto to) { return rig::vxm(to(of_rows), to(whole), scaled_plus()); });
    const auto seen = rig::reduce_rows(a, binary::plus);
    same(
        name + ", mxv under a vector",
        [&, &a = a](auto to) {
          const auto mask = to(seen);
          auto w = to(of_rows);
          rig::mxv(w, rig::accumulator::plus, to(a), to(u), rig::plus_times<float>(),
                   rig::complement(rig::values(mask)));
          return w;
        },
        most_terms(a));
  }
}

TEST_CASE("vectors of columns, sums by arg-max and matrices of lists") {
  for (const auto& [name, a] : graphs()) {
    if (a.rows() == 0) continue;
    const index m = a.rows();
    const auto of_rows = features(m, 1);
    const auto seen = rig::reduce_rows(a, binary::plus);
    same(name + ", spread", [&](auto to) { return to(seen).to_dense(-3); });
    same(name + ", vector of a column",
         [&](auto to) { return rig::vector<float>::from(to(of_rows)); });
    same(
        name + ", softmax into",
        [&, &a = a](auto to) {
          auto c = to(a);
          rig::edge_softmax(c, rig::accumulator::plus, to(a));
          return c;
        },
        most_terms(a));
    CHECK(are_equal(on_host(rig::reduce_rows(a.to(gpu), rig::arg_max_second<float>())),
                    rig::reduce_rows(a, rig::arg_max_second<float>())));
    CHECK(are_equal(on_host(rig::reduce_columns(a.to(gpu), rig::arg_min_second<float>())),
                    rig::reduce_columns(a, rig::arg_min_second<float>())));
    const auto t = rig::to_tuples(a);
    same(name + ", build", [&, &a = a](auto to) {
      return rig::build(a.columns(), a.rows(), to(t.columns), to(t.rows), to(t.values));
    });
    same(
        name + ", build a vector",
        [&](auto to) { return rig::build(m, to(t.rows), to(t.values), binary::minus); },
        most_terms(a));
  }
  const std::vector<index> twice{3, 5, 3};
  check_error(rig::errc::duplicate, {"(3, 3)", "combiner"},
              [&] { rig::build(9, 9, twice, twice, features(3, 1).to(gpu)); });
}

TEST_CASE("graphs from graphs") {
  for (const auto& [name, a] : graphs()) {
    const std::vector<float> factors(static_cast<std::size_t>(a.rows()), 0.75f),
        of_columns(static_cast<std::size_t>(a.columns()), 3);
    same(name + ", rows", [&, &a = a](auto to) { return rig::scale_rows(to(a), factors); });
    same(name + ", columns",
         [&, &a = a](auto to) { return rig::scale_columns(to(a), of_columns); });
    same(
        name + ", mean", [&, &a = a](auto to) { return rig::mean_normalise(to(a)); },
        most_terms(a));
    same(
        name + ", softmax", [&, &a = a](auto to) { return rig::edge_softmax(to(a)); },
        most_terms(a));
    if (a.rows() != a.columns()) continue;
    const auto iso = rig::matrix<int>(a.shared_structure(), 3);
    same(name + ", symmetric", [&, &a = a](auto to) { return rig::symmetrise(to(a)); });
    same(name + ", symmetric, iso", [&](auto to) { return rig::symmetrise(to(iso)); });
    same(name + ", loops", [&, &a = a](auto to) { return rig::add_self_loops(to(a), 2.0f); });
    same(name + ", loops, iso", [&](auto to) { return rig::add_self_loops(to(iso), 3); });
    same(
        name + ", convolution", [&, &a = a](auto to) { return rig::gcn_normalise(to(a)); },
        most_terms(a));
    const auto positions = rig::reorder(a, rig::ordering::loa);
    const auto x = features(a.rows(), 5);
    same(name + ", permuted", [&, &a = a](auto to) { return rig::permute(to(a), positions); });
    same(name + ", permuted rows", [&](auto to) { return rig::permute(to(x), positions); });
    check_error(rig::errc::place, {"reorder: A is on cuda:", ".to(rig::cpu())"},
                [&, &a = a] { rig::reorder(a.to(gpu), rig::ordering::loa); });
    CHECK(rig::symmetrise(iso.to(gpu)).iso());
    CHECK(rig::add_self_loops(iso.to(gpu), 3).iso());
    const auto looped = rig::add_self_loops(a.to(gpu));
    CHECK(rig::add_self_loops(looped).shared_structure() == looped.shared_structure());
  }
}

TEST_CASE("tuples and single elements") {
  for (const auto& [name, a] : graphs()) {
    INFO(name);
    const auto b = rig::matrix<rig::half>(a.shared_structure(), rig::half(3.0f));
    const auto here = rig::to_tuples(a), there = rig::to_tuples(a.to(gpu));
    CHECK(are_equal(there.rows.to(rig::cpu()), here.rows));
    CHECK(are_equal(there.columns.to(rig::cpu()), here.columns));
    CHECK(are_equal(there.values.to(rig::cpu()), here.values));
    CHECK(are_equal(rig::to_tuples(b.to(gpu)).values.to(rig::cpu()), rig::to_tuples(b).values));
    if (a.nnz() == 0) continue;
    const index i = here.rows(0, 0), j = here.columns(0, 0);
    CHECK(rig::at(a.to(gpu), i, j) == rig::at(a, i, j));
    CHECK(rig::at(a.to(gpu), a.rows() - 1, 0) == rig::at(a, a.rows() - 1, 0));
  }
}

TEST_CASE("operators of the caller, and types of the caller") {
  const auto a = rig::generate::random_values(rig::generate::from_text("rmat:10:8"), 5);
  const auto b = partner(a);
  same("apply", [&](auto to) { return rig::apply(to(a), place_of(), rig::int64{2048}); });
  same("select", [&](auto to) { return rig::select(to(a), is_odd(), 1); });
  same("add", [&](auto to) { return rig::ewise_add(to(a), to(b), scaled_plus()); });
  same("multiply", [&](auto to) { return rig::ewise_mult(to(a), to(b), scaled_plus()); });
  same(
      "sum", [&](auto to) { return rig::reduce_rows(to(a), scaled_plus()); }, most_terms(a));
  same("builtin", [&](auto to) { return rig::ewise_mult(to(a), to(b), rig::min_plus<float>()); });
  same("builtin sum", [&](auto to) { return rig::reduce_rows(to(a), rig::max_plus<float>()); });
  same("own accumulator", [&](auto to) {
    auto c = to(a);
    rig::ewise_mult(c, rig::accumulator::own, to(a), to(b), rig::min_plus<float>());
    return c;
  });
  same("own accumulator of another type", [&](auto to) {
    auto c = to(rig::apply<double>(b, rig::unary::identity));
    rig::ewise_mult(c, rig::accumulator::own, to(a), to(a), rig::min_plus<float>());
    return c;
  });
  struct pair {
    float sum;
    int count, more;
    bool operator==(const pair&) const = default;
  };
  std::vector<pair> pairs(static_cast<std::size_t>(a.nnz()));
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p] = {static_cast<float>(p), 1, 2};
  const rig::matrix<pair> own(a.shared_structure(),
                              rig::buffer::borrow(pairs.data(), pairs.size() * sizeof(pair)));
  same("a type of the caller", [&](auto to) {
    return rig::extract(to(own), rig::range{5, 900}, rig::all);
  });
  struct hidden {
    static float apply(float x, index, index, float y) { return x + y; }
  };
  check_error(rig::errc::cannot, {"apply", "RIG_OPERATOR"},
              [&] { rig::apply(a.to(gpu), hidden(), 1.0f); });
}

TEST_CASE("errors name the values and change nothing") {
  const auto a = rig::generate::random_values(rig::generate::from_text("karate"), 5);
  auto c = a.to(gpu);
  check_error(rig::errc::place, {"cuda:0", "cpu", ".to()"},
              [&] { rig::ewise_add(c, rig::none, a.to(gpu), a, binary::plus); });
  rig::dense<index> list(3, 1, 0);
  list(2, 0) = 77;
  const auto rows = list.to(gpu);
  check_error(rig::errc::range, {"77", "number 2", "33"},
              [&] { rig::extract(c, rig::none, a.to(gpu), rows, rig::all); });
  check_error(rig::errc::place, {"the list of rows", "cuda:0", "cpu"},
              [&] { rig::extract(a, rows, rig::all); });
  CHECK(are_equal(c.to(rig::cpu()), a));
}

}  // namespace
