// Shortest paths from one node, over the weights of the file or synthetic ones.

#include "rig/algorithms/sssp.hpp"

#include "weights.hpp"

namespace {

template <class T>
void paths(const example::options& given, const rig::matrix<T>& graph, rig::int64 source,
           const rig::sssp_options& my) {
  example::require_node("--source", source, graph.rows());
  example::report out;
  const auto a = given.place(out, graph);
  const auto found =
      out.time(a.where(), [&] { return rig::sssp(a, source, my, given.describe()); });
  T most = 0, sum = 0;
  const auto distances = found.distances.to(rig::cpu());
  for (const T distance : distances) {
    if (distance == rig::highest<T>()) continue;
    most = std::max(most, distance);
    sum += distance;
  }
  out.note("steps", example::digits(found.steps));
  out.add("source", source);
  out.add("reached", found.reached);
  out.add("max", most);
  out.add("sum", sum);
  given.finish(out, distances);
}

}  // namespace

int main(int count, char** arguments) {
  rig::int64 source = 0;
  std::string weights;
  rig::sssp_options my;
  namespace po = example::po;
  po::options_description own("Paths", 100);
  auto add = own.add_options();
  add("source", po::value(&source)->default_value(0)->value_name("S"), "node to start from");
  add("weights", po::value(&weights)->default_value("file")->value_name("WHICH"),
      "file: those of the graph; synthetic: 1 + (31 min(i,j) + 17 max(i,j)) mod 64");
  add("delta", po::value(&my.delta)->default_value(0)->value_name("WIDTH"),
      "nodes whose distances differ by less are relaxed together; 0: chosen");
  return example::run_program(
      count, arguments,
      {.summary = "Finds the shortest paths from a node to the others",
       .what = example::takes::graph_of_algorithm,
       .output = "the distance of each node; not reached: inf, or the greatest int64 with "
                 "--weights synthetic"},
      own, [&](const example::options& given) {
        example::check_weights(weights);
        example::require_at_least(0.0, "--delta", my.delta);
        if (weights == "file")
          paths(given, given.load<double>(), source, my);
        else
          paths(given, example::synthetic_weights(given.load<bool>()), source, my);
      });
}
