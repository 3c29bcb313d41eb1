// PageRank by power iteration, where the graph lies.

#include "rig/algorithms/pagerank.hpp"

#include "options.hpp"
#include "rig/mxm.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace {

void pagerank(const example::options& given, const rig::pagerank_options& my) {
  example::require(my.damping >= 0 && my.damping < 1,
                   "--damping is at least 0 and below 1, not " + example::digits(my.damping));
  example::require(my.tolerance > 0,
                   "--tolerance is above 0, not " + example::digits(my.tolerance));
  example::report out;
  const auto a = given.load<bool>(out);
  const rig::index n = a.rows();
  if (n != a.columns() || n == 0)
    rig::fail(rig::errc::shape,
              {given.source(), ": a graph has as many rows as columns, and nodes; this one is ", n,
               "x", a.columns()});

  auto desc = given.describe();
  // On no nodes: refuses what the algorithm refuses, before the product is explained.
  rig::pagerank(rig::matrix<bool>(0, 0), my, desc);
  desc.transpose_a = true;
  a.prepare(desc);
  const auto why = rig::explain(a, rig::dense<double>::uninitialised(n, 1, a.where()),
                                rig::plus_second<double>(), desc);
  given.show(why);

  const auto found = out.time(a.where(), [&] { return rig::pagerank(a, my, given.describe()); });
  const auto rank = found.ranks.to(rig::cpu());
  out.note("kernel", why.chosen + " on " + rig::to_string(a.where()) + ": " + why.reason);
  out.add_hidden("n", n);
  out.add("iterations", found.iterations);
  out.add_unsettled(found.change, my.tolerance);
  out.add_hidden("sum", rig::reduce(rank, rig::binary::plus));
  out.add_hidden("norm2", example::sums_of(rank).fro);
  out.add_top(rank);
  given.finish(out, rank);
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
  return example::run_program(count, arguments,
                              {.summary = "Ranks the nodes of a graph by the links to them",
                               .output = "the rank of each node"},
                              own, [&](const example::options& given) { pagerank(given, my); });
}
