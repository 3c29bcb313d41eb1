#include "rig/algorithms/pagerank.hpp"

#include <bit>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "algorithms/columns.hpp"
#include "algorithms/preparation.hpp"
#include "rig/distributed_algorithms.hpp"
#include "rig/distributed_mxv.hpp"
#include "rig/kernels/cpu/slices.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace rig {
namespace {

/// The columns of the iteration: of all nodes, or of those of a rank.
struct walk {
  dense<double> arcs;            ///< by node
  vector<bool> ends;             ///< nodes without arcs
  dense<double> rank, received;  ///< the ranks so far, and what the nodes receive: the next ones
  dense<double> share;           ///< damping / arcs, or 0
  dense<double> jump;            ///< where jumps lead to, in sum 1; 0×0: to all nodes alike
  dense<double> sent;            ///< what a node sends along each of its arcs
  dense<double> sums;            ///< read by the host once per iteration
  dense<double> change, lost;    ///< views of them

  /// `a` has a row for each node of the columns.
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
    assign(rank, none, 1.0 / a.columns(), all, all, desc);
    apply(share, none, given.damping, binary::divide, arcs, values(arcs), desc);
    ewise_mult(sent, none, rank, share, binary::times, desc);
    if (given.personalised.rows() > 0)
      jump = apply(given.personalised, binary::divide,
                   reduce(given.personalised, binary::plus, desc), desc);
    double* const first = sums.data();
    change = dense<double>::view(first, 1, 1, 1, a.where());
    lost = dense<double>::view(first + 1, 1, 1, 1, a.where());
  }

  /// Adds what nodes receive by jumps of this chance; the graph has so many nodes.
  void add_jumps(double chance, index nodes, const descriptor& desc) {
    if (jump.rows() > 0)
      apply(received, accumulator::plus, jump, binary::times, chance, desc);
    else
      apply(received, none, received, binary::plus, chance / nodes, desc);
  }
};

/// A graph on one place.
struct on_one_place {
  const matrix<bool>& a;
  descriptor product, other;

  on_one_place(const matrix<bool>& of, const descriptor& desc)
      : a(of), product(of_products(desc)), other(of_operations(desc)) {
    // A CPU reads eight rows of the transpose at once; other places have no such kernel.
    const bool may_slice = desc.kernel.empty() && slices::pays(a.nnz(), a.rows());
    a.prepare({.transpose_a = true, .kernel = may_slice ? "sell" : desc.kernel});
    product.transpose_a = true;
  }
  template <class Work>
  void locally(Work&& work) const {
    work();
  }
  walk start(const pagerank_options& given) const { return walk(a, given, other); }
  /// Whether the change of this iteration is needed.
  static bool needs_change(const pagerank_options& given, bool is_last) {
    return is_last || given.tolerance > 0 || given.progress;
  }
  int64 number_of(const vector<bool>& ends) const { return ends.nnz(); }
  void receive(walk& v) const { mxv(v.received, none, a, v.sent, plus_second<double>(), product); }
  void add_up_change(walk& v) const { reduce_columns(v.change, none, v.rank, binary::plus, other); }
  void add_up_lost(walk& v) const {
    mxv(v.lost, none, v.ends.as_row(), v.rank, plus_second<double>(), other);
  }
  /// The change, and the rank of nodes without arcs.
  std::pair<double, double> sums(walk& v) const {
    const auto sums = v.sums.to(cpu());
    return {sums(0, 0), sums(1, 0)};
  }
  double sum_of(const dense<double>& x) const { return reduce(x, binary::plus, other); }
};

/// A graph over ranks. Sums are whole multiples of 2⁻⁶⁰: the order of adding them changes no bit.
struct on_all_ranks {
  const distributed<matrix<bool>>& a;
  descriptor other;
  int64 change = 0, lost = 0;

  static constexpr double unit = 0x1p-60;
  static int64 units(double x) { return std::llrint(x / unit); }

