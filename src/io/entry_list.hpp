#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/input_file.hpp"
#include "rig/accumulate.hpp"
#include "rig/io.hpp"
#include "rig/matrix.hpp"

namespace rig::io {

/// How the other half of a square file follows from the listed half.
enum class symmetry : unsigned char { none, symmetric, skew };

/// Entries in file order, and their lines. It grows as entries arrive, and refuses the file if
/// memory runs out.
template <class T>
struct entry_list {
  const input_file& file;
  bool has_values = true;
  std::vector<index> i = {}, j = {};
  std::vector<T> values = {};
  // (p, line): entry p is on this line, and from there each line has one entry.
  std::vector<std::pair<int64, int64>> lines = {};

  /// Adds the entry of the file's current line; a list without values drops the value.
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
  /// Reserves room for `entries` entries and `breaks` breaks in their lines.
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

/// The value at (j, i) of one at (i, j).
template <class T>
T mirrored(T value, symmetry half) {
  if constexpr (is_same<T, bool>)
    return value;
  else
    return half == symmetry::skew ? -value : value;
}

/// What some lines of a file list. The file is kept open for the list.
template <class T>
struct listed_part {
  std::unique_ptr<input_file> file;
  entry_list<T> list;
  index rows = 0, columns = 0;
  symmetry half = symmetry::none;
  int64 entries_of_file = -1;  ///< as the file claims; −1: it does not
  accumulator fold = accumulator::none;

