// Communities by label propagation, where the graph lies.

#include "rig/algorithms/label_propagation.hpp"

#include "options.hpp"

namespace {

void label_propagation(const example::options& given, const rig::label_propagation_options& my) {
  example::require_at_least(0, "--iterations", my.iterations);
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found =
      out.time(a.where(), [&] { return rig::label_propagation(a, my, given.describe()); });
  out.add("communities", found.communities);
  out.note("iterations", example::digits(found.iterations));
  given.finish(out, found.labels);
}

}  // namespace

int main(int count, char** arguments) {
  rig::label_propagation_options my;
  namespace po = example::po;
  po::options_description own("Label propagation", 100);
  own.add_options()("iterations", po::value(&my.iterations)->default_value(10)->value_name("N"),
                    "stop then, or earlier if no label changes");
  return example::run_program(
      count, arguments,
      {.summary = "Finds communities: each node takes the label of most neighbours",
       .what = example::takes::graph_of_algorithm,
       .output = "the label of each node: the number of a node"},
      own, [&](const example::options& given) { label_propagation(given, my); });
}
