#include "c/handles.hpp"
#include "rig/rearrange.hpp"

// Products and operations: each fills a record of rig, runs it, and hands the result over.

using namespace rig::c;

namespace rig::c {
namespace {

void set_mask(const char* call, mask_operand& out, const rig_options& from) {
  if (from.mask == nullptr) {
    if (from.mask_structure != 0 || from.mask_complement != 0)
      fail(errc::cannot, {call, ": mask_structure and mask_complement need a mask"});
    return;
  }
  out.structural = from.mask_structure != 0;
  out.complemented = from.mask_complement != 0;
  if (from.mask->is_dense()) {
    out.over = mask_operand::kind::dense;
    out.full = from.mask->full;
    return;
  }
  out.over = mask_operand::kind::matrix;
  out.is_vector = from.mask->kind == RIG_VECTOR;
  out.structure = from.mask->sparse.structure;
  out.sparse = operand_of(from.mask->sparse);
}

void fill_in(operand& out, const rig_container& from) {
  if (!from.is_dense()) return rig::fill_in(out, from.sparse, from.kind == RIG_VECTOR);
  out.what = operand::kind::dense;
  out.full = from.full;
}

/// Throws unless the content of C can be such a result, which joins it or not.
void check_target(const char* call, const rig_container* c, rig_kind kind, const settings& given) {
  static constexpr const char* names[] = {"", "matrix", "vector", "dense"};
  if (c == nullptr) {
    if (given.accum != accumulator::none)
      fail(errc::cannot, {call, ": accumulate joins the result with C, which is null"});
    return;
  }
  if (c->kind != kind)
    fail(errc::type, {call, ": the result is a ", names[kind], ", but C is a ", names[c->kind],
                      "; give a null C, or one of that kind"});
  if (c->read_only) fail(errc::read_only, {call, ": C is read-only"});
  if (given.named != type::other)
    fail(errc::cannot, {call, ": C has a type; leave the type of the options 0"});
}

void run_to_sparse(erased_operation& o, const settings& given, rig_container** c) {
  rig_container* const existing = *c;
  const bool is_vector = o.yields_vector;
  check_target(o.name, existing, is_vector ? RIG_VECTOR : RIG_MATRIX, given);
  erased_matrix before;
  type of = given.type_or(o.natural);
  if (existing != nullptr) {
    before = existing->sparse;
    of = before.stored;
    o.creates_result = false;
    rig::fill_in(o.c, before, is_vector);
    set_accumulator(o, given.accum, o.natural, of);
  }
  set_result_type(o, given.desc.fill, of);
  erased_matrix made = erased(run_sparse(o), of);
  if (existing != nullptr)
    existing->sparse = std::move(made);
  else
    *c = held(std::move(made), is_vector).release();
}

void run_to_dense(erased_operation& o, const settings& given, rig_container** c) {
  check_target(o.name, *c, RIG_DENSE, given);
  if (*c != nullptr) {
    o.creates_result = false;
    fill_in(o.c, **c);
    set_accumulator(o, given.accum, o.natural, o.c.full.value_type);
    set_result_type(o, given.desc.fill, o.c.full.value_type);
    check_dense(o);
    return run_dense(o);
  }
  set_result_type(o, given.desc.fill, given.type_or(o.natural));
  const result_shape shape = check_dense(o);
  auto made = new_dense(shape.rows, shape.columns, o.out_type, o.where(), given.desc.stream);
  fill_in(o.c, *made);
  run_dense(o);
  *c = made.release();
}

void run(erased_operation& o, const settings& given, rig_container** c) {
  o.desc = &given.desc;
  o.mask = given.mask;
  if (yields_sparse(o))
    run_to_sparse(o, given, c);
  else
    run_to_dense(o, given, c);
}

/// C of a product with a dense result, and its indices.
void run_product(problem& p, const settings& given, rig_container** c) {
  const bool is_indexed = p.algebra->is_indexed;
  if (is_indexed && given.indices == nullptr)
    fail(errc::cannot, {p.name, ": ", p.algebra->name,
                        " yields values and indices; set the indices of the options"});
  if (!is_indexed && given.indices != nullptr)
    fail(errc::cannot, {p.name, ": ", p.algebra->name, " yields values alone; leave indices null"});
  if (is_indexed && given.indices == c)
    fail(errc::range, {p.name, ": C and its indices are one handle; give two"});
  check_target(p.name, *c, RIG_DENSE, given);
  if (is_indexed && (*c == nullptr) != (*given.indices == nullptr))
    fail(errc::cannot, {p.name, ": give both C and its indices, or neither"});
  p.desc = &given.desc;
  p.mask = given.mask;
  p.accum = given.accum;
  p.creates_result = *c == nullptr;
  if (!p.creates_result) {
    p.c = (*c)->full;
    if (is_indexed) {
      const rig_container& places = **given.indices;
      check_target(p.name, &places, RIG_DENSE, given);
      if (places.stored() != type::int32)
        fail(errc::type,
             {p.name, ": the indices are ", type_name(places.stored()), "; give int32"});
      if (&places == *c || (places.full.data == p.c.data && p.c.extent() > 0))
        fail(errc::range, {p.name, ": C and its indices are the same memory; give two"});
      p.indices = places.full;
    }
    check(p);
    return run(p);
  }
  p.c.value_type = given.type_or(p.algebra->result);
  p.c.value_bytes = bytes_of(p.c.value_type);
  check(p);
  const auto make = [&](type of) {
    return new_dense(p.a.rows, p.b.columns, of, p.a.where, given.desc.stream);
  };
  auto made = make(p.c.value_type);
  auto places = is_indexed ? make(type::int32) : nullptr;
  p.c = made->full;
  if (is_indexed) p.indices = places->full;
  run(p);
  *c = made.release();
  if (is_indexed) *given.indices = places.release();
}

void run_sparse_product(const char* call, const rig_container& x, const rig_container& y,
                        bool y_transposed, const builtin_pair& by, const settings& given,
                        rig_container** c) {
  if (given.indices != nullptr)
    fail(errc::cannot, {call, ": a sparse result has no indices; leave indices null"});
  erased_operation o(call, operation::kind::product);
  o.natural = by.product.algebra->result;
  o.yields_vector = x.kind == RIG_VECTOR;
  set_product(o, by, y_transposed);
  fill_in(o.x, x);
  fill_in(o.y, y);
  run(o, given, c);
}

/// The semiring with u ⊗ a in place of a ⊗ u, or null.
const builtin_pair* exchanged(const rig_semiring& of) {
  const std::string_view name = of.is_own ? std::string_view() : exchanged_name(of.pair->name);
  if (name.empty()) return nullptr;
  for (const char* const each : builtin_names(of.pair->of))
    if (name == each) return &find_builtin(name, of.pair->of);
  return nullptr;
}
[[noreturn]] void refuse_exchange(const char* call, const rig_semiring& of) {
  fail(errc::cannot, {call, ": ", of.pair->name,
                      " has no form with exchanged operands over this type; call rig_mxm with the "
                      "transpose and the vector as a column"});
}

void require_column(const char* call, const rig_container& u) {
  if (u.is_dense() && u.columns() != 1)
    fail(errc::shape,
         {call, ": u is ", u.rows(), "x", u.columns(), "; give one column, or a vector"});
  if (u.kind == RIG_MATRIX)
    fail(errc::type, {call, ": u is a matrix; give a vector or a dense column, or call rig_mxm"});
}

void multiply(const char* call, const rig_container& a, const rig_container& b,
              const builtin_pair& by, const settings& given, rig_container** c) {
  if (a.kind == RIG_VECTOR || b.kind == RIG_VECTOR)
    fail(errc::type, {call, ": an operand is a vector; call rig_mxv or rig_vxm"});
  if (a.is_dense() && !b.is_dense())
    fail(errc::cannot, {call,
                        ": A is dense and B sparse; the transpose of A times B is rig_mxm of B and "
                        "A with transpose_a and transpose_b"});
  if (a.is_dense() && given.mask.over != mask_operand::kind::matrix)
    fail(errc::cannot, {call, ": a product of two dense needs a sparse mask"});
  if (a.is_dense() || !b.is_dense())
    return run_sparse_product(call, a, b, given.desc.transpose_b, by, given, c);
  problem p = dense_product(call, a.sparse, b.full, by);
  run_product(p, given, c);
}

/// A vector as the column of a matrix: a sparse product whose result is a column again.
void multiply_column(const char* call, const rig_container& a, const rig_container& u,
                     const rig_semiring& s, const settings& given, rig_container** w) {
  if (given.mask.is_there() || *w != nullptr)
    fail(errc::cannot, {call, ": ", s.pair->name,
                        " of a vector takes neither a mask nor an existing w; call rig_mxm with "
                        "the vector as a column"});
  rig_container row = u;
  row.kind = RIG_MATRIX;
  rig_container* made = nullptr;
  run_sparse_product(call, a, row, true, *s.pair, given, &made);
  const std::unique_ptr<rig_container> column(made);
  erased_operation o(call, operation::kind::map);
  descriptor turned;
  turned.transpose_a = true;
  turned.stream = given.desc.stream;
  rig::fill_in(o.x, column->sparse, false);
  set_copy(o);
  o.desc = &turned;
  set_result_type(o, {}, column->stored());
  *w = held(erased(run_sparse(o), column->stored()), true).release();
}

}  // namespace

settings::settings(const char* call, const rig_options* from) {
  if (from == nullptr) return;
  const rig_options given = read(call, "options", from);
  desc.transpose_a = given.transpose_a != 0;
  desc.transpose_b = given.transpose_b != 0;
  desc.replace = given.replace != 0;
  desc.fill = scalar_from(call, "fill", given.fill);
  if (given.kernel != nullptr) desc.kernel = given.kernel;
  desc.width = given.width;
  desc.k = given.k;
  desc.threads = given.threads;
  desc.rescale = given.rescale != 0;
  if (given.tf32 != 0) desc.precision = precision::tf32;
  desc.reproducible = given.any_order == 0;
  desc.stream = given.stream;
  set_mask(call, mask, given);
  if (given.accumulate != nullptr)
    accum = static_cast<accumulator>(
        number_of_name(call, "accumulate", given.accumulate, accumulator_names()));
  named = type_or_none(call, given.type);
  indices = given.indices;
}

void settings::refuse_indices(const char* call) const {
  if (indices != nullptr)
    fail(errc::cannot, {call, ": the result is one array; leave indices null"});
}

namespace {

/// Runs an operation on one or two operands, whose record `set` completes.
template <class Set>
rig_status operate(const char* call, operation::kind what, rig_container** c,
                   const rig_container* a, const rig_container* b, bool has_b,
                   const rig_options* options, const Set& set) {
  return guarded(call, [&] {
    require(call, "c", c);
    const settings from(call, options);
    from.refuse_indices(call);
    erased_operation o(call, what);
    fill_in(o.x, container_from(call, "a", a));
    if (has_b) fill_in(o.y, container_from(call, "b", b));
    set(o, from);
    run(o, from, c);
  });
}

binary binary_from(const char* call, const char* op) {
  return static_cast<binary>(number_of_name(call, "op", &given(call, "op", op), binary_names()));
}

rig_status join(const char* call, bool is_union, rig_container** c, const rig_container* a,
                const rig_container* b, const char* op, const rig_options* options) {
  return operate(
      call, operation::kind::merge, c, a, b, true, options,
      [&](erased_operation& o, const settings&) { set_join(o, is_union, binary_from(call, op)); });
}

}  // namespace
}  // namespace rig::c

