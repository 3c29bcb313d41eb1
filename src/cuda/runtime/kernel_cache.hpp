#pragma once

// Kernels that were compiled at run time, kept on disk for later processes.

#include <cstdint>
#include <string>
#include <string_view>

namespace rig::on_cuda {

struct compiled_kernel {
  std::string cubin, lowered_name;
};

/// Returns an environment variable, or nothing. Returns nothing in a program that runs with more
/// rights than its caller has.
std::string variable(const char* name);

/// Returns false unless the cache has a whole file of this key that the user owns and nobody else
/// may write.
bool read_cached(const std::string& key, compiled_kernel& out);

/// Without a folder that is usable and private, nothing is written, and the next process compiles
/// again.
void write_cached(const std::string& key, const compiled_kernel& made);

/// A 64-bit hash of a text, continued from the hash `before`.
std::uint64_t text_hash(std::string_view text, std::uint64_t before = 14695981039346656037ull);

}  // namespace rig::on_cuda
