#pragma once

// Finds a kernel by its key: among those already found, compiled ahead, on disk, or compiled now.

#include <span>
#include <string>

#include "cuda/runtime/compile.hpp"
#include "cuda/runtime/runtime.hpp"
#include "cuda/runtime/template_arguments.hpp"

namespace rig::on_cuda {

/// What kernels are compiled from, and the device that they run on.
struct kernel_key {
  /// Whether kernels take the type itself, or an operator of it (element.cuh).
  enum class role : unsigned char { semiring, adding, multiplying, applying };

  const char* type_name;      ///< contains the type's full name
  std::uint64_t type_hash;    ///< the addresses may be another type's if its library is unloaded
  const source_text* source;  ///< the type's text, if it is the caller's
  int device;
  role as = role::semiring;
  /// Of B, and then `other` stands for the semiring's own; or of an applied operator's x and y.
  type x = type::other, y = type::other;
  bool per_column = false;  ///< of codes
  bool operator==(const kernel_key&) const = default;
};

/// A kernel that a launch needs.
struct kernel_request {
  const char* name;  ///< the kernel's name in its file: "row"
  const char* file;  ///< "cuda/row/row.cuh"
  template_arguments arguments = {};
  bool reads_b = true;      ///< the type of B is a template argument after the semiring
  int shared_percent = -1;  ///< percent of L1 to use as shared memory; below 0: the driver's choice
  std::size_t most_shared = 0;  ///< dynamic shared memory of a launch, if 48 KB do not suffice
};

/// A kernel that is ready to launch.
struct device_kernel {
  const void* handle;
  const char* name;
};

/// Returns a kernel: from memory, compiled ahead if the device runs that machine code, from disk,
/// or compiled now. Throws error(cannot) with the compiler's words, or if there is no compiler.
device_kernel kernel_for(const kernel_key& key, const kernel_request& wanted);

/// A kernel that nvcc compiled.
device_kernel kernel_by_nvcc(const void* kernel, const char* name);

/// The kernels that are compiled ahead for a pair of ahead.def, by family.
template <class S>
std::span<const aot_kernel> row_kernels_aot();
template <class S>
std::span<const aot_kernel> spmv_kernels_aot();

/// Returns whether kernels are compiled ahead for a semiring and the type of B.
bool has_aot_kernels(const kernel_key& key);

/// The number of kernels that are compiled ahead; each costs build time and bytes.
std::size_t aot_kernel_count();

/// The kernel with its template arguments, as the compiler names it.
std::string expression_of(const kernel_request& wanted, const std::string& semiring,
                          const std::string& b_type);

/// The text that the run-time compiler reads for such a kernel.
kernel_source source_of(const kernel_key& key, const kernel_request& wanted);

/// A storage type as the compiler names it, or null.
const char* element_name(type stored, bool per_column = false);

/// Bytes of shared memory that a block can use on a device.
std::size_t shared_room(int device);

}  // namespace rig::on_cuda
