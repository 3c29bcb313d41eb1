// PageRank by power iteration: each step is one product of the transposed graph with the ranks.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

constexpr int most_iterations = 2000;

struct settings {
  double damping, tolerance;
};

struct ranks {
  rig::dense<double> rank;
  rig::dense<double> sent;    ///< what a node sends along each of its arcs
  std::vector<double> share;  ///< 1 / number of arcs, 0 without arcs
  double dangling = 0;        ///< rank of the nodes without arcs
  double change = 0;          ///< L1 distance to the ranks before
};

/// The ranks after one step, rank = damping · received + base, in one pass. Blocks have a fixed
/// size and their sums are added in order, so that any number of threads gives the same bits.
void step(ranks& all, const rig::dense<double>& received, double damping, double base) {
  constexpr rig::index block = 8192;
  const rig::index n = received.rows();
  std::vector<double> dangling(static_cast<std::size_t>(n / block + 1)), change(dangling.size());
#pragma omp parallel for schedule(static) if (change.size() > 1)
  for (std::size_t b = 0; b < change.size(); ++b) {
    const auto begin = static_cast<rig::index>(b) * block, end = std::min(n - begin, block) + begin;
    for (rig::index i = begin; i < end; ++i) {
      const double fresh = damping * received(i, 0) + base;
      const double share = all.share[static_cast<std::size_t>(i)];
      change[b] += std::abs(fresh - all.rank(i, 0));
      if (share == 0) dangling[b] += fresh;
      all.rank(i, 0) = fresh;
      all.sent(i, 0) = fresh * share;
    }
  }
  all.dangling = std::accumulate(dangling.begin(), dangling.end(), 0.0);
  all.change = std::accumulate(change.begin(), change.end(), 0.0);
}

/// Ranks that agree to eleven digits are a tie: below that, they tell in which order a sum was
/// rounded.
double to_eleven_digits(double rank) {
  int exponent = 0;
  const double fraction = std::frexp(rank, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, 37)), exponent);
}

void pagerank(const example::options& given, const settings& my) {
  const auto graph = given.load<float>();
  const rig::index n = graph.rows();
  if (n != graph.columns() || n == 0)
    rig::fail(rig::errc::shape,
              {given.source(), ": a graph has as many rows as columns, and nodes; this one is ", n,
               "x", graph.columns()});

  // An arc i → j brings j what i sends: received = Aᵀ · sent over "add up the second operand".
  const rig::plus_second<double> add_up;
  const auto a = graph.to(given.where());
  auto desc = given.describe();
  desc.transpose_a = true;
  a.prepare(desc);

  rig::dense<double> received(n, 1);
  ranks all{rig::dense<double>(n, 1), rig::dense<double>(n, 1),
            std::vector<double>(static_cast<std::size_t>(n))};
  for (rig::index i = 0; i < n; ++i) {
    const auto arcs = graph.structure().offset(i + 1) - graph.structure().offset(i);
    if (arcs > 0) all.share[static_cast<std::size_t>(i)] = 1.0 / static_cast<double>(arcs);
  }
  step(all, received, 0, 1.0 / n);  // nothing was received: every node starts with 1 / n
  const auto why = rig::explain(a, all.sent.to(a.where()), add_up, desc);
  given.show(why);

  const example::stopwatch watch;
  int iterations = 0;
  do {
    if (a.where() == rig::cpu())
      rig::mxm(received, rig::none, a, all.sent, add_up, desc);
    else
      received = rig::mxm(a, all.sent.to(a.where()), add_up, desc).to(rig::cpu());
    step(all, received, my.damping, (1 - my.damping + my.damping * all.dangling) / n);
  } while (++iterations < most_iterations && all.change >= my.tolerance);
  const double ms = watch.ms();

  auto& rank = all.rank;
  const double sum = example::sums_of(rank).total;
  for (rig::index i = 0; i < n; ++i) rank(i, 0) /= sum;
  const example::sums sums = example::sums_of(rank);

  std::vector<rig::index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto ten = order.begin() + std::min(10, n);
  std::partial_sort(order.begin(), ten, order.end(), [&](rig::index x, rig::index y) {
    const double of_x = to_eleven_digits(rank(x, 0)), of_y = to_eleven_digits(rank(y, 0));
    return of_x != of_y ? of_x > of_y : x < y;
  });
  std::vector<std::string> top;
  std::string first;
  for (auto node = order.begin(); node != ten; ++node) {
    top.push_back(example::json_list({example::json(*node), example::json(rank(*node, 0))}));
    if (node - order.begin() < 5)
      first += (first.empty() ? "node " : ", ") + example::json(*node) + " " +
               example::brief(rank(*node, 0));
  }

  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(n) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.note("kernel", why.chosen + " on " + rig::to_string(a.where()) + ": " + why.reason);
  out.add_hidden("n", n);
  out.add("iterations", iterations);
  out.add_hidden("sum", sums.total);
  out.add_hidden("norm2", sums.fro);
  out.add_json("top", example::json_list(top), first);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  settings my{};
  namespace po = example::po;
  po::options_description own("PageRank", 100);
  auto add = own.add_options();
  add("damping", po::value(&my.damping)->default_value(0.85, "0.85"), "chance of following a link");
  add("tolerance", po::value(&my.tolerance)->default_value(1e-10, "1e-10"),
      "stop when the ranks change by less, in sum");
  return example::run_program(count, arguments, "Ranks the nodes of a graph by the links to them",
                              own, [&](const example::options& given) {
                                example::require(my.damping >= 0 && my.damping < 1,
                                                 "--damping is in [0, 1)");
                                example::require(my.tolerance > 0, "--tolerance is positive");
                                pagerank(given, my);
                              });
}
