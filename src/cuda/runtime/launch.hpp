#pragma once

// From a checked problem to its launch: the arguments, the kernel, the launch itself.

#include <string>

#include "cuda/device/arguments.cuh"
#include "cuda/runtime/compile.hpp"
#include "cuda/runtime/runtime.hpp"
#include "cuda/runtime/template_arguments.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// The problem as the arguments of kernels.
arguments arguments_of(const problem& p);

/// Returns whether kernels may write whole vectors: no mask, no accumulator, and C stores the
/// semiring's result type, or floats narrowed to half or bfloat16.
bool is_plain(const problem& p);

/// Bytes from one row of B to the next. Throws error(cannot) if they exceed 32 bits.
unsigned row_bytes(int64 stride, std::size_t element_bytes);

/// Returns whether rows begin on multiples of 16 bytes, or of `vector_bytes` if that is less.
inline bool is_aligned(const void* data, int64 stride, std::size_t element_bytes,
                       std::size_t vector_bytes = 16) {
  vector_bytes = vector_bytes < 16 ? vector_bytes : 16;
  return reinterpret_cast<std::size_t>(data) % vector_bytes == 0 &&
         static_cast<std::size_t>(stride) * element_bytes % vector_bytes == 0;
}

/// A kernel that a launch needs.
struct kernel_request {
  const char* name;  ///< the kernel's name in its file: "row"
  const char* file;  ///< "cuda/row/row.cuh"
  template_arguments arguments = {};
  bool reads_b = true;      ///< the type of B is a template argument after the semiring
  int shared_percent = -1;  ///< percent of L1 to use as shared memory; below 0: the driver's choice
  std::size_t most_shared = 0;  ///< dynamic shared memory of a launch, if 48 KB do not suffice
};

/// Bytes of shared memory that a block can use on a device.
std::size_t shared_room(int device);

/// Returns the kernel for a problem: from memory, compiled ahead if the device runs that machine
/// code, from disk, or compiled now. Throws error(cannot) with the compiler's words, or if there is
/// no compiler.
const void* kernel_for(const problem& p, const kernel_request& wanted);

/// The kernels that are compiled ahead for a pair of ahead.def, by family.
template <class S>
std::span<const aot_kernel> row_kernels_aot();
template <class S>
std::span<const aot_kernel> spmv_kernels_aot();

/// The number of kernels that are compiled ahead; each costs build time and bytes.
std::size_t aot_kernel_count();

/// The kernel with its template arguments, as the compiler names it.
std::string expression_of(const kernel_request& wanted, const std::string& semiring,
                          const std::string& b_type);

/// The text that the run-time compiler reads for such a kernel.
kernel_source source_of(const problem& p, const kernel_request& wanted);

/// Returns why no kernel exists for this semiring, or for this problem, or null.
const char* no_kernel_because(const semiring_info& s);
const char* no_kernel_because(const problem& p);

/// Sets a refusal in `out` if `why` is not null, and returns whether it did.
inline bool cannot(answer& out, const problem& p, const char* why) {
  if (why == nullptr) return false;
  out.says = verdict::cannot;
  if (p.reasons) out.reason = why;
  return true;
}

/// Estimated seconds of a product that reads A once and gathers a row of B per entry.
double estimate(const problem& p);

/// The full name of a type, from its key.
std::string type_name(const char* key);
/// The same as the run-time compiler names it, whose text of a type of the caller is `source`.
std::string type_name(const char* key, const source_text* source);
/// A storage type as the compiler names it, or null.
const char* element_name(type stored, bool per_column = false);

/// A mask as an argument of kernels.
mask_arguments mask_arguments_of(const mask_operand& mask);

/// Returns whether a CUDA graph is kept for launches on the stream.
bool has_launch_graph(int device, void* stream);

/// Launches a kernel with `shared` bytes of dynamic shared memory: at most 48 KB, or `most_shared`
/// of its request. An empty grid launches nothing.
void launch(const problem& p, const char* name, const void* kernel, dim3 grid, unsigned threads,
            const arguments& args, std::size_t shared = 0);

}  // namespace rig::on_cuda
