#include "cuda/vendor/cusparse.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/runtime/runtime.hpp"
#include "cuda/runtime/shared_library.hpp"

namespace rig::on_cuda {

const shared_library& cusparse_library() {
  static const auto& found =
      *new const shared_library(toolkit_names("libcusparse.so", CUSPARSE_VER_MAJOR));
  return found;
}

namespace {

struct functions {
  decltype(&cusparseGetErrorString) error_string;
  decltype(&cusparseCreate) create;
  decltype(&cusparseSetStream) set_stream;
  decltype(&cusparseCreateCsr) create_csr;
  decltype(&cusparseDestroySpMat) destroy_csr;
  decltype(&cusparseCreateDnMat) create_dense;
  decltype(&cusparseDestroyDnMat) destroy_dense;
  decltype(&cusparseSpMM_bufferSize) spmm_bytes;
  decltype(&cusparseSpMM_preprocess) spmm_prepare;
  decltype(&cusparseSpMM) spmm;
};

functions find_all() {
  functions out = {};
  const shared_library& library = cusparse_library();
  library.find("cusparseGetErrorString", out.error_string);
  library.find("cusparseCreate", out.create);
  library.find("cusparseSetStream", out.set_stream);
  library.find("cusparseCreateCsr", out.create_csr);
  library.find("cusparseDestroySpMat", out.destroy_csr);
  library.find("cusparseCreateDnMat", out.create_dense);
  library.find("cusparseDestroyDnMat", out.destroy_dense);
  library.find("cusparseSpMM_bufferSize", out.spmm_bytes);
  library.find("cusparseSpMM_preprocess", out.spmm_prepare);
  library.find("cusparseSpMM", out.spmm);
  return out;
}

const functions& call() {
  static const functions found = find_all();
  return found;
}

constexpr cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;

cudaDataType needed_type(type stored) {
  const std::optional<cudaDataType> found = cusparse_type(stored);
  if (!found) fail(errc::cannot, {"cuSPARSE does not multiply values of this type"});
  return *found;
}

}  // namespace

const char* no_cusparse_because() { return cusparse_library().why_absent(); }

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    fail(errc::device, {what, ": ", call().error_string(status)});
}

namespace {

/// Handles that no call has. Never destroyed, because a product may run while the process ends.
struct free_handles {
  std::mutex changing;
  std::map<int, std::vector<cusparseHandle_t>> of;
};
free_handles& handles() {
  static auto* const all = new free_handles;
  return *all;
}

}  // namespace

cusparse_handle::cusparse_handle(int device) : device_(device) {
  free_handles& all = handles();
  const std::lock_guard lock(all.changing);
  std::vector<cusparseHandle_t>& list = all.of[device];
  if (list.empty()) {
    list.reserve(list.capacity() + 1);  // so that the destructor allocates nothing
    check(call().create(&is_), "cusparseCreate");
  } else {
    is_ = list.back();
    list.pop_back();
  }
}

cusparse_handle::~cusparse_handle() {
  free_handles& all = handles();
  const std::lock_guard lock(all.changing);
  all.of[device_].push_back(is_);
}

std::optional<cudaDataType> cusparse_type(type stored) {
  switch (stored) {
    case type::float32:
      return CUDA_R_32F;
    case type::float64:
      return CUDA_R_64F;
    case type::half:
      return CUDA_R_16F;
    case type::bfloat16:
      return CUDA_R_16BF;
    default:
      return std::nullopt;
  }
}

cusparse_csr::cusparse_csr(const sparse_operand& a) {
  if (a.offsets_64)
    fail(errc::cannot, {"cuSPARSE takes 32-bit columns only with 32-bit offsets, but A has ", a.nnz,
                        " entries and 64-bit offsets"});
  check(call().create_csr(&is, a.rows, a.columns, a.nnz, const_cast<void*>(a.offsets),
                          const_cast<index*>(a.entries), const_cast<void*>(a.values),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          needed_type(a.value_type)),
        "cusparseCreateCsr");
}

cusparse_csr::~cusparse_csr() { call().destroy_csr(is); }

cusparse_dense::cusparse_dense(const dense_operand& b) {
  check(call().create_dense(&is, b.rows, b.columns, b.stride, b.data, needed_type(b.value_type),
                            CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
}

cusparse_dense::~cusparse_dense() { call().destroy_dense(is); }

cusparse_spmm::cusparse_spmm(const sparse_operand& a, const dense_operand& b,
                             const dense_operand& c, cusparseSpMMAlg_t algorithm, bool adds_to_c,
                             void* stream)
    : handle_(a.where.device),
      a_(a),
      b_(b),
      c_(c),
      algorithm_(algorithm),
      compute_(b.value_type == type::float64 ? CUDA_R_64F : CUDA_R_32F) {
  if (compute_ == CUDA_R_64F) {
    one_.in_double = 1;
    to_c_.in_double = adds_to_c ? 1 : 0;
  } else {
    one_.in_float = 1;
    to_c_.in_float = adds_to_c ? 1 : 0;
  }
  check(call().set_stream(handle_, static_cast<cudaStream_t>(stream)), "cusparseSetStream");
  std::size_t bytes = 0;
  check(call().spmm_bytes(handle_, as_is, as_is, &one_, a_.is, b_.is, &to_c_, c_.is, compute_,
                          algorithm_, &bytes),
        "cusparseSpMM_bufferSize");
  // Some functions refuse a null pointer even if they need no workspace.
  scratch_ = buffer::temporary(std::max<std::size_t>(bytes, 64), a.where, stream);
}

void cusparse_spmm::prepare() const {
  check(call().spmm_prepare(handle_, as_is, as_is, &one_, a_.is, b_.is, &to_c_, c_.is, compute_,
                            algorithm_, scratch_.data()),
        "cusparseSpMM_preprocess");
}

void cusparse_spmm::run() const {
  check(call().spmm(handle_, as_is, as_is, &one_, a_.is, b_.is, &to_c_, c_.is, compute_, algorithm_,
                    scratch_.data()),
        "cusparseSpMM");
}

}  // namespace rig::on_cuda
