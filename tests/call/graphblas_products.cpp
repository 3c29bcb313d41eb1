// SuiteSparse:GraphBLAS beside rig on random products with sparse results, by every kernel.

#include <string_view>
#include <vector>

#include "graphblas_cases.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace {

/// A semiring in both libraries, and the one of GraphBLAS with exchanged operands.
template <class S>
struct algebra;
#define ALGEBRA(SEMIRING, T, THEIRS, EXCHANGED)          \
  template <>                                            \
  struct algebra<rig::SEMIRING<T>> {                     \
    static GrB_Semiring theirs(bool exchanged = false) { \
      return exchanged ? GxB_##EXCHANGED : GxB_##THEIRS; \
    }                                                    \
  };
#define NUMBERS(T, NAME)                                         \
  ALGEBRA(plus_times, T, PLUS_TIMES_##NAME, PLUS_TIMES_##NAME)   \
  ALGEBRA(plus_first, T, PLUS_FIRST_##NAME, PLUS_SECOND_##NAME)  \
  ALGEBRA(plus_second, T, PLUS_SECOND_##NAME, PLUS_FIRST_##NAME) \
  ALGEBRA(plus_pair, T, PLUS_PAIR_##NAME, PLUS_PAIR_##NAME)      \
  ALGEBRA(min_plus, T, MIN_PLUS_##NAME, MIN_PLUS_##NAME)         \
  ALGEBRA(max_times, T, MAX_TIMES_##NAME, MAX_TIMES_##NAME)      \
  ALGEBRA(min_first, T, MIN_FIRST_##NAME, MIN_SECOND_##NAME)     \
  ALGEBRA(max_second, T, MAX_SECOND_##NAME, MAX_FIRST_##NAME)    \
  ALGEBRA(any_pair, T, ANY_PAIR_##NAME, ANY_PAIR_##NAME)
NUMBERS(int, INT32)
NUMBERS(long, INT64)
NUMBERS(float, FP32)
NUMBERS(double, FP64)
ALGEBRA(lor_land, bool, LOR_LAND_BOOL, LOR_LAND_BOOL)
ALGEBRA(any_pair, bool, ANY_PAIR_BOOL, ANY_PAIR_BOOL)

template <class A, class B, class S>
struct multiplies {
  const A& a;
  const B& b;
  FORMS(rig::mxm, a, b, S())
};

/// Products of two dense, which have a sparse result only under a mask.
template <class A, class S>
struct multiplies_dense {
  const A& a;
  const A& b;
  template <class R, class Mask>
  rig::matrix<R> fresh(const Mask& mask, const rig::descriptor& desc) const {
    return rig::mxm<R>(a, b, S(), mask, desc);
  }
  template <class R>
  rig::matrix<R> fresh(const rig::descriptor&) const {
    return {};
  }
  template <class R, class Mask>
  void into(rig::matrix<R>& c, rig::accumulator accum, const Mask& mask,
            const rig::descriptor& desc) const {
    rig::mxm(c, accum, a, b, S(), mask, desc);
  }
  template <class R>
  void into(rig::matrix<R>&, rig::accumulator, const rig::descriptor&) const {}
};

/// Products with a vector, whose result is compared as a row.
template <class A, class B, class S>
struct of_vector {
  const A& a;
  const B& b;
  template <class R, class... Rest>
  rig::matrix<R> fresh(const Rest&... rest) const {
    if constexpr (requires { a.size(); })
      return rig::vxm<R>(a, b, S(), rest...).as_row();
    else
      return rig::mxv<R>(a, b, S(), rest...).as_row();
  }
  template <class R, class... Rest>
  void into(rig::matrix<R>& c, rig::accumulator accum, const Rest&... rest) const {
    rig::vector<R> w(c);
    if constexpr (requires { a.size(); })
      rig::vxm(w, accum, a, b, S(), rest...);
    else
      rig::mxv(w, accum, a, b, S(), rest...);
    c = w.as_row();
  }
};

template <class T>
rig::dense<T> dense_of(const rig::matrix<T>& full) {
  rig::dense<T> out(full.rows(), full.columns());
  for (int i = 0; i < full.rows(); ++i)
    for (int j = 0; j < full.columns(); ++j) out(i, j) = full.value(i * full.columns() + j);
  return out;
}

/// A case of one product in both libraries; theirs is a plain product of these operands.
template <class R, class S, class Mine>
void product(const char* name, int m, int n, const setting& s, random_bits& random, Mine mine,
             GrB_Matrix x, GrB_Matrix y, bool y_transposed, bool exchanged = false) {
  compare<R>(name, m, n, s, random, mine,
             [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
               ok(GrB_Descriptor_set(d, GrB_INP1, y_transposed ? GrB_TRAN : GxB_DEFAULT));
               ok(GrB_mxm(c, mask, accum, algebra<S>::theirs(exchanged), x, y, d));
             });
}

/// A kernel of the CPU that takes such operands, or none.
std::string_view any_kernel(rig::operands of, random_bits& random) {
  std::vector<std::string_view> names{""};
  for (const rig::kernel& k : rig::kernels())
    if (k.where == rig::place::kind::cpu && includes(k.takes, of)) names.push_back(k.name);
  return any_of(names, random);
}

template <class S, class R>
void products(random_bits& random) {
  using T = typename S::accum;
  const int m = size_of_case(random), k = size_of_case(random), n = size_of_case(random);
  const auto draw = [&](int rows, int columns, bool turned, double density) {
    return both<T>(turned ? columns : rows, turned ? rows : columns, density, random);
  };
  {
    setting s(random);
    s.ours.kernel = any_kernel(rig::operands::sparse, random);
    const both<T> a = draw(m, k, s.ours.transpose_a, random.unit()),
                  b = draw(k, n, s.ours.transpose_b, random.unit());
    using A = rig::matrix<T>;
    product<R, S>("mxm", m, n, s, random, multiplies<A, A, S>{a.ours, b.ours}, a.other.m, b.other.m,
                  s.ours.transpose_b);
  }
  {
    setting s(random);
    s.masked = true;
    if (s.complemented) ok(GrB_Descriptor_set(s.theirs, GrB_MASK, GxB_DEFAULT));
    s.complemented = false;
    if (s.structural) ok(GrB_Descriptor_set(s.theirs, GrB_MASK, GrB_STRUCTURE));
    const both<T> a = draw(m, k, s.ours.transpose_a, 1), b = draw(k, n, s.ours.transpose_b, 1);
    const rig::dense<T> x = dense_of(a.ours), y = dense_of(b.ours);
    using A = rig::dense<T>;
    product<R, S>("mxm of dense", m, n, s, random, multiplies_dense<A, S>{x, y}, a.other.m,
                  b.other.m, s.ours.transpose_b);
  }
  for (const bool is_vxm : {true, false}) {
    setting s(random, false, false);
    s.ours.kernel = any_kernel(rig::operands::vector, random);
    (is_vxm ? s.ours.transpose_b : s.ours.transpose_a) = random.below(2) != 0;
    // GraphBLAS forms u·op(A) for vxm, and u·op(A)ᵀ for mxv.
    const bool turned = is_vxm ? s.ours.transpose_b : !s.ours.transpose_a;
    const both<T> u(1, k, random.unit(), random), a = draw(k, n, turned, random.unit());
    const rig::vector<T> row(u.ours);
    using A = rig::matrix<T>;
    using U = rig::vector<T>;
    if (is_vxm)
      product<R, S>("vxm", 1, n, s, random, of_vector<U, A, S>{row, a.ours}, u.other.m, a.other.m,
                    turned);
    else
      product<R, S>("mxv", 1, n, s, random, of_vector<A, U, S>{a.ours, row}, u.other.m, a.other.m,
                    turned, true);
  }
}

template <class T, class R>
void all_numbers(random_bits& random) {
  products<rig::plus_times<T>, R>(random);
  products<rig::plus_first<T>, R>(random);
  products<rig::plus_second<T>, R>(random);
  products<rig::plus_pair<T>, R>(random);
  products<rig::min_plus<T>, R>(random);
  products<rig::max_times<T>, R>(random);
  products<rig::min_first<T>, R>(random);
  products<rig::max_second<T>, R>(random);
  products<rig::any_pair<T>, R>(random);
}

TEST_CASE("rig and GraphBLAS agree on products with sparse results") {
  ok(GrB_init(GrB_BLOCKING));
  random_bits random(test_seed());
  for (int round = 0; round < 40; ++round) {
    all_numbers<float, float>(random);
    all_numbers<double, double>(random);
    all_numbers<int, int>(random);
    all_numbers<long, long>(random);
    all_numbers<int, double>(random);
    products<rig::lor_land<bool>, bool>(random);
    products<rig::any_pair<bool>, bool>(random);
    products<rig::any_pair<bool>, int>(random);
  }
  REQUIRE(print_cases() >= 5000);
  for (const rig::kernel& k : rig::kernels())
    if (k.where == rig::place::kind::cpu && k.takes >= rig::operands::sparse &&
        k.takes < rig::operands::updated) {
      CAPTURE(std::string(k.name));
      CHECK(served[k.name] > 0);
    }
  ok(GrB_finalize());
}

}  // namespace
