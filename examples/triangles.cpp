// The number of triangles, where the graph lies.

#include "rig/algorithms/triangles.hpp"

#include "options.hpp"

namespace {

void triangles(const example::options& given) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found = out.time(a.where(), [&] { return rig::triangles(a, {}, given.describe()); });
  out.add("triangles", found);
  given.finish(out, rig::dense<rig::int64>(1, 1, found));
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(count, arguments,
                              {.summary = "Counts the triangles of a graph's undirected view",
                               .what = example::takes::graph_of_algorithm,
                               .output = "the number of triangles"},
                              {}, triangles);
}
