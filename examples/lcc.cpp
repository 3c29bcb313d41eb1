// Local clustering coefficients, where the graph lies.

#include "options.hpp"
#include "report.hpp"
#include "rig/algorithms/local_clustering.hpp"
#include "rig/reduce.hpp"

namespace {

void lcc(const example::options& given, const rig::local_clustering_options& my) {
  const auto graph = given.load<float>();
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const auto found = rig::local_clustering(a, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  const rig::index n = graph.rows();
  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(n) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.add("mean", n == 0 ? 0.0 : rig::reduce(found, rig::binary::plus) / n);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  rig::local_clustering_options my;
  namespace po = example::po;
  po::options_description own("Local clustering", 100);
  own.add_options()("directed", po::bool_switch(&my.directed),
                    "count arcs between neighbours one by one, as LDBC does");
  return example::run_program(
      count, arguments, "How much of each node's neighbourhood is connected, on average", own,
      [&](const example::options& given) { lcc(given, my); }, example::takes::graph_of_algorithm);
}
