// The strongly connected components of a directed graph.

#include "rig/algorithms/scc.hpp"

#include "options.hpp"

namespace {

void components(const example::options& given) {
  example::report out;
  const auto a = given.load<bool>(out);
  a.prepare({.transpose_a = true});
  const auto found = out.time(a.where(), [&] { return rig::scc(a, {}, given.describe()); });
  const auto labels = found.labels.to(rig::cpu());
  out.note("rounds", example::digits(found.rounds));
  out.add("count", found.count);
  out.add("largest", example::largest_part(labels));
  given.finish(out, labels);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(
      count, arguments,
      {.summary = "Finds the parts of a graph whose nodes have paths to each other",
       .what = example::takes::graph_of_algorithm,
       .output = "the smallest node of each node's component",
       .has_product = false},
      {}, components);
}
