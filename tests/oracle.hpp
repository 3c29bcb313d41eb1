#pragma once

// The oracle: the result that a product must have, by a triple loop that shares no code with the
// library.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle_numbers.hpp"

namespace oracle {

struct sparse {
  int rows = 0, columns = 0;
  std::vector<long> offsets{0};
  std::vector<int> inner;
  std::vector<number> values;
  long nnz() const { return static_cast<long>(inner.size()); }
};

struct full {
  int rows = 0, columns = 0;
  std::vector<number> values;
  number& at(int i, int j) { return values[static_cast<std::size_t>(i) * columns + j]; }
  number at(int i, int j) const { return values[static_cast<std::size_t>(i) * columns + j]; }
};

inline sparse transpose(const sparse& a) {
  std::vector<std::vector<std::pair<int, number>>> lists(a.columns);
  for (int i = 0; i < a.rows; ++i)
    for (long p = a.offsets[i]; p < a.offsets[i + 1]; ++p)
      lists[a.inner[p]].emplace_back(i, a.values[p]);
  sparse t;
  t.rows = a.columns;
  t.columns = a.rows;
  for (const auto& list : lists) {
    for (const auto& [j, value] : list) {
      t.inner.push_back(j);
      t.values.push_back(value);
    }
    t.offsets.push_back(t.nnz());
  }
  return t;
}

inline full transpose(const full& b) {
  full t{b.columns, b.rows, std::vector<number>(b.values.size())};
  for (int i = 0; i < b.rows; ++i)
    for (int j = 0; j < b.columns; ++j) t.at(j, i) = b.at(i, j);
  return t;
}

/// A semiring by its name, ADD_MULTIPLY: mean adds and then divides; arg_… also keeps the index k.
struct algebra {
  op add = op::plus, multiply = op::times;
  bool mean = false, arg = false;

  explicit algebra(std::string name) {
    if (name.starts_with("arg_")) {
      arg = true;
      name = name.substr(4);
    }
    const auto cut = name.find('_');
    const std::string left = name.substr(0, cut), right = name.substr(cut + 1);
    mean = left == "mean";
    add = left == "min"                    ? op::minimum
          : left == "max"                  ? op::maximum
          : left == "lor" || left == "any" ? op::logical_or
                                           : op::plus;
    multiply = right == "plus"     ? op::plus
               : right == "first"  ? op::first
               : right == "second" ? op::second
               : right == "pair"   ? op::pair
               : right == "min"    ? op::minimum
               : right == "max"    ? op::maximum
               : right == "land"   ? op::logical_and
                                   : op::times;
  }
  number zero(kind k) const {
    return add == op::minimum ? greatest(k) : add == op::maximum ? least(k) : 0;
  }
  /// In path semirings integers saturate, and the missing path absorbs.
  number product(kind k, number a, number b) const {
    if (multiply != op::plus || !is_integral(k)) return apply(multiply, k, a, b);
    if (a == zero(k) || b == zero(k)) return zero(k);
    if (k == kind::boolean) return a != 0 || b != 0 ? 1 : 0;
    const __int128 sum = static_cast<__int128>(static_cast<long>(a)) + static_cast<long>(b);
    if (sum > static_cast<__int128>(static_cast<long>(greatest(k)))) return greatest(k);
    if (sum < static_cast<__int128>(static_cast<long>(least(k)))) return least(k);
    return static_cast<number>(static_cast<long>(sum));
  }
};

struct mask {
  const sparse* matrix = nullptr;
  const full* dense = nullptr;
  bool structural = false, complemented = false;
};

/// One call, as plain data.
struct call {
  std::string semiring;
  kind type = kind::float32;  ///< the algebra's type
  const sparse* a = nullptr;
  const full* b = nullptr;
  kind a_kind = kind::float32, b_kind = kind::float32, c_kind = kind::float32;
  bool transpose_a = false, transpose_b = false, replace = false;
  std::optional<double> fill;
  std::optional<op> accumulator;
  bool own = false;                             ///< accumulate by the semiring's own add
  const std::vector<char>* b_stored = nullptr;  ///< elements of op(B) that are entries; null: all
  const sparse* rescaled_to =
      nullptr;          ///< if set, `a` is a sample of this matrix, and sums are rescaled
  bool rounds = false;  ///< terms may round differently, so every sum is an interval
  int bound = 1;        ///< the interval's width over n·eps·Σ|terms|
  oracle::mask mask;
  const full* c = nullptr;  ///< C before the call; null: the result is new
  const full* c_indices = nullptr;
};

/// The allowed results of one element: any number from low to high, or NaN.
struct place {
  number low = 0, high = 0;
  bool nan = false, anything = false;
  int index = -1;

