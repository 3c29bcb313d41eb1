// Plots of a record as SVG: bars by graph and features, and curves of samples. The background is
// white, because a page shows the file as an image, which does not inherit the page's colours.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "collection.hpp"
#include "rig/output_file.hpp"

namespace bench {
namespace {

using json = nlohmann::json;

/// Empty if the record has no number.
using value = std::optional<double>;

/// One quantity of a row, drawn as bars from 0, with a line at 1.
struct panel {
  const char* axis;
  const char* one;  ///< the meaning of the line at 1
  value target;     ///< of the geometric mean, which is drawn only with a target
  value (*of)(const json& row);
};

/// The rows of one suite, operation and type that measure the library's own choice, in panels side
/// by side.
struct figure {
  const char *name, *suite, *operation, *semiring, *type, *title;
  std::span<const panel> panels;
  const char* better = "more";  ///< "more", "less", or "" without a peer
};

value over_ms(const json& from, const char* key, const json& row) {
  if (!from.contains(key) || !from.at(key).is_number()) return {};
  return from.at(key).get<double>() / row.at("ms").get<double>();
}

value over_cusparse(const json& row) { return over_ms(row, "best_cusparse_ms", row); }
value over_spmm_op(const json& row) { return over_ms(row.at("peer_ms"), "cusparse_spmm_op", row); }
value over_own_sum(const json& row) { return over_ms(row.at("peer_ms"), "rig_plus_times", row); }
/// The fastest of cuSPARSE's algorithms on B of the row's type.
value over_same_type(const json& row) {
  value best;
  for (const auto& [name, ms] : row.at("peer_ms").items())
    if (name.starts_with("cusparse_" + row.at("type").get<std::string>()))
      best = std::min(best.value_or(ms.get<double>()), ms.get<double>());
  if (best) best = *best / row.at("ms").get<double>();
  return best;
}
value over_exact(const json& row) { return over_ms(row, "exact_ms", row); }
value ratio(const json& row) {
  return row.at("ratio").is_number() ? value(row.at("ratio").get<double>()) : value();
}
/// The number of products after which preparing A has cost less than it saves.
value products_until_it_pays(const json& row) {
  if (!row.at("prepare_ms").is_number() || !row.at("best_cusparse_ms").is_number()) return {};
  const double saved = row.at("best_cusparse_ms").get<double>() - row.at("ms").get<double>();
  if (!(saved > 0)) return {};
  return row.at("prepare_ms").get<double>() / saved;
}
value share_of_ceiling(const json& row) {
  if (!row.at("share_of_ceiling").is_number()) return {};
  return row.at("share_of_ceiling").get<double>();
}

const panel speedup[] = {{"best cuSPARSE ms / rig ms", "1: as fast", 1.45, over_cusparse}};
const panel roofline[] = {
    {"GB/s over GB/s of the measured gather, from a cached table where B has at "
     "most 32 MiB, else from memory",
     "1: the ceiling",
     {},
     share_of_ceiling}};
const panel max_speedup[] = {
    {"cusparseSpMMOp ms / rig ms", "1: as fast", 2.0, over_spmm_op},
    {"ms of rig's own sum / rig ms", "1: as fast", 1.0, over_own_sum},
};
const panel same_type[] = {
    {"best cuSPARSE ms in the same type / rig ms", "1: as fast", {}, over_same_type}};
const panel spmv_speedup[] = {{"best cuSPARSE SpMV ms / rig ms", "1: as fast", {}, over_cusparse}};
const panel over_exact_product[] = {
    {"ms of rig's exact product / ms", "1: as fast", {}, over_exact}};
const panel cpu_speedup[] = {{"best SuiteSparse:GraphBLAS ms / rig ms", "1: as fast", {}, ratio}};
const panel real_sums[] = {{"best cuSPARSE ms / rig ms", "1: as fast", 1.0, ratio}};
const panel real_maxima[] = {{"cusparseSpMMOp ms / rig ms", "1: as fast", 1.0, ratio}};
const panel amortised[] = {{"products", "1: in the first product", {}, products_until_it_pays}};
const figure figures[] = {
    {"exact_speedup", "exact", "mxm", "plus_times", "float",
     "Sums in fp32: speed-up over the best cuSPARSE", speedup},
    {"exact_roofline", "exact", "mxm", "plus_times", "float",
     "Sums in fp32: share of the gather ceiling", roofline, ""},
    {"prepare_pays", "exact", "mxm", "plus_times", "float",
     "Sums in fp32: products until preparing A pays against cuSPARSE", amortised, "less"},
    {"max_speedup", "max", "mxm", "max_second", "float", "Maxima in fp32: speed-up", max_speedup},
    {"real_speedup", "real", "mxm", "plus_times", "float",
     "Real graphs, sums in fp32: speed-up over the best cuSPARSE", real_sums},
    {"real_max_speedup", "real", "mxm", "max_second", "float",
     "Real graphs, maxima in fp32: speed-up over cusparseSpMMOp", real_maxima},
    {"half_speedup", "types", "mxm", "plus_times", "half",
     "Sums of half features: speed-up over cuSPARSE in half", same_type},
    {"bfloat16_speedup", "types", "mxm", "plus_times", "bfloat16",
     "Sums of bfloat16 features: speed-up over cuSPARSE in bfloat16", same_type},
    {"spmv_speedup", "spmv", "mxv", "plus_times", "float",
     "One column in fp32: speed-up over the best cuSPARSE", spmv_speedup},
    {"maxk_forward", "maxk", "forward", "plus_times", "float",
     "MaxK, forward: speed-up over rig's exact product", over_exact_product},
    {"maxk_backward", "maxk", "backward", "plus_times", "float",
     "MaxK, backward: speed-up over rig's exact product", over_exact_product},
    {"cpu_speedup", "cpu", "mxm", "plus_times", "float",
     "CPU, sums in fp32: speed-up over SuiteSparse:GraphBLAS", cpu_speedup},
};

constexpr double width = 900, bar_height = 10, line_height = 14, group_gap = 9;
constexpr double top = 92, below = 52;  ///< above the first bar; below the last one
constexpr double edge = 20,
                 letter = 6.3;          ///< the picture's margin; the approximate width of a letter
constexpr double features_column = 32;  ///< between the graphs' names and the bars
constexpr double value_column = 40;     ///< between the longest bar and the next panel
constexpr const char* middle = "text-anchor=\"middle\"";
constexpr const char* end = "text-anchor=\"end\"";
constexpr const char* over_lines = "paint-order=\"stroke\" stroke=\"white\" stroke-width=\"3\"";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char one : text)
    out += one == '&' ? "&amp;" : one == '<' ? "&lt;" : std::string(1, one);
  return out;
}

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

