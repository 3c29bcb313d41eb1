// The nodes most similar to one node, where the graph lies.

#include "rig/algorithms/jaccard.hpp"

#include "options.hpp"

namespace {

void jaccard(const example::options& given, rig::int64 node) {
  example::report out;
  const auto a = given.load<bool>(out);
  example::require_node("--node", node, a.rows());
  const auto found =
      out.time(a.where(), [&] { return rig::jaccard(a, node, {}, given.describe()); });
  const auto values = found.to_dense().to(rig::cpu());
  const auto similar = static_cast<rig::index>(found.nnz());  // without a common neighbour: 0
  out.note("node", example::digits(node));
  out.note("similar", example::digits(similar) + " nodes share a neighbour with it");
  out.add_top(values, similar);
  given.finish(out, values);
}

}  // namespace

int main(int count, char** arguments) {
  rig::int64 node = 0;
  namespace po = example::po;
  po::options_description own("Jaccard similarity", 100);
  own.add_options()("node", po::value(&node)->default_value(0)->value_name("N"),
                    "whose neighbours are compared");
  return example::run_program(
      count, arguments,
      {.summary = "Finds the nodes whose neighbours agree most with those of one node",
       .what = example::takes::graph_of_algorithm,
       .output = "the similarity of each node, or 0"},
      own, [&](const example::options& given) { jaccard(given, node); });
}
