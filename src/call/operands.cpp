#include "call/operands.hpp"

namespace rig {

sparse_operand view(const pattern& of) {
  sparse_operand out;
  out.rows = of.rows();
  out.columns = of.columns();
  out.nnz = of.nnz();
  out.offsets = of.offsets();
  out.entries = of.column_indices();
  out.offsets_64 = of.offsets_64();
  out.where = of.where();
  out.stream = of.stream();
  return out;
}

std::shared_ptr<const pattern> turn(sparse_operand& x, const pattern& of) {
  const auto flipped = of.derived_of<transposed>();
  const pattern& s = *flipped->structure;
  x.rows = s.rows();
  x.columns = s.columns();
  x.offsets = s.offsets();
  x.entries = s.column_indices();
  x.offsets_64 = s.offsets_64();
  if (x.values != nullptr) x.permutation = flipped->permutation.data();
  return {flipped, &s};  // owns the permutation too
}

void turn_into_column(mask_operand& m) {
  m.structure = turn(m.sparse, *m.structure);
  m.sparse.permutation = nullptr;  // of one row it is the identity
  m.is_vector = false;
}

bool memory::overlaps(const sparse_operand& of) const {
  const auto rows = static_cast<std::size_t>(of.rows), nnz = static_cast<std::size_t>(of.nnz);
  return overlaps(memory(of.values, nnz * of.value_bytes)) ||
         overlaps(memory(of.entries, nnz * sizeof(index))) ||
         overlaps(memory(of.offsets, (rows + 1) * (of.offsets_64 ? sizeof(int64) : sizeof(int32))));
}

void copy(const dense_operand& from, const dense_operand& to, void* stream) {
  copy_rows(to.data, static_cast<std::size_t>(to.stride) * to.value_bytes, from.data,
            static_cast<std::size_t>(from.stride) * from.value_bytes,
            static_cast<std::size_t>(from.columns) * from.value_bytes, from.rows, from.where,
            stream);
}

dense_room room_like(const dense_operand& of, type elements, std::size_t bytes, void* stream) {
  dense_room out{{}, of};
  out.full.stride = of.columns;
  out.full.value_type = elements;
  out.full.value_bytes = bytes;
  out.memory = buffer::temporary(out.full.extent(), of.where, stream);
  out.full.data = out.memory.data();
  return out;
}

}  // namespace rig
