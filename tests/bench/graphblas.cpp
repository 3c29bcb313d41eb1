#include <algorithm>
#include <cstdlib>
#include <string>

#include "graphblas_c.hpp"

namespace bench::graphblas {
namespace {

/// Memory that GraphBLAS takes over and frees. It lies in huge pages like rig's, so that both have
/// the same TLB misses.
template <class T>
T* given_away(GrB_Index count) {
  constexpr std::size_t huge_page = 2u << 20;
  const std::size_t bytes = (count * sizeof(T) / huge_page + 1) * huge_page;
  void* const data = std::aligned_alloc(huge_page, bytes);
  if (data == nullptr) throw std::bad_alloc();
  madvise(data, bytes, MADV_HUGEPAGE);
  return static_cast<T*>(data);
}

}  // namespace

matrix_handle sparse(const rig::matrix<float>& a, bool by_row, bool with_values) {
  const rig::pattern& s = a.structure();
  const auto rows = count_of(s.rows()), nnz = count_of(s.nnz());
  auto* offsets = given_away<GrB_Index>(rows + 1);
  auto* columns = given_away<GrB_Index>(nnz);
  const auto stored = with_values ? nnz : 1;
  auto* values = given_away<float>(stored);
  for (rig::index i = 0; i <= s.rows(); ++i) offsets[i] = count_of(s.offset(i));
  for (GrB_Index p = 0; p < nnz; ++p) columns[p] = count_of(s.column_indices()[p]);
  for (GrB_Index p = 0; p < stored; ++p) values[p] = a.value(static_cast<rig::int64>(p));
  matrix_handle made = new_matrix(GrB_FP32, s.rows(), s.columns());
  CHECKED(GxB_Matrix_pack_CSR(made.get(), &offsets, &columns, reinterpret_cast<void**>(&values),
                              (rows + 1) * sizeof(GrB_Index), nnz * sizeof(GrB_Index),
                              stored * sizeof(float), !with_values, false, nullptr));
  if (by_row) return made;
  CHECKED(GxB_Matrix_Option_set(made.get(), GxB_FORMAT, GxB_BY_COL));
  CHECKED(GrB_Matrix_wait(made.get(), GrB_MATERIALIZE));
  return made;
}

namespace {

matrix_handle full(const rig::dense<float>& b, bool by_row) {
  const auto count = count_of(b.rows()) * count_of(b.columns());
  auto* values = given_away<float>(count);
  for (rig::index i = 0; i < b.rows(); ++i)
    for (rig::index j = 0; j < b.columns(); ++j)
      values[by_row ? rig::int64{i} * b.columns() + j : rig::int64{j} * b.rows() + i] = b(i, j);
  matrix_handle made = new_matrix(GrB_FP32, b.rows(), b.columns());
  const auto pack = by_row ? GxB_Matrix_pack_FullR : GxB_Matrix_pack_FullC;
  CHECKED(
      pack(made.get(), reinterpret_cast<void**>(&values), count * sizeof(float), false, nullptr));
  return made;
}

/// A structural mask, a method, and whether the second operand is transposed.
descriptor_handle structural(GrB_Desc_Value method, bool second_transposed) {
  GrB_Descriptor made = nullptr;
  CHECKED(GrB_Descriptor_new(&made));
  descriptor_handle out(made);
  CHECKED(GrB_Descriptor_set(made, GrB_MASK, GrB_STRUCTURE));
  CHECKED(GxB_Desc_set(made, GxB_AxB_METHOD, method));
  if (second_transposed) CHECKED(GrB_Descriptor_set(made, GrB_INP1, GrB_TRAN));
  return out;
}

}  // namespace

matrix_handle transposed(const matrix_handle& a, rig::index rows, rig::index columns) {
  matrix_handle out = new_matrix(GrB_FP32, columns, rows);
  CHECKED(GrB_transpose(out.get(), nullptr, nullptr, a.get(), nullptr));
  CHECKED(GrB_Matrix_wait(out.get(), GrB_MATERIALIZE));
  return out;
}

namespace {

/// The parts that differ between the types.
template <class T>
struct typed;
template <>
struct typed<float> {
  static GrB_Type type() { return GrB_FP32; }
  static GrB_Semiring plus_second() { return GxB_PLUS_SECOND_FP32; }
  static GrB_Monoid sum() { return GrB_PLUS_MONOID_FP32; }
  static GrB_BinaryOp plus() { return GrB_PLUS_FP32; }
  static GrB_BinaryOp minus() { return GrB_MINUS_FP32; }
  static GrB_BinaryOp divide() { return GrB_DIV_FP32; }
  static GrB_UnaryOp absolute() { return GrB_ABS_FP32; }
  static constexpr auto set = GrB_Vector_setElement_FP32;
  static constexpr auto get = GrB_Vector_extractElement_FP32;
  static constexpr auto assign = GrB_Vector_assign_FP32;
  static constexpr auto reduce = GrB_Vector_reduce_FP32;
};
template <>
struct typed<double> {
  static GrB_Type type() { return GrB_FP64; }
  static GrB_Semiring plus_second() { return GxB_PLUS_SECOND_FP64; }
  static GrB_Monoid sum() { return GrB_PLUS_MONOID_FP64; }
  static GrB_BinaryOp plus() { return GrB_PLUS_FP64; }
  static GrB_BinaryOp minus() { return GrB_MINUS_FP64; }
  static GrB_BinaryOp divide() { return GrB_DIV_FP64; }
  static GrB_UnaryOp absolute() { return GrB_ABS_FP64; }
  static constexpr auto set = GrB_Vector_setElement_FP64;
  static constexpr auto get = GrB_Vector_extractElement_FP64;
  static constexpr auto assign = GrB_Vector_assign_FP64;
  static constexpr auto reduce = GrB_Vector_reduce_FP64;
};

}  // namespace

void start(int threads) {
  static const GrB_Info started = GrB_init(GrB_NONBLOCKING);
  check(started, "GrB_init");
  static const int registered = std::atexit([] { GrB_finalize(); });
  static_cast<void>(registered);
  CHECKED(GxB_Global_Option_set_INT32(GxB_GLOBAL_NTHREADS, threads));
}

int threads() {
  int out = 1;
  CHECKED(GxB_Global_Option_get_INT32(GxB_GLOBAL_NTHREADS, &out));
  return out;
}

std::string name() {
  int parts[3] = {};
  CHECKED(GxB_Global_Option_get_INT32(GxB_LIBRARY_VERSION, parts));
  return "SuiteSparse:GraphBLAS " + std::to_string(parts[0]) + "." + std::to_string(parts[1]) +
         "." + std::to_string(parts[2]);
}

struct product::state {
  form how;
  algebra over;
  matrix_handle a, b, c;

