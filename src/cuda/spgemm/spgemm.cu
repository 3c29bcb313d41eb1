// The kernels with sparse results: gustavson, dot, push and pull on a device.

#include <algorithm>
#include <string>

#include "cuda/elementwise/each.hpp"
#include "cuda/families.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/spgemm/product.cuh"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {
namespace {

sparse_argument argument_of(const sparse_operand& of) {
  return {of.offsets, of.offsets_64, of.entries, array_of(source_of(of))};
}

product_arguments arguments_of(const problem& p, const sparse_operand& b, index columns) {
  product_arguments out;
  out.a = argument_of(p.a);
  out.b = argument_of(b);
  out.columns = columns;
  out.flips = p.flips_positions;
  out.mask = mask_arguments_of(p.mask);
  out.out_type = p.c.value_type;
  return out;
}

/// The kernel `name` over the problem's semiring; `rest` are its other template arguments.
const void* kernel_of(const problem& p, const char* file, const char* name,
                      const std::string& rest = "") {
  const source_text* const user = p.algebra->source;
  return compile(
      {std::string("cuda/spgemm/") + file,
       std::string("rig::on_cuda::") + name + "<" + type_name(p.algebra->key, user) + rest + ">",
       user},
      p.a.where.device);
}

/// Why no kernel with a sparse result exists for the problem, or null.
const char* refusal_of(const problem& p) {
  if (const char* const why = no_kernel_because(*p.algebra)) return why;
  if (p.algebra->accum_bytes > 16) return "its sums have more than 16 bytes each";
  return no_compiler_because();
}

answer estimated(const problem& p, double bytes) {
  if (const char* const why = refusal_of(p)) return refusal(p, why);
  const tuning_table& table = current_table();
  return {verdict::can, "",
          table[constant::launch_seconds] + bytes / table[constant::gather_bytes_per_second]};
}

double bytes_per_entry(const problem& p) {
  return sizeof(index) +
         (p.algebra->ignores_right ? 0.0 : static_cast<double>(p.right.sparse.value_bytes));
}

/// The entries of a result, and the number of those before each row or candidate.
struct entries_made {
  buffer columns, values;
  int64 nnz;
};
entries_made allocate_entries(const work& by, const problem& p, const int64* total) {
  const int64 nnz = by.read(total);
  return {by.result(nnz, sizeof(index)), by.result(nnz, p.c.value_bytes), nnz};
}
sparse_result result_of(entries_made made, buffer offsets, bool offsets_64, index rows,
                        index columns) {
  sparse_result out;
  out.structure = std::make_shared<const pattern>(rows, columns, made.nnz, std::move(offsets),
                                                  offsets_64, std::move(made.columns));
  out.values = std::move(made.values);
  return out;
}

// gustavson

/// Rows by their number of products: a subwarp of `lanes` lanes and a table of `slots` slots each.
struct row_class {
  int lanes, slots;
  unsigned threads;
  int64 most_products;
};
constexpr row_class row_classes[] = {{8, 64, 256, 48}, {32, 256, 256, 192}, {32, 2048, 32, 1536}};
constexpr int table_classes = static_cast<int>(std::size(row_classes));
constexpr int class_count = table_classes + 2;  // no products; windows

/// The rows of A in the order of their classes; class c has those from begins[c] on.
struct classed_rows {
  buffer rows;
  int64 begins[class_count + 1];
};

/// The most products of each class with a table.
struct class_limits {
  int64 of[table_classes];
};

classed_rows classify(const work& by, const problem& p, const sparse_operand& b) {
  const int64 nnz = p.a.nnz;
  const index rows = p.a.rows;
  const buffer lengths = by.room(nnz, sizeof(int64)), before = by.room(nnz + 1, sizeof(int64));
  by.each(nnz, [a = p.a.entries, b = argument_of(b), to = lengths.data<int64>()] __device__(
                   int64 e) { to[e] = b.offset(a[e] + 1) - b.offset(a[e]); });
  running_sum(by, lengths.data<int64>(), before.data<int64>(), nnz);
  const buffer keys = by.room(rows, sizeof(std::uint64_t)),
               sorted = by.room(rows, sizeof(std::uint64_t)),
               numbers = by.room(rows, sizeof(int64)), order = by.room(rows, sizeof(int64)),
               begins = by.room(class_count + 1, sizeof(int64));
  class_limits most;
  for (int c = 0; c < table_classes; ++c) most.of[c] = row_classes[c].most_products;
  by.each(rows,
          [=, a = argument_of(p.a), sums = before.data<int64>(), to = keys.data<std::uint64_t>(),
           number = numbers.data<int64>()] __device__(int64 r) {
            const auto row = static_cast<index>(r);
            const int64 products = sums[a.offset(row + 1)] - sums[a.offset(row)];
            std::uint64_t of = products > 0 ? 1 : 0;
            for (int c = 0; c < table_classes; ++c) of += products > most.of[c];
            to[r] = of;
            number[r] = r;
          });
  sort_keys(by, keys.data<std::uint64_t>(), sorted.data<std::uint64_t>(), numbers.data<int64>(),
            order.data<int64>(), rows, bits_below(class_count));
  classed_rows out{by.room(rows, sizeof(index)), {}};
  by.each(rows, [from = order.data<int64>(), to = out.rows.data<index>()] __device__(int64 r) {
    to[r] = static_cast<index>(from[r]);
  });
  by.each(class_count + 1, [from = sorted.data<std::uint64_t>(), rows,
                            to = begins.data<int64>()] __device__(int64 c) {
    int64 low = 0, high = rows;
    while (low < high) {
      const int64 middle = low + (high - low) / 2;
      if (from[middle] < static_cast<std::uint64_t>(c))
        low = middle + 1;
      else
        high = middle;
    }
    to[c] = low;
  });
  by.to_host(out.begins, begins.data(), sizeof(out.begins));
  by.wait();
  return out;
}

/// Columns of a window, as the kernel's function of this name.
index window_columns_of(const problem& p) {
  index columns = 16384;
  while (columns > 32 && static_cast<std::size_t>(columns) * p.algebra->accum_bytes > 16384)
    columns /= 2;
  return columns;
}

/// One pass over all rows: counts entries, or writes them.
void launch_rows(const work& by, const problem& p, const classed_rows& of, product_arguments args,
                 int64* window_lengths, const int64* window_before, bool fills) {
  const char* const file = "gustavson.cuh";
  const std::string last = fills ? ", true" : ", false";
  for (int c = 1; c <= class_count - 2; ++c) {
    const row_class& how = row_classes[c - 1];
    args.rows = of.rows.data<index>() + of.begins[c];
    args.count = of.begins[c + 1] - of.begins[c];
    if (args.count == 0) continue;
    const int64 per_block = how.threads / static_cast<unsigned>(how.lanes);
    by.launch(kernel_of(p, file, "hash_rows",
                        ", " + std::to_string(how.lanes) + ", " + std::to_string(how.slots) + ", " +
                            std::to_string(how.threads) + last),
              "hash_rows", std::min<int64>((args.count + per_block - 1) / per_block, 1 << 20), args,
              how.threads);
  }
  const int64 rows = of.begins[class_count] - of.begins[class_count - 1];
  if (rows == 0) return;
  args.rows = of.rows.data<index>() + of.begins[class_count - 1];
  args.count = rows * args.windows;
  args.lengths = window_lengths;
  args.before = window_before;
  by.launch(kernel_of(p, file, "window_rows", last), "window_rows",
            std::min<int64>(args.count, 1 << 20), args, 32);
}

}  // namespace

