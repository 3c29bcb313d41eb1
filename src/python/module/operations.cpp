#include <nanobind/stl/string.h>

#include <functional>
#include <optional>

#include "calls.hpp"
#include "docstrings.hpp"

// Operations other than products: records of rig, whose types are known at run time.

namespace rigblas {
namespace {

/// The operator of two elements of a type; comparisons yield bool.
void set_binary(rig::operation& o, rig::binary op, type over) {
  o.op = rig::is_comparison(op) ? &rig::builtin_comparison(algebra_of(over))
                                : &rig::builtin_binary(algebra_of(over));
  o.code = static_cast<unsigned char>(op);
}
type natural_of(rig::binary op, type over) { return rig::is_comparison(op) ? type::boolean : over; }

nb::object join(const char* call, bool is_union, nb::handle first, nb::handle second,
                nb::handle op_name, const options& from) {
  operand x = read_operand(first, call, "A"), y = read_operand(second, call, "B");
  const settings given(call, from, x.is_dense() ? x : y);
  const rig::binary op = binary_from(call, op_name);
  const type common = common_of(x.stored(), y.stored());
  rig::operation o{call, rig::operation::kind::merge};
  const array like = x.is_dense() ? x.full : y.full;
  const bool yields_vector =
      x.what == operand::kind::vector || (x.is_dense() && y.what == operand::kind::vector);
  const bool is_mixed = x.is_dense() != y.is_dense();
  if (is_mixed) {
    o.what = is_union ? rig::operation::kind::spread : rig::operation::kind::map;
    if (x.is_dense()) {
      std::swap(x, y);
      o.scalar_first = true;
    }
    o.y_by = x.what == operand::kind::vector ? rig::broadcast::columns : rig::broadcast::places;
  } else if (x.what != y.what) {
    rig::fail(rig::errc::type, {call, ": one operand is a Matrix, the other a Vector"});
  }
  fill_in(o.x, x);
  fill_in(o.y, y);
  set_binary(o, op, common);
  o.is_union = is_union;
  return run(o, given, natural_of(op, common), yields_vector && !(is_mixed && is_union), like);
}

/// A number for an operator, in the operator's type.
struct number {
  alignas(8) unsigned char bytes[8] = {};
  type stored;
};
template <class A>
number number_from(A value) {
  number out{{}, rig::type_of<A>};
  __builtin_memcpy(out.bytes, &value, sizeof(A));
  return out;
}

/// Calls work(y) with a scalar as a bool, an int64 or a double.
template <class Work>
auto with_number(const rig::scalar& y, nb::handle given, Work work) {
  const nb::object number = python_number(given);
  if (PyBool_Check(number.ptr())) return work(y.as<bool>());
  if (PyFloat_Check(number.ptr()) || !y.is_integer()) return work(y.as<double>());
  return work(y.as<rig::int64>());
}

/// x op y or y op x with a number: the operator and its number are in the type of `over`, unless
/// that has integers and y is not one.
struct number_call {
  rig::binary op;
  number y;
  type over, natural;
};
number_call number_call_of(type stored, rig::binary op, nb::handle given, bool is_first) {
  const rig::scalar y = scalar_from(given, "apply", "y");
  return with_algebra(algebra_of(stored), [&]<class T>(T) {
    return with_number(y, given, [&]<class Y>(Y value) -> number_call {
      if (rig::is_comparison(op)) {
        const auto by = rig::comparison_in<T>(is_first ? rig::mirrored(op) : op, value);
        return {by.op, number_from(by.y), rig::type_of<T>, type::boolean};
      }
      using A = typename rig::scalar_algebra<T, Y>::type;
      const type natural = rig::is_same<A, T> ? stored : rig::type_of<A>;
      return {op, number_from(rig::fitting<A>("apply", value)), rig::type_of<A>, natural};
    });
  });
}

constexpr std::initializer_list<const char*> unary_names = {
    "identity",    "negate",    "absolute", "reciprocal",         "square", "square_root",
    "exponential", "logarithm", "sigmoid",  "hyperbolic_tangent", "relu",   "sign",
    "floor",       "ceiling",   "round",    "logical_not",        "one"};

/// An operand in another type.
void convert(operand& x, type to, const char* call) {
  if (x.stored() == to) return;
  if (!x.is_dense()) {
    x.entries = converted(*x.entries, to);
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
    function = static_cast<rig::unary>(number_of_name(call, "op", op, unary_names));
    if (is_real(function) && is_whole(a.stored())) convert(a, type::float64, call);
  }
  const settings given(call, from, a);
  rig::operation o{call, rig::operation::kind::map};
  fill_in(o.x, a);
  type natural = a.stored();
  number_call with;
  if (y.is_none()) {
    o.op = &rig::builtin_unary(algebra_of(a.stored()));
    o.code = static_cast<unsigned char>(function);
  } else {
    with = number_call_of(a.stored(), binary_from(call, op), y, is_first);
    natural = with.natural;
    set_binary(o, with.op, with.over);
    o.scalar = with.y.bytes;
    o.scalar_bytes = bytes_of(with.y.stored);
    o.scalar_type = with.y.stored;
    o.scalar_first = is_first && !rig::is_comparison(with.op);
  }
  return run(o, given, natural, a.what == operand::kind::vector, a.full);
}

nb::object select(nb::handle x, nb::handle op, nb::handle y, const options& from) {
  const char* const call = "select";
  const operand a = read_operand(x, call, "A");
  if (a.is_dense())
    rig::fail(rig::errc::type, {call, ": A is an array, which has every place; give a Matrix"});
  const settings given(call, from, a);
  const auto how = static_cast<rig::selection>(number_of_name(
      call, "op", op,
      {"lower", "upper", "diagonal", "off_diagonal", "row_at_most", "row_above", "column_at_most",
       "column_above", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}));
  rig::operation o{call, rig::operation::kind::select};
  fill_in(o.x, a);
  const rig::scalar given_y = scalar_from(y, call, "y");
  o.op = &rig::builtin_selection(algebra_of(a.stored()));
  number with{};
  rig::selection code = how;
  if (how < rig::selection::equal)
    with = with_number(given_y, y,
                       [&](auto value) { return number_from(rig::place_number(how, value)); });
  else
    with = with_algebra(algebra_of(a.stored()), [&]<class A>(A) {
      return with_number(given_y, y, [&](auto value) {
        const auto by = rig::comparison_in<A>(rig::comparison_of(how), value);
        code = rig::selection_of(by.op);
        return number_from(by.y);
      });
    });
  o.code = static_cast<unsigned char>(code);
  o.scalar = with.bytes;
  o.scalar_bytes = bytes_of(with.stored);
  o.scalar_type = with.stored;
  return run(o, given, a.stored(), a.what == operand::kind::vector);
}

/// A monoid over a type, with its identity.
struct sum {
  rig::monoid_info info;
  alignas(8) unsigned char identity[8] = {};
  sum(const char* call, nb::handle name, type over) {
    const rig::binary op = binary_from(call, name);
    info = rig::builtin_monoid(call, op, algebra_of(over));
    rig::write_identity(op, algebra_of(over), identity);
  }
};

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
  const sum by(call, op, a.stored());
  rig::operation o{call, rig::operation::kind::reduce_rows};
  fill_in(o.x, a);
  o.sums = &by.info;
  o.op = by.info.add;
  o.code = by.info.code;
  o.scalar = by.identity;
  o.scalar_bytes = bytes_of(by.info.result);
  o.scalar_type = by.info.result;
  array like = a.full;
  like.is_column = true;
  return run(o, given, a.stored(), !a.is_dense(), like);
}

nb::object reduce(nb::handle x, nb::handle op, rig::int64 threads) {
  const char* const call = "reduce";
  operand a = read_operand(x, call, "A");
  widen(a, op, call);
  const settings given(call, {.threads = threads}, a);
  sum by(call, op, a.stored());
  rig::operation o{call, rig::operation::kind::reduce_rows};
  fill_in(o.x, a);
  o.sums = &by.info;
  o.op = by.info.add;
  o.code = by.info.code;
  o.desc = &given.desc;
  {
    const nb::gil_scoped_release release;
    rig::or_out_of_memory(call, [&] { rig::run_reduce(o, by.identity); });
  }
  return number_of(by.identity, by.info.result);
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
  number value{};
  type natural = c.stored();
  if (is_number(x)) {
    const rig::scalar y = scalar_from(x, call, "the number");
    value = with_type(c.stored(), [&]<class T>(T) {
      // Checks that C's type holds the number; it is joined before it is rounded.
      if constexpr (!rig::is_small_float<T>) y.checked<T>(call, "the number");
      return with_number(y, x, [](auto number) { return number_from(number); });
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
  rig::operation o{call, a.is_dense() ? rig::operation::kind::extract : rig::operation::kind::map};
  fill_in(o.x, a);
  const rig::indices all(rig::all);
  if (a.is_dense()) {
    o.rows = all;
    o.columns = all;
  } else {
    o.op = &rig::builtin_unary(algebra_of(a.stored()));
    o.code = static_cast<unsigned char>(rig::unary::identity);
  }
  return run(o, given, a.stored(), false, a.full);
}

nb::object kronecker(nb::handle x, nb::handle y, nb::handle op_name, const options& from) {
  const char* const call = "kronecker";
  const operand a = read_operand(x, call, "A"), b = read_operand(y, call, "B");
  if (a.what != operand::kind::matrix || b.what != operand::kind::matrix)
    rig::fail(rig::errc::type, {call, ": A and B must be Matrices"});
  const settings given(call, from, a);
  const rig::binary op = binary_from(call, op_name);
  const type common = common_of(a.stored(), b.stored());
  rig::operation o{call, rig::operation::kind::kronecker};
  fill_in(o.x, a);
  fill_in(o.y, b);
  set_binary(o, op, common);
  return run(o, given, natural_of(op, common), false);
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
  const auto elsewhere =
      with_type(of, [&]<class T>(T) { return number_from(number.checked<T>(call, "absent")); });
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
