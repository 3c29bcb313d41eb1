#pragma once

#include <optional>

#include "rig/explain.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/operators.hpp"

// Operations other than products, with their types erased. Hop 0 fills an `operation`; hop 1 checks
// it and runs its kernel. Sparse results are new matrices; they replace the content of C.

namespace rig {

/// Where the elements of an operand are: position p of a sparse operand is an entry, position
/// i·stride + j of a dense one is an element.
struct element_source {
  const void* values = nullptr;  ///< null: every element is `iso`
  const unsigned char* iso = nullptr;
  const void* permutation = nullptr;  ///< as in sparse_operand
  bool permutation_64 = false;
  type stored = type::other;
  std::size_t bytes = 0;
};

inline element_source source_of(const sparse_operand& of) {
  return {of.values, of.iso, of.permutation, of.offsets_64, of.value_type, of.value_bytes};
}
/// Packed elements.
inline element_source source_of(const void* values, type stored, std::size_t bytes) {
  return {values, nullptr, nullptr, false, stored, bytes};
}
inline element_source source_of(const dense_operand& of) {
  return source_of(of.data, of.value_type, of.value_bytes);
}

/// The positions of a block's elements in an operand; negative: absent.
struct element_positions {
  const int64* list = nullptr;  ///< null: first, first + 1, …
  int64 first = 0;

  int64 operator[](int k) const { return list != nullptr ? list[k] : first + k; }
  bool are_adjacent() const { return list == nullptr && first >= 0; }
};

/// Up to `most` elements for an operator on the CPU: element k joins x at position x[k] with y at
/// position y[k].
struct element_block {
  static constexpr int most = 256;
  const element_source *x_of, *y_of;
  element_positions x, y;
  unsigned char code;  ///< which builtin operator; others have their own function
  type out_type;
  std::size_t out_bytes;
  void* out;
  int count;
  const index *rows = nullptr, *columns = nullptr;  ///< null unless the operator reads positions
  const void* scalar = nullptr;                     ///< the operator's y, in its type

  static constexpr element_positions absent = {nullptr, -most};
};

/// What an operator is: a builtin one, or part of a type.
enum class operator_kind : unsigned char { join, map, select, copy, add, multiply, apply };

/// The text of a type, for the run-time compiler.
struct definition {
  const char* key = nullptr;  ///< contains the type's full name
  bool is_rigs = false;       ///< the type is rig's: the library has the text
  const source_text* source = nullptr;
  std::uint64_t key_hash = 0;  ///< hash of that name and of the source's text
};

/// An operator without its type. `run_cpu` writes out[k] in `out_type`; where one of two operands
/// is absent, the other converted.
struct operator_info {
  const char* name;
  type result;  ///< type of its results, before they are stored
  std::size_t result_bytes;
  bool reads_positions;
  void (*run_cpu)(const element_block&);
  operator_kind kind;
  type algebra = type::other;  ///< of a builtin operator, or of x in an operator of the caller
  definition text = {};        ///< of a semiring, a monoid or an operator of the caller
};

/// The builtin operators on an algebra type: bool, int32, int64, float or double.
const operator_info& builtin_binary(type algebra);
const operator_info& builtin_comparison(type algebra);
const operator_info& builtin_unary(type algebra);
const operator_info& builtin_selection(type algebra);
/// Copies whichever operand is present, y before x, as bytes.
const operator_info& copying();

/// A monoid without its type. Folds are in an order that the count alone sets, so a result has the
/// same bits for any number of threads.
struct monoid_info {
  const char* name;
  type result;  ///< accum
  std::size_t result_bytes;
  const operator_info* add;
  unsigned char code = 0;  ///< which builtin operator `add` is
  /// Writes the sum of the elements at positions begin … end of x, at least one, in the type accum.
  void (*fold)(const monoid_info&, const element_source& x, int64 begin, int64 end, void* out);
};

/// The builtin monoids on an algebra type: plus, times, minimum, maximum, logical_or, logical_and.
/// Throws error(cannot) for another operator.
monoid_info builtin_monoid(const char* operation, binary op, type algebra);
/// Writes the identity of a builtin monoid, in its algebra type.
void write_identity(binary op, type algebra, void* out);

/// Which rows or columns an operation takes: all, an arithmetic sequence, or a list.
struct index_list {
  enum class kind : unsigned char { all, range, list, same };
  kind what = kind::all;
  index first = 0, last = 0, step = 1;  ///< the step of `same` is 0
  const index* list = nullptr;
  int64 count = 0;  ///< of `list` and `same`
  place where = cpu();
  void* stream = nullptr;         ///< of a list on a device
  std::optional<integers> given;  ///< of a list in another type: the caller's, for messages

  int64 size(index of_all) const;
  index operator[](int64 k) const {
    return what == kind::list ? list[k] : static_cast<index>(first + k * step);
  }
};

/// An operand of an operation: at most one of the two is in use.
struct operand {
  enum class kind : unsigned char { absent, sparse, dense };
  kind what = kind::absent;
  bool is_vector = false;  ///< a sparse vector, as a matrix of one row
  sparse_operand sparse;
  dense_operand full;
  std::shared_ptr<const pattern> structure;  ///< the pattern of `sparse`

