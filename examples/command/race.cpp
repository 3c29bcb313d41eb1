#include "race.hpp"

#include <algorithm>
#include <cmath>

#include "progress.hpp"
#include "report.hpp"

namespace command {
namespace {

timing summary_of(const std::string& name, const std::vector<double>& ms) {
  timing out{.name = name, .runs = static_cast<int>(ms.size())};
  for (const double each : ms) out.mean += each / static_cast<double>(ms.size());
  for (const double each : ms) out.sigma += (each - out.mean) * (each - out.mean);
  out.sigma = ms.size() > 1 ? std::sqrt(out.sigma / static_cast<double>(ms.size() - 1)) : 0;
  const auto [least, most] = std::ranges::minmax(ms);
  out.least = least;
  out.most = most;
  return out;
}

/// Three digits.
std::string short_number(double number) {
  char text[32];
  return {text,
          std::to_chars(text, text + sizeof(text), number, std::chars_format::general, 3).ptr};
}

}  // namespace

ratio::ratio(const timing& fast, const timing& slow) : times(slow.mean / fast.mean) {
  const double of_fast = fast.sigma / fast.mean, of_slow = slow.sigma / slow.mean;
  sigma = times * std::sqrt(of_fast * of_fast + of_slow * of_slow);
}
std::string ratio::text() const {
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f ± %.2f times as fast as", times, sigma);
  return text;
}

std::vector<timing> race(const std::vector<contender>& field, rig::place where,
                         const std::string& what, const race_options& options) {
  if (field.empty()) return {};
  progress shown;
  std::vector<std::vector<double>> ms(field.size());
  for (const contender& each : field) {
    shown.show(what + ": " + each.name, options.seconds + options.seconds_after);
    each.run();
  }
  rig::synchronise(where);
  const example::stopwatch clock;
  for (int run = 0; run < options.least_runs || clock.ms() < 1e3 * options.seconds; ++run)
    for (std::size_t k = 0; k < field.size(); ++k) {
      const example::stopwatch watch;
      field[k].run();
      rig::synchronise(where);
      ms[k].push_back(watch.ms());
      if (k == 0) shown.show(what, options.seconds - clock.ms() / 1e3 + options.seconds_after);
    }
  std::vector<timing> out;
  for (std::size_t k = 0; k < field.size(); ++k) out.push_back(summary_of(field[k].name, ms[k]));
  std::ranges::stable_sort(out, {}, &timing::mean);
  return out;
}

std::string table_of(const std::vector<timing>& times) {
  example::text_table table({"", "mean ± σ [ms]", "min … max [ms]", "runs"});
  for (const timing& each : times)
    table.add({each.name, short_number(each.mean) + " ± " + short_number(each.sigma),
               short_number(each.least) + " … " + short_number(each.most),
               example::digits(each.runs)});
  std::string out = table.text() + "\n";
  if (times.size() < 2) return out;
  out += "  " + times.front().name + " was\n";
  for (std::size_t k = 1; k < times.size(); ++k)
    out += "    " + ratio(times.front(), times[k]).text() + " " + times[k].name + "\n";
  return out;
}

std::string json_of(const std::vector<timing>& times) {
  using example::json;
  std::vector<std::string> out;
  for (const timing& each : times)
    out.push_back(example::json_object({{"name", json(each.name)},
                                        {"mean_ms", json(each.mean)},
                                        {"sigma_ms", json(each.sigma)},
                                        {"min_ms", json(each.least)},
                                        {"max_ms", json(each.most)},
                                        {"runs", json(each.runs)}}));
  return example::json_list(out);
}

}  // namespace command
