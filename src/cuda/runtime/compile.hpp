#pragma once

// The run-time compiler: it compiles kernels of semirings that were not compiled ahead, from the
// same kernel files.

#include <span>
#include <string>

#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

/// A file that the run-time compiler can include, embedded in the library at build time.
struct kernel_text {
  const char* name;
  const char* text;
};
std::span<const kernel_text> kernel_texts();

/// The input of the compiler.
struct kernel_source {
  std::string file, expression;  ///< the kernel file, and the kernel's name in it
  const source_text* semiring;   ///< the caller's, or null
};

/// Returns the kernel for the architecture of a device: from memory, else from the disk cache
/// (docs/reference/variables.md), else compiled by NVRTC. Files are written whole and renamed, so
/// processes may share a folder. Throws error(cannot) with the compiler's words.
const void* compile(const kernel_source& of, int device);

/// Returns null if NVRTC is found: by the name $RIG_NVRTC if it is set, else by its usual names.
/// Otherwise returns the reason.
const char* no_compiler_because();

/// `compile` up to machine code, without a device, for tests. `architecture`: such as 90.
std::string compile_to_cubin(const kernel_source& of, int architecture, std::string& lowered_name);

}  // namespace rig::on_cuda
