// Pairs of rows and columns, none of which has two partners.

#include "rig/algorithms/bipartite_matching.hpp"

#include "options.hpp"

namespace {

void match(const example::options& given) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found =
      out.time(a.where(), [&] { return rig::bipartite_matching(a, {}, given.describe()); });
  out.add("pairs", found.size);
  out.note("phases", example::digits(found.phases));
  given.finish(out, found.columns);
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_program(
      count, arguments,
      {.summary = "Matches as many rows as can be with columns of their entries",
       .what = example::takes::graph_of_algorithm,
       .output = "the column that each row is matched with, or -1",
       .has_product = false},
      {}, match);
}
