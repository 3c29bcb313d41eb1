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
  static const auto& kept = *new const rig::on_cuda::cusparse_handle(rig::cuda().device);
  check(cusparseSetStream(kept, stream()), "cusparseSetStream");
  return kept;
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
                           cusparseSpMMAlg_t algorithm, bool prepares) {
  const auto with = std::make_shared<rig::on_cuda::cusparse_spmm>(
      a, packed(a, b, a.columns, features), packed(a, c, a.rows, features), algorithm, false,
      stream());
  if (prepares) with->prepare();
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

/// One product by cusparseSpGEMM. Its destructor frees what its steps allocate.
class spgemm {
 public:
  spgemm(const cusparse_csr& a, const cusparse_csr& b, rig::index rows, rig::index columns,
         cusparseSpGEMMAlg_t algorithm)
      : a_(a), b_(b), algorithm_(algorithm) {
    offsets_ = workspace((static_cast<std::size_t>(rows) + 1) * sizeof(rig::int32));
    check(cusparseCreateCsr(&c_, rows, columns, 0, offsets_.data(), nullptr, nullptr,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            CUDA_R_32F),
          "cusparseCreateCsr");
    check(cusparseSpGEMM_createDescr(&steps_), "cusparseSpGEMM_createDescr");
  }
  spgemm(const spgemm&) = delete;
  ~spgemm() {
    if (steps_ != nullptr) cusparseSpGEMM_destroyDescr(steps_);
    if (c_ != nullptr) cusparseDestroySpMat(c_);
  }

  /// Returns the entries of the product.
  rig::int64 run() {
    analyse();
    multiply();
    std::int64_t rows = 0, columns = 0, nnz = 0;
    check(cusparseSpMatGetSize(c_, &rows, &columns, &nnz), "cusparseSpMatGetSize");
    const auto count = static_cast<std::size_t>(nnz);
    entries_ = workspace(count * sizeof(rig::index));
    values_ = workspace(count * sizeof(float));
    check(cusparseCsrSetPointers(c_, offsets_.data(), entries_.data(), values_.data()),
          "cusparseCsrSetPointers");
    check(cusparseSpGEMM_copy(handle(), as_is, as_is, &one, a_.is, b_.is, &zero, c_, CUDA_R_32F,
                              algorithm_, steps_),
          "cusparseSpGEMM_copy");
    return nnz;
  }

 private:
  void analyse() {
    std::size_t bytes = 0;
    const auto step = [&](void* scratch) {
      check(cusparseSpGEMM_workEstimation(handle(), as_is, as_is, &one, a_.is, b_.is, &zero, c_,
                                          CUDA_R_32F, algorithm_, steps_, &bytes, scratch),
            "cusparseSpGEMM_workEstimation");
    };
    step(nullptr);
    analysis_ = workspace(bytes);
    step(analysis_.data());
  }

  void multiply() {
    // Algorithms 2 and 3 estimate their workspace; the others return its size.
    const bool estimates = algorithm_ == CUSPARSE_SPGEMM_ALG2 || algorithm_ == CUSPARSE_SPGEMM_ALG3;
    std::size_t bytes = estimates ? estimated_bytes() : 0;
    const auto step = [&](void* scratch) {
      check(cusparseSpGEMM_compute(handle(), as_is, as_is, &one, a_.is, b_.is, &zero, c_,
                                   CUDA_R_32F, algorithm_, steps_, &bytes, scratch),
            "cusparseSpGEMM_compute");
    };
    if (!estimates) step(nullptr);
    scratch_ = workspace(bytes);
    step(scratch_.data());
  }

  std::size_t estimated_bytes() {
    constexpr float share = 0.2f;  // of the products per chunk of algorithm 3, as NVIDIA's sample
    std::size_t own_bytes = 0, bytes = 0;
    const auto step = [&](void* scratch, std::size_t* estimate) {
      check(cusparseSpGEMM_estimateMemory(handle(), as_is, as_is, &one, a_.is, b_.is, &zero, c_,
                                          CUDA_R_32F, algorithm_, steps_, share, &own_bytes,
                                          scratch, estimate),
            "cusparseSpGEMM_estimateMemory");
    };
    step(nullptr, nullptr);
    const rig::buffer own = workspace(own_bytes);
    step(own.data(), &bytes);
    return bytes;
  }

  const cusparse_csr &a_, &b_;
  cusparseSpGEMMAlg_t algorithm_;
  cusparseSpMatDescr_t c_ = nullptr;
  cusparseSpGEMMDescr_t steps_ = nullptr;
  rig::buffer offsets_, entries_, values_, analysis_, scratch_;
};

/// A peer that has run once, or its error.
peer attempt(std::string name, const std::function<std::function<void()>()>& make) {
  peer out{std::move(name), {}, {}};
  try {
    out.run = make();
    out.run();
    synchronise();
  } catch (const std::exception& wrong) {
    cudaGetLastError();  // otherwise the next call of rig would report it
    out.run = {};
    out.error = wrong.what();
  }
  return out;
}

}  // namespace

std::string cusparse_name() {
  // Not by cusparseGetVersion, whose number is ambiguous from minor version 10 on.
  return with_version("cuSPARSE", [](libraryPropertyType part, int* number) {
    check(cusparseGetProperty(part, number), "cusparseGetProperty");
  });
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
    for (const bool prepares : {true, false})
      out.push_back(attempt(prefix + name + (prepares ? "" : "_unprepared"), [&, how = algorithm] {
        return spmm(a, b, c, features, how, prepares);
      }));
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

std::vector<sparse_peer> spgemm_peers(const rig::sparse_operand& a, const rig::sparse_operand& b) {
  constexpr std::pair<const char*, cusparseSpGEMMAlg_t> algorithms[] = {
      {"default", CUSPARSE_SPGEMM_DEFAULT},
      {"alg1", CUSPARSE_SPGEMM_ALG1},
      {"alg2", CUSPARSE_SPGEMM_ALG2},
      {"alg3", CUSPARSE_SPGEMM_ALG3}};
  const auto left = std::make_shared<const cusparse_csr>(a);
  const auto right = std::make_shared<const cusparse_csr>(b);
  std::vector<sparse_peer> out;
  for (const auto& [name, algorithm] : algorithms) {
    const auto nnz = std::make_shared<rig::int64>(0);
    const auto run = [=, rows = a.rows, columns = b.columns, how = algorithm] {
      *nnz = spgemm(*left, *right, rows, columns, how).run();
      synchronise();
    };
    out.push_back({attempt(std::string("cusparse_spgemm_") + name, [&] { return run; }), nnz});
  }
  return out;
}

peer max_peer(const rig::sparse_operand& a, const void* b, void* c, int features) {
  return attempt("cusparse_spmm_op", [&] { return spmm_op_max(a, b, c, features); });
}

}  // namespace bench::gpu
