// Local clustering coefficients, where the graph lies.

#include "options.hpp"
#include "rig/algorithms/local_clustering.hpp"
#include "rig/reduce.hpp"

namespace {

void lcc(const example::options& given, const rig::local_clustering_options& my) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found =
      out.time(a.where(), [&] { return rig::local_clustering(a, my, given.describe()); });
  out.add("mean", a.rows() == 0 ? 0.0 : rig::reduce(found, rig::binary::plus) / a.rows());
  given.finish(out, found);
}

}  // namespace

int main(int count, char** arguments) {
  rig::local_clustering_options my;
  namespace po = example::po;
  po::options_description own("Local clustering", 100);
  own.add_options()("directed", po::bool_switch(&my.directed),
                    "count arcs between neighbours one by one, as LDBC does");
  return example::run_program(
      count, arguments,
      {.summary = "How much of each node's neighbourhood is connected, on average",
       .what = example::takes::graph_of_algorithm,
       .output = "the coefficient of each node"},
      own, [&](const example::options& given) { lcc(given, my); });
}
