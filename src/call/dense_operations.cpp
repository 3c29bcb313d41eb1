// Hop 1 of the operations whose results are dense. T is computed apart unless the operation is
// element by element; then it is joined with C as a map.

#include "call/checked_operation.hpp"
#include "call/operands.hpp"
#include "call/trace.hpp"

namespace rig {
namespace {

using kind = operation::kind;

/// Memory that the steps of one operation pass on. It outlives the order of streams.
struct kept_operands {
  assigned_region region;
  dense_room t, apart;
};

/// Whether the operator of two operands is a builtin comparison.
bool is_comparison(const operation& o) {
  return o.op->kind == operator_kind::join && is_comparison(static_cast<binary>(o.code));
}

/// Whether two dense operands share memory other than element by element.
bool overlaps_askew(const dense_operand& c, const dense_operand& other) {
  const bool is_same =
      c.data == other.data && c.stride == other.stride && c.value_bytes == other.value_bytes;
  return !is_same && memory(c).overlaps(other);
}

/// Makes an operation the one that yields X, or the scalar, as it is.
void set_identity(operation& o) {
  o.what = kind::map;
  o.y = {};
  o.op = &unchanged(o);
  o.code = static_cast<unsigned char>(unary::identity);
  o.scalar_first = false;
}

/// T = Y, or the scalar everywhere. Beside a comparison, T is whether that is not 0.
void fill(const operation& o, const dense_operand& t) {
  static constexpr unsigned char zero[16] = {};
  operation base = o;
  base.x = o.y;
  base.creates_result = true;
  base.accum = accumulator::none;
  base.mask = {};
  base.c.full = t;
  set_identity(base);
  if (is_comparison(o)) {
    base.op = o.op;
    base.code = static_cast<unsigned char>(binary::not_equal);
    base.scalar = zero;
    base.scalar_type = o.op->algebra;
  }
  steps_of(o).run_dense(base);
}

/// The entries of X, joined with Y or the scalar, at their places in T.
void spread_entries(const operation& o, const dense_operand& t) {
  map_step m = map_of(o, o.x.sparse, o.out_type, o.out_bytes);
  m.into = &t;
  m.into_by = o.x.is_vector ? broadcast::columns : broadcast::places;
  steps_of(o).map(m);
}

/// T of an operation that is not element by element.
void compute_dense(const operation& o, const dense_operand& t) {
  switch (o.what) {
    case kind::reduce_rows:
      if (o.shape_of_x().columns == 0) return fill(o, t);
      return steps_of(o).fold_dense(o, t);
    case kind::extract:
      return steps_of(o).extract_dense(o, t);
    case kind::assign:
      return steps_of(o).placed_dense(o, t);
    default:
      fill(o, t);
      return spread_entries(o, t);
  }
}

/// Whether T can be computed in C's memory: existing memory may also hold what T is computed from.
bool fits_in_c(const operation& o) { return o.creates_result && !o.mask.is_there(); }

/// Whether C holds Y, so that only the entries of X change C.
bool is_spread_in_place(const operation& o) {
  const dense_operand &c = o.c.full, &y = o.y.full;
  return o.what == kind::spread && o.y.what == operand::kind::dense && !o.mask.is_there() &&
         !is_comparison(o) && o.accum == accumulator::none && c.data == y.data &&
         c.stride == y.stride && c.value_type == y.value_type && c.value_type != type::other &&
         !memory(c).overlaps(o.x.sparse);
}

/// Computes T, and makes the operation the one that joins it with C.
void set_t(operation& o, kept_operands& kept) {
  if (o.what == kind::assign) {
    kept.region = steps_of(o).region(o);
    o.region_rows = kept.region.rows.data<bool>();
    o.region_columns = kept.region.columns.data<bool>();
  }
  if (o.what != kind::assign || o.x.what != operand::kind::absent) {
    operation of_t = o;
    of_t.out_type = o.t_type();
    of_t.out_bytes = o.t_bytes();
    kept.t = room_like(o.c.full, of_t.out_type, of_t.out_bytes, o.desc->stream);
    compute_dense(of_t, kept.t.full);
    o.x = {};
    o.x.what = operand::kind::dense;
    o.x.full = kept.t.full;
  }
  set_identity(o);
}

}  // namespace

const operator_info& unchanged(const operation& o) {
  return o.t_type() == type::other ? copying() : builtin_unary(o.t_type());
}

result_shape check_dense(operation& o) {
  const bool may_turn = o.what == kind::reduce_rows || o.what == kind::extract;
  if ((o.desc->transpose_a && !may_turn) || o.desc->transpose_b) refuse_turned_dense(o);
  check_descriptor(o);
  check_places(o);
  if (o.mask.is_vector && shape_of_result(o).columns == 1) turn_into_column(o.mask);
  std::optional<in_order> order;
  if (o.rows.what == index_list::kind::list || o.columns.what == index_list::kind::list) {
    order.emplace(o);
    order->refuse_capture(o);
  }
  check_indices(o);
  check_shapes(o);
  return shape_of_result(o);
}

void run_dense(const operation& o) {
  if (o.c.full.rows == 0 || o.c.full.columns == 0) return;
  kept_operands kept;
  timed_call line;
  const in_order order(o);
  line.begin(o.where(), order.is_captured(), [&] { return traced_words(o, nullptr); });
  const bool is_given = o.what == kind::merge || o.what == kind::map;
  if (o.what == kind::assign && o.x.what != operand::kind::absent) order.refuse_capture(o);
  if (is_spread_in_place(o)) return spread_entries(o, o.c.full);
  if (!is_given && fits_in_c(o)) return compute_dense(o, o.c.full);
  operation joined = o;
  if (!is_given) set_t(joined, kept);
  dense_operand& c = joined.c.full;
  if (!overlaps_askew(c, joined.x.full) && !overlaps_askew(c, joined.y.full) &&
      !overlaps_askew(c, joined.mask.full) && !memory(c).overlaps(joined.mask.sparse))
    return steps_of(o).run_dense(joined);
  kept.apart = room_like(o.c.full, o.out_type, o.out_bytes, o.desc->stream);
  c = kept.apart.full;
  copy(o.c.full, c, o.desc->stream);
  steps_of(o).run_dense(joined);
  copy(c, o.c.full, o.desc->stream);
}

}  // namespace rig