  bool is_sum() const { return over == algebra::plus_times; }
  float zero() const { return is_sum() ? 0 : rig::lowest<float>(); }
};

product::product(const rig::matrix<float>& a, const rig::dense<float>& b, form how, algebra over)
    : state_(std::make_unique<state>()) {
  const bool dense_by_row = how == form::rows || how == form::fresh;
  state_->how = how;
  state_->over = over;
  state_->a = sparse(a, how != form::columns, a.values() != nullptr);
  state_->b = full(b, dense_by_row);
  if (how != form::fresh) state_->c = full(rig::dense<float>(a.rows(), b.columns()), dense_by_row);
}
product::~product() = default;

void product::run() {
  state& my = *state_;
  GrB_BinaryOp accumulate = my.is_sum() ? GrB_PLUS_FP32 : GrB_MAX_FP32;
  if (my.how == form::fresh) {
    GrB_Index rows = 0, columns = 0;
    CHECKED(GrB_Matrix_nrows(&rows, my.a.get()));
    CHECKED(GrB_Matrix_ncols(&columns, my.b.get()));
    my.c = new_matrix(GrB_FP32, static_cast<rig::index>(rows), static_cast<rig::index>(columns));
    accumulate = nullptr;
  }
  CHECKED(GrB_mxm(my.c.get(), nullptr, accumulate,
                  my.is_sum() ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_MAX_SECOND_SEMIRING_FP32,
                  my.a.get(), my.b.get(), nullptr));
  CHECKED(GrB_Matrix_wait(my.c.get(), GrB_MATERIALIZE));
}

rig::dense<float> product::result() {
  GrB_Index rows = 0, columns = 0, found = 0;
  if (state_->c != nullptr) {
    GrB_Matrix const c = state_->c.get();
    CHECKED(GrB_Matrix_nrows(&rows, c));
    CHECKED(GrB_Matrix_ncols(&columns, c));
    CHECKED(GrB_Matrix_assign_FP32(c, nullptr, nullptr, state_->zero(), GrB_ALL, rows, GrB_ALL,
                                   columns, nullptr));
  }
  run();
  GrB_Matrix const c = state_->c.get();
  CHECKED(GrB_Matrix_nrows(&rows, c));
  CHECKED(GrB_Matrix_ncols(&columns, c));
  CHECKED(GrB_Matrix_nvals(&found, c));
  std::vector<GrB_Index> i(found), j(found);
  std::vector<float> x(found);
  CHECKED(GrB_Matrix_extractTuples_FP32(i.data(), j.data(), x.data(), &found, c));
  rig::dense<float> out(static_cast<rig::index>(rows), static_cast<rig::index>(columns),
                        state_->zero());
  for (GrB_Index p = 0; p < found; ++p)
    out(static_cast<rig::index>(i[p]), static_cast<rig::index>(j[p])) = x[p];
  return out;
}

struct sparse_product::state {
  rig::index rows = 0, columns = 0;
  descriptor_handle how;
  matrix_handle a, b, mask, c;
};

sparse_product::sparse_product(const rig::matrix<float>& a, const rig::matrix<float>& b,
                               const rig::matrix<float>* mask, sparse_form how)
    : state_(std::make_unique<state>()) {
  constexpr GrB_Desc_Value methods[] = {GxB_DEFAULT, GxB_AxB_GUSTAVSON, GxB_AxB_HASH, GxB_AxB_DOT};
  const bool is_dot = how == sparse_form::dot;
  state& my = *state_;
  my.rows = a.rows();
  my.columns = b.columns();
  my.how = structural(methods[static_cast<int>(how)], is_dot);
  my.a = sparse(a, true);
  my.b = sparse(b, true);
  if (is_dot) my.b = transposed(my.b, b.rows(), b.columns());
  if (mask != nullptr) my.mask = sparse(*mask, true, false);
}
sparse_product::~sparse_product() = default;

void sparse_product::run() {
  state& my = *state_;
  my.c = new_matrix(GrB_FP32, my.rows, my.columns);
  CHECKED(GrB_mxm(my.c.get(), my.mask.get(), nullptr, GrB_PLUS_TIMES_SEMIRING_FP32, my.a.get(),
                  my.b.get(), my.how.get()));
  CHECKED(GrB_Matrix_wait(my.c.get(), GrB_MATERIALIZE));
}

rig::int64 sparse_product::nnz() const {
  GrB_Index found = 0;
  CHECKED(GrB_Matrix_nvals(&found, state_->c.get()));
  return static_cast<rig::int64>(found);
}

double sparse_product::sum() const {
  double out = 0;
  CHECKED(GrB_Matrix_reduce_FP64(&out, nullptr, GrB_PLUS_MONOID_FP64, state_->c.get(), nullptr));
  return out;
}

struct triangles::state {
  rig::index n = 0;
  rig::int64 count = 0;
  descriptor_handle how;
  matrix_handle left, right;  ///< left is the mask too
  bool is_square = false;     ///< the product is left·left or left·leftᵀ
};

triangles::triangles(const rig::matrix<float>& lower, const rig::matrix<float>& upper,
                     triangle_form how)
    : state_(std::make_unique<state>()) {
  state& my = *state_;
  const bool is_saxpy = how == triangle_form::lower_saxpy;
  my.n = lower.rows();
  my.how = structural(is_saxpy ? GxB_AxB_SAXPY : GxB_AxB_DOT, !is_saxpy);
  my.left = sparse(how == triangle_form::upper_lower ? upper : lower, true, false);
  my.is_square = is_saxpy || how == triangle_form::lower_dot;
  if (!my.is_square)
    my.right = sparse(how == triangle_form::upper_lower ? lower : upper, true, false);
}
triangles::~triangles() = default;

void triangles::run() {
  state& my = *state_;
  GrB_Matrix const left = my.left.get();
  const matrix_handle c = new_matrix(GrB_INT64, my.n, my.n);
  CHECKED(GrB_mxm(c.get(), left, nullptr, GxB_PLUS_PAIR_INT64, left,
                  my.is_square ? left : my.right.get(), my.how.get()));
  CHECKED(GrB_Matrix_reduce_INT64(&my.count, nullptr, GrB_PLUS_MONOID_INT64, c.get(), nullptr));
}

rig::int64 triangles::count() const { return state_->count; }

template <class T>
struct pagerank<T>::state {
  rig::index n = 0;
  double damping = 0;
  int iterations = 0;
  bool has_sinks = false;
  matrix_handle incoming;  ///< the transposed graph, by row
  vector_handle out_degree, sinks, rank, before, sent, rank_of_sinks;
};

template <class T>
pagerank<T>::pagerank(const rig::matrix<float>& graph, double damping, int iterations)
    : state_(std::make_unique<state>()) {
  state& my = *state_;
  my.n = graph.rows();
  my.damping = damping;
  my.iterations = iterations;
  const matrix_handle outgoing = sparse(graph, true, false);
  my.incoming = transposed(outgoing, my.n, my.n);
  my.sinks = new_vector(GrB_BOOL, my.n);
  for (vector_handle* made : {&my.out_degree, &my.rank, &my.before, &my.sent, &my.rank_of_sinks})
    *made = new_vector(typed<T>::type(), my.n);
  // LAGraph's "prescaled" degrees: d = max(1, degree) / damping.
  for (rig::index i = 0; i < my.n; ++i) {
    const auto degree = graph.structure().offset(i + 1) - graph.structure().offset(i);
    my.has_sinks |= degree == 0;
    if (degree == 0) CHECKED(GrB_Vector_setElement_BOOL(my.sinks.get(), true, count_of(i)));
    CHECKED(typed<T>::set(
        my.out_degree.get(),
        static_cast<T>(static_cast<double>(std::max(degree, rig::int64{1})) / damping),
        count_of(i)));
  }
  CHECKED(GrB_Vector_wait(my.sinks.get(), GrB_MATERIALIZE));
  CHECKED(GrB_Vector_wait(my.out_degree.get(), GrB_MATERIALIZE));
}
template <class T>
pagerank<T>::~pagerank() = default;

template <class T>
void pagerank<T>::run() {
  using of = typed<T>;
  state& my = *state_;
  const GrB_Index n = count_of(my.n);
  const T teleport = static_cast<T>((1 - my.damping) / my.n);
  CHECKED(
      of::assign(my.rank.get(), nullptr, nullptr, static_cast<T>(1.0 / my.n), GrB_ALL, n, nullptr));
  for (int k = 0; k < my.iterations; ++k) {
    T base = teleport, change = 0;
    if (my.has_sinks) {
      GrB_Vector const r = my.rank_of_sinks.get();
      T held = 0;
      CHECKED(GrB_Vector_clear(r));
      CHECKED(GrB_Vector_assign(r, my.sinks.get(), nullptr, my.rank.get(), GrB_ALL, n, GrB_DESC_S));
      CHECKED(of::reduce(&held, nullptr, of::sum(), r, nullptr));
      base += static_cast<T>(my.damping / my.n) * held;
    }
    std::swap(my.before, my.rank);
    GrB_Vector const rank = my.rank.get(), before = my.before.get(), sent = my.sent.get();
    CHECKED(GrB_Vector_eWiseMult_BinaryOp(sent, nullptr, nullptr, of::divide(), before,
                                          my.out_degree.get(), nullptr));
    CHECKED(of::assign(rank, nullptr, nullptr, base, GrB_ALL, n, nullptr));
    CHECKED(
        GrB_mxv(rank, nullptr, of::plus(), of::plus_second(), my.incoming.get(), sent, nullptr));
    CHECKED(GrB_Vector_assign(before, nullptr, of::minus(), rank, GrB_ALL, n, nullptr));
    CHECKED(GrB_Vector_apply(before, nullptr, nullptr, of::absolute(), before, nullptr));
    CHECKED(of::reduce(&change, nullptr, of::sum(), before, nullptr));
  }
}

template <class T>
std::vector<T> pagerank<T>::ranks() const {
  std::vector<T> out(static_cast<std::size_t>(state_->n));
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECKED(typed<T>::get(&out[i], state_->rank.get(), static_cast<GrB_Index>(i)));
  return out;
}

template class pagerank<float>;
template class pagerank<double>;

}  // namespace bench::graphblas
