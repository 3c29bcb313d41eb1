#ifndef RIG_RIG_H
#define RIG_RIG_H

/// @file
/// The interface for C, and for languages that call C.
///
/// Every function returns a `rig_status`; `rig_error_message` has its text. No exception leaves a
/// function, and a function that fails changes none of its results. Structs begin with `size`,
/// which is their sizeof: a later version may add fields, whose zero means what it meant before.
///
/// `release` and DLPack's deleter run when the last handle is freed. Work on a device may still
/// read the memory then: call `rig_synchronise` before that `rig_free`.

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(modernize-use-using,readability-identifier-naming): C's, not C++'s */

#ifdef __cplusplus
extern "C" {
#endif

/// How a call ended. The numbers stay as they are.
typedef enum rig_status {
  RIG_OK = 0,                    ///< it did what it should
  RIG_ERROR_SHAPE = 1,           ///< sizes do not fit together
  RIG_ERROR_PLACE = 2,           ///< operands lie in different places, or a place is not there
  RIG_ERROR_RANGE = 3,           ///< an index, a number or a name is none of those that serve
  RIG_ERROR_DUPLICATE = 4,       ///< two entries at one position
  RIG_ERROR_ORDER = 5,           ///< columns of a row do not ascend
  RIG_ERROR_TYPE = 6,            ///< a type or a kind of container cannot serve
  RIG_ERROR_UNKNOWN_KERNEL = 7,  ///< no kernel has this name
  RIG_ERROR_CANNOT = 8,          ///< these options cannot serve together
  RIG_ERROR_OUT_OF_MEMORY = 9,   ///< an allocation failed
  RIG_ERROR_FORMAT = 10,         ///< a file or a text does not follow its format
  RIG_ERROR_IO = 11,             ///< a file cannot be opened, read or written
  RIG_ERROR_READ_ONLY = 12,      ///< a write through a read-only view
  RIG_ERROR_DEVICE = 13,         ///< a device reported a fault
  RIG_ERROR_NULL = 14,           ///< a pointer that must not be null is null
  RIG_ERROR_SIZE = 15,           ///< the size of a struct is none that this library knows
  RIG_ERROR_INTERNAL = 16        ///< anything else
} rig_status;

/// The type of elements: one of `rig_type_number`. 0 is none of them: not given.
typedef int32_t rig_type;
/// The values of `rig_type`.
enum rig_type_number {
  RIG_BOOL = 1,     ///< a byte, 0 or 1
  RIG_INT32 = 2,    ///< int32_t
  RIG_INT64 = 3,    ///< int64_t
  RIG_FLOAT32 = 4,  ///< float
  RIG_FLOAT64 = 5,  ///< double
  RIG_FLOAT16 = 6,  ///< IEEE binary16
  RIG_BFLOAT16 = 7  ///< the upper half of a float
};

/// What a container is.
typedef enum rig_kind {
  RIG_MATRIX = 1,  ///< sparse; immutable, so that copies share it
  RIG_VECTOR = 2,  ///< sparse; immutable
  RIG_DENSE = 3    ///< row-major, with all elements; a column is a dense vector
} rig_kind;

/// Where memory lies: `RIG_CPU` or `RIG_CUDA(device)`, with a device from 0 on.
typedef int32_t rig_place;
/// The host.
#define RIG_CPU 0
/// A CUDA device by CUDA's number.
#define RIG_CUDA(device) ((device) < 0 ? -1 : (device) + 1)

/// Which number a `rig_number` holds. 0 is none.
typedef enum rig_number_kind {
  RIG_INTEGER = 1,  ///< `integer`
  RIG_REAL = 2,     ///< `real`
  RIG_BOOLEAN = 3   ///< `integer`, 0 or 1
} rig_number_kind;

/// A number of any type, exactly. Its layout stays as it is.
typedef struct rig_number {
  int32_t kind;     ///< a `rig_number_kind`, or 0: no number
  int64_t integer;  ///< of RIG_INTEGER and RIG_BOOLEAN
  double real;      ///< of RIG_REAL
} rig_number;

/// A sparse matrix, a sparse vector or a dense matrix, by its address. Several threads may read
/// one at once; one that a call writes to, no other thread may use.
typedef struct rig_container rig_container;
/// A semiring: a sum and a product of elements. Any number of threads may use one.
typedef struct rig_semiring rig_semiring;
/// What an algorithm found, by names.
typedef struct rig_results rig_results;
/// The struct of DLPack's header, which this one does not include.
struct DLManagedTensor;

/// The version of the library, "major.minor.patch".
const char* rig_version(void);
/// The text of the last call of this thread that failed, or "". It is valid until the next one.
const char* rig_error_message(void);
/// Waits for all work in a place, and reports its faults.
rig_status rig_synchronise(rig_place place);

/* Containers */

/// Compressed sparse rows. Row i has the entries offsets[i] … offsets[i + 1] − 1.
typedef struct rig_csr {
  size_t size;           ///< sizeof(rig_csr)
  int64_t rows;          ///< less than 2^31; of a vector 1
  int64_t columns;       ///< less than 2^31; of a vector its length
  int64_t entries;       ///< offsets[rows]
  const void* offsets;   ///< rows + 1 numbers, from 0 on
  const void* indices;   ///< the column of each entry
  const void* values;    ///< the value of each entry; null: all have `value`
  rig_number value;      ///< the value of all entries if `values` is null; no number: 1
  rig_type offset_type;  ///< RIG_INT32 or RIG_INT64
  rig_type index_type;   ///< RIG_INT32, or RIG_INT64 if `copy`
  rig_type type;         ///< of the values
  int32_t is_vector;     ///< whether it is a sparse vector
  int32_t copy;          ///< whether the arrays are copied, and rows sorted; else they are viewed
  rig_place place;       ///< where the arrays lie
  void* stream;          ///< the cudaStream_t that wrote them; null: they are complete
  void (*release)(void* owner);  ///< called once when viewed arrays are read no longer; may be null
  void* owner;                   ///< its argument
} rig_csr;

/// Entries in any order.
typedef struct rig_tuples {
  size_t size;                 ///< sizeof(rig_tuples)
  int64_t rows;                ///< of the matrix; of a vector 1
  int64_t columns;             ///< of the matrix; of a vector its length
  int64_t count;               ///< how many tuples there are
  const void* row_indices;     ///< count numbers; null for a vector
  const void* column_indices;  ///< count numbers
  const void* values;          ///< count values; null: all are 1, and a repeated entry is one entry
  rig_type index_type;         ///< RIG_INT32 or RIG_INT64
  rig_type type;               ///< of the values
  int32_t is_vector;           ///< whether it is a sparse vector
  const char* combine;         ///< the operator of repeated entries, as "plus"; null: an error
} rig_tuples;

/// Elements row by row. Element (i, j) is at data[i · stride + j].
typedef struct rig_elements {
  size_t size;                   ///< sizeof(rig_elements)
  void* data;                    ///< the elements
  int64_t rows;                  ///< less than 2^31
  int64_t columns;               ///< less than 2^31
  int64_t stride;                ///< elements from one row to the next; 0: columns
  rig_type type;                 ///< of the elements
  int32_t read_only;             ///< whether no call may write to them
  rig_place place;               ///< where they lie
  void* stream;                  ///< the cudaStream_t that they belong to; null: rig's own
  void (*release)(void* owner);  ///< called once when they are read no longer; may be null
  void* owner;                   ///< its argument
} rig_elements;

/// A sparse matrix or vector from CSR arrays. They are copied, and `release` is called before the
/// function returns; or they are viewed until `release` is called, and nothing may change them. If
/// the call fails, `release` is not called. Arrays on a device are viewed, and trusted.
rig_status rig_from_csr(const rig_csr* arrays, rig_container** out);
/// A sparse matrix or vector from tuples in host memory, which are copied.
rig_status rig_from_tuples(const rig_tuples* tuples, rig_container** out);
/// A view of elements, which calls read and write in place.
rig_status rig_view_elements(const rig_elements* elements, rig_container** out);
/// A dense of zeros.
rig_status rig_new_dense(int64_t rows, int64_t columns, rig_type type, rig_place place,
                         rig_container** out);

/// What a file does not state itself. All fields may be 0, and null in place of the struct has the
/// same meaning. The first four are for edge lists.
typedef struct rig_read_options {
  size_t size;             ///< sizeof(rig_read_options)
  int64_t nodes;           ///< rows and columns; 0: as many as the greatest node requires
  int32_t separator;       ///< between two words: one of , ; : | and 0 for blanks
  int32_t no_values;       ///< whether a third column is not the value; set extra_columns too
  int32_t extra_columns;   ///< whether further columns are ignored, not refused
  int32_t symmetrise;      ///< whether the matrix is joined with its transpose
  const char* duplicates;  ///< the operator of repeated entries, as "plus"; null: an error
} rig_read_options;

/// A sparse matrix from a file: Matrix Market, an edge list, both also in gzip, or SciPy's .npz.
rig_status rig_read_file(const char* path, rig_type type, const rig_read_options* options,
                         rig_container** out);

/// Takes over a tensor of DLPack with one or two dimensions, whose rows lie in order; its deleter
/// is called when the last container with its memory goes. If the call fails, the tensor is the
/// caller's. Work on the tensor of a device must be complete, or ordered with `stream`.
rig_status rig_from_dlpack(struct DLManagedTensor* tensor, void* stream, rig_container** out);
/// A tensor of DLPack with two dimensions over the elements of a dense, which it keeps. The caller
/// calls its deleter.
rig_status rig_to_dlpack(const rig_container* dense, struct DLManagedTensor** out);

/// What a container is, without its memory.
typedef struct rig_description {
  size_t size;      ///< sizeof(rig_description)
  int32_t kind;     ///< a `rig_kind`
  rig_type type;    ///< of the elements
  rig_place place;  ///< where it lies
  int32_t is_iso;   ///< whether all entries of a sparse have one value, and no array of values
  int64_t rows;     ///< of a vector 1
  int64_t columns;  ///< of a vector its length
  int64_t entries;  ///< of a dense rows · columns
} rig_description;

/// Describes a container. The caller sets `out->size`.
rig_status rig_describe(const rig_container* of, rig_description* out);
/// The arrays of a sparse matrix or vector. They live as long as the container, or until a call
/// writes to it. The caller sets `out->size`.
rig_status rig_csr_of(const rig_container* of, rig_csr* out);
/// The elements of a dense, in the same way.
rig_status rig_elements_of(const rig_container* of, rig_elements* out);
/// Another handle. A sparse shares its entries; of a dense, both handles have the same elements.
rig_status rig_share(const rig_container* of, rig_container** out);
/// A copy in another place; in the same place it is `rig_share`.
rig_status rig_copy_to(const rig_container* of, rig_place place, rig_container** out);
/// Frees a handle; null is allowed. A handle that is freed must not be used.
void rig_free(rig_container* container);

/* Semirings */

/// A semiring of the library by its name, such as "plus_times", over RIG_FLOAT32, RIG_FLOAT64 or
/// RIG_BOOL. Elements of other types are converted.
rig_status rig_semiring_by_name(const char* name, rig_type type, rig_semiring** out);

/// A semiring of the program, as C++ expressions.
typedef struct rig_semiring_text {
  size_t size;           ///< sizeof(rig_semiring_text)
  const char* name;      ///< an identifier
  rig_type type;         ///< in which it computes: no type of two bytes
  int32_t check;         ///< whether its laws are checked on sample numbers
  const char* add;       ///< the sum of x and y: "x + y"; min(x, y) and max(x, y) are there
  const char* multiply;  ///< the product of an entry a of A and an element b of B: "a * b"
  const char* zero;      ///< the identity of add: "0", or "rig::lowest<float>()"
  const char* finish;    ///< what becomes of a sum x of a row of n entries; null: nothing
  const char* terminal;  ///< a sum that no term changes; null: there is none
} rig_semiring_text;

/// Compiles a semiring for the CPU with $CXX, or g++, unless the folder rigblas in $XDG_CACHE_HOME,
/// or in ~/.cache, has it; for a GPU it is compiled at its first call. The text runs as code of the
/// process: take it from nobody that you do not trust.
rig_status rig_semiring_from_text(const rig_semiring_text* text, rig_semiring** out);
/// Frees a semiring; null is allowed.
void rig_free_semiring(rig_semiring* semiring);

/* Operations */

/// Options of a call. All fields may be 0, and null in place of the struct has the same meaning.
typedef struct rig_options {
  size_t size;                ///< sizeof(rig_options)
  int32_t transpose_a;        ///< reads A as its transpose
  int32_t transpose_b;        ///< reads B as its transpose
  int32_t replace;            ///< outside the mask C becomes `fill`, or loses its entry
  int32_t mask_structure;     ///< the mask is where `mask` has entries; else where it is not 0
  int32_t mask_complement;    ///< the mask is the other places
  rig_type type;              ///< of a new result
  const rig_container* mask;  ///< where C may be written; null: everywhere
  const char* accumulate;   ///< the operator that joins C and the result, or "own": the semiring's
  rig_number fill;          ///< the element of a dense C without products
  const char* kernel;       ///< the name of the kernel; null: the cheapest one
  int64_t width;            ///< the sample size of sampled kernels
  int64_t k;                ///< the top-k of the kernel maxk
  int64_t threads;          ///< of the CPU; 0: as many as the work and the cores allow
  int32_t rescale;          ///< whether sampled sums are scaled to the whole row
  int32_t tf32;             ///< whether the kernel hybrid may round its operands
  int32_t any_order;        ///< whether a repeated call may round otherwise
  void* stream;             ///< a cudaStream_t; null: rig's own
  rig_container** indices;  ///< receives the second result of arg_max_second and arg_min_second
} rig_options;

/// C = A ⊕.⊗ B. In this call and the next ones, `*c` is null or a container. If it is null, it
/// becomes a new one; otherwise the result goes into it: elements of a dense are written in place,
/// a sparse gets other entries. What C is follows from the operands: sparse times dense is dense,
/// sparse times sparse is sparse, dense times dense under a sparse mask is sparse.
rig_status rig_mxm(rig_container** c, const rig_container* a, const rig_container* b,
                   const rig_semiring* semiring, const rig_options* options);
/// w = A ⊕.⊗ u, for a vector or a dense column u; w is what u is.
rig_status rig_mxv(rig_container** w, const rig_container* a, const rig_container* u,
                   const rig_semiring* semiring, const rig_options* options);
/// w = u ⊕.⊗ A, for a vector or a dense column u, which is the left operand.
rig_status rig_vxm(rig_container** w, const rig_container* u, const rig_container* a,
                   const rig_semiring* semiring, const rig_options* options);
/// The union of two containers: x op y where both have an entry, else the one that is there. `op`
/// is plus, minus, times, divide, minimum, maximum, first, second, logical_or, logical_and, or a
/// comparison: equal, not_equal, less, less_equal, greater, greater_equal.
rig_status rig_ewise_add(rig_container** c, const rig_container* a, const rig_container* b,
                         const char* op, const rig_options* options);
/// The intersection of two containers: x op y where both have an entry.
rig_status rig_ewise_mult(rig_container** c, const rig_container* a, const rig_container* b,
                          const char* op, const rig_options* options);
/// f(x) of each element: identity, negate, absolute, reciprocal, square, square_root, exponential,
/// logarithm, sigmoid, hyperbolic_tangent, relu, sign, floor, ceiling, round, logical_not or one.
rig_status rig_apply(rig_container** c, const rig_container* a, const char* op,
                     const rig_options* options);
/// x op y of each element x and a number y; if `y_first`, y op x. `op` is as for `rig_ewise_add`.
rig_status rig_apply_number(rig_container** c, const rig_container* a, const char* op,
                            const rig_number* y, int32_t y_first, const rig_options* options);
/// The entries for which `op` holds: lower, upper, diagonal, off_diagonal, row_at_most, row_above,
/// column_at_most, column_above, equal, not_equal, less, less_equal, greater or greater_equal.
rig_status rig_select(rig_container** c, const rig_container* a, const char* op,
                      const rig_number* y, const rig_options* options);
/// The sum of each row: a vector, or of a dense a column. `op` is plus, times, minimum, maximum,
/// logical_or or logical_and. With `transpose_a` it is the sum of each column.
rig_status rig_reduce_rows(rig_container** w, const rig_container* a, const char* op,
                           const rig_options* options);
/// The sum of everything, in the type in which the elements are computed. Waits for the result.
rig_status rig_reduce(rig_number* sum, const rig_container* a, const char* op,
                      const rig_options* options);
/// The transpose of a matrix or a dense.
rig_status rig_transpose(rig_container** c, const rig_container* a, const rig_options* options);

/* Algorithms */

/// An argument of an algorithm. Its layout stays as it is.
typedef struct rig_argument {
  const char* name;                ///< such as "source"
  rig_number number;               ///< the argument, if it is a number
  const rig_container* container;  ///< the argument, if it is none: a dense column
} rig_argument;

/// Runs an algorithm on a graph, a sparse matrix with an entry (i, j) per arc. docs/guide/c.md
/// lists the algorithms, their arguments and their results. The kernel, the threads and the stream
/// of the options go to the algorithm's calls; other options are refused.
rig_status rig_run(const char* algorithm, const rig_container* graph, const rig_argument* arguments,
                   size_t count, const rig_options* options, rig_results** out);
/// The name of the n-th algorithm, from 0 on; null if there are fewer.
const char* rig_algorithm_name(size_t n);
/// The name of the n-th result, from 0 on; null if there are fewer.
const char* rig_result_name(const rig_results* of, size_t n);
/// A result that is a number.
rig_status rig_result_number(const rig_results* of, const char* name, rig_number* out);
/// A result that is a container, as a handle of its own.
rig_status rig_result_container(const rig_results* of, const char* name, rig_container** out);
/// Frees results; null is allowed.
void rig_free_results(rig_results* results);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,readability-identifier-naming) */

#endif
