// cuSPARSE as a peer: descriptors, workspaces and plans that live as long as the call they serve.

#include "gpu_peers.hpp"

#include <cusparse.h>

#include <algorithm>
#include <memory>

#include "gpu.hpp"

namespace bench::gpu {
namespace {

constexpr cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float one = 1, zero = 0;

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    rig::fail(rig::errc::device, {what, ": ", cusparseGetErrorString(status)});
}

cusparseHandle_t handle() {
  // Never destroyed: at exit CUDA may be gone before it.
  static const cusparseHandle_t made = [] {
    cusparseHandle_t fresh = nullptr;
    check(cusparseCreate(&fresh), "cusparseCreate");
    check(cusparseSetStream(fresh, stream()), "cusparseSetStream");
    return fresh;
  }();
  return made;
}

cudaDataType data_type(rig::type stored) {
  switch (stored) {
    case rig::type::half:
      return CUDA_R_16F;
    case rig::type::bfloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

/// What one call needs. An algorithm's preparation is kept in A's descriptor, so each algorithm has
/// one of its own.
struct call {
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnMatDescr_t b = nullptr, c = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  cusparseSpMMOpPlan_t plan = nullptr;
  rig::buffer scratch;

  explicit call(const csr& of) {
    if (of.wide) rig::fail(rig::errc::device, {"32-bit columns with 64-bit offsets"});
    check(cusparseCreateCsr(&a, of.rows, of.columns, of.nnz, const_cast<void*>(of.offsets),
                            const_cast<void*>(of.entries), const_cast<void*>(of.values),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            data_type(of.stored)),
          "cusparseCreateCsr");
  }
  call(const csr& of, const void* from, void* to, int features) : call(of) {
    const cudaDataType element = data_type(of.stored);
    check(cusparseCreateDnMat(&b, of.columns, features, features, const_cast<void*>(from), element,
                              CUSPARSE_ORDER_ROW),
          "cusparseCreateDnMat");
    check(cusparseCreateDnMat(&c, of.rows, features, features, to, element, CUSPARSE_ORDER_ROW),
          "cusparseCreateDnMat");
  }
  call(const call&) = delete;
  ~call() {
    if (plan != nullptr) cusparseSpMMOp_destroyPlan(plan);
    if (a != nullptr) cusparseDestroySpMat(a);
    if (b != nullptr) cusparseDestroyDnMat(b);
    if (c != nullptr) cusparseDestroyDnMat(c);
    if (x != nullptr) cusparseDestroyDnVec(x);
    if (y != nullptr) cusparseDestroyDnVec(y);
  }
};

/// Never null: some functions refuse a null pointer even where they ask for no bytes.
rig::buffer workspace(std::size_t bytes) {
  return rig::buffer::allocate(std::max<std::size_t>(bytes, 64), rig::cuda());
}

std::function<void()> spmm(const csr& a, const void* b, void* c, int features,
                           cusparseSpMMAlg_t algorithm) {
  auto with = std::make_shared<call>(a, b, c, features);
  std::size_t bytes = 0;
  check(cusparseSpMM_bufferSize(handle(), as_is, as_is, &one, with->a, with->b, &zero, with->c,
                                CUDA_R_32F, algorithm, &bytes),
        "cusparseSpMM_bufferSize");
  with->scratch = workspace(bytes);
  check(cusparseSpMM_preprocess(handle(), as_is, as_is, &one, with->a, with->b, &zero, with->c,
                                CUDA_R_32F, algorithm, with->scratch.data()),
        "cusparseSpMM_preprocess");
  return [with, algorithm] {
    check(cusparseSpMM(handle(), as_is, as_is, &one, with->a, with->b, &zero, with->c, CUDA_R_32F,
                       algorithm, with->scratch.data()),
          "cusparseSpMM");
  };
}

std::function<void()> spmv(const csr& a, const void* b, void* c, cusparseSpMVAlg_t algorithm) {
  auto with = std::make_shared<call>(a);
  check(cusparseCreateDnVec(&with->x, a.columns, const_cast<void*>(b), CUDA_R_32F),
        "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&with->y, a.rows, c, CUDA_R_32F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(handle(), as_is, &one, with->a, with->x, &zero, with->y, CUDA_R_32F,
                                algorithm, &bytes),
        "cusparseSpMV_bufferSize");
  with->scratch = workspace(bytes);
  check(cusparseSpMV_preprocess(handle(), as_is, &one, with->a, with->x, &zero, with->y, CUDA_R_32F,
                                algorithm, with->scratch.data()),
        "cusparseSpMV_preprocess");
  return [with, algorithm] {
    check(cusparseSpMV(handle(), as_is, &one, with->a, with->x, &zero, with->y, CUDA_R_32F,
                       algorithm, with->scratch.data()),
          "cusparseSpMV");
  };
}

std::function<void()> spmm_op_max(const csr& a, const void* b, void* c, int features) {
  static const std::string add =
      compile_to_lto("__device__ float add_op(float x, float y) { return fmaxf(x, y); }");
  static const std::string multiply =
      compile_to_lto("__device__ float mul_op(float, float b) { return b; }");
  static const std::string epilogue =
      compile_to_lto("__device__ float epilogue(float sum, float) { return sum; }");
  auto with = std::make_shared<call>(a, b, c, features);
  std::size_t bytes = 0;
  check(cusparseSpMMOp_createPlan(handle(), &with->plan, as_is, as_is, with->a, with->b, with->c,
                                  CUDA_R_32F, CUSPARSE_SPMM_OP_ALG_DEFAULT, add.data(), add.size(),
                                  multiply.data(), multiply.size(), epilogue.data(),
                                  epilogue.size(), &bytes),
        "cusparseSpMMOp_createPlan");
  with->scratch = workspace(bytes);
  return [with] { check(cusparseSpMMOp(with->plan, with->scratch.data()), "cusparseSpMMOp"); };
}

/// A peer that has run once, or its error.
peer attempt(std::string name, const std::function<std::function<void()>()>& make) {
  peer out{std::move(name), {}, {}};
  try {
    out.run = make();
    out.run();
    synchronise();
  } catch (const std::exception& wrong) {
    out.run = {};
    out.error = wrong.what();
  }
  return out;
}

}  // namespace

std::string cusparse_name() {
  int number = 0;
  check(cusparseGetVersion(handle(), &number), "cusparseGetVersion");
  return "cuSPARSE " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 100) +
         "." + std::to_string(number % 100);
}

