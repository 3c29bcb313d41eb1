// The number of triangles, where the graph lies.

#include "rig/algorithms/triangles.hpp"

#include "options.hpp"
#include "report.hpp"

namespace {

void triangles(const example::options& given) {
  const auto graph = given.load<float>();
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const rig::int64 count = rig::triangles(a, {}, given.describe());
  const double ms = watch.ms();

  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.add("triangles", count);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(count, arguments, "Counts the triangles of a graph's undirected view",
                              example::po::options_description("Triangles", 100), triangles,
                              example::takes::graph_of_algorithm);
}
