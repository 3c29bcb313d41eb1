// rigblas tune: which kernel, threads and order of nodes are fastest for the products of a matrix.

#include <cmath>

#include "command.hpp"
#include "orders.hpp"
#include "product_settings.hpp"
#include "progress.hpp"
#include "race.hpp"

namespace {

using command::product_settings;
using command::timing;
using example::json;

struct settings {
  product_settings product;
  double seconds = 4;
};

/// The matrix in an order of nodes where it is computed with, and what it took to make it.
template <class T>
struct ordered {
  std::string order;
  rig::matrix<T> a;
  double ms = 0;
};

template <class T>
std::vector<ordered<T>> orders_of(const rig::matrix<T>& a, rig::place where) {
  std::vector<ordered<T>> all = {{"file", a.to(where), 0}};
  if (a.rows() != a.columns()) return all;
  for (const example::order_of_nodes& order : example::orders) {
    const example::stopwatch watch;
    const auto moved = rig::permute(a, rig::reorder(a, order.by));
    all.push_back({order.name, moved.to(where), watch.ms()});
  }
  return all;
}

/// One way to compute a product.
struct way {
  std::string order, kernel;
  int threads = 0;  ///< 0: those of the command

  std::string name() const {
    return order + ", " + kernel + (threads > 0 ? ", threads " + example::digits(threads) : "");
  }
};

/// The products of one width in every order, which share B and C.
template <class T>
class products {
 public:
  products(const example::options& given, const settings& my, const std::vector<ordered<T>>& orders,
           rig::index width)
      : given_(given),
        my_(my),
        orders_(orders),
        algebra_(my.product.semiring),
        name_("F = " + example::digits(width)) {
    const rig::matrix<T>& a = orders.front().a;
    const rig::descriptor desc = my.product.describe(given);
    b_ = example::features<T>(desc.transpose_a ? a.rows() : a.columns(), width).to(a.where());
    c_ = example::product_memory(a, width, algebra_, desc);
  }
  /// Each order with each exact kernel that can serve.
  std::vector<way> all() const {
    std::vector<way> ways;
    for (const ordered<T>& each : orders_)
      for (const rig::explained& kernel : my_.product.explain(each.a, b_.columns(), given_).kernels)
        if (kernel.where == each.a.where().where && !kernel.approximate &&
            kernel.says.says != rig::verdict::cannot)
          ways.push_back({each.order, kernel.name});
    return ways;
  }
  std::vector<timing> race(const std::vector<way>& ways, double seconds_after) {
    std::vector<command::contender> field;
    for (const way& one : ways) {
      const auto& a = std::ranges::find(orders_, one.order, &ordered<T>::order)->a;
      rig::descriptor desc = my_.product.describe(given_);
      desc.kernel = one.kernel;
      if (one.threads > 0) desc.threads = one.threads;
      a.prepare(desc);
      field.push_back(
          {one.name(), [this, a, desc] { example::multiply_into(c_, a, b_, algebra_, desc); }});
    }
    return command::race(field, b_.where(), name_,
                         {.seconds = my_.seconds, .seconds_after = seconds_after});
  }

