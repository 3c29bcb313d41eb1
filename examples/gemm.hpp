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

/// Elements from a row to the next. A BLAS takes no 0, even for a matrix without columns.
inline int leading(const rig::dense<float>& x) { return std::max(1, static_cast<int>(x.stride())); }

/// Each block of rows is one call on one thread, so the bits do not depend on the threads.
inline void gemm_on_cpu(rig::dense<float>& c, float beta, const rig::dense<float>& x,
                        const rig::dense<float>& w) {
  constexpr rig::int64 block = 256;
  openblas_set_num_threads(1);
#pragma omp parallel for if (c.rows() > block)
  for (rig::int64 first = 0; first < c.rows(); first += block) {
    const auto rows = static_cast<int>(std::min(block, c.rows() - first));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, c.columns(), x.columns(), 1,
                x.data() + first * x.stride(), leading(x), w.data(), leading(w), beta,
                c.data() + first * c.stride(), leading(c));
  }
}

#ifdef RIG_HAS_CUDA
inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    rig::fail(rig::errc::device, {"cuBLAS: ", cublasGetStatusString(status)});
}

/// All three matrices belong to rig's own stream. cuBLAS works on it too, so the product takes its
/// turn among the calls of rig.
inline void gemm_on_cuda(rig::dense<float>& c, float beta, const rig::dense<float>& x,
                         const rig::dense<float>& w) {
  // An example uses one device. The handle lives as long as the program.
  static const cublasHandle_t handle = [&] {
    cudaSetDevice(c.where().device);
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made));
    return made;
  }();
  check(cublasSetStream(handle, static_cast<cudaStream_t>(c.stream())));
  // cuBLAS reads columns, so it sees each matrix transposed: Cᵀ = Wᵀ·Xᵀ.
  const float one = 1;
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, c.columns(), c.rows(), x.columns(), &one,
                    w.data(), leading(w), x.data(), leading(x), &beta, c.data(), leading(c)));
}
#endif

/// C = X·W, or C += X·W with accumulator `plus`, in the place of all three. On a GPU the call
/// returns at once, and is ordered with the calls of rig.
inline void gemm(rig::dense<float>& c, rig::accumulator accum, const rig::dense<float>& x,
                 const rig::dense<float>& w) {
  const float beta = accum == rig::accumulator::plus ? 1 : 0;
#ifdef RIG_HAS_CUDA
  if (c.where() != rig::cpu()) return gemm_on_cuda(c, beta, x, w);
#endif
  gemm_on_cpu(c, beta, x, w);
}

}  // namespace example
