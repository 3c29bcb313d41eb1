#include "rig/kernels/erased.hpp"

#include <algorithm>

namespace rig {
namespace {

struct named_type {
  const char* name;
  std::size_t bytes;
  int rank;  ///< the type of the greater one holds numbers of both
};
constexpr named_type types[] = {{"bool", 1, 0},     {"int32", 4, 1},   {"int64", 8, 2},
                                {"float32", 4, 4},  {"float64", 8, 5}, {"float16", 2, 3},
                                {"bfloat16", 2, 3}, {"code", 1, 0},    {"other", 0, 0}};
const named_type& named(type of) { return types[static_cast<int>(of)]; }
bool is_integer_type(type of) { return of == type::int32 || of == type::int64; }

type stored_of(const operand& x) {
  return x.what == operand::kind::dense ? x.full.value_type : x.sparse.value_type;
}
type natural_of(binary op, type over) { return is_comparison(op) ? type::boolean : over; }

/// x op y with a number, in the type of the elements, unless they are integers and y is not one.
struct number_call {
  binary op;
  typed_number y;
  type over, natural;
};
number_call call_of_number(const char* name, type stored, binary op, const given_number& y,
                           bool is_first) {
  return with_algebra(algebra_of(stored), [&]<class T>(T) {
    return with_number(y, [&]<class Y>(Y value) -> number_call {
      if (is_comparison(op)) {
        const auto by = comparison_in<T>(is_first ? mirrored(op) : op, value);
        return {by.op, typed_number(by.y), type_of<T>, type::boolean};
      }
      using A = typename scalar_algebra<T, Y>::type;
      const type natural = is_same<A, T> ? stored : type_of<A>;
      return {op, typed_number(fitting<A>(name, value)), type_of<A>, natural};
    });
  });
}

}  // namespace

const char* type_name(type of) { return named(of).name; }
std::size_t bytes_of(type of) { return named(of).bytes; }
type algebra_of(type of) { return of == type::half || of == type::bfloat16 ? type::float32 : of; }

type common_of(type x, type y) {
  if (x == y) return x;
  if (named(x).rank == named(y).rank) return type::float32;
  if (is_integer_type(x) != is_integer_type(y) && x != type::boolean && y != type::boolean)
    return type::float64;
  return named(x).rank > named(y).rank ? x : y;
}

std::span<const char* const> accumulator_names() {
  static constexpr const char* names[] = {"none",  "own",    "plus",       "minus",
                                          "times", "divide", "minimum",    "maximum",
                                          "first", "second", "logical_or", "logical_and"};
  return names;
}
std::span<const char* const> binary_names() {
  static constexpr const char* names[] = {"plus",       "minus",       "times",   "divide",
                                          "minimum",    "maximum",     "first",   "second",
                                          "logical_or", "logical_and", "equal",   "not_equal",
                                          "less",       "less_equal",  "greater", "greater_equal"};
  return names;
}
std::span<const char* const> unary_names() {
  static constexpr const char* names[] = {
      "identity",    "negate",    "absolute", "reciprocal",         "square", "square_root",
      "exponential", "logarithm", "sigmoid",  "hyperbolic_tangent", "relu",   "sign",
      "floor",       "ceiling",   "round",    "logical_not",        "one"};
  return names;
}
std::span<const char* const> selection_names() {
  static constexpr const char* names[] = {
      "lower",     "upper",          "diagonal",     "off_diagonal", "row_at_most",
      "row_above", "column_at_most", "column_above", "equal",        "not_equal",
      "less",      "less_equal",     "greater",      "greater_equal"};
  return names;
}

int number_of_name(const char* call, const char* what, std::string_view name,
                   std::span<const char* const> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string known;
  for (const char* const each : names) known += std::string(known.empty() ? "" : ", ") + each;
  fail(errc::range, {call, ": ", what, " is '", name, "'; give one of ", known});
}

bool erased_matrix::is_pattern() const {
  return is_iso && with_type(stored, [&]<class T>(T) {
           T value;
           __builtin_memcpy(&value, iso, sizeof(T));
           return convert<double>(value) == 1;
         });
}

sparse_operand operand_of(const erased_matrix& from) {
  sparse_operand out = view(*from.structure);
  out.values = from.is_iso ? nullptr : from.values.data();
  out.values_stream = from.is_iso ? nullptr : from.values.stream();
  __builtin_memcpy(out.iso, from.iso, sizeof(out.iso));
  out.value_type = from.stored;
  out.value_bytes = bytes_of(from.stored);
  return out;
}

void fill_in(operand& out, const erased_matrix& from, bool is_vector) {
  out.what = operand::kind::sparse;
  out.is_vector = is_vector;
  out.sparse = operand_of(from);
  out.structure = from.structure;
}

erased_matrix erased(sparse_result made, type of) {
  erased_matrix out;
  out.structure = std::move(made.structure);
  out.values = std::move(made.values);
  out.stored = of;
  out.is_iso = made.is_iso;
  __builtin_memcpy(out.iso, made.iso, sizeof(out.iso));
  return out;
}

erased_matrix converted(const erased_matrix& from, type to) {
  if (from.stored == to) return from;
  if (from.is_iso)
    return with_type(from.stored, [&]<class T>(T) {
      T value;
      __builtin_memcpy(&value, from.iso, sizeof(T));
      return with_type(to, [&]<class U>(U) { return iso_of(from.structure, convert<U>(value)); });
    });
  const descriptor plain;
  erased_operation o("astype", operation::kind::map);
  fill_in(o.x, from, false);
  set_function(o, unary::identity);
  o.desc = &plain;
  set_result_type(o, {}, to);
  return or_out_of_memory(o.name, [&] { return erased(run_sparse(o), to); });
}

erased_matrix moved(const erased_matrix& from, place target) {
  if (target == from.where()) return from;
  erased_matrix out = from;
  out.structure = from.structure->to(target);
  out.keepalive.reset();
  if (!from.is_iso) out.values = from.values.to(target);
  return out;
}

std::shared_ptr<const pattern> over_foreign(std::shared_ptr<const pattern> of,
                                            std::shared_ptr<const void> owner) {
  const pattern* const raw = of.get();
  return {raw, [of = std::move(of), owner = std::move(owner)](const pattern*) {}};
}

void set_binary(erased_operation& o, binary op, type over) {
  o.op =
      is_comparison(op) ? &builtin_comparison(algebra_of(over)) : &builtin_binary(algebra_of(over));
  o.code = static_cast<unsigned char>(op);
  o.natural = natural_of(op, over);
}

void set_join(erased_operation& o, bool is_union, binary op) {
  const bool x_is_dense = o.x.what == operand::kind::dense,
             y_is_dense = o.y.what == operand::kind::dense;
  o.is_union = is_union;
  o.yields_vector = o.x.is_vector || (x_is_dense && o.y.is_vector);
  set_binary(o, op, common_of(stored_of(o.x), stored_of(o.y)));
  if (x_is_dense != y_is_dense) {
    o.what = is_union ? operation::kind::spread : operation::kind::map;
    o.yields_vector = o.yields_vector && !is_union;
    if (x_is_dense) {
      std::swap(o.x, o.y);
      o.scalar_first = true;
    }
    o.y_by = o.x.is_vector ? broadcast::columns : broadcast::places;
  } else if (o.x.is_vector != o.y.is_vector) {
    fail(errc::type, {o.name, ": one operand is a matrix, the other a vector"});
  }
}

void set_function(erased_operation& o, unary function) {
  o.natural = stored_of(o.x);
  o.op = &builtin_unary(algebra_of(o.natural));
  o.code = static_cast<unsigned char>(function);
  o.yields_vector = o.x.is_vector;
}

void set_function(erased_operation& o, binary op, const given_number& y, bool is_first) {
  const number_call by = call_of_number(o.name, stored_of(o.x), op, y, is_first);
  set_binary(o, by.op, by.over);
  o.natural = by.natural;
  o.set_scalar(by.y);
  o.scalar_first = is_first && !is_comparison(by.op);
  o.yields_vector = o.x.is_vector;
}

void set_selection(erased_operation& o, selection how, const given_number& y) {
  o.natural = stored_of(o.x);
  o.op = &builtin_selection(algebra_of(o.natural));
  o.yields_vector = o.x.is_vector;
  selection code = how;
  if (how < selection::equal)
    o.set_scalar(
        with_number(y, [&](auto value) { return typed_number(place_number(how, value)); }));
  else
    o.set_scalar(with_algebra(algebra_of(o.natural), [&]<class A>(A) {
      return with_number(y, [&](auto value) {
        const auto by = comparison_in<A>(comparison_of(how), value);
        code = selection_of(by.op);
        return typed_number(by.y);
      });
    }));
  o.code = static_cast<unsigned char>(code);
}

void set_sums(erased_operation& o, binary op) {
  o.natural = stored_of(o.x);
  o.monoid = builtin_monoid(o.name, op, algebra_of(o.natural));
  o.sums = &o.monoid;
  o.op = o.monoid.add;
  o.code = o.monoid.code;
  typed_number identity;
  identity.stored = o.monoid.result;
  write_identity(op, algebra_of(o.natural), identity.bytes);
  o.set_scalar(identity);
  o.yields_vector = o.x.what == operand::kind::sparse;
}

void set_copy(erased_operation& o) {
  set_function(o, unary::identity);
  if (o.x.what != operand::kind::dense) return;
  o.what = operation::kind::extract;
  o.op = nullptr;
}

void set_product(erased_operation& o, const builtin_pair& by, bool y_transposed) {
  if (by.product.algebra->is_indexed)
    fail(errc::cannot,
         {o.name, ": ", by.name, " yields values and indices, and a sparse result has one array"});
  o.y_transposed = y_transposed;
  o.product = &by.product;
  o.op = by.add;
}

problem dense_product(const char* call, const erased_matrix& a, const dense_operand& b,
                      const builtin_pair& by) {
  problem p;
  p.name = call;
  p.algebra = by.product.algebra;
  p.run_cpu = by.run;
  p.structure = a.structure.get();
  p.a = operand_of(a);
  p.b = b;
  return p;
}

bool yields_sparse(const operation& o) {
  using enum operation::kind;
  switch (o.what) {
    case spread:
      return false;
    case product:
    case build:
    case diagonal:
    case from_diagonal:
    case kronecker:
      return true;
    case assign:
      return o.c.what == operand::kind::sparse;
    default:
      return o.x.what == operand::kind::sparse;
  }
}

void set_result_type(operation& o, const scalar& fill, type of) {
  o.out_type = of;
  o.out_bytes = bytes_of(of);
  with_type(of, [&]<class T>(T) {
    const T value = fill.checked<T>(o.name, "fill");
    __builtin_memcpy(o.fill, &value, sizeof(T));
  });
}

void set_accumulator(operation& o, accumulator accum, type natural, type stored) {
  o.accum = accum;
  if (o.accum == accumulator::own) {
    using enum operation::kind;
    const bool joins_two = o.what == merge || o.what == spread || o.what == reduce_rows ||
                           o.what == product || o.y_by != broadcast::absent;
    o.accumulates = joins_two ? o.op : nullptr;
    o.accumulates_code = o.code;
    return;
  }
  o.accumulates = &builtin_binary(algebra_of(common_of(stored, algebra_of(natural))));
  o.accumulates_code =
      static_cast<unsigned char>(static_cast<int>(o.accum) - static_cast<int>(accumulator::plus));
}

std::string_view exchanged_name(std::string_view semiring) {
  static constexpr std::string_view pairs[][2] = {
      {"plus_first", "plus_second"}, {"min_first", "min_second"}, {"max_first", "max_second"}};
  static constexpr std::string_view symmetric[] = {
      "plus_times", "plus_pair", "min_plus", "max_plus", "min_max",
      "max_min",    "max_times", "lor_land", "any_pair", "mean_times"};
  for (const auto& [one, other] : pairs) {
    if (semiring == one) return other;
    if (semiring == other) return one;
  }
  for (const std::string_view each : symmetric)
    if (semiring == each) return each;
  return {};
}

}  // namespace rig
