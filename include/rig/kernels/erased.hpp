#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rig/elementwise.hpp"
#include "rig/named_semiring.hpp"

// Containers and calls whose element types are values at run time. Bindings of other languages, C
// and Python, are written in them.

namespace rig {

/// Calls work(T{}) with that of the C++ types whose storage type is `of`; the last one if none is.
template <class T, class... Others, class Work>
auto with_one_of(type of, Work& work) {
  if constexpr (sizeof...(Others) > 0)
    if (of != type_of<T>) return with_one_of<Others...>(of, work);
  return work(T());
}
/// Calls work(T{}) with the C++ type of a storage type.
template <class Work>
auto with_type(type of, Work work) {
  return with_one_of<bool, int32, int64, double, half, bfloat16, float>(of, work);
}
/// The same of a type in which elements are computed: not half and bfloat16.
template <class Work>
auto with_algebra(type of, Work work) {
  return with_one_of<bool, int32, int64, double, float>(of, work);
}

/// "float32", as NumPy writes it; half is float16; or "code" or "other".
const char* type_name(type of);
std::size_t bytes_of(type of);
/// The type in which elements are computed: float32 for float16 and bfloat16.
type algebra_of(type of);
/// The type in which elements of two types meet, as NumPy's: float64 for integers with any float;
/// float32 for float16 with bfloat16.
type common_of(type x, type y);

/// The names of operators, in the order of their enums.
std::span<const char* const> accumulator_names();
std::span<const char* const> binary_names();
std::span<const char* const> unary_names();
std::span<const char* const> selection_names();
/// The number of a name in a list. Throws error(range), which lists the names.
int number_of_name(const char* call, const char* what, std::string_view name,
                   std::span<const char* const> names);

/// A sparse matrix without its type, or a sparse vector as a matrix of one row. Immutable and
/// shared, as `matrix` is.
struct erased_matrix {
  std::shared_ptr<const pattern> structure = empty_pattern();
  buffer values;
  std::shared_ptr<const void> keepalive = nullptr;  ///< what owns borrowed values
  type stored = type::float32;
  bool is_iso = true;
  alignas(16) unsigned char iso[16] = {};

  index rows() const { return structure->rows(); }
  index columns() const { return structure->columns(); }
  int64 nnz() const { return structure->nnz(); }
  place where() const { return structure->where(); }
  /// Every entry is 1, so the type of the values says nothing.
  bool is_pattern() const;
};

sparse_operand operand_of(const erased_matrix& from);
void fill_in(operand& out, const erased_matrix& from, bool is_vector);
erased_matrix erased(sparse_result made, type of);
/// The values in another type; shares the pattern.
erased_matrix converted(const erased_matrix& from, type to);
/// A copy in another place, or the same if it is there.
erased_matrix moved(const erased_matrix& from, place target);

/// With one value in all entries.
template <class T>
erased_matrix iso_of(std::shared_ptr<const pattern> structure, T value) {
  erased_matrix out;
  out.structure = std::move(structure);
  out.stored = type_of<T>;
  __builtin_memcpy(out.iso, &value, sizeof(T));
  return out;
}
/// The same with its type; shares everything.
template <class T>
matrix<T> typed(const erased_matrix& from) {
  if (!from.is_iso) return matrix<T>(from.structure, from.values);
  T value;
  __builtin_memcpy(&value, from.iso, sizeof(T));
  return matrix<T>(from.structure, value);
}
/// The same without its type; shares everything.
template <class T>
erased_matrix erased(matrix<T> from) {
  if (from.iso()) return iso_of(from.shared_structure(), from.iso_value());
  erased_matrix out;
  out.structure = from.shared_structure();
  out.stored = type_of<T>;
  out.is_iso = false;
  const auto kept = std::make_shared<const matrix<T>>(std::move(from));
  out.values = buffer::borrow(const_cast<T*>(kept->values()),
                              static_cast<std::size_t>(kept->nnz()) * sizeof(T), kept->where(),
                              kept->values_stream());
  out.keepalive = kept;
  return out;
}
/// A pattern over memory of the caller, whose owner lives as long as any copy or result with it.
std::shared_ptr<const pattern> over_foreign(std::shared_ptr<const pattern> of,
                                            std::shared_ptr<const void> owner);

/// A number of a program, and which kind it is there.
struct given_number {
  enum class kind : unsigned char { boolean, integer, real } is;
  scalar value;
};
/// Calls work(y) with a number as a bool, an int64 or a double.
template <class Work>
auto with_number(const given_number& y, Work work) {
  if (y.is == given_number::kind::boolean) return work(y.value.as<bool>());
  if (y.is == given_number::kind::real || !y.value.is_integer()) return work(y.value.as<double>());
  return work(y.value.as<int64>());
}
/// A number in a storage type.
struct typed_number {
  alignas(8) unsigned char bytes[8] = {};
  type stored = type::other;

