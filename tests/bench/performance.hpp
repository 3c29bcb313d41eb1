#pragma once

// What the files that make docs/performance.md share.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

/// The command of a record, and the hardware that it measured.
std::string source_of(const nlohmann::json& record);
/// How often its times were taken.
std::string runs_of(const nlohmann::json& record);
/// The sections that have a table in place of a figure.
std::string tables_of(const std::vector<nlohmann::json>& records);

}  // namespace bench
