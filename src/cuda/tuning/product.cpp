#include "cuda/tuning/product.hpp"

#include <cstring>

#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {

mask_arguments mask_arguments_of(const mask_operand& mask) {
  mask_arguments out;
  out.structural = mask.structural;
  out.complemented = mask.complemented;
  if (mask.over == mask_operand::kind::matrix) {
    out.over = mask_arguments::matrix;
    out.offsets_64 = mask.sparse.offsets_64;
    out.stored = mask.sparse.value_type;
    out.offsets = mask.sparse.offsets;
    out.entries = mask.sparse.entries;
    out.values = mask.sparse.values;
    std::memcpy(out.iso.bytes, mask.sparse.iso, sizeof(mask.sparse.iso));
  } else if (mask.over == mask_operand::kind::dense) {
    out.over = mask_arguments::dense;
    out.stored = mask.full.value_type;
    out.values = mask.full.data;
    out.stride = mask.full.stride;
  }
  return out;
}

arguments arguments_of(const problem& p) {
  arguments out;
  out.rows = p.a.rows;
  out.nnz = p.a.nnz;
  out.offsets_64 = p.a.offsets_64;
  out.a_type = p.a.value_type;
  out.offsets = p.a.offsets;
  out.entries = p.a.entries;
  out.permutation = p.a.permutation;
  out.a_values = p.a.values;
  if (p.a.values == nullptr) p.algebra->take_left(p.a.iso, p.a.value_type, out.iso.bytes);
  out.columns = p.b.columns;
  out.b = p.b.data;
  if (!p.algebra->ignores_right && p.b.rows > 1)
    out.b_row_bytes = row_bytes(p.b.stride, p.b.value_bytes);
  out.low = p.b.low;
  out.step = p.b.step;
  out.c = p.c.data;
  out.c_stride = p.c.stride;
  out.indices = static_cast<int32*>(p.indices.data);
  out.indices_stride = p.indices.stride;
  out.c_type = p.c.value_type;
  out.accum = p.accum;
  out.outside_fills = p.creates_result || p.desc->replace;
  p.algebra->fill(p, out.fill.bytes);
  if (p.mask.over != mask_operand::kind::absent) out.mask = mask_arguments_of(p.mask);
  return out;
}

bool is_plain(const problem& p) {
  const bool as_it_is = p.c.value_type == p.algebra->result;
  const bool narrowed = p.algebra->result == type::float32 && !p.algebra->is_indexed &&
                        (p.c.value_type == type::half || p.c.value_type == type::bfloat16);
  return p.mask.over == mask_operand::kind::absent && p.accum == accumulator::none &&
         (as_it_is || narrowed);
}

unsigned row_bytes(int64 stride, std::size_t element_bytes) {
  constexpr std::size_t most = 0xffffffff;
  const std::size_t bytes = static_cast<std::size_t>(stride) * element_bytes;
  if (bytes > most)
    fail(errc::cannot,
         {"mxm: rows of B begin ", bytes, " bytes apart, and CUDA kernels reach ", most});
  return static_cast<unsigned>(bytes);
}

kernel_key key_of(const problem& p) {
  const semiring_info& of = *p.algebra;
  // Kernels that do not read B are compiled for the semiring's own type.
  const type b = of.ignores_right ? of.right : p.b.value_type;
  return {.type_name = of.key,
          .type_hash = of.key_hash,
          .source = of.source,
          .device = p.a.where.device,
          .x = b,
          .per_column = b == type::code && p.b.per_column};
}

double estimate(const problem& p) {
  const tuning_table& table = current_table();
  return table[constant::launch_seconds] + predicted_bytes(p, static_cast<double>(p.a.nnz)) /
                                               table[constant::gather_bytes_per_second];
}

const char* no_kernel_because(const semiring_info& s) {
  if (s.result_bytes > sizeof(arguments::fill))
    return "its results have more than 16 bytes each, which CUDA kernels do not store";
  // rig's own semirings have their text in the library; a type of the caller's has none.
  if (s.source == nullptr && !s.is_rigs)
    return "the GPU compiler cannot see this semiring's text: define it by RIG_SEMIRING";
  return nullptr;
}

const char* no_kernel_because(const problem& p) {
  if (const char* const why = no_kernel_because(*p.algebra)) return why;
  constexpr index widest_tile = 4096;
  if (p.b.columns > highest<index>() - widest_tile)
    return "B has more columns than its last tile could count to";
  if (!p.algebra->ignores_right && p.b.rows > 1 &&
      static_cast<std::size_t>(p.b.stride) * p.b.value_bytes > 0xffffffff)
    return "rows of B begin more than 4 GiB apart";
  if (const char* const without = no_compiler_because()) {
    if (const char* const why = no_machine_code_because(p.a.where.device)) return why;
    if (!has_aot_kernels(key_of(p))) return without;
  }
  return nullptr;
}

double lone_row_seconds(int64 entries) {
  return current_table()[constant::seconds_per_entry] * static_cast<double>(entries);
}

}  // namespace rig::on_cuda
