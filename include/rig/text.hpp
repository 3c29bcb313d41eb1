#pragma once

/// @file
/// Small matrices as text: `to_text` and `operator<<`.

#include <cstddef>
#include <ostream>
#include <string>

#include "rig/kernels/text_grid.hpp"

namespace rig {

/// A matrix as text: its shape and entries, then its numbers in columns, a dot at each place
/// without an entry.
///
/// Of more than 12 rows or columns, the first 12 are shown, and … stands for the others. Floats are
/// the shortest text that reads back as the same number. T: a storage type, or one with an operator
/// <<. Places: all. Throws error(out_of_memory).
/// @code
/// std::puts(rig::to_text(A).c_str());
/// std::cout << A << B;
/// @endcode
template <class T>
std::string to_text(const matrix<T>& a) {
  return sparse_text(
      a, [&] { return shape_text(a.rows(), a.columns()) + " matrix, " + entries_text(a.nnz()); });
}
/// The same of a vector, in one line.
template <class T>
std::string to_text(const vector<T>& v) {
  return sparse_text(v.as_row(), [&] {
    return "vector of " + std::to_string(v.size()) + ", " + entries_text(v.nnz());
  });
}
/// The same of a dense.
template <class T>
std::string to_text(const dense<T>& x) {
  return or_out_of_memory("to_text", [&] {
    const index rows = shown_in_text(x.rows()), columns = shown_in_text(x.columns());
    const dense<T> corner = extract(x, range{0, rows}, range{0, columns}).to(cpu());
    text_grid grid = grid_of(shape_text(x.rows(), x.columns()) + " dense", x.rows(), x.columns());
    std::size_t cell = 0;
    for (const T& number : corner) grid.cells[cell++] = cell_text_of(number);
    return grid.text();
  });
}

/// Writes `to_text` of it.
template <class T>
std::ostream& operator<<(std::ostream& out, const matrix<T>& a) {
  return out << to_text(a);
}
/// Writes `to_text` of it.
template <class T>
std::ostream& operator<<(std::ostream& out, const vector<T>& v) {
  return out << to_text(v);
}
/// Writes `to_text` of it.
template <class T>
std::ostream& operator<<(std::ostream& out, const dense<T>& x) {
  return out << to_text(x);
}

}  // namespace rig
