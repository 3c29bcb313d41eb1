// Products by a semiring's name: the same bits as by its type, in each form.

#include "rig/named_semiring.hpp"

#include <doctest/doctest.h>

#include <string>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::named_semiring;
constexpr auto cannot = rig::errc::cannot;

template <class T>
rig::dense<T> numbers(rig::index rows, rig::index columns) {
  rig::dense<T> out(rows, columns, T(0));
  for (rig::index i = 0; i < rows; ++i)
    for (rig::index j = 0; j < columns; ++j) out(i, j) = static_cast<T>((7 * i + 5 * j) % 11 - 3);
  return out;
}

template <class S, class T>
void check_pair() {
  CAPTURE(std::string(S::name));
  const S by_type;
  const named_semiring<T> by_name(S::name);
  CHECK(std::string(by_name.name()) == S::name);
  const auto a = rig::generate::karate().with_value(T(1));
  const auto b = numbers<T>(a.columns(), 5);
  const auto mask = rig::structure(a);
  if constexpr (rig::is_indexed<rig::output<S>>) {
    CHECK(by_name.is_indexed());
    const auto expected = rig::mxm(a, b, by_type);
    rig::indexed_dense<T> c = {rig::dense<T>(a.rows(), 5, T(0)),
                               rig::dense<rig::int32>(a.rows(), 5, 0)};
    rig::mxm(c, rig::none, a, b, by_name);
    CHECK(c.values == expected.values);
    CHECK(c.indices == expected.indices);
    check_error(cannot, {S::name, "indexed_dense C"}, [&] { rig::mxm(a, b, by_name); });
    check_error(cannot, {S::name, "one array"}, [&] { rig::mxm(a, a, by_name); });
  } else {
    CHECK_FALSE(by_name.is_indexed());
    CHECK(rig::mxm(a, b, by_name) == rig::mxm(a, b, by_type));
    CHECK(rig::explain(a, b, by_name).text() == rig::explain(a, b, by_type).text());
    CHECK(rig::mxm<double>(a, b, by_name, {.transpose_a = true, .fill = 2}) ==
          rig::mxm<double>(a, b, by_type, {.transpose_a = true, .fill = 2}));
    const auto wide = numbers<T>(a.columns(), a.columns());
    CHECK(rig::mxm(a, wide, by_name, mask) == rig::mxm(a, wide, by_type, mask));
    rig::dense<T> c(a.rows(), 5, T(1)), d = c;
    rig::mxm(c, rig::accumulator::maximum, a, b, by_name);
    rig::mxm(d, rig::accumulator::maximum, a, b, by_type);
    CHECK(c == d);
    CHECK(rig::mxm(a, a, by_name) == rig::mxm(a, a, by_type));
    CHECK(rig::mxm(a, a, by_name, rig::complement(mask)) ==
          rig::mxm(a, a, by_type, rig::complement(mask)));
    rig::matrix<T> e = a, f = a;
    rig::mxm(e, rig::none, a, a, by_name, mask, {.replace = true});
    rig::mxm(f, rig::none, a, a, by_type, mask, {.replace = true});
    CHECK(e == f);
    rig::indexed_dense<T> two = {c, rig::dense<rig::int32>(a.rows(), 5, 0)};
    check_error(cannot, {S::name, "values alone"},
                [&] { rig::mxm(two, rig::none, a, b, by_name); });
  }
}

TEST_CASE("by name as by type") {
#define RIG_BUILTIN(semiring, type) check_pair<rig::semiring<type>, type>();
#include "rig/builtin.def"
#undef RIG_BUILTIN
}

TEST_CASE("a fill that the result cannot hold is refused") {
  const auto a = rig::generate::karate().with_value(1.0f);
  const auto b = numbers<float>(a.columns(), 2);
  const named_semiring<float> s("plus_times");
  for (const rig::scalar& fill : {rig::scalar(5000000000), rig::scalar(1.5)})
    check_error(rig::errc::range, {"fill"}, [&] { rig::mxm<int>(a, b, s, {.fill = fill}); });
}

TEST_CASE("names") {
  CHECK(named_semiring<float>::names().size() + named_semiring<double>::names().size() +
            named_semiring<bool>::names().size() >=
        4);
  check_error(rig::errc::range,
              {"no builtin semiring over bool is named 'plus_times'", "there are lor_land"},
              [] { named_semiring<bool>("plus_times"); });
}

}  // namespace
