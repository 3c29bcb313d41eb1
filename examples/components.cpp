// The weakly connected components of a graph.

#include "rig/algorithms/components.hpp"

#include "options.hpp"

namespace {

void components(const example::options& given, const rig::components_options& my) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found = out.time(a.where(), [&] { return rig::components(a, my, given.describe()); });
  const auto labels = found.labels.to(rig::cpu());
  out.note("iterations", example::digits(found.iterations));
  out.add("count", found.count);
  out.add("largest", example::largest_part(labels));
  out.add("sum_min_index", std::accumulate(labels.begin(), labels.end(), rig::int64(0)));
  given.finish(out, labels);
}

}  // namespace

int main(int count, char** arguments) {
  rig::components_options my;
  namespace po = example::po;
  po::options_description own("Components", 100);
  own.add_options()("symmetric", po::bool_switch(&my.symmetric),
                    "every arc has its reverse, which is not checked");
  return example::run_program(count, arguments,
                              {.summary = "Finds the parts of a graph that no arc joins",
                               .what = example::takes::graph_of_algorithm,
                               .output = "the smallest node of each node's component",
                               .has_product = false},
                              own, [&](const example::options& given) { components(given, my); });
}
