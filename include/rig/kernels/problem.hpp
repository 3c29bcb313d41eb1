#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rig/cbsr.hpp"
#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/mask.hpp"
#include "rig/matrix.hpp"
#include "rig/quantized.hpp"
#include "rig/semiring.hpp"

namespace rig {

struct closing;
struct kernel;
struct problem;

/// A semiring's definition as text, for the run-time compiler.
struct source_text {
  const char* name;
  const char* body;
  const char* file;
  int line;
};

/// The properties of a semiring that the list of kernels needs, without its type. There is one
/// static instance per type, whose address identifies the semiring.
struct semiring_info {
  const char* name;
  const char* key;            ///< contains the type's full name: its identity across libraries
  std::uint64_t key_hash;     ///< hash of that name and the source's text, compared instead of them
  bool is_rigs;               ///< the semiring and its types are rig's: the library has the text
  const source_text* source;  ///< the definition as text; null unless RIG_SEMIRING defined it
  type left, right, result;   ///< algebra types; result: of finish, or of its values if indexed
  std::size_t left_bytes, right_bytes, accum_bytes, result_bytes;
  bool ignores_left, ignores_right, is_positional, has_finish, has_terminal,
      ends_early,  ///< a sum of ascending inner indices can be known before its last product
      is_indexed;
  reduction samples_as;
  bool linear_in_floats;    ///< `linear` with float sums: any order differs only by rounding
  bool exact_in_any_order;  ///< add is exact, so its order does not change a bit of a sum
  bool rescales;            ///< sums are numbers, so they can be multiplied by row_nnz / staged
  void (*take_left)(const void* from, type stored, void* out);  ///< converts one value of A
  /// Writes the fill of a problem in the storage type of its C, at most 16 bytes; does nothing if
  /// the result has more.
  void (*fill)(const problem&, void* out);
  bool (*needs_presence_flags)(
      const problem&);  ///< whether a sparse B's product must flag its places
};

/// A sparse operand, already in the orientation that the product needs.
struct sparse_operand {
  index rows = 0, columns = 0;
  int64 nnz = 0;
  const void* offsets = nullptr;   ///< rows + 1 numbers: int64 if offsets_64, else int32
  const index* entries = nullptr;  ///< column of each entry, ascending within a row
  const void* permutation =
      nullptr;                   ///< value of entry p is values[permutation[p]]; null: values[p]
  const void* values = nullptr;  ///< null: every entry is `iso`
  alignas(16) unsigned char iso[16] = {};
  std::size_t value_bytes = 0;
  type value_type = type::other;
  bool offsets_64 = false;
  place where;
  void* stream = nullptr;  ///< the stream of offsets and entries
  void* values_stream = nullptr;

  int64 offset(index row) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
  int64 value_at(int64 p) const {
    if (permutation == nullptr) return p;
    return offsets_64 ? static_cast<const int64*>(permutation)[p]
                      : static_cast<const int32*>(permutation)[p];
  }
};

/// A dense operand or result, row-major. For a `quantized` (only B can be one), `data` are codes of
/// a byte and value_type is `code`. Element (i, j) is the float nearest to
///   low[r] + step[r] · code(i, j),  r = j if per_column, else 0.
/// For a `cbsr` (B, or the mask and then C), k > 0: `data` are its values and stride is k. Stored
/// entry p of row i, value data[i·k + p], lies in column index(i·k + p). A mask has null data.
struct dense_operand {
  void* data = nullptr;
  index rows = 0, columns = 0;
  int64 stride = 0;
  std::size_t value_bytes = 0;
  type value_type = type::other;
  bool per_column = false;
  const float* low = nullptr;  ///< in the operand's place, as is `step`
  const float* step = nullptr;
  int k = 0;                      ///< stored entries per row of a cbsr; 0: not a cbsr
  const void* indices = nullptr;  ///< of a cbsr: unsigned char if indices_8, else unsigned short
  bool indices_8 = false;
  void* beside_stream = nullptr;  ///< the stream of a cbsr's indices, or of low and step
  place where;
  void* stream = nullptr;

