#pragma once

#include <functional>
#include <numeric>
#include <tuple>

#include "io/entry_list.hpp"
#include "storage/integers.hpp"

namespace rig::io {

/// Refuses the file because two entries share a position, or lie at (i, j) and (j, i) of a
/// symmetric file.
template <class T>
[[noreturn]] void refuse_duplicate(entry_lists<T> lists, index i, index j, symmetry half) {
  std::vector<int64> lines;
  for (const entry_list<T>& list : lists) {
    for (std::size_t p = 0; p < list.size() && lines.size() < 2; ++p) {
      const bool here = list.row(p) == i && list.column(p) == j;
      const bool mirrored = half != symmetry::none && list.row(p) == j && list.column(p) == i;
      if (here || mirrored) lines.push_back(list.line_of(p));
    }
  }
  lists[0].file.refuse_at(
      lines[1], {half == symmetry::none ? "the position is" : "the position or its mirror is",
                 " already on line ", lines[0],
                 half == symmetry::skew ? "" : "; set read_options::duplicates to fold them"});
}

/// Sorts a row by column, stably.
template <class T>
void sort_row(index* entries, T* values, std::size_t count) {
  if (std::is_sorted(entries, entries + count)) return;
  if (values == nullptr) return std::sort(entries, entries + count);
  std::vector<std::pair<index, T>> row;
  row.reserve(count);
  for (std::size_t p = 0; p < count; ++p) row.emplace_back(entries[p], values[p]);
  std::stable_sort(row.begin(), row.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (std::size_t p = 0; p < count; ++p) std::tie(entries[p], values[p]) = row[p];
}

/// The arrays of a matrix in CSR; `values` is null for an iso matrix.
template <class Offset, class T>
struct csr_arrays {
  buffer offset_buffer, entry_buffer, value_buffer;
  Offset* offsets = offset_buffer.data<Offset>();
  index* entries = entry_buffer.data<index>();
  T* values = value_buffer.data<T>();

  csr_arrays(buffer row_offsets, index rows, bool has_values)
      : offset_buffer(std::move(row_offsets)) {
    const std::size_t count = size(offsets[rows]);
    entry_buffer = buffer::allocate(count * sizeof(index));
    value_buffer = buffer::allocate(has_values ? count * sizeof(T) : 0);
    entries = entry_buffer.data<index>();
    values = value_buffer.data<T>();
  }
};

/// The rows of some entries, from the first entry to the last.
struct row_range {
  bool in_order = true;
  index first = 0, last = -1;  ///< −1: there are no entries
};

/// Makes rows of lists. Entries go directly to their final memory: files usually list them in
/// column order, so rows are random, and every further pass would miss the caches.
template <class Offset, class T>
class row_maker {
 public:
  /// A group is a part of the entries that one thread places.
  row_maker(entry_lists<T> lists, index rows, bool has_values, symmetry half, int groups,
            int threads)
      : lists_(lists),
        rows_(rows),
        has_values_(has_values),
        half_(half),
        groups_(groups),
        threads_(threads),
        block_(std::max<index>(512, rows / (64 * threads))),
        next_(buffer::allocate(size(rows) * size(groups) * sizeof(Offset))) {}

  /// The rows, with entries at one position folded. They stay in file order until then.
  csr_arrays<Offset, T> make(accumulator fold) {
    std::vector<row_range> ranges(size(groups_));
    on_threads(threads_, groups_, [&](int64 group) { ranges[size(group)] = count(group); });
    in_order_ = half_ == symmetry::none;
    index last = 0;
    for (const row_range& each : ranges) {
      in_order_ = in_order_ && each.in_order && (each.last < 0 || each.first >= last);
      last = std::max(last, each.last);
    }
    csr_arrays<Offset, T> listed(offsets_of(groups_), rows_, has_values_);
    on_threads(threads_, groups_, [&](int64 group) { place(group, listed); });
    each_block([&](int64, index first, index last) {
      for (index i = first; i < last; ++i) next(0)[i] = fold_row(listed, i, fold);
    });
    buffer folded = offsets_of(1);
    if (folded.data<Offset>()[rows_] == listed.offsets[rows_]) return listed;
    csr_arrays<Offset, T> out(std::move(folded), rows_, has_values_);
    each_block([&](int64, index first, index last) {
      for (index i = first; i < last; ++i) copy_row(listed, out, i);
    });
    return out;
  }

 private:
  /// For each row the number of its entries in a group, then the place of the next one.
  Offset* next(int64 group) const { return next_.data<Offset>() + size(group) * size(rows_); }

  template <class Work>
  void each_block(Work&& work) const {
    const index blocks = rows_ / block_ + 1;
    on_threads(threads_, blocks, [&](int64 b) {
      const int64 first = b * block_, last = std::min<int64>(rows_, first + block_);
      work(b, static_cast<index>(first), static_cast<index>(last));
    });
  }
  /// Calls visit(list, begin, end, place) for the entries of a group, a range of each list;
  /// `place` entries of the file are before them.
  template <class Visit>
  void each_range(int64 group, Visit&& visit) const {
    std::size_t all = 0, before = 0;
    for (const entry_list<T>& list : lists_) all += list.size();
    const std::size_t begin = all / size(groups_) * size(group),
                      end = group + 1 < groups_ ? begin + all / size(groups_) : all;
    for (const entry_list<T>& list : lists_) {
      const std::size_t first = std::max(begin, before), last = std::min(end, before + list.size());
      if (first < last) visit(list, first - before, last - before, first);
      before += list.size();
    }
  }
  /// Calls visit(i, j, list, p, half) for each entry of a group; `half` is how its value follows
  /// from entry p of the list. Calls ahead(i) for the row of an entry that comes soon, because the
  /// machine does not foresee random rows.
  template <class Visit, class Ahead>
  void each_entry(int64 group, Visit&& visit, Ahead&& ahead) const {
    constexpr std::size_t distance = 16;
    const Offset* const places = next(group);
    each_range(group, [&](const entry_list<T>& list, std::size_t begin, std::size_t end, auto) {
      for (std::size_t p = begin; p < end; ++p) {
        if (p + 2 * distance < end) {
          __builtin_prefetch(places + list.row(p + 2 * distance), 1);
          ahead(list.row(p + distance));
        }
        const index i = list.row(p), j = list.column(p);
        visit(i, j, list, p, symmetry::none);
        if (half_ != symmetry::none && i != j) visit(j, i, list, p, half_);
      }
    });
  }
  /// Places a group of a file that lists its rows in order.
  void copy(int64 group, const csr_arrays<Offset, T>& to) const {
    each_range(group, [&](const entry_list<T>& list, std::size_t begin, std::size_t end,
                          std::size_t place) {
      std::copy_n(list.columns() + begin, end - begin, to.entries + place);
      if (to.values != nullptr) std::copy_n(list.values() + begin, end - begin, to.values + place);
    });
  }
  /// Counts the entries of each row in a group.
  row_range count(int64 group) const {
    Offset* const counts = next(group);
    std::fill_n(counts, rows_, Offset(0));
    row_range rows;
    const auto add = [&](index i, index, auto&, std::size_t, symmetry) {
      if (rows.last < 0) rows.first = i;
      rows.in_order = rows.in_order && i >= rows.last;
      rows.last = i;
      ++counts[i];
    };
    each_entry(group, add, [](index) {});
    return rows;
  }
  /// The offsets of rows by the numbers of entries in some groups, which become their first places.
  buffer offsets_of(int groups) const {
    buffer made = buffer::allocate((size(rows_) + 1) * sizeof(Offset));
    auto* const offsets = made.data<Offset>();
    std::vector<Offset> places(size(rows_ / block_) + 2, 0);
    each_block([&](int64 b, index first, index last) {
      for (int g = 0; g < groups; ++g)
        places[size(b) + 1] = std::accumulate(next(g) + first, next(g) + last, places[size(b) + 1]);
    });
    std::partial_sum(places.begin(), places.end(), places.begin());
    each_block([&](int64 b, index first, index last) {
      Offset place = places[size(b)];
      for (index i = first; i < last; ++i) {
        offsets[i] = place;
        for (int g = 0; g < groups; ++g) place += std::exchange(next(g)[i], place);
      }
    });
    offsets[rows_] = places.back();
    return made;
  }
  void place(int64 group, const csr_arrays<Offset, T>& to) const {
    if (in_order_) return copy(group, to);
    Offset* const place = next(group);
    const auto put = [&](index i, index j, const entry_list<T>& list, std::size_t p,
                         symmetry half) {
      const Offset at = place[i]++;
      to.entries[at] = j;
      if (to.values != nullptr) to.values[at] = mirrored(list.value(p), half);
    };
    each_entry(group, put, [&](index i) {
      __builtin_prefetch(to.entries + place[i], 1);
      if (to.values != nullptr) __builtin_prefetch(to.values + place[i], 1);
    });
  }
  /// Sorts a row and folds entries at one position. Returns the number of remaining entries.
  Offset fold_row(const csr_arrays<Offset, T>& of, index i, accumulator fold) const {
    index* const row = of.entries + of.offsets[i];
    const Offset count = of.offsets[i + 1] - of.offsets[i];
    if (std::adjacent_find(row, row + count, std::greater_equal<>()) == row + count) return count;
    T* const values = of.values == nullptr ? nullptr : of.values + of.offsets[i];
    sort_row(row, values, size(count));
    Offset kept = 0;
    for (Offset p = 0; p < count; ++p) {
      if (kept > 0 && row[kept - 1] == row[p]) {
        if (fold == accumulator::none) refuse_duplicate(lists_, i, row[p], half_);
        if (values != nullptr) values[kept - 1] = accumulate(fold, values[kept - 1], values[p]);
        continue;
      }
      row[kept] = row[p];
      if (values != nullptr) values[kept] = values[p];
      ++kept;
    }
    return kept;
  }
  static void copy_row(const csr_arrays<Offset, T>& from, const csr_arrays<Offset, T>& to,
                       index i) {
    const Offset count = to.offsets[i + 1] - to.offsets[i];
    std::copy_n(from.entries + from.offsets[i], count, to.entries + to.offsets[i]);
    if (to.values != nullptr)
      std::copy_n(from.values + from.offsets[i], count, to.values + to.offsets[i]);
  }

  entry_lists<T> lists_;
  index rows_;
  bool has_values_;
  symmetry half_;
  int groups_, threads_;
  index block_;
  bool in_order_ = false;  // whether the file lists row after row
  buffer next_;
};

/// Builds the matrix, with the other half of a symmetric file. `fold` joins entries at one
/// position; with none, such a file is refused.
template <class T>
matrix<T> to_matrix(entry_lists<T> lists, index rows, index columns, symmetry half,
                    accumulator fold) {
  double bytes = 0;
  std::size_t most = 0;
  for (const entry_list<T>& list : lists) {
    bytes += list.bytes();
    most += list.size() * (half == symmetry::none ? 1 : 2);
  }
  const bool has_values = std::any_of(lists.begin(), lists.end(),
                                      [](const entry_list<T>& list) { return list.has_values; });
  const int threads = on_cpu::threads_for(4.0 * static_cast<double>(most));
  // Each group takes a number per row, which is not more than it takes per entry.
  const auto groups =
      static_cast<int>(std::clamp<std::size_t>(most / (size(rows) + 1), 1, size(threads)));
  const auto make = [&]<class Offset>(Offset) {
    // A few bytes of text can cause gigabytes of offsets, while the lists still take memory.
    const double entry_bytes = sizeof(index) + (has_values ? sizeof(T) : 0);
    lists[0].file.expect_memory(bytes + entry_bytes * static_cast<double>(most) +
                                static_cast<double>(sizeof(Offset)) * rows * (groups + 1));
    csr_arrays<Offset, T> csr =
        row_maker<Offset, T>(lists, rows, has_values, half, groups, threads).make(fold);
    auto structure = std::make_shared<const pattern>(
        rows, columns, int64{csr.offsets[rows]}, std::move(csr.offset_buffer),
        sizeof(Offset) == sizeof(int64), std::move(csr.entry_buffer));
    if (!has_values) return matrix<T>(std::move(structure));
    return matrix<T>(std::move(structure), std::move(csr.value_buffer));
  };
  if (most > size(highest<int32>())) return make(int64());
  return make(int32());
}

}  // namespace rig::io
