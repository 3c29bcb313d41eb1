// Hop 1 of the operations other than products: the checks.

#include <algorithm>
#include <string>

#include "call/checked_operation.hpp"
#include "call/checks.hpp"
#include "rig/rearrange.hpp"
#include "storage/integers.hpp"

namespace rig {

std::shared_ptr<const std::vector<index>> narrowed(const integers& list) {
  return or_out_of_memory("a list of indices", [&] {
    auto out = std::make_shared<std::vector<index>>(list.size());
    with_type(list, [&](const auto& all) {
      for (std::size_t p = 0; p < all.size; ++p)
        (*out)[p] = std::in_range<index>(all[p]) ? static_cast<index>(all[p]) : -1;
    });
    return out;
  });
}

int64 index_list::size(index of_all) const {
  switch (what) {
    case kind::all:
      return of_all;
    case kind::list:
    case kind::same:
      return count;
    case kind::range:
      break;
  }
  const int64 span = static_cast<int64>(last) - first, by = step;
  return by == 0 || (span > 0) != (by > 0) ? 0 : (span + by - (by > 0 ? 1 : -1)) / by;
}

namespace {

using kind = operation::kind;

/// Throws error(range) if a product of lengths is no number of rows or columns.
index length(const operation& o, const char* what, int64 n) {
  if (n > highest<index>())
    fail(errc::range, {o.name, ": the result has ", n, " ", what, "; at most 2147483647 fit"});
  return static_cast<index>(n);
}

}  // namespace

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
      if (o.x.what == operand::kind::dense) return {o.shape_of_x().rows, 1};
      return {1, rows};
    case kind::extract:
    case kind::sample:
      return {length(o, "rows", o.rows.size(o.shape_of_x().rows)),
              length(o, "columns", o.columns.size(o.shape_of_x().columns))};
    case kind::build:
    case kind::assign:
      return {o.c.rows(), o.c.columns()};
    case kind::product:
      return {o.shape_of_x().rows, o.y_transposed ? o.y.rows() : o.y.columns()};
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

namespace {

const char* plural(int64 count) { return count == 1 ? "" : "s"; }

/// The indices that a dimension of `limit` rows or columns has, for messages.
std::string indices_below(index limit) {
  return limit == 0 ? "an empty dimension" : "0 … " + std::to_string(limit - 1);
}

void check_list(const operation& o, const char* what, const index_list& given, index limit) {
  if (given.what == index_list::kind::all) return;
  const int64 count = given.size(limit);
  if (given.what == index_list::kind::list) {
    const wrong_index wrong = backend_of(given.where).find_outside(o, given, limit);
    if (wrong.number >= count) return;
    const auto refuse = [&](const message_piece& value) {
      fail(errc::range, {o.name, ": ", what, " ", value, ", number ", wrong.number,
                         " of the list, is outside ", indices_below(limit)});
    };
    if (!given.given) refuse(wrong.value);
    with_type(*given.given, [&](const auto& all) { refuse(all[size(wrong.number)]); });
  }
  if (count == 0) return;
  for (const index end : {given[0], given[count - 1]})  // a range is monotone
    if (end < 0 || end >= limit)
      fail(errc::range, {o.name, ": the range {", given.first, ", ", given.last, ", ", given.step,
                         "} names ", what, " ", end, ", which is outside ", indices_below(limit),
                         "; a range {first, last} leaves out last"});
}

/// Shapes of X and Y, which a call may have swapped.
[[noreturn]] void fail_pair(const operation& o, const std::string& x, const std::string& y) {
  const bool is_swapped = o.scalar_first;
  fail(errc::shape, {o.name, ": the first operand is ", is_swapped ? y : x, ", the second ",
                     is_swapped ? x : y});
}

/// Throws unless the inner dimensions of a product are alike.
void check_product(const operation& o) {
  const bool is_turned = o.turns_x();
  const index inner = o.shape_of_x().columns;
  const std::string y = shape_text(o.y.rows(), o.y.columns());
  if (inner == (o.y_transposed ? o.y.columns() : o.y.rows())) return;
  if (o.product->flips_positions)
    fail(errc::shape, {o.name, ": A is ", y, o.y_transposed ? "" : ", transposed", ", u has ",
                       inner, " places"});
  fail(errc::shape,
       {o.name, ": the first operand is ", shape_text(o.x.rows(), o.x.columns()),
        is_turned ? ", transposed" : "", ", the second ", y, o.y_transposed ? ", transposed" : "",
        "; the first has ", inner, " columns, the second ",
        o.y_transposed ? o.y.columns() : o.y.rows(), " rows"});
}

}  // namespace

void check_indices(const operation& o) {
  const bool is_part = o.what == kind::extract || o.what == kind::sample;
  if (!is_part && o.what != kind::assign && o.what != kind::build) return;
  const result_shape indexed = is_part ? o.shape_of_x() : result_shape{o.c.rows(), o.c.columns()};
  for (const index_list* list : {&o.rows, &o.columns})
    if (list->what == index_list::kind::range && list->step == 0)
      fail(errc::range, {o.name, ": a range from ", list->first, " to ", list->last,
                         " has step 0; give another step"});
  check_list(o, "row", o.rows, indexed.rows);
  check_list(o, "column", o.columns, indexed.columns);
  if (is_part || o.x.what == operand::kind::absent) return;
  const int64 rows = o.rows.size(o.c.rows()), columns = o.columns.size(o.c.columns());
  if (o.what == kind::build) {
    if (rows != o.x.rows() || columns != o.x.rows())
      fail(errc::shape, {o.name, ": there are ", o.x.rows(), " value", plural(o.x.rows()), ", ",
                         rows, " row", plural(rows), " and ", columns, " column", plural(columns),
                         "; give one of each per tuple"});
    return;
  }
  if (rows != o.x.rows() || columns != o.x.columns())
    fail(errc::shape, {o.name, ": the lists name ", rows, " rows and ", columns,
                       " columns, but the operand is ", shape_text(o.x.rows(), o.x.columns())});
}

void check_shapes(const operation& o) {
  const bool is_column = o.x.is_vector && o.y.what == operand::kind::dense;
  const index rows = is_column ? o.x.columns() : o.x.rows(),
              columns = is_column ? 1 : o.x.columns();
  const bool has_pair = o.what == kind::merge || o.y_by == broadcast::places || is_column;
  if (has_pair && o.y.what != operand::kind::absent &&
      (o.y.rows() != rows || o.y.columns() != columns))
    fail_pair(o, shape_text(rows, columns), shape_text(o.y.rows(), o.y.columns()));
  if (o.what == kind::product) check_product(o);
  const result_shape result = shape_of_result(o);
  const auto words = [&](index rows, index columns) {
    return o.yields_vector && rows == 1 ? "a vector of " + std::to_string(columns)
                                        : shape_text(rows, columns);
  };
  const auto expect = [&](const char* what, index rows, index columns) {
    if (rows != result.rows || columns != result.columns)
      refuse_result(o, "", words(result.rows, result.columns), what, words(rows, columns));
  };
  if (o.mask.is_there()) expect("the mask", o.mask.rows(), o.mask.columns());
  if (!o.creates_result) expect("C", o.c.rows(), o.c.columns());
}

void check_places(const operation& o) {
  const char* const first = o.x.what != operand::kind::absent ? "the first operand" : "C";
  const auto expect = [&](const char* what, place where) {
    check_place(o, first, o.where(), what, where);
  };
  if (o.y.what != operand::kind::absent) expect("the second operand", o.y.where());
  if (o.mask.is_there()) expect("the mask", o.mask.where());
  if (!o.creates_result) expect("C", o.c.where());
  const auto expect_list = [&](const char* what, const index_list& list) {
    // A list in the host's memory serves every place.
    if (list.what == index_list::kind::list && list.where != cpu()) expect(what, list.where);
  };
  expect_list("the list of rows", o.rows);
  expect_list("the list of columns", o.columns);
}

void refuse_turned_dense(const operation& o) {
  fail(errc::cannot, {o.name,
                      ": an operand is dense, which this operation does not transpose; pass "
                      "rig::transpose of it"});
}

void check_descriptor(const operation& o) {
  if (o.mask.over == mask_operand::kind::cbsr)
    fail(errc::cannot, {o.name,
                        ": a cbsr masks products of a matrix and a dense alone; pass "
                        "rig::structure of a matrix or of a dense"});
  check_enum(o.name, "accumulator", o.accum, accumulator::logical_and);
  if (o.what == kind::product) check_accumulator(o, *o.product->algebra);
  const bool lacks_operator = o.accum != accumulator::none && o.accumulates == nullptr;
  if (lacks_operator && o.out_type == type::other)
    fail(errc::cannot,
         {o.name,
          ": elements that are not of rig's number types join only by accumulator::own of "
          "an operation of two operands; join them by ewise_add with a monoid"});
  if (lacks_operator)
    fail(errc::cannot, {o.name,
                        ": accumulator::own needs an operation of two operands, or a sum; "
                        "pass an operator such as accumulator::plus"});
  check_threads(o.name, *o.desc);
  if (!o.desc->kernel.empty() && o.what != kind::product)
    fail(errc::unknown_kernel,
         {o.name, ": the descriptor names kernel '", o.desc->kernel,
          "', but this operation has no kernels to choose from; leave it unset"});
}

}  // namespace rig