  std::size_t extent() const {
    if (rows == 0 || columns == 0) return 0;
    return (static_cast<std::size_t>(rows - 1) * static_cast<std::size_t>(stride) +
            static_cast<std::size_t>(k > 0 ? k : columns)) *
           value_bytes;
  }
};

/// A new sparse matrix without its type.
struct sparse_result {
  std::shared_ptr<const pattern> structure;
  buffer values;  ///< unless is_iso
  bool is_iso = false;
  alignas(16) unsigned char iso[16] = {};
};

/// The mask of a call: a matrix, a dense or a cbsr. Under a cbsr the result is a cbsr, and `full`
/// has no data.
struct mask_operand {
  enum class kind : unsigned char { absent, matrix, dense, cbsr };
  kind over = kind::absent;
  bool structural = false, complemented = false;
  bool is_vector = false;  ///< of a sparse vector: a row, which masks an n×1 dense as a column
  std::shared_ptr<const pattern> structure;  ///< the pattern of `sparse`
  sparse_operand sparse;
  dense_operand full;

  bool is_there() const { return over != kind::absent; }
  index rows() const { return over == kind::matrix ? sparse.rows : full.rows; }
  index columns() const { return over == kind::matrix ? sparse.columns : full.columns; }
  place where() const { return over == kind::matrix ? sparse.where : full.where; }
};

/// What every call has.
struct any_call {
  const char* name = "mxm";
  const descriptor* desc = nullptr;
  mask_operand mask;
  accumulator accum = accumulator::none;
  bool creates_result = false;  ///< the result is new: outside the mask it becomes fill
};

/// B of a product with a sparse result. Kernels read it by rows, or by columns: the rows of the
/// transpose.
struct right_sparse {
  sparse_operand sparse;                     ///< as it is stored
  std::shared_ptr<const pattern> structure;  ///< null: B is dense
  bool is_transposed = false;                ///< op(B) is the transpose of the stored one

