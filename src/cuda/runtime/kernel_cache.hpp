#pragma once

// Kernels that were compiled at run time, kept on disk for later processes.

#include <cstdint>
#include <string>
#include <string_view>

namespace rig::on_cuda {

struct compiled_kernel {
  std::string cubin, lowered_name;
};

/// A variable of the environment, or nothing; nothing in a program that runs with more rights than
/// its caller has.
std::string variable(const char* name);

/// False where the cache has no whole file of this key that the user owns and nobody else may
/// write.
bool read_cached(const std::string& key, compiled_kernel& out);

/// A folder that cannot be used, or that others may write, only means compiling again next time.
void write_cached(const std::string& key, const compiled_kernel& made);

/// 64 bits of a text, and of what was hashed before it.
std::uint64_t text_hash(std::string_view text, std::uint64_t before = 14695981039346656037ull);

}  // namespace rig::on_cuda
