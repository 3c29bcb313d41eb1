#pragma once

// Every element-wise operator on every type, for dense, matrices and vectors of a place, against an
// oracle that shares no code with the library.

#include <doctest/doctest.h>

#include <cfloat>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "product.hpp"
#include "rig/elementwise.hpp"
#include "rig/rearrange.hpp"

namespace element_cases {

using oracle::kind;
using oracle::number;
using rig::binary;
using rig::index;
using rig::selection;
using rig::unary;

/// The type that operators on elements of a type compute in.
inline kind algebra_of(kind k) {
  return k == kind::half || k == kind::bfloat16 ? kind::float32 : k;
}

/// The least and the greatest number that a result may be: equal if it is rounded once.
struct interval {
  number low, high;
  interval(number x) : low(x), high(x) {}
  /// x after so many roundings of a float type.
  interval(number x, kind real, int roundings) : interval(x) {
    if (!std::isfinite(x)) return;
    const bool is_float = real == kind::float32;
    const number eps = is_float ? FLT_EPSILON : DBL_EPSILON,
                 least = is_float ? FLT_TRUE_MIN : DBL_TRUE_MIN;
    low -= roundings * (eps * std::fabs(x) + least);
    high += roundings * (eps * std::fabs(x) + least);
  }
  interval converted(kind from, kind to) const {
    interval out(oracle::convert(from, to, low));
    out.high = oracle::convert(from, to, high);
    return out;
  }
  bool holds(number x) const { return std::isnan(low) ? std::isnan(x) : low <= x && x <= high; }
};

/// a ⊙ b of numbers of the algebra k.
inline interval joined(binary op, kind k, number a, number b) {
  return oracle::apply(oracle::named_as(op), k, a, b);
}

/// A function of real numbers, which integers take in double. The roundings are those of CUDA's
/// and the C library's documented errors, with a step to spare.
inline interval of_real(unary op, kind real, number x) {
  switch (op) {
    case unary::square_root:
      return {std::sqrt(x), real, 1};
    case unary::exponential:
      return {std::exp(x), real, 4};
    case unary::logarithm:
      return {std::log(x), real, 4};
    case unary::sigmoid: {
      interval out(1 / (1 + std::exp(-x)), real, 6);
      out.low -= real == kind::float32 ? 1 / FLT_MAX : 1 / DBL_MAX;  // e^−x may be infinite
      return out;
    }
    case unary::hyperbolic_tangent:
      return {std::tanh(x), real, 4};
    case unary::floor:
      return std::floor(x);
    case unary::ceiling:
      return std::ceil(x);
    default:
      return std::round(x);
  }
}

inline interval mapped(unary op, kind k, number x) {
  const auto by = [&](oracle::op how, number a, number b) { return oracle::apply(how, k, a, b); };
  if (op == unary::one) return 1;
  if (op == unary::logical_not) return x == 0;
  if (op == unary::identity || k == kind::boolean) return x;
  const number negative = oracle::is_integral(k) ? by(oracle::op::minus, 0, x) : -x;
  switch (op) {
    case unary::negate:
      return negative;
    case unary::absolute:
      return x < 0 ? negative : x;
    case unary::reciprocal:
      return by(oracle::op::divide, 1, x);
    case unary::square:
      return by(oracle::op::times, x, x);
    case unary::relu:
      return by(oracle::op::maximum, x, 0);
    case unary::sign:
      return std::isnan(x) ? x : (x > 0) - (x < 0);
    default:
      break;
  }
  const kind real = k == kind::float32 ? k : kind::float64;
  return of_real(op, real, oracle::convert(k, real, x)).converted(real, k);
}

inline bool selects(selection how, index i, index j, number x, number y) {
  switch (how) {
    case selection::lower:
      return j <= i + y;
    case selection::upper:
      return j >= i + y;
    case selection::diagonal:
      return j == i + y;
    case selection::off_diagonal:
      return j != i + y;
    case selection::row_at_most:
      return i <= y;
    case selection::row_above:
      return i > y;
    case selection::column_at_most:
      return j <= y;
    case selection::column_above:
      return j > y;
    default:
      return joined(static_cast<binary>(static_cast<int>(binary::equal) + static_cast<int>(how) -
                                        static_cast<int>(selection::equal)),
                    kind::float64, x, y)
                 .low != 0;
  }
}

/// The elements of a container, row by row; none where it has no entry.
struct elements {
  index rows, columns;
  std::vector<std::optional<number>> at;
};

/// Random elements, ends of ranges, zeros and NaN among them; `every`: a dense, else entries here
/// and there.
template <class T>
elements drawn(index rows, index columns, bool every, random_bits& random) {
  elements out{rows, columns, {}};
  for (index e = 0; e < rows * columns; ++e) {
    const number x = draw_number(kind_of<T>, e % 2 == 0 ? draw::quarters : draw::extremes, random);
    out.at.push_back(every || random.below(4) != 0 ? std::optional(x) : std::nullopt);
  }
  return out;
}

template <class T>
array<T> entries(const elements& of) {
  std::vector<number> out;
  for (const auto& x : of.at)
    if (x) out.push_back(*x);
  return array<T>(out);
}

template <class T>
rig::matrix<T> as_matrix(const elements& of) {
  std::vector<index> i, j;
  for (std::size_t e = 0; e < of.at.size(); ++e)
    if (of.at[e]) {
      i.push_back(static_cast<index>(e) / of.columns);
      j.push_back(static_cast<index>(e) % of.columns);
    }
  const array<T> values = entries<T>(of);
  return rig::matrix<T>::from_tuples(of.rows, of.columns, i, j, values.span());
}

template <class T>
elements read(const rig::matrix<T>& x) {
  elements out{x.rows(), x.columns(), {}};
  out.at.resize(static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(x.columns()));
  const auto t = rig::to_tuples(x.to(rig::cpu()));
  for (index p = 0; p < t.rows.rows(); ++p)
    out.at[static_cast<std::size_t>(t.rows(p, 0)) * static_cast<std::size_t>(x.columns()) +
           static_cast<std::size_t>(t.columns(p, 0))] = to_number<T>(t.values(p, 0));
  return out;
}
template <class T>
elements read(const rig::vector<T>& x) {
  return read(x.as_row());
}
template <class T>
elements read(const rig::dense<T>& x) {
  const auto here = x.to(rig::cpu());
  elements out{x.rows(), x.columns(), {}};
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.columns(); ++j) out.at.push_back(to_number<T>(here(i, j)));
  return out;
}