rig_status rig_mxm(rig_container** c, const rig_container* a, const rig_container* b,
                   const rig_semiring* semiring, const rig_options* options) {
  const char* const call = "rig_mxm";
  return guarded(call, [&] {
    require(call, "c", c);
    multiply(call, container_from(call, "a", a), container_from(call, "b", b),
             *given(call, "semiring", semiring).pair, settings(call, options), c);
  });
}

rig_status rig_mxv(rig_container** w, const rig_container* a, const rig_container* u,
                   const rig_semiring* semiring, const rig_options* options) {
  const char* const call = "rig_mxv";
  return guarded(call, [&] {
    require(call, "w", w);
    const rig_container &x = matrix_from(call, "a", a), &y = container_from(call, "u", u);
    const rig_semiring& s = given(call, "semiring", semiring);
    require_column(call, y);
    const settings from(call, options);
    if (from.desc.transpose_b)
      rig::fail(rig::errc::cannot, {call, ": u is not transposed; leave transpose_b 0"});
    if (y.is_dense()) return multiply(call, x, y, *s.pair, from, w);
    const rig::builtin_pair* const by = exchanged(s);
    if (by == nullptr || by->product.algebra->has_finish)
      return multiply_column(call, x, y, s, from, w);
    run_sparse_product(call, y, x, !from.desc.transpose_a, *by, from, w);
  });
}

