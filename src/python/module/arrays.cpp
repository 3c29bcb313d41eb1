#include "arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace rigblas {
namespace {

/// What arrays.py does: conversions that take Python.
nb::object python(const char* function) {
  return nb::module_::import_("rigblas._arrays").attr(function);
}

nb::handle numpy_array_type() {
  static PyObject* const kept =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return kept;
}
/// The storage type of a DLPack type; `other` if rig has none.
type type_of_code(nb::dlpack::dtype of) {
  using code = nb::dlpack::dtype_code;
  if (of.lanes != 1) return type::other;
  const auto is = [&](code which, int bits) {
    return of.code == static_cast<uint8_t>(which) && of.bits == bits;
  };
  return is(code::Float, 32)    ? type::float32
         : is(code::Float, 64)  ? type::float64
         : is(code::Int, 32)    ? type::int32
         : is(code::Int, 64)    ? type::int64
         : is(code::Bool, 8)    ? type::boolean
         : is(code::Float, 16)  ? type::half
         : is(code::Bfloat, 16) ? type::bfloat16
                                : type::other;
}

rig::place place_of(int device_type, int device_id, const char* call, const char* name) {
  if (device_type == nb::device::cpu::value || device_type == nb::device::cuda_host::value)
    return rig::cpu();
  if (device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value)
    return rig::cuda(device_id);
  rig::fail(rig::errc::place,
            {call, ": ", name, " is on a device that rig does not serve; copy it to the CPU"});
}

[[noreturn]] void refuse(nb::handle object, const char* call, const char* name) {
  std::string kind = kind_of(object);
  if (nb::hasattr(object, "dtype"))
    kind += " of " + nb::cast<std::string>(nb::str(nb::object(object.attr("dtype"))));
  rig::fail(rig::errc::type, {call, ": ", name, " is a ", kind,
                              "; give a NumPy array, or one with DLPack, of float32, float64, "
                              "float16, bfloat16, int32, int64 or bool"});
}

/// Whether rows lie as rig reads them: elements of a row side by side, rows in ascending order.
bool is_readable(const nb::ndarray<nb::ro>& x) {
  const bool is_column = x.ndim() == 1;
  const int64_t columns = is_column ? 1 : static_cast<int64_t>(x.shape(1));
  if (x.size() == 0) return true;
  if (!is_column && columns > 1 && x.stride(1) != 1) return false;
  return x.shape(0) <= 1 || x.stride(0) >= columns;
}

template <class Array>
array from_ndarray(const Array& x, nb::handle object, const char* call, const char* name) {
  array out;
  out.is_column = x.ndim() == 1;
  const size_t columns = out.is_column ? 1 : x.shape(1);
  out.full.rows = rig::checked_index(x.shape(0)).as(call, "rows");
  out.full.columns = rig::checked_index(columns).as(call, "columns");
  out.full.stride = x.size() > 0 && x.shape(0) > 1 ? x.stride(0) : static_cast<int64_t>(columns);
  out.full.value_type = type_of_code(x.dtype());
  out.full.value_bytes = bytes_of(out.full.value_type);
  out.full.data = const_cast<void*>(static_cast<const void*>(x.data()));
  out.full.where = place_of(x.device_type(), x.device_id(), call, name);
  out.owner = nb::borrow(object);
  out.given = out.owner;
  return out;
}

array from_view(const dense_view& view, nb::handle object) {
  array out;
  out.full = view.full;
  out.owner = out.given = nb::borrow(object);
  return out;
}

/// An object as an array of DLPack, after Python has converted what nanobind does not take.
nb::ndarray<nb::ro> imported(nb::object& object, const char* call, const char* name) {
  nb::ndarray<nb::ro> x;
  if (!is_numpy(object) && nb::getattr(object, "requires_grad", nb::none()).is(Py_True))
    rig::fail(rig::errc::type, {call, ": ", name,
                                " requires gradients, which rigblas.torch computes; pass "
                                "x.detach(), or call rigblas.torch.spmm"});
  if (is_numpy(object)) {
    if (nb::try_cast(object, x) && type_of_code(x.dtype()) != type::other) return x;
  } else if (PyObject_IsInstance(object.ptr(), numpy_array_type().ptr()) == 0 &&
             nb::hasattr(object, "__dlpack__") && nb::try_cast(object, x) &&
             type_of_code(x.dtype()) != type::other) {
    return x;
  }
  nb::object converted = python("as_array")(object);
  if (converted.is_none() || !nb::try_cast(converted, x) || type_of_code(x.dtype()) == type::other)
    refuse(object, call, name);
  object = converted;
  return x;
}

/// The view that an object is, or null.
const dense_view* view_from(nb::handle object) {
  dense_view* view = nullptr;
  return !is_numpy(object) && nb::try_cast(object, view) ? view : nullptr;
}

}  // namespace

bool is_numpy(nb::handle object) {
  return Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject*>(numpy_array_type().ptr());
}