answer gustavson_answer(const problem& p) {
  if (const char* const why = no_finish_because(p)) return refusal(p, why);
  // Counting and writing read each product's column; writing also its value.
  return by_rows_answer(p, estimated(p, p.products * (sizeof(index) + bytes_per_entry(p))));
}

void gustavson_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_rows(p);
  const index rows = p.a.rows;
  product_arguments args = arguments_of(p, b.sparse, b.sparse.columns);
  const index width = window_columns_of(p);
  args.windows = static_cast<index>((int64{b.sparse.columns} + width - 1) / width);
  const classed_rows of = classify(by, p, b.sparse);
  const int64 listed = of.begins[class_count - 1],
              windows = (of.begins[class_count] - listed) * args.windows;
  const buffer lengths = by.room(rows, sizeof(int64)),
               before = by.room(int64{rows} + 1, sizeof(int64)),
               window_lengths = by.room(windows, sizeof(int64)),
               window_before = by.room(windows + 1, sizeof(int64));
  check(
      cudaMemsetAsync(lengths.data(), 0, static_cast<std::size_t>(rows) * sizeof(int64), by.stream),
      by.name);
  args.lengths = lengths.data<int64>();
  launch_rows(by, p, of, args, window_lengths.data<int64>(), nullptr, false);
  running_sum(by, window_lengths.data<int64>(), window_before.data<int64>(), windows);
  const auto* const window_rows = of.rows.data<index>() + listed;
  const int64 per_row = args.windows;
  by.each(of.begins[class_count] - listed,
          [=, from = window_before.data<int64>(), to = lengths.data<int64>()] __device__(int64 r) {
            to[window_rows[r]] = from[(r + 1) * per_row] - from[r * per_row];
          });
  running_sum(by, lengths.data<int64>(), before.data<int64>(), rows);
  // From here on window_lengths holds the entries before each window.
  by.each(windows, [=, from = window_before.data<int64>(), rows_before = before.data<int64>(),
                    to = window_lengths.data<int64>()] __device__(int64 w) {
    const int64 r = w / per_row;
    to[w] = rows_before[window_rows[r]] + from[w] - from[r * per_row];
  });
  entries_made made = allocate_entries(by, p, before.data<int64>() + rows);
  args.before = before.data<int64>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  if (made.nnz > 0) launch_rows(by, p, of, args, nullptr, window_lengths.data<int64>(), true);
  bool offsets_64 = false;
  buffer offsets = pack(by, before.data<int64>(), rows, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, rows, b.sparse.columns);
}

