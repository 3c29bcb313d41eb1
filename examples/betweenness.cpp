// Betweenness: the share of shortest paths that lead through each node.

#include "rig/algorithms/betweenness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "options.hpp"
#include "report.hpp"
#include "rig/elementwise.hpp"
#include "rig/rearrange.hpp"

namespace {

bool is_symmetric(const rig::matrix<bool>& a) {
  return rig::ewise_mult(a, rig::transpose(a), rig::binary::first).nnz() == a.nnz();
}

/// Values that agree to eleven digits are a tie: below that, they tell how a sum was rounded.
double to_eleven_digits(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, 37)), exponent);
}

/// The ten nodes with the greatest values.
std::vector<rig::index> top_of(const rig::dense<double>& values) {
  std::vector<rig::index> order(static_cast<std::size_t>(values.rows()));
  std::iota(order.begin(), order.end(), 0);
  const auto ten = order.begin() + std::min(10, values.rows());
  std::partial_sort(order.begin(), ten, order.end(), [&](rig::index x, rig::index y) {
    const double of_x = to_eleven_digits(values(x, 0)), of_y = to_eleven_digits(values(y, 0));
    return of_x != of_y ? of_x > of_y : x < y;
  });
  order.erase(ten, order.end());
  return order;
}

void betweenness(const example::options& given, rig::index count,
                 const rig::betweenness_options& my) {
  const auto a = given.load<bool>().to(given.where());
  const bool is_from_all = count < 0, is_square = a.rows() == a.columns();
  if (count == 0) count = std::min(4, a.rows());
  example::require(!is_square || count <= a.rows(),
                   "--sources is at most " + std::to_string(a.rows()) + ", the number of nodes");
  std::vector<rig::index> sources(static_cast<std::size_t>(is_from_all ? a.rows() : count));
  std::iota(sources.begin(), sources.end(), 0);
  // From all nodes, a path of an undirected graph is found from both of its ends.
  const double scale = is_from_all && is_square && is_symmetric(a) ? 0.5 : 1;
  a.prepare({.transpose_a = true});
  const example::stopwatch watch;
  const auto found = rig::betweenness(a, sources, my, given.describe());
  rig::synchronise(a.where());
  const double ms = watch.ms();

  auto values = found.to(rig::cpu());
  double sum = 0;
  for (double& value : values) sum += value *= scale;
  std::vector<std::string> top;
  std::string first;
  for (const rig::index node : top_of(values)) {
    top.push_back(example::json_list({example::json(node), example::json(values(node, 0))}));
    if (top.size() <= 5)
      first += (first.empty() ? "node " : ", ") + example::json(node) + " " +
               example::brief(values(node, 0));
  }
  example::report out;
  out.note("graph", given.source() + ": " + std::to_string(a.rows()) + " nodes, " +
                        std::to_string(a.nnz()) + " arcs");
  out.note("sources", std::to_string(sources.size()) +
                          (scale < 1 ? "; each undirected path counts once" : ""));
  out.add_json("top", example::json_list(top), first);
  out.add("sum", sum);
  out.add("ms", ms);
  out.print(given.json);
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
      count, arguments, "Ranks the nodes of a graph by the shortest paths through them", own,
      [&](const example::options& given) {
        int number = sources == "all" ? -1 : 0;
        if (!sources.empty() && sources != "all") {
          const char* const end = sources.data() + sources.size();
          const auto read = std::from_chars(sources.data(), end, number);
          example::require(read.ec == std::errc() && read.ptr == end && number > 0,
                           "--sources is a number of at least 1, or all, not '" + sources + "'");
        }
        example::require(my.batch > 0, "--batch is at least 1");
        betweenness(given, number, my);
      },
      example::takes::graph_of_algorithm);
}
