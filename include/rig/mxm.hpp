#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "rig/explain.hpp"
#include "rig/kernels/cpu/run.hpp"
#include "rig/kernels/list.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/semiring.hpp"

namespace rig_type_key {

/// A string that holds the full name of S. Outside namespace rig, where the compiler would leave
/// that name out.
template <class S>
constexpr const char* of() {
  return __PRETTY_FUNCTION__;
}

}  // namespace rig_type_key

namespace rig {

/// Element type of the result: the caller's if named, else the semiring's.
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

/// One stored value of A as S takes it.
template <semiring S>
void take_left(const void* from, type stored, void* out) {
  using left = typename S::left;
  if constexpr (is_storage<left>)
    on_cpu::convert_row<left>(from, stored, static_cast<left*>(out), 1);
  else
    __builtin_memcpy(out, from, sizeof(left));
}

/// `fill`, by default S's finished zero, in the storage type of the problem's C.
template <semiring S>
void write_stored(const problem& p, const scalar& fill, void* out) {
  const output<S> zero = finished<S>(S::zero(), 0);
  const auto in_type = [&](auto value) {
    using value_type = decltype(value);
    if constexpr (is_storage<value_type>) {
      const auto as = [&]<class To>(To) {
        const To filled = fill.has_value() ? fill.as<To>() : convert<To>(value);
        __builtin_memcpy(out, &filled, sizeof(To));
      };
      switch (p.c.value_type) {
        case type::boolean:
          return as(bool());
        case type::int32:
          return as(int32());
        case type::int64:
          return as(int64());
        case type::float32:
          return as(float());
        case type::float64:
          return as(double());
        case type::half:
          return as(half());
        case type::bfloat16:
          return as(bfloat16());
        case type::code:
        case type::other:
          return;
      }
    } else if constexpr (sizeof(value) <= 16) {
      __builtin_memcpy(out, &value, sizeof(value));
    }
  };
  if constexpr (is_indexed<output<S>>)
    in_type(zero.value);
  else
    in_type(zero);
}

/// The fill of a problem over S, in the storage type of its C.
template <semiring S>
void write_fill(const problem& p, void* out) {
  write_stored<S>(p, p.desc->fill, out);
}

/// Can a place of A ⊕.⊗ B, B a cbsr, that has no products be told from one whose sum is zero()? If
/// not, nobody need remember which is which.
template <semiring S>
bool needs_presence_flags(const problem& p) {
  if (has_finish<S> && samples_as<S> != reduction::mean) return true;
  if constexpr (is_storage<output<S>> && is_storage<typename S::accum>) {
    if (p.accum != accumulator::none) return true;
    // As C stores them, which may hold a fill that the semiring's type rounds to its zero.
    unsigned char fill[16] = {}, zero[16] = {};
    write_fill<S>(p, fill);
    write_stored<S>(p, {}, zero);
    return __builtin_memcmp(fill, zero, sizeof(fill)) != 0;
  }
  return true;
}

/// 64 bits of a text, and of what was hashed before it.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t before = 0) {
  std::uint64_t hash = before ^ 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

/// Is S what RIG_SEMIRING defined, whose text is known? What is derived from that is not.
template <class S>
concept has_source = requires {
  S::rig_source;
  requires is_same<typename S::rig_defined, S>;
};

/// The one record of a semiring that the library sees.
template <semiring S>
inline constexpr semiring_info info_of = {
    [] {
      if constexpr (requires { S::name; })
        return S::name;
      else
        return "a semiring of the caller";
    }(),
    rig_type_key::of<S>(),
    [] {
      const std::uint64_t of_name = hash_of(rig_type_key::of<S>());
      if constexpr (has_source<S>)
        return hash_of(S::rig_source.body, of_name);
      else
        return of_name;
    }(),
    is_storage<typename S::left>&& is_storage<typename S::right>&& std::string_view(
        rig_type_key::of<S>())
            .find("S = rig::") != std::string_view::npos,
    [] {
      if constexpr (has_source<S>)
        return &S::rig_source;
      else
        return static_cast<const source_text*>(nullptr);
    }(),
    type_of<typename S::left>,
    type_of<typename S::right>,
    type_of<typename result_element<void, S>::natural>,
    sizeof(typename S::left),
    sizeof(typename S::right),
    sizeof(typename S::accum),
    sizeof(typename result_element<void, S>::natural),
    is_ignoring_left<S>,
    is_ignoring_right<S>,
    positional<S>,
    has_finish<S>,
    is_indexed<output<S>>,
    samples_as<S>,
    is_linear<S>&& is_same<typename S::accum, float>,
    is_rescaling<S>,
    &on_cpu::run<S>,
    &take_left<S>,
    &write_fill<S>,
    &needs_presence_flags<S>,
};

struct no_mask {};

template <class Mask>
inline constexpr bool is_cbsr_mask = false;
template <class T>
inline constexpr bool is_cbsr_mask<mask<cbsr<T>>> = true;

/// What a product is: a cbsr under the structure of one, else dense.
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

/// The same of a product over S; where S is refused, which is an error of its own, any type.
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
template <class Named, class S, class Mask = no_mask>
using mxm_result = typename product_result<Named, S, Mask>::type;

/// A storage type converts to every arithmetic algebra type; any other type serves only as itself.
template <class Stored, class Algebra>
inline constexpr bool is_loadable = is_same<Stored, Algebra> ||
                                    (is_storage<Stored> && is_storage<Algebra>);

/// What B can be, and the type that its elements are read as.
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
template <class B>
concept dense_like = requires {
  typename right_operand<B>::element;
};

template <semiring S, class TA, dense_like B, class Mask>
problem make_problem(const char* operation, const matrix<TA>& a, const B& b, const Mask& mask,
                     const descriptor& desc) {
  static_assert(is_loadable<TA, typename S::left>,
                "A's storage type does not convert to the semiring's left type");
  static_assert(is_loadable<typename right_operand<B>::element, typename S::right>,
                "B's storage type does not convert to the semiring's right type");
  static_assert(!is_cbsr<B> || !is_cbsr_mask<Mask>, "under the structure of a cbsr B is a dense");
  problem p;
  p.operation = operation;
  p.algebra = &info_of<S>;
  p.structure = &a.structure();
  p.desc = &desc;
  fill_in(p.a, a);
  fill_in(p.b, b);
  if constexpr (!std::is_same_v<Mask, no_mask>) fill_in(p.mask, mask);
  return p;
}

template <semiring S, class T>
void fill_in_result(problem& p, dense<T>& c) {
  using element = typename result_element<void, S>::type;
  static_assert(!is_indexed<output<S>>, "this semiring yields two arrays: give an indexed_dense");
  static_assert(is_loadable<T, element>,
                "C's storage type does not convert from the semiring's output type");
  static_cast<void>(c.data());  // refuses read-only views
  fill_in(p.c, c);
}
template <semiring S, class T>
void fill_in_result(problem& p, indexed_dense<T>& c) {
  static_assert(is_indexed<output<S>>, "this semiring yields one array: give a dense");
  static_assert(is_loadable<T, typename result_element<void, S>::natural>,
                "C's storage type does not convert from the semiring's value type");
  static_cast<void>(c.values.data());
  static_cast<void>(c.indices.data());
  fill_in(p.c, c.values);
  fill_in(p.indices, c.indices);
}

template <semiring S, class T>
void fill_in_result(problem& p, cbsr<T>& c) {
  static_assert(is_loadable<T, typename result_element<void, S>::type>,
                "C's storage type does not convert from the semiring's output type");
  fill_in(p.c, c);
}

template <class Result, class Mask>
Result make_result(const problem& p, const Mask& mask) {
  void* const owner = owner_for(p.a.where, p.desc->stream);
  if constexpr (is_cbsr<Result>)
    return Result::uninitialised(mask.container.structure(), owner);
  else if constexpr (requires { Result().indices; })
    return {decltype(Result::values)::uninitialised(p.a.rows, p.b.columns, p.a.where, owner),
            dense<int32>::uninitialised(p.a.rows, p.b.columns, p.a.where, owner)};
  else
    return Result::uninitialised(p.a.rows, p.b.columns, p.a.where, owner);
}

template <class Named, class S, class TA, dense_like B, class Mask>
mxm_result<Named, S, Mask> mxm_fresh(const matrix<TA>& a, const B& b, const Mask& mask,
                                     const descriptor& desc) {
  return or_out_of_memory("mxm", [&] {
    if constexpr (require_semiring<S>()) {
      problem p = make_problem<S>("mxm", a, b, mask, desc);
      p.creates_result = true;
      check(p);
      auto c = make_result<mxm_result<Named, S, Mask>>(p, mask);
      fill_in_result<S>(p, c);
      run(p);
      return c;
    } else {
      return mxm_result<Named, S, Mask>();
    }
  });
}

template <class S, class Result, class TA, dense_like B, class Mask>
void mxm_into(Result& c, accumulator accum, const matrix<TA>& a, const B& b, const Mask& mask,
              const descriptor& desc) {
  static_assert(!is_cbsr<Result>, "a cbsr is immutable, and no result to write into");
  static_assert(!is_cbsr_mask<Mask>, "a product under the structure of a cbsr is a new cbsr");
  or_out_of_memory("mxm", [&] {
    if constexpr (require_semiring<S>()) {
      problem p = make_problem<S>("mxm", a, b, mask, desc);
      p.accum = accum;
      fill_in_result<S>(p, c);
      check(p);
      run(p);
    }
  });
}

/// Sparse × dense over a semiring, into a new dense result. B is a `dense`, a `quantized`, whose
/// elements are floats, or a `cbsr`, of which see below.
///
///   C(i,j) = finish(⊕_k op(A)(i,k) ⊗ op(B)(k,j), n_i),  n_i = entries of row i of op(A)
///
/// Shapes: op(A) m×k, op(B) k×f, C m×f; op is the transpose where the descriptor says so. A row
/// without entries yields `desc.fill`, by default the finished zero of S. Operands convert to
/// S::left and S::right as they are loaded, results to the element type, which is S's output unless
/// named: mxm<half>(A, B, s). A quantized with a range for each column has no transpose. Order: the
/// entries of a row ascend, or are folded in a fixed tree; same inputs and machine, same bits, for
/// any number of threads. Without fused multiply-add (RIG_ISA=baseline, a semiring of the caller in
/// a build without optimisation) the last bits of floats differ from those with it. Error, B a
/// dense: half and bfloat16 convert to float exactly; a sum of n floats is within (n + 1) · 2⁻²³ ·
/// Σ|terms| of that of the real numbers which the operands are once converted (doubles: 2⁻⁵²), and
/// a mean divides it, rounding once; maxima, minima and their arguments round nothing but their
/// terms. What is stored as half or bfloat16 is rounded once more, to nearest. Places: all operands
/// in one. Cost: O(nnz · f); memory: the result, the derived structures that A keeps, and scratch
/// of kernels. Throws error: shape, place, range, unknown_kernel, cannot, out_of_memory; nothing
/// was written then. Source: Huang et al., GE-SpMM, SC 2020, for one product with any reduction.
///
/// A cbsr is a sparse B, and ⊕ goes over the k where it has entry (k,j): a place of C to which no
/// entry of B contributes has no products, and is treated as one of an empty row: `desc.fill`, or
/// with an accumulator what C held. n_i stays the entries of row i of op(A): a mean divides by
/// degree. The semirings are those with `samples_as`; a cbsr has no transpose. With
/// {.kernel = "maxk", .k = 32} the product is that of maxk(B, 32), B a dense of float, double, half
/// or bfloat16. Places: all in one. Cost: O(nnz · k + rows · f), on a device nnz · k for each
/// tile of columns that shared memory holds, some thousands; on the CPU f accumulators a
/// thread, on a device those of the pieces that long rows are cut in, and there a sum has at most
/// 64 bytes. Source: MaxK-GNN, ASPLOS 2024.
template <class Element = void, class TA, dense_like B, class S>
mxm_result<Element, S> mxm(const matrix<TA>& a, const B& b, S, const descriptor& desc = {}) {
  return mxm_fresh<Element, S>(a, b, no_mask{}, desc);
}

/// The same under a mask: outside it, the new result is `desc.fill`. See the first form.
///
/// Under the structure of a cbsr the result is a cbsr that shares its indices: the places of the
/// product that it stores, and no others are computed. So the gradient of C = A ⊕.⊗ maxk(X, k) by
/// what MaxK kept, Y = maxk(X, k), is
///
///   dY = mxm(A, dC, s, structure(Y), {.transpose_a = true})
///
/// with s = plus_times (plus_second for a sum that ignores A's values), and dX = to_dense(dY). The
/// mean divides each row of dC by the entries of that row of A, not of Aᵀ: W = mean_normalise(A)
/// in place of A, with plus_times, gives the mean forward and its gradient backward. B is a dense;
/// the result's type float, double, half or bfloat16; any semiring of one array. A row of op(A)
/// without entries yields `desc.fill`. Deterministic, without atomics: the sum of a place is formed
/// in a fixed order, on the CPU that of A's entries. With {.transpose_a = true, .reproducible =
/// false} the floats of a semiring that says it is `linear` are on a device added by atomics, in
/// any order, where 56 rows of B fit in a block's shared memory (1037 floats a row on an H200):
/// other bits each time, within the rounding of a sum in any order, and up to 1.9 times as fast
/// (not where half of the columns are kept: there it may be in a fixed order). Places: all in one.
/// Cost: O(nnz · k), and A's derived structure "transpose"; on a device, where rows of B are read
/// by panels, the derived structure "row panels" too, up to 20 bytes an entry and 4 a row, and in a
/// fixed order k accumulators of scratch for each panel and row of C that meet, an eighth of the
/// device's memory at most. Source: MaxK-GNN, ASPLOS 2024, there an outer product with atomics.
template <class Element = void, class TA, dense_like B, class S, class Container>
mxm_result<Element, S, mask<Container>> mxm(const matrix<TA>& a, const B& b, S,
                                            const mask<Container>& mask,
                                            const descriptor& desc = {}) {
  return mxm_fresh<Element, S>(a, b, mask, desc);
}

/// Into an existing result: C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B), or = A ⊕.⊗ B with accumulator `none`.
///
/// Where the product has no entry (its row of op(A) is empty): without accumulator C becomes fill,
/// with one C stays. Outside the mask: with desc.replace C becomes fill, else it stays. C may be a
/// dense of any storage type, or an indexed_dense for arg-max and arg-min, and may share memory
/// with any operand: the result is as if the inputs were copied first (and then costs a copy of C).
/// Throws as the first form, and read_only.
template <class Result, class TA, dense_like B, class S, class Container>
void mxm(Result& c, accumulator accum, const matrix<TA>& a, const B& b, S,
         const mask<Container>& mask, const descriptor& desc = {}) {
  mxm_into<S>(c, accum, a, b, mask, desc);
}
template <class Result, class TA, dense_like B, class S>
void mxm(Result& c, accumulator accum, const matrix<TA>& a, const B& b, S,
         const descriptor& desc = {}) {
  mxm_into<S>(c, accum, a, b, no_mask{}, desc);
}

template <class S, class TA, dense_like B, class Mask>
explanation explain_fresh(const matrix<TA>& a, const B& b, const Mask& mask,
                          const descriptor& desc) {
  return or_out_of_memory("explain", [&] {
    if constexpr (require_semiring<S>()) {
      problem p = make_problem<S>("mxm", a, b, mask, desc);
      p.creates_result = true;
      using element = typename result_element<void, S>::type;
      p.c.value_type = type_of<element>;
      p.c.value_bytes = sizeof(element);
      return explain(p);
    } else {
      return explanation();
    }
  });
}

/// What a product into a new result of S's own type would do: every kernel's answer and the choice.
/// Nothing is computed; derived structures may be built. An existing result, its type and an
/// accumulator are not asked for; they can change the answers. Throws as `mxm`.
template <class TA, dense_like B, class S>
explanation explain(const matrix<TA>& a, const B& b, S, const descriptor& desc = {}) {
  return explain_fresh<S>(a, b, no_mask{}, desc);
}
template <class TA, dense_like B, class S, class Container>
explanation explain(const matrix<TA>& a, const B& b, S, const mask<Container>& mask,
                    const descriptor& desc = {}) {
  return explain_fresh<S>(a, b, mask, desc);
}

}  // namespace rig
