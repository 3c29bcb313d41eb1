#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "rig/kernels/erased.hpp"
#include "rig/rig.hpp"

// Element types between Python and rig.

namespace rigblas {

namespace nb = nanobind;
using rig::type;

inline const char* name_of(type of) { return rig::type_name(of); }
/// A NumPy dtype, or the text "bfloat16".
nb::object dtype_of(type of);
/// The type that a NumPy dtype, its name or a scalar type names. Throws TypeError.
type type_from(nb::handle dtype);

/// Calls work(T{}) with the C++ type: float, double, half or bfloat16. Throws TypeError for others.
template <class Work>
auto with_float(const char* call, type of, Work work) {
  if (of == type::boolean || of == type::int32 || of == type::int64)
    rig::fail(rig::errc::type, {call, ": elements are ", name_of(of),
                                "; convert them to float32, float64, float16 or bfloat16"});
  return rig::with_one_of<double, rig::half, rig::bfloat16, float>(of, work);
}

/// numpy.bool.
nb::handle numpy_bool_type();

/// The name of an object's type.
std::string kind_of(nb::handle object);
/// Whether an object is a number of Python or of NumPy.
bool is_number(nb::handle object);
/// A Python number of a scalar of NumPy; others as they are.
nb::object python_number(nb::handle number);
/// A Python number as one of rig's. Throws TypeError.
rig::scalar scalar_from(nb::handle number, const char* call, const char* name);
/// The same with its kind: a bool, an integer or a float.
rig::given_number number_from(nb::handle number, const char* call, const char* name);
/// One element as a Python number.
nb::object number_of(const void* element, type of);

}  // namespace rigblas
