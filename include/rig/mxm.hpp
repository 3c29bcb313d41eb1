#pragma once

/// @file
/// The product `mxm` in its three forms, and `explain`.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "rig/explain.hpp"
#include "rig/kernels/cpu/run.hpp"
#include "rig/kernels/list.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/semiring.hpp"

/// @cond internal
namespace rig_type_key {

/// A string that contains the full name of S. It is outside namespace rig, because inside it the
/// compiler would shorten that name.
template <class S>
constexpr const char* of() {
  return __PRETTY_FUNCTION__;
}

}  // namespace rig_type_key
/// @endcond

namespace rig {

/// @cond internal
/// Element type of the result: `Named` unless it is void, else the semiring's output type.
template <class Named, semiring S>
struct result_element {
  using natural = output<S>;
  using type = std::conditional_t<std::is_void_v<Named>, natural, Named>;
};
template <class Named, semiring S>
requires is_indexed<output<S>>
struct result_element<Named, S> {
  using natural = decltype(output<S>::value);
  using type = std::conditional_t<std::is_void_v<Named>, natural, Named>;
};

/// Converts one stored value of A to S's left type.
template <semiring S>
void take_left(const void* from, type stored, void* out) {
  using left = typename S::left;
  if constexpr (is_storage<left>)
    on_cpu::convert_row<left>(from, stored, static_cast<left*>(out), 1);
  else
    __builtin_memcpy(out, from, sizeof(left));
}

/// Writes `fill`, by default S's finished zero, in the storage type of the problem's C.
template <semiring S>
void write_stored(const problem& p, const scalar& fill, void* out) {
  const output<S> zero = finished<S>(S::zero(), 0);
  const auto in_type = [&](auto value) {
    using value_type = decltype(value);
    if constexpr (is_storage<value_type>) {
      on_cpu::with_stored<value_type>(p.c, [&]<class To>(const To*) {
        const To filled = fill.has_value() ? fill.as<To>() : convert<To>(value);
        __builtin_memcpy(out, &filled, sizeof(To));
      });
    } else if constexpr (sizeof(value) <= 16) {
      __builtin_memcpy(out, &value, sizeof(value));
    }
  };
  if constexpr (is_indexed<output<S>>)
    in_type(zero.value);
  else
    in_type(zero);
}

/// Writes the fill of a problem over S in the storage type of its C.
template <semiring S>
void write_fill(const problem& p, void* out) {
  write_stored<S>(p, p.desc->fill, out);
}

/// Whether results of A ⊕.⊗ B, with B a cbsr, depend on which places have no products. If a place
/// without products equals a sum of zero(), kernels need no presence flags.
template <semiring S>
bool needs_presence_flags(const problem& p) {
  if (has_finish<S> && samples_as<S> != reduction::mean) return true;
  if constexpr (is_storage<output<S>> && is_storage<typename S::accum>) {
    // A mean of zeros is zero; a semiring of the caller may make something else of it.
    if constexpr (has_finish<S>)
      for (const int64 count : {1, 2, 3})
        if (!(finished<S>(S::zero(), count) == finished<S>(S::zero(), 0))) return true;
    if (p.accum != accumulator::none) return true;
    // Compared as C stores them: S's type may round the fill to its zero.
    unsigned char fill[16] = {}, zero[16] = {};
    write_fill<S>(p, fill);
    write_stored<S>(p, {}, zero);
    return __builtin_memcmp(fill, zero, sizeof(fill)) != 0;
  }
  return true;
}

/// A 64-bit hash of `text`, chained to the hash `before`.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t before = 0) {
  std::uint64_t hash = before ^ 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// Whether RIG_SEMIRING defined S itself, so its text is known; the text of a type derived from it
/// is not.
template <class S>
concept has_source = requires {
  S::rig_source;
  requires is_same<typename S::rig_defined, S>;
};

/// A semiring of rig around another one, whose text counts.
template <class S>
concept is_wrapper = requires {
  typename S::rig_wraps;
};

template <class S>
constexpr const source_text* source_of() {
  if constexpr (is_wrapper<S>)
    return source_of<typename S::rig_wraps>();
  else if constexpr (has_source<S>)
    return &S::rig_source;
  else
    return nullptr;
}

/// The hash of the type's full name and, if RIG_SEMIRING defined it, of its text.
template <class S>
constexpr std::uint64_t hash_of_semiring() {
  const std::uint64_t of_name = hash_of(rig_type_key::of<S>());
  if constexpr (is_wrapper<S>)
    return hash_of_semiring<typename S::rig_wraps>() ^ of_name;
  else if constexpr (has_source<S>)
    return hash_of(S::rig_source.body, of_name);
  else
    return of_name;
}

/// Whether a semiring or monoid, and its types, are rig's.
template <class S>
constexpr bool is_of_rig() {
  bool has_rigs_types = true;
  if constexpr (is_wrapper<S>)
    return is_of_rig<typename S::rig_wraps>();
  else if constexpr (requires { typename S::left; })
    has_rigs_types = is_storage<typename S::left> && is_storage<typename S::right>;
  else
    has_rigs_types = is_storage<typename S::accum>;
  return has_rigs_types &&
         std::string_view(rig_type_key::of<S>()).find("S = rig::") != std::string_view::npos;
}

/// The library's record of a semiring; one per type.
template <semiring S>
inline constexpr semiring_info info_of = {
    .name = name_of<S>(),
    .key = rig_type_key::of<S>(),
    .key_hash = hash_of_semiring<S>(),
    .is_rigs = is_of_rig<S>(),
    .source = source_of<S>(),
    .left = type_of<typename S::left>,
    .right = type_of<typename S::right>,
    .result = type_of<typename result_element<void, S>::natural>,
    .left_bytes = sizeof(typename S::left),
    .right_bytes = sizeof(typename S::right),
    .accum_bytes = sizeof(typename S::accum),
    .result_bytes = sizeof(typename result_element<void, S>::natural),
    .ignores_left = is_ignoring_left<S>,
    .ignores_right = is_ignoring_right<S>,
    .is_positional = positional<S>,
    .has_finish = rig::has_finish<S>,
    .has_terminal = rig::has_terminal<S>,
    .ends_early = rig::has_terminal<S> || is_keeping_first<S>,
    .is_indexed = rig::is_indexed<output<S>>,
    .samples_as = rig::samples_as<S>,
    .linear_in_floats = is_linear<S>&& is_same<typename S::accum, float>,
    .exact_in_any_order = is_exact<S>,
    .rescales = is_rescaling<S>,
    .take_left = &rig::take_left<S>,
    .fill = &write_fill<S>,
    .needs_presence_flags = &rig::needs_presence_flags<S>,
};

template <class Mask>
inline constexpr bool is_cbsr_mask = false;
template <class T>
inline constexpr bool is_cbsr_mask<mask<cbsr<T>>> = true;

/// The type of a product: a cbsr under the structure of a cbsr, else a dense.
template <class Element, bool Indexed, bool Cbsr>
struct result_container {
  using type = dense<Element>;
};
template <class Element>
struct result_container<Element, true, false> {
  using type = indexed_dense<Element>;
};
template <class Element, bool Indexed>
struct result_container<Element, Indexed, true> {
  static_assert(!Indexed, "this semiring yields two arrays, and a cbsr has one");
  static_assert(is_float<Element> || is_small_float<Element>,
                "a cbsr holds float, double, half or bfloat16: name the result's type");
  using type = cbsr<Element>;
};

/// The same for a product over S, which may be a named_semiring; any type if S is refused, which is
/// an error of its own.
template <class Named, class S, class Mask>
struct product_result {
  using type = dense<float>;
};
template <class Named, semiring S, class Mask>
requires is_plain<output<S>>
struct product_result<Named, S, Mask> {
  using type = typename result_container<typename result_element<Named, S>::type,
                                         is_indexed<output<S>>, is_cbsr_mask<Mask>>::type;
};
/// @endcond

/// The type of mxm<Named>(A, B, S{}), Named void for S's output type: `dense`; `indexed_dense` for
/// arg-max and arg-min; `cbsr` under a mask that is the structure of a cbsr.
template <class Named, class S, class Mask = no_mask>
using mxm_result = typename product_result<Named, S, Mask>::type;

/// @cond internal
/// Whether values of type Stored convert to Algebra. A storage type converts to every arithmetic
/// algebra type; any other type serves only as itself.
template <class Stored, class Algebra>
inline constexpr bool is_loadable = is_same<Stored, Algebra> ||
                                    (is_storage<Stored> && is_storage<Algebra>);

/// The types that B can have, and the type of its elements as they are read.
template <class B>
struct right_operand {};
template <class T>
struct right_operand<dense<T>> {
  using element = T;
};
template <>
struct right_operand<quantized> {
  using element = float;
};
template <class T>
struct right_operand<cbsr<T>> {
  using element = T;
};
template <class B>
inline constexpr bool is_cbsr = false;
template <class T>
inline constexpr bool is_cbsr<cbsr<T>> = true;
/// @endcond

/// A type that B of `mxm` can have: `dense`, `quantized` or `cbsr`.
template <class B>
concept dense_like = requires {
  typename right_operand<B>::element;
};

/// @cond internal
/// What may follow the operands of a call: a descriptor, or a mask and then a descriptor.
template <class Option>
concept option_like = mask_like<Option> || std::is_same_v<Option, descriptor>;

/// What may follow an option: a descriptor behind a mask, and nothing behind a descriptor.
struct nothing {};
template <class Option>
using behind = std::conditional_t<std::is_same_v<Option, descriptor>, nothing, descriptor>;

inline constexpr no_mask unmasked{};
template <class Option>
const auto& mask_among(const Option& option) {
  if constexpr (std::is_same_v<Option, descriptor>)
    return unmasked;
  else
    return option;
}
template <class Option, class Behind>
const descriptor& descriptor_among(const Option& option, const Behind& desc) {
  if constexpr (std::is_same_v<Option, descriptor>)
    return option;
  else
    return desc;
}
template <class Mask>
void fill_in_mask(any_call& of, const Mask& mask) {
  require_mask<Mask>();
  if constexpr (is_mask<Mask> && !std::is_same_v<Mask, no_mask>) fill_in(of.mask, mask);
}

template <class TA, dense_like B, class Mask>
problem problem_of(const char* operation, const semiring_info& algebra,
                   void (*run_cpu)(int kernel, const problem&), const matrix<TA>& a, const B& b,
                   const Mask& mask, const descriptor& desc) {
  problem p;
  p.name = operation;
  p.algebra = &algebra;
  p.run_cpu = run_cpu;
  p.structure = &a.structure();
  p.desc = &desc;
  fill_in(p.a, a);
  fill_in(p.b, b);
  fill_in_mask(p, mask);
  return p;
}

/// The name of an operation whose B has one column.
struct column_name {
  const char* text;
  operator const char*() const { return text; }
};
/// The CPU kernels of S. Those of a builtin pair serve any B.
template <semiring S, class Name>
constexpr auto run_of() {
  constexpr bool may_be_ahead = is_of_rig<S>() && !is_wrapper<S> && !is_integer<typename S::accum>;
  if constexpr (is_same<Name, column_name> && !may_be_ahead)
    return &on_cpu::run_column<S>;
  else
    return &on_cpu::run<S>;
}

template <semiring S, class Name, class TA, dense_like B, class Mask>
problem make_problem(Name name, const matrix<TA>& a, const B& b, const Mask& mask,
                     const descriptor& desc, S = {}) {
  static_assert(is_loadable<TA, typename S::left>,
                "A's storage type does not convert to the semiring's left type: A may be float, "
                "double, int32, int64, bool, half or bfloat16, or exactly that type");
  static_assert(is_loadable<typename right_operand<B>::element, typename S::right>,
                "B's storage type does not convert to the semiring's right type: B may be float, "
                "double, int32, int64, bool, half or bfloat16, or exactly that type");
  static_assert(!is_cbsr<B> || !is_cbsr_mask<Mask>,
                "under the structure of a cbsr, B must be a dense");
  return problem_of(name, info_of<S>, run_of<S, Name>(), a, b, mask, desc);
}

/// Whether a result has a second array.
template <class C>
concept has_indices = requires(C c) {
  c.indices.data();
};

template <class T>
void set_result(problem& p, dense<T>& c) {
  static_cast<void>(c.data());  // throws for read-only views
  fill_in(p.c, c);
}
template <class T>
void set_result(problem& p, indexed_dense<T>& c) {
  set_result(p, c.values);
  static_cast<void>(c.indices.data());
  fill_in(p.indices, c.indices);
}
template <class T>
void set_result(problem& p, cbsr<T>& c) {
  fill_in(p.c, c);
}

template <semiring S, class C>
void fill_in_result(problem& p, C& c, S = {}) {
  static_assert(has_indices<C> || !is_indexed<output<S>>,
                "this semiring yields two arrays: give an indexed_dense");
  static_assert(!has_indices<C> || is_indexed<output<S>>,
                "this semiring yields one array: give a dense");
  static_assert(is_loadable<typename C::value_type, typename result_element<void, S>::type>,
                "C's storage type does not convert from the semiring's output type");
  set_result(p, c);
}

template <class Result, class Mask>
Result make_result(const problem& p, const Mask& mask) {
  void* const owner = owner_for(p.a.where, p.desc->stream);
  if constexpr (is_cbsr<Result>)
    return Result::uninitialised(mask.container.structure(), owner);
  else if constexpr (has_indices<Result>)
    return {decltype(Result::values)::uninitialised(p.a.rows, p.b.columns, p.a.where, owner),
            dense<int32>::uninitialised(p.a.rows, p.b.columns, p.a.where, owner)};
  else
    return Result::uninitialised(p.a.rows, p.b.columns, p.a.where, owner);
}

/// A problem whose result is new.
template <class Result, class S, class Name, class TA, dense_like B, class Mask>
problem new_problem(Name name, const matrix<TA>& a, const B& b, S s, const Mask& mask,
                    const descriptor& desc) {
  using element = typename Result::value_type;
  problem p = make_problem(name, a, b, mask, desc, s);
  p.creates_result = true;
  p.c.value_type = type_of<element>;
  p.c.value_bytes = sizeof(element);
  return p;
}

template <class Named, class S, class TA, dense_like B, class Mask, class Name = const char*>
mxm_result<Named, S, Mask> mxm_creating(const matrix<TA>& a, const B& b, S s, const Mask& mask,
                                        const descriptor& desc, Name name = "mxm") {
  using result = mxm_result<Named, S, Mask>;
  return or_out_of_memory(name, [&] {
    if constexpr (require_semiring<S>()) {
      problem p = new_problem<result>(name, a, b, s, mask, desc);
      check(p);
      auto c = make_result<result>(p, mask);
      fill_in_result(p, c, s);
      run(p);
      return c;
    } else {
      return result();
    }
  });
}

template <class Result, class S, class TA, dense_like B, class Mask, class Name = const char*>
void mxm_into(Result& c, accumulator accum, const matrix<TA>& a, const B& b, S s, const Mask& mask,
              const descriptor& desc, Name name = "mxm") {
  static_assert(!is_cbsr<Result>, "a cbsr is immutable and cannot be an existing result");
  static_assert(!is_cbsr_mask<Mask>, "a product under the structure of a cbsr is a new cbsr");
  or_out_of_memory(name, [&] {
    if constexpr (require_semiring<S>()) {
      problem p = make_problem(name, a, b, mask, desc, s);
      p.accum = accum;
      fill_in_result(p, c, s);
      check(p);
      run(p);
    }
  });
}

template <class TA, dense_like B, class S, class Mask>
explanation explain_product(const matrix<TA>& a, const B& b, S s, const Mask& mask,
                            const descriptor& desc) {
  return or_out_of_memory("explain", [&] {
    if constexpr (require_semiring<S>()) {
      problem p = new_problem<mxm_result<void, S>>("mxm", a, b, s, mask, desc);
      return explain(p);
    } else {
      return explanation();
    }
  });
}
/// @endcond

/// Sparse × dense over a semiring, into a new result.
///
///   C(i,j) = finish(⊕_k op(A)(i,k) ⊗ op(B)(k,j), n_i),  n_i = entries of row i of op(A)
///
/// Shapes: op(A) m×k, op(B) k×f, C m×f; op is the transpose if `desc` sets it. B is a `dense`, a
/// `quantized` or a `cbsr`. A place without products becomes `desc.fill`. Results have S's output
/// type, or a named one: mxm<half>(A, B, s). The same inputs and machine give the same bits for any
/// number of threads; docs/reference/mxm.md has the order, the error bounds and the rules for cbsr.
/// Places: all operands in one. Cost: O(nnz · f), for a cbsr O(nnz · k + rows · f); memory: the
/// result, derived structures, scratch. Throws error: shape, place, range, type, unknown_kernel,
/// cannot, out_of_memory; nothing is written then. Source: Huang et al., GE-SpMM, SC 2020.
/// @code
/// const auto sums = rig::mxm(A, B, rig::plus_times<float>{});
/// const auto best = rig::mxm(A, B, rig::max_second<float>{}, {.transpose_a = true, .fill = 0});
/// @endcode
template <class Element = void, class TA, dense_like B, class S>
mxm_result<Element, S> mxm(const matrix<TA>& a, const B& b, S s, const descriptor& desc = {}) {
  return mxm_creating<Element>(a, b, s, no_mask{}, desc);
}

/// The same under a mask: outside the mask, the new result is `desc.fill`.
///
///   C⟨mask⟩ = A ⊕.⊗ B
///
/// Under the structure of a cbsr the result is a cbsr that shares its indices; B is a dense, and no
/// other place is computed. So dY = mxm(A, dC, s, structure(Y), {.transpose_a = true}) is the
/// gradient of C = A ⊕.⊗ Y by the entries of Y = maxk(X, k), and dX = to_dense(dY).
/// Shapes: the mask as C. Deterministic; with .reproducible = false a device may add the floats of
/// such a gradient by atomics. Places: all in one. Cost: as the first form; under a cbsr O(nnz · k)
/// and derived structures. Throws as the first form. Source: MaxK-GNN, ASPLOS 2024.
/// @code
/// const auto s = rig::plus_times<float>{};
/// const auto part = rig::mxm(A, B, s, rig::structure(M), {.fill = -1});
/// const auto dY = rig::mxm(A, dC, s, rig::structure(Y), {.transpose_a = true});
/// @endcode
template <class Element = void, class TA, dense_like B, class S, mask_like Mask>
mxm_result<Element, S, Mask> mxm(const matrix<TA>& a, const B& b, S s, const Mask& mask,
                                 const descriptor& desc = {}) {
  return mxm_creating<Element>(a, b, s, mask, desc);
}

/// Into an existing result.
///
///   C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B), or = A ⊕.⊗ B with accumulator `none`
///
/// If the product has no entry because its row of op(A) is empty, C becomes fill without an
/// accumulator, and stays with one. Outside the mask, C becomes fill with desc.replace, and stays
/// without it. C may be a dense of any storage type, or an indexed_dense for arg-max and arg-min. C
/// may share memory with any operand: the result is as if the inputs were copied first, at the cost
/// of a copy of C. Throws as the first form, and read_only.
/// @code
/// rig::mxm(C, rig::accumulator::plus, A, B, rig::plus_times<float>{});
/// rig::mxm(C, rig::none, A, B, rig::plus_times<float>{}, rig::structure(M), {.replace = true});
/// @endcode
template <class Result, class TA, dense_like B, class S, option_like Option = descriptor>
void mxm(Result& c, accumulator accum, const matrix<TA>& a, const B& b, S s,
         const Option& option = {}, const behind<Option>& desc = {}) {
  mxm_into(c, accum, a, b, s, mask_among(option), descriptor_among(option, desc));
}

/// Explains a product into a new result of S's own type: every kernel's answer, and the choice.
/// A and B are the operands of an `mxm`, an `mxv` or a `vxm`.
///
/// Computes nothing, but may build derived structures. An existing result, its type and an
/// accumulator can change the answers and are not considered. Throws as the product.
/// @code
/// const auto why = rig::explain(A, B, rig::plus_times<float>{});
/// std::puts(why.text().c_str());
/// @endcode
template <class A, class B, class S, option_like Option = descriptor>
explanation explain(const A& a, const B& b, S s, const Option& option = {},
                    const behind<Option>& desc = {}) {
  return explain_product(a, b, s, mask_among(option), descriptor_among(option, desc));
}

}  // namespace rig
