// rigblas explain: every kernel's answer to the products of a matrix.

#include "command.hpp"
#include "product_settings.hpp"

namespace {

using command::product_settings;

template <class T>
void explain(const example::options& given, const product_settings& my, bool all) {
  const auto a = given.load<T>().to(given.where());
  a.prepare(my.describe(given));
  std::vector<std::string> answers;
  for (const rig::index width : my.widths()) {
    const auto why = my.explain(a, width, given);
    if (!given.json)
      std::cout << (answers.empty() ? "" : "\n") << (all ? why.full_text() : why.text());
    answers.push_back(why.json());
  }
  if (given.json)
    std::cout << example::json_object({{"graph", example::json(given.source())},
                                       {"products", example::json_list(answers)}})
              << "\n";
}

}  // namespace

int command::explain(int count, char** arguments, const char* summary) {
  product_settings my;
  bool all = false;
  auto own = my.described("32");
  my.add_needed(own);
  own.add_options()("all", example::po::bool_switch(&all), "the kernels of the other place too");
  return example::run_program(
      count, arguments, {.summary = summary, .what = example::takes::graph_of_algorithm}, own,
      [&](const example::options& given) {
        my.with_type([&](auto number) { ::explain<decltype(number)>(given, my, all); });
      });
}
