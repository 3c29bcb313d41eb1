#pragma once

#include <charconv>
#include <chrono>
#include <cmath>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rig/dense.hpp"
#include "rig/place.hpp"

// The results of an example: one JSON object for programs, or lines for people.

namespace example {

/// JSON text of a number that reads back to the same bits; JSON has no infinities and no NaN: null.
inline std::string json(double number) {
  if (!std::isfinite(number)) return "null";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}
inline std::string json(int number) { return std::to_string(number); }
inline std::string json(long number) { return std::to_string(number); }
inline std::string json(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

/// JSON text of a list and of an object, of parts that are JSON text already.
inline std::string json_list(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return "[" + out + "]";
}
inline std::string json_object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [key, value] : members)
    out += (out.empty() ? "" : ", ") + json(key) + ": " + value;
  return "{" + out + "}";
}

/// A number for people: four digits.
inline std::string brief(double number) {
  char digits[32];
  return {
      digits,
      std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::general, 4).ptr};
}

/// Milliseconds since it was made.
class stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(clock::now() - start_).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

/// The stages of a program in one place, each with its milliseconds.
class stages {
 public:
  explicit stages(rig::place where) : where_(where) {}

  /// Does `work` twice and times the second call, because the first one finds memory and kernels.
  template <class Work>
  void time(const std::string& stage, Work work) {
    work();
    rig::synchronise(where_);
    const stopwatch watch;
    work();
    rig::synchronise(where_);
    all_.emplace_back(stage, watch.ms());
  }
  const std::vector<std::pair<std::string, double>>& all() const { return all_; }

 private:
  rig::place where_;
  std::vector<std::pair<std::string, double>> all_;
};

/// Keys with values, in order. Programs get all digits, people get four.
class report {
 public:
  template <class Value>
  void add(const std::string& key, const Value& value) {
    if constexpr (std::is_same_v<Value, std::string>)
      add_json(key, json(value), value);
    else if constexpr (std::is_floating_point_v<Value>)
      add_json(key, json(value), brief(value));
    else
      add_json(key, json(value), json(value));
  }
  /// `value` is JSON text, `text` is for people, who get no line if it is empty.
  void add_json(const std::string& key, const std::string& value, const std::string& text) {
    members_.emplace_back(key, value);
    note(key, text);
  }
  /// For programs alone.
  template <class Value>
  void add_hidden(const std::string& key, const Value& value) {
    add_json(key, json(value), "");
  }
  void add_times(const stages& timed) {
    std::vector<std::pair<std::string, std::string>> members;
    std::string text;
    for (const auto& [stage, ms] : timed.all()) {
      members.emplace_back(stage, json(ms));
      text += (text.empty() ? "" : ", ") + stage + " " + brief(ms);
    }
    add_json("ms", json_object(members), text);
  }
  /// A line that only people see.
  void note(const std::string& key, const std::string& text) {
    if (!text.empty())
      lines_ += key + std::string(key.size() < 12 ? 12 - key.size() : 1, ' ') + text + "\n";
  }
  void print(bool as_json) const {
    std::cout << (as_json ? json_object(members_) + "\n" : lines_) << std::flush;
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
  std::string lines_;
};

/// Frobenius norm and sum of all elements, added in double, row by row.
struct sums {
  double fro = 0, total = 0;
};
template <class T>
sums sums_of(const rig::dense<T>& c) {
  sums all;
  for (rig::index i = 0; i < c.rows(); ++i) {
    sums row;
    for (rig::index j = 0; j < c.columns(); ++j) {
      const auto element = static_cast<double>(c(i, j));
      row.fro += element * element;
      row.total += element;
    }
    all.fro += row.fro;
    all.total += row.total;
  }
  all.fro = std::sqrt(all.fro);
  return all;
}

}  // namespace example
