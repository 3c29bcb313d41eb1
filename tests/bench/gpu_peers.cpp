// cuSPARSE as a peer: descriptors, workspaces and plans live as long as the call that uses them.

#include "gpu_peers.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "cuda/vendor/cusparse.hpp"
#include "gpu.hpp"

namespace bench::gpu {
namespace {

using rig::on_cuda::check;
using rig::on_cuda::cusparse_csr;
using rig::on_cuda::cusparse_dense;

constexpr cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float one = 1, zero = 0;

cusparseHandle_t handle() {
  cusparseHandle_t const of_thread = rig::on_cuda::cusparse_handle(rig::cuda().device);
  check(cusparseSetStream(of_thread, stream()), "cusparseSetStream");
  return of_thread;
}

/// Features packed by row, in A's element type.
rig::dense_operand packed(const rig::sparse_operand& a, const void* data, rig::index rows,
                          int features) {
  rig::dense_operand out;
  out.data = const_cast<void*>(data);
  out.rows = rows;
  out.columns = features;
  out.stride = features;
  out.value_bytes = a.value_bytes;
  out.value_type = a.value_type;
  out.where = a.where;
  return out;
}

/// The objects of one call of another function.
struct call {
  cusparse_csr a;
  std::optional<cusparse_dense> b, c;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  cusparseSpMMOpPlan_t plan = nullptr;
  rig::buffer scratch;

  explicit call(const rig::sparse_operand& of) : a(of) {}
  call(const call&) = delete;
  ~call() {
    if (plan != nullptr) cusparseSpMMOp_destroyPlan(plan);
    if (x != nullptr) cusparseDestroyDnVec(x);
    if (y != nullptr) cusparseDestroyDnVec(y);
  }
};

/// Never null, because some functions refuse a null pointer even for a workspace of no bytes.
rig::buffer workspace(std::size_t bytes) {
  return rig::buffer::allocate(std::max<std::size_t>(bytes, 64), rig::cuda());
}

std::function<void()> spmm(const rig::sparse_operand& a, const void* b, void* c, int features,
                           cusparseSpMMAlg_t algorithm) {
  const auto with = std::make_shared<rig::on_cuda::cusparse_spmm>(
      a, packed(a, b, a.columns, features), packed(a, c, a.rows, features), algorithm, false,
      stream());
  with->prepare();
  return [with] { with->run(); };
}

std::function<void()> spmv(const rig::sparse_operand& a, const void* b, void* c,
                           cusparseSpMVAlg_t algorithm) {
  auto with = std::make_shared<call>(a);
  check(cusparseCreateDnVec(&with->x, a.columns, const_cast<void*>(b), CUDA_R_32F),
        "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&with->y, a.rows, c, CUDA_R_32F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(handle(), as_is, &one, with->a.is, with->x, &zero, with->y,
                                CUDA_R_32F, algorithm, &bytes),
        "cusparseSpMV_bufferSize");
  with->scratch = workspace(bytes);
  check(cusparseSpMV_preprocess(handle(), as_is, &one, with->a.is, with->x, &zero, with->y,
                                CUDA_R_32F, algorithm, with->scratch.data()),
        "cusparseSpMV_preprocess");
  return [with, algorithm] {
    check(cusparseSpMV(handle(), as_is, &one, with->a.is, with->x, &zero, with->y, CUDA_R_32F,
                       algorithm, with->scratch.data()),
          "cusparseSpMV");
  };
}

std::function<void()> spmm_op_max(const rig::sparse_operand& a, const void* b, void* c,
                                  int features) {
  static const std::string add =
      compile_to_lto("__device__ float add_op(float x, float y) { return fmaxf(x, y); }");
  static const std::string multiply =
      compile_to_lto("__device__ float mul_op(float, float b) { return b; }");
  static const std::string epilogue =
      compile_to_lto("__device__ float epilogue(float sum, float) { return sum; }");
  auto with = std::make_shared<call>(a);
  with->b.emplace(packed(a, b, a.columns, features));
  with->c.emplace(packed(a, c, a.rows, features));
  std::size_t bytes = 0;
  check(cusparseSpMMOp_createPlan(handle(), &with->plan, as_is, as_is, with->a.is, with->b->is,
                                  with->c->is, CUDA_R_32F, CUSPARSE_SPMM_OP_ALG_DEFAULT, add.data(),
                                  add.size(), multiply.data(), multiply.size(), epilogue.data(),
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

rig::sparse_operand csr_of(const rig::matrix<float>& a) {
  rig::sparse_operand out;
  fill_in(out, a);
  return out;
}

std::vector<peer> spmm_peers(const std::string& prefix, const rig::sparse_operand& a, const void* b,
                             void* c, int features) {
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

std::vector<peer> spmv_peers(const rig::sparse_operand& a, const void* b, void* c) {
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

peer max_peer(const rig::sparse_operand& a, const void* b, void* c, int features) {
  return attempt("cusparse_spmm_op", [&] { return spmm_op_max(a, b, c, features); });
}

}  // namespace bench::gpu