  index rows() const { return is_transposed ? sparse.columns : sparse.rows; }
  index columns() const { return is_transposed ? sparse.rows : sparse.columns; }
};

/// One product with its types erased: hop 0 fills it, hop 1 checks it, and kernels read it.
///   C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B)
struct problem : any_call {
  const semiring_info* algebra = nullptr;
  void (*run_cpu)(int kernel, const problem&) = nullptr;  ///< CPU kernels with a dense result
  /// CPU kernels with a sparse result; null if the result is dense.
  sparse_result (*multiply_cpu)(int kernel, const problem&) = nullptr;
  sparse_operand a;
  dense_operand b;
  index planned_columns = 0;     ///< the plan is for so many, of which B has a slice; 0: for B's
  index planned_first = 0;       ///< the first column of the slice
  dense_operand left_full;       ///< A, if it is dense
  right_sparse right;            ///< B, if it is sparse
  bool is_vector = false;        ///< of sparse A and B: A is a sparse vector, a row
  bool flips_positions = false;  ///< of a vector: C is a column, so that its index is the row
  double products = 0;           ///< of sparse A and B: the number of a ⊗ b
  dense_operand c;               ///< data is null until the result exists
  dense_operand indices;         ///< second array of an indexed result
  bool is_updated = false;       ///< `updated` = C · `weights`; C has no data if it is not stored
  dense_operand weights, updated;
  closing* closure = nullptr;          ///< C = C ⊕ C·A until nothing changes; B has no data
  const pattern* structure = nullptr;  ///< the pattern of A
  const pattern* oriented = nullptr;   ///< the pattern that `a` reads: the same, or its transpose
  const kernel* named = nullptr;       ///< the kernel that the descriptor names
  const kernel* preferred = nullptr;   ///< the kernel that RIG_KERNEL names in this place
  bool reasons = false;                ///< answers include reasons as text, which allocates
  const sparse_operand* rescaled_to = nullptr;  ///< `a` samples it, and sums are rescaled
  std::shared_ptr<const pattern> keepalive;     ///< the transpose, during the call
  buffer keepalive_b;                           ///< the transposed copy of B
  std::shared_ptr<const derived> statistics;    ///< of the rows of `oriented`; null on the CPU
  bool captured = false;                        ///< the call is captured in a CUDA graph
};

/// Hop 1, first half: orients the operands, forming the transposes that the descriptor sets. Throws
/// before it writes anything if the problem is malformed.
void check(problem& p);

/// Hop 1, second half: runs the named kernel, or the cheapest one that can serve.
void run(problem& p);

/// "3x4"
inline std::string shape_text(index rows, index columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

/// A pattern as an operand without values.
sparse_operand view(const pattern& of);

/// Reads an operand with this pattern as its transpose, which the pattern keeps. Returns the
/// pattern that it then has.
std::shared_ptr<const pattern> turn(sparse_operand& x, const pattern& of);

/// Fills the operand records. The containers must outlive the problem.
template <class T>
void fill_in(sparse_operand& out, const matrix<T>& from) {
  static_assert(sizeof(T) <= sizeof(out.iso), "a matrix's values have at most 16 bytes");
  out = view(from.structure());
  out.values_stream = from.values_stream();
  out.values = from.values();
  const T iso = from.iso_value();
  __builtin_memcpy(out.iso, &iso, sizeof(T));
  out.value_bytes = sizeof(T);
  out.value_type = type_of<T>;
}

template <class T>
void fill_in(dense_operand& out, const dense<T>& from) {
  out.data = const_cast<T*>(from.data());
  out.rows = from.rows();
  out.columns = from.columns();
  out.stride = from.stride();
  out.value_bytes = sizeof(T);
  out.value_type = type_of<T>;
  out.where = from.where();
  out.stream = from.stream();
}

inline void fill_in(dense_operand& out, const quantized& from) {
  out.data = const_cast<unsigned char*>(from.data());
  out.rows = from.rows();
  out.columns = from.columns();
  out.stride = from.columns();
  out.value_bytes = 1;
  out.value_type = type::code;
  out.per_column = from.per_column();
  out.low = from.low();
  out.step = from.step();
  out.where = from.where();
  out.stream = out.beside_stream = from.stream();
}

inline void fill_in(dense_operand& out, const cbsr_pattern& from) {
  out.rows = from.rows();
  out.columns = from.columns();
  out.stride = out.k = from.k();
  out.indices = from.indices();
  out.indices_8 = from.index_bytes() == 1;
  out.beside_stream = from.stream();
  out.where = from.where();
}
template <class T>
void fill_in(dense_operand& out, const cbsr<T>& from) {
  fill_in(out, from.structure());
  out.data = const_cast<T*>(from.values());
  out.value_bytes = sizeof(T);
  out.value_type = type_of<T>;
  out.stream = from.stream();
}

template <class T>
void fill_in(mask_operand& out, const mask<matrix<T>>& from) {
  out.over = mask_operand::kind::matrix;
  out.structural = from.structural;
  out.complemented = from.complemented;
  out.structure = from.container.shared_structure();
  if constexpr (is_storage<T>)
    fill_in(out.sparse, from.container);
  else
    fill_in(out.sparse, from.container.with_value(true));  // a mask by structure reads no values
}
template <class T>
void fill_in(mask_operand& out, const mask<dense<T>>& from) {
  require_values<T>();
  out.over = mask_operand::kind::dense;
  out.structural = from.structural;
  out.complemented = from.complemented;
  fill_in(out.full, from.container);
}
template <class T>
void fill_in(mask_operand& out, const mask<cbsr<T>>& from) {
  if (!from.structural || from.complemented)
    fail(errc::cannot,
         {"mask: a cbsr cannot be a mask by its ", from.complemented ? "complement" : "values",
          "; pass rig::structure of it"});
  out.over = mask_operand::kind::cbsr;
  out.structural = true;
  fill_in(out.full, from.container.structure());
}

}  // namespace rig
