#pragma once

#include <string>

#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// What a Matrix Market file says its numbers are.
enum class field : unsigned char { pattern, integer, real };

/// Reads a sparse matrix: Matrix Market coordinate (.mtx, .mtx.gz) or a plain edge list (any other name; lines "i j" or
/// "i j value", 0-based, `#` and `%` comments, rows = columns = greatest number + 1). By name; gzip by content.
/// Symmetric and skew-symmetric files give both halves; a pattern gives an iso matrix of ones. Duplicates,
/// complex fields and every malformed line are error(format) with file, line and reason; nothing a header
/// says is trusted for allocation. Numbers parse without locale. T: float, double, int32, int64, bool.
template <class T>
matrix<T> read_matrix(const std::string& path);

/// Reads a dense matrix: .npy (C order, little endian, float32/float64/int32/int64/bool, one or two dimensions),
/// or Matrix Market (array, or coordinate with absent entries 0), gzip by content. Throws as `read_matrix`.
template <class T>
dense<T> read_dense(const std::string& path);

/// Writes Matrix Market coordinate general; an iso matrix of ones as pattern. Numbers read back to the same bits.
template <class T>
void write_matrix(const std::string& path, const matrix<T>& a);

/// Writes .npy, version 1.0, C order.
template <class T>
void write_dense(const std::string& path, const dense<T>& a);

}  // namespace rig
