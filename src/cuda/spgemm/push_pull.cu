// push and pull on a device: a sparse vector times a matrix.

#include "cuda/spgemm/dot.cuh"
#include "cuda/spgemm/product.hpp"
#include "cuda/spgemm/push.cuh"

namespace rig::on_cuda {
namespace {

constexpr const char *push_file = "cuda/spgemm/push.cuh", *pull_file = "cuda/spgemm/dot.cuh";

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

/// The products before each entry of the vector, and their number.
void products_before(const work& by, const problem& p, const sparse_argument& b, int64* to) {
  sums_of(
      by, p.a.nnz,
      [a = p.a.entries, b] __device__(int64 e) { return b.offset(a[e] + 1) - b.offset(a[e]); }, to);
}

/// Whether one block is tried.
bool is_few(const problem& p) { return p.a.nnz <= few_products && p.products <= few_products; }

}  // namespace

std::optional<double> count_products(const problem& p) {
  constexpr int64 counted_entries = 4096;  // of fewer, waiting takes longer than a kernel saves
  const bool can_choose = p.is_vector && has_rows(p) && has_columns(p);
  if (!can_choose || p.a.nnz < counted_entries) return {};
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
  entries_made made = room_for_entries(by, p, std::min(few_products, args.columns));
  buffer offsets = by.result(2, sizeof(int32));
  const pinned_number count;  // written by the kernel, so that no copy is waited for
  args.lengths = count.get();
  args.out_offsets = offsets.data<int32>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  by.launch(kernel_of(p, push_file, "push_few"), 1, &args, threads);
  by.wait();
  made.nnz = *args.lengths;
  if (made.nnz < 0) return false;
  // The result keeps the room of its other entries too.
  const auto used = static_cast<std::size_t>(made.nnz);
  made.columns = made.columns.first(used * sizeof(index));
  made.values = made.values.first(used * p.c.value_bytes);
  out.made = result_of(std::move(made), std::move(offsets), false, 1, args.columns);
  return true;
}

}  // namespace

void push_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_rows(p);
  out.panels = b.kept;
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
    by.launch(kernel_of(p, push_file, "clear_slots"), element_blocks(columns), &args);
  if (nnz > 0) by.launch(kernel_of(p, push_file, "push_products"), blocks, &args);
  const present_columns chosen = list_present(by, found);
  entries_made made = room_for_entries(by, p, chosen.count);
  buffer offsets = by.result(2, sizeof(int32));
  args.rows = chosen.columns.data<index>();
  args.count = chosen.count;
  args.out_offsets = offsets.data<int32>();
  args.out_columns = made.columns.data<index>();
  args.out_values = made.values.data();
  by.launch(kernel_of(p, push_file, "collect_slots"),
            element_blocks(std::max<int64>(chosen.count, 1)), &args);
  out.made = result_of(std::move(made), std::move(offsets), false, 1, columns);
}

namespace {

/// Blocks for the columns that are left to blocks, of which a matrix has so many at most.
int64 blocks_for_long_columns(int64 entries) {
  constexpr int64 most_blocks = 1024;
  return std::clamp<int64>(entries / (entries_per_thread + entries_per_warp), 1, most_blocks);
}

}  // namespace

answer pull_answer(const problem& p) {
  // Sums that can end early read few entries of a column (Beamer et al., SC 2012).
  const double read = p.algebra->has_terminal ? current_table()[constant::pull_read_share] : 1.0;
  const double bytes = p.right.columns() * 16.0 +
                       read * static_cast<double>(p.right.sparse.nnz) * (bytes_per_entry(p) + 8);
  return by_columns_answer(p, estimated(p, 7, bytes));
}

void pull_run(const problem& p, workspace& out) {
  const work by(p);
  const oriented b = right_by_columns(p);
  out.panels = b.kept;
  const index columns = b.sparse.rows, inner = p.a.columns;
  product_arguments args = arguments_of(p, b.sparse, columns);
  // A bit per place of the vector, then the number of long columns.
  const int64 words = inner / 32 + 1;
  const buffer bits = by.room(words + 1, sizeof(unsigned));
  const buffer long_columns = by.room(columns, sizeof(index));
  const buffer places = by.room(p.algebra->ignores_left ? 0 : inner, sizeof(index));
  check(cudaMemsetAsync(bits.data(), 0, bits.bytes(), by.stream), by.name);
  by.each(p.a.nnz, [a = p.a.entries, to = bits.data<unsigned>(),
                    at = places.data<index>()] __device__(int64 e) {
    atomicOr(to + a[e] / 32, 1u << (a[e] % 32));
    if (at != nullptr) at[a[e]] = static_cast<index>(e);
  });
  const candidates found = make_candidates(by, columns, p.c.value_bytes);
  args.in_vector = bits.data<unsigned>();
  args.places = places.data<index>();
  args.long_columns = long_columns.data<index>();
  args.long_count = bits.data<unsigned>() + words;
  args.count = columns;
  args.present = found.present.data<bool>();
  args.out_values = found.values.data();
  if (columns > 0) {
    by.launch(kernel_of(p, pull_file, "pull_columns"),
              std::min<int64>((columns + element_threads - 1) / element_threads, 1 << 16), &args);
    by.launch(kernel_of(p, pull_file, "pull_long_columns"), blocks_for_long_columns(b.sparse.nnz),
              &args, long_column_threads);
  }
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
