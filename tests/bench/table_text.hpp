#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/tuning/table.hpp"
#include "rig/error.hpp"
#include "rig/output_file.hpp"

namespace bench::gpu {

/// The cells of the table's lines, as text; the first line has the names.
class table_text {
 public:
  enum cell { in, when, plan, compiled, ms, runner_up, runner_up_ms, graph, commit, cells };

  explicit table_text(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> row(1);
      for (const char c : line)
        if (c == ',')
          row.emplace_back();
        else
          row.back() += c;
      if (row.size() == cells) rows_.push_back(std::move(row));
    }
  }

  std::vector<std::string>& line_of(const rig::on_cuda::tuning_row& row) {
    for (std::vector<std::string>& line : rows_)
      if (line[in] == rig::on_cuda::section_name(row.in) && line[when] == row.key) return line;
    rig::fail(rig::errc::format, {"the table has no row '", row.key, "'"});
  }

  /// The table with another plan in one of its rows.
  rig::on_cuda::tuning_table with(const rig::on_cuda::tuning_row& row,
                                  const std::string& other) const {
    table_text changed = *this;
    changed.line_of(row)[plan] = other;
    return rig::on_cuda::tuning_table("a candidate", changed.text());
  }

  /// The table of a file; the built-in one if there is no file.
  static table_text of_file(const std::string& path) {
    if (!std::filesystem::exists(path)) return table_text(rig::on_cuda::builtin_table());
    std::ifstream file(path);
    return table_text(std::string(std::istreambuf_iterator<char>(file), {}));
  }

  /// Replaces the file at once.
  void write(const std::string& path) const { rig::write_text(path, text()); }

  std::string text() const {
    std::string out;
    for (const std::vector<std::string>& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) (out += i > 0 ? "," : "") += row[i];
      out += '\n';
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bench::gpu