/// The least step, 1, 2 or 5 times a power of ten, that reaches `greatest` in at most six steps.
double step_to(double greatest) {
  const double unit = std::pow(10, std::floor(std::log10(greatest / 6)));
  for (const double times : {1, 2, 5})
    if (greatest <= 6 * times * unit) return times * unit;
  return 10 * unit;
}

struct bar {
  std::string graph, features;
  std::vector<value> values;  ///< one per panel
  double y = 0;               ///< the vertical middle of the bar
};

std::vector<double> values_of(const std::vector<bar>& bars, std::size_t panel) {
  std::vector<double> out;
  for (const bar& of : bars)
    if (of.values[panel]) out.push_back(*of.values[panel]);
  return out;
}

/// The bars of the rows, and of the geometric means that have targets.
std::vector<bar> bars_of(const figure& of, const json& record) {
  std::vector<bar> bars;
  const auto add = [&](bar one) {
    const auto given = [](const value& x) { return x.has_value(); };
    if (std::none_of(one.values.begin(), one.values.end(), given)) return;
    one.y = top;
    if (!bars.empty())
      one.y = bars.back().y + line_height + (bars.back().graph == one.graph ? 0 : group_gap);
    bars.push_back(std::move(one));
  };
  for (const json& row : record.at("rows")) {
    if (row.at("suite") != of.suite || row.at("operation") != of.operation ||
        row.at("semiring") != of.semiring || row.at("type") != of.type)
      continue;
    bar one{row.at("graph"), row.at("features").dump(), {}};
    if (row.contains("k")) one.features += ":" + row.at("k").dump();
    for (const panel& in : of.panels) one.values.push_back(in.of(row));
    add(std::move(one));
  }
  bar mean{"geometric mean", "", {}};
  for (std::size_t i = 0; i < of.panels.size(); ++i) {
    const std::vector<double> values = values_of(bars, i);
    const bool has_mean = of.panels[i].target && !values.empty();
    mean.values.push_back(has_mean ? value(geometric_mean(values)) : value());
  }
  add(std::move(mean));
  return bars;
}