csr csr_of(const rig::matrix<float>& a) {
  const rig::pattern& s = a.structure();
  return {a.rows(),    a.columns(), s.nnz(),    s.wide(),
          s.offsets(), s.entries(), a.values(), rig::type::float32};
}

std::vector<peer> spmm_peers(const std::string& prefix, const csr& a, const void* b, void* c,
                             int features) {
  constexpr std::pair<const char*, cusparseSpMMAlg_t> algorithms[] = {
      {"default", CUSPARSE_SPMM_ALG_DEFAULT},
      {"alg1", CUSPARSE_SPMM_CSR_ALG1},
      {"alg2", CUSPARSE_SPMM_CSR_ALG2},
      {"alg3", CUSPARSE_SPMM_CSR_ALG3}};
  std::vector<peer> out;
  for (const auto& [name, algorithm] : algorithms)
    out.push_back(
        attempt(prefix + name, [&, how = algorithm] { return spmm(a, b, c, features, how); }));
  return out;
}

std::vector<peer> spmv_peers(const csr& a, const void* b, void* c) {
  constexpr std::pair<const char*, cusparseSpMVAlg_t> algorithms[] = {
      {"default", CUSPARSE_SPMV_ALG_DEFAULT},
      {"alg1", CUSPARSE_SPMV_CSR_ALG1},
      {"alg2", CUSPARSE_SPMV_CSR_ALG2}};
  std::vector<peer> out;
  for (const auto& [name, algorithm] : algorithms)
    out.push_back(attempt(std::string("cusparse_spmv_") + name,
                          [&, how = algorithm] { return spmv(a, b, c, how); }));
  return out;
}

peer max_peer(const csr& a, const void* b, void* c, int features) {
  return attempt("cusparse_spmm_op", [&] { return spmm_op_max(a, b, c, features); });
}

}  // namespace bench::gpu
