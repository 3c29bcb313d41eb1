// Entries in another order: transposes, and tuples sorted by row and column.
//
// A stable counting sort in two steps. First the items go to buckets of neighbouring keys, each
// thread with a part of the items; then each bucket is sorted by one thread, in cache.

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"
#include "storage/integers.hpp"
#include "storage/room.hpp"

namespace rig {
namespace {

constexpr index most_buckets = 1024;

template <class Offset>
struct item {
  index key, payload;
  Offset number;
};

/// The items of each thread: first[t] … first[t + 1].
std::vector<int64> parts_of(int64 count, int threads) {
  std::vector<int64> first(size(threads) + 1);
  for (int t = 0; t <= threads; ++t) first[size(t)] = count / threads * t;
  first.back() = count;
  return first;
}

/// Sorts items by key. `each(t, visit)` calls visit(key, payload, number) for the items of part t
/// in order; put(q, payload, number) receives the item at place q. Returns the first place of each
/// key, and the end.
template <class Offset, class Each, class Put>
buffer sort_by_key(int64 count, index keys, int threads, Each each, Put put) {
  int shift = 0;  // of a key to its bucket
  const int64 wanted = std::clamp<int64>(count / 64, 1, most_buckets);
  while ((keys - 1) >> shift >= wanted) ++shift;
  const index buckets = ((keys - 1) >> shift) + 1;
  // place[t·buckets + b]: where the next item of part t in bucket b goes.
  std::vector<Offset> place(size(threads) * size(buckets), 0);
  std::vector<Offset> begins(size(buckets) + 1, 0);
  const buffer room = buffer::allocate(size(count) * sizeof(item<Offset>));
  buffer offsets = buffer::allocate((size(keys) + 1) * sizeof(Offset));
  auto* const items = room.data<item<Offset>>();
  auto* const first = offsets.data<Offset>();

#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) {
    Offset* const counts = place.data() + size(t) * size(buckets);
    each(t, [&](index key, index, int64) { ++counts[key >> shift]; });
  }
  Offset sum = 0;
  for (index b = 0; b < buckets; ++b) {
    begins[size(b)] = sum;
    for (int t = 0; t < threads; ++t)
      sum += std::exchange(place[size(t) * size(buckets) + size(b)], sum);
  }
  begins.back() = sum;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) {
    Offset* const next = place.data() + size(t) * size(buckets);
    each(t, [&](index key, index payload, int64 number) {
      items[next[key >> shift]++] = {key, payload, static_cast<Offset>(number)};
    });
  }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
  for (index b = 0; b < buckets; ++b) {
    const index key = b << shift;
    const auto end_key = static_cast<index>(std::min<int64>(int64{keys}, (int64{b} + 1) << shift));
    // Counts, shifted by one key, become the next place of each key, and then its end.
    std::fill(first + key + 1, first + end_key + 1, Offset(0));
    for (Offset q = begins[size(b)]; q < begins[size(b) + 1]; ++q)
      if (items[q].key + 1 < end_key) ++first[items[q].key + 2];
    if (key + 1 <= end_key) first[key + 1] = begins[size(b)];
    for (index k = key + 2; k <= end_key; ++k) first[k] += first[k - 1];
    for (Offset q = begins[size(b)]; q < begins[size(b) + 1]; ++q)
      put(first[items[q].key + 1]++, items[q].payload, items[q].number);
  }
  first[0] = 0;
  return offsets;
}

template <class Offset>
std::shared_ptr<const pattern> transpose_as(const pattern& original, buffer& permutation) {
  const int64 nnz = original.nnz();
  const index* const columns = original.column_indices();
  const int threads = on_cpu::threads_for(static_cast<double>(nnz));
  buffer entries = buffer::allocate(size(nnz) * sizeof(index));
  permutation = buffer::allocate(size(nnz) * sizeof(Offset));
  const std::vector<int64> parts = parts_of(nnz, threads);
  buffer offsets = sort_by_key<Offset>(
      nnz, original.columns(), threads,
      [&](int t, auto visit) {
        const int64 begin = parts[size(t)], end = parts[size(t) + 1];
        const index row = first_where(0, original.rows() - 1,
                                      [&](index i) { return original.offset(i + 1) > begin; });
        int64 p = begin;
        for (index i = row; p < end; ++i)
          for (const int64 row_end = std::min(end, original.offset(i + 1)); p < row_end; ++p)
            visit(columns[p], i, p);
      },
      [to = entries.data<index>(), from = permutation.data<Offset>()](Offset q, index row,
                                                                      Offset p) {
        to[q] = row;
        from[q] = p;
      });
  return std::make_shared<const pattern>(original.columns(), original.rows(), nnz,
                                         std::move(offsets), sizeof(Offset) == sizeof(int64),
                                         std::move(entries));
}

}  // namespace

