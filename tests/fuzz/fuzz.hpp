#pragma once

// What the targets share: bytes as choices, files, and what counts as an answer.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "rig/error.hpp"

namespace fuzz {

/// The bytes that libFuzzer made. A choice takes one of them; beyond the end each byte is 0.
class bytes {
 public:
  bytes(const std::uint8_t* data, std::size_t size) : left_(data), count_(size) {}

  unsigned below(unsigned end) {
    if (count_ == 0) return 0;
    --count_;
    return *left_++ % end;
  }
  std::string_view rest() const { return {reinterpret_cast<const char*>(left_), count_}; }

 private:
  const std::uint8_t* left_;
  std::size_t count_;
};

/// True if `call` returns. An error of rig is an answer too; any other exception ends the process.
template <class Call>
bool returns(const Call& call) {
  try {
    call();
    return true;
  } catch (const rig::error&) {
    return false;
  }
}

/// A broken promise of rig ends the process, so that libFuzzer keeps the bytes.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace fuzz
