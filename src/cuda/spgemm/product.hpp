#pragma once

// What products with sparse results share on the host: arguments, estimates and results.
// product.cuh is the part of the kernels.

#include "cuda/elementwise/each.hpp"
#include "cuda/families.hpp"
#include "cuda/spgemm/product.cuh"
#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {

inline sparse_argument argument_of(const sparse_operand& of) {
  return {of.offsets, of.offsets_64, of.entries, array_of(source_of(of))};
}

inline product_arguments arguments_of(const problem& p, const sparse_operand& b, index columns) {
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
inline device_kernel kernel_of(const problem& p, const char* file, const char* name,
                               const template_arguments& rest = {}) {
  return kernel_for(key_of(p), {.name = name, .file = file, .arguments = rest, .reads_b = false});
}

/// Why no kernel with a sparse result exists for the problem, or null.
inline const char* refusal_of(const problem& p) {
  if (const char* const why = no_kernel_because(*p.algebra)) return why;
  if (p.algebra->accum_bytes > 16) return "its sums have more than 16 bytes each";
  return no_compiler_because();
}

inline answer estimated(const problem& p, int launches, double bytes, double serial_seconds = 0) {
  if (const char* const why = refusal_of(p)) return refusal(p, why);
  const tuning_table& table = current_table();
  return {verdict::can, "",
          launches * table[constant::launch_seconds] + serial_seconds +
              bytes / table[constant::gather_bytes_per_second]};
}

inline double bytes_per_entry(const problem& p) {
  return sizeof(index) +
         (p.algebra->ignores_right ? 0.0 : static_cast<double>(p.right.sparse.value_bytes));
}

/// The entries of a result.
struct entries_made {
  buffer columns, values;
  int64 nnz;
};
inline entries_made room_for_entries(const work& by, const problem& p, int64 nnz) {
  return {by.result(nnz, sizeof(index)), by.result(nnz, p.c.value_bytes), nnz};
}
inline sparse_result result_of(entries_made made, buffer offsets, bool offsets_64, index rows,
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

/// Candidates for entries, by which each row's follow each other.
struct candidates {
  buffer present, values;
  int64 count;
};
inline candidates make_candidates(const work& by, int64 count, std::size_t value_bytes) {
  return {by.room(count, sizeof(bool)), by.room(count, value_bytes), count};
}

}  // namespace rig::on_cuda