  index rows() const { return what == kind::dense ? full.rows : sparse.rows; }
  index columns() const { return what == kind::dense ? full.columns : sparse.columns; }
  place where() const { return what == kind::dense ? full.where : sparse.where; }
};

/// Which element of a dense meets an entry (i, j) of X in a map: (i, 0), (j, 0) or (i, j).
enum class broadcast : unsigned char { absent, rows, columns, places };

/// The semiring of a product with a sparse result.
struct product_info {
  const semiring_info* algebra;
  sparse_result (*multiply_cpu)(int kernel, const problem&);
  bool flips_positions = false;  ///< X is a vector that Y multiplies: C is a column
};

/// Rows and columns.
struct result_shape {
  index rows, columns;
};

/// One operation with its types erased. T is its result before it joins C.
struct operation : any_call {
  enum class kind : unsigned char {
    merge,        ///< T joins X and Y: at places of either, or of both
    map,          ///< T has X's places; without X, T is the scalar everywhere
    spread,       ///< T is dense: Y or the scalar, joined with X at the entries of X
    select,       ///< T has those places of X at which `op` yields true
    reduce_rows,  ///< T is a vector: the sum of each row of X that has entries; of a dense, a dense
    build,        ///< T(rows[p], columns[p]) = X(p, 0), a dense
    extract,      ///< T(i,j) = X(rows[i], columns[j])
    sample,       ///< T has entries of X's rows rows[i] that `draw` draws
    assign,       ///< C(rows[i], columns[j]) = X(i,j), or the scalar
    product,      ///< T = X ⊕.⊗ Y, sparse
    kronecker,    ///< T(i·m + k, j·n + l) = X(i,j) op Y(k,l)
    diagonal,     ///< T is the matrix with the vector X on a diagonal
    from_diagonal,  ///< T is the vector of the entries on a diagonal of X
  };
  operation(const char* of_name, kind of) : what(of) {
    name = of_name;
    creates_result = true;
  }

  kind what;
  operand x = {}, y = {};
  const operator_info* op = nullptr;
  unsigned char code = 0;      ///< which builtin operator `op` is
  bool yields_vector = false;  ///< an n×1 dense masks it as 1×n
  /// y of `apply` and `select`, the number of `assign`, what `spread` has without Y, and the sum of
  /// no elements.
  const void* scalar = nullptr;
  type scalar_type = type::other;
  std::size_t scalar_bytes = 0;
  bool scalar_first = false;           ///< map: y is the operator's first operand
  broadcast y_by = broadcast::absent;  ///< map and spread with a dense y
  bool is_union = false;               ///< merge: places of either operand; else of both
  const monoid_info* sums = nullptr;   ///< reductions
  index_list rows = {}, columns = {};
  row_draw draw = {};
  index diagonal = 0;  ///< 0 is the main one, 1 the one above it
  const product_info* product = nullptr;
  bool y_transposed = false;  ///< product: Y is read as its transpose
  /// Of a dense C: the rows and columns that may change; null: all of them.
  const bool *region_rows = nullptr, *region_columns = nullptr;

  type out_type = type::other;  ///< storage type of the result
  std::size_t out_bytes = 0;

  operand c = {};  ///< the previous content; of a created result only the place and the shape
  /// Memory on the call's stream for the values of a `product` in the places of its mask; null: new
  /// memory.
  void* values = nullptr;
  alignas(16) unsigned char fill[16] = {};     ///< dense C outside a replacing mask, as C stores it
  const operator_info* accumulates = nullptr;  ///< C ⊙ T; null: no operator joins such elements
  unsigned char accumulates_code = 0;

  /// Whether T joins the content of C by an operator. `build` has one for its tuples.
  bool joins_c() const { return accum != accumulator::none && !creates_result; }
  /// The type of T: C's, unless it joins C in another.
  type t_type() const { return joins_c() ? accumulates->result : out_type; }
  std::size_t t_bytes() const { return joins_c() ? accumulates->result_bytes : out_bytes; }

  /// The place of the operands.
  place where() const { return x.what == operand::kind::absent ? c.where() : x.where(); }
  /// Whether X is a dense that is read as its transpose. A sparse X is turned before.
  bool turns_x() const { return x.what == operand::kind::dense && desc->transpose_a; }
  /// The shape of X as it is read.
  result_shape shape_of_x() const {
    return turns_x() ? result_shape{x.columns(), x.rows()} : result_shape{x.rows(), x.columns()};
  }
};

/// Hop 1: checks the operation, and computes the new content of C. Throws before it writes
/// anything.
sparse_result run_sparse(operation& o);

/// The kernels' answers to a product with a sparse result.
explanation explain(operation& o);

/// The sum of all elements or entries of X, in the monoid's type; the identity, which `out` holds,
/// if there is none. Waits for the result.
void run_reduce(operation& o, void* out);

/// The pattern of one row with every entry, in a place.
std::shared_ptr<const pattern> full_row(index columns, place where);

/// The operator that yields elements of the type of the result as they are.
const operator_info& unchanged(const operation& o);

/// Hop 1 of an operation whose result is dense. Throws before it writes anything; the caller
/// allocates a new result of this shape between the two.
result_shape check_dense(operation& o);
void run_dense(const operation& o);

}  // namespace rig
