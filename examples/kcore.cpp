// Core numbers by peeling, where the graph lies.

#include "rig/algorithms/kcore.hpp"

#include "options.hpp"

namespace {

void kcore(const example::options& given) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found = out.time(a.where(), [&] { return rig::kcore(a, {}, given.describe()); });
  const auto cores = found.cores.to(rig::cpu());
  out.add("max", found.most);
  out.note("in it", example::digits(std::ranges::count(cores, found.most)) + " nodes");
  given.finish(out, cores);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(count, arguments,
                              {.summary = "Finds the core number of each node of a graph",
                               .what = example::takes::graph_of_algorithm,
                               .output = "the core number of each node"},
                              {}, kcore);
}
