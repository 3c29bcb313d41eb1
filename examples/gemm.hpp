#pragma once

#include <cblas.h>

#include <algorithm>

#include "rig/accumulate.hpp"
#include "rig/dense.hpp"
#include "rig/error.hpp"

#ifdef RIG_HAS_CUDA
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#endif

// Dense products, which rig leaves to a BLAS: OpenBLAS on the CPU, cuBLAS on a GPU.

namespace example {

/// Which operands of a product are transposed.
struct turned {
  bool x = false, w = false;
};

/// Elements from a row to the next. A BLAS takes no 0, even for a matrix without columns.
template <class T>
int leading(const rig::dense<T>& x) {
  return std::max(1, static_cast<int>(x.stride()));
}

inline constexpr auto cblas_gemm(float) { return cblas_sgemm; }
inline constexpr auto cblas_gemm(double) { return cblas_dgemm; }

/// Each block of rows is one call on one thread, so the bits do not depend on the threads.
template <class T>
void gemm_on_cpu(rig::dense<T>& c, T beta, const rig::dense<T>& x, const rig::dense<T>& w,
                 turned turn) {
  const rig::int64 block = turn.x ? 64 : 256;  // the rows of Xᵀ are few and long
  const rig::index inner = turn.x ? x.rows() : x.columns();
  const rig::int64 step = turn.x ? 1 : x.stride();
  openblas_set_num_threads(1);
#pragma omp parallel for if (c.rows() > block)
  for (rig::int64 first = 0; first < c.rows(); first += block) {
    const auto rows = static_cast<int>(std::min(block, c.rows() - first));
    cblas_gemm(T())(CblasRowMajor, turn.x ? CblasTrans : CblasNoTrans,
                    turn.w ? CblasTrans : CblasNoTrans, rows, c.columns(), inner, 1,
                    x.data() + first * step, leading(x), w.data(), leading(w), beta,
                    c.data() + first * c.stride(), leading(c));
  }
}

#ifdef RIG_HAS_CUDA
inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    rig::fail(rig::errc::device, {"cuBLAS: ", cublasGetStatusString(status)});
}

inline constexpr auto cublas_gemm(float) { return cublasSgemm; }
inline constexpr auto cublas_gemm(double) { return cublasDgemm; }

/// All three matrices belong to rig's own stream. cuBLAS works on it too, so the product takes its
/// turn among the calls of rig.
template <class T>
void gemm_on_cuda(rig::dense<T>& c, T beta, const rig::dense<T>& x, const rig::dense<T>& w,
                  turned turn) {
  // An example uses one device. The handle lives as long as the program.
  static const cublasHandle_t handle = [&] {
    cudaSetDevice(c.where().device);
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made));
    check(cublasSetStream(made, static_cast<cudaStream_t>(c.stream())));
    return made;
  }();
  // cuBLAS reads columns, so it sees each matrix transposed: Cᵀ = Wᵀ·Xᵀ.
  const T one = 1;
  check(cublas_gemm(T())(handle, turn.w ? CUBLAS_OP_T : CUBLAS_OP_N,
                         turn.x ? CUBLAS_OP_T : CUBLAS_OP_N, c.columns(), c.rows(),
                         turn.x ? x.rows() : x.columns(), &one, w.data(), leading(w), x.data(),
                         leading(x), &beta, c.data(), leading(c)));
}
#endif

/// C = X·W, or C += X·W with accumulator `plus`, in the place of all three; X or W may be
/// transposed. On a GPU the call returns at once, and is ordered with the calls of rig.
template <class T>
void gemm(rig::dense<T>& c, rig::accumulator accum, const rig::dense<T>& x, const rig::dense<T>& w,
          turned turn = {}) {
  const T beta = accum == rig::accumulator::plus ? 1 : 0;
  if (c.rows() == 0 || c.columns() == 0) return;
#ifdef RIG_HAS_CUDA
  if (c.where() != rig::cpu()) return gemm_on_cuda(c, beta, x, w, turn);
#endif
  gemm_on_cpu(c, beta, x, w, turn);
}

}  // namespace example
