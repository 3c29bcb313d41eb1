// A maximal independent set, where the graph lies.

#include "rig/algorithms/mis.hpp"

#include "options.hpp"
#include "report.hpp"

namespace {

void mis(const example::options& given, const rig::mis_options& my) {
  const auto graph = given.load<float>();
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const auto found = rig::mis(a, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.add("size", found.set.nnz());
  out.note("rounds", std::to_string(found.rounds));
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  rig::mis_options my;
  namespace po = example::po;
  po::options_description own("Independent set", 100);
  own.add_options()("seed", po::value(&my.seed)->default_value(1), "of the nodes' priorities");
  return example::run_program(
      count, arguments, "Finds nodes without edges between them, as many as can join", own,
      [&](const example::options& given) { mis(given, my); }, example::takes::graph_of_algorithm);
}
