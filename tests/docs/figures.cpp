// Checks the figures of pages against records and code:  figures ROOT LIST PAGE…
//
// LIST has the words of each page around its figures. A value stands in braces: a file of ROOT, or
// the name of a record, and a path in it; or how many, the least, the greatest or the geometric
// mean of a number in its rows that meet all conditions; or the group of a pattern in a text file,
// or the number of the line that has it.
//
//   # README.md
//   run {h200_exact /summary/exact_over_cusparse_geomean .2} times as fast on {h200_real distinct
//   graph word} graphs
//   in {cpu_widths count ratio operation="beside oneMKL" features>15 ratio<1} rows
//   1 to {file include/rig/kernels/sampling.hpp "widest_sample = ([0-9]+)"} entries
//
// Words between two empty lines belong together, and the page has them so. A number with a point
// or a unit that no words of LIST cover is a mistake too. Words without a brace allow a figure that
// no record has; they name its command and machine, or are no measurement.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using json = nlohmann::json;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

/// A record, or lines of JSON as a record's rows.
json record_of(const std::string& path) {
  if (!path.ends_with(".jsonl")) return json::parse(text_of(path));
  json rows = json::array();
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) rows.push_back(json::parse(line));
  return {{"rows", rows}};
}

/// Whether a row has `key=value`, `key~part of a value`, the contrary with `!`, or `key<number`.
bool meets(const json& row, const std::string& condition) {
  static const std::regex form("([^<>=!~]+)(<|>|!?=|!?~)(.*)");
  std::smatch part;
  if (!std::regex_match(condition, part, form))
    throw std::runtime_error("'" + condition + "' is no condition");
  const auto found = row.find(part.str(1));
  if (found == row.end()) return false;
  const std::string relation = part.str(2), value = part.str(3);
  if (relation == "<" || relation == ">")
    return found->is_number() && (relation == "<" ? found->get<double>() < std::stod(value)
                                                  : found->get<double>() > std::stod(value));
  const std::string has = found->is_string() ? found->get<std::string>() : found->dump();
  const bool is_met = relation.back() == '=' ? has == value : has.find(value) != std::string::npos;
  return is_met != relation.starts_with('!');
}

/// A value of a row: `ratio`, or `exact_ms/ms`, a quotient. Of the times of several peers, the
/// least.
json part_of(const json& row, const std::string& path) {
  if (const std::size_t slash = path.find('/'); slash != std::string::npos)
    return part_of(row, path.substr(0, slash)).get<double>() /
           part_of(row, path.substr(slash + 1)).get<double>();
  const json& x = row.at(path);
  if (x.empty()) throw std::runtime_error("a row has no " + path);
  return x.is_object() ? *std::min_element(x.begin(), x.end()) : x;
}

/// What `how` makes of a number of some rows.
double reduced(const std::string& how, const std::vector<json>& all) {
  if (how == "count") return static_cast<double>(all.size());
  if (how == "distinct") return static_cast<double>(std::set<json>(all.begin(), all.end()).size());
  if (all.empty()) throw std::runtime_error("no row meets the conditions");
  std::vector<double> numbers(all.begin(), all.end());
  if (how == "least") return *std::ranges::min_element(numbers);
  if (how == "greatest") return *std::ranges::max_element(numbers);
  if (how != "geomean") throw std::runtime_error("'" + how + "' is unknown");
  double sum = 0;
  for (const double x : numbers) sum += std::log(x);
  return std::exp(sum / static_cast<double>(numbers.size()));
}

/// `.2` gives two decimals, `%.1` a percentage with one, `word` and `Word` a small number in words.
std::string written(double x, const std::string& form) {
  static const char* const words[] = {"no",    "one",   "two",  "three", "four",   "five",  "six",
                                      "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  if (form == "word" || form == "Word") {
    std::string out = words[static_cast<std::size_t>(x)];
    if (form == "Word") out[0] = static_cast<char>(out[0] - 'a' + 'A');
    return out;
  }
  const bool is_share = form.starts_with('%');
  const int places = form.empty() ? 0 : std::stoi(form.substr(is_share ? 2 : 1));
  char out[64];
  std::snprintf(out, sizeof out, "%.*f", places, is_share ? 100 * x : x);
  return out;
}

/// The group of a pattern in a text, or the number of its line.
std::string found_in(const std::string& text, const std::string& pattern, bool is_line) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern, std::regex::multiline)))
    throw std::runtime_error("nothing is like '" + pattern + "'");
  return is_line ? std::to_string(1 + std::count(text.begin(), found[0].first, '\n'))
                 : found.str(1);
}

/// The words between two braces, where "…" is one word.
std::vector<std::string> words_of(const std::string& text) {
  static const std::regex word(R"re(([^\s"]|"[^"]*")+)re");
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
    out.push_back(std::regex_replace(at->str(), std::regex("\""), ""));
  return out;
}

