// rigblas bench: every kernel that can serve a product, and the peers that the machine has.

#include <algorithm>
#include <cmath>

#include "command.hpp"
#include "graphblas.hpp"
#include "product_settings.hpp"
#include "race.hpp"

namespace {

using command::contender;
using command::product_settings;
using command::timing;

/// The parts of a table: who takes part, and who does not, with the reason.
struct field {
  std::vector<contender> all;
  std::vector<std::string> out;

  void leave_out(const std::string& name, const std::string& why) {
    out.push_back(name + ": " + why);
  }
};

/// Whether two products agree up to the rounding of their sums.
template <class T>
bool agree(const rig::dense<T>& x, const rig::dense<T>& y) {
  constexpr double tolerance = 1e-4;  // of the greatest element, because sums cancel
  double greatest = 0;
  for (const T each : x)
    if (std::isfinite(static_cast<double>(each)))
      greatest = std::max(greatest, std::abs(static_cast<double>(each)));
  return std::ranges::equal(x, y, [&](T of_x, T of_y) {
    const auto left = static_cast<double>(of_x), right = static_cast<double>(of_y);
    if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
    return of_x == of_y || std::abs(left - right) <= tolerance * greatest;
  });
}

/// Adds each kernel of A's place that can serve; `vendor`, which is cuSPARSE, may add in any order.
template <class T>
void enter_kernels(field& to, const rig::matrix<T>& a, const rig::dense<T>& b,
                   const rig::named_semiring<T>& algebra, const rig::descriptor& usual) {
  rig::dense<T> expected;
  const auto c = std::make_shared<rig::indexed_dense<T>>(
      example::product_memory(a, b.columns(), algebra, usual));
  rig::descriptor desc = usual;
  desc.reproducible = false;
  for (const rig::explained& kernel : rig::explain(a, b, algebra, desc).kernels) {
    if (kernel.where != a.where().where || kernel.approximate ||
        kernel.says.says == rig::verdict::cannot)
      continue;  // `rigblas explain` says why
    rig::descriptor named = usual;
    named.kernel = kernel.name;
    named.reproducible = kernel.name != "vendor";
    try {
      a.prepare(named);
      const auto run = [c, a, &b, algebra, named] {
        example::multiply_into(*c, a, b, algebra, named);
      };
      run();
      const rig::dense<T> values = c->values.to(rig::cpu());
      if (to.all.empty()) expected = values;
      if (agree(expected, values))
        to.all.push_back({kernel.name, run});
      else
        to.leave_out(kernel.name, "its product differs from that of " + to.all.front().name);
    } catch (const rig::error& failed) {
      to.leave_out(kernel.name, failed.what());
    }
  }
}

/// Adds GraphBLAS for a product on the CPU, if it computes the same.
void enter_peers(field& to, const rig::matrix<float>& a, const rig::dense<float>& b,
                 const rig::named_semiring<float>& algebra, const rig::descriptor& desc) {
  if (a.where() != rig::cpu()) return to.leave_out("GraphBLAS", "it computes on the CPU");
  to.leave_out("cuSPARSE", "it computes on a GPU, where it is the kernel vendor");
  if (desc.transpose_a) return to.leave_out("GraphBLAS", "it is timed without --transpose");
  try {
    const command::peer found = command::graphblas(a, b, algebra.name());
    if (!found.absent.empty()) return to.leave_out(found.name, found.absent);
    if (agree(rig::mxm(a, b, algebra, desc), found.result()))
      to.all.push_back({found.name, found.run});
    else
      to.leave_out(found.name, "its product differs from rig's");
  } catch (const rig::error& failed) {
    to.leave_out("GraphBLAS", failed.what());
  }
}
template <class T>
void enter_peers(field& to, const rig::matrix<T>&, const rig::dense<T>&,
                 const rig::named_semiring<T>&, const rig::descriptor&) {
  to.leave_out("GraphBLAS", "it is timed over float");
}

/// What to do, in one sentence.
std::string recommendation(const std::vector<timing>& times, const std::string& chosen) {
  if (times.empty()) return "Nothing was timed: the lines above say why.";
  const auto is_chosen = [&](const timing& each) { return each.name == chosen; };
  const auto rigs = std::ranges::find_if(times, is_chosen);
  const timing& fastest = times.front();
  if (rigs == times.end()) return "rig chooses " + chosen + ", which was not timed.";
  const command::ratio gain(fastest, *rigs);
  if (is_chosen(fastest) || gain.times - gain.sigma < 1.02)
    return "Leave the kernel to rig: it chooses " + chosen + ", and nothing is clearly faster.";
  if (fastest.name == "GraphBLAS")
    return "GraphBLAS was " + gain.text() + " rig's choice, " + chosen + ".";
  return "Name the kernel " + fastest.name + ": it was " + gain.text() + " rig's choice, " +
         chosen + (fastest.name == "vendor" ? ", and its sums may differ in the last bits." : ".");
}

struct settings {
  product_settings product;
  double seconds = 3;
};

/// The table of one product; `chosen`: the kernel that rig chooses.
template <class T>
std::string bench_one(const example::options& given, const settings& my, const rig::matrix<T>& a,
                      rig::index width, const std::string& chosen, double seconds_after) {
  const rig::named_semiring<T> algebra(my.product.semiring);
  const rig::descriptor desc = my.product.describe(given);
  const auto b =
      example::features<T>(my.product.transpose ? a.rows() : a.columns(), width).to(a.where());
  field entered;
  enter_kernels(entered, a, b, algebra, desc);
  enter_peers(entered, a, b, algebra, desc);
  const std::string place = rig::to_string(a.where()), f = example::digits(width);
  const auto times = command::race(entered.all, a.where(), "F = " + f,
                                   {.seconds = my.seconds, .seconds_after = seconds_after});
  const std::string advice = recommendation(times, chosen);
  if (!given.json) {
    std::cout << "F = " << f << ": " << my.product.semiring << " over " << my.product.type << ", "
              << place << "\n"
              << table_of(times);
    for (const std::string& line : entered.out) std::cout << "  without " << line << "\n";
    std::cout << "  " << advice << "\n\n" << std::flush;
  }
  using example::json;
  std::vector<std::string> left_out;
  for (const std::string& line : entered.out) left_out.push_back(json(line));
  return example::json_object({{"features", json(width)},
                               {"place", json(place)},
                               {"chosen", json(chosen)},
                               {"times", json_of(times)},
                               {"left_out", example::json_list(left_out)},
                               {"recommendation", json(advice)}});
}

template <class T>
void bench(const example::options& given, const settings& my) {
  const auto a = given.load<T>().to(given.where());
  if (!given.json) std::cout << given.describe(a) << "\n\n" << std::flush;
  std::vector<std::string> tables, chosen;
  const auto widths = my.product.widths();
  a.prepare(my.product.describe(given));
  for (const rig::index width : widths)
    chosen.push_back(my.product.explain(a, width, given).chosen);
  for (std::size_t k = 0; k < widths.size(); ++k)
    tables.push_back(bench_one(given, my, a, widths[k], chosen[k],
                               my.seconds * static_cast<double>(widths.size() - k - 1)));
  if (given.json)
    std::cout << example::json_object({{"graph", example::json(given.source())},
                                       {"nnz", example::json(a.nnz())},
                                       {"semiring", example::json(my.product.semiring)},
                                       {"type", example::json(my.product.type)},
                                       {"tables", example::json_list(tables)}})
              << "\n";
}

}  // namespace

int command::bench(int count, char** arguments, const char* summary) {
  settings my;
  auto own = my.product.described("1,32,128");
  own.add_options()("seconds",
                    example::po::value(&my.seconds)->default_value(3, "3")->value_name("S"),
                    "time of each table, at least five runs of each");
  return example::run_program(
      count, arguments,
      {.summary = summary, .what = example::takes::graph_of_algorithm, .has_product = false}, own,
      [&](const example::options& given) {
        example::require_between(0.0, 3600.0, "--seconds", my.seconds);
        my.product.with_type([&](auto number) { ::bench<decltype(number)>(given, my); });
      });
}
