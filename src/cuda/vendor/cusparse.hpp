#pragma once

// cuSPARSE's product of a CSR matrix and a dense matrix, as `vendor` and the benchmarks call it.

#include <cusparse.h>

#include <optional>

#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

class shared_library;
/// Loaded at first use.
const shared_library& cusparse_library();
/// Returns null if it is found, otherwise the loader's message.
const char* no_cusparse_because();

/// Throws error(device) with cuSPARSE's message unless `status` is success.
void check(cusparseStatus_t status, const char* what);

/// A handle that one call has, because threads must not share cuSPARSE's handles. Later calls take
/// it again. The device must be current.
class cusparse_handle {
 public:
  explicit cusparse_handle(int device);
  cusparse_handle(const cusparse_handle&) = delete;
  ~cusparse_handle();
  operator cusparseHandle_t() const { return is_; }

 private:
  int device_;
  cusparseHandle_t is_ = nullptr;
};

/// cuSPARSE's name of a value type, or nothing if it does not multiply that type.
std::optional<cudaDataType> cusparse_type(type stored);

/// cuSPARSE's descriptor of an operand; it refers to the operand's arrays and copies none.
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
/// have values of one type. Sums are in float, or in double for doubles. The destructor frees the
/// workspace in the order of the stream.
class cusparse_spmm {
 public:
  cusparse_spmm(const sparse_operand& a, const dense_operand& b, const dense_operand& c,
                cusparseSpMMAlg_t algorithm, bool adds_to_c, void* stream);
  /// Runs the algorithm's analysis of A's structure once; otherwise each run repeats it.
  void prepare() const;
  void run() const;

 private:
  cusparse_handle handle_;
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
