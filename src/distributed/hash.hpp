#pragma once

// A number that other numbers do not have, with all likelihood.

#include <cstdint>

namespace rig::over_ranks {

/// FNV-1a, a step for each number.
class hashed {
 public:
  template <class Numbers>
  void add(const Numbers& numbers) {
    for (const auto number : numbers)
      hash_ = (hash_ ^ static_cast<std::uint64_t>(number)) * 1099511628211u;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

}  // namespace rig::over_ranks
