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

answer estimated(const problem& p, int launches, double bytes, double serial_seconds = 0) {
  if (const char* const why = refusal_of(p)) return refusal(p, why);
  const tuning_table& table = current_table();
  return {verdict::can, "",
          launches * table[constant::launch_seconds] + serial_seconds +
              bytes / table[constant::gather_bytes_per_second]};
}

double bytes_per_entry(const problem& p) {
  return sizeof(index) +
         (p.algebra->ignores_right ? 0.0 : static_cast<double>(p.right.sparse.value_bytes));
}

/// The entries of a result.
struct entries_made {
  buffer columns, values;
  int64 nnz;
};
entries_made room_for_entries(const work& by, const problem& p, int64 nnz) {
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

/// Copies element `from` of one array to element `to` of another.
__device__ __forceinline__ void copy_element(void* out, int64 to, const void* in, int64 from,
                                             unsigned bytes) {
  if (bytes == 4)
    static_cast<unsigned*>(out)[to] = static_cast<const unsigned*>(in)[from];
  else if (bytes == 8)
    static_cast<std::uint64_t*>(out)[to] = static_cast<const std::uint64_t*>(in)[from];
  else
    for (unsigned byte = 0; byte < bytes; ++byte)
      static_cast<char*>(out)[to * bytes + byte] =
          static_cast<const char*>(in)[from * bytes + byte];
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

/// The rows of the first classes with tables are computed once, to memory for all their products,
/// and then copied.
constexpr int copied_classes = 2;
constexpr int64 most_copied_products = int64{1} << 27;

/// The rows of A in the order of their classes; class c has those from begins[c] on.
struct classed_rows {
  buffer rows;
  buffer products_before;  ///< by row: those of the rows that are copied
  int64 begins[class_count + 1];
  int64 copied_products;
  bool is_copied(int c) const {
    return c >= 1 && c <= copied_classes && copied_products <= most_copied_products;
  }
};

struct classify_arguments {
  sparse_argument a, b;
  index rows;
  int64 most_products[table_classes];
  unsigned char* classes;
  index* numbers;
  int64* products;             ///< of a row that is copied, else 0
  unsigned long long* counts;  ///< of rows, by class
};

/// Lanes that count the products of a row.
constexpr int classify_lanes = 8;

__global__ void __launch_bounds__(element_threads) classify_rows(classify_arguments args) {
  __shared__ unsigned counts[class_count];
  if (threadIdx.x < class_count) counts[threadIdx.x] = 0;
  __syncthreads();
  constexpr int teams = element_threads / classify_lanes;
  const unsigned lane = threadIdx.x % classify_lanes;
  for (int64 r = static_cast<int64>(blockIdx.x) * teams + threadIdx.x / classify_lanes;
       r < args.rows; r += static_cast<int64>(gridDim.x) * teams) {
    const auto row = static_cast<index>(r);
    int64 products = 0;
    for (int64 e = args.a.offset(row) + lane; e < args.a.offset(row + 1); e += classify_lanes)
      products += args.b.offset(args.a.columns[e] + 1) - args.b.offset(args.a.columns[e]);
    for (int distance = classify_lanes / 2; distance > 0; distance /= 2)
      products += __shfl_xor_sync(members_of<classify_lanes>(), products, distance);
    if (lane != 0) continue;
    unsigned char of = products > 0 ? 1 : 0;
    for (const int64 most : args.most_products) of += products > most;
    args.classes[r] = of;
    args.numbers[r] = row;
    args.products[r] = of <= copied_classes ? products : 0;
    atomicAdd(counts + of, 1u);
  }
  __syncthreads();
  if (threadIdx.x < class_count && counts[threadIdx.x] != 0)
    atomicAdd(args.counts + threadIdx.x, counts[threadIdx.x]);
}

classed_rows classify(const work& by, const problem& p, const sparse_operand& b) {
  const index rows = p.a.rows;
  const buffer classes = by.room(rows, 1), sorted = by.room(rows, 1),
               numbers = by.room(rows, sizeof(index)), products = by.room(rows, sizeof(int64)),
               counts = by.room(class_count, sizeof(int64));
  classed_rows out{by.room(rows, sizeof(index)), by.room(int64{rows} + 1, sizeof(int64)), {}, 0};
  classify_arguments args{argument_of(p.a),
                          argument_of(b),
                          rows,
                          {},
                          classes.data<unsigned char>(),
                          numbers.data<index>(),
                          products.data<int64>(),
                          counts.data<unsigned long long>()};
  for (int c = 0; c < table_classes; ++c) args.most_products[c] = row_classes[c].most_products;
  check(cudaMemsetAsync(counts.data(), 0, class_count * sizeof(int64), by.stream), by.name);
  constexpr int64 per_block = element_threads / classify_lanes;
  by.launch(reinterpret_cast<const void*>(&classify_rows), "classify_rows",
            std::min<int64>((rows + per_block - 1) / per_block, 1 << 14), args);
  sort_keys(by, classes.data<unsigned char>(), sorted.data<unsigned char>(), numbers.data<index>(),
            out.rows.data<index>(), rows, bits_below(class_count));
  auto* const before = out.products_before.data<int64>();
  sums_of(
      by, rows, [of = products.data<int64>()] __device__(int64 r) { return of[r]; }, before);
  int64 of_class[class_count];
  by.to_host(of_class, counts.data(), sizeof(of_class));
  by.to_host(&out.copied_products, before + rows, sizeof(int64));
  by.wait();
  for (int c = 0; c < class_count; ++c) out.begins[c + 1] = out.begins[c] + of_class[c];
  return out;
}

/// Columns of a window, as the kernel's function of this name.
index window_columns_of(const problem& p) {
  index columns = 16384;
  while (columns > 32 && static_cast<std::size_t>(columns) * p.algebra->accum_bytes > 16384)
    columns /= 2;
  return columns;
}

/// The rows of a class with tables: counts their entries, or writes them.
void launch_class(const work& by, const problem& p, const classed_rows& of, int c,
                  product_arguments args, bool fills) {
  const row_class& how = row_classes[c - 1];
  args.rows = of.rows.data<index>() + of.begins[c];
  args.count = of.begins[c + 1] - of.begins[c];
  if (args.count == 0) return;
  const int64 per_block = how.threads / static_cast<unsigned>(how.lanes);
  by.launch(kernel_of(p, "gustavson.cuh", "hash_rows",
                      ", " + std::to_string(how.lanes) + ", " + std::to_string(how.slots) + ", " +
                          std::to_string(how.threads) + (fills ? ", true" : ", false")),
            "hash_rows", std::min<int64>((args.count + per_block - 1) / per_block, 1 << 20), args,
            how.threads);
}

/// The rows of the last class, in windows: counts their entries, or writes them.
void launch_windows(const work& by, const problem& p, const classed_rows& of,
                    product_arguments args, bool fills) {
  const int64 rows = of.begins[class_count] - of.begins[class_count - 1];
  if (rows == 0) return;
  args.rows = of.rows.data<index>() + of.begins[class_count - 1];
  args.count = rows * args.windows;
  by.launch(kernel_of(p, "gustavson.cuh", "window_rows", fills ? ", true" : ", false"),
            "window_rows", std::min<int64>(args.count, 1 << 20), args, 32);
}

/// The entries of windows, and those before each.
struct window_counts {
  buffer lengths, before;
};

/// Counts the entries of the windows, and of their rows.
window_counts count_windows(const work& by, const problem& p, const classed_rows& of,
                            product_arguments args, int64* row_lengths) {
  const int64 listed = of.begins[class_count - 1], rows = of.begins[class_count] - listed,
              windows = rows * args.windows, per_row = args.windows;
  if (rows == 0) return {};
  window_counts out{by.room(windows, sizeof(int64)), by.room(windows + 1, sizeof(int64))};
  args.lengths = out.lengths.data<int64>();
  launch_windows(by, p, of, args, false);
  running_sum(by, args.lengths, out.before.data<int64>(), windows);
  by.each(rows,
          [=, from = out.before.data<int64>(), row_of = of.rows.data<index>() + listed] __device__(
              int64 r) { row_lengths[row_of[r]] = from[(r + 1) * per_row] - from[r * per_row]; });
  return out;
}

/// Writes the entries of the windows; `before` has those before each row.
void fill_windows(const work& by, const problem& p, const classed_rows& of,
                  const window_counts& counts, product_arguments args) {
  const int64 listed = of.begins[class_count - 1], rows = of.begins[class_count] - listed,
              per_row = args.windows;
  by.each(rows * per_row, [=, from = counts.before.data<int64>(), rows_before = args.before,
                           to = counts.lengths.data<int64>(),
                           row_of = of.rows.data<index>() + listed] __device__(int64 w) {
    const int64 r = w / per_row;
    to[w] = rows_before[row_of[r]] + from[w] - from[r * per_row];
  });
  args.before = counts.lengths.data<int64>();
  launch_windows(by, p, of, args, true);
}

/// Copies rows that were computed to memory for all their products to their places in C.
void copy_rows_to_places(const work& by, const classed_rows& of, const entries_made& from,
                         const int64* lengths, const int64* before, const entries_made& to,
                         std::size_t value_bytes) {
  constexpr int64 lanes = 8;
  const int64 rows = of.begins[copied_classes + 1] - of.begins[1];
  by.each(rows * lanes, [=, row_of = of.rows.data<index>() + of.begins[1],
                         from_before = of.products_before.data<int64>(),
                         columns = from.columns.data<index>(), values = from.values.data(),
                         to_columns = to.columns.data<index>(), to_values = to.values.data(),
                         bytes = static_cast<unsigned>(value_bytes)] __device__(int64 k) {
    const index row = row_of[k / lanes];
    for (int64 e = k % lanes; e < lengths[row]; e += lanes) {
      const int64 at = before[row] + e, source = from_before[row] + e;
      to_columns[at] = columns[source];
      copy_element(to_values, at, values, source, bytes);
    }
  });
}

}  // namespace

answer gustavson_answer(const problem& p) {
  if (const char* const why = no_finish_because(p)) return refusal(p, why);
  // Counting and writing read each product's column; writing also its value. A warp walks a row.
  const double walk = static_cast<double>(p.a.nnz) / std::max(1, p.a.rows) *
                      current_table()[constant::warp_entry_seconds];
  return by_rows_answer(p,
                        estimated(p, 14, p.products * (sizeof(index) + bytes_per_entry(p)), walk));
}

void gustavson_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_rows(p);
  const index rows = p.a.rows;
  product_arguments args = arguments_of(p, b.sparse, b.sparse.columns);
  const index width = window_columns_of(p);
  args.windows = static_cast<index>((int64{b.sparse.columns} + width - 1) / width);
  const classed_rows of = classify(by, p, b.sparse);
  const bool copies = of.is_copied(1);
  const buffer lengths = by.room(rows, sizeof(int64)),
               before = by.room(int64{rows} + 1, sizeof(int64));
  check(
      cudaMemsetAsync(lengths.data(), 0, static_cast<std::size_t>(rows) * sizeof(int64), by.stream),
      by.name);
  args.lengths = lengths.data<int64>();
  const int64 products = copies ? of.copied_products : 0;
  const entries_made apart{by.room(products, sizeof(index)), by.room(products, p.c.value_bytes),
                           products};
  product_arguments to_apart = args;
  to_apart.before = of.products_before.data<int64>();
  to_apart.out_columns = apart.columns.data<index>();
  to_apart.out_values = apart.values.data();
  for (int c = 1; c <= table_classes; ++c)
    launch_class(by, p, of, c, of.is_copied(c) ? to_apart : args, of.is_copied(c));
  const window_counts windows = count_windows(by, p, of, args, args.lengths);
  running_sum(by, args.lengths, before.data<int64>(), rows);

  entries_made made = room_for_entries(by, p, by.read(before.data<int64>() + rows));
  args.lengths = nullptr;
  args.before = before.data<int64>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  if (copies)
    copy_rows_to_places(by, of, apart, lengths.data<int64>(), args.before, made, p.c.value_bytes);
  for (int c = 1; c <= table_classes; ++c)
    if (!of.is_copied(c)) launch_class(by, p, of, c, args, true);
  fill_windows(by, p, of, windows, args);
  bool offsets_64 = false;
  buffer offsets = pack(by, before.data<int64>(), rows, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, rows, b.sparse.columns);
}

