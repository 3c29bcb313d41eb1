#pragma once

// Random operands, descriptors and operators in rig and in SuiteSparse:GraphBLAS. Values are small
// multiples of 1/4, so all arithmetic is exact.

#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "battery.hpp"
#include "graphblas.hpp"
#include "rig/rearrange.hpp"

inline GrB_Index at(int i) { return static_cast<GrB_Index>(i); }

/// One sparse matrix in both libraries.
template <class T>
struct both {
  rig::matrix<T> ours;
  theirs other;

  both(int rows, int columns, double density, random_bits& random)
      : other(rows, columns, static_cast<T*>(nullptr)) {
    std::vector<int> i, j;
    std::vector<double> values;
    const oracle::sparse pattern = random_pattern(rows, columns, density, random);
    for (int row = 0; row < rows; ++row)
      for (long p = pattern.offsets[row]; p < pattern.offsets[row + 1]; ++p) {
        const T x = small_value<T>(random);
        i.push_back(row);
        j.push_back(pattern.inner[p]);
        values.push_back(static_cast<double>(x));
        set(other.m, x, at(row), at(pattern.inner[p]));
      }
    const auto wide =
        rig::matrix<double>::from_tuples(rows, columns, i, j, std::span<const double>(values));
    ours = rig::apply<T>(wide, rig::unary::identity);
  }
};

/// What a case draws beside its operands.
struct setting {
  rig::descriptor ours;
  GrB_Descriptor theirs = nullptr;
  bool masked, structural, complemented, fresh;
  std::size_t accumulator;

  explicit setting(random_bits& random, bool transposes_a = true, bool transposes_b = true) {
    masked = random.below(4) != 0;
    structural = random.below(2) != 0;
    complemented = random.below(2) != 0;
    fresh = random.below(4) == 0;
    accumulator = static_cast<std::size_t>(random.below(9));
    ours.transpose_a = transposes_a && random.below(2) != 0;
    ours.transpose_b = transposes_b && random.below(2) != 0;
    ours.replace = random.below(3) == 0;
    ours.threads = 1 + random.below(3);
    ok(GrB_Descriptor_new(&theirs));
    if (ours.transpose_a) ok(GrB_Descriptor_set(theirs, GrB_INP0, GrB_TRAN));
    if (ours.transpose_b) ok(GrB_Descriptor_set(theirs, GrB_INP1, GrB_TRAN));
    if (ours.replace) ok(GrB_Descriptor_set(theirs, GrB_OUTP, GrB_REPLACE));
    if (masked && structural) ok(GrB_Descriptor_set(theirs, GrB_MASK, GrB_STRUCTURE));
    if (masked && complemented) ok(GrB_Descriptor_set(theirs, GrB_MASK, GrB_COMP));
  }
  setting(const setting&) = delete;
  ~setting() { GrB_Descriptor_free(&theirs); }
};

/// The operators of one type in GraphBLAS.
template <class T>
struct operators;

