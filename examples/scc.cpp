// The strongly connected components of a directed graph.

#include "rig/algorithms/scc.hpp"

#include <algorithm>
#include <vector>

#include "options.hpp"
#include "report.hpp"

namespace {

void components(const example::options& given) {
  const auto a = given.load<bool>().to(given.where());
  a.prepare({.transpose_a = true});
  const example::stopwatch watch;
  const auto found = rig::scc(a, {}, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  const auto labels = found.labels.to(rig::cpu());
  std::vector<rig::int64> sizes(static_cast<std::size_t>(a.rows()));
  for (const int label : labels) ++sizes[static_cast<std::size_t>(label)];
  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(a.rows()) + " nodes, " +
                        std::to_string(a.nnz()) + " arcs");
  out.note("rounds", std::to_string(found.rounds));
  out.add("count", found.count);
  out.add("largest", sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()));
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(
      count, arguments, "Finds the parts of a graph whose nodes have paths to each other",
      example::po::options_description(), components, example::takes::graph_of_algorithm);
}