/// Draws the bars and the axis of a panel between `left` and `right`.
std::string draw(const panel& of, std::size_t index, const std::vector<bar>& bars, double left,
                 double right) {
  const std::vector<double> values = values_of(bars, index);
  double greatest = std::max(1.0, of.target.value_or(1));
  for (const double value : values) greatest = std::max(greatest, value);
  const double step = step_to(greatest);
  const int steps = static_cast<int>(std::ceil(greatest / step));
  const auto x_of = [&](double value) { return left + value / (steps * step) * (right - left); };
  const double first = top - line_height, last = bars.back().y + bar_height;

  std::string out;
  for (int i = 0; i <= steps; ++i) {
    out += upright(x_of(i * step), first, last, "stroke=\"#dddddd\"");
    out += text_at(x_of(i * step), last + 14, digits(i * step, step < 1 ? 1 : 0), middle);
  }
  out += text_at((left + right) / 2, last + 32, of.axis, middle);

  for (const bar& one : bars)
    if (one.values[index])
      out += "<rect" + length("x", left) + length("y", one.y - bar_height / 2) +
             length("width", x_of(*one.values[index]) - left) + length("height", bar_height) +
             (one.features.empty() ? " fill=\"#1f4e86\"/>\n" : " fill=\"#4a86c5\"/>\n");

  out += upright(x_of(1), first, last, "stroke=\"black\"");
  out += text_at(x_of(1) - 4, first - 4, of.one, end);
  if (of.target && *of.target != 1) {
    out += upright(x_of(*of.target), first, last, "stroke=\"#b3401e\" stroke-dasharray=\"4 3\"");
    out += text_at(x_of(*of.target), first - 4, digits(*of.target, 2) + ": target of the mean",
                   "fill=\"#b3401e\"");
  }
  for (const bar& one : bars)
    if (one.values[index])
      out += text_at(x_of(*one.values[index]) + 4, one.y + 4, digits(*one.values[index], 2),
                     over_lines);
  return out;
}

/// The summary for a reader without the picture.
std::string summary_of(const figure& of, const std::vector<bar>& bars) {
  std::string out = std::string(of.title) + ", by graph and F.";
  for (std::size_t i = 0; i < of.panels.size(); ++i) {
    const std::vector<double> values = values_of(bars, i);
    if (values.empty()) continue;
    out += std::string(" ").append(of.panels[i].axis) + ": ";
    if (of.panels[i].target || of.better == std::string("more"))
      out += "geometric mean " + digits(geometric_mean(values), 2) + ", ";
    out += "least " + digits(*std::min_element(values.begin(), values.end()), 2) + ", greatest " +
           digits(*std::max_element(values.begin(), values.end()), 2) + ".";
  }
  return out;
}

/// The lines of a list of losses, worst first.
std::vector<std::string> in_order(std::vector<std::pair<double, std::string>> slower) {
  std::sort(slower.begin(), slower.end());
  std::vector<std::string> out;
  for (const auto& [value, name] : slower) out.push_back(name + ": " + digits(value, 2));
  return out;
}

/// The bars of the first panel that are slower than their peer.
std::vector<std::string> losses_of(const figure& of, const std::vector<bar>& bars) {
  std::vector<std::pair<double, std::string>> slower;
  if (of.better != std::string("more")) return {};
  for (const bar& one : bars)
    if (one.values[0] && *one.values[0] < 1 && !one.features.empty())
      slower.emplace_back(*one.values[0], one.graph + ", F = " + one.features);
  return in_order(std::move(slower));
}

/// Draws the graph's name at its first bar, and F at each bar.
std::string draw_names(const std::vector<bar>& bars, double right) {
  const double head = top - line_height - 4;
  const bool has_k = bars.front().features.find(':') != std::string::npos;
  std::string out = text_at(edge, head, "graph") + text_at(right, head, has_k ? "F:k" : "F", end);
  std::string graph;
  for (const bar& one : bars) {
    if (one.graph != graph) out += text_at(edge, one.y + 4, one.graph);
    out += text_at(right, one.y + 4, one.features, end);
    graph = one.graph;
  }
  return out;
}