namespace {

/// Candidates for entries, by which each row's follow each other.
struct candidates {
  buffer present, values;
  int64 count;
};
candidates make_candidates(const work& by, int64 count, std::size_t value_bytes) {
  return {by.room(count, sizeof(bool)), by.room(count, value_bytes), count};
}

/// The columns of C's one row that are present, and their number.
struct present_columns {
  buffer columns;
  int64 count;
};
present_columns list_present(const work& by, const candidates& of) {
  const buffer total = by.room(1, sizeof(int64));
  present_columns out{by.room(of.count, sizeof(index)), 0};
  list_marked(by, of.present.data<bool>(), static_cast<index>(of.count), out.columns.data<index>(),
              total.data<int64>());
  out.count = by.read(total.data<int64>());
  return out;
}

/// C has the candidates that are present, one for each entry of the mask.
void pack_candidates(const work& by, const problem& p, const candidates& found, workspace& out) {
  const sparse_operand& m = p.mask.sparse;
  const buffer numbers = by.room(m.nnz + 1, sizeof(int64));
  auto* const before = numbers.data<int64>();
  const bool* const present = found.present.data<bool>();
  sums_of(
      by, m.nnz, [=] __device__(int64 k) -> int64 { return present[k]; }, before);
  entries_made made = room_for_entries(by, p, by.read(before + m.nnz));
  by.each(m.nnz, [=, columns = m.entries, from = found.values.data(), to = made.values.data(),
                  to_columns = made.columns.data<index>(),
                  bytes = static_cast<unsigned>(p.c.value_bytes)] __device__(int64 k) {
    if (!present[k]) return;
    to_columns[before[k]] = columns[k];
    copy_element(to, before[k], from, k, bytes);
  });
  const buffer wide = by.room(int64{m.rows} + 1, sizeof(int64));
  by.each(int64{m.rows} + 1, [=, of = argument_of(m), to = wide.data<int64>()] __device__(int64 r) {
    to[r] = before[of.offset(static_cast<index>(r))];
  });
  bool offsets_64 = false;
  buffer offsets = pack(by, wide.data<int64>(), m.rows, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, m.rows, m.columns);
}

}  // namespace

