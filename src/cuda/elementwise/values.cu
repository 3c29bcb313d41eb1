// Values of entries, and element-wise operations on dense operands.

#include <algorithm>
#include <cstdint>

#include "cuda/elementwise/values.cuh"
#include "cuda/elementwise/work.hpp"
#include "cuda/tuning/product.hpp"

namespace rig::on_cuda {
namespace {

constexpr const char* file = "cuda/elementwise/values.cuh";

device_kernel kernel_of_entries(const operation& o, const operator_info& op, type stored) {
  return kernel_of(o, op, stored, {"entry_values", file}, [](auto of) {
    return reinterpret_cast<const void*>(&entry_values<typename decltype(of)::type>);
  });
}

device_kernel kernel_of_dense(const operation& o, const operator_info& op) {
  return kernel_of(o, op, o.out_type, {"dense_values", file}, [](auto of) {
    return reinterpret_cast<const void*>(&dense_values<typename decltype(of)::type>);
  });
}

/// An operand that packed kernels read: elements of the operator's type side by side, or one.
bool is_packed(const element_array& of, type algebra) {
  return of.stored == algebra && of.permutation == nullptr &&
         reinterpret_cast<std::uintptr_t>(of.values) % 16 == 0;
}

/// Launches the packed kernel of a builtin operator, if it can serve. Elements lie side by side.
bool run_packed(const work& by, const element_arguments& elements, const operator_info& op,
                bool has_y, int64 count) {
  const bool is_join = op.kind == operator_kind::join;
  const bool is_builtin = is_join || op.kind == operator_kind::map;
  if (!is_builtin || op.result != op.algebra || elements.out_type != op.algebra || count == 0 ||
      !is_packed(elements.x, op.algebra) || (is_join && !is_packed(elements.y, op.algebra)) ||
      reinterpret_cast<std::uintptr_t>(elements.out) % 16 != 0)
    return false;
  packed_arguments args{elements, count, has_y && is_join};
  int64 each = 1;
  const void* const kernel = with_builtin(op, op.algebra, [&](auto of) -> const void* {
    using Op = typename decltype(of)::type;
    if constexpr (computes_all<Op>) {
      each = packed_each<typename Op::packed>;
      return reinterpret_cast<const void*>(&packed_values<Op>);
    }
    return nullptr;
  });
  if (kernel == nullptr) return false;
  by.launch(kernel_by_nvcc(kernel, "packed_values"),
            std::min<int64>((count + each - 1) / each, 1 << 20), &args);
  return true;
}

/// C = X op Y under the mask; `masked` and `fills` as the call says.
struct dense_step {
  const operator_info* op;
  unsigned char code;
  const dense_operand* c;  ///< in its own type
  element_array x, y;
  int64 x_stride, y_stride;
  bool has_y, masked, fills;
};

void run(const work& by, const operation& o, const dense_step& step) {
  const dense_operand& c = *step.c;
  dense_arguments args;
  args.elements = arguments_of(o, *step.op, step.code);
  args.elements.x = step.x;
  args.elements.y = step.y;
  args.elements.out = c.data;
  args.elements.out_type = c.value_type;
  args.elements.out_bytes = static_cast<unsigned>(c.value_bytes);
  args.has_y = step.has_y;
  if (step.masked) args.mask = mask_arguments_of(o.mask);
  if (step.masked) args.region_rows = o.region_rows;
  if (step.masked) args.region_columns = o.region_columns;
  args.outside_fills = step.fills;
  __builtin_memcpy(args.fill.bytes, o.fill, sizeof(o.fill));
  const bool is_packed =
      (c.stride == c.columns && (step.x_stride == c.columns || step.x_stride == 0) &&
       (step.y_stride == c.columns || step.y_stride == 0)) ||
      c.rows == 1;
  const bool is_flat = is_packed && args.mask.over == mask_arguments::absent &&
                       args.region_rows == nullptr && args.region_columns == nullptr &&
                       !step.op->reads_positions;
  if (is_flat && run_packed(by, args.elements, *step.op, step.has_y, int64{c.rows} * c.columns))
    return;
  args.rows = is_flat ? 1 : c.rows;
  args.columns = is_flat ? int64{c.rows} * c.columns : c.columns;
  args.c_stride = c.stride;
  args.x_stride = step.x_stride;
  args.y_stride = step.y_stride;
  by.launch(kernel_of_dense(o, *step.op), element_blocks(args.rows * args.columns), &args);
}

met_element met_by(broadcast by, int64 stride) {
  switch (by) {
    case broadcast::rows:
      return {stride, 0, true};
    case broadcast::columns:
      return {0, stride, true};
    case broadcast::places:
      return {stride, 1, true};
    case broadcast::absent:
      break;
  }
  return {};
}

}  // namespace

buffer map(const map_step& m) {
  const work by(m.of);
  const sparse_operand& x = *m.x;
  buffer out = m.into != nullptr ? buffer() : by.result(x.nnz, m.out_bytes);
  value_arguments args;
  args.elements = arguments_of(m.of, *m.op, m.code);
  args.elements.out_type = m.out_type;
  args.elements.out_bytes = static_cast<unsigned>(m.out_bytes);
  args.elements.out = m.into != nullptr ? m.into->data : out.data();
  args.elements.x = array_of(m.y_first ? m.y : source_of(x));
  args.elements.y = array_of(m.y_first ? source_of(x) : m.y);
  args.has_y = m.op->kind == operator_kind::join || m.y_by != broadcast::absent;
  args.count = x.nnz;
  args.swaps = m.y_first;
  args.y_at = met_by(m.y_by, m.y_stride);
  if (m.into != nullptr) args.into = met_by(m.into_by, m.into->stride);
  if (m.op->reads_positions || args.y_at.is_used || args.into.is_used) {
    args.offsets = x.offsets;
    args.offsets_64 = x.offsets_64;
    args.rows = x.rows;
    args.columns = x.entries;
  }
  if (args.columns == nullptr && run_packed(by, args.elements, *m.op, args.has_y, x.nnz))
    return out;
  by.launch(kernel_of_entries(m.of, *m.op, m.out_type), element_blocks(x.nnz), &args);
  return out;
}

buffer values(const operation& o, const rearranged& r, const operator_info& op) {
  const work by(o);
  const int64 nnz = r.structure->nnz();
  buffer out = by.result(nnz, o.out_bytes);
  value_arguments args;
  args.elements = arguments_of(o, op, o.code);
  args.elements.out = out.data();
  args.elements.x = array_of(source_of(o.x));
  args.elements.y = array_of(source_of(o.y));
  args.count = nnz;
  args.x = r.x.data<int64>();
  args.has_y = r.y.bytes() > 0;
  args.y = r.y.data<int64>();
  by.launch(kernel_of_entries(o, op, o.out_type), element_blocks(nnz), &args);
  return out;
}

void run_dense(const operation& o) {
  const work by(o);
  const dense_operand& c = o.c.full;
  const auto array = [&](const operand& of) {
    return array_of(of.what == operand::kind::dense ? source_of(of.full) : scalar_of(o));
  };
  const element_array x = array(o.x), y = array(o.y);
  const bool has_y = o.op->kind == operator_kind::join || o.y.what == operand::kind::dense;
  const bool replaces = o.creates_result || o.desc->replace;
  const bool accumulates = o.accum != accumulator::none;
  const bool is_t = o.op == &unchanged(o) && o.x.what == operand::kind::dense &&
                    o.x.full.value_type == o.t_type() &&
                    o.code == static_cast<unsigned char>(unary::identity);
  buffer room;  // for T, if it joins C and X is not T already
  dense_operand t = accumulates && is_t ? o.x.full : c;
  if (accumulates && !is_t) {
    t.stride = c.columns;
    t.value_type = o.t_type();
    t.value_bytes = o.t_bytes();
    room = by.room(int64{c.rows} * c.columns, t.value_bytes);
    t.data = room.data();
  }
  if (!accumulates || !is_t)
    run(by, o,
        {o.op, o.code, &t, o.scalar_first ? y : x, o.scalar_first ? x : y,
         o.scalar_first ? 0 : o.x.full.stride, o.scalar_first ? o.x.full.stride : o.y.full.stride,
         has_y, !accumulates, replaces});
  if (accumulates)
    run(by, o,
        {o.accumulates, o.accumulates_code, &c, array_of(source_of(c)), array_of(source_of(t)),
         c.stride, t.stride, true, true, replaces});
}

void accumulate_groups(const work& by, const operation& o, int64 groups, const int64* starts,
                       const int64* members, const buffer& out) {
  group_arguments args;
  args.elements = arguments_of(o, *o.accumulates, o.accumulates_code);
  args.elements.out = out.data();
  args.elements.x = array_of({out.data(), nullptr, nullptr, false, o.out_type, o.out_bytes});
  args.elements.y = array_of(source_of(o.x));
  args.groups = groups;
  args.starts = starts;
  args.members = members;
  const device_kernel kernel =
      kernel_of(o, *o.accumulates, o.out_type, {"join_groups", file}, [](auto of) {
        return reinterpret_cast<const void*>(&join_groups<typename decltype(of)::type>);
      });
  by.launch(kernel, blocks_for(groups), &args);
}

}  // namespace rig::on_cuda