std::shared_ptr<const pattern> on_cpu::transpose(const pattern& original, buffer& permutation) {
  if (original.nnz() == 0) return pattern_without_entries(original.columns(), original.rows());
  return original.nnz() > highest<int32>() ? transpose_as<int64>(original, permutation)
                                           : transpose_as<int32>(original, permutation);
}

namespace {

/// The positions as indices: the array itself if it has the right type, else a narrowed copy in
/// `room`.
std::span<const index> as_indices(const integers& given, index limit, const char* what,
                                  std::vector<index>& room) {
  if (are_indices(given)) return {static_cast<const index*>(given.data()), given.size()};
  room = filled<index>(given.size());
  narrow(given, limit, what, "tuple", [&](std::size_t p, index number) { room[p] = number; });
  return room;
}

void check_tuples(index rows, index columns, std::span<const index> i, std::span<const index> j) {
  if (i.size() != j.size())
    fail(errc::shape, {"matrix: there are ", i.size(), " row indices but ", j.size(),
                       " column indices; give one of each per entry"});
  for (std::size_t p = 0; p < i.size(); ++p)
    if (i[p] < 0 || i[p] >= rows || j[p] < 0 || j[p] >= columns)
      fail(errc::range,
           {"matrix: tuple ", p, " at (", i[p], ", ", j[p], ") is outside ", rows, "x", columns});
}

/// A tuple in its row.
template <class Offset>
struct placed_tuple {
  index column;
  Offset number;
  bool operator<(const placed_tuple& other) const {
    return column != other.column ? column < other.column : number < other.number;
  }
};

/// Tuples by row, then column, then input order.
template <class Offset>
struct tuples_by_row {
  buffer offsets, tuples;
  int64 count;
  index rows;
  int threads;

  tuples_by_row(index row_count, std::span<const index> i, std::span<const index> j)
      : count(static_cast<int64>(i.size())),
        rows(row_count),
        threads(on_cpu::threads_for(4.0 * static_cast<double>(count))) {
    tuples = buffer::allocate(i.size() * sizeof(placed_tuple<Offset>));
    auto* const to = tuples.data<placed_tuple<Offset>>();
    const std::vector<int64> parts = parts_of(count, threads);
    offsets = sort_by_key<Offset>(
        count, rows, threads,
        [&](int t, auto visit) {
          for (int64 p = parts[size(t)]; p < parts[size(t) + 1]; ++p)
            visit(i[size(p)], j[size(p)], p);
        },
        [=](Offset q, index column, Offset number) {
          to[q] = {column, number};
        });
    for_rows([&](index row) {
      auto *const first = to + offset(row), *const last = to + offset(row + 1);
      if (!std::is_sorted(first, last)) std::sort(first, last);
    });
  }
  int64 offset(index row) const { return offsets.data<Offset>()[row]; }
  const placed_tuple<Offset>& operator[](int64 q) const {
    return tuples.data<placed_tuple<Offset>>()[q];
  }
  /// Whether tuple q is at the place of the one before it, in a row that begins at `begin`.
  bool repeats(int64 begin, int64 q) const {
    return q > begin && (*this)[q - 1].column == (*this)[q].column;
  }
  template <class Visit>
  void for_rows(Visit visit) const {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 512)
    for (index row = 0; row < rows; ++row) visit(row);
  }
};

/// Throws for the first two tuples at one place, by row and column.
template <class Offset>
[[noreturn]] void fail_duplicate(const tuples_by_row<Offset>& of, index row) {
  const int64 begin = of.offset(row);
  int64 q = begin;
  while (!of.repeats(begin, q)) ++q;
  constexpr const char* remedy =
      "); fold them by a combiner of from_tuples or build, or by merge_duplicates of "
      "from_positions or from_indices";
  fail(errc::duplicate, {"matrix: tuples ", int64{of[q - 1].number}, " and ", int64{of[q].number},
                         " are both at (", row, ", ", of[q].column, remedy});
}

