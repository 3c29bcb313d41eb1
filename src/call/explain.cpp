// The explanation of a choice, as text and as JSON.

#include <charconv>
#include <cmath>

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

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

std::string explanation::text() const {
  return or_out_of_memory("explain", [&] {
    std::string out = operation + "\n";
    for (const explained& k : kernels) {
      const bool serves = k.says.says != verdict::cannot;
      out += std::string(k.chosen ? "* " : "  ") + padded(k.name, 14) + padded(word(k.where), 6) +
             padded(word(k.says.says), 8) +
             padded(serves ? "~" + four_digits(k.says.seconds * 1e3) + " ms" : "", 14) +
             padded(serves ? four_digits(k.bytes / 1e6) + " MB" : "", 13);
      if (k.approximate) out += "  approximate";
      if (!k.says.reason.empty()) out += "  " + k.says.reason;
      if (!k.says.plan.empty()) out += "  plan: " + k.says.plan;
      while (out.back() == ' ') out.pop_back();
      out += "\n";
    }
    return out + "chosen: " + chosen + " (" + reason + ")\n";
  });
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
