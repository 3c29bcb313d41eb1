// PageRank by power iteration: each step is one product of the transposed graph with the ranks, and
// a few operations on vectors, all where the graph lies.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "rig/mxm.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace {

constexpr int most_iterations = 2000;

struct settings {
  double damping, tolerance;
};

/// The vectors of the iteration, in the graph's place.
struct ranks {
  rig::dense<double> rank;
  rig::dense<double> sent;      ///< what a node sends along each of its arcs
  rig::dense<double> share;     ///< damping / number of arcs, 0 without arcs
  rig::dense<double> received;  ///< what a node gets from others
};

/// One step of the iteration. Returns the L1 distance to the ranks before.
double step(ranks& v, const rig::matrix<float>& a, const rig::descriptor& product,
            const rig::descriptor& other) {
  using enum rig::binary;
  // An arc i → j brings j what i sends: received = Aᵀ · sent over "add up the second operand".
  rig::mxm(v.received, rig::none, a, v.sent, rig::plus_second<double>(), product);
  // The rest of the ranks, which sum to 1, goes to all nodes alike.
  const double base = (1 - rig::reduce(v.received, plus, other)) / a.rows();
  rig::apply(v.received, rig::none, v.received, plus, base, other);
  rig::ewise_add(v.rank, rig::none, v.rank, v.received, minus, other);
  rig::apply(v.rank, rig::none, v.rank, rig::unary::absolute, other);
  const double change = rig::reduce(v.rank, plus, other);
  std::swap(v.rank, v.received);
  rig::ewise_mult(v.sent, rig::none, v.rank, v.share, times, other);
  return change;
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

  const auto a = graph.to(given.where());
  auto desc = given.describe();
  desc.transpose_a = true;
  a.prepare(desc);
  const rig::descriptor other{.threads = desc.threads};

  rig::dense<double> share(n, 1), even(n, 1, 1.0 / n);
  for (rig::index i = 0; i < n; ++i) {
    const auto arcs = graph.structure().offset(i + 1) - graph.structure().offset(i);
    if (arcs > 0) share(i, 0) = my.damping / static_cast<double>(arcs);
  }
  const auto there = [&](const rig::dense<double>& x) { return x.to(a.where()); };
  ranks v{there(even), there(even), there(share), there(even)};
  rig::ewise_mult(v.sent, rig::none, v.rank, v.share, rig::binary::times, other);
  const auto why = rig::explain(a, v.sent, rig::plus_second<double>(), desc);
  given.show(why);

  const example::stopwatch watch;
  int iterations = 0;
  double change = 0;
  do {
    change = step(v, a, desc, other);
  } while (++iterations < most_iterations && change >= my.tolerance);
  const double ms = watch.ms();

  rig::apply(v.rank, rig::none, v.rank, rig::binary::divide,
             rig::reduce(v.rank, rig::binary::plus, other), other);
  const auto rank = v.rank.to(rig::cpu());

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
  out.add_hidden("sum", rig::reduce(rank, rig::binary::plus));
  out.add_hidden("norm2", example::sums_of(rank).fro);
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
