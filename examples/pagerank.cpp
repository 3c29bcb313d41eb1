// PageRank by power iteration, where the graph lies.

#include "rig/algorithms/pagerank.hpp"

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

/// Ranks that agree to eleven digits are a tie: below that, they tell in which order a sum was
/// rounded.
double to_eleven_digits(double rank) {
  int exponent = 0;
  const double fraction = std::frexp(rank, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, 37)), exponent);
}

void pagerank(const example::options& given, const rig::pagerank_options& my) {
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
  const auto why = rig::explain(a, rig::dense<double>::uninitialised(n, 1, a.where()),
                                rig::plus_second<double>(), desc);
  given.show(why);

  const example::stopwatch watch;
  const auto found = rig::pagerank(a, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();
  const auto rank = found.ranks.to(rig::cpu());

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
  out.add("iterations", found.iterations);
  out.add_hidden("sum", rig::reduce(rank, rig::binary::plus));
  out.add_hidden("norm2", example::sums_of(rank).fro);
  out.add_json("top", example::json_list(top), first);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  rig::pagerank_options my;
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
