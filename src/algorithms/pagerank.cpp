#include "rig/algorithms/pagerank.hpp"

#include <cmath>
#include <utility>

#include "algorithms/preparation.hpp"
#include "rig/kernels/cpu/slices.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace rig {
namespace {

/// The vectors of the iteration, where the graph lies.
struct walk {
  dense<double> arcs;            ///< by node
  vector<bool> ends;             ///< nodes without arcs
  dense<double> rank, received;  ///< the ranks so far, and what the nodes receive: the next ones
  dense<double> share;           ///< damping / arcs, or 0
  dense<double> jump;            ///< where jumps lead to, in sum 1; 0×0: to all nodes alike
  dense<double> sent;            ///< what a node sends along each of its arcs
  dense<double> sums;            ///< read by the host once per iteration
  dense<double> change, lost;    ///< views of them

  walk(const matrix<bool>& a, const pagerank_options& given, const descriptor& desc)
      : arcs(apply<double>(degrees_of(a, desc), unary::identity, desc)),
        ends(select(vector<double>::from(arcs), selection::equal, 0.0, desc)
                 .as_row()
                 .with_value(true)),
        rank(dense<double>::uninitialised(a.rows(), 1, a.where())),
        received(dense<double>::uninitialised(a.rows(), 1, a.where())),
        share(filled<double>(a.rows(), 1, 0, a.where(), desc)),
        sent(dense<double>::uninitialised(a.rows(), 1, a.where())),
        sums(dense<double>(2, 1, 0.0).to(a.where())) {
    assign(rank, none, 1.0 / a.rows(), all, all, desc);
    apply(share, none, given.damping, binary::divide, arcs, values(arcs), desc);
    ewise_mult(sent, none, rank, share, binary::times, desc);
    if (given.personalised.rows() > 0)
      jump = apply(given.personalised, binary::divide,
                   reduce(given.personalised, binary::plus, desc), desc);
    double* const first = sums.data();
    change = dense<double>::view(first, 1, 1, 1, a.where());
    lost = dense<double>::view(first + 1, 1, 1, 1, a.where());
  }

  /// Adds what nodes receive by jumps of this chance.
  void add_jumps(double chance, const descriptor& desc) {
    if (jump.rows() > 0)
      apply(received, accumulator::plus, jump, binary::times, chance, desc);
    else
      apply(received, none, received, binary::plus, chance / received.rows(), desc);
  }
};

void check_jumps(const dense<double>& to, index nodes, const descriptor& desc) {
  if (to.rows() == 0 && (to.columns() == 0 || nodes == 0)) return;
  if (to.rows() != nodes || to.columns() != 1)
    fail(errc::shape, {"pagerank: personalised is ", to.rows(), "x", to.columns(), "; give ", nodes,
                       "x1, a number per node"});
  const double least = reduce(to, binary::minimum, desc), sum = reduce(to, binary::plus, desc);
  if (!(least >= 0 && sum > 0 && std::isfinite(sum)))
    fail(errc::range, {"pagerank: the least number of personalised is ", least, ", and their sum ",
                       sum, "; give finite numbers of at least 0, one of them greater"});
}

void check(const pagerank_options& given) {
  if (!(given.damping >= 0 && given.damping < 1))
    fail(errc::range, {"pagerank: damping is ", given.damping, "; set a number in [0, 1)"});
  if (!(given.tolerance >= 0))
    fail(errc::range, {"pagerank: tolerance is ", given.tolerance, "; set a number of at least 0"});
  if (given.most_iterations < 1)
    fail(errc::range, {"pagerank: most_iterations is ", given.most_iterations, "; set at least 1"});
}

pagerank_result iterate(const matrix<bool>& a, const pagerank_options& given,
                        const descriptor& desc) {
  check(given);
  check_jumps(given.personalised, a.rows(), of_operations(desc));
  pagerank_result found;
  const index n = a.rows();
  if (n == 0) {
    found.ranks = dense<double>(0, 1).to(a.where());
    return found;
  }
  const double d = given.damping;
  const descriptor other = of_operations(desc);
  descriptor product = of_products(desc);
  product.transpose_a = true;

  // A CPU reads eight rows of the transpose at once; other places have no such kernel.
  const bool may_slice = desc.kernel.empty() && slices::pays(a.nnz(), n);
  a.prepare({.transpose_a = true, .kernel = may_slice ? "sell" : desc.kernel});

  walk v(a, given, other);
  double lost = static_cast<double>(v.ends.nnz()) / n;  // the rank of nodes without arcs
  do {
    mxv(v.received, none, a, v.sent, plus_second<double>(), product);
    v.add_jumps(1 - d + d * lost, other);
    ++found.iterations;
    const bool is_last = found.iterations >= given.most_iterations;
    if (is_last || given.tolerance > 0 || given.progress) {
      ewise_add(v.rank, none, v.rank, v.received, binary::minus, other);
      apply(v.rank, none, v.rank, unary::absolute, other);
      reduce_columns(v.change, none, v.rank, binary::plus, other);
    }
    std::swap(v.rank, v.received);
    if (v.ends.nnz() > 0) mxv(v.lost, none, v.ends.as_row(), v.rank, plus_second<double>(), other);
    ewise_mult(v.sent, none, v.rank, v.share, binary::times, other);
    const auto sums = v.sums.to(cpu());
    found.change = sums(0, 0);
    lost = sums(1, 0);
    if (given.progress) given.progress(found.iterations, found.change);
  } while (found.iterations < given.most_iterations && found.change >= given.tolerance);
  // Rounding of many iterations leaves a sum that is not quite 1.
  apply(v.rank, none, v.rank, binary::divide, reduce(v.rank, binary::plus, other), other);
  found.ranks = std::move(v.rank);
  return found;
}

}  // namespace

pagerank_result pagerank(const matrix<bool>& a, const pagerank_options& given,
                         const descriptor& desc) {
  return on_graph("pagerank", a, desc, [&] { return iterate(to_prepare(a), given, desc); });
}

}  // namespace rig
