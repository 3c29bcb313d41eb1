// Breadth-first search: the levels of the nodes from one source, or from several at once.

#include "rig/algorithms/bfs.hpp"

#include <boost/optional.hpp>
#include <numeric>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "rig/graph.hpp"

namespace {

/// Sum of the levels of the nodes that are reached.
rig::int64 sum_of(const rig::dense<rig::int32>& levels) {
  rig::int64 sum = 0;
  for (const int level : levels) sum += level > 0 ? level : 0;
  return sum;
}

/// The graph, and the lines of a report about it.
rig::matrix<bool> load(const example::options& given, bool undirected, example::report& out) {
  auto graph = given.load<bool>();
  if (undirected) graph = rig::symmetrise(graph);
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  return graph.to(given.where());
}

void add_levels(example::report& to, const std::vector<std::string>& per_level) {
  const std::string list = example::json_list(per_level);
  to.add_json("per_level", list, list.size() < 100 ? list : list.substr(0, 97) + "...");
}

void from_one(const example::options& given, rig::index source, bool undirected) {
  example::report out;
  const auto a = load(given, undirected, out);
  rig::bfs_options my;
  std::vector<std::string> per_level;
  my.progress = [&](int, rig::int64 nodes) { per_level.push_back(example::json(nodes)); };
  a.prepare({.transpose_a = true});
  const example::stopwatch watch;
  const auto found = rig::bfs(a, source, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();
  out.add("source", source);
  out.add("reached", found.reached);
  out.add("max_level", found.max_level);
  out.add("sum_levels", sum_of(found.levels.to(rig::cpu())));
  add_levels(out, per_level);
  out.add("ms", ms);
  out.print(given.json);
}

void from_several(const example::options& given, int count, bool undirected) {
  example::report out;
  const auto a = load(given, undirected, out);
  example::require(count <= a.rows(),
                   "--sources is at most " + std::to_string(a.rows()) + ", the number of nodes");
  rig::bfs_options my;
  std::vector<std::string> per_level;
  my.progress = [&](int, rig::int64 nodes) { per_level.push_back(example::json(nodes)); };
  std::vector<rig::index> sources(static_cast<std::size_t>(count));
  std::iota(sources.begin(), sources.end(), 0);
  a.prepare({.transpose_a = true});
  const example::stopwatch watch;
  const auto found = rig::multi_source(a, sources, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();
  out.add("sources", count);
  out.add("reached", found.reached);
  out.add("max_level", found.max_level);
  out.add("sum_levels", sum_of(found.levels.to(rig::cpu())));
  add_levels(out, per_level);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  boost::optional<int> source, sources;
  bool undirected = false;
  namespace po = example::po;
  po::options_description own("Search", 100);
  auto add = own.add_options();
  add("source", po::value(&source)->value_name("S"), "node to start from; default: 0");
  add("sources", po::value(&sources)->value_name("K"),
      "start from the nodes 0 ... K-1 at once, with one product per level");
  add("undirected", po::bool_switch(&undirected), "follow arcs in both directions");
  return example::run_program(
      count, arguments, "Counts the steps from a node to the others", own,
      [&](const example::options& given) {
        example::require(!source || !sources, "give either --source or --sources");
        example::require(!sources || *sources > 0, "--sources is at least 1");
        sources ? from_several(given, *sources, undirected)
                : from_one(given, source.value_or(0), undirected);
      },
      example::takes::graph_of_algorithm);
}
