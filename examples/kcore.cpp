// Core numbers by peeling, where the graph lies.

#include "rig/algorithms/kcore.hpp"

#include "options.hpp"
#include "report.hpp"

namespace {

void kcore(const example::options& given) {
  const auto graph = given.load<float>();
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const auto found = rig::kcore(a, {}, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  const auto cores = found.cores.to(rig::cpu());
  const auto in_most = std::count(cores.begin(), cores.end(), found.most);
  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.add("max", found.most);
  out.note("in it", std::to_string(in_most) + " nodes");
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(count, arguments, "Finds the core number of each node of a graph",
                              example::po::options_description("Cores", 100), kcore,
                              example::takes::graph_of_algorithm);
}
