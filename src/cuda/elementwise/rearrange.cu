// Operations whose results are entries of their operands at other places: first the structure and
// where each entry comes from, then the values.

#include <algorithm>

#include "cuda/elementwise/each.hpp"
#include "cuda/elementwise/values.cuh"
#include "cuda/elementwise/work.hpp"

namespace rig::on_cuda {
namespace {

/// The structure of an operand, for device functions.
struct rows_and_columns {
  const void* offsets;
  const index* entries;
  index rows;
  bool offsets_64;

  explicit rows_and_columns(const sparse_operand& of)
      : offsets(of.offsets), entries(of.entries), rows(of.rows), offsets_64(of.offsets_64) {}
  __device__ int64 offset(int64 row) const { return offset_at(offsets, offsets_64, row); }
  __device__ int64 length(int64 row) const { return offset(row + 1) - offset(row); }
};

/// The last of `count` ascending numbers, from begins[0] on, that is at most `key`.
template <class T>
__device__ int64 last_at_most(const T* begins, int64 count, int64 key) {
  return first_where(int64{0}, count - 1, [=](int64 k) { return begins[k + 1] > key; });
}
/// The first of `count` ascending numbers that is at least `key`.
template <class T>
__device__ int64 first_at_least(const T* numbers, int64 count, T key) {
  return first_where(int64{0}, count, [=](int64 k) { return numbers[k] >= key; });
}

/// A list of indices that device functions read.
struct device_list {
  buffer copied;
  struct reader {
    index_list::kind what;
    index first, step;
    const index* list;
    __device__ index operator()(int64 k) const {
      if (what == index_list::kind::list) return list[k];
      return what == index_list::kind::all ? static_cast<index>(k)
                                           : static_cast<index>(first + k * step);
    }
  } at;

