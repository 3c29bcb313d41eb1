#include "types.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace rigblas {
namespace {

constexpr int storage_types = static_cast<int>(type::bfloat16) + 1;

}  // namespace

nb::object dtype_of(type of) {
  if (of == type::bfloat16) return nb::str("bfloat16");
  // Never destroyed: the interpreter may end first.
  static PyObject* made[storage_types];
  PyObject*& kept = made[static_cast<int>(of)];
  if (kept == nullptr)
    kept = nb::module_::import_("numpy").attr("dtype")(name_of(of)).release().ptr();
  return nb::borrow(kept);
}

nb::handle numpy_bool_type() {
  static PyObject* const kept =
      nb::object(nb::module_::import_("numpy").attr("bool_")).release().ptr();
  return kept;
}

type type_from(nb::handle dtype) {
  std::string name;
  if (nb::isinstance<nb::str>(dtype)) {
    const std::string_view given = nb::cast<const char*>(dtype);
    for (int at = 0; at < storage_types; ++at)
      if (given == name_of(static_cast<type>(at))) return static_cast<type>(at);
  }
  try {
    name = nb::cast<std::string>(nb::module_::import_("numpy").attr("dtype")(dtype).attr("name"));
  } catch (nb::python_error&) {
    name = nb::cast<std::string>(nb::str(dtype));
  }
  for (int at = 0; at < storage_types; ++at)
    if (name == name_of(static_cast<type>(at))) return static_cast<type>(at);
  rig::fail(
      rig::errc::type,
      {"dtype is ", name, "; rig has float32, float64, float16, bfloat16, int32, int64 and bool"});
}

std::string kind_of(nb::handle object) {
  return nb::cast<std::string>(nb::handle(Py_TYPE(object.ptr())).attr("__name__"));
}

bool is_number(nb::handle object) {
  return PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) ||
         (nb::hasattr(object, "dtype") && nb::hasattr(object, "item") &&
          nb::hasattr(object, "ndim") && nb::cast<int>(object.attr("ndim")) == 0);
}

nb::object python_number(nb::handle number) {
  if (!PyLong_Check(number.ptr()) && !PyFloat_Check(number.ptr()) && nb::hasattr(number, "item") &&
      nb::hasattr(number, "dtype"))
    return number.attr("item")();
  return nb::borrow(number);
}

rig::scalar scalar_from(nb::handle given, const char* call, const char* name) {
  const nb::object number = python_number(given);
  if (PyBool_Check(number.ptr())) return number.is(Py_True);
  if (PyFloat_Check(number.ptr())) return PyFloat_AsDouble(number.ptr());
  if (!PyLong_Check(number.ptr()))
    rig::fail(rig::errc::type,
              {call, ": ", name, " is ", nb::cast<std::string>(nb::repr(given)), ", not a number"});
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return static_cast<rig::int64>(value);
  const double wide = PyLong_AsDouble(number.ptr());
  if (PyErr_Occurred() == nullptr) return wide;
  PyErr_Clear();
  rig::fail(rig::errc::range, {call, ": ", name, " is an integer beyond every type of rig"});
}

rig::given_number number_from(nb::handle given, const char* call, const char* name) {
  using kind = rig::given_number::kind;
  const rig::scalar value = scalar_from(given, call, name);
  const nb::object number = python_number(given);
  return {PyBool_Check(number.ptr())    ? kind::boolean
          : PyFloat_Check(number.ptr()) ? kind::real
                                        : kind::integer,
          value};
}

nb::object number_of(const void* element, type of) {
  return with_type(of, [&]<class T>(T) -> nb::object {
    T value;
    __builtin_memcpy(&value, element, sizeof(T));
    if constexpr (rig::is_same<T, bool>)
      return nb::bool_(value);
    else if constexpr (rig::is_integer<T>)
      return nb::int_(static_cast<rig::int64>(value));
    else
      return nb::float_(rig::convert<double>(value));
  });
}

}  // namespace rigblas