/// CHECKs each element that expected(e) returns: an interval, or none.
template <class Expected>
void check(const std::string& what, const elements& seen, std::size_t count, Expected expected) {
  REQUIRE(seen.at.size() == count);
  int wrong = 0;
  std::string first;
  for (std::size_t e = 0; e < count; ++e) {
    const std::optional<interval> wanted = expected(e);
    const auto& x = seen.at[e];
    if (wanted.has_value() == x.has_value() && (!x || wanted->holds(*x))) continue;
    if (wrong++ > 0) continue;
    first = "element " + std::to_string(e) + " is " + (x ? std::to_string(*x) : "missing") +
            ", not " + (wanted ? std::to_string(wanted->low) : "missing");
  }
  CHECK_MESSAGE(wrong == 0, what, ": ", wrong, " of ", count, " are wrong; ", first);
}

/// The cases of one type and shape, on containers that `make` makes of elements.
template <class T, class Make>
class container_cases {
 public:
  container_cases(std::string name, elements x, elements y, Make make)
      : name_(std::move(name)), x_(std::move(x)), y_(std::move(y)), make_(make) {
    joins();
    maps();
  }

 private:
  static constexpr kind stored = kind_of<T>;
  const kind algebra = algebra_of(stored);

  std::string of(const char* what, int op) const {
    return name_ + ", " + what + " " + std::to_string(op);
  }
  std::size_t count() const { return x_.at.size(); }

  interval join(binary op, number a, number b) const {
    return joined(op, algebra, a, b).converted(algebra, stored);
  }
  /// An element of a union that has no partner.
  interval alone(binary op, number x) const {
    return op >= binary::equal ? interval(x != 0).converted(kind::boolean, stored) : interval(x);
  }

  void joins() const {
    const auto x = make_(x_), y = make_(y_);
    for (int code = 0; code <= static_cast<int>(binary::greater_equal); ++code) {
      const auto op = static_cast<binary>(code);
      const auto both = [&](std::size_t e) { return join(op, *x_.at[e], *y_.at[e]); };
      check(of("ewise_add", code), read(rig::ewise_add(x, y, op)), count(),
            [&](std::size_t e) -> std::optional<interval> {
              if (x_.at[e] && y_.at[e]) return both(e);
              if (x_.at[e]) return alone(op, *x_.at[e]);
              if (y_.at[e]) return alone(op, *y_.at[e]);
              return std::nullopt;
            });
      check(of("ewise_mult", code), read(rig::ewise_mult(x, y, op)), count(),
            [&](std::size_t e) -> std::optional<interval> {
              if (x_.at[e] && y_.at[e]) return both(e);
              return std::nullopt;
            });
      for (const number given : {-2.5L, 0.0L}) {
        const number scalar = oracle::convert(kind::float64, stored, given);
        const T s = from_number<T>(scalar);
        const auto by_entries = [&](auto of_entry) {
          return [&, of_entry](std::size_t e) -> std::optional<interval> {
            if (x_.at[e]) return of_entry(*x_.at[e]);
            return std::nullopt;
          };
        };
        check(of("apply of a number", code), read(rig::apply(x, op, s)), count(),
              by_entries([&](number a) { return join(op, a, scalar); }));
        check(of("apply to a number", code), read(rig::apply(s, op, x)), count(),
              by_entries([&](number a) { return join(op, scalar, a); }));
      }
    }
  }