  template <class Work>
  void locally(Work&& work) const {
    over_ranks::agree(a.communicator(), "pagerank", work);
  }
  walk start(const pagerank_options& given) const {
    std::optional<walk> made;
    locally([&] {
      made.emplace(a.local(), given, other);
      if (given.personalised.rows() == 0) return;
      dense<double> mine = dense<double>::uninitialised(a.local().rows(), 1);
      for (index k = 0; k < mine.rows(); ++k)
        mine(k, 0) = made->jump(a.layout().row_at(a.communicator().rank(), k), 0);
      made->jump = std::move(mine);
    });
    return *std::move(made);
  }
  /// Always: one rank alone may show progress.
  static bool needs_change(const pagerank_options&, bool) { return true; }
  int64 number_of(const vector<bool>& ends) const {
    return a.communicator().all_reduce(ends.nnz(), joining::sum);
  }
  void receive(walk& v) const {
    const auto sent = over_ranks::access::make<double>(a.communicator(), v.sent.sharing(),
                                                       a.layout(), index(1), false);
    const auto received =
        mxv(a, sent, plus_second<double>(), {.transpose_a = true, .threads = other.threads});
    locally([&] { v.received = received.local(); });
  }
  void add_up_change(walk& v) { change = units_of(v.rank); }
  void add_up_lost(walk& v) {
    lost = 0;
    for (int64 p = 0; p < v.ends.nnz(); ++p) lost += units(v.rank(v.ends.indices()[p], 0));
  }
  std::pair<double, double> sums(walk&) const { return {total(change), total(lost)}; }
  double sum_of(const dense<double>& x) const { return total(units_of(x)); }

 private:
  static int64 units_of(const dense<double>& x) {
    int64 sum = 0;
    for (const double each : x) sum += units(each);
    return sum;
  }
  double total(int64 here) const {
    return static_cast<double>(a.communicator().all_reduce(here, joining::sum)) * unit;
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

/// The iteration on a graph of n nodes, n > 0. Returns the ranks, and sets the rest of the result.
template <class Graph>
dense<double> iterate(Graph& on, index n, const pagerank_options& given, int& iterations,
                      double& last_change) {
  const double d = given.damping;
  const descriptor& other = on.other;
  walk v = on.start(given);
  const int64 ends = on.number_of(v.ends);
  double lost = static_cast<double>(ends) / n;  // the rank of nodes without arcs
  do {
    on.receive(v);
    ++iterations;
    on.locally([&] {
      v.add_jumps(1 - d + d * lost, n, other);
      if (on.needs_change(given, iterations >= given.most_iterations)) {
        ewise_add(v.rank, none, v.rank, v.received, binary::minus, other);
        apply(v.rank, none, v.rank, unary::absolute, other);
        on.add_up_change(v);
      }
      std::swap(v.rank, v.received);
      if (ends > 0) on.add_up_lost(v);
      ewise_mult(v.sent, none, v.rank, v.share, binary::times, other);
    });
    std::tie(last_change, lost) = on.sums(v);
    on.locally([&] {
      if (given.progress) given.progress(iterations, last_change);
    });
  } while (iterations < given.most_iterations && last_change >= given.tolerance);
  // Rounding of many iterations leaves a sum that is not quite 1.
  const double sum = on.sum_of(v.rank);
  on.locally([&] { apply(v.rank, none, v.rank, binary::divide, sum, other); });
  return std::move(v.rank);
}

pagerank_result ranks_of(const matrix<bool>& a, const pagerank_options& given,
                         const descriptor& desc) {
  check(given);
  check_jumps(given.personalised, a.rows(), of_operations(desc));
  pagerank_result found;
  if (a.rows() == 0) {
    found.ranks = dense<double>(0, 1).to(a.where());
    return found;
  }
  on_one_place on(a, desc);
  found.ranks = iterate(on, a.rows(), given, found.iterations, found.change);
  return found;
}

}  // namespace

pagerank_result pagerank(const matrix<bool>& a, const pagerank_options& given,
                         const descriptor& desc) {
  return on_graph("pagerank", a, desc, [&] { return ranks_of(to_prepare(a), given, desc); });
}

distributed<pagerank_result> pagerank(const distributed<matrix<bool>>& a,
                                      const pagerank_options& given, const descriptor& desc) {
  on_all_ranks on{a, {}};
  dense<double> ranks;
  require_graph("pagerank", a, desc, [&] {
    check(given);
    if (given.personalised.where() != cpu())
      fail(errc::place, {"pagerank: personalised is on ", to_string(given.personalised.where()),
                         ", and the graph's parts are on cpu; copy it with .to()"});
    check_jumps(given.personalised, a.rows(), of_operations(desc));
    on.other = of_operations(desc);
    ranks = dense<double>(0, 1);
  });
  const auto require_alike = [&](const char* what, int64 number) {
    over_ranks::require_alike(a.communicator(), "pagerank", what, number);
  };
  require_alike("most_iterations", given.most_iterations);
  require_alike("the tolerance", std::bit_cast<int64>(static_cast<double>(given.tolerance)));
  require_alike("the damping", std::bit_cast<int64>(static_cast<double>(given.damping)));
  int iterations = 0;
  double change = 0;
  if (a.rows() > 0) ranks = iterate(on, a.rows(), given, iterations, change);
  return {over_ranks::access::make<double>(a.communicator(), std::move(ranks), a.layout(), index(1),
                                           false),
          iterations, change};
}

}  // namespace rig
