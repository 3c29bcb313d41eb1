#pragma once

/// @file
/// Readers and writers of Matrix Market, edge lists, .csv, NumPy arrays and archives.
///
/// Matrix Market: coordinate or array; real, integer or pattern; general, symmetric or
/// skew-symmetric; never complex. A symmetric file may list an entry in either half, not in both. A
/// comment "%%GraphBLAS type int8_t" (or another type) before the sizes sets the numbers' notation
/// and range. Blank lines, comment lines, blanks around a line and CR LF are allowed everywhere.
///
/// Edge list: all lines "i j", or all lines "i j value"; nodes count from 0; `#` and `%` start
/// comments. It has 2²⁴ nodes, or 16 per edge, at most, unless `read_options::nodes` is set.
///
/// Numbers are read and written without locale and rounded to nearest; inf and NaN are numbers. An
/// integer type accepts integral numbers that fit; bool is "not 0"; a float type accepts every
/// number that does not overflow. Other numbers are refused, never truncated.

#include <string>
#include <string_view>

#include "rig/accumulate.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"
#include "rig/quantized.hpp"

namespace rig {

/// @cond internal
/// The types that files are read as and written from, and one error for every other type.
template <class T>
inline constexpr bool is_in_files = is_float<T> || is_integer<T> || is_same<T, bool>;
template <class T>
constexpr void refuse_in_files() {
  static_assert(is_in_files<T>,
                "files are read and written as float, double, int32, int64 or bool: read float and "
                "convert with rig::apply<T>(x, rig::unary::identity), or write rig::apply<float>");
}
/// @endcond

/// Properties that a file does not state itself. The first four fields are for edge lists; Matrix
/// Market ignores them because its files state them. Here columns are the words of a line.
/// @code
/// const rig::read_options options = {.nodes = 4, .values = false, .symmetrise = true};
/// const auto graph = rig::read_matrix<float>("graph.txt", options);
/// @endcode
struct read_options {
  /// Rows and columns; a greater node is an error. 0: as many as the greatest node requires.
  checked_option<"nodes"> nodes = 0;
  /// Between two words: `' '` for blanks (spaces and tabs), or one of `,` `;` `:` `|` with or
  /// without blanks around it.
  char separator = ' ';
  bool values = true;          ///< whether a third column is the value
  bool extra_columns = false;  ///< whether columns after the edge are ignored, not refused
  /// How several values at one position become one: ((first ⊙ second) ⊙ third), in file order. With
  /// `none` such a file is an error; in a skew-symmetric file it always is. Entries without values
  /// merge in every edge list, and in Matrix Market if any operator is named. In coo of a .npz file
  /// `none` is `plus`, as in SciPy.
  accumulator duplicates = accumulator::none;
  bool symmetrise = false;  ///< returns A ∪ Aᵀ, as `symmetrise` does; A must be square
  /// In a .npz file: how the names of the matrix's arrays begin. Empty: `shape`, `data` and so on,
  /// as SciPy names them; if there is no `shape`, `adj_shape`, `adj_data` and so on.
  std::string_view arrays = {};
};

/// Reads a sparse matrix: Matrix Market if it has its banner or a name ending in .mtx or .mtx.gz,
/// .npz of scipy.sparse.save_npz (csr, csc, coo) by content, otherwise an edge list. Gzip is
/// detected by content. All threads read plain text. T: float, double, int32, int64, bool.
///
/// Both halves of a symmetric file become entries. A pattern is an iso matrix of ones; every
/// element of an array is an entry, zeros too. An edge list is square; its repeated edges without
/// values are one entry; those of coo add up. A read over 2 s shows its progress on a terminal.
/// Cost: linear time; memory for the entries, twice, and 8 bytes per row that the file claims, 16
/// beyond 2^31 entries. If the machine has less, that is an error before any allocation.
/// Throws error: format, "file:line: reason", for every defect of the file, duplicates and damaged
/// gzip included; io; out_of_memory, which a node of two billion may cause; range, for invalid
/// options; shape, if `symmetrise` needs a square matrix.
/// @code
/// const auto graph = rig::read_matrix<float>("graph.mtx");
/// const auto edges = rig::read_matrix<float>("graph.txt", {.symmetrise = true});
/// @endcode
template <class T>
matrix<T> read_matrix(const std::string& path, const read_options& options = {});
/// @cond internal
template <class T>
requires(!is_in_files<T>) matrix<T> read_matrix(const std::string&, const read_options& = {}) {
  refuse_in_files<T>();
  return {};
}
/// @endcond

/// Reads a dense matrix: .npy or Matrix Market by content, .csv by name, gzip too. A pipe works
/// only for coordinate files; an array must be a regular file, because its length bounds the
/// allocation. A line of .csv is a row of numbers with commas between them; there is no header.
///
/// .npy: versions 1 to 3; `<f2`, `<f4`, `<f8`, `<i4`, `<i8`, `|u1` and `|b1`; C or Fortran order; n
/// elements in one dimension become n×1. Elements that a coordinate file does not list are 0. Its
/// memory is allocated as its size line claims, unless the machine has less; for other files only
/// as the file's length allows. T and what is thrown: as for `read_matrix`. Errors in a .npy file,
/// which has no lines, name only the file; errors of gzip name line 1.
/// @code
/// const auto features = rig::read_dense<float>("features.npy");
/// const auto product = rig::mxm(A, features, rig::plus_times<float>{});
/// @endcode
template <class T>
dense<T> read_dense(const std::string& path);
/// @cond internal
template <class T>
requires(!is_in_files<T>) dense<T> read_dense(const std::string&) {
  refuse_in_files<T>();
  return {};
}
/// @endcond

/// Reads an array of a NumPy archive, .npz, by its name there. Rules, T and what is thrown: as for
/// a .npy file. Throws error(format) with the names of all arrays if there is none of this name.
/// @code
/// rig::write_quantized("features.npz", rig::quantized::from(B));
/// const auto steps = rig::read_dense<float>("features.npz", "step");
/// @endcode
template <class T>
dense<T> read_dense(const std::string& path, const std::string& array);
/// @cond internal
template <class T>
requires(!is_in_files<T>) dense<T> read_dense(const std::string&, const std::string&) {
  refuse_in_files<T>();
  return {};
}
/// @endcond

/// Writes Matrix Market coordinate general, with its "%%GraphBLAS type"; an iso matrix of ones
/// becomes a pattern. Numbers are the shortest that read back to the same bits (NaN keeps only its
/// sign). A name ending in .npz gives the archive of scipy.sparse.save_npz, csr, not compressed.
///
/// The file is written whole or stays as it was; see `output_file`, which packs a name ending in
/// .gz, follows symbolic links and refuses pipes and devices. Throws error: io, with path and
/// reason; out_of_memory. Places: all; a matrix on a device is copied to the host first.
/// @code
/// rig::write_matrix("graph.mtx", A);
/// @endcode
template <class T>
void write_matrix(const std::string& path, const matrix<T>& a);
/// @cond internal
template <class T>
requires(!is_in_files<T>) void write_matrix(const std::string&, const matrix<T>&) {
  refuse_in_files<T>();
}
/// @endcond

/// Writes .npy, version 1.0, C order. Throws as `write_matrix`.
/// @code
/// rig::write_dense("features.npy", B);
/// @endcode
template <class T>
void write_dense(const std::string& path, const dense<T>& a);
/// @cond internal
template <class T>
requires(!is_in_files<T>) void write_dense(const std::string&, const dense<T>&) {
  refuse_in_files<T>();
}
/// @endcond

/// Reads a quantized from a NumPy archive, .npz, stored or deflated, in a regular file. It holds
/// codes.npy, `|u1`, rows×columns; low.npy and step.npy, `<f4`, 1 or `columns` numbers; and nothing
/// else.
///
/// Codes are allocated only if the file is long enough to hold them. All OpenMP threads read and
/// check stored codes, with the same outcome for any number of threads. Throws as `read_matrix`,
/// without line numbers: error(format) for all damage, a wrong CRC-32 included, and for invalid
/// ranges.
/// @code
/// const rig::quantized features = rig::read_quantized("features.npz");
/// const auto product = rig::mxm(A, features, rig::plus_times<float>{});
/// @endcode
quantized read_quantized(const std::string& path);

/// Writes an archive as numpy.savez does, which numpy.load can read: members uncompressed, sizes in
/// 64 bits. The same numbers give the same bytes. Throws as `write_matrix`.
/// @code
/// rig::write_quantized("features.npz", rig::quantized::from(B));
/// @endcode
void write_quantized(const std::string& path, const quantized& q);

}  // namespace rig
