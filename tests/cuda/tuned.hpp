#pragma once

// Plans of a test's choice.

#include <initializer_list>
#include <string>

#include "cuda/tuning/table.hpp"

/// The built-in table with rows of the test's before its own, in use while this lives. A row is
/// "section,conditions,plan".
class tuned {
 public:
  explicit tuned(std::initializer_list<std::string> rows)
      : table_("of a test", text_of(rows)), in_use_(table_) {}

  /// `row` by one plan for all plain products of whole rows that B's rows allow.
  static tuned row(const std::string& plan) {
    return tuned({"tiles,,tile_lanes=0", "copy,store=plain,padded=1",
                  "row,entries=full store=plain load=vector," + plan});
  }
  /// B in tiles by that plan, if it leaves a column of B, or up to a vector of them.
  static tuned tiles(const std::string& plan) { return tuned({"tiles,," + plan}); }

  /// The text of such a table.
  static std::string text_of(std::initializer_list<std::string> rows) {
    std::string out = "section,when,plan,compiled,ms,runner_up,runner_up_ms,graph,commit\n";
    for (const std::string& row : rows) out += row + ",,,,,,\n";
    const std::string_view builtin = rig::on_cuda::builtin_table();
    return out.append(builtin.substr(builtin.find('\n') + 1));
  }

 private:
  const rig::on_cuda::tuning_table table_;
  const rig::on_cuda::tuning_scope in_use_;
};

/// The numbers of a plan as a table has them.
inline std::string lanes(int tile, int row, int unroll, int coarsening) {
  return "tile_lanes=" + std::to_string(tile) + " row_lanes=" + std::to_string(row) +
         " unroll=" + std::to_string(unroll) + " coarsening=" + std::to_string(coarsening);
}
