// Plots of a record as SVG: bars by graph and features. The background is white, since a page shows
// the file as an image, which does not know the page's colours.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench.hpp"

namespace bench {
namespace {

using json = nlohmann::json;

/// One quantity of a row, drawn as bars from 0 beside a line at 1.
struct panel {
  const char* axis;
  const char* one;               ///< what the line at 1 stands for
  std::optional<double> target;  ///< of the geometric mean, which is drawn where there is a target
  json (*value)(const json& row);
};

/// The rows of one suite that are the library's own choice, in panels side by side.
struct figure {
  const char* name;
  const char* suite;
  const char* semiring;
  const char* title;
  std::vector<panel> panels;
};

json over_ms(const json& peer_ms, const json& row) {
  if (!peer_ms.is_number()) return {};
  return peer_ms.get<double>() / row.at("ms").get<double>();
}

template <const char* name>
json over_peer(const json& row) {
  return over_ms(row.at("peer_ms").value(name, json()), row);
}

constexpr char spmm_op[] = "cusparse_spmm_op", own_sum[] = "rig_plus_times";

const figure figures[] = {
    {"exact_speedup",
     "exact",
     "plus_times",
     "Sums in fp32: speed-up over the best cuSPARSE",
     {{"best cuSPARSE ms / rig ms", "1: as fast", 1.45,
       [](const json& row) { return over_ms(row.at("best_cusparse_ms"), row); }}}},
    {"exact_roofline",
     "exact",
     "plus_times",
     "Sums in fp32: share of the gather ceiling",
     {{"GB/s / GB/s of the gather ceiling (above 1: rows of B found in a cache)",
       "1: the ceiling",
       {},
       [](const json& row) { return row.at("share_of_ceiling"); }}}},
    {"max_speedup",
     "max",
     "max_second",
     "Greatest of neighbours in fp32: speed-up",
     {{"cusparseSpMMOp ms / rig ms", "1: as fast", 2.0, over_peer<spmm_op>},
      {"ms of rig's own sum / rig ms", "1: as fast", 1.0, over_peer<own_sum>}}},
};

constexpr double width = 900, bar_height = 10, line_height = 14, group_gap = 9;
constexpr double top = 92, below = 46;     ///< above the first bar; below the last one
constexpr double edge = 20, letter = 6.3;  ///< of the picture; the width of a letter, about
constexpr double features_column = 32;     ///< between the graphs' names and the bars
constexpr double value_column = 40;        ///< between the longest bar and the next panel
constexpr const char* middle = "text-anchor=\"middle\"";
constexpr const char* end = "text-anchor=\"end\"";
constexpr const char* bold = "font-weight=\"bold\"";
constexpr const char* over_lines = "paint-order=\"stroke\" stroke=\"white\" stroke-width=\"3\"";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '&')
      out += "&amp;";
    else if (letter == '<')
      out += "&lt;";
    else if (letter == '>')
      out += "&gt;";
    else
      out += letter;
  }
  return out;
}

/// An attribute that is a length.
std::string length(const char* name, double pixels) {
  return std::string(" ") + name + "=\"" + digits(pixels, 1) + "\"";
}

std::string text_at(double x, double y, const std::string& text, const char* attributes = "") {
  return "<text" + length("x", x) + length("y", y) + " " + attributes + ">" + escaped(text) +
         "</text>\n";
}

std::string upright(double x, double from, double to, const char* attributes) {
  return "<line" + length("x1", x) + length("y1", from) + length("x2", x) + length("y2", to) + " " +
         attributes + "/>\n";
}

/// A step of 1, 2 or 5 times a power of ten, at most six of which reach `greatest`.
double step_to(double greatest) {
  const double unit = std::pow(10, std::floor(std::log10(greatest / 6)));
  for (const double times : {1, 2, 5})
    if (greatest <= 6 * times * unit) return times * unit;
  return 10 * unit;
}

struct bar {
  std::string graph, features;
  double y;                                   ///< its middle
  std::vector<std::optional<double>> values;  ///< of each panel
};

/// The values of a panel, in the order of the bars.
std::vector<double> values_of(const std::vector<bar>& bars, std::size_t panel) {
  std::vector<double> out;
  for (const bar& of : bars)
    if (of.values[panel]) out.push_back(*of.values[panel]);
  return out;
}

std::vector<bar> bars_of(const figure& of, const json& record) {
  std::vector<bar> bars;
  double y = top;
  for (const json& row : record.at("rows")) {
    if (row.at("suite") != of.suite || row.at("operation") != "mxm" ||
        row.at("semiring") != of.semiring)
      continue;
    bar one{row.at("graph"), row.at("features").dump(), 0, {}};
    bool any = false;
    for (const panel& in : of.panels) {
      const json value = in.value(row);
      const bool is_drawn = value.is_number() && std::isfinite(value.get<double>());
      one.values.push_back(is_drawn ? std::optional(value.get<double>()) : std::nullopt);
      any = any || is_drawn;
    }
    if (!any) continue;
    if (!bars.empty()) y += line_height + (bars.back().graph == one.graph ? 0 : group_gap);
    one.y = y;
    bars.push_back(std::move(one));
  }
  return bars;
}

/// Where the bar of the geometric mean is.
double mean_after(const std::vector<bar>& bars) { return bars.back().y + group_gap + line_height; }

