// Betweenness: the share of shortest paths that lead through each node.

#include "rig/algorithms/betweenness.hpp"

#include "rig/rearrange.hpp"
#include "sources.hpp"

namespace {

bool is_symmetric(const rig::matrix<bool>& a) {
  return rig::ewise_mult(a, rig::transpose(a), rig::binary::first).nnz() == a.nnz();
}

void betweenness(const example::options& given, const std::string& chosen,
                 const rig::betweenness_options& my) {
  example::require_at_least(1, "--batch", my.batch);
  example::report out;
  const auto a = given.load<bool>(out);
  const bool is_from_all = chosen == "all", is_square = a.rows() == a.columns();
  const auto sources = example::nodes_of(chosen, a.rows(), 4);
  // From all nodes, a path of an undirected graph is found from both of its ends.
  const double scale = is_from_all && is_square && is_symmetric(a) ? 0.5 : 1;
  a.prepare({.transpose_a = true});
  const auto found =
      out.time(a.where(), [&] { return rig::betweenness(a, sources, my, given.describe()); });
  auto values = found.to(rig::cpu());
  double sum = 0;
  for (double& value : values) sum += value *= scale;
  out.note("sources", example::digits(sources.size()) +
                          (scale < 1 ? "; each undirected path counts once" : ""));
  out.add_top(values);
  out.add("sum", sum);
  given.finish(out, values);
}

}  // namespace

int main(int count, char** arguments) {
  rig::betweenness_options my;
  std::string sources;
  namespace po = example::po;
  po::options_description own("Betweenness", 100);
  auto add = own.add_options();
  add("sources", po::value(&sources)->value_name("K|all"),
      "search from the nodes 0 ... K-1 (default: 4), or from all; then an undirected path counts "
      "once");
  add("batch", po::value(&my.batch)->default_value(my.batch)->value_name("N"),
      "sources that are searched at once");
  return example::run_program(
      count, arguments,
      {.summary = "Ranks the nodes of a graph by the shortest paths through them",
       .what = example::takes::graph_of_algorithm,
       .output = "the betweenness of each node"},
      own, [&](const example::options& given) { betweenness(given, sources, my); });
}
