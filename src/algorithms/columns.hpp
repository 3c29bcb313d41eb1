#pragma once

// What searches make of a column, a value per node: the same on one place and over ranks.

#include <optional>
#include <utility>

#include "algorithms/preparation.hpp"
#include "rig/distributed_closure.hpp"
#include "rig/elementwise.hpp"
#include "rig/reduce.hpp"
#include "rig/vector.hpp"

namespace rig {

/// Runs work of each place, which may throw.
template <class TA, class Work>
void locally(const char*, const matrix<TA>&, Work&& work) {
  work();
}
template <class TA, class Work>
void locally(const char* name, const distributed<matrix<TA>>& a, Work&& work) {
  over_ranks::agree(a.communicator(), name, work);
}

/// A value for each node, and another one for the source.
template <class T, class TA>
dense<T> start_column(const char*, const matrix<TA>& a, index source, T first, T others,
                      const descriptor& desc) {
  auto out = filled<T>(a.rows(), 1, others, a.where(), desc);
  const auto from = vector<T>::from_indices(a.rows(), std::span(&source, 1), first).to(a.where());
  ewise_add(out, none, out, from, binary::second, desc);
  return out;
}
/// The column of an operator and a number, of type U.
template <class U, class T, class Operator, class Number>
dense<U> map(const char*, const dense<T>& of, Operator op, Number number, const descriptor& desc) {
  return apply<U>(of, op, number, desc);
}
/// How many values are greater than, or whatever else the comparison says, a number.
template <class T, class Number>
int64 count_of(const char*, const dense<T>& of, binary comparison, Number number,
               const descriptor& desc) {
  return reduce(apply<int64>(of, comparison, number, desc), binary::plus, desc);
}

template <class T, class TA>
distributed<dense<T>> start_column(const char* name, const distributed<matrix<TA>>& a, index source,
                                   T first, T others, const descriptor&) {
  const communicator& ranks = a.communicator();
  dense<T> out;
  over_ranks::agree(ranks, name, [&] {
    out = dense<T>(a.local().rows(), 1, others);
    if (a.layout().rank_of(source) == ranks.rank()) out(a.layout().place_of(source), 0) = first;
  });
  return over_ranks::access::make<T>(ranks, std::move(out), a.layout(), index(1), false);
}
template <class U, class T, class Operator, class Number>
distributed<dense<U>> map(const char* name, const distributed<dense<T>>& of, Operator op,
                          Number number, const descriptor& desc) {
  dense<U> out;
  over_ranks::agree(of.communicator(), name, [&] { out = apply<U>(of.local(), op, number, desc); });
  return over_ranks::access::make<U>(of.communicator(), std::move(out), of.layout(), index(1),
                                     false);
}
template <class T, class Number>
int64 count_of(const char* name, const distributed<dense<T>>& of, binary comparison, Number number,
               const descriptor& desc) {
  int64 here = 0;
  over_ranks::agree(of.communicator(), name,
                    [&] { here = count_of(name, of.local(), comparison, number, desc); });
  return of.communicator().all_reduce(here, joining::sum);
}

/// Checks a graph over ranks, with a further check of the algorithm's own. Collective.
template <class T, class Check>
void require_graph(const char* name, const distributed<matrix<T>>& a, const descriptor& desc,
                   Check&& check) {
  over_ranks::agree(a.communicator(), name, [&] {
    over_ranks::require_cpu(name, a.local().where());
    over_ranks::check_closing(name, a.rows(), a.columns(), a.rows(), desc);
    check();
  });
}

}  // namespace rig
