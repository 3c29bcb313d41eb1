// Hop 1 of the operations whose results are sparse, and of reductions: computes the result T, and
// joins T with the previous content of C.

#include <utility>

#include "call/checked_operation.hpp"
#include "call/trace.hpp"

namespace rig {
namespace {

using kind = operation::kind;

/// Memory that the steps of one operation pass on. It outlives the order of streams, so that it is
/// freed after the work that reads it.
struct intermediates {
  buffer mask, keep;
  assigned_region region;
  sparse_result t, sums, summed;
  workspace product;
};

void transpose(const operation& o, operand& x) {
  if (x.is_vector)
    fail(errc::cannot, {o.name, ": a vector is not transposed; leave transpose_a and _b unset"});
  x.structure = turn(x.sparse, *x.structure);
}

/// An n×1 dense masks a vector as a row.
void turn_mask(operation& o, buffer& kept) {
  dense_operand& m = o.mask.full;
  if (!o.yields_vector || o.mask.over != mask_operand::kind::dense || m.columns != 1) return;
  if (m.stride != 1 && m.rows > 1) {
    kept = buffer::temporary(static_cast<std::size_t>(m.rows) * m.value_bytes, m.where,
                             o.desc->stream);
    copy_rows(kept.data(), m.value_bytes, m.data,
              static_cast<std::size_t>(m.stride) * m.value_bytes, m.value_bytes, m.rows, m.where,
              o.desc->stream);
    m.data = kept.data();
  }
  std::swap(m.rows, m.columns);
  m.stride = m.columns;
}

/// The operation that computes T: before T joins C, it has the type in which they join.
operation for_t(const operation& o) {
  operation out = o;
  out.out_type = o.t_type();
  out.out_bytes = o.t_bytes();
  return out;
}

/// A result of `o` as an operand.
sparse_operand view_of(const sparse_result& from, const operation& o) {
  sparse_operand out = view(*from.structure);
  out.values = from.is_iso ? nullptr : from.values.data();
  __builtin_memcpy(out.iso, from.iso, sizeof(out.iso));
  out.value_bytes = o.out_bytes;
  out.value_type = o.out_type;
  return out;
}

/// What a merge takes where the mask allows, by who has an entry; what stays of X elsewhere.
constexpr merge_rules rules_of(take x, take y, take both, take outside_region, take outside_mask) {
  merge_rules out{};
  for (unsigned state = 0; state < out.size(); ++state) {
    const bool in_x = state & 1, in_y = state & 2, is_allowed = state & 4, in_region = state & 8;
    if (!is_allowed)
      out[state] = in_x ? outside_mask : take::nothing;
    else if (!in_region)
      out[state] = in_x ? outside_region : take::nothing;
    else
      out[state] = in_x && in_y ? both : in_x ? x : in_y ? y : take::nothing;
  }
  return out;
}
constexpr merge_rules only_x =
    rules_of(take::x, take::nothing, take::nothing, take::nothing, take::nothing);

sparse_result merged(const operation& o) {
  const take one = o.is_union ? take::x : take::nothing,
             other = o.is_union ? take::y : take::nothing;
  return steps_of(o).merge({o, &o.x.sparse, &o.y.sparse,
                            rules_of(one, other, take::both, take::nothing, take::nothing), o.op,
                            o.code});
}

/// An iso operand with one entry, whose value is in the host's memory.
sparse_operand one_entry(const sparse_operand& x) {
  sparse_operand out = x;
  out.nnz = 1;
  return out;
}

/// Makes a result iso, with the value that a map of one entry has on the CPU.
void set_iso(sparse_result& out, const map_step& of_one) {
  const buffer value = backend_of(cpu()).map(of_one);
  __builtin_memcpy(out.iso, value.data(), value.bytes());
  out.is_iso = true;
}

sparse_result mapped(const operation& o) {
  const sparse_operand& x = o.x.sparse;
  sparse_result out;
  out.structure = o.x.structure;
  if (x.values == nullptr && !o.op->reads_positions && o.y_by == broadcast::absent) {
    const sparse_operand one = one_entry(x);
    set_iso(out, map_of(o, one, o.out_type, o.out_bytes));
  } else {
    out.values = steps_of(o).map(map_of(o, x, o.out_type, o.out_bytes));
  }
  return out;
}

/// The one value of a result whose operand is iso.
void convert_iso(const operation& o, sparse_result& out) {
  const sparse_operand one = one_entry(o.x.sparse);
  map_step m{o, &one, &converting(o), static_cast<unsigned char>(binary::first)};
  m.y = {nullptr, one.iso, nullptr, false, one.value_type, 0};
  m.out_type = o.out_type;
  m.out_bytes = o.out_bytes;
  set_iso(out, m);
}

sparse_result selected(const operation& o, intermediates& kept) {
  kept.keep = steps_of(o).map(map_of(o, o.x.sparse, type::boolean, 1));
  const bool is_iso = o.x.sparse.values == nullptr;
  merge_step m{o, &o.x.sparse, nullptr, only_x, is_iso ? nullptr : &converting(o)};
  m.keep = kept.keep.data<bool>();
  sparse_result out = steps_of(o).merge(m);
  if (is_iso) convert_iso(o, out);
  return out;
}

sparse_result moved(const operation& o) {
  const backend& by = steps_of(o);
  const rearranged made = o.what == kind::extract     ? by.extract(o)
                          : o.what == kind::sample    ? by.sample(o)
                          : o.what == kind::kronecker ? by.kronecker(o)
                          : o.what == kind::diagonal  ? by.diagonal(o)
                                                      : by.from_diagonal(o);
  sparse_result out;
  out.structure = made.structure;
  if (o.what != kind::kronecker && o.x.sparse.values == nullptr)
    convert_iso(o, out);
  else
    out.values = by.values(o, made, o.what == kind::kronecker ? *o.op : converting(o));
  return out;
}

/// Whether the mask has a flag for each entry of X, in the order of X.
bool has_flags_of(const mask_operand& mask, const sparse_operand& x) {
  const sparse_operand& m = mask.sparse;
  return mask.over == mask_operand::kind::matrix && !mask.structural && !mask.complemented &&
         m.value_type == type::boolean && m.values != nullptr && m.permutation == nullptr &&
         m.offsets == x.offsets && m.entries == x.entries && m.nnz == x.nnz;
}

/// The entries of T that the mask allows.
sparse_result restricted(const operation& o, const sparse_result& t) {
  const sparse_operand x = view_of(t, o);
  operation by_flags = o;
  if (has_flags_of(o.mask, x)) by_flags.mask = {};
  merge_step m{by_flags, &x, nullptr, only_x, t.is_iso ? nullptr : &copying()};
  if (!by_flags.mask.is_there()) m.keep = static_cast<const bool*>(o.mask.sparse.values);
  sparse_result out = steps_of(o).merge(m);
  out.is_iso = t.is_iso;
  __builtin_memcpy(out.iso, t.iso, sizeof(out.iso));
  return out;
}

/// Whether a merge by the operator leaves values of this type as they are.
bool keeps_values(const operator_info& by, type stored) {
  const bool is_short = stored == type::half || stored == type::bfloat16;
  return by.kind != operator_kind::multiply && by.result != type::other &&
         (by.result == stored || (is_short && by.result == type::float32));
}

/// Sets kept.summed to T in C's type, with C ⊙ T where C has an entry too. A merge with C would
/// convert C's other entries.
void add_sums(const operation& o, const sparse_result& t, intermediates& kept) {
  operation of_all = o;
  of_all.mask = {};
  using enum take;
  const sparse_operand of_t = view_of(t, for_t(o));
  kept.sums = steps_of(o).merge({of_all, &o.c.sparse, &of_t,
                                 rules_of(nothing, nothing, both, nothing, nothing), o.accumulates,
                                 o.accumulates_code});
  const sparse_operand of_sums = view_of(kept.sums, o);
  kept.summed = steps_of(o).merge(
      {of_all, &of_t, &of_sums, rules_of(x, nothing, y, nothing, nothing), &converting(o)});
}

/// C⟨mask, replace⟩ = C ⊙ T. Without an accumulator, entries of C in the region that T lacks go.
sparse_result joined(const operation& o, const sparse_result& t, const assigned_region& region,
                     intermediates& kept) {
  const bool accumulates = o.accum != accumulator::none;
  const bool has_sums = accumulates && !keeps_values(*o.accumulates, o.out_type);
  if (has_sums) add_sums(o, t, kept);
  const bool joins = accumulates && !has_sums;
  using enum take;
  const merge_rules rules =
      rules_of(accumulates ? x : nothing, y, joins ? both : y, x, o.desc->replace ? nothing : x);
  const sparse_operand of_t = has_sums ? view_of(kept.summed, o) : view_of(t, for_t(o));
  merge_step m{
      o, &o.c.sparse, &of_t, rules, joins ? o.accumulates : &copying(), o.accumulates_code};
  m.region_rows = region.rows.data<bool>();
  m.region_columns = region.columns.data<bool>();
  return steps_of(o).merge(m);
}

sparse_result assigned(const operation& o, intermediates& kept) {
  const backend& by = steps_of(o);
  kept.region = by.region(o);
  if (o.x.what != operand::kind::absent) {
    kept.t = by.placed(for_t(o));
  } else {
    kept.t.structure = by.fill_region(o, kept.region);
    operation of_scalar = for_t(o);
    of_scalar.x.sparse.value_type = o.scalar_type;
    __builtin_memcpy(of_scalar.x.sparse.iso, o.scalar, o.scalar_bytes);
    convert_iso(of_scalar, kept.t);
  }
  return joined(o, kept.t, kept.region, kept);
}

/// T of `build`. What a logical operator combines is 0 or 1, a value without a partner too.
sparse_result built(const operation& o) {
  sparse_result out = steps_of(o).placed(o);
  const auto op = static_cast<binary>(o.accumulates_code);
  const bool is_logical =
      o.accum != accumulator::none && (op == binary::logical_or || op == binary::logical_and);
  if (!is_logical || o.out_type == type::boolean) return out;
  static constexpr unsigned char zero[16] = {};
  const sparse_operand x = view_of(out, o);
  map_step m{o, &x, o.accumulates, static_cast<unsigned char>(binary::logical_or)};
  m.y = {nullptr, zero, nullptr, false, o.out_type, o.out_bytes};
  m.out_type = o.out_type;
  m.out_bytes = o.out_bytes;
  out.values = steps_of(o).map(m);
  return out;
}

/// T, before the mask except in merges, selections and products.
sparse_result compute(const operation& o, intermediates& kept) {
  switch (o.what) {
    case kind::merge:
      return merged(o);
    case kind::map:
      return mapped(o);
    case kind::select:
      return selected(o, kept);
    case kind::reduce_rows:
      return steps_of(o).reduce_rows(o);
    case kind::build:
      return built(o);
    case kind::product:
      return multiply(o, kept.product);
    default:
      return moved(o);
  }
}

void transpose_operands(operation& o) {
  if (o.what == kind::product) {  // its kernels read Y by rows or by columns
    if (o.desc->transpose_a && o.x.what == operand::kind::sparse && !o.x.is_vector)
      transpose(o, o.x);
    return;
  }
  // Beside a dense first operand, X is the second one.
  const bool is_swapped = o.scalar_first && o.y.what == operand::kind::dense;
  const bool of_x = is_swapped ? o.desc->transpose_b : o.desc->transpose_a,
             of_y = is_swapped ? o.desc->transpose_a : o.desc->transpose_b;
  if (of_y && o.y.what == operand::kind::dense) refuse_turned_dense(o);
  if (of_x && o.x.what == operand::kind::sparse) transpose(o, o.x);
  if (of_y && o.y.what == operand::kind::sparse) transpose(o, o.y);
}

}  // namespace

/// The map of entries by the operation's operator.
map_step map_of(const operation& o, const sparse_operand& x, type out_type, std::size_t out_bytes) {
  map_step m{o, &x, o.op, o.code};
  m.y_by = o.y_by;
  m.y = o.y_by == broadcast::absent ? scalar_of(o) : source_of(o.y.full);
  m.y_stride = o.y.full.stride;
  m.y_first = o.scalar_first;
  m.out_type = out_type;
  m.out_bytes = out_bytes;
  return m;
}

std::shared_ptr<const pattern> full_row(index columns, place where) {
  const descriptor plain;
  operation o{"vector", kind::assign};
  o.c.sparse.rows = 1;
  o.c.sparse.columns = columns;
  o.c.sparse.where = where;
  o.desc = &plain;
  const in_order order(o);  // another device may be current
  order.refuse_capture(o);
  return steps_of(o).fill_region(o, {});
}

namespace {

/// The checks before streams are ordered, and those after it, with the operands as they are read.
void check_first(const operation& o) {
  if (o.desc->fill.has_value())
    fail(errc::cannot, {o.name, ": fill is ", o.desc->fill.in_words(),
                        ", and a sparse result has no fill; leave fill unset"});
  check_descriptor(o);
  check_places(o);
}
/// Whether T has the places of X, or of the mask, so that its kernel waits for nothing.
bool has_known_places(const operation& o) {
  if (!o.creates_result) return false;
  if (o.what == kind::map) return !o.mask.is_there();
  return o.what == kind::product && o.x.what == operand::kind::dense && o.mask.structural &&
         o.mask.over == mask_operand::kind::matrix && !o.mask.complemented &&
         o.shape_of_x().columns > 0;
}
void orient(operation& o, const in_order& order, intermediates& kept) {
  if (!has_known_places(o)) order.refuse_capture(o);
  turn_mask(o, kept.mask);
  transpose_operands(o);
  check_indices(o);
  check_shapes(o);
}

}  // namespace

explanation explain(operation& o) {
  check_first(o);
  intermediates kept;
  const in_order order(o);
  orient(o, order, kept);
  return explain_product(o);
}

sparse_result run_sparse(operation& o) {
  check_first(o);
  intermediates kept;
  timed_call line;
  const in_order order(o);
  orient(o, order, kept);
  line.begin(o.where(), order.is_captured(), [&] { return traced_words(o, kept.product.ran); });
  if (o.what == kind::assign) return assigned(o, kept);
  sparse_result t = compute(for_t(o), kept);
  const bool is_masked = !o.mask.is_there() || o.what == kind::merge || o.what == kind::select ||
                         o.what == kind::product;
  if (is_masked && (o.creates_result || (!o.mask.is_there() && o.accum == accumulator::none)))
    return t;
  kept.t = std::move(t);
  return o.creates_result ? restricted(o, kept.t) : joined(o, kept.t, {}, kept);
}

void run_reduce(operation& o, void* out) {
  check_descriptor(o);
  check_places(o);
  timed_call line;
  const in_order order(o);
  order.refuse_capture(o);
  transpose_operands(o);
  line.begin(o.where(), false, [&] { return traced_words(o, nullptr); });
  steps_of(o).reduce(o, out);
}

}  // namespace rig
