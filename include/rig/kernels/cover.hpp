#pragma once

// Products over ranks whose rows come in parts: sums before `finish`, joined on the rank that has
// the row.

#include <cstddef>
#include <vector>

#include "rig/communicator.hpp"
#include "rig/dense.hpp"
#include "rig/mxm.hpp"
#include "rig/scalar.hpp"
#include "rig/semiring.hpp"

namespace rig::over_ranks {

/// S without its finish, which is hidden.
template <class S>
struct unfinished : S {
 private:
  static void finish();
};

/// Whether S is an arg form of rig, whose finish changes only places without products.
template <class S>
inline constexpr bool is_arg_form = is_of_rig<S>() && is_indexed<output<S>>;

/// The semiring of partial rows.
template <class S>
using before_finish = std::conditional_t<has_finish<S> && !is_arg_form<S>, unfinished<S>, S>;

template <class T>
void make_room(dense<T>& of, index rows, index columns) {
  of = dense<T>::uninitialised(rows, columns);
}
template <class T>
void make_room(indexed_dense<T>& of, index rows, index columns) {
  make_room(of.values, rows, columns);
  make_room(of.indices, rows, columns);
}

/// Rows first[r] … first[r + 1] go to rank r, or come from there.
template <class T>
void add_messages(std::vector<message>& to, const dense<T>& rows, const std::vector<index>& first) {
  for (std::size_t rank = 0; rank + 1 < first.size(); ++rank) {
    const int64 count = int64{first[rank + 1] - first[rank]} * rows.columns();
    if (count > 0)
      to.push_back({static_cast<int>(rank), const_cast<T*>(rows.row(first[rank]).data()),
                    static_cast<std::size_t>(count) * sizeof(T)});
  }
}
template <class T>
void add_messages(std::vector<message>& to, const indexed_dense<T>& rows,
                  const std::vector<index>& first) {
  add_messages(to, rows.values, first);
  add_messages(to, rows.indices, first);
}

template <class T>
T element(const dense<T>& of, index i, index j) {
  return of(i, j);
}
template <class T>
indexed<T> element(const indexed_dense<T>& of, index i, index j) {
  return {of.values(i, j), of.indices(i, j)};
}
template <class T, class Value>
void put(dense<T>& to, index i, index j, const Value& value) {
  if constexpr (is_same<T, Value>)
    to(i, j) = value;
  else
    to(i, j) = convert<T>(value);
}
template <class T, class Value>
void put(indexed_dense<T>& to, index i, index j, const Value& value) {
  put(to.values, i, j, value.value);
  to.indices(i, j) = value.index;
}

/// Row added[k] of C becomes ⊕ of what it is and row k of `partial`; a row without entries of A
/// here becomes the first of them.
template <class S, class Sums>
void add_rows(Sums& c, const pattern& entries, const Sums& partial, const std::vector<index>& added,
              index columns) {
  std::vector<char> has_sums(static_cast<std::size_t>(entries.rows()));
  for (index k = 0; k < static_cast<index>(added.size()); ++k) {
    const index i = added[static_cast<std::size_t>(k)];
    char& has = has_sums[static_cast<std::size_t>(i)];
    const bool adds = has != 0 || entries.offset(i) < entries.offset(i + 1);
    has = 1;
    for (index j = 0; j < columns; ++j) {
      const typename S::accum part = element(partial, k, j);
      put(c, i, j, adds ? S::add(element(c, i, j), part) : part);
    }
  }
}

/// The results of sums, and one row of fill where a row of A is empty.
template <class S, class Result, class Sums>
Result finished_rows(const pattern& a, const Sums& sums, const Result& fill, index columns) {
  Result c;
  make_room(c, a.rows(), columns);
  for (index i = 0; i < a.rows(); ++i) {
    const int64 n = a.offset(i + 1) - a.offset(i);
    for (index j = 0; j < columns; ++j) {
      if (n > 0)
        put(c, i, j, finished<S>(element(sums, i, j), n));
      else
        put(c, i, j, element(fill, 0, j));
    }
  }
  return c;
}

}  // namespace rig::over_ranks
