// gustavson on a device: rows in classes by their products.

#include "cuda/spgemm/product.hpp"
#include "cuda/spgemm/sort_rows.cuh"

namespace rig::on_cuda {
namespace {

constexpr const char *file = "cuda/spgemm/gustavson.cuh", *sort_file = "cuda/spgemm/sort_rows.cuh";

class_limits limits_of(const problem& p, index windows) {
  return limits_for({static_cast<int64>(shared_room(p.a.where.device)),
                     static_cast<int64>(p.algebra->accum_bytes), windows,
                     current_table()[constant::gustavson_window_products]});
}

/// What classes have in all.
struct class_sums {
  unsigned long long products[class_count];
  unsigned long long longest;  ///< the most products of a row of the class before windows
  unsigned rows[class_count];
};

/// The rows of A in the order of their classes; class c has those from begins[c] on.
struct classed_rows {
  buffer rows;
  buffer products_before;  ///< by row: those of the rows that are copied
  int64 begins[class_count + 1];
  int64 copied_products, products;  ///< of rows that are copied, and of all
  int64 longest, least_in_windows;
  int copied_classes;

  /// Rows of the first classes are computed once, to memory for all their products, and then
  /// copied, unless these are too many.
  bool is_copied(int c) const { return c <= copied_classes; }
  int64 count(int c) const { return begins[c + 1] - begins[c]; }
};

struct classify_arguments {
  sparse_argument a, b;
  index rows;
  class_limits limits;
  unsigned char* classes;
  index* numbers;
  int64* products;  ///< of each row
  class_sums* sums;
};

/// Lanes that count the products of a row.
constexpr int classify_lanes = 8;

__global__ void __launch_bounds__(element_threads) classify_rows(classify_arguments args) {
  __shared__ class_sums sums;
  if (threadIdx.x < class_count) sums.rows[threadIdx.x] = sums.products[threadIdx.x] = 0;
  if (threadIdx.x == 0) sums.longest = 0;
  __syncthreads();
  constexpr int subwarps = element_threads / classify_lanes;
  const unsigned lane = threadIdx.x % classify_lanes;
  for (int64 r = static_cast<int64>(blockIdx.x) * subwarps + threadIdx.x / classify_lanes;
       r < args.rows; r += static_cast<int64>(gridDim.x) * subwarps) {
    const auto row = static_cast<index>(r);
    int64 products = 0;
    for (int64 e = args.a.offset(row) + lane; e < args.a.offset(row + 1); e += classify_lanes)
      products += args.b.offset(args.a.columns[e] + 1) - args.b.offset(args.a.columns[e]);
    for (int distance = classify_lanes / 2; distance > 0; distance /= 2)
      products += __shfl_xor_sync(members_of<classify_lanes>(), products, distance);
    if (lane != 0) continue;
    const int of = args.limits.class_of(products);
    const auto count = static_cast<unsigned long long>(products);
    args.classes[r] = static_cast<unsigned char>(of);
    args.numbers[r] = row;
    args.products[r] = products;
    atomicAdd(sums.rows + of, 1u);
    atomicAdd(sums.products + of, count);
    if (of == listed_classes) atomicMax(&sums.longest, count);
  }
  __syncthreads();
  if (threadIdx.x == 0 && sums.longest != 0) atomicMax(&args.sums->longest, sums.longest);
  if (threadIdx.x >= class_count || sums.rows[threadIdx.x] == 0) return;
  atomicAdd(args.sums->rows + threadIdx.x, sums.rows[threadIdx.x]);
  atomicAdd(args.sums->products + threadIdx.x, sums.products[threadIdx.x]);
}

/// Sets the numbers of classes from their sums.
void sum_up(const class_sums& sums, classed_rows& out) {
  const auto most = static_cast<int64>(current_table()[constant::gustavson_copied_products]);
  for (int c = 0; c < class_count; ++c) {
    out.begins[c + 1] = out.begins[c] + static_cast<int64>(sums.rows[c]);
    out.products += static_cast<int64>(sums.products[c]);
    const bool follows = c == out.copied_classes + 1 && c <= listed_classes;
    if (!follows || out.products > most) continue;
    out.copied_classes = c;
    out.copied_products = out.products;
  }
  out.longest = static_cast<int64>(sums.longest);
}

classed_rows classify(const work& by, const problem& p, const sparse_operand& b, index windows) {
  const index rows = p.a.rows;
  const buffer classes = by.room(rows, 1), sorted = by.room(rows, 1),
               numbers = by.room(rows, sizeof(index)), products = by.room(rows, sizeof(int64)),
               sums = by.room(1, sizeof(class_sums));
  const class_limits limits = limits_of(p, windows);
  classed_rows out{by.room(rows, sizeof(index)),
                   by.room(int64{rows} + 1, sizeof(int64)),
                   {},
                   0,
                   0,
                   0,
                   limits.least_in_windows,
                   0};
  const classify_arguments args{argument_of(p.a),
                                argument_of(b),
                                rows,
                                limits,
                                classes.data<unsigned char>(),
                                numbers.data<index>(),
                                products.data<int64>(),
                                sums.data<class_sums>()};
  by.clear(sums);
  constexpr int64 per_block = element_threads / classify_lanes;
  launch_kernel(&classify_rows, "classify_rows", by.where.device, by.stream,
                static_cast<unsigned>(std::min<int64>((rows + per_block - 1) / per_block, 1 << 14)),
                element_threads, args);
  sort_keys(by, classes.data<unsigned char>(), sorted.data<unsigned char>(), numbers.data<index>(),
            out.rows.data<index>(), rows, bits_below(class_count));
  class_sums in_all;
  by.to_host(&in_all, sums.data(), sizeof(in_all));
  by.wait();
  sum_up(in_all, out);
  sums_of(
      by, rows,
      [of = classes.data<unsigned char>(), count = products.data<int64>(),
       copied = out.copied_classes] __device__(int64 r) { return of[r] <= copied ? count[r] : 0; },
      out.products_before.data<int64>());
  return out;
}

/// Columns of a window, as the kernel's function of this name.
index window_columns_of(const problem& p) {
  index columns = 16384;
  while (columns > 32 && static_cast<std::size_t>(columns) * p.algebra->accum_bytes > 16384)
    columns /= 2;
  return columns;
}

/// Memory for the lists of rows whose products shared memory has no room for.
struct wide_lists {
  buffer memory;
  int64 room = 0;    ///< products of a row
  int64 blocks = 0;  ///< that have lists
};

wide_lists room_for_lists(const work& by, const problem& p, const classed_rows& of) {
  constexpr int64 usual_bytes = int64{1} << 30;
  wide_lists out;
  const int64 rows = of.count(listed_classes);
  if (rows == 0) return out;
  out.room = (of.longest + 31) / 32 * 32;
  const int64 bytes = out.room * sort_list_bytes(true, static_cast<int64>(p.algebra->accum_bytes));
  const int64 processors = attribute_of(by.where.device, cudaDevAttrMultiProcessorCount);
  out.blocks = std::clamp<int64>(usual_bytes / bytes, 1, std::min(rows, processors));
  for (;; out.blocks /= 2) try {
      out.memory = by.room(out.blocks, static_cast<std::size_t>(bytes));
      return out;
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory) throw;
      if (out.blocks > 1) continue;
      fail(errc::out_of_memory,
           {by.name, ": out of memory: kernel gustavson needs ", bytes, " bytes on ",
            to_string(by.where), " to sort the ", of.longest,
            " products of a row of A; multiply by some columns of B at a time"});
    }
}

/// The kernel of a class.
device_kernel class_kernel(const problem& p, const product_class& how, bool fills) {
  switch (how.kernel) {
    case row_kernel::rank:
      return kernel_of(p, file, "rank_rows", {how.lanes, how.room, how.threads, fills});
    default:
      return kernel_for(key_of(p), {.name = fills ? "sort_rows" : "count_rows",
                                    .file = sort_file,
                                    .arguments = {how.kernel == row_kernel::sort_wide},
                                    .reads_b = false,
                                    .most_shared = shared_room(p.a.where.device)});
  }
}

/// The rows of a class before windows: counts their entries, or writes them.
void launch_class(const work& by, const problem& p, const classed_rows& of, const wide_lists& lists,
                  int c, product_arguments args, bool fills) {
  const product_class& how = row_classes[c - 1];
  args.rows = of.rows.data<index>() + of.begins[c];
  args.count = of.count(c);
  if (args.count == 0) return;
  const int64 per_block = how.threads / how.lanes;
  const bool is_wide = how.kernel == row_kernel::sort_wide;
  args.room = is_wide ? lists.room : how.room;
  args.lists = lists.memory.data();
  by.launch(
      class_kernel(p, how, fills),
      is_wide ? lists.blocks : std::min<int64>((args.count + per_block - 1) / per_block, 1 << 20),
      &args, static_cast<unsigned>(how.threads),
      static_cast<std::size_t>(
          sort_shared_bytes(how, fills, static_cast<int64>(p.algebra->accum_bytes))));
}

/// The rows of the last class, in windows: counts their entries, or writes them.
void launch_windows(const work& by, const problem& p, const classed_rows& of,
                    product_arguments args, bool fills) {
  const int64 rows = of.begins[class_count] - of.begins[class_count - 1];
  if (rows == 0) return;
  args.rows = of.rows.data<index>() + of.begins[class_count - 1];
  args.count = rows * args.windows;
  by.launch(kernel_of(p, file, "window_rows", {fills}), std::min<int64>(args.count, 1 << 20), &args,
            32);
}

/// The entries of windows, and those before each; and the first entry of the mask in each.
struct window_counts {
  buffer lengths, before, starts;
};

/// Memory for the numbers of windows, which grows with their rows times B's columns. It comes
/// first, so that a product that cannot have it ends before a row is computed.
window_counts room_for_windows(const work& by, const problem& p, const classed_rows& of,
                               index per_row, bool in_mask) {
  const int64 rows = of.begins[class_count] - of.begins[class_count - 1], count = rows * per_row;
  if (rows == 0) return {};
  try {
    return {by.room(count, sizeof(int64)), by.room(count + 1, sizeof(int64)),
            by.room(in_mask ? count : 0, sizeof(int64))};
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    const int64 bytes = count * (in_mask ? 24 : 16);
    fail(errc::out_of_memory,
         {by.name, ": out of memory: kernel gustavson needs ", bytes, " bytes on ",
          to_string(by.where), " to count ", rows, " rows of A of more than ",
          of.least_in_windows - 1, " products in ", per_row,
          " windows of B's columns each; multiply some rows of the product at a time"});
  }
}

/// Counts the entries of the windows, and of their rows; also writes those of the windows where it
/// fills.
void count_windows(const work& by, const problem& p, const classed_rows& of,
                   const window_counts& out, product_arguments args, bool fills,
                   int64* row_lengths) {
  const int64 listed = of.begins[class_count - 1], rows = of.begins[class_count] - listed,
              windows = rows * args.windows, per_row = args.windows;
  if (rows == 0) return;
  args.lengths = out.lengths.data<int64>();
  launch_windows(by, p, of, args, fills);
  running_sum(by, args.lengths, out.before.data<int64>(), windows);
  by.each(rows,
          [=, from = out.before.data<int64>(), row_of = of.rows.data<index>() + listed] __device__(
              int64 r) { row_lengths[row_of[r]] = from[(r + 1) * per_row] - from[r * per_row]; });
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

/// Consecutive entries that are copied.
struct copied_entries {
  int64 from, to, count;
};

/// Copies piece(k) for each k below `count`, by so many lanes each.
template <class Piece>
void copy_pieces(const work& by, int64 count, int64 lanes, const entries_made& from,
                 const entries_made& to, std::size_t value_bytes, Piece piece) {
  by.each(count * lanes, [=, columns = from.columns.data<index>(), values = from.values.data(),
                          to_columns = to.columns.data<index>(), to_values = to.values.data(),
                          bytes = static_cast<unsigned>(value_bytes)] __device__(int64 k) {
    const copied_entries some = piece(k / lanes);
    for (int64 e = k % lanes; e < some.count; e += lanes) {
      to_columns[some.to + e] = columns[some.from + e];
      copy_element(to_values, some.to + e, values, some.from + e, bytes);
    }
  });
}

/// Copies the rows of a class from the places that `starts` has to those that `before` has.
void copy_class(const work& by, const problem& p, const classed_rows& of, int c,
                const entries_made& from, const int64* starts, const int64* lengths,
                const entries_made& to, const int64* before) {
  copy_pieces(
      by, of.begins[c + 1] - of.begins[c], row_classes[c - 1].lanes, from, to, p.c.value_bytes,
      [=, row_of = of.rows.data<index>() + of.begins[c]] __device__(int64 r) -> copied_entries {
        const index row = row_of[r];
        return {starts[row], before[row], lengths[row]};
      });
}

/// The result of entries in the order of rows; `before` has those before each row.
void make_result(const work& by, const problem& p, const int64* before, index columns,
                 entries_made made, workspace& out) {
  bool offsets_64 = false;
  buffer offsets = pack(
      by, [=] __device__(int64 r) { return before[r]; }, p.a.rows, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, p.a.rows, columns);
}

/// Whether C is written to the places of the mask, which are no more than the products, or few.
bool fits_mask(const problem& p, const classed_rows& of) {
  const auto few_places = static_cast<int64>(current_table()[constant::gustavson_mask_places]);
  return p.mask.over == mask_operand::kind::matrix && p.mask.structural && !p.mask.complemented &&
         p.mask.sparse.nnz <= std::max(few_places, of.products);
}

/// The first entry of the mask in each window of the rows of the last class.
void find_starts(const work& by, const problem& p, const classed_rows& of, index windows,
                 const buffer& out) {
  const int64 listed = of.begins[class_count - 1],
              count = (of.begins[class_count] - listed) * windows;
  by.each(count,
          [=, mask = argument_of(p.mask.sparse), width = int64{window_columns_of(p)},
           row_of = of.rows.data<index>() + listed, to = out.data<int64>()] __device__(int64 w) {
            const index row = row_of[w / windows];
            to[w] = first_from(mask.columns, mask.offset(row), mask.offset(row + 1),
                               static_cast<index>(w % windows * width));
          });
}

/// Writes C once, without a count, to the places of the mask. C has the mask's pattern if it has an
/// entry at each of them; else its entries are copied to their places.
void run_in_mask(const work& by, const problem& p, const classed_rows& of,
                 const window_counts& windows, const wide_lists& lists, product_arguments args,
                 workspace& out) {
  const sparse_operand& m = p.mask.sparse;
  entries_made apart = room_for_entries(by, p, m.nnz);
  const buffer starts = by.room(m.rows, sizeof(int64)),
               before = by.room(int64{m.rows} + 1, sizeof(int64));
  find_starts(by, p, of, args.windows, windows.starts);
  by.each(m.rows, [mask = argument_of(m), to = starts.data<int64>()] __device__(int64 r) {
    to[r] = mask.offset(static_cast<index>(r));
  });
  int64* const lengths = args.lengths;
  args.before = starts.data<int64>();
  args.out_columns = apart.columns.data<index>();
  args.out_values = apart.values.data();
  for (int c = 1; c <= listed_classes; ++c) launch_class(by, p, of, lists, c, args, true);
  args.before = windows.starts.data<int64>();
  count_windows(by, p, of, windows, args, true, lengths);
  running_sum(by, lengths, before.data<int64>(), m.rows);
  const int64 nnz = by.read(before.data<int64>() + m.rows);
  if (nnz == m.nnz) {
    out.made.structure = p.mask.structure;
    out.made.values = std::move(apart.values);
    return;
  }
  entries_made made = room_for_entries(by, p, nnz);
  const auto* const to = before.data<int64>();
  for (int c = 1; c <= listed_classes; ++c)
    copy_class(by, p, of, c, apart, starts.data<int64>(), lengths, made, to);
  const int64 listed = of.begins[class_count - 1], per_row = args.windows;
  copy_pieces(by, (of.begins[class_count] - listed) * per_row, 32, apart, made, p.c.value_bytes,
              [=, row_of = of.rows.data<index>() + listed, from = windows.starts.data<int64>(),
               counts = windows.lengths.data<int64>(),
               sums = windows.before.data<int64>()] __device__(int64 w) -> copied_entries {
                const int64 r = w / per_row;
                return {from[w], to[row_of[r]] + sums[w] - sums[r * per_row], counts[w]};
              });
  make_result(by, p, to, m.columns, std::move(made), out);
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
  out.panels = b.kept;
  const index rows = p.a.rows;
  product_arguments args = arguments_of(p, b.sparse, b.sparse.columns);
  const index width = window_columns_of(p);
  args.windows = static_cast<index>((int64{b.sparse.columns} + width - 1) / width);
  const classed_rows of = classify(by, p, b.sparse, args.windows);
  const buffer lengths = by.room(rows, sizeof(int64)),
               before = by.room(int64{rows} + 1, sizeof(int64));
  check(
      cudaMemsetAsync(lengths.data(), 0, static_cast<std::size_t>(rows) * sizeof(int64), by.stream),
      by.name);
  args.lengths = lengths.data<int64>();
  const bool in_mask = fits_mask(p, of);
  const window_counts windows = room_for_windows(by, p, of, args.windows, in_mask);
  const wide_lists lists = room_for_lists(by, p, of);
  if (in_mask) return run_in_mask(by, p, of, windows, lists, args, out);
  const int64 products = of.copied_products;
  const entries_made apart{by.room(products, sizeof(index)), by.room(products, p.c.value_bytes),
                           products};
  product_arguments to_apart = args;
  to_apart.before = of.products_before.data<int64>();
  to_apart.out_columns = apart.columns.data<index>();
  to_apart.out_values = apart.values.data();
  for (int c = 1; c <= listed_classes; ++c)
    launch_class(by, p, of, lists, c, of.is_copied(c) ? to_apart : args, of.is_copied(c));
  count_windows(by, p, of, windows, args, false, args.lengths);
  running_sum(by, args.lengths, before.data<int64>(), rows);

  entries_made made = room_for_entries(by, p, by.read(before.data<int64>() + rows));
  args.lengths = nullptr;
  args.before = before.data<int64>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  for (int c = 1; c <= listed_classes; ++c)
    if (of.is_copied(c))
      copy_class(by, p, of, c, apart, to_apart.before, lengths.data<int64>(), made, args.before);
    else
      launch_class(by, p, of, lists, c, args, true);
  fill_windows(by, p, of, windows, args);
  make_result(by, p, args.before, b.sparse.columns, std::move(made), out);
}

}  // namespace rig::on_cuda