#define OPERATORS(T, NAME)                                                                      \
  template <>                                                                                   \
  struct operators<T> {                                                                         \
    static std::vector<std::pair<rig::binary, GrB_BinaryOp>> binary() {                         \
      using enum rig::binary;                                                                   \
      return {{plus, GrB_PLUS_##NAME},        {minus, GrB_MINUS_##NAME},                        \
              {times, GrB_TIMES_##NAME},      {minimum, GrB_MIN_##NAME},                        \
              {maximum, GrB_MAX_##NAME},      {first, GrB_FIRST_##NAME},                        \
              {second, GrB_SECOND_##NAME},    {logical_or, GxB_LOR_##NAME},                     \
              {logical_and, GxB_LAND_##NAME}, {equal, GrB_EQ_##NAME},                           \
              {not_equal, GrB_NE_##NAME},     {less, GrB_LT_##NAME},                            \
              {less_equal, GrB_LE_##NAME},    {greater, GrB_GT_##NAME},                         \
              {greater_equal, GrB_GE_##NAME}};                                                  \
    }                                                                                           \
    static std::pair<rig::accumulator, GrB_BinaryOp> accumulator(std::size_t k) {               \
      using enum rig::accumulator;                                                              \
      const std::pair<rig::accumulator, GrB_BinaryOp> all[] = {                                 \
          {none, nullptr},           {none, nullptr},           {plus, GrB_PLUS_##NAME},        \
          {minus, GrB_MINUS_##NAME}, {times, GrB_TIMES_##NAME}, {minimum, GrB_MIN_##NAME},      \
          {maximum, GrB_MAX_##NAME}, {first, GrB_FIRST_##NAME}, {second, GrB_SECOND_##NAME}};   \
      return all[k];                                                                            \
    }                                                                                           \
    static std::vector<std::pair<rig::unary, GrB_UnaryOp>> unary() {                            \
      using enum rig::unary;                                                                    \
      return {{identity, GrB_IDENTITY_##NAME},                                                  \
              {negate, std::is_same_v<T, bool> ? GrB_IDENTITY_##NAME : GrB_AINV_##NAME},        \
              {absolute, GrB_ABS_##NAME},                                                       \
              {one, GxB_ONE_##NAME},                                                            \
              {logical_not, GxB_LNOT_##NAME}};                                                  \
    }                                                                                           \
    static std::vector<std::pair<rig::binary, GrB_Monoid>> monoids() { return MONOIDS_##NAME; } \
    static std::vector<std::pair<rig::selection, GrB_IndexUnaryOp>> selections() {              \
      using enum rig::selection;                                                                \
      return {{equal, GrB_VALUEEQ_##NAME},   {not_equal, GrB_VALUENE_##NAME},                   \
              {less, GrB_VALUELT_##NAME},    {less_equal, GrB_VALUELE_##NAME},                  \
              {greater, GrB_VALUEGT_##NAME}, {greater_equal, GrB_VALUEGE_##NAME}};              \
    }                                                                                           \
    static constexpr auto new_scalar = &GrB_Scalar_setElement_##NAME;                           \
    static constexpr auto sum = &GrB_Matrix_reduce_##NAME;                                      \
  };

// A product of floats depends on its order, so only integers are multiplied.
#define MONOIDS_OF(NAME)                                                                        \
  {rig::binary::plus, GrB_PLUS_MONOID_##NAME}, {rig::binary::minimum, GrB_MIN_MONOID_##NAME}, { \
    rig::binary::maximum, GrB_MAX_MONOID_##NAME                                                 \
  }
#define MONOIDS_BOOL                                                                            \
  {                                                                                             \
    {rig::binary::plus, GrB_LOR_MONOID_BOOL}, {rig::binary::logical_or, GrB_LOR_MONOID_BOOL}, { \
      rig::binary::logical_and, GrB_LAND_MONOID_BOOL                                            \
    }                                                                                           \
  }
#define MONOIDS_INT32                                                 \
  {                                                                   \
    MONOIDS_OF(INT32), { rig::binary::times, GrB_TIMES_MONOID_INT32 } \
  }
#define MONOIDS_INT64                                                 \
  {                                                                   \
    MONOIDS_OF(INT64), { rig::binary::times, GrB_TIMES_MONOID_INT64 } \
  }
#define MONOIDS_FP32 \
  { MONOIDS_OF(FP32) }
#define MONOIDS_FP64 \
  { MONOIDS_OF(FP64) }

OPERATORS(bool, BOOL)
OPERATORS(int, INT32)
OPERATORS(long, INT64)
OPERATORS(float, FP32)
OPERATORS(double, FP64)

template <class T>
struct scalar_of_theirs {
  GrB_Scalar s = nullptr;
  explicit scalar_of_theirs(T x) {
    ok(GrB_Scalar_new(&s, type_in_graphblas<T>()));
    ok(operators<T>::new_scalar(s, x));
  }
  scalar_of_theirs(const scalar_of_theirs&) = delete;
  ~scalar_of_theirs() { GrB_Scalar_free(&s); }
};

template <class List>
const auto& any_of(const List& list, random_bits& random) {
  return list[static_cast<std::size_t>(random.below(static_cast<int>(list.size())))];
}

inline int size_of_case(random_bits& random) { return 1 + random.below(12); }

/// A list of indices: all, a range, or a list with repetitions; in both libraries.
struct drawn_indices {
  std::vector<int> list;
  std::vector<GrB_Index> theirs;
  rig::indices ours = rig::all;

  drawn_indices(int limit, bool repeats, random_bits& random) {
    const int how = random.below(3);
    if (how == 0) {
      for (int k = 0; k < limit; ++k) list.push_back(k);
    } else if (how == 1) {
      const rig::range of{random.below(limit), random.below(limit + 1), 1 + random.below(3)};
      ours = of;
      for (int k = of.first; k < of.last; k += of.step) list.push_back(k);
    } else {
      for (int k = 0; k < limit; ++k) list.push_back(k);
      for (int k = limit; k-- > 1;) std::swap(list[k], list[random.below(k + 1)]);
      list.resize(static_cast<std::size_t>(1 + random.below(limit)));
      if (repeats) list.push_back(list.front());
      ours = list;
    }
    theirs.reserve(1);  // GraphBLAS refuses a null pointer even to no indices
    theirs.assign(list.begin(), list.end());
  }
  int count() const { return static_cast<int>(list.size()); }
};

inline std::map<std::string, int> cases;
inline std::map<std::string, int> served;  ///< cases by named kernel

template <class R>
int differing(const rig::matrix<R>& ours, GrB_Matrix other) {
  GrB_Index rows = 0, columns = 0, count = 0;
  ok(GrB_Matrix_nrows(&rows, other));
  ok(GrB_Matrix_ncols(&columns, other));
  ok(GrB_Matrix_nvals(&count, other));
  int wrong = ours.rows() != static_cast<int>(rows) ||
                      ours.columns() != static_cast<int>(columns) ||
                      ours.nnz() != static_cast<long>(count)
                  ? 1
                  : 0;
  for (int i = 0; i < ours.rows(); ++i)
    for (long p = ours.structure().offset(i); p < ours.structure().offset(i + 1); ++p) {
      R x{};
      const int j = ours.structure().column_indices()[p];
      const bool ascends =
          p == ours.structure().offset(i) || ours.structure().column_indices()[p - 1] < j;
      wrong += get(&x, other, at(i), at(j)) != GrB_SUCCESS || x != ours.value(p) || !ascends;
    }
  return wrong;
}

/// Runs C⟨M⟩ = C ⊙ T in both libraries and compares C. `mine(form…)` makes rig's call: with C and
/// an accumulator in front of the operands or without, then the mask, if any, and the descriptor.
/// C is m×n.
template <class R, class Mine, class Theirs>
void compare(const char* name, int m, int n, const setting& s, random_bits& random, Mine mine,
             Theirs other) {
  ++cases[name];
  both<R> c(m, n, s.fresh ? 0 : 0.5, random);
  both<int> mask(m, n, 0.5, random);
  const auto accum =
      s.fresh ? operators<R>::accumulator(0) : operators<R>::accumulator(s.accumulator);
  other(c.other.m, s.masked ? mask.other.m : nullptr, accum.second, s.theirs);
  const auto run = [&](const auto&... m_and_d) {
    if (s.fresh)
      c.ours = mine.template fresh<R>(m_and_d...);
    else
      mine.into(c.ours, accum.first, m_and_d...);
  };
  const auto by = [&](const rig::descriptor& desc) {
    if (!s.masked) return run(desc);
    const auto of = s.structural ? rig::structure(mask.ours) : rig::values(mask.ours);
    run(s.complemented ? rig::complement(of) : of, desc);
  };
  try {
    by(s.ours);
    ++served[std::string(s.ours.kernel)];
  } catch (const rig::error& refused) {  // a named kernel may refuse
    if (refused.code() != rig::errc::cannot || s.ours.kernel.empty()) throw;
    rig::descriptor any = s.ours;
    any.kernel = "";
    by(any);
  }
  if (differing(c.ours, c.other.m) > 0)
    FAIL_CHECK(std::string(name), ", C of type ", static_cast<int>(rig::type_of<R>), ": ", m, "x",
               n, " masked ", s.masked, " structural ", s.structural, " complemented ",
               s.complemented, " replace ", s.ours.replace, " fresh ", s.fresh, " accumulator ",
               static_cast<int>(accum.first), " transposes ", s.ours.transpose_a,
               s.ours.transpose_b);
}

// Calls of rig in both forms. The operands follow C and the accumulator.
#define FORMS(call, ...)                                               \
  template <class R, class... Rest>                                    \
  auto fresh(const Rest&... rest) const {                              \
    return call<R>(__VA_ARGS__, rest...);                              \
  }                                                                    \
  template <class C, class... Rest>                                    \
  void into(C& c, rig::accumulator accum, const Rest&... rest) const { \
    call(c, accum, __VA_ARGS__, rest...);                              \
  }

/// Prints the number of cases by operation, and returns that of all.
inline int print_cases() {
  int total = 0;
  for (const auto& [name, count] : cases) {
    std::printf("%5d %s\n", count, name.c_str());
    total += count;
  }
  std::printf("%5d cases beside GraphBLAS\n", total);
  return total;
}
