#pragma once

#include <string>
#include <string_view>

#include "io/input_file.hpp"
#include "rig/dense.hpp"
#include "rig/io.hpp"
#include "rig/matrix.hpp"
#include "rig/quantized.hpp"

namespace rig::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::string_view npz_magic = "PK\3\4";
inline constexpr std::string_view matrix_market_magic = "%%MatrixMarket";
inline bool is_npy(input_file& file) { return file.peek(npy_magic.size()) == npy_magic; }
inline bool is_npz(input_file& file) { return file.peek(npz_magic.size()) == npz_magic; }

/// Whether the file is Matrix Market, by its first line or by its name. The name makes a damaged
/// banner an error instead of an edge list's comment.
bool is_matrix_market(input_file& file);

/// Throws unless duplicates are folded by an operator, or refused.
void check_duplicates(const std::string& path, const read_options& options);

/// Runs `work` on a file; every out-of-memory error names the file.
template <class Work>
auto naming(const std::string& path, Work&& work) {
  try {
    return or_out_of_memory(path.c_str(), work);
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory || std::string_view(e.what()).starts_with(path)) throw;
    fail(errc::out_of_memory, {path, ": ", e.what()});
  }
}

// The readers of the formats; each starts at the file's first byte.
template <class T>
matrix<T> read_matrix_market(input_file& file, const read_options& options);
template <class T>
dense<T> read_matrix_market_dense(input_file& file);
template <class T>
matrix<T> read_edge_list(input_file& file, const read_options& options);
template <class T>
dense<T> read_npy(input_file& file);
template <class T>
dense<T> read_csv(input_file& file);

quantized read_npz(input_file& file);
/// An array of an archive.
template <class T>
dense<T> read_npz_array(input_file& file, const std::string& array);
/// The sparse matrix in the arrays whose names begin with `arrays`; if that is empty and there is
/// no array `shape`, with `adj_`.
template <class T>
matrix<T> read_npz_matrix(input_file& file, const read_options& options);

/// Writes the archive of scipy.sparse.save_npz, csr, of a matrix on the CPU.
template <class T>
void write_npz_matrix(const std::string& path, const matrix<T>& a);

/// The header of a .npy file; an array with one dimension has one column.
struct npy_header {
  std::string type;
  bool fortran_order = false;
  index rows = 0, columns = 1;
};
npy_header read_npy_header(input_file& file);
/// Refuses a size that exceeds the rest of the file or the machine's memory.
template <class T>
void expect_npy_numbers(const input_file& file, const npy_header& head);
/// Reads the numbers after a header, stored as T, and checks that the file ends after them.
template <class T>
void read_npy_numbers(input_file& file, const npy_header& head, T* out);
/// The type of a number in a .npy file.
template <class T>
std::string npy_type() {
  return is_same<T, bool> ? "|b1" : (is_float<T> ? "<f" : "<i") + std::to_string(sizeof(T));
}
/// The text of a .npy file before its numbers; `shape` has the form "3, 4".
std::string npy_text(std::string_view type, std::string_view shape);

template <class T>
void expect_dense(const input_file& file, index rows, index columns) {
  file.expect_memory(static_cast<double>(sizeof(T)) * rows * columns);
}

}  // namespace rig::io