  bool allows(number got) const {
    return anything || (nan ? std::isnan(got) : got >= low && got <= high);
  }
};

struct result {
  int rows = 0, columns = 0;
  std::vector<place> places;
  const place& at(int i, int j) const { return places[static_cast<std::size_t>(i) * columns + j]; }
};

inline place exactly(number x, int index = -1) {
  return std::isnan(x) ? place{0, 0, true, false, index} : place{x, x, false, false, index};
}

/// The running sum of one element.
struct sum {
  number value = 0, magnitude = 0;
  bool dyadic = true;  ///< every term is a multiple of 1/16
  int index = INT_MAX;
};

inline void add_term(const algebra& s, kind k, sum& to, number term, int inner) {
  if (s.arg) {
    const bool old_nan = std::isnan(to.value), new_nan = std::isnan(term);
    const bool better = s.add == op::maximum ? term > to.value : term < to.value;
    const bool tied = term == to.value || (old_nan && new_nan);
    if (better || (new_nan && !old_nan) || (tied && inner < to.index)) to = {term, 0, true, inner};
  } else if (s.add == op::plus && !is_integral(k)) {
    to.value += term;
    to.magnitude += std::fabs(term);
    to.dyadic = to.dyadic && std::rint(term * 16) == term * 16;
  } else {
    to.value = apply(s.add, k, to.value, term);
  }
}

/// Rescales the sum of n terms to an estimate of the sum of all `whole` terms.
inline sum rescaled(kind k, sum x, long whole, long n) {
  const number ratio = static_cast<number>(whole) / static_cast<number>(n);
  x.value = is_integral(k) ? convert(kind::float64, k, x.value * whole / n) : x.value * ratio;
  x.magnitude *= ratio;
  x.dyadic = false;
  return x;
}

/// The sum as an interval of `times` n·eps·Σ|terms|, or as a point if no rounding can have
/// happened.
inline place finished(const algebra& s, kind k, const sum& x, long n, int times) {
  place out = exactly(x.value, x.index == INT_MAX ? -1 : x.index);
  const int digits = k == kind::float32 ? 24 : 53;
  const bool exact = x.dyadic && x.magnitude * 16 <= std::ldexp(1.0L, digits);
  if (s.add == op::plus && !is_integral(k) && std::isfinite(x.value) && !exact) {
    const number bound =
        times * static_cast<number>(n + 1) * std::ldexp(1.0L, 1 - digits) * x.magnitude;
    out.low = convert(kind::float64, k, x.value - bound);
    out.high = convert(kind::float64, k, x.value + bound);
  }
  if (s.mean && !out.nan) {
    out.low = apply(op::divide, k, out.low, static_cast<number>(n));
    out.high = apply(op::divide, k, out.high, static_cast<number>(n));
  }
  return out;
}

/// c ∘ t. Every operator is monotone in t, so the interval's ends map to its new ends.
inline place joined(op o, kind k, number c, place t) {
  if (t.nan) return exactly(apply(o, k, c, std::numeric_limits<number>::quiet_NaN()));
  const bool wide_around_zero = t.low < t.high && t.low <= 0 && t.high >= 0;
  const number x = apply(o, k, c, t.low), y = apply(o, k, c, t.high);
  if (std::isnan(x) || std::isnan(y)) return exactly(std::numeric_limits<number>::quiet_NaN());
  t.low = std::min(x, y);
  t.high = std::max(x, y);
  t.anything = wide_around_zero && o == op::divide;
  if (wide_around_zero && (o == op::logical_or || o == op::logical_and)) {
    t.low = 0;
    t.high = 1;
  }
  return t;
}

inline place stored(kind from, kind to, place t) {
  if (t.anything) return t;
  if (t.nan) return exactly(convert(from, to, std::numeric_limits<number>::quiet_NaN()), t.index);
  const bool around_zero = t.low < t.high && t.low <= 0 && t.high >= 0;
  t.low = to == kind::boolean && around_zero ? 0 : convert(from, to, t.low);
  t.high = to == kind::boolean && around_zero ? 1 : convert(from, to, t.high);
  return t;
}

/// The elements of row i that the mask admits.
inline std::vector<char> allowed_in_row(const mask& m, int i, int columns) {
  if (m.matrix == nullptr && m.dense == nullptr) return std::vector<char>(columns, 1);
  std::vector<char> in(columns, 0);
  if (m.matrix != nullptr)
    for (long p = m.matrix->offsets[i]; p < m.matrix->offsets[i + 1]; ++p)
      in[m.matrix->inner[p]] = m.structural || m.matrix->values[p] != 0;
  else
    for (int j = 0; j < columns; ++j) in[j] = m.structural || m.dense->at(i, j) != 0;
  for (char& x : in) x = x != static_cast<char>(m.complemented);
  return in;
}

/// C⟨mask, replace⟩ = C ⊙ (op(A) ⊕.⊗ op(B)), with the full meaning of every argument.
inline result multiply(const call& q) {
  const algebra s(q.semiring);
  const kind k = q.type;
  sparse a = q.transpose_a ? transpose(*q.a) : *q.a;
  full b = q.transpose_b ? transpose(*q.b) : *q.b;
  for (number& x : a.values) x = convert(q.a_kind, k, x);
  for (number& x : b.values) x = convert(q.b_kind, k, x);
  const number zero = s.zero(k);
  const number fill =
      q.fill ? convert(kind::float64, q.c_kind, *q.fill) : convert(k, q.c_kind, zero);

  result out{a.rows, b.columns, {}};
  out.places.resize(static_cast<std::size_t>(a.rows) * b.columns);
  std::vector<sum> sums(b.columns);
  std::vector<long> products(b.columns);
  for (int i = 0; i < a.rows; ++i) {
    const long n = a.offsets[i + 1] - a.offsets[i];
    sums.assign(b.columns, sum{zero});
    products.assign(b.columns, 0);
    for (long p = a.offsets[i]; p < a.offsets[i + 1]; ++p)
      for (int j = 0; j < b.columns; ++j) {
        const std::size_t at = static_cast<std::size_t>(a.inner[p]) * b.columns + j;
        if (q.b_stored != nullptr && !(*q.b_stored)[at]) continue;
        ++products[j];
        add_term(s, k, sums[j], s.product(k, a.values[p], b.at(a.inner[p], j)), a.inner[p]);
      }
    if (q.rescaled_to != nullptr) {
      const long whole = q.rescaled_to->offsets[i + 1] - q.rescaled_to->offsets[i];
      for (sum& x : sums)
        if (whole != n) x = rescaled(k, x, whole, n);
    }
    if (q.rounds)
      for (sum& x : sums) x.dyadic = false;
    const std::vector<char> allowed = allowed_in_row(q.mask, i, b.columns);
    for (int j = 0; j < b.columns; ++j) {
      place& here = out.places[static_cast<std::size_t>(i) * b.columns + j];
      const bool accumulates = q.accumulator.has_value() || q.own;
      const bool keeps =
          allowed[j] ? products[j] == 0 && accumulates : !q.replace && q.c != nullptr;
      const bool fills = allowed[j] ? products[j] == 0 : true;
      if (keeps) {
        here = exactly(q.c->at(i, j), q.c_indices ? static_cast<int>(q.c_indices->at(i, j)) : -1);
        continue;
      }
      if (fills) {
        here = exactly(fill);
        continue;
      }
      if (accumulates && s.arg) {
        const auto held = static_cast<int>(q.c_indices->at(i, j));
        add_term(s, k, sums[j], convert(q.c_kind, k, q.c->at(i, j)), held < 0 ? INT_MAX : held);
      }
      place t = finished(s, k, sums[j], n, q.bound);
      // In the common type of C and T, except that a semiring adds in its own.
      const kind in = accumulates && !s.arg && !q.own ? common(k, q.c_kind) : k;
      if (in != k) t = stored(k, in, t);
      if (accumulates && !s.arg)
        t = joined(q.own ? s.add : *q.accumulator, in, convert(q.c_kind, in, q.c->at(i, j)), t);
      here = stored(in, q.c_kind, t);
    }
  }
  return out;
}

}  // namespace oracle
