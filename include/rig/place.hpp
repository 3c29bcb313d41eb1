#pragma once

/// @file
/// Places: the host and CUDA devices.

#include <string>
#include <vector>

namespace rig {

/// Where data lives: the host, or one CUDA device. `cpu` and `cuda` return places.
/// @code
/// const rig::place host = rig::cpu(), gpu = rig::cuda(0);
/// std::puts(rig::to_string(gpu).c_str());  // cuda:0
/// @endcode
struct place {
  /// The host, or a CUDA device.
  enum class kind : unsigned char {
    cpu,   ///< the host's memory and processors
    cuda,  ///< a GPU of NVIDIA
  };
  kind where = kind::cpu;  ///< the kind of place
  int device = 0;          ///< CUDA's number of the device; 0 on the CPU
  /// Whether two places are one.
  friend bool operator==(const place&, const place&) = default;
};

/// The host.
inline place cpu() { return {}; }
/// CUDA device `device`, in CUDA's numbering. It need not exist; its first use throws error(place)
/// then.
inline place cuda(int device = 0) { return {place::kind::cuda, device}; }

/// @cond internal
/// Throws error(place) unless a place is `cpu()` or of the form `cuda(n)`.
void check_place(place where);
/// @endcond

/// "cpu" or "cuda:0". Throws error(out_of_memory).
std::string to_string(place where);

/// One place this process can compute in.
struct device_info {
  place where;       ///< the place
  std::string name;  ///< instruction set of a CPU ("avx512", "avx2", "baseline"), name of a GPU
  int threads = 0;   ///< hardware threads of a CPU, multiprocessors of a GPU
  long memory = 0;   ///< bytes of memory of the place
};

/// Every usable place, the CPU first. A build without CUDA, or a machine without a GPU, lists only
/// the CPU. GPUs of a compute capability below 8.0 are not listed; their use throws error(place).
/// Throws error(out_of_memory).
/// @code
/// const rig::place where = rig::devices().back().where;  // a GPU if there is one
/// const auto product = rig::mxm(A.to(where), B.to(where), rig::plus_times<float>{});
/// @endcode
std::vector<device_info> devices();

/// Waits for all work of rig on a place and reports its faults: error(device), with the name of the
/// last kernel that rig launched there. It does not wait for the caller's own kernels. On the CPU
/// it returns at once. Throws error: device; place; cannot, while rig's own stream of the device is
/// captured in a CUDA graph.
/// @code
/// rig::synchronise(rig::devices().back().where);
/// @endcode
void synchronise(place where);

/// The version of the loaded library, "major.minor.patch".
const char* version();

}  // namespace rig
