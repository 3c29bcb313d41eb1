// Eccentricity: the most steps from each node to another that it reaches.

#include "rig/algorithms/eccentricity.hpp"

#include "sources.hpp"

namespace {

void eccentricity(const example::options& given, const std::string& chosen,
                  const rig::eccentricity_options& my) {
  example::require_at_least(1, "--batch", my.batch);
  example::report out;
  const auto a = given.load<bool>(out);
  const auto sources = example::nodes_of(chosen, a.rows(), a.rows());
  const auto found =
      out.time(a.where(), [&] { return rig::eccentricity(a, sources, my, given.describe()); });
  const auto steps = found.to(rig::cpu());
  out.add("sources", static_cast<rig::int64>(sources.size()));
  out.add("least", steps.rows() > 0 ? *std::ranges::min_element(steps) : 0);
  out.add("most", steps.rows() > 0 ? *std::ranges::max_element(steps) : 0);
  out.add_top(rig::apply<double>(steps, rig::unary::identity));
  given.finish(out, steps);
}

}  // namespace

int main(int count, char** arguments) {
  rig::eccentricity_options my;
  std::string sources;
  namespace po = example::po;
  po::options_description own("Eccentricity", 100);
  auto add = own.add_options();
  add("sources", po::value(&sources)->value_name("K|all"),
      "search from the nodes 0 ... K-1; default: from all");
  add("batch", po::value(&my.batch)->default_value(my.batch)->value_name("N"),
      "sources that are searched at once");
  return example::run_program(
      count, arguments,
      {.summary = "Counts the most steps from each node to another that it reaches",
       .what = example::takes::graph_of_algorithm,
       .output = "the steps of each source"},
      own, [&](const example::options& given) { eccentricity(given, sources, my); });
}