class sources {
 public:
  explicit sources(std::string root) : root_(std::move(root) + "/") {}

  /// The value that the words between two braces name.
  std::string value(const std::string& braces) {
    std::vector<std::string> words = words_of(braces);
    if (words.size() < 2) throw std::runtime_error("a source needs a file and a path");
    if (words[0] == "file" || words[0] == "line")
      return found_in(text_of(root_ + words.at(1)), words.at(2), words[0] == "line");
    const json& record = cached(words[0]);
    std::string form;
    if (words.back() == "word" || words.back() == "Word" || words.back().starts_with(".") ||
        words.back().starts_with("%")) {
      form = words.back();
      words.pop_back();
    }
    if (words[1].starts_with("/")) {
      const json& x = record.at(json::json_pointer(words[1]));
      if (!x.is_string()) return written(x, form);
      return words[1] == "/date" ? x.get<std::string>().substr(0, 10) : x.get<std::string>();
    }
    std::vector<json> all;
    for (const json& row : record.at("rows"))
      if (std::all_of(words.begin() + 3, words.end(),
                      [&](const std::string& condition) { return meets(row, condition); }))
        all.push_back(part_of(row, words.at(2)));
    return written(reduced(words[1], all), form);
  }

 private:
  const json& cached(const std::string& name) {
    const auto [at, is_new] = records_.try_emplace(name);
    if (is_new)
      at->second = record_of(
          root_ + (name.find('.') == std::string::npos ? "docs/records/" + name + ".json" : name));
    return at->second;
  }
  std::string root_;
  std::map<std::string, json> records_;
};

/// Words with one space between two.
std::string even(const std::string& text) {
  const std::string one = std::regex_replace(text, std::regex("\\s+"), " ");
  const std::size_t first = one.find_first_not_of(' '), last = one.find_last_not_of(' ');
  return first == std::string::npos ? "" : one.substr(first, last - first + 1);
}

/// The words of each page, from LIST.
std::map<std::string, std::vector<std::string>> listed_in(const std::string& path) {
  std::map<std::string, std::vector<std::string>> out;
  std::istringstream lines(text_of(path));
  std::string page, words;
  for (std::string line; !lines.eof();) {
    std::getline(lines, line);
    const bool is_page = line.starts_with("# ");
    if ((is_page || line.empty() || lines.eof()) && !words.empty()) {
      out[page].push_back(even(words));
      words.clear();
    }
    if (is_page)
      page = line.substr(2);
    else
      words += line + "\n";
  }
  return out;
}

/// The text with each value in place of its braces.
std::string filled(const std::string& words, sources& from) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t open; (open = words.find('{', at)) != std::string::npos;) {
    const std::size_t close = words.find('}', open);
    out += words.substr(at, open - at) + from.value(words.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return out + words.substr(at);
}

/// The figures of a page that no words cover.
std::vector<std::string> uncovered(std::string page) {
  static const std::regex left_out("<!--.*?-->|```[^`]*```|`[^`]*`|\\]\\([^)]*\\)");
  static const std::regex figure(
      "[0-9]+\\.[0-9]+|[0-9][0-9 ]*(%|×|µs|(ms|times|seconds|minutes|GB|MB)\\b)");
  page = std::regex_replace(page, left_out, " ");
  std::vector<std::string> out;
  for (std::sregex_iterator at(page.begin(), page.end(), figure), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(std::max<std::ptrdiff_t>(at->position() - 30, 0));
    out.push_back("…" + page.substr(begin, 60) + "…");
  }
  return out;
}

int check(const std::string& root, const std::string& list, int count, char** pages) {
  sources from(root);
  auto listed = listed_in(list);
  int mistakes = 0;
  for (int i = 0; i < count; ++i) {
    const std::string name = pages[i];
    const auto wrong = [&](const std::string& what) {
      std::cout << name << ": " << what << "\n";
      ++mistakes;
    };
    std::string page = even(text_of(root + "/" + name));
    for (const std::string& words : listed[name]) try {
        const std::string right = filled(words, from);
        const std::size_t at = page.find(right);
        if (at == std::string::npos)
          wrong("the records say: " + right);
        else
          page.replace(at, right.size(), "…");
      } catch (const std::exception& bad) {
        wrong(words + ": " + bad.what());
      }
    for (const std::string& figure : uncovered(page)) wrong("no source for: " + figure);
    listed.erase(name);
  }
  for (const auto& [name, words] : listed) {
    std::cout << name << ": is listed, but not among the pages\n";
    ++mistakes;
  }
  return mistakes;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count < 4) throw std::runtime_error("pass the root, the list and pages");
    return check(arguments[1], arguments[2], count - 3, arguments + 3) == 0 ? 0 : 1;
  } catch (const std::exception& bad) {
    std::cout << "figures: " << bad.what() << "\n";
    return 1;
  }
}