answer dot_answer(const problem& p) {
  if (p.mask.over != mask_operand::kind::matrix || p.mask.complemented)
    return refusal(p, "needs a mask that is a matrix, and not its complement");
  const double entries = static_cast<double>(p.mask.sparse.nnz);
  if (operands_of(p) == operands::dense_pair) return estimated(p, 7, entries);
  const double mean = static_cast<double>(p.right.sparse.nnz) / std::max(1, p.right.columns());
  return by_columns_answer(p, estimated(p, 7, entries * (1 + mean) * bytes_per_entry(p)));
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
  // Rows and columns of dense operands meet everywhere, so C has each entry of the mask.
  const bool has_all = is_dense && args.inner > 0 && p.mask.structural;
  candidates found = make_candidates(by, m.nnz, has_all ? 0 : p.c.value_bytes);
  if (has_all) found.values = by.result(m.nnz, p.c.value_bytes);
  args.candidate_rows = rows.data<index>();
  args.candidate_columns = m.entries;
  args.count = m.nnz;
  args.present = found.present.data<bool>();
  args.out_values = found.values.data();
  constexpr int64 per_block = element_threads / 8;
  if (m.nnz > 0)
    by.launch(kernel_of(p, "dot.cuh", "dot_entries", is_dense ? ", 8, true" : ", 8, false"),
              "dot_entries", std::min<int64>((m.nnz + per_block - 1) / per_block, 1 << 20), args);
  if (has_all) {
    out.made.structure = p.mask.structure;
    out.made.values = std::move(found.values);
  } else {
    pack_candidates(by, p, found, out);
  }
}

