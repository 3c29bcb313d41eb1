// Hop 1 of the operations other than products: checks one, computes its result T, and joins T with
// the previous content of C.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "call/steps.hpp"
#include "call/vector_mask.hpp"
#include "cuda/runtime/device.hpp"

namespace rig {

int64 index_list::size(index of_all) const {
  switch (what) {
    case kind::all:
      return of_all;
    case kind::list:
      return count;
    case kind::range:
      break;
  }
  const int64 span = static_cast<int64>(last) - first, by = step;
  return by == 0 || (span > 0) != (by > 0) ? 0 : (span + by - (by > 0 ? 1 : -1)) / by;
}

namespace {

using kind = operation::kind;

/// The steps where an operation's operands are.
const operation_steps& steps_of(const operation& o) {
  return o.where() == cpu() ? on_cpu::steps : on_cuda::steps;
}

bool has_mask(const operation& o) { return o.mask.over != mask_operand::kind::absent; }

std::string shape(index rows, index columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

/// Throws error(range) if a product of lengths is no number of rows or columns.
index length(const operation& o, const char* what, int64 n) {
  if (n > highest<index>())
    fail(errc::range, {o.name, ": the result has ", n, " ", what, "; at most 2147483647 fit"});
  return static_cast<index>(n);
}

/// The shape of T, and so of C and the mask.
result_shape shape_of_result(const operation& o) {
  const index rows = o.x.rows(), columns = o.x.columns();
  switch (o.what) {
    case kind::merge:
    case kind::select:
      break;
    case kind::map:
      if (o.x.what == operand::kind::absent) return {o.c.rows(), o.c.columns()};
      break;
    case kind::spread:
      if (o.x.is_vector) return {columns, 1};
      break;
    case kind::reduce_rows:
      if (o.x.what == operand::kind::dense) return {o.desc->transpose_a ? columns : rows, 1};
      return {1, rows};
    case kind::extract:
      return {length(o, "rows", o.rows.size(rows)), length(o, "columns", o.columns.size(columns))};
    case kind::build:
    case kind::assign:
      return {o.c.rows(), o.c.columns()};
    case kind::kronecker:
      return {length(o, "rows", int64{rows} * o.y.rows()),
              length(o, "columns", int64{columns} * o.y.columns())};
    case kind::diagonal: {
      const index n = length(o, "rows", int64{columns} + std::abs(int64{o.diagonal}));
      return {n, n};
    }
    case kind::from_diagonal: {
      const int64 down = std::max(-int64{o.diagonal}, int64{0}), right = std::max(o.diagonal, 0);
      return {1, static_cast<index>(std::max(int64{0}, std::min(rows - down, columns - right)))};
    }
  }
  return {rows, columns};
}

const char* plural(int64 count) { return count == 1 ? "" : "s"; }

void check_list(const operation& o, const char* what, const index_list& given, index limit) {
  if (given.what == index_list::kind::all) return;
  const int64 count = given.size(limit);
  const auto expect_inside = [&](int64 number, index given_here) {
    if (given_here < 0 || given_here >= limit)
      fail(errc::range, {o.name, ": ", what, " ", given_here, ", number ", number,
                         " of the list, is outside 0 … ", limit - 1});
  };
  if (given.what == index_list::kind::list) {
    const wrong_index wrong = steps_of(o).find_outside(o, given, limit);
    if (wrong.number < count) expect_inside(wrong.number, wrong.value);
  } else if (count > 0) {  // a range is monotone
    expect_inside(0, given[0]);
    expect_inside(count - 1, given[count - 1]);
  }
}

void check_indices(const operation& o) {
  if (o.what != kind::extract && o.what != kind::assign && o.what != kind::build) return;
  const operand& indexed = o.what == kind::extract ? o.x : o.c;
  const bool builds_row = o.what == kind::build && o.rows.step == 0;
  for (const index_list* list : {&o.rows, &o.columns})
    if (list->what == index_list::kind::range && list->step == 0 &&
        !(builds_row && list == &o.rows))
      fail(errc::range, {o.name, ": a range from ", list->first, " to ", list->last,
                         " has step 0; give another step"});
  check_list(o, "row", o.rows, indexed.rows());
  check_list(o, "column", o.columns, indexed.columns());
  if (o.what == kind::extract || o.x.what == operand::kind::absent) return;
  const int64 rows = o.rows.size(o.c.rows()), columns = o.columns.size(o.c.columns());
  if (o.what == kind::build) {
    if ((rows != o.x.rows() && !builds_row) || columns != o.x.rows())
      fail(errc::shape, {o.name, ": there are ", o.x.rows(), " value", plural(o.x.rows()), ", ",
                         rows, " row", plural(rows), " and ", columns, " column", plural(columns),
                         "; give one of each per tuple"});
    return;
  }
  if (rows != o.x.rows() || columns != o.x.columns())
    fail(errc::shape, {o.name, ": the lists name ", rows, " rows and ", columns,
                       " columns, but the operand is ", shape(o.x.rows(), o.x.columns())});
}

void check_shapes(const operation& o) {
  const bool is_column = o.x.is_vector && o.y.what == operand::kind::dense;
  const index rows = is_column ? o.x.columns() : o.x.rows(),
              columns = is_column ? 1 : o.x.columns();
  const bool has_pair = o.what == kind::merge || o.y_by == broadcast::places || is_column;
  if (has_pair && o.y.what != operand::kind::absent &&
      (o.y.rows() != rows || o.y.columns() != columns))
    fail(errc::shape, {o.name, ": the first operand is ", shape(rows, columns), ", the second ",
                       shape(o.y.rows(), o.y.columns())});
  const result_shape result = shape_of_result(o);
  const auto expect = [&](const char* what, index rows, index columns) {
    if (rows != result.rows || columns != result.columns)
      fail(errc::shape, {o.name, ": the result is ", shape(result.rows, result.columns), ", but ",
                         what, " is ", shape(rows, columns)});
  };
  if (o.mask.over == mask_operand::kind::matrix)
    expect("the mask", o.mask.sparse.rows, o.mask.sparse.columns);
  if (o.mask.over == mask_operand::kind::dense)
    expect("the mask", o.mask.full.rows, o.mask.full.columns);
  if (!o.creates_result) expect("C", o.c.rows(), o.c.columns());
}

void check_places(const operation& o) {
  const bool has_x = o.x.what != operand::kind::absent;
  const place first = o.where();
  const auto expect = [&](const char* what, place where) {
    if (where != first)
      fail(errc::place,
           {o.name, ": ", has_x ? "the first operand" : "C", " is on ", to_string(first), ", ",
            what, " is on ", to_string(where), "; copy one with .to()"});
  };
  if (o.y.what != operand::kind::absent) expect("the second operand", o.y.where());
  if (o.mask.over == mask_operand::kind::matrix) expect("the mask", o.mask.sparse.where);
  if (o.mask.over == mask_operand::kind::dense) expect("the mask", o.mask.full.where);
  if (!o.creates_result) expect("C", o.c.where());
  const auto expect_list = [&](const char* what, const index_list& list) {
    // A list in the host's memory serves every place.
    if (list.what == index_list::kind::list && list.where != cpu()) expect(what, list.where);
  };
  expect_list("the list of rows", o.rows);
  expect_list("the list of columns", o.columns);
}

void check_descriptor(const operation& o) {
  check_enum(o.name, "accumulator", o.accum, accumulator::logical_and);
  if (o.accum != accumulator::none && o.accumulates == nullptr)
    fail(errc::cannot,
         {o.name,
          ": no operator accumulates here: accumulator::own needs an operation of two "
          "operands, and elements of your own type need accumulator::own"});
  if (o.desc->threads < 0)
    fail(errc::range,
         {o.name, ": threads is ", o.desc->threads, "; set a number, or 0 for the default"});
  if (!o.desc->kernel.empty())
    fail(errc::unknown_kernel,
         {o.name, ": the descriptor names kernel '", o.desc->kernel,
          "', but this operation has no kernels to choose from; leave it unset"});
}

/// Memory of C's shape, with packed rows.
struct dense_room {
  buffer memory;
  dense_operand full;
};

/// Memory that the steps of one operation pass on. It outlives the order of streams, so that it is
/// freed after the work that reads it.
struct intermediates {
  buffer mask, keep;
  assigned_region region;
  sparse_result t;
  dense_room t_dense, apart;
};

/// Orders the streams of a device's operation; does nothing on the CPU.
class in_order {
 public:
  explicit in_order(const operation& o) {
    if (o.where() == cpu()) return;
    order_.emplace(
        o.where().device, o.desc->stream, o.name,
        std::initializer_list<void*>{o.x.sparse.stream, o.x.sparse.values_stream, o.x.full.stream,
                                     o.y.sparse.stream, o.y.sparse.values_stream, o.y.full.stream,
                                     o.c.sparse.stream, o.c.sparse.values_stream, o.c.full.stream,
                                     o.mask.sparse.stream, o.mask.sparse.values_stream,
                                     o.mask.full.stream, o.rows.stream, o.columns.stream});
  }
  /// Throws for a captured call that waits for the device.
  void refuse_capture(const operation& o) const {
    if (order_ && order_->is_captured())
      fail(errc::cannot, {o.name,
                          ": the call waits for the device, so its stream cannot be "
                          "captured in a CUDA graph; call it outside the capture"});
  }

 private:
  std::optional<on_cuda::stream_order> order_;
};

void transpose(const operation& o, operand& x) {
  if (x.is_vector)
    fail(errc::cannot, {o.name, ": a vector is not transposed; leave transpose_a and _b unset"});
  const auto flipped = x.structure->derived_of<transposed>();
  const pattern& s = *flipped->structure;
  x.sparse.rows = s.rows();
  x.sparse.columns = s.columns();
  x.sparse.offsets = s.offsets();
  x.sparse.entries = s.column_indices();
  x.sparse.offsets_64 = s.offsets_64();
  if (x.sparse.values != nullptr) x.sparse.permutation = flipped->permutation.data();
  // Shares the ownership of the derived structure, whose permutation the values need.
  x.structure = std::shared_ptr<const pattern>(flipped, &s);
}

/// An n×1 dense masks a vector as a row.
void turn_mask(operation& o, buffer& kept) {
  dense_operand& m = o.mask.full;
  if (!o.yields_vector || o.mask.over != mask_operand::kind::dense || m.columns != 1) return;
  if (m.stride != 1 && m.rows > 1) {
    kept =
        buffer::allocate(static_cast<std::size_t>(m.rows) * m.value_bytes, m.where, o.desc->stream);
    copy_rows(kept.data(), m.value_bytes, m.data,
              static_cast<std::size_t>(m.stride) * m.value_bytes, m.value_bytes, m.rows, m.where,
              o.desc->stream);
    m.data = kept.data();
  }
  std::swap(m.rows, m.columns);
  m.stride = m.columns;
}

sparse_operand view_of(const sparse_result& from, const operation& o) {
  sparse_operand out;
  const pattern& s = *from.structure;
  out.rows = s.rows();
  out.columns = s.columns();
  out.nnz = s.nnz();
  out.offsets = s.offsets();
  out.entries = s.column_indices();
  out.offsets_64 = s.offsets_64();
  out.values = from.is_iso ? nullptr : from.values.data();
  __builtin_memcpy(out.iso, from.iso, sizeof(out.iso));
  out.value_bytes = o.out_bytes;
  out.value_type = o.out_type;
  out.where = s.where();
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

merge_step merge_of(const operation& o, const sparse_operand* x, const sparse_operand* y,
                    const merge_rules& rules, const operator_info* op, unsigned char code = 0) {
  return {o, x, y, rules, op, code};
}

sparse_result merged(const operation& o) {
  const take one = o.is_union ? take::x : take::nothing,
             other = o.is_union ? take::y : take::nothing;
  return steps_of(o).merge(merge_of(o, &o.x.sparse, &o.y.sparse,
                                    rules_of(one, other, take::both, take::nothing, take::nothing),
                                    o.op, o.code));
}

/// The map of entries by the operation's operator.
map_step map_of(const operation& o, const sparse_operand& x, type out_type, std::size_t out_bytes) {
  map_step m{o, &x, o.op, o.code};
  m.y_by = o.y_by;
  m.y = o.y_by == broadcast::none ? scalar_of(o) : source_of(o.y.full);
  m.y_stride = o.y.full.stride;
  m.y_first = o.scalar_first;
  m.out_type = out_type;
  m.out_bytes = out_bytes;
  return m;
}

/// An iso operand with one entry, whose value is in the host's memory.
sparse_operand one_entry(const sparse_operand& x) {
  sparse_operand out = x;
  out.nnz = 1;
  return out;
}

/// Makes a result iso, with the value that a map of one entry has on the CPU.
void set_iso(sparse_result& out, const map_step& of_one) {
  const buffer value = on_cpu::steps.map(of_one);
  __builtin_memcpy(out.iso, value.data(), value.bytes());
  out.is_iso = true;
}

sparse_result mapped(const operation& o) {
  const sparse_operand& x = o.x.sparse;
  sparse_result out;
  out.structure = o.x.structure;
  if (x.values == nullptr && !o.op->reads_positions && o.y_by == broadcast::none) {
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
  merge_step m = merge_of(o, &o.x.sparse, nullptr, only_x, is_iso ? nullptr : &converting(o));
  m.keep = kept.keep.data<bool>();
  sparse_result out = steps_of(o).merge(m);
  if (is_iso) convert_iso(o, out);
  return out;
}

sparse_result moved(const operation& o) {
  const operation_steps& by = steps_of(o);
  const rearranged made = o.what == kind::extract     ? by.extract(o)
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

/// The entries of T that the mask allows.
sparse_result restricted(const operation& o, const sparse_result& t) {
  const sparse_operand x = view_of(t, o);
  sparse_result out =
      steps_of(o).merge(merge_of(o, &x, nullptr, only_x, t.is_iso ? nullptr : &copying()));
  out.is_iso = t.is_iso;
  __builtin_memcpy(out.iso, t.iso, sizeof(out.iso));
  return out;
}

/// C⟨mask, replace⟩ = C ⊙ T. Without an accumulator, entries of C in the region that T lacks go.
sparse_result joined(const operation& o, const sparse_result& t, const assigned_region& region) {
  const bool accumulates = o.accum != accumulator::none;
  using enum take;
  const merge_rules rules = rules_of(accumulates ? x : nothing, y, accumulates ? both : y, x,
                                     o.desc->replace ? nothing : x);
  const sparse_operand of_t = view_of(t, o);
  merge_step m = merge_of(o, &o.c.sparse, &of_t, rules, accumulates ? o.accumulates : &copying(),
                          o.accumulates_code);
  m.region_rows = region.rows.data<bool>();
  m.region_columns = region.columns.data<bool>();
  return steps_of(o).merge(m);
}

sparse_result assigned(const operation& o, intermediates& kept) {
  const operation_steps& by = steps_of(o);
  kept.region = by.region(o);
  if (o.x.what != operand::kind::absent) {
    kept.t = by.placed(o);
  } else {
    kept.t.structure = by.fill_region(o, kept.region);
    kept.t.is_iso = true;
    __builtin_memcpy(kept.t.iso, o.scalar, o.out_bytes);
  }
  return joined(o, kept.t, kept.region);
}

/// T, before the mask except in merges.
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
      return steps_of(o).placed(o);
    default:
      return moved(o);
  }
}

/// Whether two dense operands share memory.
bool overlaps(const dense_operand& c, const dense_operand& other) {
  if (other.data == nullptr || c.data == nullptr) return false;
  const auto* const c_begin = static_cast<const char*>(c.data);
  const auto* const begin = static_cast<const char*>(other.data);
  return c_begin + c.extent() > begin && begin + other.extent() > c_begin;
}
/// The same, other than element by element.
bool overlaps_askew(const dense_operand& c, const dense_operand& other) {
  const bool is_same =
      c.data == other.data && c.stride == other.stride && c.value_bytes == other.value_bytes;
  return !is_same && overlaps(c, other);
}

void copy(const dense_operand& from, const dense_operand& to, void* stream) {
  copy_rows(to.data, static_cast<std::size_t>(to.stride) * to.value_bytes, from.data,
            static_cast<std::size_t>(from.stride) * from.value_bytes,
            static_cast<std::size_t>(from.columns) * from.value_bytes, from.rows, from.where,
            stream);
}

dense_room room_like_c(const operation& o) {
  dense_room out{{}, o.c.full};
  out.full.stride = o.c.full.columns;
  out.memory = buffer::allocate(out.full.extent(), out.full.where, o.desc->stream);
  out.full.data = out.memory.data();
  return out;
}

/// T = Y, or the scalar everywhere.
void fill(const operation& o, const dense_operand& t) {
  operation base = o;
  base.what = kind::map;
  base.x = o.y;
  base.y = {};
  base.op = &unchanged(o);
  base.code = static_cast<unsigned char>(unary::identity);
  base.scalar_first = false;
  base.creates_result = true;
  base.accum = accumulator::none;
  base.mask = {};
  base.c.full = t;
  steps_of(o).dense(base);
}

/// T of `spread`: Y or the scalar everywhere, then the entries of X joined with it.
void spread(const operation& o, const dense_operand& t) {
  fill(o, t);
  map_step m = map_of(o, o.x.sparse, o.out_type, o.out_bytes);
  m.into = &t;
  m.into_by = o.x.is_vector ? broadcast::columns : broadcast::places;
  steps_of(o).map(m);
}

/// T of an operation that is not element by element.
void compute_dense(const operation& o, const dense_operand& t) {
  switch (o.what) {
    case kind::reduce_rows:
      if ((o.desc->transpose_a ? o.x.rows() : o.x.columns()) == 0) return fill(o, t);
      return steps_of(o).fold_dense(o, t);
    case kind::extract:
      return steps_of(o).extract_dense(o, t);
    case kind::assign:
      return steps_of(o).placed_dense(o, t);
    default:
      return spread(o, t);
  }
}

/// Whether T can be computed in C's memory.
bool fits_in_c(const operation& o) {
  return o.what != kind::assign && !has_mask(o) && o.accum == accumulator::none &&
         !overlaps(o.c.full, o.x.full) && !overlaps(o.c.full, o.y.full);
}

/// Computes T, and makes the operation the one that joins it with C.
void set_t(operation& o, intermediates& kept) {
  if (o.what == kind::assign) {
    kept.region = steps_of(o).region(o);
    o.region_rows = kept.region.rows.data<bool>();
    o.region_columns = kept.region.columns.data<bool>();
  }
  if (o.what != kind::assign || o.x.what != operand::kind::absent) {
    kept.t_dense = room_like_c(o);
    compute_dense(o, kept.t_dense.full);
    o.x = {};
    o.x.what = operand::kind::dense;
    o.x.full = kept.t_dense.full;
  }
  o.what = kind::map;
  o.y = {};
  o.op = &unchanged(o);
  o.code = static_cast<unsigned char>(unary::identity);
  o.scalar_first = false;
}

void transpose_operands(operation& o) {
  if (o.desc->transpose_a && o.x.what == operand::kind::sparse) transpose(o, o.x);
  if (o.desc->transpose_b && o.y.what == operand::kind::sparse) transpose(o, o.y);
}

}  // namespace

const operator_info& unchanged(const operation& o) {
  return o.out_type == type::other ? copying() : builtin_unary(o.out_type);
}

std::shared_ptr<const pattern> full_row(index columns, place where) {
  const descriptor plain;
  operation o{"vector", kind::assign};
  o.c.sparse.rows = 1;
  o.c.sparse.columns = columns;
  o.c.sparse.where = where;
  o.desc = &plain;
  return steps_of(o).fill_region(o, {});
}

sparse_result run_sparse(operation& o) {
  if (o.desc->fill.has_value())
    fail(errc::cannot, {o.name, ": a sparse result has no fill; leave fill unset"});
  check_descriptor(o);
  check_places(o);
  intermediates kept;
  const in_order order(o);
  order.refuse_capture(o);
  turn_mask(o, kept.mask);
  transpose_operands(o);
  check_indices(o);
  check_shapes(o);
  if (o.what == kind::assign) return assigned(o, kept);
  sparse_result t = compute(o, kept);
  const bool is_masked = !has_mask(o) || o.what == kind::merge || o.what == kind::select;
  if (is_masked && (o.creates_result || (!has_mask(o) && o.accum == accumulator::none))) return t;
  kept.t = std::move(t);
  return o.creates_result ? restricted(o, kept.t) : joined(o, kept.t, {});
}

void run_reduce(operation& o, void* out) {
  check_descriptor(o);
  check_places(o);
  const in_order order(o);
  order.refuse_capture(o);
  transpose_operands(o);
  steps_of(o).reduce(o, out);
}

result_shape check_dense(operation& o) {
  if ((o.desc->transpose_a && o.what != kind::reduce_rows) || o.desc->transpose_b)
    fail(errc::cannot, {o.name, ": an operand is dense, which this operation does not transpose"});
  check_descriptor(o);
  check_places(o);
  if (o.mask.is_vector && shape_of_result(o).columns == 1) as_column(o.mask);
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
  intermediates kept;
  const in_order order(o);
  const bool is_given = o.what == kind::merge || o.what == kind::map;
  if (o.what == kind::assign && o.x.what != operand::kind::absent) order.refuse_capture(o);
  if (!is_given && fits_in_c(o)) return compute_dense(o, o.c.full);
  operation joined = o;
  if (!is_given) set_t(joined, kept);
  dense_operand& c = joined.c.full;
  if (!overlaps_askew(c, joined.x.full) && !overlaps_askew(c, joined.y.full) &&
      !overlaps_askew(c, joined.mask.full))
    return steps_of(o).dense(joined);
  kept.apart = room_like_c(o);
  c = kept.apart.full;
  copy(o.c.full, c, o.desc->stream);
  steps_of(o).dense(joined);
  copy(c, o.c.full, o.desc->stream);
}

}  // namespace rig
