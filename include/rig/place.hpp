#pragma once

#include <string>
#include <vector>

namespace rig {

/// Where data lives: the host, or one CUDA device.
struct place {
  enum class kind : unsigned char { cpu, cuda };
  kind where = kind::cpu;
  int device = 0;
  friend bool operator==(const place&, const place&) = default;
};

inline place cpu() { return {}; }
inline place cuda(int device = 0) { return {place::kind::cuda, device}; }

/// Throws error(place) unless a place is `cpu()` or of the form `cuda(n)`.
void check_place(place where);

/// "cpu" or "cuda:0".
std::string to_string(place where);

/// One place this process can compute in.
struct device_info {
  place where;
  std::string name;  ///< instruction set of a CPU ("avx512", "avx2", "baseline"), name of a GPU
  int threads = 0;   ///< hardware threads of a CPU, multiprocessors of a GPU
  long memory = 0;   ///< bytes of memory of the place
};

/// Every usable place, the CPU first. A build without CUDA, or a machine without a GPU, lists only
/// the CPU. GPUs of a compute capability below 8.0 are not listed; their use throws error(place).
std::vector<device_info> devices();

/// Waits for all work of rig on a place and reports its faults: error(device), with the name of the
/// last kernel that rig launched there. It does not wait for the caller's own kernels. On the CPU
/// it returns at once.
void synchronise(place where);

/// The version of the loaded library, "major.minor.patch".
const char* version();

}  // namespace rig
