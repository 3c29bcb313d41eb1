// A minimum spanning forest, where the graph lies.

#include "rig/algorithms/msf.hpp"

#include <algorithm>

#include "options.hpp"
#include "report.hpp"
#include "rig/user_semiring.hpp"

namespace {

/// Weights from 1 to 64 for graphs without any.
RIG_OPERATOR(
    synthetic, static constexpr double apply(double, rig::index i, rig::index j, long) {
      const long least = i < j ? i : j, most = i < j ? j : i;
      return static_cast<double>(1 + (31 * least + 17 * most) % 64);
    });

void msf(const example::options& given, bool is_synthetic) {
  auto graph = given.load<double>();
  if (is_synthetic) graph = rig::apply(graph, synthetic(), 0L);
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const auto found = rig::msf(a, {}, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.add("weight", found.weight);
  out.add("edges", found.forest.nnz());
  out.note("rounds", std::to_string(found.rounds));
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  std::string weights;
  namespace po = example::po;
  po::options_description own("Spanning forest", 100);
  own.add_options()("weights", po::value(&weights)->default_value("file"),
                    "file: the values of the graph; synthetic: 1 to 64, from the nodes' numbers");
  return example::run_program(
      count, arguments, "Finds a spanning forest of least weight", own,
      [&](const example::options& given) {
        example::require(weights == "file" || weights == "synthetic",
                         "--weights is file or synthetic, not '" + weights + "'");
        msf(given, weights == "synthetic");
      },
      example::takes::graph_of_algorithm);
}
