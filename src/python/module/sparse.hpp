#pragma once

#include <memory>
#include <string>

#include "arrays.hpp"

// Sparse matrices and vectors of Python: rig's, with their types erased.

namespace rigblas {

/// A sparse matrix, or a sparse vector as a matrix of one row. Immutable and shared, as rig's.
struct sparse {
  std::shared_ptr<const rig::pattern> structure = rig::empty_pattern();
  rig::buffer values;
  std::shared_ptr<const void> keepalive;  ///< what owns borrowed values
  type stored = type::float32;
  bool is_iso = true;
  alignas(16) unsigned char iso[16] = {};

  rig::index rows() const { return structure->rows(); }
  rig::index columns() const { return structure->columns(); }
  rig::int64 nnz() const { return structure->nnz(); }
  rig::place where() const { return structure->where(); }
  /// Every entry is 1, so the type of the values says nothing.
  bool is_pattern() const;
};
struct matrix : sparse {};
struct vector : sparse {};

rig::sparse_operand operand_of(const sparse& from);
void fill_in(rig::operand& out, const sparse& from, bool is_vector);
/// A result of rig.
sparse sparse_from(rig::sparse_result made, type of);
/// With one value in all entries.
template <class T>
sparse iso_of(std::shared_ptr<const rig::pattern> structure, T value) {
  sparse out;
  out.structure = std::move(structure);
  out.stored = rig::type_of<T>;
  __builtin_memcpy(out.iso, &value, sizeof(T));
  return out;
}

/// The same with its type; shares everything.
template <class T>
rig::matrix<T> typed(const sparse& from) {
  if (!from.is_iso) return rig::matrix<T>(from.structure, from.values);
  T value;
  __builtin_memcpy(&value, from.iso, sizeof(T));
  return rig::matrix<T>(from.structure, value);
}
/// The same without its type; shares everything.
template <class T>
sparse erased(rig::matrix<T> from) {
  if (from.iso()) return iso_of(from.shared_structure(), from.iso_value());
  sparse out;
  out.structure = from.shared_structure();
  out.stored = rig::type_of<T>;
  out.is_iso = false;
  const auto kept = std::make_shared<const rig::matrix<T>>(std::move(from));
  out.values = rig::buffer::borrow(const_cast<T*>(kept->values()),
                                   static_cast<std::size_t>(kept->nnz()) * sizeof(T), kept->where(),
                                   kept->values_stream());
  out.keepalive = kept;
  return out;
}

/// The result of a function of rig on a matrix. Where rig returns its argument, so does this, with
/// what owns its memory.
template <class T, class Function>
matrix mapped(const matrix& a, Function function) {
  sparse out = erased<T>(function(typed<T>(a)));
  return !a.is_iso && out.values.data() == a.values.data() ? a : matrix{std::move(out)};
}

/// The matrix that an object is. Objects of SciPy, NetworkX and others are converted.
/// Throws TypeError.
matrix read_matrix(nb::handle object, const char* call, const char* name, const char* also = "");

void bind_sparse(nb::module_& m);

}  // namespace rigblas