namespace {

/// The most products that one block adds, as the kernel's constant of this name.
constexpr int64 few_products = 768;

/// The products before each entry of the vector, and their number.
void products_before(const work& by, const problem& p, const sparse_argument& b, int64* to) {
  sums_of(
      by, p.a.nnz,
      [a = p.a.entries, b] __device__(int64 e) { return b.offset(a[e] + 1) - b.offset(a[e]); }, to);
}

/// Whether one block is tried.
bool is_few(const problem& p) {
  return p.a.nnz <= few_products && p.products <= static_cast<double>(few_products);
}

}  // namespace

double count_products(const problem& p) {
  const work by(p);
  const oriented b = right_by_rows(p);
  const buffer before = by.room(p.a.nnz + 1, sizeof(int64));
  products_before(by, p, argument_of(b.sparse), before.data<int64>());
  return static_cast<double>(by.read(before.data<int64>() + p.a.nnz));
}

answer push_answer(const problem& p) {
  if (const char* const why = no_finish_because(p)) return refusal(p, why);
  if (!p.algebra->exact_in_any_order)
    return refusal(p, "adds in any order, and sums of this semiring depend on it");
  if (p.algebra->accum_bytes > 8) return refusal(p, "its sums have more than 8 bytes each");
  if (is_few(p)) return by_rows_answer(p, estimated(p, 2, 0));
  const double columns = p.right.columns();
  return by_rows_answer(p, estimated(p, 8, p.products * (bytes_per_entry(p) + 32) + columns * 16));
}

