#pragma once

/// @file
/// Builtin semirings that are chosen at run time, by name.

#include <string_view>
#include <vector>

#include "rig/sparse_mxm.hpp"

namespace rig {

/// @cond internal
/// A pair of builtin.def as the library has it: its kernels, and the operator of its sums.
struct builtin_pair {
  const char* name;
  type of;
  void (*run)(int kernel, const problem&);
  product_info product;
  const operator_info* add;  ///< null if results are no sums: such results take no accumulator::own
};

/// Throws error(range), which lists the names of such pairs.
const builtin_pair& find_builtin(std::string_view name, type of);
std::vector<const char*> builtin_names(type of);
/// @endcond

/// A builtin semiring over T, chosen by its name. Programs that read the name from a user, and
/// bindings of other languages, compile one call for all semirings.
///
/// T is float, double or bool; docs/reference/semirings.md lists the names that each has. Results
/// have element type T unless another is named. Throws error(range): there is no such pair.
/// @code
/// const rig::named_semiring<float> s("max_second");
/// const auto greatest = rig::mxm(A, B, s, {.fill = 0});
/// @endcode
template <class T>
class named_semiring {
 public:
  static_assert(is_same<T, float> || is_same<T, double> || is_same<T, bool>,
                "builtin semirings are over float, double or bool");
  /// The semiring of this name. Throws error(range): there is none over T.
  explicit named_semiring(std::string_view name) : pair_(&find_builtin(name, type_of<T>)) {}

  /// Its name, such as "plus_times".
  const char* name() const { return pair_->name; }
  /// Whether results are values and indices: C of a dense product is then an `indexed_dense`.
  bool is_indexed() const { return pair_->product.algebra->is_indexed; }
  /// The names that `named_semiring<T>` takes, in the order of the reference.
  static std::vector<const char*> names() { return builtin_names(type_of<T>); }

  /// @cond internal
  const builtin_pair& pair() const { return *pair_; }
  /// @endcond

