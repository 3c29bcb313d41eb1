#include <nanobind/stl/string.h>

#include <optional>

#include "docstrings.hpp"
#include "features.hpp"
#include "semirings.hpp"

namespace rigblas {
namespace {

/// The keywords of products: those of all operations, and how a product is computed.
#define RIGBLAS_PRODUCT_OPTIONS                                                    \
  RIGBLAS_OPTIONS, nb::arg("kernel") = "", nb::arg("width") = 0, nb::arg("k") = 0, \
                   nb::arg("rescale") = false, nb::arg("precision") = "full",      \
                   nb::arg("reproducible") = true
#define RIGBLAS_PRODUCT_PARAMETERS                                                             \
  RIGBLAS_OPTION_PARAMETERS, const char *kernel, rig::int64 width, rig::int64 k, flag rescale, \
      const char *precision, flag reproducible
#define RIGBLAS_PRODUCT_VALUES                                                           \
  options {                                                                              \
    RIGBLAS_OPTION_FIELDS, .kernel = kernel, .width = width, .k = k, .rescale = rescale, \
                           .precision = precision, .reproducible = reproducible          \
  }

/// B of a product with a dense result: an array, a Cbsr or a Quantized.
struct right {
  operand plain;
  rig::dense_operand full;
  bool is_sparse() const { return !plain.is_dense(); }
};
right read_right(nb::handle object, const char* call, const char* name) {
  right out;
  if (is_numpy(object)) {
    out.plain.full = read_array(object, call, name);
    out.full = out.plain.full.full;
  } else if (const cbsr* const packed = cbsr_from(object)) {
    out.full = operand_of(*packed);
    out.plain.full.full = out.full;
  } else if (const rig::quantized* const codes = quantized_from(object)) {
    rig::fill_in(out.full, *codes);
    out.plain.full.full = out.full;
    out.plain.full.full.value_type = type::float32;
  } else {
    out.plain = read_operand(object, call, name);
    out.full = out.plain.full.full;
  }
  return out;
}

/// A product with a dense result, filled in.
rig::problem product_of(const char* call, const sparse& a, const rig::dense_operand& b,
                        const rig::builtin_pair& pair, const settings& given) {
  rig::problem p = rig::dense_product(call, a, b, pair);
  p.desc = &given.desc;
  p.mask = given.mask;
  p.accum = given.accum;
  p.creates_result = given.creates();
  return p;
}

void set_result(rig::dense_operand& to, type of) {
  to.value_type = of;
  to.value_bytes = bytes_of(of);
}

/// Products from which on the interpreter's lock is released: docs/lab/python.md.
constexpr rig::int64 released_from = 1 << 15;

/// Releases the interpreter's lock, unless the call is so short that other threads lose by it.
class lock_release {
 public:
  explicit lock_release(const rig::problem& p) {
    const rig::int64 columns = p.desc->transpose_b ? p.b.rows : p.b.columns;
    if (p.a.where != rig::cpu() || p.structure->nnz() * columns >= released_from)
      released_.emplace();
  }