bool is_array(nb::handle object) {
  return is_numpy(object) || PyList_Check(object.ptr()) || nb::isinstance<dense_view>(object) ||
         nb::hasattr(object, "__dlpack__") || nb::hasattr(object, "__cuda_array_interface__") ||
         nb::hasattr(object, "__array__");
}

array read_array(nb::handle given, const char* call, const char* name) {
  if (const dense_view* const view = view_from(given)) return from_view(*view, given);
  nb::object object = nb::borrow(given);
  nb::ndarray<nb::ro> x = imported(object, call, name);
  if (x.ndim() != 1 && x.ndim() != 2)
    rig::fail(rig::errc::shape, {call, ": ", name, " has ", static_cast<long>(x.ndim()),
                                 " dimensions; give one or two"});
  if (!is_readable(x)) {
    if (x.device_type() != nb::device::cpu::value)
      rig::fail(rig::errc::shape,
                {call, ": the rows of ", name, " do not lie in order; make it contiguous"});
    object = python("in_order")(object);
    x = nb::cast<nb::ndarray<nb::ro>>(object);
  }
  array out = from_ndarray(x, object, call, name);
  out.given = nb::borrow(given);
  return out;
}

array writable_array(nb::handle given, const char* call) {
  if (const dense_view* const view = view_from(given)) return from_view(*view, given);
  if (!is_numpy(given) && python("is_of_jax")(given).is(Py_True))
    rig::fail(rig::errc::read_only,
              {call, ": out is an array of JAX, which is never written; leave out unset"});
  nb::ndarray<> x;
  if (!nb::try_cast(given, x)) {
    nb::ndarray<nb::ro> constant;
    if (nb::try_cast(given, constant))
      rig::fail(rig::errc::read_only, {call, ": out is read-only; give an array of your own"});
    refuse(given, call, "out");
  }
  if (type_of_code(x.dtype()) == type::other) refuse(given, call, "out");
  if ((x.ndim() != 1 && x.ndim() != 2) || !is_readable(nb::ndarray<nb::ro>(x)))
    rig::fail(rig::errc::shape, {call, ": out has ", static_cast<long>(x.ndim()),
                                 " dimensions, or rows that do not lie in order; give an array of "
                                 "one or two dimensions in C order"});
  return from_ndarray(x, given, call, "out");
}

array new_array(const array& like, rig::index rows, rig::index columns, type of, bool is_column) {
  if (like.given.is_valid() && !is_numpy(like.given)) {
    const nb::object columns_or_none = is_column ? nb::none() : nb::object(nb::int_(columns));
    const nb::tuple made(python("empty")(like.given, rows, columns_or_none, name_of(of)));
    array out = writable_array(made[0], "result");
    if (!made[1].is_none()) out.given = made[1];
    return out;
  }
  static PyObject* const empty =
      nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  const nb::object made = is_column
                              ? nb::handle(empty)(rows, dtype_of(of))
                              : nb::handle(empty)(nb::make_tuple(rows, columns), dtype_of(of));
  return writable_array(made, "result");
}

nb::object returned(array made) {
  return made.given.is(made.owner) ? std::move(made.given) : made.given(made.owner);
}

rig::integers index_array::view() const {
  if (is_64) return std::span(static_cast<const rig::int64*>(data), size);
  return std::span(static_cast<const rig::int32*>(data), size);
}

index_array read_indices(nb::handle object, const char* call, const char* name) {
  nb::object list = python("as_indices")(object);
  if (list.is_none())
    rig::fail(rig::errc::type, {call, ": ", name, " is ", kind_of(object),
                                "; give a one-dimensional array or list of integers"});
  const auto x = nb::cast<nb::ndarray<nb::ro>>(list);
  index_array out;
  out.data = x.data();
  out.size = x.size();
  out.is_64 = x.itemsize() == 8;
  out.is_callers = list.is(object);
  out.owner = std::move(list);
  return out;
}

void* stream_from(nb::handle given) {
  std::uintptr_t address = 0;
  if (!given.is_none() && !nb::try_cast(given, address))
    rig::fail(rig::errc::type, {"stream is ", nb::cast<std::string>(nb::repr(given)),
                                "; give the address of a CUDA stream, or None"});
  return reinterpret_cast<void*>(address);
}

void* stream_of(nb::handle given, const array& first) {
  if (!given.is_none()) return stream_from(given);
  if (first.full.where == rig::cpu()) return nullptr;
  if (first.full.stream != nullptr) return first.full.stream;
  if (!first.given.is_valid()) return nullptr;
  return stream_from(python("current_stream")(first.given));
}

