#include <nanobind/stl/string.h>

#include <functional>
#include <optional>

#include "calls.hpp"
#include "docstrings.hpp"

// Operations other than products: records of rig, whose types are known at run time.

namespace rigblas {
namespace {

nb::object join(const char* call, bool is_union, nb::handle first, nb::handle second,
                nb::handle op_name, const options& from) {
  const operand x = read_operand(first, call, "A"), y = read_operand(second, call, "B");
  const settings given(call, from, x.is_dense() ? x : y);
  rig::erased_operation o(call, rig::operation::kind::merge);
  const array like = x.is_dense() ? x.full : y.full;
  fill_in(o.x, x);
  fill_in(o.y, y);
  set_join(o, is_union, binary_from(call, op_name));
  return run(o, given, like);
}

/// An operand in another type.
void convert(operand& x, type to, const char* call) {
  if (x.stored() == to) return;
  if (!x.is_dense()) {
    x.entries = astype(*x.entries, to);
    return;
  }
  const bool is_tensor = !nb::hasattr(x.full.given, "astype");
  x.full = read_array(
      is_tensor ? x.full.given.attr("double")() : x.full.given.attr("astype")(dtype_of(to)), call,
      "A");
}
bool is_whole(type of) { return of == type::boolean || of == type::int32 || of == type::int64; }

/// Functions of real numbers, whose results are float64 where the elements are integers.
constexpr bool is_real(rig::unary op) {
  using enum rig::unary;
  return op == reciprocal || (op >= square_root && op <= hyperbolic_tangent);
}

nb::object apply(nb::handle x, nb::handle op, nb::handle y, bool is_first, const options& from) {
  const char* const call = "apply";
  operand a = read_operand(x, call, "A");
  rig::unary function{};
  if (y.is_none()) {
    function = static_cast<rig::unary>(number_of_name(call, "op", op, rig::unary_names()));
    if (is_real(function) && is_whole(a.stored())) convert(a, type::float64, call);
  }
  const settings given(call, from, a);
  rig::erased_operation o(call, rig::operation::kind::map);
  fill_in(o.x, a);
  if (y.is_none())
    set_function(o, function);
  else
    set_function(o, binary_from(call, op), number_from(y, call, "y"), is_first);
  return run(o, given, a.full);
}

nb::object select(nb::handle x, nb::handle op, nb::handle y, const options& from) {
  const char* const call = "select";
  const operand a = read_operand(x, call, "A");
  if (a.is_dense())
    rig::fail(rig::errc::type, {call, ": A is an array, which has every place; give a Matrix"});
  const settings given(call, from, a);
  const auto how =
      static_cast<rig::selection>(number_of_name(call, "op", op, rig::selection_names()));
  rig::erased_operation o(call, rig::operation::kind::select);
  fill_in(o.x, a);
  set_selection(o, how, number_from(y, call, "y"));
  return run(o, given);
}

/// Sums and products of booleans and of int32 are formed in int64, as NumPy's.
void widen(operand& x, nb::handle op, const char* call) {
  const rig::binary by = binary_from(call, op);
  if ((by == rig::binary::plus || by == rig::binary::times) && is_whole(x.stored()) &&
      (!x.is_dense() || nb::hasattr(x.full.given, "astype")))
    convert(x, type::int64, call);
}

nb::object reduce_rows(const char* call, nb::handle x, nb::handle op, options from,
                       bool is_by_columns) {
  if (is_by_columns) from.transpose_a = !from.transpose_a;
  operand a = read_operand(x, call, "A");
  widen(a, op, call);
  if (a.what == operand::kind::vector)
    rig::fail(rig::errc::type, {call, ": A is a Vector; call reduce"});
  const settings given(call, from, a);
  rig::erased_operation o(call, rig::operation::kind::reduce_rows);
  fill_in(o.x, a);
  set_sums(o, binary_from(call, op));
  array like = a.full;
  like.is_column = true;
  return run(o, given, like);
}

nb::object reduce(nb::handle x, nb::handle op, rig::int64 threads) {
  const char* const call = "reduce";
  operand a = read_operand(x, call, "A");
  widen(a, op, call);
  const settings given(call, {.threads = threads}, a);
  rig::erased_operation o(call, rig::operation::kind::reduce_rows);
  fill_in(o.x, a);
  set_sums(o, binary_from(call, op));
  o.desc = &given.desc;
  {
    const nb::gil_scoped_release release;
    rig::or_out_of_memory(call, [&] { rig::run_reduce(o, o.number.bytes); });
  }
  return number_of(o.number.bytes, o.number.stored);
}

/// Which rows or columns: None, a slice, a number, a list, or a mask of booleans. Slices and
/// numbers count as Python's do.
struct picked {
  std::optional<index_array> list;
  std::optional<rig::indices> of;
  picked(const char* call, const char* name, nb::handle given, rig::index size) {
    if (given.is_none()) {
      of.emplace(rig::all);
    } else if (nb::isinstance<nb::slice>(given)) {
      const auto [first, last, step, length] =
          nb::cast<nb::slice>(given).compute(static_cast<std::size_t>(size));
      of.emplace(rig::range{first, first + static_cast<rig::int64>(length) * step, step});
    } else {
      list = read_indices(nb::module_::import_("rigblas._arrays").attr("as_places")(given, size),
                          call, name);
      if (list->is_64)
        of.emplace(std::span(static_cast<const rig::int64*>(list->data), list->size));
      else
        of.emplace(std::span(static_cast<const rig::int32*>(list->data), list->size));
    }
  }
};

rig::index rows_of(const operand& x) {
  return x.is_dense() ? x.full.full.rows : x.what == operand::kind::vector ? 1 : x.entries->rows();
}
rig::index columns_of(const operand& x) {
  return x.is_dense() ? x.full.full.columns : x.entries->columns();
}

nb::object extract(nb::handle x, nb::handle rows, nb::handle columns, const options& from) {
  const char* const call = "extract";
  const operand a = read_operand(x, call, "A");
  const settings given(call, from, a);
  const bool is_vector = a.what == operand::kind::vector;
  const bool turned = from.transpose_a && !is_vector;
  rig::operation o{call, rig::operation::kind::extract};
  fill_in(o.x, a);
  if (is_vector && !columns.is_none())
    rig::fail(rig::errc::cannot, {call, ": a Vector has one list of indices; leave columns unset"});
  const picked first(call, "rows", is_vector ? nb::none() : rows,
                     turned ? columns_of(a) : rows_of(a));
  const picked second(call, is_vector ? "rows" : "columns", is_vector ? rows : columns,
                      turned ? rows_of(a) : columns_of(a));
  o.rows = *first.of;
  o.columns = *second.of;
  return run(o, given, a.stored(), is_vector, a.full);
}

nb::object assign(nb::handle target, nb::handle x, nb::handle rows, nb::handle columns,
                  options from) {
  const char* const call = "assign";
  from.out = target;
  const operand c = read_operand(target, call, "C");
  const settings given(call, from, c);
  const bool is_vector = c.what == operand::kind::vector;
  rig::operation o{call, rig::operation::kind::assign};
  o.c.what = c.is_dense() ? rig::operand::kind::dense : rig::operand::kind::sparse;
  operand source;
  rig::typed_number value;
  type natural = c.stored();
  if (is_number(x)) {
    const rig::given_number y = number_from(x, call, "the number");
    value = with_type(c.stored(), [&]<class T>(T) {
      // Checks that C's type holds the number; it is joined before it is rounded.
      if constexpr (!rig::is_small_float<T>) y.value.checked<T>(call, "the number");
      return with_number(y, [](auto number) { return rig::typed_number(number); });
    });
    natural = value.stored;
    o.scalar = value.bytes;
    o.scalar_bytes = bytes_of(value.stored);
    o.scalar_type = value.stored;
  } else {
    source = read_operand(x, call, "A");
    if (source.is_dense() != c.is_dense() || (source.what == operand::kind::vector) != is_vector)
      rig::fail(rig::errc::type, {call,
                                  ": A and C are of two kinds; give two arrays, two "
                                  "Matrices, two Vectors or a number"});
    fill_in(o.x, source);
    natural = source.stored();
  }
  if (is_vector && !columns.is_none())
    rig::fail(rig::errc::cannot, {call, ": a Vector has one list of indices; leave columns unset"});
  const picked first(call, "rows", is_vector ? nb::none() : rows, rows_of(c));
  const picked second(call, is_vector ? "rows" : "columns", is_vector ? rows : columns,
                      columns_of(c));
  o.rows = *first.of;
  o.columns = *second.of;
  return run(o, given, natural, is_vector);
}

nb::object transpose(nb::handle x, options from) {
  const char* const call = "transpose";
  const operand a = read_operand(x, call, "A");
  if (a.what == operand::kind::vector)
    rig::fail(rig::errc::type, {call, ": A is a Vector, which has no transpose"});
  from.transpose_a = !from.transpose_a;
  const settings given(call, from, a);
  rig::erased_operation o(call, rig::operation::kind::map);
  fill_in(o.x, a);
  set_copy(o);
  return run(o, given, a.full);
}

nb::object kronecker(nb::handle x, nb::handle y, nb::handle op_name, const options& from) {
  const char* const call = "kronecker";
  const operand a = read_operand(x, call, "A"), b = read_operand(y, call, "B");
  if (a.what != operand::kind::matrix || b.what != operand::kind::matrix)
    rig::fail(rig::errc::type, {call, ": A and B must be Matrices"});
  const settings given(call, from, a);
  rig::erased_operation o(call, rig::operation::kind::kronecker);
  fill_in(o.x, a);
  fill_in(o.y, b);
  set_binary(o, binary_from(call, op_name), common_of(a.stored(), b.stored()));
  return run(o, given);
}

nb::object on_diagonal(const char* call, nb::handle x, rig::int64 k, bool makes_matrix) {
  const operand a = read_operand(x, call, makes_matrix ? "v" : "A");
  const auto wanted = makes_matrix ? operand::kind::vector : operand::kind::matrix;
  if (a.what != wanted)
    rig::fail(rig::errc::type,
              {call, makes_matrix ? ": v must be a Vector; of a Matrix, call diagonal"
                                  : ": A must be a Matrix; of a Vector, call diag"});
  const settings given(call, {}, a);
  rig::operation o{
      call, makes_matrix ? rig::operation::kind::diagonal : rig::operation::kind::from_diagonal};
  fill_in(o.x, *a.entries, false);
  o.diagonal = rig::checked_index(k).as(call, "k");
  return run(o, given, a.stored(), !makes_matrix);
}

nb::object to_array(nb::handle x, nb::handle absent, nb::handle dtype) {
  const char* const call = "toarray";
  const operand a = read_operand(x, call, "A");
  if (a.is_dense()) return nb::borrow(x);
  const settings given(call, {.dtype = dtype}, a);
  const type of = given.type_or(a.stored());
  rig::operation o{call, rig::operation::kind::spread};
  // A vector is the column that it is as an array.
  fill_in(o.x, *a.entries, a.what == operand::kind::vector);
  o.scalar_type = o.out_type = of;
  o.scalar_bytes = bytes_of(of);
  const rig::scalar number = scalar_from(absent, call, "absent");
  const auto elsewhere = with_type(
      of, [&]<class T>(T) { return rig::typed_number(number.checked<T>(call, "absent")); });
  o.scalar = elsewhere.bytes;
  o.op = &rig::unchanged(o);
  array like;
  like.is_column = a.what == operand::kind::vector;
  return run(o, given, of, false, like);
}

/// A function with the keywords of all operations.
template <class Function, class... Arguments>
void operation(nb::module_& m, const char* name, Function function, const char* doc,
               Arguments... arguments) {
  m.def(name, function, arguments..., RIGBLAS_OPTIONS, doc);
}

void bind_elements(nb::module_& m) {
  const auto a = nb::arg("A").none(), b = nb::arg("B").none();
  operation(
      m, "ewise_add",
      [](nb::handle x, nb::handle y, nb::handle op, RIGBLAS_OPTION_PARAMETERS) {
        return join("ewise_add", true, x, y, op, RIGBLAS_OPTION_VALUES);
      },
      doc::ewise_add, a, b, nb::arg("op") = "plus");
  operation(
      m, "ewise_mult",
      [](nb::handle x, nb::handle y, nb::handle op, RIGBLAS_OPTION_PARAMETERS) {
        return join("ewise_mult", false, x, y, op, RIGBLAS_OPTION_VALUES);
      },
      doc::ewise_mult, a, b, nb::arg("op") = "times");
  m.def(
      "apply",
      [](nb::handle x, nb::handle op, nb::handle y, flag first, RIGBLAS_OPTION_PARAMETERS) {
        return apply(x, op, y, first, RIGBLAS_OPTION_VALUES);
      },
      a, nb::arg("op"), nb::arg("y") = nb::none(), nb::kw_only(), nb::arg("first") = false,
      RIGBLAS_KEYWORDS, doc::apply);
  operation(
      m, "select",
      [](nb::handle x, nb::handle op, nb::handle y, RIGBLAS_OPTION_PARAMETERS) {
        return select(x, op, y, RIGBLAS_OPTION_VALUES);
      },
      doc::select, a, nb::arg("op"), nb::arg("y") = 0);
}

void bind_sums(nb::module_& m) {
  const auto a = nb::arg("A").none();
  operation(
      m, "reduce_rows",
      [](nb::handle x, nb::handle op, RIGBLAS_OPTION_PARAMETERS) {
        return reduce_rows("reduce_rows", x, op, RIGBLAS_OPTION_VALUES, false);
      },
      doc::reduce_rows, a, nb::arg("op") = "plus");
  operation(
      m, "reduce_columns",
      [](nb::handle x, nb::handle op, RIGBLAS_OPTION_PARAMETERS) {
        return reduce_rows("reduce_columns", x, op, RIGBLAS_OPTION_VALUES, true);
      },
      doc::reduce_columns, a, nb::arg("op") = "plus");
  m.def("reduce", &reduce, a, nb::arg("op") = "plus", nb::kw_only(), nb::arg("threads") = 0,
        doc::reduce);
}

void bind_parts(nb::module_& m) {
  const auto a = nb::arg("A").none(), b = nb::arg("B").none();
  operation(
      m, "extract",
      [](nb::handle x, nb::handle rows, nb::handle columns, RIGBLAS_OPTION_PARAMETERS) {
        return extract(x, rows, columns, RIGBLAS_OPTION_VALUES);
      },
      doc::extract, a, nb::arg("rows") = nb::none(), nb::arg("columns") = nb::none());
  m.def(
      "assign",
      [](nb::handle c, nb::handle x, nb::handle rows, nb::handle columns, nb::handle mask,
         flag complement, flag structure, nb::handle accum, flag replace, rig::int64 threads) {
        return assign(c, x, rows, columns,
                      {.mask = mask,
                       .accum = accum,
                       .complement = complement,
                       .structure = structure,
                       .replace = replace,
                       .threads = threads});
      },
      nb::arg("C"), nb::arg("A").none(), nb::arg("rows") = nb::none(),
      nb::arg("columns") = nb::none(), nb::kw_only(), nb::arg("mask") = nb::none(),
      nb::arg("complement") = false, nb::arg("structure") = false, nb::arg("accum") = nb::none(),
      nb::arg("replace") = false, nb::arg("threads") = 0, doc::assign);
  operation(
      m, "transpose",
      [](nb::handle x, RIGBLAS_OPTION_PARAMETERS) { return transpose(x, RIGBLAS_OPTION_VALUES); },
      doc::transpose, a);
  operation(
      m, "kronecker",
      [](nb::handle x, nb::handle y, nb::handle op, RIGBLAS_OPTION_PARAMETERS) {
        return kronecker(x, y, op, RIGBLAS_OPTION_VALUES);
      },
      doc::kronecker, a, b, nb::arg("op") = "times");
  m.def(
      "diag", [](nb::handle v, rig::int64 k) { return on_diagonal("diag", v, k, true); },
      nb::arg("v"), nb::arg("k") = 0, doc::diag);
  m.def(
      "diagonal", [](nb::handle x, rig::int64 k) { return on_diagonal("diagonal", x, k, false); },
      a, nb::arg("k") = 0, doc::diagonal);
  m.def("toarray", &to_array, a, nb::arg("absent") = 0, nb::arg("dtype") = nb::none(),
        doc::toarray);
}

}  // namespace

void bind_operations(nb::module_& m) {
  bind_elements(m);
  bind_sums(m);
  bind_parts(m);
}

}  // namespace rigblas
