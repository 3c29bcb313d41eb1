#include "cuda/tuning/table.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "cuda/runtime/runtime.hpp"
#include "rig/error.hpp"

namespace rig::on_cuda {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr const char* section_names[] = {
#define RIG_SECTION(name) #name,
#include "cuda/tuning/table.def"
};
constexpr const char* constant_names[] = {
#define RIG_CONSTANT(name) #name,
#include "cuda/tuning/table.def"
};

/// The numbers that a setting may have.
struct setting_range {
  const char* name;
  int least, most;
  bool is_power;
};
constexpr setting_range settings[] = {
#define RIG_SETTING(name, least, most, is_power) {#name, least, most, is_power},
#include "cuda/tuning/table.def"
};

struct fact_info {
  const char* name;
  unsigned sections;  ///< those that are searched with it, as bits
  std::string_view words;
};
constexpr auto facts = [] {
  struct set {
    unsigned bits = 0;
    constexpr set operator|(set other) const { return {bits | other.bits}; }
  };
  constexpr set none;
#define RIG_SECTION(name) \
  [[maybe_unused]] constexpr set name = {1u << static_cast<int>(section::name)};
#include "cuda/tuning/table.def"
  constexpr set loads = row | rare_samples, products = loads | load | copy | tiles | hybrid,
                top_k = maxk_backward | maxk_backward_rows,
                rows = products | top_k | segments | order | spmv | spmv_panels | vendor;
  return std::array{
#define RIG_FACT(name, sections, words) fact_info{#name, (sections).bits, words},
#include "cuda/tuning/table.def"
  };
}();

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    if (at != ' ' || end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// Reads one line of a table; errors name the table and the line.
class line_reader {
 public:
  line_reader(const std::string& table, std::size_t line) : table_(table), line_(line) {}

  tuning_row row(std::string_view text) const {
    const std::vector<std::string_view> cells = split(text, ',');
    if (cells.size() != 9) wrong("9 cells are needed, and it has ", std::to_string(cells.size()));
    tuning_row out;
    out.line = line_;
    out.in = static_cast<section>(position(section_names, cells[0], "section"));
    out.key = cells[1];
    out.plan_text = cells[2];
    // The build reads cells[3], the kernels compiled ahead. People read cells[5] and cells[6].
    out.ms = cells[4];
    out.graph = cells[7];
    out.commit = cells[8];
    if (out.in == section::constant) return out;
    for (const std::string_view word : split(cells[1], ' '))
      out.when.push_back(as_condition(word, out.in));
    const std::size_t numbers_end = std::min(cells[2].find(": "), cells[2].size());
    if (numbers_end < cells[2].size()) out.reason = cells[2].substr(numbers_end + 2);
    for (const std::string_view word : split(cells[2].substr(0, numbers_end), ' '))
      set(word, out.plan);
    check_lanes(out);
    return out;
  }

  constant constant_named(const tuning_row& row) const {
    return static_cast<constant>(position(constant_names, row.key, "constant"));
  }
  double number(std::string_view text) const {
    double out = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (status != std::errc() || end != text.data() + text.size()) wrong("no number: ", text);
    return out;
  }

 private:
  /// The number of a name in a list.
  template <class List, class Name = std::identity>
  std::size_t position(const List& of, std::string_view name, const char* kind,
                       Name name_of = {}) const {
    const auto found = std::ranges::find(of, name, name_of);
    if (found == std::end(of)) wrong(std::string("no ") + kind + " is named ", name);
    return static_cast<std::size_t>(found - std::begin(of));
  }

  [[noreturn]] void wrong(const std::string& what, std::string_view word) const {
    fail(errc::format, {"tuning table ", table_, ", line ", line_, ": ", what, "'", word, "'"});
  }

  condition as_condition(std::string_view text, section in) const {
    const std::size_t at = std::min(text.find_first_of("<>="), text.size());
    const std::size_t fact = position(facts, text.substr(0, at), "fact", &fact_info::name);
    if ((facts[fact].sections >> static_cast<unsigned>(in) & 1u) == 0)
      wrong(std::string("section ") + section_name(in) + " has no fact ", text.substr(0, at));
    condition out{static_cast<rig::on_cuda::fact>(fact)};
    if (at == text.size()) wrong("a condition has no value: ", text);
    const char relation = text[at];
    const bool includes = relation == '=' || text.substr(at + 1, 1) == "=";
    const std::string_view value = text.substr(at + (includes && relation != '=' ? 2 : 1));
    if (fact < word_fact_count) {
      if (relation != '=') wrong("a fact in words is compared by '=' alone: ", text);
      const auto words = split(facts[fact].words, ' ');
      for (const std::string_view word : split(value, '|')) {
        const auto found = std::find(words.begin(), words.end(), word);
        if (found == words.end()) wrong("no such word: ", word);
        out.words |= 1u << (found - words.begin());
      }
      return out;
    }
    const double bound = number(value);
    out.from = relation == '<' ? -infinite : includes ? bound : std::nextafter(bound, infinite);
    out.to = relation == '>' ? infinite : includes ? bound : std::nextafter(bound, -infinite);
    return out;
  }

  void set(std::string_view text, std::array<int, setting_count>& plan) const {
    const std::size_t at = std::min(text.find('='), text.size());
    const std::size_t found =
        position(settings, text.substr(0, at), "setting", &setting_range::name);
    const setting_range& range = settings[found];
    const double value = number(text.substr(std::min(at + 1, text.size())));
    const bool fits = value >= range.least && value <= range.most && value == std::floor(value);
    const int whole = fits ? static_cast<int>(value) : 0;
    if (!fits || (range.is_power && (whole & (whole - 1)) != 0))
      wrong("a setting has no such value: ", text);
    plan[found] = whole;
  }

  /// A launch configuration is whole: no lanes are missing, and no row has fewer than its tiles.
  void check_lanes(const tuning_row& row) const {
    const int tile = row[setting::tile_lanes];
    if (row.in != section::row && (row.in != section::tiles || tile == 0)) return;
    if (tile < 1 || row[setting::row_lanes] < tile || row[setting::unroll] < 1)
      wrong("needs 1 <= tile_lanes <= row_lanes and unroll >= 1: ", row.plan_text);
  }

  const std::string& table_;
  std::size_t line_;
};

}  // namespace

const char* section_name(section of) { return section_names[static_cast<std::size_t>(of)]; }

bool condition::holds(const product_facts& facts) const {
  const double value = facts[of];
  if (words != 0) return (words >> static_cast<unsigned>(value) & 1u) != 0;
  return from <= value && value <= to;
}

bool tuning_row::serves(const product_facts& facts) const {
  return std::ranges::all_of(when, [&](const condition& c) { return c.holds(facts); });
}

tuning_table::tuning_table(std::string name, std::string_view text)
    : name_(std::move(name)), number_([] {
        static std::atomic<unsigned long> tables = 0;
        return ++tables;
      }()) {
  const std::vector<std::string_view> lines = split(text, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const line_reader line(name_, i + 1);
    tuning_row row = line.row(lines[i]);
    if (row.in == section::constant)
      constants_[static_cast<std::size_t>(line.constant_named(row))] = line.number(row.plan_text);
    rows_.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows_, {}, &tuning_row::in);
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    const auto of = std::ranges::equal_range(rows_, static_cast<section>(s), {}, &tuning_row::in);
    sections_[s] = {of.begin() - rows_.begin(), of.end() - rows_.begin()};
    if (of.empty() || !of.back().when.empty())
      fail(errc::format, {"tuning table ", name_, ": section '", section_names[s],
                          "' needs a last row without conditions"});
  }
  for (std::size_t c = 0; c < constant_count; ++c)
    if (!(constants_[c] > 0))
      fail(errc::format,
           {"tuning table ", name_, ": constant '", constant_names[c], "' is missing"});
}

