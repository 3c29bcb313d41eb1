// Bounds of the diameter of a component, where the graph lies.

#include "options.hpp"
#include "rig/algorithms/eccentricity.hpp"

namespace {

void diameter(const example::options& given, rig::int64 source) {
  example::report out;
  const auto a = given.load<bool>(out);
  example::require_node("--source", source, a.rows());
  const auto found =
      out.time(a.where(), [&] { return rig::diameter_bound(a, source, {}, given.describe()); });
  out.add("lower", found.lower);
  out.add("upper", found.upper);
  out.note("node", example::digits(found.node) + " has another node so many steps away");
  rig::dense<rig::int64> bounds(1, 2, found.lower);
  bounds(0, 1) = found.upper;
  given.finish(out, bounds);
}

}  // namespace

int main(int count, char** arguments) {
  rig::int64 source = 0;
  namespace po = example::po;
  po::options_description own("Diameter", 100);
  own.add_options()("source", po::value(&source)->default_value(0)->value_name("N"),
                    "a node of the component");
  return example::run_program(count, arguments,
                              {.summary = "Bounds the diameter of a component of a graph",
                               .what = example::takes::graph_of_algorithm,
                               .output = "the two bounds"},
                              own, [&](const example::options& given) { diameter(given, source); });
}
