// The nodes most similar to one node, or how similar the ends of each edge are, where the graph
// lies.

#include "rig/algorithms/jaccard.hpp"

#include <boost/optional.hpp>

#include "edges.hpp"
#include "options.hpp"
#include "rig/reduce.hpp"

namespace {

struct settings {
  boost::optional<rig::int64> node;
  bool edges = false;
};

void jaccard_of_node(const example::options& given, rig::int64 node) {
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

void jaccard_of_edges(const example::options& given) {
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found =
      out.time(a.where(), [&] { return rig::jaccard_of_edges(a, {}, given.describe()); });
  const double sum = rig::reduce(found, rig::binary::plus);
  out.add("arcs", found.nnz());
  out.add("mean", found.nnz() > 0 ? sum / static_cast<double>(found.nnz()) : 0.0);
  out.add("greatest", found.nnz() > 0 ? rig::reduce(found, rig::binary::maximum) : 0.0);
  given.finish(out, example::edges_of(found));
}

}  // namespace

int main(int count, char** arguments) {
  settings my;
  namespace po = example::po;
  po::options_description own("Jaccard similarity", 100);
  auto add = own.add_options();
  add("node", po::value(&my.node)->value_name("N"), "whose neighbours are compared; default: 0");
  add("edges", po::bool_switch(&my.edges), "compare the neighbours of the ends of each edge");
  return example::run_program(
      count, arguments,
      {.summary = "Finds the nodes whose neighbours agree most with those of one node",
       .what = example::takes::graph_of_algorithm,
       .output = "the similarity of each node, or 0; with --edges two nodes and their similarity "
                 "per edge"},
      own, [&](const example::options& given) {
        example::require(!my.node || !my.edges, "give either --node or --edges");
        if (my.edges) return jaccard_of_edges(given);
        jaccard_of_node(given, my.node.value_or(0));
      });
}
