#pragma once

#include <string>

#include "data.hpp"

// Where data sets come from.

namespace gnn {

/// The data set that a path or folder holds, in one of the formats of docs/guide/training.md.
dataset read_files(const std::string& from);
/// The data set of a generated name.
dataset generated(const std::string& from);

/// The integer that a word is. Throws error(format), which begins with `at`, for any other word.
rig::index integer_of(const std::string& word, const std::string& at, rig::index least,
                      rig::index most);

}  // namespace gnn