namespace {

/// The product by one block, or nothing if there are too many products for it.
bool push_few(const work& by, const problem& p, product_arguments args, workspace& out) {
  constexpr unsigned threads = 512;
  if (!is_few(p)) return false;
  const int64 room = std::min<int64>(few_products, args.columns);
  const buffer columns = by.room(room, sizeof(index)), values = by.room(room, p.c.value_bytes),
               count = by.room(1, sizeof(int64));
  buffer offsets = by.result(2, sizeof(int32));
  args.lengths = count.data<int64>();
  args.out_offsets = offsets.data<int32>();
  args.out_columns = columns.data<index>();
  args.out_values = values.data();
  by.launch(kernel_of(p, "push.cuh", "push_few"), "push_few", 1, args, threads);
  const int64 nnz = by.read(count.data<int64>());
  if (nnz < 0) return false;
  entries_made made = room_for_entries(by, p, nnz);
  by.each(nnz, [from = columns.data<index>(), to = made.columns.data<index>(),
                from_values = values.data(), to_values = made.values.data(),
                bytes = static_cast<unsigned>(p.c.value_bytes)] __device__(int64 k) {
    to[k] = from[k];
    copy_element(to_values, k, from_values, k, bytes);
  });
  out.made = result_of(std::move(made), std::move(offsets), false, 1, args.columns);
  return true;
}

}  // namespace

void push_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_rows(p);
  const index columns = b.sparse.columns;
  product_arguments args = arguments_of(p, b.sparse, columns);
  if (push_few(by, p, args, out)) return;
  const int64 nnz = p.a.nnz;
  const buffer before = by.room(nnz + 1, sizeof(int64));
  products_before(by, p, args.b, before.data<int64>());
  const candidates found = make_candidates(by, columns, p.algebra->accum_bytes > 4 ? 8 : 4);
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
  const present_columns chosen = list_present(by, found);
  entries_made made = room_for_entries(by, p, chosen.count);
  buffer offsets = by.result(2, sizeof(int32));
  args.rows = chosen.columns.data<index>();
  args.count = chosen.count;
  args.out_offsets = offsets.data<int32>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  by.launch(kernel_of(p, "push.cuh", "collect_slots"), "collect_slots",
            element_blocks(std::max<int64>(chosen.count, 1)), args);
  out.made = result_of(std::move(made), std::move(offsets), false, 1, columns);
}

answer pull_answer(const problem& p) {
  // Sums that can end early read few entries of a column (Beamer et al., SC 2012).
  const double read = p.algebra->has_terminal ? 1.0 / 14 : 1.0;
  const double bytes = p.right.columns() * 16.0 +
                       read * static_cast<double>(p.right.sparse.nnz) * (bytes_per_entry(p) + 8);
  return by_columns_answer(p, estimated(p, 7, bytes));
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
  if (columns > 0)
    by.launch(kernel_of(p, "dot.cuh", "pull_columns"), "pull_columns",
              std::min<int64>((columns + element_threads - 1) / element_threads, 1 << 16), args);
  const present_columns chosen = list_present(by, found);
  entries_made made = room_for_entries(by, p, chosen.count);
  buffer offsets = by.result(2, sizeof(int32));
  by.each(std::max<int64>(made.nnz, 1),
          [nnz = made.nnz, from = chosen.columns.data<index>(), to = made.columns.data<index>(),
           values = found.values.data(), to_values = made.values.data(),
           to_offsets = offsets.data<int32>(),
           bytes = static_cast<unsigned>(p.c.value_bytes)] __device__(int64 k) {
            if (k == 0) {
              to_offsets[0] = 0;
              to_offsets[1] = static_cast<int32>(nnz);
            }
            if (k >= nnz) return;
            to[k] = from[k];
            copy_element(to_values, k, values, from[k], bytes);
          });
  out.made = result_of(std::move(made), std::move(offsets), false, 1, columns);
}

}  // namespace rig::on_cuda
