#pragma once

// From a checked problem to a launched kernel: its arguments, its code, its launch.

#include <string>

#include "cuda/device/arguments.cuh"
#include "cuda/runtime/runtime.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// The problem as kernels read it.
arguments arguments_of(const problem& p);

/// No mask, no accumulator, and C stores what the semiring yields, or floats narrowed: kernels may
/// write whole packs.
bool is_plain(const problem& p);

/// Bytes of an element of B as kernels are compiled for it: a semiring that ignores B is compiled
/// for its own right type, whatever B holds.
inline std::size_t b_bytes(const problem& p) {
  return p.algebra->ignores_right ? p.algebra->right_bytes : p.b.value_bytes;
}

/// Bytes from one row of B to the next, or error(cannot).
unsigned row_bytes(int64 stride, std::size_t element_bytes);

/// Do rows of elements begin on multiples of 16 bytes (or of `pack`, if that is less)?
inline bool is_packed(const void* data, int64 stride, std::size_t element_bytes,
                      std::size_t pack = 16) {
  pack = pack < 16 ? pack : 16;
  return reinterpret_cast<std::size_t>(data) % pack == 0 &&
         static_cast<std::size_t>(stride) * element_bytes % pack == 0;
}

struct text_edit;

/// One kernel of a family: file and template for the run-time compiler, and what was compiled
/// ahead.
struct kernel_request {
  const char* name;    ///< of the kernel: "row"
  const char* file;    ///< that holds it: "cuda/row/row.cuh"
  int shape;           ///< position in the family's table of shapes
  std::size_t shapes;  ///< length of that table
  std::string (*expression)(int shape, const std::string& semiring, const std::string& b_type);
  const void* const* aot;   ///< compiled kernels: [pair of builtin.def · shapes + shape], or null
  int shared_percent = -1;  ///< of L1 that should be shared memory; below 0: as the driver finds
  std::size_t most_shared = 0;  ///< bytes of it that a launch may ask for, where 48 KB do not do
  const text_edit* edit = nullptr;  ///< of the file; with a name of its own
};

/// Bytes of shared memory that a block may ask for on a device.
std::size_t shared_room(int device);

/// The kernel for a problem: compiled ahead, from memory, from disk, or compiled now. Throws
/// error(cannot) with the compiler's words, or where there is no compiler.
const void* kernel_for(const problem& p, const kernel_request& wanted);

/// Why no kernel can be had for this problem, or null.
const char* no_kernel_because(const problem& p);

/// Puts a reason why not, if there is one, in an answer.
inline bool cannot(answer& out, const problem& p, const char* why) {
  if (why == nullptr) return false;
  out.says = verdict::cannot;
  if (p.reasons) out.reason = why;
  return true;
}

/// Seconds a product takes that reads all of A and gathers all of B once.
double estimate(const problem& p);

/// The full name of a semiring's type, from its key.
std::string type_name(const semiring_info& s);

/// Are launches on the stream made by a CUDA graph that is kept for it?
bool has_launch_graph(int device, void* stream);

/// With `shared` bytes of dynamic shared memory, at most 48 KB or what was asked for.
void launch(const problem& p, const char* name, const void* kernel, dim3 grid, unsigned threads,
            const arguments& args, std::size_t shared = 0);

}  // namespace rig::on_cuda
