#pragma once

// Where data for tests lies: RIG_DATA, or beside the repository.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace data {

namespace fs = std::filesystem;

/// Whether a test found no data. Its program then counts as skipped, unless a test fails.
inline bool is_missing = false;

inline fs::path folder() {
  const char* named = std::getenv("RIG_DATA");
  return named != nullptr ? fs::path(named) : fs::path(RIG_SOURCE_DIR "/../shared/data");
}

/// Whether there is such a file or folder.
inline bool has(const fs::path& needed) {
  if (exists(needed)) return true;
  MESSAGE("SKIPPED: there is no " << needed.string());
  is_missing = true;
  return false;
}

/// folder/name, or the same packed.
inline std::string find(const fs::path& folder, const std::string& name) {
  const fs::path plain = folder / name;
  return exists(plain) ? plain.string() : plain.string() + ".gz";
}

}  // namespace data