/// The whole picture: its heads above `body`.
std::string picture(const std::string& title, const std::string& summary, const char* better,
                    double height, const std::string& body, const json& record) {
  std::string made = "commit " + record.at("commit").get<std::string>() + ", " +
                     record.at("date").get<std::string>().substr(0, 10);
  for (const char* key : {"toolkit", "gpu"})
    if (record.at(key).is_string()) made = record.at(key).get<std::string>() + ", " + made;

  const std::string size[] = {digits(width, 0), digits(height, 0)};
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size[0] +
                    "\" height=\"" + size[1] + "\" viewBox=\"0 0 " + size[0] + " " + size[1] +
                    "\" font-family=\"sans-serif\" font-size=\"11\">\n<title>" + escaped(title) +
                    "</title>\n<desc>" + escaped(summary) +
                    "</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(edge, 26, title, "font-size=\"16\" font-weight=\"bold\"");
  out += text_at(edge, 44,
                 made + "; medians of " + record.at("repeat").dump() +
                     (*better != '\0' ? std::string("; ") + better + " is better" : ""));
  return out + body + "</svg>\n";
}

std::string draw(const figure& of, const std::vector<bar>& bars) {
  std::size_t longest = 0;
  for (const bar& one : bars) longest = std::max(longest, one.graph.size());
  const double names = edge + letter * static_cast<double>(longest) + features_column;
  const double share = (width - edge - names) / static_cast<double>(of.panels.size());
  std::string out = draw_names(bars, names - 8);
  for (std::size_t i = 0; i < of.panels.size(); ++i) {
    const double left = names + share * static_cast<double>(i);
    out += draw(of.panels[i], i, bars, left, left + share - value_column);
  }
  return out;
}

double error_of(const json& row) { return row.at("error").get<double>(); }
double time_of(const json& row) { return 1 / *over_exact(row); }

/// Sampled products of one graph and F: a curve per kernel, a row of the record per width.
struct sampled_curves {
  std::string of;
  std::map<std::string, std::vector<json>> by_kernel;
};

/// A graph with a single width has no curve.
std::vector<sampled_curves> sampled_curves_of(const json& record) {
  std::vector<sampled_curves> out;
  for (const json& row : record.at("rows")) {
    if (row.at("type") != "float" || !row.value("error", json()).is_number()) continue;
    const std::string of =
        row.at("graph").get<std::string>() + ", F = " + row.at("features").dump();
    if (out.empty() || out.back().of != of) out.push_back({of, {}});
    out.back().by_kernel[row.at("kernel")].push_back(row);
  }
  std::erase_if(out, [](const auto& one) { return one.by_kernel.begin()->second.size() < 2; });
  return out;
}

constexpr int curves_per_line = 4;
constexpr double curves_width = 165, curves_height = 120;  ///< the axes of one graph and F
constexpr double curves_across = 214, curves_down = 176;   ///< from one graph and F to the next

const char* colour_of(const std::string& kernel) {
  return kernel == "bucket" ? "#1f4e86" : kernel == "fastrand" ? "#b3401e" : "#3c8d3c";
}

/// Draws the curves above (`left`, `bottom`), where both are 0; both axes end at `greatest`.
std::string draw(const sampled_curves& of, double left, double bottom, double greatest) {
  const auto x_of = [&](double error) { return left + error / greatest * curves_width; };
  const auto y_of = [&](double time) { return bottom - time / greatest * curves_height; };
  std::string out = text_at(left, y_of(greatest) - 6, of.of, "font-weight=\"bold\"");
  for (double at = 0; at <= greatest; at += 0.5) {
    out += upright(x_of(at), bottom, y_of(greatest), "stroke=\"#dddddd\"");
    out += "<line" + length("x1", left) + length("y1", y_of(at)) + length("x2", x_of(greatest)) +
           length("y2", y_of(at)) + " stroke=\"" + (at == 1 ? "black" : "#dddddd") + "\"/>\n";
    out += text_at(x_of(at), bottom + 14, digits(at, 1), middle);
    out += text_at(left - 4, y_of(at) + 4, digits(at, 1), end);
  }
  for (const auto& [kernel, rows] : of.by_kernel) {
    const std::string colour = std::string("=\"") + colour_of(kernel) + "\"/>\n";
    std::string corners;
    for (const json& row : rows) {
      const double x = x_of(error_of(row)), y = y_of(time_of(row));
      corners += digits(x, 1) + "," + digits(y, 1) + " ";
      out += "<circle" + length("cx", x) + length("cy", y) + " r=\"2.5\" fill" + colour;
    }
    out += "<polyline points=\"" + corners + "\" fill=\"none\" stroke" + colour;
  }
  return out;
}

