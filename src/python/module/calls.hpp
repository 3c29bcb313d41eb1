#pragma once

#include <optional>
#include <span>

#include "sparse.hpp"

// What all calls share: keyword arguments, masks, results.

namespace rigblas {

/// A bool of Python or of NumPy.
struct flag {
  bool value = false;
  operator bool() const { return value; }
};

/// The keyword arguments of a call, as Python gives them.
struct options {
  nb::handle mask = Py_None, accum = Py_None, out = Py_None, fill = Py_None, dtype = Py_None,
             stream = Py_None;
  bool complement = false, structure = false, replace = false;
  bool transpose_a = false, transpose_b = false;
  rig::int64 threads = 0;
  const char* kernel = "";
  rig::int64 width = 0, k = 0;
  bool rescale = false;
  const char* precision = "full";
  bool reproducible = true;
};

/// The keywords of operations other than products, in the order of their parameters.
#define RIGBLAS_KEYWORDS                                                                        \
  nb::arg("mask") = nb::none(), nb::arg("complement") = false, nb::arg("structure") = false,    \
  nb::arg("accum") = nb::none(), nb::arg("out") = nb::none(), nb::arg("replace") = false,       \
  nb::arg("fill") = nb::none(), nb::arg("transpose_a") = false, nb::arg("transpose_b") = false, \
  nb::arg("threads") = 0, nb::arg("dtype") = nb::none(), nb::arg("stream") = nb::none()
#define RIGBLAS_OPTIONS nb::kw_only(), RIGBLAS_KEYWORDS
#define RIGBLAS_OPTION_PARAMETERS                                                            \
  nb::handle mask, flag complement, flag structure, nb::handle accum, nb::handle out,        \
      flag replace, nb::handle fill, flag transpose_a, flag transpose_b, rig::int64 threads, \
      nb::handle dtype, nb::handle stream
#define RIGBLAS_OPTION_FIELDS                                                               \
  .mask = mask, .accum = accum, .out = out, .fill = fill, .dtype = dtype, .stream = stream, \
  .complement = complement, .structure = structure, .replace = replace,                     \
  .transpose_a = transpose_a, .transpose_b = transpose_b, .threads = threads
#define RIGBLAS_OPTION_VALUES \
  options { RIGBLAS_OPTION_FIELDS }

/// One operand: sparse, or a dense array. It shares its memory, so that a call may run while
/// another thread rebinds the matrix.
struct operand {
  enum class kind { dense, matrix, vector } what = kind::dense;
  array full;
  std::optional<sparse> entries;

  bool is_dense() const { return what == kind::dense; }
  type stored() const { return is_dense() ? full.full.value_type : entries->stored; }
  rig::place where() const { return is_dense() ? full.full.where : entries->where(); }
};
operand read_operand(nb::handle object, const char* call, const char* name);
void fill_in(rig::operand& out, const operand& from);

/// A call's descriptor, mask, accumulator and existing result, read once.
struct settings {
  settings(const char* call, const options& given, const operand& first);

  const char* call;
  rig::descriptor desc;
  rig::mask_operand mask;
  rig::accumulator accum = rig::accumulator::none;
  nb::handle out;            ///< none: the result is new
  type named = type::other;  ///< the type of a new result, if it is named
  const rig::cbsr_pattern* cbsr_mask = nullptr;

  bool creates() const { return out.is_none(); }
  type type_or(type natural) const { return named == type::other ? natural : named; }

 private:
  operand mask_memory_;
};

/// Throws TypeError if `target` would truncate what is written to it: floats in integers, numbers
/// in bools. `source` is the source's name with its verb.
void require_kind(const char* call, const char* target, type stored, const char* source, type from);

/// Checks and runs an operation, whose operands and operator are filled in. `natural` is the type
/// of its results; `like` the dense operand whose framework a dense result has.
nb::object run(rig::operation& o, const settings& given, type natural, bool yields_vector,
               const array& like = {});
inline nb::object run(rig::erased_operation& o, const settings& given, const array& like = {}) {
  return run(o, given, o.natural, o.yields_vector, like);
}

/// The values in another type; shares the pattern.
sparse astype(const sparse& from, type to);

/// The number of a name in a list, for enums of rig. Throws ValueError, which lists the names.
int number_of_name(const char* call, const char* what, nb::handle name,
                   std::span<const char* const> names);
inline int number_of_name(const char* call, const char* what, nb::handle name,
                          std::initializer_list<const char*> names) {
  return number_of_name(call, what, name, std::span(names.begin(), names.size()));
}
/// A binary operator by its name or sign.
rig::binary binary_from(const char* call, nb::handle name);

/// What readers of files take.
rig::read_options read_options_from(const char* call, rig::int64 nodes,
                                    const std::string& separator, bool values, bool extra_columns,
                                    nb::handle duplicates, bool symmetrise);

void bind_operations(nb::module_& m);
void bind_products(nb::module_& m);
void bind_features(nb::module_& m);
void bind_algorithms(nb::module_& m);
void bind_files(nb::module_& m);
void bind_semirings(nb::module_& m);
void bind_distributed(nb::module_& m);

}  // namespace rigblas

namespace nanobind::detail {

template <>
struct type_caster<rigblas::flag> {
  NB_TYPE_CASTER(rigblas::flag, const_name("bool"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value.value = source.is(Py_True);
    if (value.value || source.is(Py_False)) return true;
    const handle type(reinterpret_cast<PyObject*>(Py_TYPE(source.ptr())));
    if (!type.is(rigblas::numpy_bool_type())) return false;
    value.value = PyObject_IsTrue(source.ptr()) == 1;
    return true;
  }
};

}  // namespace nanobind::detail
