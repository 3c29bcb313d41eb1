// The weakly connected components of a graph.

#include "rig/algorithms/components.hpp"

#include <algorithm>
#include <vector>

#include "options.hpp"
#include "report.hpp"

namespace {

void components(const example::options& given, const rig::components_options& my) {
  const auto a = given.load<bool>().to(given.where());
  if (!my.symmetric) a.prepare({.transpose_a = true});
  const example::stopwatch watch;
  const auto found = rig::components(a, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  const auto labels = found.labels.to(rig::cpu());
  std::vector<rig::int64> sizes(static_cast<std::size_t>(a.rows()));
  rig::int64 sum = 0;
  for (const int label : labels) {
    ++sizes[static_cast<std::size_t>(label)];
    sum += label;
  }
  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(a.rows()) + " nodes, " +
                        std::to_string(a.nnz()) + " arcs");
  out.note("iterations", std::to_string(found.iterations));
  out.add("count", found.count);
  out.add("largest", sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()));
  out.add("sum_min_index", sum);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  rig::components_options my;
  namespace po = example::po;
  po::options_description own("Components", 100);
  own.add_options()("symmetric", po::bool_switch(&my.symmetric),
                    "every arc has its reverse, which is not checked; no transpose is built");
  return example::run_program(
      count, arguments, "Finds the parts of a graph that no arc joins", own,
      [&](const example::options& given) { components(given, my); },
      example::takes::graph_of_algorithm);
}