namespace {

/// Candidates for entries, by which each row's follow each other.
struct candidates {
  buffer present, values, before;
  int64 count;
};
candidates make_candidates(const work& by, int64 count, std::size_t value_bytes) {
  return {by.room(count, sizeof(bool)), by.room(count, value_bytes),
          by.room(count + 1, sizeof(int64)), count};
}
void number_candidates(const work& by, const candidates& of) {
  const buffer ones = by.room(of.count, sizeof(int64));
  by.each(of.count, [from = of.present.data<bool>(), to = ones.data<int64>()] __device__(int64 k) {
    to[k] = from[k] ? 1 : 0;
  });
  running_sum(by, ones.data<int64>(), of.before.data<int64>(), of.count);
}

/// The candidates that are present, as entries: candidate k lies in column columns[k], or k.
entries_made pack_candidates(const work& by, const problem& p, const candidates& of,
                             const index* columns) {
  number_candidates(by, of);
  entries_made made = allocate_entries(by, p, of.before.data<int64>() + of.count);
  const auto bytes = static_cast<unsigned>(p.c.value_bytes);
  by.each(of.count, [=, present = of.present.data<bool>(), before = of.before.data<int64>(),
                     from = of.values.data<unsigned char>(), to = made.values.data<unsigned char>(),
                     to_columns = made.columns.data<index>()] __device__(int64 k) {
    if (!present[k]) return;
    const int64 at = before[k];
    to_columns[at] = columns != nullptr ? columns[k] : static_cast<index>(k);
    for (unsigned byte = 0; byte < bytes; ++byte) to[at * bytes + byte] = from[k * bytes + byte];
  });
  return made;
}

/// The offsets of one row.
buffer offsets_of_row(const work& by, int64 nnz, bool& offsets_64) {
  const buffer wide = by.room(2, sizeof(int64));
  by.each(2, [=, to = wide.data<int64>()] __device__(int64 k) { to[k] = k * nnz; });
  return pack(by, wide.data<int64>(), 1, nnz, offsets_64);
}

}  // namespace