/// The first row with two tuples at one place, or the number of rows.
template <class Offset>
index first_repeated_row(const tuples_by_row<Offset>& of) {
  std::atomic<index> found = of.rows;
  of.for_rows([&](index row) {
    const int64 begin = of.offset(row), end = of.offset(row + 1);
    int64 q = begin;
    while (q < end && !of.repeats(begin, q)) ++q;
    index first = found.load(std::memory_order_relaxed);
    while (q < end && row < first && !found.compare_exchange_weak(first, row)) {
    }
  });
  return found;
}

/// The offsets of the places, if tuples repeat.
template <class Offset>
buffer offsets_of_places(const tuples_by_row<Offset>& of) {
  buffer out = buffer::allocate(of.offsets.bytes());
  auto* const offsets = out.data<Offset>();
  offsets[0] = 0;
  of.for_rows([&](index row) {
    const int64 begin = of.offset(row);
    Offset places = 0;
    for (int64 q = begin; q < of.offset(row + 1); ++q) places += !of.repeats(begin, q);
    offsets[row + 1] = places;
  });
  std::partial_sum(offsets, offsets + of.rows + 1, offsets);
  return out;
}

template <class Offset>
sorted_tuples sort_checked(index rows, index columns, std::span<const index> i,
                           std::span<const index> j, bool duplicates_allowed) {
  tuples_by_row<Offset> sorted(rows, i, j);
  const index repeated = first_repeated_row(sorted);
  if (repeated < rows && !duplicates_allowed) fail_duplicate(sorted, repeated);
  buffer offsets = repeated < rows ? offsets_of_places(sorted) : sorted.offsets;
  const int64 places = offsets.data<Offset>()[rows];

  sorted_tuples out;
  out.order = filled<int64>(i.size());
  out.groups = filled<int64>(size(places) + 1);
  buffer entries = buffer::allocate(size(places) * sizeof(index));
  sorted.for_rows([&, to = entries.data<index>()](index row) {
    const int64 begin = sorted.offset(row);
    int64 place = offsets.data<Offset>()[row];
    for (int64 q = begin; q < sorted.offset(row + 1); ++q) {
      out.order[size(q)] = sorted[q].number;
      if (sorted.repeats(begin, q)) continue;
      out.groups[size(place)] = q;
      to[place++] = sorted[q].column;
    }
  });
  out.groups.back() = sorted.count;
  out.structure =
      std::make_shared<const pattern>(rows, columns, places, std::move(offsets),
                                      sizeof(Offset) == sizeof(int64), std::move(entries));
  return out;
}

}  // namespace

sorted_tuples sort_tuples(checked_index rows, checked_index columns, const integers& i,
                          const integers& j, bool duplicates_allowed) {
  check_shape("matrix", rows, columns);
  return or_out_of_memory("matrix", [&] {
    std::vector<index> narrow_i, narrow_j;
    const auto of_row = as_indices(i, rows, "row", narrow_i);
    const auto of_column = as_indices(j, columns, "column", narrow_j);
    check_tuples(rows, columns, of_row, of_column);
    if (of_row.empty()) return sorted_tuples{pattern_without_entries(rows, columns), {}, {0}};
    return of_row.size() > size(highest<int32>())
               ? sort_checked<int64>(rows, columns, of_row, of_column, duplicates_allowed)
               : sort_checked<int32>(rows, columns, of_row, of_column, duplicates_allowed);
  });
}

void take_elements(const void* from, std::size_t bytes_each, const std::vector<int64>& order,
                   void* to) {
  const auto count = static_cast<int64>(order.size());
  const int threads = on_cpu::threads_for(static_cast<double>(count));
  const auto* const source = static_cast<const unsigned char*>(from);
  auto* const target = static_cast<unsigned char*>(to);
  const auto take = [&]<std::size_t Bytes>(std::integral_constant<std::size_t, Bytes>) {
    const std::size_t each = Bytes != 0 ? Bytes : bytes_each;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64 p = 0; p < count; ++p)
      std::memcpy(target + size(p) * each, source + size(order[size(p)]) * each, each);
  };
  if (bytes_each == 4) return take(std::integral_constant<std::size_t, 4>());
  if (bytes_each == 8) return take(std::integral_constant<std::size_t, 8>());
  take(std::integral_constant<std::size_t, 0>());
}

}  // namespace rig
