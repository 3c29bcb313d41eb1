// The explanation of a choice, as text and as JSON.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "rig/kernels/list.hpp"

namespace rig {
namespace {

const char* word(verdict says) {
  static constexpr const char* words[] = {"can", "slower", "cannot"};
  return words[static_cast<int>(says)];
}

const char* word(place::kind where) { return where == place::kind::cpu ? "cpu" : "cuda"; }

std::string four_digits(double x) {
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof(digits), x, std::chars_format::general, 4).ptr;
  return std::string(digits, end);
}

std::string in_quotes(const std::string& text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (byte < 0x20)
      ((out += "\\u00") += hex[byte >> 4]) += hex[byte & 15];
    else
      out += c;
  }
  return out + "\"";
}

std::string padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

/// A line of the table of kernels.
std::string row_of(std::string_view kernel, std::string_view answer, std::string_view estimate,
                   std::string_view traffic, std::string_view reason) {
  std::string out = padded(kernel, 15) + padded(answer, 8) + padded(estimate, 15) +
                    padded(traffic, 13) + std::string(reason);
  while (out.back() == ' ') out.pop_back();
  return out + "\n";
}

std::string row_of(const explained& k) {
  const bool serves = k.says.says != verdict::cannot;
  std::string reason = k.says.reason;
  if (k.approximate) reason = reason.empty() ? "approximate" : "approximate; " + reason;
  return row_of(k.name, word(k.says.says),
                serves ? "~" + four_digits(k.says.seconds * 1e3) + " ms" : "",
                serves ? four_digits(k.bytes / 1e6) + " MB" : "", reason);
}

/// `all`: kernels of other places too, and the plan of each.
std::string in_words(const explanation& of, bool all) {
  const auto winner = std::ranges::find(of.kernels, true, &explained::chosen);
  const bool has_winner = winner != of.kernels.end();
  std::string out = of.operation + "\nchosen: " + of.chosen + " (" + of.reason + ")\n";
  if (has_winner && !winner->says.plan.empty()) out += "plan: " + winner->says.plan + "\n";
  out += "  " + (all ? padded("place", 6) : "") +
         row_of("kernel", "answer", "estimate", "traffic", "reason");
  const auto add = [&](const explained& k) {
    out += (k.chosen ? "* " : "  ") + (all ? padded(word(k.where), 6) : "") + row_of(k);
    if (all && !k.chosen && !k.says.plan.empty()) out += "    plan: " + k.says.plan + "\n";
  };
  if (has_winner) add(*winner);
  for (const explained& k : of.kernels)
    if (!k.chosen && (all || !has_winner || k.where == winner->where)) add(k);
  return out;
}

}  // namespace

std::string explanation::text() const {
  return or_out_of_memory("explain", [&] { return in_words(*this, false); });
}

std::string explanation::full_text() const {
  return or_out_of_memory("explain", [&] { return in_words(*this, true); });
}

std::string explanation::json() const {
  return or_out_of_memory("explain", [&] {
    std::string out;
    out.append("{\"operation\": ")
        .append(in_quotes(operation))
        .append(", \"chosen\": ")
        .append(in_quotes(chosen));
    out.append(", \"reason\": ").append(in_quotes(reason)).append(", \"kernels\": [");
    for (const explained& k : kernels) {
      if (&k != kernels.data()) out += ", ";
      out += std::string("{\"name\": ") + in_quotes(k.name) +
             ", \"place\": " + in_quotes(word(k.where)) +
             ", \"answer\": " + in_quotes(word(k.says.says)) +
             ", \"reason\": " + in_quotes(k.says.reason) + ", \"plan\": " + in_quotes(k.says.plan) +
             ", \"estimated_ms\": " +
             (k.says.says == verdict::cannot ? "null" : four_digits(k.says.seconds * 1e3)) +
             ", \"predicted_bytes\": " +
             (k.says.says == verdict::cannot ? "null" : std::to_string(std::llround(k.bytes))) +
             ", \"approximate\": " + (k.approximate ? "true" : "false") +
             ", \"chosen\": " + (k.chosen ? "true" : "false") + "}";
    }
    return out + "]}";
  });
}

}  // namespace rig
