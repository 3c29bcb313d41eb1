#include "onemkl.hpp"

#ifdef RIG_HAS_ONEMKL
#include <mkl_service.h>
#include <mkl_spblas.h>
#endif

namespace bench::onemkl {

#ifdef RIG_HAS_ONEMKL
/// On other makers' processors oneMKL takes its SSE2 code, which is up to ten times slower than its
/// AVX2 code. So that the peer is as fast as it can be, it takes AVX2 code where there is AVX2.
extern "C" int __real_mkl_serv_cpu_detect();
extern "C" int __wrap_mkl_serv_cpu_detect() {
  constexpr int avx2_code = 5;
  static const bool is_underrated = !__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2");
  return is_underrated ? avx2_code : __real_mkl_serv_cpu_detect();
}

namespace {

void expect(sparse_status_t status, const char* what) {
  if (status != SPARSE_STATUS_SUCCESS)
    rig::fail(rig::errc::cannot, {"oneMKL: ", what, " returned status ", static_cast<int>(status)});
}

sparse_status_t create(sparse_matrix_t* to, const rig::pattern& s, float* values) {
  auto* const offsets = static_cast<int*>(const_cast<void*>(s.offsets()));
  return mkl_sparse_s_create_csr(to, SPARSE_INDEX_BASE_ZERO, s.rows(), s.columns(), offsets,
                                 offsets + 1, const_cast<rig::index*>(s.column_indices()), values);
}
sparse_status_t create(sparse_matrix_t* to, const rig::pattern& s, double* values) {
  auto* const offsets = static_cast<int*>(const_cast<void*>(s.offsets()));
  return mkl_sparse_d_create_csr(to, SPARSE_INDEX_BASE_ZERO, s.rows(), s.columns(), offsets,
                                 offsets + 1, const_cast<rig::index*>(s.column_indices()), values);
}

/// A sparse_matrix_t that is destroyed with its scope.
class handle {
 public:
  handle() = default;
  handle(const handle&) = delete;
  ~handle() { reset(); }
  void reset() {
    if (handle_ != nullptr) mkl_sparse_destroy(handle_);
    handle_ = nullptr;
  }
  sparse_matrix_t* address() { return &handle_; }
  operator sparse_matrix_t() const { return handle_; }

 private:
  sparse_matrix_t handle_ = nullptr;
};

constexpr auto as_it_is = SPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto by_row = SPARSE_LAYOUT_ROW_MAJOR;
constexpr matrix_descr general{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                               SPARSE_DIAG_NON_UNIT};
constexpr int many_calls = 1000;

template <class T>
void open(handle& to, const rig::matrix<T>& a) {
  if (a.structure().offsets_64())
    rig::fail(rig::errc::cannot, {"oneMKL: A has 64-bit offsets, and 32-bit ones are measured"});
  expect(create(to.address(), a.structure(), const_cast<T*>(a.values())), "create_csr");
}

}  // namespace

std::string name() {
  MKLVersion version;
  mkl_get_version(&version);
  return "oneMKL " + std::to_string(version.MajorVersion) + "." +
         std::to_string(version.MinorVersion) + "." + std::to_string(version.UpdateVersion);
}

template <class T>
struct product<T>::state {
  handle a;
  rig::matrix<T> kept;
  rig::dense<T> b, c;
  int threads;
};

template <class T>
product<T>::product(const rig::matrix<T>& a, const rig::dense<T>& b, int threads)
    : state_(new state{{}, a, b, rig::dense<T>(a.rows(), b.columns()), threads}) {
  open(state_->a, a);
  mkl_set_num_threads(threads);
  if (b.columns() == 1)
    expect(mkl_sparse_set_mv_hint(state_->a, as_it_is, general, many_calls), "set_mv_hint");
  else
    expect(mkl_sparse_set_mm_hint(state_->a, as_it_is, general, by_row, b.columns(), many_calls),
           "set_mm_hint");
  expect(mkl_sparse_optimize(state_->a), "optimize");
}

template <class T>
product<T>::~product() = default;

template <class T>
void product<T>::run() {
  const state& s = *state_;
  const T* const b = s.b.data();
  T* const c = state_->c.data();
  const int f = s.b.columns();
  mkl_set_num_threads(s.threads);
  if constexpr (sizeof(T) == sizeof(float)) {
    if (f == 1) return expect(mkl_sparse_s_mv(as_it_is, 1, s.a, general, b, 0, c), "s_mv");
    expect(mkl_sparse_s_mm(as_it_is, 1, s.a, general, by_row, b, f, f, 0, c, f), "s_mm");
  } else {
    if (f == 1) return expect(mkl_sparse_d_mv(as_it_is, 1, s.a, general, b, 0, c), "d_mv");
    expect(mkl_sparse_d_mm(as_it_is, 1, s.a, general, by_row, b, f, f, 0, c, f), "d_mm");
  }
}

template <class T>
const rig::dense<T>& product<T>::result() const {
  return state_->c;
}

struct sparse_product::state {
  handle a, c;
  rig::matrix<float> kept;
  int threads;
};

sparse_product::sparse_product(const rig::matrix<float>& a, int threads)
    : state_(new state{{}, {}, a, threads}) {
  open(state_->a, a);
}
sparse_product::~sparse_product() = default;

void sparse_product::run() {
  mkl_set_num_threads(state_->threads);
  state_->c.reset();
  expect(mkl_sparse_spmm(as_it_is, state_->a, state_->a, state_->c.address()), "spmm");
}

rig::int64 sparse_product::nnz() const {
  sparse_index_base_t base;
  int rows, columns, *begin, *end, *entries;
  float* values;
  expect(
      mkl_sparse_s_export_csr(state_->c, &base, &rows, &columns, &begin, &end, &entries, &values),
      "export_csr");
  return rows == 0 ? 0 : end[rows - 1];
}

#else

namespace {
[[noreturn]] void absent() {
  rig::fail(rig::errc::cannot, {"oneMKL: the benchmark was built without it"});
}
}  // namespace

std::string name() { return ""; }

template <class T>
struct product<T>::state {};
template <class T>
product<T>::product(const rig::matrix<T>&, const rig::dense<T>&, int) {
  absent();
}
template <class T>
product<T>::~product() = default;
template <class T>
void product<T>::run() {
  absent();
}
template <class T>
const rig::dense<T>& product<T>::result() const {
  absent();
}

struct sparse_product::state {};
sparse_product::sparse_product(const rig::matrix<float>&, int) { absent(); }
sparse_product::~sparse_product() = default;
void sparse_product::run() { absent(); }
rig::int64 sparse_product::nnz() const { absent(); }

#endif

template class product<float>;
template class product<double>;

}  // namespace bench::onemkl
