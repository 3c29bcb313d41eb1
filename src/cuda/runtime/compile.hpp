#pragma once

// The run-time compiler: kernels of semirings that were not compiled ahead, from the very text of
// the kernel files.

#include <span>
#include <string>

#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

/// A file the run-time compiler can include, embedded in the library when it is built.
struct kernel_text {
  const char* name;
  const char* text;
};
std::span<const kernel_text> kernel_texts();

/// Words of a kernel file that others take the place of: how the benchmark's ablation asks what an
/// idea in a kernel is worth.
struct text_edit {
  const char *name, *file, *from, *to;
};

/// What the compiler is asked for.
struct kernel_source {
  std::string file, expression;  ///< that names the kernel in the file
  const source_text* semiring;   ///< the caller's, or null
  const text_edit* edit = nullptr;
};

/// The kernel, for the architecture of a device. From memory; else from the disk cache; else
/// compiled by NVRTC (loaded on first need) and kept in both. The disk cache is $RIG_CACHE_DIR,
/// else $XDG_CACHE_HOME/rig, else ~/.cache/rig; RIG_CACHE=off does without. Files are written whole
/// and renamed, so processes may share a folder; a damaged one is rebuilt. Throws error(cannot)
/// with the compiler's words.
const void* compile(const kernel_source& of, int device);

/// Null where NVRTC is found: by the name $RIG_NVRTC if that is set, else where libraries are.
const char* no_compiler_because();

/// The same up to machine code, without a device: for tests. `architecture` such as 90.
std::string compile_to_cubin(const kernel_source& of, int architecture, std::string& lowered_name);

}  // namespace rig::on_cuda