namespace {

std::string text_of(const char* file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) fail(errc::io, {"RIG_TUNING: ", file, " cannot be read"});
  return out.str();
}

const tuning_table& first_table() {
  // Never destroyed, because a product may run while the process ends.
  static const auto& table = *[] {
    const char* const file = std::getenv("RIG_TUNING");
    return file != nullptr && *file != '\0' ? new tuning_table(file, text_of(file))
                                            : new tuning_table("sm_90.csv", builtin_table());
  }();
  return table;
}

std::atomic<const tuning_table*> in_use = nullptr;

}  // namespace

const tuning_table& current_table() {
  const tuning_table* const table = in_use.load(std::memory_order_acquire);
  return table != nullptr ? *table : first_table();
}

std::string line_of(const tuning_row& row) {
  return current_table().name() + ":" + std::to_string(row.line);
}

std::string in_words(const tuning_row& row, const std::string& plan) {
  std::string out = plan + " (" + line_of(row);
  if (!row.ms.empty()) out += ", " + row.ms + " ms on " + row.graph;
  return out + ")";
}

std::string in_words(const tuning_row& row) { return in_words(row, row.plan_text); }

tuning_scope::tuning_scope(const tuning_table& table) : before_(in_use.exchange(&table)) {}
tuning_scope::~tuning_scope() { in_use.store(before_); }

}  // namespace rig::on_cuda
