#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

// Accuracy against speed-up as SVG: a picture per trained network, a curve per strategy.

namespace accuracy {

/// The points of a strategy: speed-up, and accuracy in percent.
using curve = std::vector<std::pair<double, double>>;
struct picture {
  std::string title;
  double exact;  ///< drawn as a line
  std::map<std::string, curve> curves;
};

inline std::string fixed(double x, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", digits, x);
  return text;
}

constexpr double plot_width = 210, plot_height = 130, plot_gap = 80, plot_edge = 50;

inline std::string svg_text(double x, double y, const std::string& text, const char* anchor) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" text-anchor=\"" + anchor +
         "\">" + text + "</text>\n";
}
inline std::string svg_line(double x1, double y1, double x2, double y2, const char* colour) {
  return "<line x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" + fixed(x2, 1) +
         "\" y2=\"" + fixed(y2, 1) + "\" stroke=\"" + colour + "\"/>\n";
}

inline const char* colour_of(const std::string& strategy) {
  return strategy == "bucket" ? "#1f4e86" : strategy == "fastrand" ? "#b3401e" : "#3c8d3c";
}

/// One picture with its lower left corner at (left, bottom). Across: speed-up from 1 to 2^octaves,
/// by its logarithm; up: from 0 to 100 %.
inline std::string svg_of(const picture& of, double left, double bottom, int octaves) {
  const auto x_of = [&](double speedup) {
    return left + std::clamp(std::log2(speedup) / octaves, 0.0, 1.0) * plot_width;
  };
  const auto y_of = [&](double percent) { return bottom - percent / 100 * plot_height; };
  std::string out = svg_text(left, bottom - plot_height - 8, of.title, "start");
  for (int octave = 0; octave <= octaves; ++octave) {
    const double x = x_of(std::exp2(octave));
    out += svg_line(x, bottom, x, y_of(100), "#dddddd");
    out += svg_text(x, bottom + 14, std::to_string(1 << octave), "middle");
  }
  for (int percent = 0; percent <= 100; percent += 20) {
    out += svg_line(left, y_of(percent), left + plot_width, y_of(percent), "#dddddd");
    out += svg_text(left - 4, y_of(percent) + 4, std::to_string(percent), "end");
  }
  out += svg_line(left, y_of(of.exact), left + plot_width, y_of(of.exact), "black");
  for (const auto& [strategy, points] : of.curves) {
    const std::string colour = std::string("=\"") + colour_of(strategy) + "\"/>\n";
    std::string corners;
    for (const auto& [speedup, percent] : points) {
      const std::string x = fixed(x_of(speedup), 1), y = fixed(y_of(percent), 1);
      corners += x + "," + y + " ";
      out += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"2.5\" fill" + colour;
    }
    out += "<polyline points=\"" + corners + "\" fill=\"none\" stroke" + colour;
  }
  return out;
}

/// All pictures, three in a line.
inline std::string svg_of(const std::vector<picture>& all) {
  constexpr std::size_t per_line = 3;
  double greatest = 2;
  for (const picture& one : all)
    for (const auto& [strategy, points] : one.curves)
      for (const auto& [speedup, percent] : points) greatest = std::max(greatest, speedup);
  const int octaves = static_cast<int>(std::ceil(std::log2(greatest)));
  std::string body = svg_text(10, 40,
                              "across: speed-up of the products over cuSPARSE (vendor); up: test "
                              "accuracy in percent; black: exact; a point per S",
                              "start");
  double x = 10;
  for (const char* strategy : {"bucket", "fastrand", "adaptive"}) {
    body += "<g fill=\"" + std::string(colour_of(strategy)) + "\">" +
            svg_text(x, 56, strategy, "start") + "</g>\n";
    x += 60;
  }
  double bottom = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bottom = 80 + plot_height + (plot_height + plot_gap) * static_cast<double>(i / per_line) + 20;
    body += svg_of(all[i], plot_edge + (plot_width + plot_gap) * static_cast<double>(i % per_line),
                   bottom, octaves);
  }
  const std::string width = fixed(per_line * (plot_width + plot_gap) + 20, 0),
                    height = fixed(bottom + 30, 0),
                    title =
                        "Sampled inference: test accuracy against speed-up over cuSPARSE (vendor)";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + width + " " + height +
         "\" font-family=\"sans-serif\" font-size=\"11\">\n<title>" + title +
         "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         "<g font-size=\"16\" font-weight=\"bold\">" + svg_text(10, 22, title, "start") + "</g>\n" +
         body + "</svg>\n";
}

}  // namespace accuracy
