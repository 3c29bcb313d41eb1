#pragma once

// The tuning table: launch plans as data. A row says: when these conditions hold, take this plan.
// docs/tuning.md has the format.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/tuning/facts.hpp"

namespace rig::on_cuda {

enum class section : unsigned char {
#define RIG_SECTION(name) name,
#include "cuda/tuning/table.def"
  count
};

const char* section_name(section of);

/// The numbers of a plan.
enum class setting : unsigned char {
#define RIG_SETTING(name, least, most, is_power) name,
#include "cuda/tuning/table.def"
  count
};
constexpr std::size_t setting_count = static_cast<std::size_t>(setting::count);

/// A fact lies in [from, to], or is one of the words whose bits are set.
struct condition {
  fact of;
  unsigned words = 0;
  double from = 0, to = 0;
  bool holds(const product_facts& facts) const;
};

struct tuning_row {
  section in;
  std::size_t line = 0;  ///< in the table's file
  std::vector<condition> when;
  std::array<int, setting_count> plan{};
  std::string key, plan_text, reason, ms, graph, commit;

  int operator[](setting s) const { return plan[static_cast<std::size_t>(s)]; }
  bool serves(const product_facts& facts) const;
};

/// Thresholds and rates of a machine, by name.
enum class constant : unsigned char {
#define RIG_CONSTANT(name) name,
#include "cuda/tuning/table.def"
  count
};
constexpr std::size_t constant_count = static_cast<std::size_t>(constant::count);

class tuning_table {
 public:
  /// Throws error(format) with the line if `text` is no table, or if a section's last row has
  /// conditions.
  tuning_table(std::string name, std::string_view text);

  const std::string& name() const { return name_; }
  /// Differs from the number of every other table of the process.
  unsigned long number() const { return number_; }
  double operator[](constant c) const { return constants_[static_cast<std::size_t>(c)]; }
  const std::vector<tuning_row>& rows() const { return rows_; }

  /// The first row of the section whose conditions hold and whose plan `is_legal` admits; the last
  /// row serves in any case.
  template <class Legal>
  const tuning_row& find(section in, const product_facts& facts, const Legal& is_legal) const {
    const auto [begin, end] = sections_[static_cast<std::size_t>(in)];
    for (std::size_t i = begin; i + 1 < end; ++i)
      if (rows_[i].serves(facts) && is_legal(rows_[i])) return rows_[i];
    return rows_[end - 1];
  }
  const tuning_row& find(section in, const product_facts& facts) const {
    return find(in, facts, [](const tuning_row&) { return true; });
  }

 private:
  std::string name_;
  unsigned long number_;
  std::vector<tuning_row> rows_;
  std::array<std::pair<std::size_t, std::size_t>, static_cast<std::size_t>(section::count)>
      sections_{};
  std::array<double, constant_count> constants_{};
};

/// The text of the table that is built in: sm_90.csv. A GPU of another architecture takes it too.
std::string_view builtin_table();

/// The table in use: the file that RIG_TUNING names when the process first needs it, else the one
/// that is built in. It lives as long as the process.
const tuning_table& current_table();

/// The file and line of a row of the table in use.
std::string line_of(const tuning_row& row);

/// A row of the table in use as `explain` prints it: its plan, its file and line, and the time that
/// was measured. `plan`: in place of the row's own text.
std::string in_words(const tuning_row& row);
std::string in_words(const tuning_row& row, const std::string& plan);

/// Puts another table in use while it lives. For tests and the benchmark, in one thread at a time.
class tuning_scope {
 public:
  explicit tuning_scope(const tuning_table& table);
  ~tuning_scope();
  tuning_scope(const tuning_scope&) = delete;
  tuning_scope& operator=(const tuning_scope&) = delete;

 private:
  const tuning_table* before_;
};

}  // namespace rig::on_cuda