  void maps() const {
    const auto x = make_(x_);
    for (int code = 0; code <= static_cast<int>(unary::one); ++code)
      check(
          of("unary", code), read(rig::apply(x, static_cast<unary>(code))), count(),
          [&](std::size_t e) -> std::optional<interval> {
            if (!x_.at[e]) return std::nullopt;
            return mapped(static_cast<unary>(code), algebra, *x_.at[e]).converted(algebra, stored);
          });
    if constexpr (rig::sparse_like<std::remove_cvref_t<decltype(x)>>)
      for (int code = 0; code <= static_cast<int>(selection::greater_equal); ++code)
        for (const number given : {-2.5L, 0.0L, 3.0L}) select(x, code, given);
  }

  void select(const auto& x, int code, number given) const {
    const auto how = static_cast<selection>(code);
    const bool by_place = how < selection::equal;
    const number y = oracle::convert(kind::float64, by_place ? kind::int64 : stored, given);
    const auto expected = [&](std::size_t e) -> std::optional<interval> {
      const auto i = static_cast<index>(e) / x_.columns, j = static_cast<index>(e) % x_.columns;
      if (x_.at[e] && selects(how, i, j, *x_.at[e], y)) return interval(*x_.at[e]);
      return std::nullopt;
    };
    const std::string what = of("select", code);
    if (by_place)
      check(what, read(rig::select(x, how, static_cast<rig::int64>(y))), count(), expected);
    else
      check(what, read(rig::select(x, how, from_number<T>(y))), count(), expected);
  }

  std::string name_;
  elements x_, y_;
  Make make_;
};

template <class T>
rig::dense<T> as_dense(const elements& of) {
  rig::dense<T> out(of.rows, of.columns);
  for (index i = 0; i < of.rows; ++i)
    for (index j = 0; j < of.columns; ++j)
      out(i, j) = from_number<T>(*of.at[static_cast<std::size_t>(i * of.columns + j)]);
  return out;
}

/// Every case of one type in a place. Packed kernels take 16 bytes at a time, and leave a rest.
template <class T>
void run(const std::string& type, rig::place where) {
  random_bits random(test_seed());
  std::vector<rig::dense<T>> wider;  // what views refer to
  const auto as_part = [&](const elements& of) {
    const auto part = as_dense<T>(of);
    rig::dense<T> all(of.rows, of.columns + 3);
    for (index i = 0; i < of.rows; ++i)
      for (index j = 0; j < of.columns; ++j) all(i, j + 1) = part(i, j);
    wider.push_back(all.to(where));
    return rig::dense<T>::view(std::as_const(wider.back()).data() + 1, of.rows, of.columns,
                               all.columns(), where);
  };
  const auto run_on = [&](const char* what, index rows, index columns, bool every, auto make) {
    const std::string name =
        type + ", " + what + " " + std::to_string(rows) + "x" + std::to_string(columns);
    container_cases<T, decltype(make)>(name, drawn<T>(rows, columns, every, random),
                                       drawn<T>(rows, columns, every, random), make);
  };
  for (const auto& [m, n] : {std::pair<index, index>{61, 67}, {4, 16}, {1, 5}, {3, 0}}) {
    const auto dense = [&](const elements& of) { return as_dense<T>(of).to(where); };
    const auto matrix = [&](const elements& of) { return as_matrix<T>(of).to(where); };
    run_on("dense", m, n, true, dense);
    run_on("part of a dense", m, n, true, as_part);
    run_on("matrix", m, n, false, matrix);
    run_on("full matrix", m, n, true, matrix);
    run_on("vector", 1, m * n, false,
           [&](const elements& of) { return rig::vector<T>(as_matrix<T>(of).to(where)); });
  }
}

}  // namespace element_cases