rig_status rig_vxm(rig_container** w, const rig_container* u, const rig_container* a,
                   const rig_semiring* semiring, const rig_options* options) {
  const char* const call = "rig_vxm";
  return guarded(call, [&] {
    require(call, "w", w);
    const rig_container &x = container_from(call, "u", u), &y = matrix_from(call, "a", a);
    const rig_semiring& s = given(call, "semiring", semiring);
    require_column(call, x);
    settings from(call, options);
    if (from.desc.transpose_a)
      rig::fail(rig::errc::cannot, {call, ": u is not transposed; leave transpose_a 0"});
    if (!x.is_dense())
      return run_sparse_product(call, x, y, from.desc.transpose_b, *s.pair, from, w);
    from.desc.transpose_a = !from.desc.transpose_b;
    from.desc.transpose_b = false;
    const rig::builtin_pair* const by = exchanged(s);
    if (by == nullptr) refuse_exchange(call, s);
    multiply(call, y, x, *by, from, w);
  });
}

rig_status rig_ewise_add(rig_container** c, const rig_container* a, const rig_container* b,
                         const char* op, const rig_options* options) {
  return join("rig_ewise_add", true, c, a, b, op, options);
}
rig_status rig_ewise_mult(rig_container** c, const rig_container* a, const rig_container* b,
                          const char* op, const rig_options* options) {
  return join("rig_ewise_mult", false, c, a, b, op, options);
}

