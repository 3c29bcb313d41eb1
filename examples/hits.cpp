// Hubs and authorities, where the graph lies.

#include "rig/algorithms/hits.hpp"

#include "options.hpp"

namespace {

void hits(const example::options& given) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found = out.time(a.where(), [&] { return rig::hits(a, {}, given.describe()); });
  const auto hubs = found.hubs.to(rig::cpu()), authorities = found.authorities.to(rig::cpu());
  rig::dense<double> both(a.rows(), 2);
  for (rig::index i = 0; i < a.rows(); ++i) {
    both(i, 0) = hubs(i, 0);
    both(i, 1) = authorities(i, 0);
  }
  out.add("iterations", found.iterations);
  out.add_unsettled(found.change, rig::hits_options().tolerance);
  out.add_top(authorities);
  given.finish(out, both);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(count, arguments,
                              {.summary = "Finds hubs and authorities of a graph",
                               .what = example::takes::graph_of_algorithm,
                               .output = "how good a hub and an authority each node is"},
                              {}, hits);
}
