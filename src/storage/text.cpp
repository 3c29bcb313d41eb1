#include "rig/text.hpp"

#include <algorithm>
#include <charconv>

namespace rig {
namespace {

template <class Number>
std::string shortest(Number number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}

/// The shortest of the decimals that are nearest to the number and read back as it.
template <class Small>
std::string shortest_of_small(Small number) {
  const auto wide = static_cast<float>(number);
  for (int digits = 0; wide - wide == 0 && digits < 9; ++digits) {
    char text[32];
    const char* const end =
        std::to_chars(text, text + sizeof(text), wide, std::chars_format::scientific, digits).ptr;
    float back = 0;
    std::from_chars(text, end, back);
    if (Small(back).bits == number.bits) return shortest(back);
  }
  return shortest(wide);
}

}  // namespace

std::string cell_text(half number) { return shortest_of_small(number); }
std::string cell_text(bfloat16 number) { return shortest_of_small(number); }
std::string cell_text(double number) { return shortest(number); }
std::string cell_text(float number) { return shortest(number); }
std::string cell_text(int64 number) { return shortest(number); }

std::string text_grid::text() const {
  const std::string more = "…";
  std::vector<std::size_t> widths(static_cast<std::size_t>(columns), 1);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    std::size_t& width = widths[cell % widths.size()];
    width = std::max(width, cells[cell].size());
  }
  std::string out = heading + "\n";
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const std::size_t column = cell % widths.size();
    const bool is_last = column + 1 == widths.size();
    out.append(widths[column] - cells[cell].size(), ' ').append(cells[cell]);
    if (is_last && has_more_columns) out.append(" ").append(more);
    out.append(is_last ? "\n" : " ");
  }
  if (has_more_rows) out.append(more).append("\n");
  return out;
}

}  // namespace rig
