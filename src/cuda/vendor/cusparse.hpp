#pragma once

// cuSPARSE's products of a CSR matrix and a dense, as `vendor` and the benchmarks call them.

#include <cusparse.h>

#include <optional>

#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

/// Null if cuSPARSE is found, which is loaded at its first use. Otherwise the loader's words.
const char* no_cusparse_because();

/// Throws error(device) with cuSPARSE's words.
void check(cusparseStatus_t status, const char* what);

/// One a thread and device: cuSPARSE's handles are not for sharing.
cusparseHandle_t cusparse_handle(int device);

/// What cuSPARSE calls a type that it multiplies.
std::optional<cudaDataType> cusparse_type(type stored);

/// An operand as cuSPARSE knows it; its arrays stay where they are.
class cusparse_csr {
 public:
  explicit cusparse_csr(const sparse_operand& a);
  cusparse_csr(const cusparse_csr&) = delete;
  cusparse_csr& operator=(const cusparse_csr&) = delete;
  ~cusparse_csr();
  cusparseSpMatDescr_t is = nullptr;
};
class cusparse_dense {
 public:
  explicit cusparse_dense(const dense_operand& b);
  cusparse_dense(const cusparse_dense&) = delete;
  cusparse_dense& operator=(const cusparse_dense&) = delete;
  ~cusparse_dense();
  cusparseDnMatDescr_t is = nullptr;
};

/// C = A·B, or C + A·B, by one of cuSPARSE's algorithms, in the order of a CUDA stream. A, B and C
/// have values of one type; sums are in float, of doubles in double. The workspace is freed with
/// this, in the order of the stream.
class cusparse_spmm {
 public:
  cusparse_spmm(const sparse_operand& a, const dense_operand& b, const dense_operand& c,
                cusparseSpMMAlg_t algorithm, bool adds_to_c, void* stream);
  /// What the algorithm keeps of A's structure, once; else it is made in each run.
  void prepare() const;
  void run() const;

 private:
  cusparseHandle_t handle() const;

  int device_;
  void* stream_;
  cusparse_csr a_;
  cusparse_dense b_, c_;
  cusparseSpMMAlg_t algorithm_;
  cudaDataType compute_;
  union factor {
    float in_float;
    double in_double;
  } one_, to_c_;
  buffer scratch_;
};

}  // namespace rig::on_cuda
