#include "calls.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "features.hpp"

namespace rigblas {
namespace {

rig::accumulator accumulator_from(const char* call, nb::handle name) {
  if (name.is_none()) return rig::accumulator::none;
  return static_cast<rig::accumulator>(
      number_of_name(call, "accum", name, rig::accumulator_names()));
}

rig::descriptor descriptor_from(const char* call, const options& given) {
  rig::descriptor desc;
  desc.transpose_a = given.transpose_a;
  desc.transpose_b = given.transpose_b;
  desc.replace = given.replace;
  if (!given.fill.is_none()) desc.fill = scalar_from(given.fill, call, "fill");
  desc.kernel = given.kernel;
  desc.width = given.width;
  desc.k = given.k;
  desc.rescale = given.rescale;
  if (std::string_view(given.precision) != "full")
    desc.precision = static_cast<rig::precision>(
        number_of_name(call, "precision", nb::str(given.precision), {"full", "tf32"}));
  desc.reproducible = given.reproducible;
  desc.threads = given.threads;
  return desc;
}

/// The same for the existing result of an operation. A number is checked by its value instead.
void require_room(const rig::operation& o, type natural, type stored) {
  if (o.what != rig::operation::kind::assign)
    require_kind(o.name, "out", stored, "the results are", natural);
  else if (o.scalar == nullptr)
    require_kind(o.name, "C", stored, "A is", natural);
}

nb::object run_to_sparse(rig::operation& o, const settings& given, type natural,
                         bool yields_vector) {
  sparse* existing = nullptr;
  sparse before;
  if (!given.creates()) {
    const bool fits =
        yields_vector ? nb::isinstance<vector>(given.out) : nb::isinstance<matrix>(given.out);
    if (!fits)
      rig::fail(rig::errc::type, {o.name, ": the result is sparse; out must be a rigblas.",
                                  yields_vector ? "Vector" : "Matrix"});
    existing = yields_vector ? static_cast<sparse*>(nb::cast<vector*>(given.out))
                             : static_cast<sparse*>(nb::cast<matrix*>(given.out));
    o.creates_result = false;
    require_room(o, natural, existing->stored);
    before = *existing;
    fill_in(o.c, before, yields_vector);
    set_accumulator(o, given.accum, natural, existing->stored);
  }
  const type of = existing != nullptr ? existing->stored : given.type_or(natural);
  set_result_type(o, given.desc.fill, of);
  rig::sparse_result made;
  {
    const nb::gil_scoped_release release;
    rig::or_out_of_memory(o.name, [&] { made = rig::run_sparse(o); });
  }
  sparse result = rig::erased(std::move(made), of);
  if (existing != nullptr) {
    *existing = std::move(result);
    return nb::borrow(given.out);
  }
  return yields_vector ? nb::cast(vector{std::move(result)}) : nb::cast(matrix{std::move(result)});
}

nb::object run_to_dense(rig::operation& o, const settings& given, type natural, const array& like) {
  if (!given.creates()) {
    array c = writable_array(given.out, o.name);
    require_room(o, natural, c.full.value_type);
    o.creates_result = false;
    o.c.what = rig::operand::kind::dense;
    o.c.full = c.full;
    set_accumulator(o, given.accum, natural, c.full.value_type);
    set_result_type(o, given.desc.fill, c.full.value_type);
    const nb::gil_scoped_release release;
    rig::or_out_of_memory(o.name, [&] {
      rig::check_dense(o);
      rig::run_dense(o);
    });
    return nb::borrow(given.out);
  }
  const type of = given.type_or(natural);
  set_result_type(o, given.desc.fill, of);
  rig::result_shape shape{};
  rig::or_out_of_memory(o.name, [&] { shape = rig::check_dense(o); });
  array c = new_array(like, shape.rows, shape.columns, of, like.is_column && shape.columns == 1);
  o.c.what = rig::operand::kind::dense;
  o.c.full = c.full;
  {
    const nb::gil_scoped_release release;
    rig::or_out_of_memory(o.name, [&] { rig::run_dense(o); });
  }
  return returned(std::move(c));
}

}  // namespace

void require_kind(const char* call, const char* target, type stored, const char* source,
                  type from) {
  const auto rank = [](type of) {
    return of == type::boolean ? 0 : of == type::int32 || of == type::int64 ? 1 : 2;
  };
  if (rank(from) <= rank(stored)) return;
  rig::fail(rig::errc::type, {call, ": ", target, " is ", name_of(stored), ", but ", source, " ",
                              name_of(from), ", which it would truncate; give ", target, " in ",
                              name_of(from), ", and convert it afterwards"});
}

int number_of_name(const char* call, const char* what, nb::handle name,
                   std::span<const char* const> names) {
  if (nb::isinstance<nb::str>(name))
    return rig::number_of_name(call, what, nb::cast<std::string>(name), names);
  const auto shown = nb::cast<std::string>(nb::repr(name));
  rig::fail(rig::errc::range,
            {call, ": ", what, " is ", shown, "; give a name, such as '", names[0], "'"});
}

rig::binary binary_from(const char* call, nb::handle name) {
  return static_cast<rig::binary>(number_of_name(call, "op", name, rig::binary_names()));
}

operand read_operand(nb::handle object, const char* call, const char* name) {
  operand out;
  if (is_numpy(object)) {
    out.full = read_array(object, call, name);
  } else if (nb::isinstance<matrix>(object)) {
    out.what = operand::kind::matrix;
    out.entries = nb::cast<const matrix&>(object);
  } else if (nb::isinstance<vector>(object)) {
    out.what = operand::kind::vector;
    out.entries = nb::cast<const vector&>(object);
  } else if (is_array(object)) {
    out.full = read_array(object, call, name);
  } else {
    out.what = operand::kind::matrix;
    out.entries = read_matrix(object, call, name, "an array, ");
  }
  return out;
}

void fill_in(rig::operand& out, const operand& from) {
  if (!from.is_dense()) return fill_in(out, *from.entries, from.what == operand::kind::vector);
  out.what = rig::operand::kind::dense;
  out.full = from.full.full;
}

settings::settings(const char* of_call, const options& given, const operand& first)
    : call(of_call), desc(descriptor_from(of_call, given)), out(given.out) {
  accum = accumulator_from(call, given.accum);
  if (given.out.is_none() && accum != rig::accumulator::none)
    rig::fail(rig::errc::cannot, {call, ": accum joins the result with out, which is not given"});
  if (!given.dtype.is_none()) {
    if (!given.out.is_none())
      rig::fail(rig::errc::cannot, {call, ": out has a type; leave dtype unset"});
    named = type_from(given.dtype);
  }
  desc.stream = given.stream.is_none() && first.where() == rig::cpu()
                    ? nullptr
                    : stream_of(given.stream, first.full);
  if (given.mask.is_none()) {
    if (given.complement || given.structure)
      rig::fail(rig::errc::cannot, {call, ": complement and structure need a mask"});
    return;
  }
  mask.structural = given.structure;
  mask.complemented = given.complement;
  if (const cbsr* const retained = cbsr_from(given.mask)) {
    if (!given.structure || given.complement)
      rig::fail(rig::errc::cannot,
                {call, ": a Cbsr masks by its structure alone; pass structure=True"});
    mask.over = rig::mask_operand::kind::cbsr;
    cbsr_mask = &retained->structure;
    rig::fill_in(mask.full, retained->structure);
    return;
  }
  mask_memory_ = read_operand(given.mask, call, "mask");
  if (mask_memory_.is_dense()) {
    mask.over = rig::mask_operand::kind::dense;
    mask.full = mask_memory_.full.full;
  } else {
    mask.over = rig::mask_operand::kind::matrix;
    mask.is_vector = mask_memory_.what == operand::kind::vector;
    mask.structure = mask_memory_.entries->structure;
    mask.sparse = operand_of(*mask_memory_.entries);
  }
}

nb::object run(rig::operation& o, const settings& given, type natural, bool yields_vector,
               const array& like) {
  o.desc = &given.desc;
  o.mask = given.mask;
  o.yields_vector = yields_vector;
  return yields_sparse(o) ? run_to_sparse(o, given, natural, yields_vector)
                          : run_to_dense(o, given, natural, like);
}

sparse astype(const sparse& from, type to) {
  const nb::gil_scoped_release release;
  return rig::converted(from, to);
}

}  // namespace rigblas
