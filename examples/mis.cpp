// A maximal independent set, where the graph lies.

#include "rig/algorithms/mis.hpp"

#include "options.hpp"

namespace {

void mis(const example::options& given, const rig::mis_options& my) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found = out.time(a.where(), [&] { return rig::mis(a, my, given.describe()); });
  out.add("size", found.set.nnz());
  out.note("rounds", example::digits(found.rounds));
  given.finish(out, found.set.to_dense());
}

}  // namespace

int main(int count, char** arguments) {
  rig::mis_options my;
  namespace po = example::po;
  po::options_description own("Independent set", 100);
  own.add_options()("seed", po::value(&my.seed)->default_value(1)->value_name("S"),
                    "of the nodes' priorities");
  return example::run_program(
      count, arguments,
      {.summary = "Finds nodes without edges between them, as many as can join",
       .what = example::takes::graph_of_algorithm,
       .output = "1 for each node of the set, 0 for each other"},
      own, [&](const example::options& given) { mis(given, my); });
}
