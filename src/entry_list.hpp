#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "input_file.hpp"
#include "rig/matrix.hpp"

namespace rig::io {

/// What the other half of a square file is.
enum class symmetry : unsigned char { none, symmetric, skew };

/// Entries as a file lists them, and the lines they stand on. It grows as they come, and refuses
/// the file where memory for more is missing.
template <class T>
struct entry_list {
  const input_file& file;
  bool has_values = true;
  std::vector<index> i = {}, j = {};
  std::vector<T> values = {};
  // (p, line): entry p stands on this line, and from there on there is one entry a line.
  std::vector<std::pair<int64, int64>> lines = {};

  /// The entry of the file's current line; a list without values drops the value.
  void add(index row, index column, T value) {
    constexpr std::size_t least = 1024;
    if (i.size() == i.capacity()) reserve(std::max(2 * i.size(), least), lines.capacity());
    const auto p = static_cast<int64>(i.size());
    if (lines.empty() || file.line() - p != lines.back().second - lines.back().first) {
      if (lines.size() == lines.capacity())
        reserve(i.capacity(), std::max(2 * lines.size(), least));
      lines.emplace_back(p, file.line());
    }
    i.push_back(row);
    j.push_back(column);
    if (has_values) values.push_back(value);
  }
  /// Room for so many entries, and so many breaks in their lines.
  void reserve(std::size_t entries, std::size_t breaks) {
    file.with_memory(bytes_of(entries, breaks), [&] {
      i.reserve(entries);
      j.reserve(entries);
      if (has_values) values.reserve(entries);
      lines.reserve(breaks);
    });
  }
  double bytes() const { return bytes_of(i.capacity(), lines.capacity()); }
  double bytes_of(std::size_t entries, std::size_t breaks) const {
    return static_cast<double>(entries) * (2 * sizeof(index) + (has_values ? sizeof(T) : 0)) +
           static_cast<double>(breaks) * sizeof(lines[0]);
  }
  int64 line_of(int64 p) const {
    const auto after = std::upper_bound(lines.begin(), lines.end(), std::pair(p, highest<int64>()));
    return after[-1].second + p - after[-1].first;
  }
};

/// Refuses the file for two entries at one position, or at (i, j) and (j, i) of a symmetric one.
template <class T>
[[noreturn]] void refuse_duplicate(const entry_list<T>& list, index i, index j, symmetry half) {
  std::vector<int64> found;
  for (std::size_t p = 0; p < list.i.size() && found.size() < 2; ++p) {
    const bool here = list.i[p] == i && list.j[p] == j;
    const bool mirrored = half != symmetry::none && list.i[p] == j && list.j[p] == i;
    if (here || mirrored) found.push_back(static_cast<int64>(p));
  }
  list.file.refuse_at(list.line_of(found[1]),
                      {half == symmetry::none ? "the position is" : "the position or its mirror is",
                       " already on line ", list.line_of(found[0])});
}

/// Makes the CSR arrays in two passes over the entries, into their final memory: files in column
/// order, the usual one, arrive in random rows, and every further pass would miss the caches again.
template <class Offset, class T>
matrix<T> scatter(const entry_list<T>& list, index rows, index columns, symmetry half, bool merge) {
  const bool mirror = half != symmetry::none;
  buffer offset_buffer = buffer::allocate((static_cast<std::size_t>(rows) + 1) * sizeof(Offset));
  Offset* const offsets = offset_buffer.data<Offset>();
  std::fill_n(offsets, static_cast<std::size_t>(rows) + 1, Offset(0));
  for (std::size_t p = 0; p < list.i.size(); ++p) {
    ++offsets[list.i[p]];
    if (mirror && list.i[p] != list.j[p]) ++offsets[list.j[p]];
  }
  // Ends of the rows, which filling from the back turns into their begins.
  std::partial_sum(offsets, offsets + rows + 1, offsets);
  const auto count = static_cast<std::size_t>(offsets[rows]);
  buffer entry_buffer = buffer::allocate(count * sizeof(index));
  buffer value_buffer = buffer::allocate(list.has_values ? count * sizeof(T) : 0);
  index* const entries = entry_buffer.data<index>();
  T* const values = value_buffer.data<T>();
  for (std::size_t p = list.i.size(); p-- > 0;) {
    const index i = list.i[p], j = list.j[p];
    const Offset at = --offsets[i];
    entries[at] = j;
    if (list.has_values) values[at] = list.values[p];
    if (!mirror || i == j) continue;
    const Offset mirrored = --offsets[j];
    entries[mirrored] = i;
    if (!list.has_values) continue;
    if constexpr (is_same<T, bool>)
      values[mirrored] = values[at];
    else
      values[mirrored] = half == symmetry::skew ? -values[at] : values[at];
  }

  std::vector<std::pair<index, T>> row;
  std::size_t kept = 0;
  for (index i = 0; i < rows; ++i) {
    const auto begin = static_cast<std::size_t>(offsets[i]),
               end = static_cast<std::size_t>(offsets[i + 1]);
    if (!std::is_sorted(entries + begin, entries + end)) {
      if (list.has_values) {
        row.clear();
        for (std::size_t p = begin; p < end; ++p) row.emplace_back(entries[p], values[p]);
        std::sort(row.begin(), row.end(),
                  [](const auto& x, const auto& y) { return x.first < y.first; });
        for (std::size_t p = begin; p < end; ++p) std::tie(entries[p], values[p]) = row[p - begin];
      } else {
        std::sort(entries + begin, entries + end);
      }
    }
    offsets[i] = static_cast<Offset>(kept);
    for (std::size_t p = begin; p < end; ++p) {
      if (p > begin && entries[p] == entries[p - 1]) {
        if (!merge) refuse_duplicate(list, i, entries[p], half);
      } else {
        entries[kept++] = entries[p];
      }
    }
  }
  offsets[rows] = static_cast<Offset>(kept);
  if (kept < count) {
    buffer shorter = buffer::allocate(kept * sizeof(index));
    std::copy_n(entries, kept, shorter.data<index>());
    entry_buffer = std::move(shorter);
  }
  auto structure = std::make_shared<const pattern>(
      rows, columns, static_cast<int64>(kept), std::move(offset_buffer),
      sizeof(Offset) == sizeof(int64), std::move(entry_buffer));
  if (!list.has_values) return matrix<T>(std::move(structure));
  return matrix<T>(std::move(structure), std::move(value_buffer));
}

/// Makes the matrix, with the other half of a symmetric file added. Repeated positions are one
/// entry with `merge`, which a list with values must not ask for; else the file is refused.
template <class T>
matrix<T> to_matrix(const entry_list<T>& list, index rows, index columns, symmetry half,
                    bool merge) {
  const std::size_t most = list.i.size() * (half == symmetry::none ? 1 : 2);
  const bool wide = most > static_cast<std::size_t>(highest<int32>());
  // A few bytes of text can ask for gigabytes of offsets, and the list is still there.
  const double entry_bytes = sizeof(index) + (list.has_values ? sizeof(T) : 0);
  list.file.expect_memory(list.bytes() + entry_bytes * static_cast<double>(most) +
                          (wide ? 8.0 : 4.0) * rows);
  return wide ? scatter<int64>(list, rows, columns, half, merge)
              : scatter<int32>(list, rows, columns, half, merge);
}

}  // namespace rig::io
