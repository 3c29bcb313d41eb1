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
/// `mxm` of a matrix and a dense or a matrix takes one instead of a semiring's type, and so do
/// `mxv` of a dense and `explain`; meaning, errors and bits are the same. T is float, double or
/// bool; docs/reference/semirings.md lists the names that each has. Arg-max and arg-min yield two
/// arrays: give an existing C, an `indexed_dense`. Throws error(range): there is no such pair.
/// @code
/// const rig::named_semiring<float> s("max_second");
/// const auto greatest = rig::mxm(A, B, s, {.fill = 0});
/// const auto two_steps = rig::mxm(A, A, rig::named_semiring<float>("min_plus"));
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
template <class T>
inline constexpr bool is_named<named_semiring<T>> = true;
template <class Named, class T, class Mask>
struct product_result<Named, named_semiring<T>, Mask> {
  using type = dense<std::conditional_t<std::is_void_v<Named>, T, Named>>;
};

template <class T, class TA, dense_like B, class Mask>
problem make_problem(const char* name, const matrix<TA>& a, const B& b, const Mask& mask,
                     const descriptor& desc, named_semiring<T> s) {
  static_assert(is_storage<TA> && is_storage<typename right_operand<B>::element>,
                "A and B hold float, double, int32, int64, bool, half or bfloat16");
  static_assert(!is_cbsr_mask<Mask>,
                "a product under the structure of a cbsr takes a semiring by its type");
  return problem_of(name, *s.pair().product.algebra, s.pair().run, a, b, mask, desc);
}

template <class C, class T>
void fill_in_result(problem& p, C& c, named_semiring<T> s) {
  static_assert(is_storage<typename C::value_type>,
                "C holds float, double, int32, int64, bool, half or bfloat16");
  if (s.is_indexed() && !has_indices<C>)
    fail(errc::cannot, {p.name, ": ", s.name(),
                        " yields values and indices; call mxm(C, …) with an indexed_dense C"});
  if (!s.is_indexed() && has_indices<C>)
    fail(errc::cannot, {p.name, ": ", s.name(), " yields values alone; give a dense as C"});
  set_result(p, c);
}

template <class TA, class TB, class T>
call<T> product_call(const matrix<TA>& a, const matrix<TB>& b, named_semiring<T> s,
                     const descriptor& desc) {
  static_assert(is_storage<TA> && is_storage<TB>,
                "A and B hold float, double, int32, int64, bool, half or bfloat16");
  if (s.is_indexed())
    fail(errc::cannot,
         {"mxm: ", s.name(), " yields values and indices, and a sparse result has one array"});
  return product_of_operands<T>("mxm", a, b, desc.transpose_b, s.pair().product, s.pair().add);
}

/// Products of a vector that take a semiring by its type alone, refused with one error.
template <class TA>
constexpr refused refuse_name() {
  static_assert(sizeof(TA) == 0,
                "a named_semiring serves mxm, and mxv of a dense; pass mxv of a sparse vector, and "
                "vxm, a semiring by its type, such as rig::plus_times<float>{}");
  return {};
}
template <class TA, class TU, class T>
refused mxv_call(const matrix<TA>&, const vector<TU>&, named_semiring<T>, const descriptor&) {
  return refuse_name<TA>();
}
template <class TU, class TA, class T>
refused vxm_call(const vector<TU>&, const matrix<TA>&, named_semiring<T>, const descriptor&) {
  return refuse_name<TA>();
}
template <class TU, class TA, class T>
refused vxm_call(const dense<TU>&, const matrix<TA>&, named_semiring<T>, const descriptor&) {
  return refuse_name<TA>();
}
/// @endcond

}  // namespace rig