answer dot_answer(const problem& p) {
  if (p.mask.over != mask_operand::kind::matrix || p.mask.complemented)
    return refusal(p, "needs a mask that is a matrix, and not its complement");
  const double entries = static_cast<double>(p.mask.sparse.nnz);
  if (operands_of(p) == operands::dense_pair) return estimated(p, entries);
  const double mean = static_cast<double>(p.right.sparse.nnz) / std::max(1, p.right.columns());
  return by_columns_answer(p, estimated(p, entries * (1 + mean) * bytes_per_entry(p)));
}

void dot_run(const problem& p, workspace& out) {
  const work by(p);
  const sparse_operand& m = p.mask.sparse;
  const bool is_dense = operands_of(p) == operands::dense_pair;
  const oriented b = is_dense ? oriented{} : right_by_columns(p);
  product_arguments args = arguments_of(p, b.sparse, m.columns);
  if (is_dense) {
    const dense_operand &x = p.left_full, &y = p.b;
    const bool turns_a = p.desc->transpose_a, turns_b = p.desc->transpose_b;
    args.inner = turns_a ? x.rows : x.columns;
    args.full_a = {array_of(source_of(x)), turns_a ? 1 : x.stride, turns_a ? x.stride : 1};
    args.full_b = {array_of(source_of(y)), turns_b ? y.stride : 1, turns_b ? 1 : y.stride};
  }
  const buffer rows = by.room(m.nnz, sizeof(index));
  by.each(m.nnz,
          [of = argument_of(m), count = m.rows, to = rows.data<index>()] __device__(int64 e) {
            index low = 0, high = count - 1;  // the last row that begins at or before the entry
            while (low < high) {
              const index middle = high - (high - low) / 2;
              if (of.offset(middle) <= e)
                low = middle;
              else
                high = middle - 1;
            }
            to[e] = low;
          });
  const candidates found = make_candidates(by, m.nnz, p.c.value_bytes);
  args.candidate_rows = rows.data<index>();
  args.candidate_columns = m.entries;
  args.count = m.nnz;
  args.present = found.present.data<bool>();
  args.out_values = found.values.data();
  constexpr int64 per_block = element_threads / 8;
  if (m.nnz > 0)
    by.launch(kernel_of(p, "dot.cuh", "dot_entries", is_dense ? ", 8, true" : ", 8, false"),
              "dot_entries", std::min<int64>((m.nnz + per_block - 1) / per_block, 1 << 20), args);
  entries_made made = pack_candidates(by, p, found, m.entries);
  const buffer wide = by.room(int64{m.rows} + 1, sizeof(int64));
  by.each(int64{m.rows} + 1, [of = argument_of(m), before = found.before.data<int64>(),
                              to = wide.data<int64>()] __device__(int64 r) {
    to[r] = before[of.offset(static_cast<index>(r))];
  });
  bool offsets_64 = false;
  buffer offsets = pack(by, wide.data<int64>(), m.rows, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, m.rows, m.columns);
}

answer push_answer(const problem& p) {
  if (const char* const why = no_finish_because(p)) return refusal(p, why);
  if (!p.algebra->exact_in_any_order)
    return refusal(p, "adds in any order, and sums of this semiring depend on it");
  if (p.algebra->accum_bytes > 8) return refusal(p, "its sums have more than 8 bytes each");
  const double columns = p.right.columns();
  return by_rows_answer(p, estimated(p, p.products * (bytes_per_entry(p) + 32) + columns * 16));
}

