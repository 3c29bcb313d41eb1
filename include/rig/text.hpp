#pragma once

/// @file
/// Small matrices as text: `to_text` and `operator<<`.

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rig/rearrange.hpp"

namespace rig {

/// @cond internal
/// Cells of a matrix as text, row by row; a place without an entry is ".".
struct text_grid {
  std::string heading;
  index columns;
  bool has_more_rows, has_more_columns;
  std::vector<std::string> cells;
  std::string text() const;
};
inline constexpr index most_in_text = 12;  ///< rows, and columns

/// The shortest text that reads back as the same number.
std::string cell_text(double number);
std::string cell_text(float number);
std::string cell_text(int64 number);
template <class T>
std::string cell_text_of(const T& value) {
  if constexpr (is_float<T> || is_small_float<T>)
    return cell_text(convert<std::conditional_t<is_same<T, double>, double, float>>(value));
  else if constexpr (is_storage<T>)
    return cell_text(convert<int64>(value));
  else {
    std::ostringstream out;
    out << value;
    return std::move(out).str();
  }
}

inline index shown_in_text(index of_all) { return std::min(of_all, most_in_text); }
inline text_grid grid_of(std::string heading, index rows, index columns) {
  const auto cells = static_cast<std::size_t>(shown_in_text(rows)) *
                     static_cast<std::size_t>(shown_in_text(columns));
  return {std::move(heading), shown_in_text(columns), rows > most_in_text, columns > most_in_text,
          std::vector<std::string>(cells, ".")};
}
inline std::string shape_text(index rows, index columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}
inline std::string entries_text(int64 count) {
  return std::to_string(count) + (count == 1 ? " entry" : " entries");
}
template <class T, class Heading>
std::string sparse_text(const matrix<T>& a, Heading heading) {
  return or_out_of_memory("to_text", [&] {
    const index rows = shown_in_text(a.rows());
    const matrix<T> here = a.where() == cpu() ? a : extract(a, range{0, rows}, all).to(cpu());
    const pattern& places = here.structure();
    text_grid grid = grid_of(heading(), a.rows(), a.columns());
    for (index i = 0; i < rows; ++i)
      for (int64 p = places.offset(i); p < places.offset(i + 1); ++p) {
        const index j = places.column_indices()[p];
        if (j >= most_in_text) break;
        grid.cells[static_cast<std::size_t>(i * grid.columns + j)] = cell_text_of(here.value(p));
      }
    return grid.text();
  });
}
/// @endcond

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
