// A new order of the nodes of a graph, and how densely tiles of 16 x 8 are filled before and after.

#include "orders.hpp"
#include "rig/semirings.hpp"

namespace {

/// For --explain: what the order is worth to products with 64 features.
void explain(const example::options& given, const example::order_of_nodes& order) {
  if (given.explain.empty()) return;
  const auto a = given.load<float>().to(given.where());
  const auto b = rig::dense<float>(a.columns(), 64, 0.5f).to(given.where());
  (given.json ? std::cerr : std::cout)
      << rig::explain(a, b, rig::plus_times<float>{}, order.by, given.describe()).text();
}

void reorder(const example::options& given, const example::order_of_nodes& order) {
  // The library refuses a graph on a device, so only --device cuda asks for one.
  const auto graph = given.load<float>().to(given.device == "cuda" ? given.where() : rig::cpu());
  const example::stopwatch watch;
  const auto positions = rig::reorder(graph, order.by);
  const double ms = watch.ms();
  explain(given, order);

  example::report out;
  out.note("graph", given.describe(graph));
  out.add("ordering", std::string(order.name));
  out.add("ms", ms);
  out.add("entries_per_tile_before", rig::entries_per_tile(graph));
  out.add("entries_per_tile_after", rig::entries_per_tile(rig::permute(graph, positions)));
  given.finish(out, positions);
}

}  // namespace

int main(int count, char** arguments) {
  namespace po = example::po;
  std::string ordering;
  po::options_description own("Order", 100);
  own.add_options()("ordering", po::value(&ordering)->default_value("loa")->value_name("NAME"),
                    "loa, degree or rcm");
  return example::run_program(count, arguments,
                              {.summary = "Orders the nodes of a graph anew, on the CPU",
                               .output = "the new position of each node"},
                              own, [&](const example::options& given) {
                                reorder(given, example::order_named("--ordering", ordering));
                              });
}