 private:
  std::optional<nb::gil_scoped_release> released_;
};

void check_and_run(rig::problem& p, bool is_checked) {
  const lock_release release(p);
  rig::or_out_of_memory(p.name, [&] {
    if (!is_checked) rig::check(p);
    rig::run(p);
  });
}
/// Orients the operands, so that the shape of the result is known.
void check_shapes(rig::problem& p) {
  const lock_release release(p);
  rig::or_out_of_memory(p.name, [&] { rig::check(p); });
}

/// Into arrays of the caller.
nb::object into_existing(rig::problem& p, const settings& given, type natural) {
  nb::handle values = given.out, indices;
  if (p.algebra->is_indexed) {
    if (!nb::isinstance<nb::tuple>(given.out) || nb::len(given.out) != 2)
      rig::fail(rig::errc::type, {p.name, ": ", p.algebra->name,
                                  " yields values and indices; out must be a tuple of two arrays"});
    values = nb::handle(PyTuple_GetItem(given.out.ptr(), 0));
    indices = nb::handle(PyTuple_GetItem(given.out.ptr(), 1));
  }
  const array c = writable_array(values, p.name);
  p.c = c.full;
  array places;
  if (p.algebra->is_indexed) {
    places = writable_array(indices, p.name);
    if (places.full.value_type != type::int32)
      rig::fail(rig::errc::type, {p.name, ": the indices in out are ",
                                  name_of(places.full.value_type), "; give int32"});
    p.indices = places.full;
    if (c.full.data == places.full.data && c.full.extent() > 0)
      rig::fail(rig::errc::range, {p.name,
                                   ": out holds one array twice; give one for the values, "
                                   "and another for the indices"});
  }
  require_kind(p.name, "out", c.full.value_type, "the results are", natural);
  check_and_run(p, false);
  return nb::borrow(given.out);
}

/// A Cbsr over the places of the mask.
nb::object into_cbsr(rig::problem& p, const settings& given, type of) {
  if (!given.creates())
    rig::fail(rig::errc::cannot, {p.name, ": a product under a Cbsr is new; leave out unset"});
  set_result(p.c, of);
  check_shapes(p);
  cbsr made;
  made.structure = *given.cbsr_mask;
  made.stored = of;
  made.values = rig::buffer::allocate(made.structure.nnz() * bytes_of(of), p.a.where,
                                      rig::owner_for(p.a.where, given.desc.stream));
  p.c = operand_of(made);
  check_and_run(p, true);
  return nb::cast(std::move(made));
}

nb::object product_with_dense(const char* call, const sparse& a, const right& b, const algebra& by,
                              const settings& given) {
  rig::problem p = product_of(call, a, b.full, *by.pair, given);
  const type of = given.type_or(by.natural);
  if (given.cbsr_mask != nullptr) return into_cbsr(p, given, of);
  if (!given.creates()) return into_existing(p, given, by.natural);
  set_result(p.c, of);
  check_shapes(p);
  const array& like = b.plain.full;
  array c = new_array(like, p.a.rows, p.b.columns, of, like.is_column);
  p.c = c.full;
  array places;
  if (p.algebra->is_indexed) {
    places = new_array(like, p.a.rows, p.b.columns, type::int32, like.is_column);
    p.indices = places.full;
  }
  check_and_run(p, true);
  if (!p.algebra->is_indexed) return returned(std::move(c));
  return nb::make_tuple(returned(std::move(c)), returned(std::move(places)));
}

/// A product with a sparse result; the operation reads `x` and `y` until it has run.
void set_operands(rig::erased_operation& o, const operand& x, const operand& y, bool y_transposed,
                  const algebra& by) {
  set_product(o, *by.pair, y_transposed);
  fill_in(o.x, x);
  fill_in(o.y, y);
}

nb::object sparse_product(const char* call, const operand& x, const operand& y, bool y_transposed,
                          const algebra& by, const settings& given, bool yields_vector) {
  rig::erased_operation o(call, rig::operation::kind::product);
  set_operands(o, x, y, y_transposed, by);
  return run(o, given, by.natural, yields_vector);
}

/// The product that the kinds of the operands make.
nb::object mxm(nb::handle first, nb::handle second, nb::handle semiring, const options& from) {
  const char* const call = "mxm";
  const operand a = read_operand(first, call, "A");
  const right b = read_right(second, call, "B");
  const settings given(call, from, a.is_dense() ? a : b.is_sparse() ? a : b.plain);
  const algebra by = algebra_from(semiring, call, &a, &b.plain, given.named);
  if (a.what == operand::kind::vector || b.plain.what == operand::kind::vector)
    rig::fail(rig::errc::type, {call, ": an operand is a Vector; call vxm(u, A) or mxv(A, u)"});
  if (!a.is_dense() && !b.is_sparse()) return product_with_dense(call, *a.entries, b, by, given);
  if (a.is_dense() && b.is_sparse())
    rig::fail(rig::errc::cannot,
              {call,
               ": A is dense and B sparse; the transpose of A times B is mxm(B, A, "
               "transpose_a=True, transpose_b=True)"});
  if (a.is_dense() && given.mask.over != rig::mask_operand::kind::matrix)
    rig::fail(rig::errc::cannot, {call,
                                  ": a product of two arrays needs a Matrix as its mask; one "
                                  "of all places is a matter for numpy.matmul"});
  return sparse_product(call, a, b.plain, given.desc.transpose_b, by, given, false);
}

/// Y = A·X in the memory of tensors, for rigblas.torch. The weights are packed, or 0 for those of
/// A; winners, or 0, take the places of a maximum. A row without entries gives 0.
void multiply_tensors(const matrix& a, const char* semiring, std::uintptr_t weights,
                      const rig::dense_operand& x, std::uintptr_t y, rig::int64 y_stride,
                      std::uintptr_t winners, rig::descriptor desc) {
  const rig::builtin_pair& pair = pair_over(semiring, algebra_of(x.value_type), "spmm");
  rig::problem p = rig::dense_product("spmm", a, x, pair);
  desc.stream = x.stream;
  desc.fill = rig::int64(0);
  p.desc = &desc;
  if (weights != 0) {
    p.a.values = reinterpret_cast<const void*>(weights);
    p.a.values_stream = x.stream;
    p.a.value_type = x.value_type;
    p.a.value_bytes = x.value_bytes;
  }
  p.c = x;
  p.c.data = reinterpret_cast<void*>(y);
  p.c.rows = desc.transpose_a ? a.columns() : a.rows();
  p.c.stride = y_stride;
  if (winners != 0) {
    p.indices = p.c;
    p.indices.data = reinterpret_cast<void*>(winners);
    set_result(p.indices, type::int32);
  }
  check_and_run(p, false);
}

/// z = the inner products of rows of x and y at the entries of A, for rigblas.torch: in the order
/// of the entries, and in the type of x.
void multiply_pairs(const matrix& a, const rig::dense_operand& x, const rig::dense_operand& y,
                    std::uintptr_t z) {
  const rig::builtin_pair& pair = pair_over("plus_times", algebra_of(x.value_type), "sddmm");
  rig::descriptor desc;
  desc.transpose_b = true;
  desc.stream = x.stream;
  rig::operation o{"sddmm", rig::operation::kind::product};
  o.x.what = o.y.what = rig::operand::kind::dense;
  o.x.full = x;
  o.y.full = y;
  o.y_transposed = true;
  o.product = &pair.product;
  o.op = pair.add;
  o.desc = &desc;
  o.mask.over = rig::mask_operand::kind::matrix;
  o.mask.structural = true;
  o.mask.structure = a.structure;
  o.mask.sparse = operand_of(a);
  o.out_type = x.value_type;
  o.out_bytes = x.value_bytes;
  o.values = reinterpret_cast<void*>(z);
  const nb::gil_scoped_release release;
  rig::or_out_of_memory(o.name, [&] { rig::run_sparse(o); });
}

/// Throws unless u is one column, where A is, with a place for each row or column of A.
void require_places(const char* call, const operand& a, const operand& u, bool for_rows) {
  const rig::dense_operand& full = u.full.full;
  if (u.is_dense() && full.columns != 1)
    rig::fail(rig::errc::shape, {call, ": u is ", full.rows, "x", full.columns,
                                 "; give one dimension, or one column"});
  const rig::index given = u.is_dense() ? full.rows : u.entries->columns(),
                   wanted = for_rows ? a.entries->rows() : a.entries->columns();
  if (given != wanted)
    rig::fail(
        rig::errc::shape,
        {call, ": A is ", rig::shape_text(a.entries->rows(), a.entries->columns()), ", u has ",
         given, " places; give one for each ", for_rows ? "row" : "column", " of A, ", wanted});
  if (u.where() != a.where())
    rig::fail(rig::errc::place, {call, ": A is on ", rig::to_string(a.where()), ", u is on ",
                                 rig::to_string(u.where()), "; copy one with .to()"});
}

/// A vector as the column of a matrix: a sparse product whose result is a column again.
nb::object column_product(const char* call, const operand& a, const operand& u, const algebra& by,
                          const settings& given) {
  if (given.mask.is_there() || !given.creates())
    rig::fail(rig::errc::cannot, {call, ": ", by.pair->name,
                                  " of a Vector takes neither mask nor out; call mxm with the "
                                  "vector as a column"});
  operand row = u;
  row.what = operand::kind::matrix;
  rig::erased_operation o(call, rig::operation::kind::product);
  set_operands(o, a, row, true, by);
  const nb::object column = run(o, given, by.natural, false);
  return column.attr("T").attr("_as_vector")();
}

nb::object mxv(nb::handle first, nb::handle second, nb::handle semiring, options from) {
  const char* const call = "mxv";
  const operand a = read_operand(first, call, "A");
  const right u = read_right(second, call, "u");
  if (a.what != operand::kind::matrix || u.plain.what == operand::kind::matrix)
    rig::fail(rig::errc::type,
              {call, ": A is a Matrix and u a Vector or an array; a row times A is vxm(u, A)"});
  if (from.transpose_b)
    rig::fail(rig::errc::cannot, {call, ": u is not transposed; leave transpose_b unset"});
  require_places(call, a, u.plain, from.transpose_a);
  const settings given(call, from, u.plain.is_dense() ? u.plain : a);
  if (u.plain.is_dense()) {
    const algebra by = algebra_from(semiring, call, &a, &u.plain, given.named);
    return product_with_dense(call, *a.entries, u, by, given);
  }
  const algebra straight = algebra_from(semiring, call, &a, &u.plain, given.named);
  if (nb::isinstance<own_semiring>(semiring) || straight.pair->product.algebra->has_finish)
    return column_product(call, a, u.plain, straight, given);
  const algebra by = algebra_from(exchanged(semiring, call), call, &u.plain, &a, given.named);
  return sparse_product(call, u.plain, a, !given.desc.transpose_a, by, given, true);
}

nb::object vxm(nb::handle first, nb::handle second, nb::handle semiring, options from) {
  const char* const call = "vxm";
  const operand a = read_operand(second, call, "A");
  const right u = read_right(first, call, "u");
  if (a.what != operand::kind::matrix || u.plain.what == operand::kind::matrix)
    rig::fail(rig::errc::type,
              {call, ": u is a Vector or an array, and A a Matrix; A times a column is mxv(A, u)"});
  if (from.transpose_a)
    rig::fail(rig::errc::cannot, {call, ": u is not transposed; leave transpose_a unset"});
  require_places(call, a, u.plain, !from.transpose_b);
  if (!u.plain.is_dense()) {
    const settings given(call, from, a);
    const algebra by = algebra_from(semiring, call, &u.plain, &a, given.named);
    return sparse_product(call, u.plain, a, given.desc.transpose_b, by, given, true);
  }
  from.transpose_a = !from.transpose_b;
  from.transpose_b = false;
  const settings given(call, from, u.plain);
  const algebra by = algebra_from(exchanged(semiring, call), call, &a, &u.plain, given.named);
  return product_with_dense(call, *a.entries, u, by, given);
}

rig::explanation explain(nb::handle first, nb::handle second, nb::handle semiring,
                         const options& from) {
  const char* const call = "explain";
  const operand a = read_operand(first, call, "A");
  const right b = read_right(second, call, "B");
  const settings given(call, from, a.is_dense() || b.is_sparse() ? a : b.plain);
  const algebra by = algebra_from(semiring, call, &a, &b.plain, given.named);
  if (!a.is_dense() && !b.is_sparse()) {
    rig::problem p = product_of("mxm", *a.entries, b.full, *by.pair, given);
    p.creates_result = true;
    set_result(p.c, by.natural);
    const nb::gil_scoped_release release;
    return rig::or_out_of_memory(call, [&] { return rig::explain(p); });
  }
  rig::erased_operation o("mxm", rig::operation::kind::product);
  set_operands(o, a, b.plain, given.desc.transpose_b, by);
  o.desc = &given.desc;
  o.mask = given.mask;
  o.out_type = by.natural;
  o.out_bytes = bytes_of(by.natural);
  const nb::gil_scoped_release release;
  return rig::or_out_of_memory(call, [&] { return rig::explain(o); });
}

void bind_explain(nb::module_& m) {
  nb::class_<rig::explanation>(m, "Explanation", "Why a product takes its kernel.")
      .def_ro("chosen", &rig::explanation::chosen, "The kernel that would run.")
      .def_ro("reason", &rig::explanation::reason, "Why it would.")
      .def("json", &rig::explanation::json, "Every kernel's answer, as JSON.")
      .def("__str__", &rig::explanation::text)
      .def("__repr__", &rig::explanation::text);
  m.def(
      "explain",
      [](nb::handle a, nb::handle b, nb::handle semiring, RIGBLAS_PRODUCT_PARAMETERS) {
        return explain(a, b, semiring, RIGBLAS_PRODUCT_VALUES);
      },
      nb::arg("A").none(), nb::arg("B").none(), nb::arg("semiring") = "plus_times",
      RIGBLAS_PRODUCT_OPTIONS, doc::explain);
}

}  // namespace

void bind_products(nb::module_& m) {
  m.def(
      "mxm",
      [](nb::handle a, nb::handle b, nb::handle semiring, RIGBLAS_PRODUCT_PARAMETERS) {
        return mxm(a, b, semiring, RIGBLAS_PRODUCT_VALUES);
      },
      nb::arg("A").none(), nb::arg("B").none(), nb::arg("semiring") = "plus_times",
      RIGBLAS_PRODUCT_OPTIONS, doc::mxm);
  m.def(
      "mxv",
      [](nb::handle a, nb::handle u, nb::handle semiring, RIGBLAS_PRODUCT_PARAMETERS) {
        return mxv(a, u, semiring, RIGBLAS_PRODUCT_VALUES);
      },
      nb::arg("A").none(), nb::arg("u").none(), nb::arg("semiring") = "plus_times",
      RIGBLAS_PRODUCT_OPTIONS, doc::mxv);
  m.def(
      "vxm",
      [](nb::handle u, nb::handle a, nb::handle semiring, RIGBLAS_PRODUCT_PARAMETERS) {
        return vxm(u, a, semiring, RIGBLAS_PRODUCT_VALUES);
      },
      nb::arg("u").none(), nb::arg("A").none(), nb::arg("semiring") = "plus_times",
      RIGBLAS_PRODUCT_OPTIONS, doc::vxm);
  m.def(
      "_multiply_tensors",
      [](const matrix& a, const char* semiring, std::uintptr_t weights, std::uintptr_t x,
         nb::tuple shape, nb::tuple strides, nb::handle dtype, int device, std::uintptr_t stream,
         std::uintptr_t y, rig::int64 y_stride, flag transpose_a, std::uintptr_t winners,
         const char* kernel, rig::int64 width, flag rescale) {
        rig::descriptor desc;
        desc.transpose_a = transpose_a;
        desc.kernel = kernel;
        desc.width = width;
        desc.rescale = rescale;
        multiply_tensors(a, semiring, weights,
                         tensor_memory(x, shape, strides, type_from(dtype), device, stream), y,
                         y_stride, winners, desc);
      },
      nb::arg("A"), nb::arg("semiring"), nb::arg("weights"), nb::arg("x"), nb::arg("shape"),
      nb::arg("strides"), nb::arg("dtype"), nb::arg("device"), nb::arg("stream"), nb::arg("y"),
      nb::arg("y_stride"), nb::arg("transpose_a") = false, nb::arg("winners") = 0,
      nb::arg("kernel") = "", nb::arg("width") = 0, nb::arg("rescale") = false);
  m.def(
      "_multiply_pairs",
      [](const matrix& a, const dense_view& x, const dense_view& y, std::uintptr_t z) {
        multiply_pairs(a, x.full, y.full, z);
      },
      nb::arg("A"), nb::arg("x"), nb::arg("y"), nb::arg("z"));
  bind_explain(m);
}

}  // namespace rigblas
