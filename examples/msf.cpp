// A minimum spanning forest, where the graph lies.

#include "rig/algorithms/msf.hpp"

#include "edges.hpp"
#include "weights.hpp"

namespace {

void msf(const example::options& given, const std::string& weights) {
  example::check_weights(weights);
  const auto graph = weights == "file"
                         ? given.load<double>()
                         : rig::apply<double>(example::synthetic_weights(given.load<bool>()),
                                              rig::unary::identity);
  example::report out;
  const auto a = given.place(out, graph);
  const auto found = out.time(a.where(), [&] { return rig::msf(a, {}, given.describe()); });
  out.add("weight", found.weight);
  out.add("edges", found.forest.nnz());
  out.note("rounds", example::digits(found.rounds));
  given.finish(out, example::edges_of(found.forest));
}

}  // namespace

int main(int count, char** arguments) {
  std::string weights;
  namespace po = example::po;
  po::options_description own("Spanning forest", 100);
  own.add_options()("weights", po::value(&weights)->default_value("file")->value_name("WHICH"),
                    "file: the values of the graph; synthetic: 1 to 64, from the nodes' numbers");
  return example::run_program(count, arguments,
                              {.summary = "Finds a spanning forest of least weight",
                               .what = example::takes::graph_of_algorithm,
                               .output = "two nodes and a weight for each edge of the forest",
                               .has_product = false},
                              own, [&](const example::options& given) { msf(given, weights); });
}
