#pragma once

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rig/rearrange.hpp"

namespace rig {

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
std::string cell_text(half number);
std::string cell_text(bfloat16 number);
std::string cell_text(int64 number);
/// Whether elements of type T have a text.
template <class T>
constexpr bool require_text() {
  constexpr bool has_text = is_storage<T> || requires(std::ostream & out, const T& value) {
    out << value;
  };
  static_assert(has_text,
                "to_text prints elements of rig's number types and those with an operator<< for "
                "std::ostream: define one");
  return has_text;
}
template <class T>
std::string cell_text_of(const T& value) {
  if constexpr (is_float<T> || is_small_float<T>)
    return cell_text(value);
  else if constexpr (is_storage<T>)
    return cell_text(convert<int64>(value));
  else if constexpr (require_text<T>()) {
    std::ostringstream out;
    out << value;
    return std::move(out).str();
  } else {
    return "";
  }
}

inline index shown_in_text(index of_all) { return std::min(of_all, most_in_text); }
inline text_grid grid_of(std::string heading, index rows, index columns) {
  const auto cells = static_cast<std::size_t>(shown_in_text(rows)) *
                     static_cast<std::size_t>(shown_in_text(columns));
  return {std::move(heading), shown_in_text(columns), rows > most_in_text, columns > most_in_text,
          std::vector<std::string>(cells, ".")};
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

}  // namespace rig