/// The plot of time against error, if the record has errors.
std::optional<plot> sampled_error(const json& record) {
  const std::vector<sampled_curves> all = sampled_curves_of(record);
  if (all.empty()) return {};
  std::vector<double> errors, times;
  std::vector<std::pair<double, std::string>> slower;
  std::string body;
  for (const sampled_curves& of : all)
    for (const auto& [kernel, rows] : of.by_kernel)
      for (const json& row : rows) {
        errors.push_back(error_of(row));
        times.push_back(time_of(row));
        // A time that rounds to that of the exact product is no loss.
        if (times.back() >= 1.005)
          slower.emplace_back(1 / times.back(),
                              of.of + ", " + kernel + ", S = " + row.at("width").dump());
      }
  const auto [least_error, greatest_error] = std::minmax_element(errors.begin(), errors.end());
  const auto [least_time, greatest_time] = std::minmax_element(times.begin(), times.end());
  const double greatest = std::max({1.0, *greatest_error, *greatest_time});

  double x = edge;
  for (const auto& [kernel, rows] : all.front().by_kernel) {
    body += text_at(x, 62, kernel, (std::string("fill=\"") + colour_of(kernel) + "\"").c_str());
    x += 60;
  }
  body += text_at(x, 62, "across: error; up: ms / ms of rig's exact product; a point per width");
  double bottom = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bottom = top + curves_height + curves_down * static_cast<double>(i / curves_per_line);
    body += draw(all[i], 2 * edge + curves_across * static_cast<double>(i % curves_per_line),
                 bottom, greatest);
  }
  const std::string title = "Sampled sums in fp32: time over the exact product, against error";
  const std::string summary = title + ", by graph and F. ms / ms of rig's exact product: least " +
                              digits(*least_time, 2) + ", greatest " + digits(*greatest_time, 2) +
                              ". Error: least " + digits(*least_error, 2) + ", greatest " +
                              digits(*greatest_error, 2) + ".";
  return plot{"sampled_error", summary,
              picture(title, summary, "less", bottom + below, body, record),
              in_order(std::move(slower))};
}

/// The panel of a profile: its axes, in pixels.
struct axes {
  double left, bottom, width, height;
  double greatest;  ///< the factor where the horizontal axis ends; it is logarithmic

  double x_of(double factor) const { return left + std::log(factor) / std::log(greatest) * width; }
};
constexpr double profile_ends[] = {2, 5, 10};

constexpr const char* profile_colours[] = {"#b3401e", "#3c8d3c", "#8a5fb0", "#777777"};
constexpr double profile_height = 150, profile_down = 215;

/// The colour of an implementation: rig's as in the other plots.
std::string profile_colour(const std::vector<std::string>& peers, const std::string& of) {
  const auto place = std::find(peers.begin(), peers.end(), of) - peers.begin();
  return of == "rig"
             ? "#1f4e86"
             : profile_colours[static_cast<std::size_t>(place) % std::size(profile_colours)];
}

/// The curve of an implementation: a step per matrix, and at most one per pixel.
std::string draw_steps(const profile& of, const std::vector<double>& times, const axes& in,
                       const std::string& colour) {
  std::string corners;
  double share = 0;
  const auto turn_at = [&](double x, double up) {
    corners += digits(x, 0) + "," + digits(in.bottom - up * in.height, 1) + " ";
  };
  turn_at(in.left, share);
  const auto shown = static_cast<std::size_t>(
      std::upper_bound(times.begin(), times.end(), in.greatest) - times.begin());
  for (std::size_t i = 0; i < shown; ++i) {
    const double x = std::round(in.x_of(times[i]));
    if (i + 1 < shown && std::round(in.x_of(times[i + 1])) == x) continue;
    turn_at(x, share);
    share = static_cast<double>(i + 1) / static_cast<double>(of.matrices);
    turn_at(x, share);
  }
  turn_at(in.left + in.width, share);
  return "<polyline points=\"" + corners + "\" fill=\"none\" stroke-width=\"1.5\" stroke=\"" +
         colour + "\"/>\n";
}

