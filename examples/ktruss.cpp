// The edges in many triangles, where the graph lies.

#include "rig/algorithms/ktruss.hpp"

#include "options.hpp"
#include "rig/reduce.hpp"

namespace {

void ktruss(const example::options& given, rig::int64 k) {
  example::require(k >= 3, "--k is at least 3, not " + example::digits(k));
  example::report out;
  const auto a = given.load<bool>(out);
  const auto found = out.time(a.where(), [&] { return rig::ktruss(a, k, {}, given.describe()); });
  const auto most = rig::reduce_rows(found.truss, rig::binary::maximum);
  out.add("edges", found.truss.nnz() / 2);
  out.note("rounds", example::digits(found.rounds));
  given.finish(out, most.to_dense(0));
}

}  // namespace

int main(int count, char** arguments) {
  rig::int64 k = 3;
  namespace po = example::po;
  po::options_description own("Truss", 100);
  own.add_options()("k", po::value(&k)->default_value(3)->value_name("K"),
                    "each edge lies in at least K - 2 triangles");
  return example::run_program(
      count, arguments,
      {.summary = "Finds the largest subgraph whose edges lie in many of its triangles",
       .what = example::takes::graph_of_algorithm,
       .output = "the most triangles on an edge of each node, or 0"},
      own, [&](const example::options& given) { ktruss(given, k); });
}
