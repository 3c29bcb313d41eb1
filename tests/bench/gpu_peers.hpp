#pragma once

#include <library_types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rig/kernels/problem.hpp"
#include "rig/matrix.hpp"

/// cuSPARSE as a peer, on the device where the operands are.
namespace bench::gpu {

/// The name with the version that a library of CUDA gives by its properties, "cuSPARSE 12.6.3".
template <class Get>
std::string with_version(std::string name, Get property) {
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    property(part, &number);
    name += (part == MAJOR_VERSION ? " " : ".") + std::to_string(number);
  }
  return name;
}

/// cuSPARSE as it is loaded.
std::string cusparse_name();

/// One algorithm of a peer; if it fails, `run` is empty and `error` holds the reason.
struct peer {
  std::string name;
  std::function<void()> run;
  std::string error;
};

/// A in the form that cuSPARSE takes.
rig::sparse_operand csr_of(const rig::matrix<float>& a);

/// C = A·B by each algorithm of cusparseSpMM that serves CSR, with the arguments of `vendor`. B and
/// C are packed by row in A's element type; sums are fp32. Each algorithm comes twice: with
/// cusparseSpMM_preprocess, and as NAME_unprepared. Each has run once.
std::vector<peer> spmm_peers(const std::string& prefix, const rig::sparse_operand& a, const void* b,
                             void* c, int features);

/// The same by cusparseSpMV: B and C are vectors of floats.
std::vector<peer> spmv_peers(const rig::sparse_operand& a, const void* b, void* c);

/// A peer whose result is sparse.
struct sparse_peer : peer {
  std::shared_ptr<const rig::int64> nnz;  ///< the entries of the last result
};

/// C = A·B by each algorithm of cusparseSpGEMM, for matrices of floats. A run starts with the
/// analysis, allocates workspaces and C, frees them, and waits for the device. Each algorithm has
/// run once.
std::vector<sparse_peer> spgemm_peers(const rig::sparse_operand& a, const rig::sparse_operand& b);

/// C(i,j) = max of B(k,j) over the entries (i,k), by cusparseSpMMOp.
peer max_peer(const rig::sparse_operand& a, const void* b, void* c, int features);

}  // namespace bench::gpu