std::string draw(const profile& of, const std::vector<std::string>& peers, const axes& in) {
  std::string out = text_at(
      in.left, in.bottom - in.height - 8,
      (of.semiring == "max_second" ? "maxima, F = " : "sums, F = ") + std::to_string(of.features),
      "font-weight=\"bold\"");
  const auto mark = [&](double factor) {
    const double x = in.x_of(factor);
    out += upright(x, in.bottom, in.bottom - in.height, "stroke=\"#dddddd\"");
    out += text_at(x, in.bottom + 14, digits(factor, 0), middle);
  };
  mark(1);
  for (const double factor : profile_ends)
    if (factor <= in.greatest) mark(factor);
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = in.bottom - share * in.height;
    out += "<line" + length("x1", in.left) + length("y1", y) + length("x2", in.left + in.width) +
           length("y2", y) + " stroke=\"#dddddd\"/>\n";
    out += text_at(in.left - 4, y + 4, digits(share, 1), end);
  }
  for (const auto& [implementation, times] : of.over_best)
    out += draw_steps(of, times, in, profile_colour(peers, implementation));
  return out;
}

/// The names in their colours, and what the axes mean.
std::string draw_legend(const std::vector<std::string>& peers) {
  double x = edge;
  std::string out;
  const auto name = [&](const std::string& of) {
    out += text_at(x, 62, of,
                   ("font-weight=\"bold\" fill=\"" + profile_colour(peers, of) + "\"").c_str());
    x += 16 + 1.1 * letter * static_cast<double>(of.size());
  };
  name("rig");
  for (const std::string& peer : peers) name(peer);
  return out + text_at(x, 62, "across: times the least time; up: share of the matrices");
}

/// The shares for a reader without the picture.
std::string words_of(std::span<const profile> profiles) {
  std::string out;
  for (const profile& of : profiles)
    for (const auto& [implementation, times] : of.over_best)
      out += " " + of.semiring + ", F = " + std::to_string(of.features) + ", " + implementation +
             ": " + digits(of.share_within(implementation, 1), 2) + " fastest, " +
             digits(of.share_within(implementation, 1.1), 2) + " within 1.1, " +
             digits(of.share_within(implementation, 2), 2) + " within 2.";
  return out;
}

}  // namespace

std::optional<plot> profile_plot(const json& record) {
  const std::vector<profile> all = profiles_of(record.at("rows"));
  if (all.empty()) return {};
  std::vector<std::string> peers;
  std::map<std::string, std::size_t> widths;  // by semiring
  double slowest = 1;
  std::size_t matrices = 0, widest = 1;
  for (const profile& of : all) {
    matrices = std::max(matrices, of.matrices);
    widest = std::max(widest, ++widths[of.semiring]);
    for (const auto& [name, times] : of.over_best) {
      slowest = std::max(slowest, times.back());
      if (name != "rig" && std::find(peers.begin(), peers.end(), name) == peers.end())
        peers.push_back(name);
    }
  }
  const double* const reaches =
      std::lower_bound(std::begin(profile_ends), std::end(profile_ends) - 1, slowest);
  const std::size_t across = std::min<std::size_t>(5, widest);
  const double share = (width - 2 * edge) / static_cast<double>(across);

  std::string body = draw_legend(peers);
  std::size_t column = 0, line = 0;
  double bottom = 0;
  for (const profile& of : all) {
    const bool is_first = &of == &all.front();
    if (!is_first && (column == across || of.semiring != (&of - 1)->semiring)) ++line, column = 0;
    bottom = top + profile_height + profile_down * static_cast<double>(line);
    body += draw(of, peers,
                 {2 * edge + share * static_cast<double>(column++), bottom, share - 2 * edge,
                  profile_height, *reaches});
  }
  const std::string title =
      "Performance profile over " + std::to_string(matrices) + " matrices: sums and maxima in fp32";
  const std::string summary = title + "." + words_of(all);
  return plot{
      "profile", summary, picture(title, summary, "more", bottom + below, body, record), {}};
}

std::string write_plot(const plot& one, const std::string& folder) {
  const std::filesystem::path in = std::filesystem::path(folder + "/").parent_path();
  const std::filesystem::path path = in / (one.name + ".svg");
  std::filesystem::create_directories(in);
  rig::write_text(path, one.svg);
  return (in.filename() / path.filename()).string();
}

std::vector<plot> plots_of(const json& record) {
  std::vector<plot> out;
  for (const figure& of : figures) {
    const std::vector<bar> bars = bars_of(of, record);
    if (!bars.empty())
      out.push_back({of.name, summary_of(of, bars),
                     picture(of.title, summary_of(of, bars), of.better, bars.back().y + below,
                             draw(of, bars), record),
                     losses_of(of, bars)});
  }
  if (std::optional<plot> errors = sampled_error(record)) out.push_back(std::move(*errors));
  return out;
}

}  // namespace bench
