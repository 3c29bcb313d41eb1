// The nodes most similar to one node, where the graph lies.

#include "rig/algorithms/jaccard.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "options.hpp"
#include "report.hpp"

namespace {

void jaccard(const example::options& given, rig::index node) {
  const auto graph = given.load<float>();
  const auto a = graph.to(given.where());
  const example::stopwatch watch;
  const auto found = rig::jaccard(a, node, {}, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  const auto here = found.to(rig::cpu());
  std::vector<std::pair<double, rig::index>> order;
  for (rig::int64 p = 0; p < here.nnz(); ++p) order.emplace_back(-here.value(p), here.indices()[p]);
  const auto ten = order.begin() + std::min<std::ptrdiff_t>(10, std::ssize(order));
  std::partial_sort(order.begin(), ten, order.end());
  std::vector<std::string> top;
  std::string first;
  for (auto each = order.begin(); each != ten; ++each) {
    const auto& [negative, similar] = *each;
    top.push_back(example::json_list({example::json(similar), example::json(-negative)}));
    if (each - order.begin() < 5)
      first += (first.empty() ? "node " : ", ") + example::json(similar) + " " +
               example::brief(-negative);
  }

  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(graph.rows()) + " nodes, " +
                        std::to_string(graph.nnz()) + " arcs");
  out.note("node", std::to_string(node));
  out.note("similar", std::to_string(found.nnz()) + " nodes share a neighbour with it");
  out.add_json("top", example::json_list(top), first);
  out.add("ms", ms);
  out.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  rig::index node = 0;
  namespace po = example::po;
  po::options_description own("Jaccard similarity", 100);
  own.add_options()("node", po::value(&node)->default_value(0), "whose neighbours are compared");
  return example::run_program(
      count, arguments, "Finds the nodes whose neighbours agree most with those of one node", own,
      [&](const example::options& given) { jaccard(given, node); },
      example::takes::graph_of_algorithm);
}
