// dot on a device: a sum per entry of the mask.

#include "cuda/spgemm/product.hpp"

namespace rig::on_cuda {
namespace {

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
  bool offsets_64 = false;
  buffer offsets = pack(
      by,
      [=, of = argument_of(m)] __device__(int64 r) {
        return before[of.offset(static_cast<index>(r))];
      },
      m.rows, made.nnz, offsets_64);
  out.made = result_of(std::move(made), std::move(offsets), offsets_64, m.rows, m.columns);
}

/// Lanes per entry of the mask: a power of two, as many as a mean row of A has entries, from 2 to
/// `most_lanes`.
constexpr int most_lanes = 8;
int lanes_of(const sparse_operand& a) {
  int lanes = 2;
  while (lanes < most_lanes && lanes < a.nnz / std::max(1, a.rows)) lanes *= 2;
  return lanes;
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
  out.panels = b.kept;
  product_arguments args = arguments_of(p, b.sparse, m.columns);
  if (is_dense) {
    const dense_operand &x = p.left_full, &y = p.b;
    const bool turns_a = p.desc->transpose_a, turns_b = p.desc->transpose_b;
    args.inner = turns_a ? x.rows : x.columns;
    args.full_a = {array_of(source_of(x)), turns_a ? 1 : x.stride, turns_a ? x.stride : 1};
    args.full_b = {array_of(source_of(y)), turns_b ? y.stride : 1, turns_b ? 1 : y.stride};
  }
  const buffer rows = by.room(m.nnz, sizeof(index));
  by.each(m.nnz, [of = argument_of(m), count = m.rows, to = rows.data<index>()] __device__(
                     int64 e) { to[e] = row_of_entry(of.offsets, of.offsets_64, 0, count, e); });
  // Rows and columns of dense operands meet everywhere, so C has each entry of the mask.
  const bool has_all = is_dense && args.inner > 0 && p.mask.structural;
  candidates found = make_candidates(by, m.nnz, has_all ? 0 : p.c.value_bytes);
  if (has_all && p.c.data != nullptr)
    found.values = buffer::borrow(p.c.data, static_cast<std::size_t>(m.nnz) * p.c.value_bytes,
                                  by.where, by.stream);
  else if (has_all)
    found.values = by.result(m.nnz, p.c.value_bytes);
  args.candidate_rows = rows.data<index>();
  args.candidate_columns = m.entries;
  args.count = m.nnz;
  args.present = found.present.data<bool>();
  args.out_values = found.values.data();
  const int lanes = is_dense ? most_lanes : lanes_of(p.a);
  const int64 per_block = element_threads / lanes;
  if (m.nnz > 0)
    by.launch(kernel_of(p, "cuda/spgemm/dot.cuh", "dot_entries", {lanes, is_dense}),
              std::min<int64>((m.nnz + per_block - 1) / per_block, 1 << 20), &args);
  if (has_all) {
    out.made.structure = p.mask.structure;
    out.made.values = std::move(found.values);
  } else {
    pack_candidates(by, p, found, out);
  }
}

}  // namespace rig::on_cuda
