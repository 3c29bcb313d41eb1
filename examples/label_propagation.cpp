// Communities by label propagation, where the graph lies.

#include "rig/algorithms/label_propagation.hpp"

#include "options.hpp"
#include "report.hpp"

namespace {

void label_propagation(const example::options& given, const rig::label_propagation_options& my) {
  const auto graph = given.load<float>();
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const auto found = rig::label_propagation(a, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.add("communities", found.communities);
  out.note("iterations", std::to_string(found.iterations));
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  rig::label_propagation_options my;
  namespace po = example::po;
  po::options_description own("Label propagation", 100);
  own.add_options()("iterations", po::value(&my.iterations)->default_value(10),
                    "stop then, or earlier if no label changes");
  return example::run_program(
      count, arguments, "Finds communities: each node takes the label of most neighbours", own,
      [&](const example::options& given) {
        example::require(my.iterations >= 0, "--iterations is at least 0");
        label_propagation(given, my);
      },
      example::takes::graph_of_algorithm);
}
