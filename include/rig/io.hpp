#pragma once

#include <string>

#include "rig/accumulate.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"
#include "rig/quantized.hpp"

// What the formats mean here.
//
// Matrix Market: coordinate or array; real, integer or pattern; general, symmetric or
// skew-symmetric; never complex. A symmetric file may list an entry in either half, not in both.
// The comment "%%GraphBLAS type int8_t" (or another type) before the sizes is obeyed: it says how
// the numbers are written and what they must fit. Blank lines, comment lines, blanks around a line
// and CR LF are fine everywhere.
//
// Edge list: lines "i j", or all of them "i j value"; nodes from 0; `#` and `%` comments. What else
// they may be, `read_options` says.
//
// Numbers are read and written without locale and rounded to nearest; inf and NaN are numbers. An
// integer type takes a number that is integral and fits, bool is "not 0", and a float type takes
// all but what would overflow; the rest is refused, never cut.

namespace rig {

/// What a file does not say itself. The first four are for edge lists; Matrix Market, which says
/// these itself, ignores them. Columns are words of a line here.
struct read_options {
  index nodes = 0;       ///< rows and columns, where a greater node is refused; 0: as many as the
                         ///< greatest node asks
  char separator = ' ';  ///< between two words: blanks (' ' or '\t'), or one of , ; : | with or
                         ///< without blanks around it
  bool values = true;    ///< is a third column the value?
  bool extra_columns = false;  ///< are columns behind the edge passed over, not refused?
  /// How values at one position become one: ((first ⊙ second) ⊙ third), in the order of the file;
  /// none: such a file is refused, as a skew-symmetric one always is. Entries without values become
  /// one in every edge list, and in Matrix Market where any operator is named.
  accumulator duplicates = accumulator::none;
  bool symmetrise = false;  ///< makes A ∪ Aᵀ of it, as `symmetrise` does; A must be square
};

/// Reads a sparse matrix: Matrix Market by its banner or by a name on .mtx or .mtx.gz, else an edge
/// list; gzip by content. T: float, double, int32, int64, bool.
///
/// Both halves of a symmetric file become entries. A pattern is an iso matrix of ones; every
/// element that an array lists is an entry, zeros too. An edge list is square, as large as its
/// greatest node or `options` ask; an edge without a value that comes twice is one entry. Linear
/// time.
/// Memory: the entries read, listed and then in the matrix, whose number is not believed before
/// they are there; and 4 bytes a row, 8 beyond 2^31 entries, for as many rows as the file claims.
/// Where the machine has less, that is an error with the bytes, before they are taken. A read of
/// more than 2 s shows its progress if stderr is a terminal.
/// Throws error(format) "file:line: reason" for all that a file can do wrong, duplicates and
/// damaged gzip included; error(io); error(out_of_memory), as a node of two billion may cause;
/// error(range) for options that are none, error(shape) for what cannot be symmetrised.
template <class T>
matrix<T> read_matrix(const std::string& path, const read_options& options = {});

/// Reads a dense matrix: .npy or Matrix Market by content, gzip too. A pipe serves for coordinates
/// alone; an array is a regular file, whose length says what it can hold.
///
/// Of .npy: versions 1 to 3; <f2, <f4, <f8, <i4, <i8 and |b1; C or Fortran order; n elements in one
/// dimension are n×1. Elements that a coordinate file does not list are 0; memory for them is
/// allocated on the word of its size line, unless the machine has less, and else only for what the
/// file is long enough to hold.
/// Throws as `read_matrix`; errors in a .npy file, which has no lines, name the file alone, those
/// of gzip line 1.
template <class T>
dense<T> read_dense(const std::string& path);

/// Writes Matrix Market coordinate general, uncompressed, with its "%%GraphBLAS type"; an iso
/// matrix of ones as a pattern. Numbers are the shortest that read back to the same bits (of a NaN,
/// only its sign). Throws error(io) with path and reason, and leaves what was written so far;
/// error(out_of_memory), and leaves the file as it was.
template <class T>
void write_matrix(const std::string& path, const matrix<T>& a);

/// Writes .npy, version 1.0, C order. Throws as `write_matrix`.
template <class T>
void write_dense(const std::string& path, const dense<T>& a);

/// Reads a quantized from a NumPy archive, .npz, stored or deflated: codes.npy, |u1, rows×columns;
/// low.npy and step.npy, <f4, 1 or `columns` numbers; nothing else. A regular file.
///
/// Memory for the codes only where the file is long enough to hold them; stored ones are read and
/// checked by all threads of OpenMP, with the same outcome for any number of them. Throws as
/// `read_matrix`, errors without a line: error(format) for damage of every kind, a CRC-32 that does
/// not fit included, and for ranges that are none.
quantized read_quantized(const std::string& path);

/// Writes such an archive as numpy.savez does, which numpy.load reads: members stored as they are,
/// sizes in 64 bits. The same bytes for the same numbers. Throws as `write_matrix`.
void write_quantized(const std::string& path, const quantized& q);

}  // namespace rig