  typed_number() = default;
  template <class A>
  explicit typed_number(A value) : stored(type_of<A>) {
    __builtin_memcpy(bytes, &value, sizeof(A));
  }
};

/// An operation, and what its record refers to.
struct erased_operation : operation {
  using operation::operation;
  erased_operation(const erased_operation&) = delete;
  erased_operation& operator=(const erased_operation&) = delete;

  type natural = type::other;  ///< of a new result whose type is not named
  typed_number number;
  monoid_info monoid = {};

  void set_scalar(const typed_number& to) {
    number = to;
    scalar = number.bytes;
    scalar_type = number.stored;
    scalar_bytes = bytes_of(number.stored);
  }
};

/// x op y at the places of either operand, or of both. The operands are filled in.
void set_join(erased_operation& o, bool is_union, binary op);
/// x op y of two elements.
void set_binary(erased_operation& o, binary op, type over);
/// f(x), or x op y and y op x with a number. The operand is filled in.
void set_function(erased_operation& o, unary function);
void set_function(erased_operation& o, binary op, const given_number& y, bool is_first);
/// The entries for which `how` holds.
void set_selection(erased_operation& o, selection how, const given_number& y);
/// Sums of rows, or of everything by `run_reduce`, which writes to `number`.
void set_sums(erased_operation& o, binary op);
/// X as it is, in a map, or of a dense in an extract: its transpose, if the descriptor has it.
void set_copy(erased_operation& o);
/// X ⊕.⊗ Y with a sparse result. Throws error(cannot) for a semiring with two results.
void set_product(erased_operation& o, const builtin_pair& by, bool y_transposed);
/// A ⊕.⊗ B with a dense result; the caller sets the descriptor and C.
problem dense_product(const char* call, const erased_matrix& a, const dense_operand& b,
                      const builtin_pair& by);

/// Whether the result is sparse. Operands and C are filled in.
bool yields_sparse(const operation& o);
/// The type of the result, and the fill in it.
void set_result_type(operation& o, const scalar& fill, type of);
/// The operator that joins C, of type `stored`, and T, in the common type of both.
void set_accumulator(operation& o, accumulator accum, type natural, type stored);

/// The name of u ⊗ a in place of a ⊗ u, or an empty one if it has none.
std::string_view exchanged_name(std::string_view semiring);

/// A semiring of a program: expressions of C++ over sums x and y, an entry a and an element b.
struct semiring_text {
  std::string name;
  type of = type::float32;  ///< in which it computes
  std::string add, multiply, zero;
  std::string finish = {}, terminal = {};  ///< empty: there is none
  bool is_checked = false;                 ///< whether the laws are checked on sample numbers
};
/// Compiles it by $CXX, unless the cache has its library, and loads it; it is never unloaded.
/// Throws error: format, for a text that does not compile or breaks a law; type; cannot; io.
const builtin_pair& compile_semiring(const semiring_text& given);

}  // namespace rig