/// Bars and axis of a panel between `left` and `right`.
std::string draw(const panel& of, std::size_t index, const std::vector<bar>& bars, double left,
                 double right) {
  const std::vector<double> values = values_of(bars, index);
  double greatest = std::max(1.0, of.target.value_or(1));
  for (const double value : values) greatest = std::max(greatest, value);
  const double step = step_to(greatest);
  const int steps = static_cast<int>(std::ceil(greatest / step));
  const auto x_of = [&](double value) { return left + value / (steps * step) * (right - left); };
  const bool with_mean = of.target && !values.empty();
  const double mean = with_mean ? geometric_mean(values) : 0;
  const double first = top - line_height;
  const double last = (of.target ? mean_after(bars) : bars.back().y) + bar_height;

  std::string out;
  for (int i = 0; i <= steps; ++i) {
    out += upright(x_of(i * step), first, last, "stroke=\"#dddddd\"");
    out += text_at(x_of(i * step), last + 14, digits(i * step, step < 1 ? 1 : 0), middle);
  }
  out += text_at((left + right) / 2, last + 32, of.axis, middle);

  const auto draw_bar = [&](double value, double y, const char* colour) {
    out += "<rect" + length("x", left) + length("y", y - bar_height / 2) +
           length("width", x_of(value) - left) + length("height", bar_height) + " fill=\"" +
           colour + "\"/>\n";
  };
  for (const bar& one : bars)
    if (one.values[index]) draw_bar(*one.values[index], one.y, "#4a86c5");
  if (with_mean) draw_bar(mean, mean_after(bars), "#1f4e86");

  out += upright(x_of(1), first, last, "stroke=\"black\"");
  out += text_at(x_of(1) - 4, first - 4, of.one, end);
  if (of.target && *of.target != 1) {
    out += upright(x_of(*of.target), first, last, "stroke=\"#b3401e\" stroke-dasharray=\"4 3\"");
    out += text_at(x_of(*of.target) - 4, first - 4, digits(*of.target, 2) + ": mean's target",
                   "fill=\"#b3401e\"");
  }
  const auto write_value = [&](double value, double y) {
    out += text_at(x_of(value) + 4, y + 4, digits(value, 2), over_lines);
  };
  for (const bar& one : bars)
    if (one.values[index]) write_value(*one.values[index], one.y);
  if (with_mean) write_value(mean, mean_after(bars));
  return out;
}

/// What a reader without the picture should know.
std::string summary_of(const figure& of, const std::vector<bar>& bars) {
  std::string out = std::string(of.title) + ", by graph and F.";
  for (std::size_t i = 0; i < of.panels.size(); ++i) {
    const std::vector<double> values = values_of(bars, i);
    if (values.empty()) continue;
    out += std::string(" ") + of.panels[i].axis + ": ";
    if (of.panels[i].target) out += "geometric mean " + digits(geometric_mean(values), 2) + ", ";
    out += "least " + digits(*std::min_element(values.begin(), values.end()), 2) + ", greatest " +
           digits(*std::max_element(values.begin(), values.end()), 2) + ".";
  }
  return out;
}

/// The graph's name at the first of its bars, F at each.
std::string draw_names(const std::vector<bar>& bars, double right, bool with_mean) {
  const double head = top - line_height - 4;
  std::string out = text_at(edge, head, "graph", bold) + text_at(right, head, "F", end);
  std::string graph;
  for (const bar& one : bars) {
    if (one.graph != graph) out += text_at(edge, one.y + 4, one.graph);
    out += text_at(right, one.y + 4, one.features, end);
    graph = one.graph;
  }
  if (with_mean) out += text_at(edge, mean_after(bars) + 4, "geometric mean", bold);
  return out;
}

std::string draw(const figure& of, const std::vector<bar>& bars, const json& record) {
  const bool with_mean = std::any_of(of.panels.begin(), of.panels.end(),
                                     [](const panel& in) { return in.target.has_value(); });
  std::size_t longest = std::string_view("geometric mean").size();
  for (const bar& one : bars) longest = std::max(longest, one.graph.size());
  const double names = edge + letter * static_cast<double>(longest) + features_column;
  const double share = (width - edge - names) / static_cast<double>(of.panels.size());

  std::string made = "commit " + record.at("commit").get<std::string>() + ", " +
                     record.at("date").get<std::string>().substr(0, 10);
  for (const char* key : {"toolkit", "gpu"})
    if (record.at(key).is_string()) made = record.at(key).get<std::string>() + ", " + made;

  const std::string size =
      digits(width, 0) + " " + digits((with_mean ? mean_after(bars) : bars.back().y) + below, 0);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size +
                    "\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n<title>" +
                    escaped(of.title) + "</title>\n<desc>" + escaped(summary_of(of, bars)) +
                    "</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(edge, 26, of.title, "font-size=\"16\" font-weight=\"bold\"");
  out +=
      text_at(edge, 44, made + "; medians of " + record.at("repeat").dump() + "; more is better");
  out += draw_names(bars, names - 8, with_mean);
  for (std::size_t i = 0; i < of.panels.size(); ++i) {
    const double left = names + share * static_cast<double>(i);
    out += draw(of.panels[i], i, bars, left, left + share - value_column);
  }
  return out + "</svg>\n";
}

}  // namespace

std::vector<plot> plots_of(const json& record) {
  std::vector<plot> out;
  for (const figure& of : figures) {
    const std::vector<bar> bars = bars_of(of, record);
    if (!bars.empty()) out.push_back({of.name, summary_of(of, bars), draw(of, bars, record)});
  }
  return out;
}

}  // namespace bench
