#include "rig/algorithms/sssp.hpp"

#include <cmath>
#include <span>
#include <utility>

#include "algorithms/preparation.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {
namespace {

/// The default width of a bucket in mean weights. On a device a step costs much beside its arcs.
double mean_weights(place where) { return where == cpu() ? 1 : 2; }

template <class T>
void check(const matrix<T>& a, int64 source, const sssp_options& given, const descriptor& desc) {
  require_graph("sssp", a.with_value(true), desc);
  require_sources("sssp", std::span(&source, 1), a.rows());
  if (!(given.delta >= 0))
    fail(errc::range, {"sssp: delta is ", given.delta, "; set a number of at least 0"});
  const T least = reduce(a, binary::minimum, desc);
  if (!(least >= 0))
    fail(errc::range, {"sssp: the least weight is ", least, "; give weights of at least 0"});
}

/// The width of a bucket. Wide ones make fewer steps, each of which has a cost of its own.
template <class T>
T width_of(const matrix<T>& a, const sssp_options& given, const descriptor& desc) {
  double width = given.delta;
  if (width == 0 && a.nnz() > 0) {
    const double sum = static_cast<double>(reduce(a, binary::plus, desc));
    width = mean_weights(a.where()) * sum / static_cast<double>(a.nnz());
  }
  const T rounded = convert<T>(width);
  if (rounded == 0) return 1;
  return rounded > 0 ? rounded : highest<T>();  // the sum of great integers wraps
}

/// `limit`, or the next number above `least` if rounding made both equal.
double above(double least, double limit) {
  return limit > least ? limit : std::nextafter(least, highest<double>());
}
int64 above(int64, int64 limit) { return limit; }

/// The entries of u for which u(i) ⊙ v(i).
template <class T>
vector<T> where_entries(const vector<T>& u, binary comparison, const dense<T>& v,
                        const descriptor& desc) {
  const auto holds = ewise_mult<bool>(u, v, comparison, desc);
  return apply(u, unary::identity, values(holds), desc);
}

template <class T>
sssp_result<T> paths(const matrix<T>& a, int64 source, const sssp_options& given,
                     const descriptor& desc) {
  const descriptor other = of_operations(desc), product = of_products(desc);
  check(a, source, given, other);
  const T width = width_of(a, given, other);

  sssp_result<T> found;
  auto& distances = found.distances;
  distances = filled<T>(a.rows(), 1, highest<T>(), a.where(), other);
  auto waiting = vector<T>::from_indices(a.rows(), std::span(&source, 1), T(0)).to(a.where());
  ewise_add(distances, none, distances, waiting, binary::second, other);
  while (waiting.nnz() > 0) {
    const T least = reduce(waiting, binary::minimum, other);
    const T limit = above(least, saturating_plus(least, width, highest<T>()));
    auto near = select(waiting, selection::less, limit, other);
    waiting = select(waiting, selection::greater_equal, limit, other);
    while (near.nnz() > 0) {
      const auto offered = vxm(near, a, min_plus<T>(), product);
      const auto nearer = where_entries(offered, binary::less, distances, other);
      ewise_add(distances, none, distances, nearer, binary::second, other);
      near = select(nearer, selection::less, limit, other);
      if (near.nnz() < nearer.nnz())
        waiting = ewise_add(waiting, select(nearer, selection::greater_equal, limit, other),
                            binary::minimum, other);
      ++found.steps;
      if (given.progress) given.progress(found.steps, nearer.nnz());
    }
    // A node that came nearer since it waits is relaxed already.
    waiting = where_entries(waiting, binary::equal, distances, other);
  }
  found.reached =
      reduce(apply<int64>(distances, binary::less, highest<T>(), other), binary::plus, other);
  return found;
}

}  // namespace

sssp_result<double> sssp(const matrix<double>& a, int64 source, const sssp_options& given,
                         const descriptor& desc) {
  return paths(a, source, given, desc);
}
sssp_result<int64> sssp(const matrix<int64>& a, int64 source, const sssp_options& given,
                        const descriptor& desc) {
  return paths(a, source, given, desc);
}

}  // namespace rig