namespace {

/// bfloat16 as its bits, because NumPy has no such type; codes as bytes.
nb::dlpack::dtype code_of(type of) {
  using code = nb::dlpack::dtype_code;
  nb::dlpack::dtype out;
  out.lanes = 1;
  out.bits = of == type::code ? 8 : static_cast<uint8_t>(8 * bytes_of(of));
  out.code = static_cast<uint8_t>(of == type::boolean                        ? code::Bool
                                  : of == type::int32 || of == type::int64   ? code::Int
                                  : of == type::bfloat16 || of == type::code ? code::UInt
                                                                             : code::Float);
  return out;
}

template <class Array, class Data>
nb::object numpy_over(Data* data, std::size_t rows, std::size_t columns, type of, bool is_column,
                      const nb::object& owner) {
  const size_t shape[2] = {rows, columns};
  return nb::cast(Array(data, is_column ? 1 : 2, shape, owner, nullptr, code_of(of)));
}

}  // namespace

nb::dlpack::dtype dlpack_type(type of) {
  nb::dlpack::dtype out = code_of(of);
  if (of == type::bfloat16) out.code = static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat);
  return out;
}

nb::object device_view(const void* data, std::size_t rows, std::size_t columns,
                       nb::dlpack::dtype of, bool is_column, const nb::object& owner,
                       rig::place where) {
  {
    const nb::gil_scoped_release release;
    rig::synchronise(where);  // what fills the memory may still run, and the reader has no stream
  }
  const size_t shape[2] = {rows, columns};
  const int kind = where == rig::cpu() ? nb::device::cpu::value : nb::device::cuda::value;
  return nb::cast(nb::ndarray<nb::array_api, nb::ro>(data, is_column ? 1 : 2, shape, owner, nullptr,
                                                     of, kind, where.device));
}

nb::object numpy_view(const void* data, std::size_t rows, std::size_t columns, type of,
                      bool is_column, nb::object owner) {
  return numpy_over<nb::ndarray<nb::numpy, nb::ro>>(data, rows, columns, of, is_column, owner);
}
nb::object numpy_array(void* data, std::size_t rows, std::size_t columns, type of, bool is_column,
                       nb::object owner) {
  return numpy_over<nb::ndarray<nb::numpy>>(data, rows, columns, of, is_column, owner);
}

rig::place place_from(nb::handle device) {
  if (nb::isinstance<nb::str>(device) && std::string_view(nb::cast<const char*>(device)) == "cpu")
    return rig::cpu();
  const auto text = nb::cast<std::string>(nb::str(device));
  if (text == "cuda") return rig::cuda(0);
  if (text.rfind("cuda:", 0) == 0 && text.size() > 5 && text.size() < 10 &&
      text.find_first_not_of("0123456789", 5) == std::string::npos)
    return rig::cuda(std::stoi(text.substr(5)));
  rig::fail(rig::errc::place, {"device is '", text, "'; give \"cpu\" or \"cuda:0\""});
}

rig::dense_operand tensor_memory(std::uintptr_t data, nb::tuple shape, nb::tuple strides, type of,
                                 int device, std::uintptr_t stream) {
  const auto number = [](const nb::tuple& from, Py_ssize_t at) {
    return rig::int64{PyLong_AsLongLong(PyTuple_GetItem(from.ptr(), at))};
  };
  const bool is_column = nb::len(shape) == 1;
  if ((!is_column && nb::len(shape) != 2) || nb::len(strides) != nb::len(shape))
    rig::fail(rig::errc::shape, {"rigblas: a tensor has ", static_cast<long>(nb::len(shape)),
                                 " dimensions; give one or two"});
  rig::dense_operand out;
  out.rows = rig::checked_index(number(shape, 0)).as("rigblas", "rows");
  out.columns = is_column ? 1 : rig::checked_index(number(shape, 1)).as("rigblas", "columns");
  out.stride = out.rows < 2 ? out.columns : number(strides, 0);
  const bool is_packed = is_column || out.columns < 2 || number(strides, 1) == 1;
  if (out.stride < out.columns || !is_packed)
    rig::fail(rig::errc::shape,
              {"rigblas: a tensor of shape ", nb::cast<std::string>(nb::repr(nb::tuple(shape))),
               " has the strides ", nb::cast<std::string>(nb::repr(strides)),
               ", so its rows do not lie in order; call .contiguous()"});
  out.data = reinterpret_cast<void*>(data);
  out.value_type = of;
  out.value_bytes = bytes_of(of);
  out.where = device < 0 ? rig::cpu() : rig::cuda(device);
  out.stream = reinterpret_cast<void*>(stream);
  return out;
}

void bind_arrays(nb::module_& m) {
  nb::class_<dense_view>(m, "DenseView",
                         "The memory of a tensor, by its address.\n\n"
                         "It owns nothing: the caller keeps the memory until the call has run.")
      .def(
          "__init__",
          [](dense_view* self, std::uintptr_t data, nb::tuple shape, nb::tuple strides,
             nb::handle dtype, int device, std::uintptr_t stream) {
            new (self)
                dense_view{tensor_memory(data, shape, strides, type_from(dtype), device, stream)};
          },
          nb::arg("data"), nb::arg("shape"), nb::arg("strides"), nb::arg("dtype"),
          nb::arg("device") = -1, nb::arg("stream") = 0);
}

}  // namespace rigblas
