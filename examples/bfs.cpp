// Breadth-first search: the levels of the nodes from one source, or from several at once.

#include "rig/algorithms/bfs.hpp"

#include <boost/optional.hpp>

#include "options.hpp"
#include "rig/graph.hpp"

namespace {

struct settings {
  boost::optional<rig::int64> source;
  boost::optional<rig::index> sources;
  bool undirected = false;
};

/// Reports a search, by `call(A, options)`, from the sources that `key` counts or names.
template <class Call>
void search(const example::options& given, bool undirected, const char* key, rig::int64 sources,
            Call call) {
  auto graph = given.load<bool>();
  if (undirected) graph = rig::symmetrise(graph);
  example::report out;
  const auto a = given.place(out, graph);
  std::vector<std::string> per_level;
  rig::bfs_options my;
  my.progress = [&](int, rig::int64 nodes) { per_level.push_back(example::digits(nodes)); };
  a.prepare({.transpose_a = true});
  const auto found = out.time(a.where(), [&] { return call(a, my); });
  const auto levels = found.levels.to(rig::cpu());
  rig::int64 sum = 0;
  for (const int level : levels) sum += level > 0 ? level : 0;
  out.add(key, sources);
  out.add("reached", found.reached);
  out.add("max_level", found.max_level);
  out.add("sum_levels", sum);
  const std::string list = example::json_list(per_level);
  out.add_json("per_level", list, list.size() < 100 ? list : list.substr(0, 97) + "...");
  given.finish(out, levels);
}

void bfs(const example::options& given, const settings& my) {
  example::require(!my.source || !my.sources, "give either --source or --sources");
  const auto desc = given.describe();
  if (!my.sources) {
    const rig::int64 source = my.source.value_or(0);
    return search(given, my.undirected, "source", source, [&](const auto& a, const auto& options) {
      example::require_node("--source", source, a.rows());
      return rig::bfs(a, source, options, desc);
    });
  }
  example::require_at_least(1, "--sources", *my.sources);
  search(given, my.undirected, "sources", *my.sources, [&](const auto& a, const auto& options) {
    example::require_between(1, a.rows(), "--sources", *my.sources);
    std::vector<rig::index> sources(static_cast<std::size_t>(*my.sources));
    std::iota(sources.begin(), sources.end(), 0);
    return rig::multi_source(a, sources, options, desc);
  });
}

}  // namespace

int main(int count, char** arguments) {
  settings my;
  namespace po = example::po;
  po::options_description own("Search", 100);
  auto add = own.add_options();
  add("source", po::value(&my.source)->value_name("S"), "node to start from; default: 0");
  add("sources", po::value(&my.sources)->value_name("K"),
      "start from the nodes 0 ... K-1 at once, with one product per level");
  add("undirected", po::bool_switch(&my.undirected), "follow arcs in both directions");
  return example::run_program(
      count, arguments,
      {.summary = "Counts the steps from a node to the others",
       .what = example::takes::graph_of_algorithm,
       .output = "the level of each node, -1 if not reached; K levels with --sources K"},
      own, [&](const example::options& given) { bfs(given, my); });
}