 private:
  const builtin_pair* pair_;
};

/// @cond internal
template <class T, class TA, dense_like B, class Mask>
problem named_problem(const named_semiring<T>& s, const matrix<TA>& a, const B& b, const Mask& mask,
                      const descriptor& desc) {
  static_assert(is_storage<TA> && is_storage<typename right_operand<B>::element>,
                "A and B hold float, double, int32, int64, bool, half or bfloat16");
  static_assert(!is_cbsr_mask<Mask>,
                "a product under the structure of a cbsr takes a semiring by its type");
  return problem_of("mxm", *s.pair().product.algebra, s.pair().run, a, b, mask, desc);
}

inline void require_one_array(const problem& p) {
  if (p.algebra->is_indexed)
    fail(errc::cannot, {"mxm: ", p.algebra->name,
                        " yields values and indices; call mxm(C, …) with an indexed_dense C"});
}
template <class E>
void fill_in_named(problem& p, dense<E>& c) {
  static_assert(is_storage<E>, "C holds float, double, int32, int64, bool, half or bfloat16");
  require_one_array(p);
  static_cast<void>(c.data());  // throws for read-only views
  fill_in(p.c, c);
}
template <class E>
void fill_in_named(problem& p, indexed_dense<E>& c) {
  if (!p.algebra->is_indexed)
    fail(errc::cannot, {"mxm: ", p.algebra->name, " yields values alone; give a dense as C"});
  static_cast<void>(c.values.data());
  static_cast<void>(c.indices.data());
  fill_in(p.c, c.values);
  fill_in(p.indices, c.indices);
}

template <class Element, class T, class TA, dense_like B, class Mask>
auto named_creating(const matrix<TA>& a, const B& b, const named_semiring<T>& s, const Mask& mask,
                    const descriptor& desc) {
  return or_out_of_memory("mxm", [&] {
    using element = std::conditional_t<std::is_void_v<Element>, T, Element>;
    using made = dense<element>;
    problem p = named_problem(s, a, b, mask, desc);
    p.creates_result = true;
    p.c.value_type = type_of<element>;
    p.c.value_bytes = sizeof(element);
    require_one_array(p);
    check(p);
    made c = make_result<made>(p, mask);
    fill_in_named(p, c);
    run(p);
    return c;
  });
}
template <class C, class T, class TA, dense_like B, class Mask>
void named_into(C& c, accumulator accum, const matrix<TA>& a, const B& b,
                const named_semiring<T>& s, const Mask& mask, const descriptor& desc) {
  or_out_of_memory("mxm", [&] {
    problem p = named_problem(s, a, b, mask, desc);
    p.accum = accum;
    fill_in_named(p, c);
    check(p);
    run(p);
  });
}

template <class T, class TA, class TB>
call<T> named_call(const named_semiring<T>& s, const matrix<TA>& a, const matrix<TB>& b,
                   const descriptor& desc) {
  static_assert(is_storage<TA> && is_storage<TB>,
                "A and B hold float, double, int32, int64, bool, half or bfloat16");
  if (s.is_indexed())
    fail(errc::cannot,
         {"mxm: ", s.name(), " yields values and indices, and a sparse result has one array"});
  call<T> made{{"mxm", operation::kind::product}};
  fill_in(made.o.x, a);
  fill_in(made.o.y, b);
  made.o.y_transposed = desc.transpose_b;
  made.o.product = &s.pair().product;
  made.o.op = s.pair().add;
  return made;
}
/// @endcond

/// `mxm` by a semiring's name: sparse × dense, under a mask or none. Shapes, meaning, cost and
/// errors are those of the call with the semiring's type, and so are the bits. Throws also
/// error(cannot): arg-max and arg-min yield two arrays; give an `indexed_dense` as an existing C.
/// @code
/// const auto sums = rig::mxm(A, B, rig::named_semiring<float>("plus_times"));
/// @endcode
template <class Element = void, class TA, dense_like B, class T>
auto mxm(const matrix<TA>& a, const B& b, named_semiring<T> s, const descriptor& desc = {}) {
  return named_creating<Element>(a, b, s, no_mask(), desc);
}
/// The same under a mask.
template <class Element = void, class TA, dense_like B, class T, mask_like Mask>
auto mxm(const matrix<TA>& a, const B& b, named_semiring<T> s, const Mask& mask,
         const descriptor& desc = {}) {
  return named_creating<Element>(a, b, s, mask, desc);
}
/// Into C, a `dense` or an `indexed_dense`.
template <class C, class TA, dense_like B, class T>
void mxm(C& c, accumulator accum, const matrix<TA>& a, const B& b, named_semiring<T> s,
         const descriptor& desc = {}) {
  named_into(c, accum, a, b, s, no_mask(), desc);
}
/// Into C under a mask.
template <class C, class TA, dense_like B, class T, mask_like Mask>
void mxm(C& c, accumulator accum, const matrix<TA>& a, const B& b, named_semiring<T> s,
         const Mask& mask, const descriptor& desc = {}) {
  named_into(c, accum, a, b, s, mask, desc);
}

/// Sparse × sparse by a semiring's name, under a mask or none.
/// @code
/// const auto two_steps = rig::mxm(A, A, rig::named_semiring<float>("min_plus"));
/// @endcode
template <class Element = void, class TA, matrix_like B, class T>
auto mxm(const matrix<TA>& a, const B& b, named_semiring<T> s, const descriptor& desc = {}) {
  return run_creating<matrix<TA>, Element>(named_call(s, a, b, desc), no_mask(), desc);
}
/// The same under a mask.
template <class Element = void, class TA, matrix_like B, class T, mask_like Mask>
auto mxm(const matrix<TA>& a, const B& b, named_semiring<T> s, const Mask& mask,
         const descriptor& desc = {}) {
  return run_creating<matrix<TA>, Element>(named_call(s, a, b, desc), mask, desc);
}
/// Into C.
template <class TC, class TA, class TB, class T>
void mxm(matrix<TC>& c, accumulator accum, const matrix<TA>& a, const matrix<TB>& b,
         named_semiring<T> s, const descriptor& desc = {}) {
  run_into(c, accum, named_call(s, a, b, desc), no_mask(), desc);
}
/// Into C under a mask.
template <class TC, class TA, class TB, class T, mask_like Mask>
void mxm(matrix<TC>& c, accumulator accum, const matrix<TA>& a, const matrix<TB>& b,
         named_semiring<T> s, const Mask& mask, const descriptor& desc = {}) {
  run_into(c, accum, named_call(s, a, b, desc), mask, desc);
}

/// `explain` of such a sparse × dense product.
template <class TA, dense_like B, class T>
explanation explain(const matrix<TA>& a, const B& b, named_semiring<T> s,
                    const descriptor& desc = {}) {
  return or_out_of_memory("explain", [&] {
    problem p = named_problem(s, a, b, no_mask(), desc);
    p.creates_result = true;
    p.c.value_type = type_of<T>;
    p.c.value_bytes = sizeof(T);
    return explain(p);
  });
}

}  // namespace rig