 private:
  const example::options& given_;
  const settings& my_;
  const std::vector<ordered<T>>& orders_;
  rig::named_semiring<T> algebra_;
  std::string name_;
  rig::dense<T> b_;
  rig::indexed_dense<T> c_;
};

const way& way_of(const std::vector<way>& ways, const timing& timed) {
  return *std::ranges::find_if(ways, [&](const way& one) { return one.name() == timed.name; });
}

/// The same way on 1, 2, 4, … threads, and on all.
std::vector<way> on_threads(const way& best, int most) {
  std::vector<way> ways;
  for (int threads = 1; threads < most; threads *= 2)
    ways.push_back({best.order, best.kernel, threads});
  ways.push_back({best.order, best.kernel, most});
  return ways;
}

/// What to do, in one sentence.
std::string advice(const way& best, const timing& fast, const way& usual, const timing& slow,
                   double order_ms) {
  const command::ratio gain(fast, slow);
  if (gain.times - gain.sigma < 1.02)
    return "Leave all to rig: nothing is clearly faster than its choice, " + usual.kernel + ".";
  std::string out = "Take {.kernel = \"" + best.kernel + "\"";
  if (best.threads > 0) out += ", .threads = " + example::digits(best.threads);
  out += "}";
  if (best.order != "file")
    out += " after `rigblas convert --reorder " + best.order + "`, whose " +
           example::brief(order_ms) + " ms pay after " +
           example::digits(std::ceil(order_ms / (slow.mean - fast.mean))) + " products";
  return out + ": it was " + gain.text() + " rig's choice, " + usual.kernel + ".";
}

template <class T>
std::string tune_one(const example::options& given, const settings& my,
                     const std::vector<ordered<T>>& orders, rig::index width, const way& usual,
                     double seconds_after) {
  products<T> here(given, my, orders, width);
  const auto ways = here.all();
  const bool has_threads = given.where() == rig::cpu() && omp_get_max_threads() > 1;
  const auto times = here.race(ways, seconds_after + (has_threads ? my.seconds : 0));
  way best = way_of(ways, times.front());
  timing fast = times.front();
  const timing slow = *std::ranges::find(times, usual.name(), &timing::name);
  std::vector<timing> threads;
  if (has_threads) {
    const auto more = on_threads(best, omp_get_max_threads());
    threads = here.race(more, seconds_after);
    const way& winner = way_of(more, threads.front());
    if (winner.threads < omp_get_max_threads() && threads.front().mean < fast.mean) {
      best = winner;
      fast = threads.front();
    }
  }
  const double order_ms = std::ranges::find(orders, best.order, &ordered<T>::order)->ms;
  const std::string line = advice(best, fast, usual, slow, order_ms);
  if (!given.json)
    std::cout << "F = " << example::digits(width) << ": " << my.product.semiring << " over "
              << my.product.type << ", " << rig::to_string(given.where()) << "\n"
              << command::table_of(times) << (threads.empty() ? "" : command::table_of(threads))
              << "  " << line << "\n\n"
              << std::flush;
  return example::json_object({{"features", json(width)},
                               {"times", command::json_of(times)},
                               {"threads", command::json_of(threads)},
                               {"order", json(best.order)},
                               {"kernel", json(best.kernel)},
                               {"order_ms", json(order_ms)},
                               {"recommendation", json(line)}});
}

template <class T>
void tune(const example::options& given, const settings& my) {
  const auto a = given.load<T>();
  if (!given.json) std::cout << given.describe(a) << "\n\n" << std::flush;
  const auto orders = orders_of(a, given.where());
  const auto widths = my.product.widths();
  for (const ordered<T>& each : orders) each.a.prepare(my.product.describe(given));
  // Preparing for other kernels may change what rig chooses.
  std::vector<way> usual;
  for (const rig::index width : widths)
    usual.push_back({"file", my.product.explain(orders.front().a, width, given).chosen});
  std::vector<std::string> tables;
  for (std::size_t k = 0; k < widths.size(); ++k)
    tables.push_back(tune_one(given, my, orders, widths[k], usual[k],
                              2 * my.seconds * static_cast<double>(widths.size() - k - 1)));
  if (given.json)
    std::cout << example::json_object({{"graph", json(given.source())},
                                       {"semiring", json(my.product.semiring)},
                                       {"type", json(my.product.type)},
                                       {"tables", example::json_list(tables)}})
              << "\n";
}

}  // namespace

int command::tune(int count, char** arguments, const char* summary) {
  settings my;
  auto own = my.product.described("1,32,128");
  own.add_options()("seconds",
                    example::po::value(&my.seconds)->default_value(4, "4")->value_name("S"),
                    "time of each table, at least five runs of each");
  return example::run_program(
      count, arguments,
      {.summary = summary, .what = example::takes::graph_of_algorithm, .has_product = false}, own,
      [&](const example::options& given) {
        example::require_between(0.0, 3600.0, "--seconds", my.seconds);
        my.product.with_type([&](auto number) { ::tune<decltype(number)>(given, my); });
      });
}
