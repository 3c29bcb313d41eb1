#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rig/dense.hpp"
#include "rig/io.hpp"
#include "rig/output_file.hpp"
#include "rig/place.hpp"

// The results of an example: one JSON object for programs, or lines for people; and --output.

namespace example {

/// The shortest decimal that reads back to the same bits; an integer is whole, without an exponent.
template <class T>
std::string digits(T number) {
  constexpr double exact = 1e15;  // below it, a double holds every integer
  char text[32];
  char* const end = text + sizeof(text);
  if constexpr (std::is_same_v<T, bool>)
    return number ? "1" : "0";
  else if constexpr (std::is_floating_point_v<T>)
    return {text, std::abs(number) < exact && number == std::trunc(number)
                      ? std::to_chars(text, end, number, std::chars_format::fixed).ptr
                      : std::to_chars(text, end, number).ptr};
  else
    return {text, std::to_chars(text, end, number).ptr};
}

/// A number for people: four digits, or all that stand before the point.
inline std::string brief(double number) {
  if (std::abs(number) >= 1000) return digits(std::round(number));
  char text[32];
  return {text,
          std::to_chars(text, text + sizeof(text), number, std::chars_format::general, 4).ptr};
}

/// Some texts with commas between them.
inline std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

/// JSON text of a number; JSON has no infinities and no NaN: null.
inline std::string json(double number) { return std::isfinite(number) ? digits(number) : "null"; }
template <std::same_as<bool> Bool>  // so that no pointer is taken for one
std::string json(Bool holds) {
  return holds ? "true" : "false";
}
inline std::string json(int number) { return digits(number); }
inline std::string json(long number) { return digits(number); }
/// The bytes of the letter of UTF-8 that a text begins with; 0 if it begins with none.
inline std::size_t letter_bytes(std::string_view text) {
  const auto ones = [&](std::size_t at) {
    return std::countl_one(static_cast<unsigned char>(text[at]));
  };
  if (ones(0) == 0) return 1;
  const auto length = static_cast<std::size_t>(ones(0));
  if (length < 2 || length > 4 || length > text.size()) return 0;
  for (std::size_t at = 1; at < length; ++at)
    if (ones(at) != 1) return 0;
  return length;
}
/// JSON is UTF-8, and a file's name may be other bytes: each becomes U+FFFD.
inline std::string json(const std::string& text) {
  std::string out = "\"";
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = letter_bytes(rest);
    if (rest[0] == '"' || rest[0] == '\\') out += '\\';
    if (length == 0)
      out += "\uFFFD";
    else if (static_cast<unsigned char>(rest[0]) < 0x20)
      out += ' ';
    else
      out += rest.substr(0, length);
    rest.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

/// JSON text of a list and of an object, of parts that are JSON text already.
inline std::string json_list(const std::vector<std::string>& parts) {
  return "[" + joined(parts) + "]";
}
inline std::string json_object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [key, value] : members)
    out += (out.empty() ? "" : ", ") + json(key) + ": " + value;
  return "{" + out + "}";
}

/// Lines of cells for people. The first column begins at the left, the others end at the right;
/// the last line has no end, for a note adds one.
class text_table {
 public:
  explicit text_table(std::vector<std::string> head) { add(std::move(head)); }
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  std::string text() const {
    std::vector<std::size_t> widths(lines_.front().size());
    for (const auto& cells : lines_)
      for (std::size_t c = 0; c < cells.size(); ++c)
        widths[c] = std::max(widths[c], letters(cells[c]));
    std::string out;
    for (const auto& cells : lines_) {
      out += out.empty() ? "  " : "\n  ";
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::string blanks(widths[c] - letters(cells[c]), ' ');
        if (c > 0) out += "  ";
        out += c > 0 ? blanks + cells[c] : cells[c] + blanks;
      }
    }
    return out;
  }

 private:
  /// Of UTF-8: every byte but those that continue a letter.
  static std::size_t letters(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](unsigned char c) { return (c & 0xc0) != 0x80; }));
  }
  std::vector<std::vector<std::string>> lines_;
};

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

/// The nodes with the greatest values, `most` of them. Values that agree to eleven digits are a
/// tie, which the lesser node wins: below that, they tell how a sum was rounded.
inline std::vector<rig::index> greatest(const rig::dense<double>& values, rig::index most) {
  const auto rounded = [&](rig::index node) {
    int exponent = 0;
    const double fraction = std::frexp(values(node, 0), &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, 37)), exponent);
  };
  std::vector<rig::index> order(static_cast<std::size_t>(values.rows()));
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + std::min(most, values.rows());
  std::partial_sort(order.begin(), last, order.end(), [&](rig::index x, rig::index y) {
    const double of_x = rounded(x), of_y = rounded(y);
    return of_x != of_y ? of_x > of_y : x < y;
  });
  order.erase(last, order.end());
  return order;
}

/// Nodes of the most frequent label; labels are nodes.
inline rig::int64 largest_part(const rig::dense<rig::index>& labels) {
  std::vector<rig::int64> sizes(static_cast<std::size_t>(labels.rows()));
  for (const rig::index label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

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
  /// The ten nodes with the greatest values, or fewer; people get five.
  void add_top(const rig::dense<double>& values, rig::index most = 10) {
    std::vector<std::string> top;
    text_table first({"node", "value"});
    for (const rig::index node : greatest(values, std::min(most, 10))) {
      top.push_back(json_list({json(node), json(values(node, 0))}));
      if (top.size() <= 5) first.add({digits(node), brief(values(node, 0))});
    }
    add_json("top", json_list(top), top.empty() ? "" : "\n" + first.text());
  }
  /// Does `work` and waits for the place; `print` adds the milliseconds.
  template <class Work>
  auto time(rig::place where, Work work) {
    const stopwatch watch;
    auto made = work();
    rig::synchronise(where);
    ms_ = watch.ms();
    return made;
  }
  /// An iteration that ended before its numbers changed by less than the tolerance.
  void add_unsettled(double change, double tolerance) {
    if (!(change <= tolerance))
      add_json("unsettled", json(change),
               "the last iteration changed by " + brief(change) + "; the tolerance is " +
                   brief(tolerance));
  }
  /// A line that only people see; text that begins with a new line stands below its key.
  void note(const std::string& key, const std::string& text) {
    if (text.empty()) return;
    lines_ += key;
    if (!text.starts_with('\n')) lines_ += std::string(key.size() < 12 ? 12 - key.size() : 1, ' ');
    lines_ += text + "\n";
  }
  void print(bool as_json) {
    if (ms_ >= 0) add("ms", std::exchange(ms_, -1));
    std::cout << (as_json ? json_object(members_) + "\n" : lines_) << std::flush;
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
  std::string lines_;
  double ms_ = -1;
};

/// Writes a file of numbers: .npy by its name, or else text, a line per row.
template <class T>
void write_numbers(const std::string& path, const rig::dense<T>& numbers) {
  if (path.ends_with(".npy")) return rig::write_dense(path, numbers);
  rig::output_file file(path);
  for (rig::index i = 0; i < numbers.rows(); ++i) {
    for (rig::index j = 0; j < numbers.columns(); ++j) {
      if (j > 0) file.text(" ");
      file.text(digits(numbers(i, j)));
    }
    file.text("\n");
  }
  file.close();
}

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