rig_status rig_apply(rig_container** c, const rig_container* a, const char* op,
                     const rig_options* options) {
  const char* const call = "rig_apply";
  return operate(call, rig::operation::kind::map, c, a, nullptr, false, options,
                 [&](rig::erased_operation& o, const settings&) {
                   const int function =
                       rig::number_of_name(call, "op", &given(call, "op", op), rig::unary_names());
                   set_function(o, static_cast<rig::unary>(function));
                 });
}

rig_status rig_apply_number(rig_container** c, const rig_container* a, const char* op,
                            const rig_number* y, int32_t y_first, const rig_options* options) {
  const char* const call = "rig_apply_number";
  return operate(call, rig::operation::kind::map, c, a, nullptr, false, options,
                 [&](rig::erased_operation& o, const settings&) {
                   const rig::given_number number = number_from(call, "y", given(call, "y", y));
                   set_function(o, binary_from(call, op), number, y_first != 0);
                 });
}

rig_status rig_select(rig_container** c, const rig_container* a, const char* op,
                      const rig_number* y, const rig_options* options) {
  const char* const call = "rig_select";
  return operate(
      call, rig::operation::kind::select, c, a, nullptr, false, options,
      [&](rig::erased_operation& o, const settings&) {
        if (o.x.what == rig::operand::kind::dense)
          rig::fail(rig::errc::type, {call, ": a is dense, and has every entry; give a sparse"});
        const int how =
            rig::number_of_name(call, "op", &given(call, "op", op), rig::selection_names());
        set_selection(o, static_cast<rig::selection>(how),
                      number_from(call, "y", given(call, "y", y)));
      });
}

rig_status rig_reduce_rows(rig_container** w, const rig_container* a, const char* op,
                           const rig_options* options) {
  const char* const call = "rig_reduce_rows";
  return operate(call, rig::operation::kind::reduce_rows, w, a, nullptr, false, options,
                 [&](rig::erased_operation& o, const settings&) {
                   if (o.x.is_vector)
                     rig::fail(rig::errc::type, {call, ": a is a vector; call rig_reduce"});
                   set_sums(o, binary_from(call, op));
                 });
}

rig_status rig_reduce(rig_number* sum, const rig_container* a, const char* op,
                      const rig_options* options) {
  const char* const call = "rig_reduce";
  return guarded(call, [&] {
    require(call, "sum", sum);
    const settings from(call, options);
    if (from.mask.is_there())
      rig::fail(rig::errc::cannot, {call, ": a sum of everything takes no mask; call rig_select"});
    if (from.accum != rig::accumulator::none || from.named != rig::type::other ||
        from.indices != nullptr || from.desc.replace || from.desc.fill.has_value())
      rig::fail(rig::errc::cannot, {call,
                                    ": the sum is one number of its own type; leave accumulate, "
                                    "type, indices, replace and fill 0"});
    rig::erased_operation o(call, rig::operation::kind::reduce_rows);
    fill_in(o.x, container_from(call, "a", a));
    set_sums(o, binary_from(call, op));
    o.desc = &from.desc;
    run_reduce(o, o.number.bytes);
    *sum = number_to(o.number.bytes, o.number.stored);
  });
}

rig_status rig_transpose(rig_container** c, const rig_container* a, const rig_options* options) {
  const char* const call = "rig_transpose";
  return guarded(call, [&] {
    require(call, "c", c);
    settings from(call, options);
    from.refuse_indices(call);
    from.desc.transpose_a = !from.desc.transpose_a;
    const rig_container& x = container_from(call, "a", a);
    if (x.kind == RIG_VECTOR)
      rig::fail(rig::errc::type, {call, ": a is a vector, which has no transpose"});
    rig::erased_operation o(call, rig::operation::kind::map);
    fill_in(o.x, x);
    set_copy(o);
    run(o, from, c);
  });
}