  device_list(const work& by, const index_list& from)
      : at{from.what, from.first, from.step, from.list} {
    if (from.what != index_list::kind::list || from.where != cpu()) return;
    copied = by.room(from.count, sizeof(index));
    if (from.count > 0)
      by.to_device(copied.data(), from.list, static_cast<std::size_t>(from.count) * sizeof(index));
    at.list = copied.data<index>();
  }
};

/// Offsets as a sum of counts: `offsets`, of int64, and the total on the host.
struct summed {
  buffer offsets;
  int64 total;
  const int64* data() const { return offsets.data<int64>(); }
};

/// The running sum of count(k) for k below `items`.
template <class Count>
summed sum_of(const work& by, int64 items, Count count) {
  summed out{by.room(items + 1, sizeof(int64)), 0};
  const buffer counts = by.room(items + 1, sizeof(int64));
  by.each(items, [=, to = counts.data<int64>()] __device__(int64 k) { to[k] = count(k); });
  running_sum(by, counts.data<int64>(), out.offsets.data<int64>(), items);
  out.total = by.read(out.data() + items);
  return out;
}

rearranged finish(const work& by, index rows, index columns, const summed& offsets, buffer entries,
                  buffer x, buffer y = {}) {
  bool offsets_64 = false;
  buffer packed = pack(
      by, [from = offsets.data()] __device__(int64 r) { return from[r]; }, rows, offsets.total,
      offsets_64);
  return {std::make_shared<const pattern>(rows, columns, offsets.total, std::move(packed),
                                          offsets_64, std::move(entries)),
          std::move(x), std::move(y)};
}

rearranged extract_rows(const work& by, const operation& o, const device_list& rows, index count) {
  const rows_and_columns a(o.x.sparse);
  const auto from = rows.at;
  const summed offsets = sum_of(by, count, [=] __device__(int64 i) { return a.length(from(i)); });
  buffer entries = by.result(offsets.total, sizeof(index)),
         x = by.room(offsets.total, sizeof(int64));
  by.each(offsets.total, [=, begins = offsets.data(), to = entries.data<index>(),
                          x_to = x.data<int64>()] __device__(int64 k) {
    const int64 i = last_at_most(begins, count, k), p = a.offset(from(i)) + k - begins[i];
    to[k] = a.entries[p];
    x_to[k] = p;
  });
  return finish(by, count, o.x.sparse.columns, offsets, std::move(entries), std::move(x));
}

/// For each column of X, the columns of the result that it becomes, ascending.
struct column_targets {
  buffer begins, targets;
  bool is_ascending;  ///< ascending columns of X become ascending columns of the result
};

column_targets targets_of(const work& by, const device_list& columns, int64 count, index of_all) {
  column_targets out{by.room(int64{of_all} + 1, sizeof(int64)), by.room(count, sizeof(int64)),
                     true};
  const buffer keys = by.room(count, sizeof(std::uint64_t)),
               sorted = by.room(count, sizeof(std::uint64_t)),
               numbers = by.room(count, sizeof(int64)), descents = by.room(1, sizeof(int64));
  check(cudaMemsetAsync(descents.data(), 0, sizeof(int64), by.stream), by.name);
  by.each(count,
          [=, at = columns.at, key = keys.data<std::uint64_t>(), number = numbers.data<int64>(),
           descent = descents.data<int64>()] __device__(int64 j) {
            key[j] = static_cast<std::uint64_t>(at(j));
            number[j] = j;
            if (j > 0 && at(j - 1) >= at(j)) *descent = 1;
          });
  sort_keys(by, keys.data<std::uint64_t>(), sorted.data<std::uint64_t>(), numbers.data<int64>(),
            out.targets.data<int64>(), count, bits_below(of_all));
  by.each(int64{of_all} + 1,
          [=, from = sorted.data<std::uint64_t>(), to = out.begins.data<int64>()] __device__(
              int64 j) { to[j] = first_at_least(from, count, static_cast<std::uint64_t>(j)); });
  out.is_ascending = by.read(descents.data<int64>()) == 0;
  return out;
}

/// Sorts the entries of each row by column; columns of a row differ.
void sort_rows(const work& by, const summed& offsets, index rows, index columns, buffer& entries,
               buffer& x) {
  const int64 nnz = offsets.total;
  const int column_bits = bits_below(columns);
  const buffer keys = by.room(nnz, sizeof(std::uint64_t)),
               sorted = by.room(nnz, sizeof(std::uint64_t));
  buffer moved = by.room(nnz, sizeof(int64));
  by.each(nnz, [=, begins = offsets.data(), from = entries.data<index>(),
                key = keys.data<std::uint64_t>()] __device__(int64 k) {
    const auto row = static_cast<std::uint64_t>(last_at_most(begins, rows, k));
    key[k] = row << column_bits | static_cast<std::uint64_t>(from[k]);
  });
  sort_keys(by, keys.data<std::uint64_t>(), sorted.data<std::uint64_t>(), x.data<int64>(),
            moved.data<int64>(), nnz, column_bits + bits_below(rows));
  by.each(nnz,
          [=, from = sorted.data<std::uint64_t>(), to = entries.data<index>()] __device__(int64 k) {
            to[k] = static_cast<index>(from[k] & ((std::uint64_t{1} << column_bits) - 1));
          });
  x = std::move(moved);
}

}  // namespace

rearranged extract(const operation& o) {
  const work by(o);
  const rows_and_columns a(o.x.sparse);
  const auto rows = static_cast<index>(o.rows.size(o.x.sparse.rows));
  const device_list row_list(by, o.rows);
  if (o.columns.what == index_list::kind::all) return extract_rows(by, o, row_list, rows);
  const int64 columns = o.columns.size(o.x.sparse.columns);
  const device_list column_list(by, o.columns);
  const column_targets targets = targets_of(by, column_list, columns, o.x.sparse.columns);

  // The entries of the named rows, one after the other; then the entries that they become.
  const summed taken =
      sum_of(by, rows, [=, from = row_list.at] __device__(int64 i) { return a.length(from(i)); });
  const auto entry = [=, from = row_list.at, begins = taken.data()] __device__(int64 k) {
    const int64 i = last_at_most(begins, rows, k);
    return a.offset(from(i)) + k - begins[i];
  };
  const summed made =
      sum_of(by, taken.total, [=, begin = targets.begins.data<int64>()] __device__(int64 k) {
        const index column = a.entries[entry(k)];
        return begin[column + 1] - begin[column];
      });
  const summed offsets =
      sum_of(by, rows, [=, begins = taken.data(), to = made.data()] __device__(int64 i) {
        return to[begins[i + 1]] - to[begins[i]];
      });
  buffer entries = by.result(made.total, sizeof(index)), x = by.room(made.total, sizeof(int64));
  by.each(taken.total, [=, begin = targets.begins.data<int64>(),
                        target = targets.targets.data<int64>(), first = made.data(),
                        to = entries.data<index>(), x_to = x.data<int64>()] __device__(int64 k) {
    const int64 p = entry(k);
    const index column = a.entries[p];
    for (int64 t = begin[column], at = first[k]; t < begin[column + 1]; ++t, ++at) {
      to[at] = static_cast<index>(target[t]);
      x_to[at] = p;
    }
  });
  if (!targets.is_ascending) sort_rows(by, offsets, rows, static_cast<index>(columns), entries, x);
  return finish(by, rows, static_cast<index>(columns), offsets, std::move(entries), std::move(x));
}

rearranged kronecker(const operation& o) {
  const work by(o);
  const rows_and_columns a(o.x.sparse), b(o.y.sparse);
  const index b_rows = o.y.sparse.rows, b_columns = o.y.sparse.columns;
  const index rows = o.x.sparse.rows * b_rows;
  const summed offsets = sum_of(by, rows, [=] __device__(int64 row) {
    return a.length(row / b_rows) * b.length(row % b_rows);
  });
  buffer entries = by.result(offsets.total, sizeof(index)),
         x = by.room(offsets.total, sizeof(int64)), y = by.room(offsets.total, sizeof(int64));
  by.each(offsets.total, [=, begins = offsets.data(), to = entries.data<index>(),
                          x_to = x.data<int64>(), y_to = y.data<int64>()] __device__(int64 k) {
    const int64 row = last_at_most(begins, rows, k), place = k - begins[row];
    const int64 length = b.length(row % b_rows);
    const int64 p = a.offset(row / b_rows) + place / length,
                q = b.offset(row % b_rows) + place % length;
    to[k] = a.entries[p] * b_columns + b.entries[q];
    x_to[k] = p;
    y_to[k] = q;
  });
  return finish(by, rows, o.x.sparse.columns * b_columns, offsets, std::move(entries), std::move(x),
                std::move(y));
}

rearranged diagonal(const operation& o) {
  const work by(o);
  const sparse_operand& v = o.x.sparse;
  const index down = std::max(-o.diagonal, 0), right = std::max(o.diagonal, 0);
  const index n = v.columns + down + right;
  const summed offsets =
      sum_of(by, n, [=, from = v.entries, nnz = v.nnz] __device__(int64 row) -> int64 {
        const auto place = static_cast<index>(row - down);
        const int64 at = first_at_least(from, nnz, place);
        return at < nnz && from[at] == place;
      });
  buffer entries = by.result(v.nnz, sizeof(index)), x = by.room(v.nnz, sizeof(int64));
  by.each(v.nnz, [=, from = v.entries, to = entries.data<index>(),
                  x_to = x.data<int64>()] __device__(int64 p) {
    to[p] = from[p] + right;
    x_to[p] = p;
  });
  return finish(by, n, n, offsets, std::move(entries), std::move(x));
}

rearranged from_diagonal(const operation& o) {
  const work by(o);
  const rows_and_columns a(o.x.sparse);
  const int64 down = std::max(-int64{o.diagonal}, int64{0}), right = std::max(o.diagonal, 0);
  const auto n = static_cast<index>(
      std::max(int64{0}, std::min(o.x.sparse.rows - down, o.x.sparse.columns - right)));
  const auto find = [=] __device__(int64 i) -> int64 {  // the entry's number, or −1
    const int64 begin = a.offset(i + down), length = a.length(i + down);
    const auto column = static_cast<index>(i + right);
    const int64 at = first_at_least(a.entries + begin, length, column);
    return at < length && a.entries[begin + at] == column ? begin + at : -1;
  };
  const summed before = sum_of(by, n, [=] __device__(int64 i) -> int64 { return find(i) >= 0; });
  buffer entries = by.result(before.total, sizeof(index)), x = by.room(before.total, sizeof(int64));
  by.each(n, [=, at = before.data(), to = entries.data<index>(),
              x_to = x.data<int64>()] __device__(int64 i) {
    const int64 p = find(i);
    if (p < 0) return;
    to[at[i]] = static_cast<index>(i);
    x_to[at[i]] = p;
  });
  const summed offsets =
      sum_of(by, 1, [=, total = before.total] __device__(int64) { return total; });
  return finish(by, 1, n, offsets, std::move(entries), std::move(x));
}

wrong_index find_outside(const operation& o, const index_list& list, index limit) {
  const work by(o);
  const buffer found = by.room(1, sizeof(int64));
  by.to_device(found.data(), &list.count, sizeof(int64));
  by.each(list.count,
          [=, from = list.list, first = found.data<unsigned long long>()] __device__(int64 k) {
            if (from[k] < 0 || from[k] >= limit)
              atomicMin(first, static_cast<unsigned long long>(k));
          });
  wrong_index out{by.read(found.data<int64>()), 0};
  if (out.number == list.count) return out;
  by.to_host(&out.value, list.list + out.number, sizeof(index));
  by.wait();
  return out;
}

namespace {

buffer flags_of(const work& by, const index_list& list, index limit) {
  if (list.what == index_list::kind::all) return {};
  buffer out = by.result(limit, sizeof(bool));
  if (limit > 0) check(cudaMemsetAsync(out.data(), 0, out.bytes(), by.stream), by.name);
  const device_list given(by, list);
  by.each(list.size(limit),
          [=, at = given.at, to = out.data<bool>()] __device__(int64 k) { to[at(k)] = true; });
  return out;
}

}  // namespace

assigned_region region(const operation& o) {
  const work by(o);
  return {flags_of(by, o.rows, o.c.rows()), flags_of(by, o.columns, o.c.columns())};
}

std::shared_ptr<const pattern> fill_region(const operation& o, const assigned_region& region) {
  const work by(o);
  const index rows = o.c.rows(), columns = o.c.columns();
  const bool *const in_row = region.rows.data<bool>(), *const in_column =
                                                           region.columns.data<bool>();
  const summed before = sum_of(by, columns, [=] __device__(int64 j) -> int64 {
    return in_column == nullptr || in_column[j];
  });
  const int64 width = before.total;
  const summed offsets = sum_of(by, rows, [=] __device__(int64 i) -> int64 {
    return in_row == nullptr || in_row[i] ? width : 0;
  });
  const buffer members = by.room(width, sizeof(index));
  by.each(columns, [=, at = before.data(), to = members.data<index>()] __device__(int64 j) {
    if (in_column == nullptr || in_column[j]) to[at[j]] = static_cast<index>(j);
  });
  buffer entries = by.result(offsets.total, sizeof(index));
  by.each(offsets.total, [=, from = members.data<index>(), to = entries.data<index>()] __device__(
                             int64 k) { to[k] = from[k % width]; });
  return finish(by, rows, columns, offsets, std::move(entries), {}).structure;
}

namespace {

/// Throws error(duplicate) with the first key that repeats.
void refuse_duplicate(const work& by, const std::uint64_t* keys, int64 count, int column_bits) {
  const buffer first = by.room(1, sizeof(int64));
  by.to_device(first.data(), &count, sizeof(int64));
  by.each(count, [=, to = first.data<unsigned long long>()] __device__(int64 k) {
    if (k > 0 && keys[k] == keys[k - 1]) atomicMin(to, static_cast<unsigned long long>(k));
  });
  std::uint64_t key = 0;
  by.to_host(&key, keys + by.read(first.data<int64>()), sizeof(key));
  by.wait();
  fail(errc::duplicate, {by.name, ": there are two entries at (", key >> column_bits, ", ",
                         key & ((std::uint64_t{1} << column_bits) - 1), "); give a combiner"});
}

dense_list list_of(const device_list& from) {
  const bool is_list = from.at.what == index_list::kind::list;
  return {is_list ? from.at.list : nullptr, from.at.first, from.at.step};
}

}  // namespace

void extract_dense(const operation& o, const dense_operand& t) {
  const work by(o);
  const bool is_turned = o.turns_x(), is_whole = o.rows.what == index_list::kind::all &&
                                                 o.columns.what == index_list::kind::all;
  if (is_turned && is_whole && o.x.full.value_type == t.value_type && t.value_type != type::other &&
      t.stride == t.columns)
    return transpose_elements(o.x.full, t.data, by.stream);
  const device_list rows(by, o.rows), columns(by, o.columns);
  const operator_info& op = unchanged(o);
  extract_arguments args;
  args.elements = arguments_of(o, op, static_cast<unsigned char>(unary::identity));
  args.elements.x = array_of(source_of(o.x.full));
  args.elements.out = t.data;
  args.rows = t.rows;
  args.columns = t.columns;
  args.x_row_step = is_turned ? 1 : o.x.full.stride;
  args.x_column_step = is_turned ? o.x.full.stride : 1;
  args.t_stride = t.stride;
  args.row_list = list_of(rows);
  args.column_list = list_of(columns);
  const device_kernel kernel = kernel_of(
      o, op, o.out_type, {"extract_elements", "cuda/elementwise/values.cuh"}, [](auto of) {
        return reinterpret_cast<const void*>(&extract_elements<typename decltype(of)::type>);
      });
  by.launch(kernel, element_blocks(args.rows * args.columns), &args);
}

void placed_dense(const operation& o, const dense_operand& t) {
  const work by(o);
  const device_list rows(by, o.rows), columns(by, o.columns);
  const column_targets of_rows = targets_of(by, rows, o.x.rows(), t.rows),
                       of_columns = targets_of(by, columns, o.x.columns(), t.columns);
  const bool joins = o.accum != accumulator::none;
  const operator_info& op = joins ? *o.accumulates : converting(o);
  place_arguments args;
  args.elements =
      arguments_of(o, op, joins ? o.accumulates_code : static_cast<unsigned char>(binary::first));
  args.elements.x = array_of(source_of(t));
  args.elements.y = array_of(source_of(o.x.full));
  args.elements.out = t.data;
  args.rows = t.rows;
  args.columns = t.columns;
  args.x_stride = o.x.full.stride;
  args.t_stride = t.stride;
  args.row_list = {of_rows.begins.data<int64>(), of_rows.targets.data<int64>()};
  args.column_list = {of_columns.begins.data<int64>(), of_columns.targets.data<int64>()};
  args.joins = joins;
  const device_kernel kernel =
      kernel_of(o, op, o.out_type, {"place_elements", "cuda/elementwise/values.cuh"}, [](auto of) {
        return reinterpret_cast<const void*>(&place_elements<typename decltype(of)::type>);
      });
  by.launch(kernel, blocks_for(args.rows * args.columns), &args);
}

namespace {

/// The places in C of the entries of X, or of the tuples of `build`, sorted; then by number.
struct sorted_places {
  buffer keys, order;
  int64 count;
  int column_bits;  ///< a key is a row, then so many bits of a column
};

sorted_places sort_places(const work& by, const operation& o) {
  const rows_and_columns a(o.x.sparse);
  const bool is_build = o.what == operation::kind::build;
  const int64 count = is_build ? o.x.rows() : o.x.sparse.nnz;
  const int column_bits = bits_below(o.c.columns());
  const device_list row_list(by, o.rows), column_list(by, o.columns);
  const buffer keys = by.room(count, sizeof(std::uint64_t)),
               sorted = by.room(count, sizeof(std::uint64_t)),
               numbers = by.room(count, sizeof(int64)), order = by.room(count, sizeof(int64));
  by.each(count,
          [=, row_at = row_list.at, column_at = column_list.at, key = keys.data<std::uint64_t>(),
           number = numbers.data<int64>()] __device__(int64 p) {
            const int64 row = is_build ? p : row_of_entry(a.offsets, a.offsets_64, 0, a.rows, p);
            const int64 column = is_build ? p : a.entries[p];
            key[p] = static_cast<std::uint64_t>(row_at(row)) << column_bits |
                     static_cast<std::uint64_t>(column_at(column));
            number[p] = p;
          });
  sort_keys(by, keys.data<std::uint64_t>(), sorted.data<std::uint64_t>(), numbers.data<int64>(),
            order.data<int64>(), count, column_bits + bits_below(o.c.rows()));
  return {sorted, order, count, column_bits};
}

/// The distinct places among `sorted`, and which members each has.
struct grouped_places {
  rearranged first;  ///< a structure with these places; of each the first member, or the last
  buffer starts;     ///< members starts[g] … starts[g + 1] of the order are at one place
  int64 groups;
};

grouped_places group_places(const work& by, const sorted_places& sorted, index rows, index columns,
                            bool takes_first) {
  const int64 nnz = sorted.count;
  const int column_bits = sorted.column_bits;
  // `group.data()[q]` is the number of groups before entry q.
  const auto begins = [=, key = sorted.keys.data<std::uint64_t>()] __device__(int64 q) {
    return q == 0 || key[q] != key[q - 1];
  };
  const summed group = sum_of(by, nnz, [=] __device__(int64 q) -> int64 { return begins(q); });
  const int64 groups = group.total;
  buffer starts = by.room(groups + 1, sizeof(int64));
  const buffer places = by.room(groups, sizeof(std::uint64_t));
  buffer entries = by.result(groups, sizeof(index));
  by.each(nnz + 1, [=, at = group.data(), key = sorted.keys.data<std::uint64_t>(),
                    start = starts.data<int64>(), place = places.data<std::uint64_t>(),
                    to = entries.data<index>()] __device__(int64 q) {
    if (q == nnz) {
      start[groups] = nnz;
    } else if (begins(q)) {
      start[at[q]] = q;
      place[at[q]] = key[q];
      to[at[q]] = static_cast<index>(key[q] & ((std::uint64_t{1} << column_bits) - 1));
    }
  });
  const summed offsets =
      sum_of(by, rows, [=, place = places.data<std::uint64_t>()] __device__(int64 i) {
        const auto row = static_cast<std::uint64_t>(i);
        return first_at_least(place, groups, (row + 1) << column_bits) -
               first_at_least(place, groups, row << column_bits);
      });
  buffer from = by.room(groups, sizeof(int64));
  by.each(groups, [=, start = starts.data<int64>(), number = sorted.order.data<int64>(),
                   to = from.data<int64>()] __device__(int64 g) {
    to[g] = number[takes_first ? start[g] : start[g + 1] - 1];
  });
  return {finish(by, rows, columns, offsets, std::move(entries), std::move(from)),
          std::move(starts), groups};
}

}  // namespace

rearranged sample(const operation& o) {
  const work by(o);
  const rows_and_columns a(o.x.sparse);
  const auto rows = static_cast<index>(o.rows.size(a.rows));
  const device_list list(by, o.rows);
  const int column_bits = bits_below(o.x.sparse.columns);
  const auto drawn = [=, draw = o.draw, from = list.at] __device__(int64 i) {
    return draw.of(a.length(from(i)), from(i));
  };
  const summed slots = sum_of(by, rows, [=] __device__(int64 i) { return drawn(i).count(); });
  const int64 count = slots.total;
  const buffer keys = by.room(count, sizeof(std::uint64_t)),
               numbers = by.room(count, sizeof(int64));
  sorted_places sorted{by.room(count, sizeof(std::uint64_t)), by.room(count, sizeof(int64)), count,
                       column_bits};
  by.each(count, [=, from = list.at, begins = slots.data(), key = keys.data<std::uint64_t>(),
                  number = numbers.data<int64>()] __device__(int64 k) {
    const int64 i = last_at_most(begins, rows, k);
    const int64 p = a.offset(from(i)) + drawn(i).entry(static_cast<unsigned>(k - begins[i]));
    key[k] =
        static_cast<std::uint64_t>(i) << column_bits | static_cast<std::uint64_t>(a.entries[p]);
    number[k] = p;
  });
  sort_keys(by, keys.data<std::uint64_t>(), sorted.keys.data<std::uint64_t>(),
            numbers.data<int64>(), sorted.order.data<int64>(), count,
            column_bits + bits_below(rows));
  return group_places(by, sorted, rows, o.x.sparse.columns, true).first;
}

sparse_result placed(const operation& o) {
  const work by(o);
  const sorted_places sorted = sort_places(by, o);
  const bool accumulates = o.accum != accumulator::none;
  const grouped_places made = group_places(by, sorted, o.c.rows(), o.c.columns(), accumulates);
  if (o.what == operation::kind::build && !accumulates && made.groups < sorted.count)
    refuse_duplicate(by, sorted.keys.data<std::uint64_t>(), sorted.count, sorted.column_bits);
  sparse_result out;
  out.structure = made.first.structure;
  out.values = values(o, made.first, converting(o));
  if (accumulates && made.groups < sorted.count)
    accumulate_groups(by, o, made.groups, made.starts.data<int64>(), sorted.order.data<int64>(),
                      out.values);
  return out;
}

}  // namespace rig::on_cuda