void push_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_rows(p);
  const index columns = b.sparse.columns;
  product_arguments args = arguments_of(p, b.sparse, columns);
  const int64 nnz = p.a.nnz;
  const buffer lengths = by.room(nnz, sizeof(int64)), before = by.room(nnz + 1, sizeof(int64));
  by.each(nnz, [a = p.a.entries, of = args.b, to = lengths.data<int64>()] __device__(int64 e) {
    to[e] = of.offset(a[e] + 1) - of.offset(a[e]);
  });
  running_sum(by, lengths.data<int64>(), before.data<int64>(), nnz);
  const candidates found = make_candidates(by, columns, p.algebra->accum_bytes > 4 ? 8 : 4);
  check(cudaMemsetAsync(found.present.data(), 0, static_cast<std::size_t>(columns), by.stream),
        by.name);
  args.products_before = before.data<int64>();
  args.present = found.present.data<bool>();
  args.slots = found.values.data();
  constexpr int64 most_blocks = 2048;
  const int64 blocks =
      std::min<int64>(most_blocks, (b.sparse.nnz + element_threads - 1) / element_threads);
  if (columns > 0)
    by.launch(kernel_of(p, "push.cuh", "clear_slots"), "clear_slots", element_blocks(columns),
              args);
  if (nnz > 0) by.launch(kernel_of(p, "push.cuh", "push_products"), "push_products", blocks, args);
  number_candidates(by, found);
  entries_made made = allocate_entries(by, p, found.before.data<int64>() + columns);
  args.before = found.before.data<int64>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  if (made.nnz > 0)
    by.launch(kernel_of(p, "push.cuh", "collect_slots"), "collect_slots", element_blocks(columns),
              args);
  bool offsets_64 = false;
  buffer offsets = offsets_of_row(by, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, 1, columns);
}

answer pull_answer(const problem& p) {
  // Sums that can end early read few entries of a column (Beamer et al., SC 2012).
  const double read = p.algebra->has_terminal ? 1.0 / 14 : 1.0;
  const double bytes = p.right.columns() * 16.0 +
                       read * static_cast<double>(p.right.sparse.nnz) * (bytes_per_entry(p) + 8);
  return by_columns_answer(p, estimated(p, bytes));
}

void pull_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_columns(p);
  const index columns = b.sparse.rows, inner = p.a.columns;
  product_arguments args = arguments_of(p, b.sparse, columns);
  const std::size_t word_bytes = (static_cast<std::size_t>(inner) / 32 + 1) * sizeof(unsigned);
  const buffer bits = by.room(static_cast<int64>(word_bytes), 1);
  const buffer places = by.room(p.algebra->ignores_left ? 0 : inner, sizeof(index));
  check(cudaMemsetAsync(bits.data(), 0, word_bytes, by.stream), by.name);
  by.each(p.a.nnz, [a = p.a.entries, to = bits.data<unsigned>(),
                    at = places.data<index>()] __device__(int64 e) {
    atomicOr(to + a[e] / 32, 1u << (a[e] % 32));
    if (at != nullptr) at[a[e]] = static_cast<index>(e);
  });
  const candidates found = make_candidates(by, columns, p.c.value_bytes);
  args.in_vector = bits.data<unsigned>();
  args.places = places.data<index>();
  args.count = columns;
  args.present = found.present.data<bool>();
  args.out_values = found.values.data();
  constexpr int64 long_column = 256;
  for (const int lanes : {8, 32}) {
    args.least = lanes == 8 ? 0 : long_column;
    args.most = lanes == 8 ? long_column : highest<int64>();
    const int64 per_block = element_threads / lanes;
    if (columns > 0)
      by.launch(kernel_of(p, "dot.cuh", "pull_columns", ", " + std::to_string(lanes)),
                "pull_columns", std::min<int64>((columns + per_block - 1) / per_block, 1 << 20),
                args);
  }
  entries_made made = pack_candidates(by, p, found, nullptr);
  bool offsets_64 = false;
  buffer offsets = offsets_of_row(by, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, 1, columns);
}

}  // namespace rig::on_cuda