  listed_part(const file_part& lines, const std::string& path)
      : file(std::make_unique<input_file>(path, lines)), list{*file} {}
};

// The parts of a file that is read in parts; each starts at the file's first byte. A result is
// absent if the format is read as a whole.
template <class T>
std::unique_ptr<listed_part<T>> list_matrix_market(input_file& file, const read_options& options,
                                                   int part, int parts);
template <class T>
std::unique_ptr<listed_part<T>> list_edges(input_file& file, const read_options& options, int part,
                                           int parts);

/// Refuses the file because two entries share a position, or lie at (i, j) and (j, i) of a
/// symmetric file.
template <class T>
[[noreturn]] void refuse_duplicate(const entry_list<T>& list, index i, index j, symmetry half) {
  std::vector<int64> found;
  for (std::size_t p = 0; p < list.i.size() && found.size() < 2; ++p) {
    const bool here = list.i[p] == i && list.j[p] == j;
    const bool mirrored = half != symmetry::none && list.i[p] == j && list.j[p] == i;
    if (here || mirrored) found.push_back(static_cast<int64>(p));
  }
  list.file.refuse_at(
      list.line_of(found[1]),
      {half == symmetry::none ? "the position is" : "the position or its mirror is",
       " already on line ", list.line_of(found[0]),
       half == symmetry::skew ? "" : "; set read_options::duplicates, and read_matrix folds them"});
}

/// The CSR arrays of a matrix; `values` is empty for an iso matrix.
template <class Offset, class T>
struct csr_arrays {
  buffer offset_buffer, entry_buffer, value_buffer;
  Offset* offsets = offset_buffer.data<Offset>();
  index* entries = entry_buffer.data<index>();
  T* values = value_buffer.data<T>();
};

/// Places the entries in two passes, directly in their final memory. Files usually list entries in
/// column order, so rows are random and every further pass would miss the caches. Entries of a row
/// stay in file order.
template <class Offset, class T>
csr_arrays<Offset, T> scatter(const entry_list<T>& list, index rows, symmetry half) {
  const bool mirror = half != symmetry::none;
  buffer offset_buffer = buffer::allocate((static_cast<std::size_t>(rows) + 1) * sizeof(Offset));
  Offset* const offsets = offset_buffer.data<Offset>();
  std::fill_n(offsets, static_cast<std::size_t>(rows) + 1, Offset(0));
  for (std::size_t p = 0; p < list.i.size(); ++p) {
    ++offsets[list.i[p]];
    if (mirror && list.i[p] != list.j[p]) ++offsets[list.j[p]];
  }
  // Computes the ends of the rows; filling from the back turns them into the begins.
  std::partial_sum(offsets, offsets + rows + 1, offsets);
  const auto count = static_cast<std::size_t>(offsets[rows]);
  csr_arrays<Offset, T> out{std::move(offset_buffer), buffer::allocate(count * sizeof(index)),
                            buffer::allocate(list.has_values ? count * sizeof(T) : 0)};
  for (std::size_t p = list.i.size(); p-- > 0;) {
    const index i = list.i[p], j = list.j[p];
    const Offset at = --offsets[i];
    out.entries[at] = j;
    if (list.has_values) out.values[at] = list.values[p];
    if (!mirror || i == j) continue;
    const Offset across = --offsets[j];
    out.entries[across] = i;
    if (!list.has_values) continue;
    out.values[across] = mirrored(out.values[at], half);
  }
  return out;
}

/// Sorts a row by column, stably.
template <class T>
void sort_row(index* entries, T* values, std::size_t count,
              std::vector<std::pair<index, T>>& scratch) {
  if (std::is_sorted(entries, entries + count)) return;
  if (values == nullptr) return std::sort(entries, entries + count);
  scratch.clear();
  for (std::size_t p = 0; p < count; ++p) scratch.emplace_back(entries[p], values[p]);
  std::stable_sort(scratch.begin(), scratch.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (std::size_t p = 0; p < count; ++p) std::tie(entries[p], values[p]) = scratch[p];
}

/// Sorts every row and folds entries at one position; returns the number of remaining entries.
template <class Offset, class T>
std::size_t sort_rows(const entry_list<T>& list, const csr_arrays<Offset, T>& csr, index rows,
                      symmetry half, accumulator fold) {
  std::vector<std::pair<index, T>> scratch;
  T* const values = csr.values;
  std::size_t kept = 0;
  for (index i = 0; i < rows; ++i) {
    const auto begin = static_cast<std::size_t>(csr.offsets[i]),
               end = static_cast<std::size_t>(csr.offsets[i + 1]), first = kept;
    sort_row(csr.entries + begin, values == nullptr ? values : values + begin, end - begin,
             scratch);
    csr.offsets[i] = static_cast<Offset>(first);
    for (std::size_t p = begin; p < end; ++p) {
      const index j = csr.entries[p];
      if (kept > first && csr.entries[kept - 1] == j) {
        if (fold == accumulator::none) refuse_duplicate(list, i, j, half);
        if (values != nullptr) values[kept - 1] = accumulate(fold, values[kept - 1], values[p]);
        continue;
      }
      csr.entries[kept] = j;
      if (values != nullptr) values[kept] = values[p];
      ++kept;
    }
  }
  csr.offsets[rows] = static_cast<Offset>(kept);
  return kept;
}

/// The first bytes of a buffer: the buffer itself if it has that size, else a copy.
inline buffer shortened(buffer whole, std::size_t bytes) {
  if (bytes == whole.bytes()) return whole;
  buffer part = buffer::allocate(bytes);
  std::copy_n(whole.data<char>(), bytes, part.data<char>());
  return part;
}

template <class Offset, class T>
matrix<T> to_matrix_of(const entry_list<T>& list, index rows, index columns, symmetry half,
                       accumulator fold) {
  csr_arrays<Offset, T> csr = scatter<Offset>(list, rows, half);
  const std::size_t kept = sort_rows(list, csr, rows, half, fold);
  auto structure =
      std::make_shared<const pattern>(rows, columns, static_cast<int64>(kept),
                                      std::move(csr.offset_buffer), sizeof(Offset) == sizeof(int64),
                                      shortened(std::move(csr.entry_buffer), kept * sizeof(index)));
  if (!list.has_values) return matrix<T>(std::move(structure));
  return matrix<T>(std::move(structure), shortened(std::move(csr.value_buffer), kept * sizeof(T)));
}

/// Builds the matrix, with the other half of a symmetric file. `fold` joins entries at one
/// position; with none, such a file is refused.
template <class T>
matrix<T> to_matrix(const entry_list<T>& list, index rows, index columns, symmetry half,
                    accumulator fold) {
  const std::size_t most = list.i.size() * (half == symmetry::none ? 1 : 2);
  const bool wide = most > static_cast<std::size_t>(highest<int32>());
  // A few bytes of text can cause gigabytes of offsets, while the list still takes memory.
  const double entry_bytes = sizeof(index) + (list.has_values ? sizeof(T) : 0);
  list.file.expect_memory(list.bytes() + entry_bytes * static_cast<double>(most) +
                          (wide ? 8.0 : 4.0) * rows);
  return wide ? to_matrix_of<int64>(list, rows, columns, half, fold)
              : to_matrix_of<int32>(list, rows, columns, half, fold);
}

}  // namespace rig::io
