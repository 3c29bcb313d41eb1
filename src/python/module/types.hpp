#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "rig/rig.hpp"

// Element types between Python and rig.

namespace rigblas {

namespace nb = nanobind;
using rig::type;

/// "float32", as NumPy writes it; half is float16.
const char* name_of(type of);
std::size_t bytes_of(type of);
/// A NumPy dtype, or the text "bfloat16".
nb::object dtype_of(type of);
/// The type that a NumPy dtype, its name or a scalar type names. Throws TypeError.
type type_from(nb::handle dtype);

/// Calls work(T{}) with that of the C++ types whose storage type is `of`; the last one if none is.
template <class T, class... Others, class Work>
auto with_one_of(type of, Work& work) {
  if constexpr (sizeof...(Others) > 0)
    if (of != rig::type_of<T>) return with_one_of<Others...>(of, work);
  return work(T());
}

/// Calls work(T{}) with the C++ type of a storage type.
template <class Work>
auto with_type(type of, Work work) {
  return with_one_of<bool, rig::int32, rig::int64, double, rig::half, rig::bfloat16, float>(of,
                                                                                            work);
}
/// The same of a type in which elements are computed: not half and bfloat16.
template <class Work>
auto with_algebra(type of, Work work) {
  return with_one_of<bool, rig::int32, rig::int64, double, float>(of, work);
}
/// The same of float, double, half and bfloat16. Throws TypeError for others.
template <class Work>
auto with_float(const char* call, type of, Work work) {
  if (of == type::boolean || of == type::int32 || of == type::int64)
    rig::fail(rig::errc::type, {call, ": elements are ", name_of(of),
                                "; convert them to float32, float64, float16 or bfloat16"});
  return with_one_of<double, rig::half, rig::bfloat16, float>(of, work);
}

/// numpy.bool.
nb::handle numpy_bool_type();

/// The type in which elements are computed: float32 for float16 and bfloat16.
type algebra_of(type of);
/// The type in which elements of two types meet, as NumPy's: float64 for integers with any float;
/// float32 for float16 with bfloat16.
type common_of(type x, type y);

/// The name of an object's type.
std::string kind_of(nb::handle object);
/// Whether an object is a number of Python or of NumPy.
bool is_number(nb::handle object);
/// A Python number of a scalar of NumPy; others as they are.
nb::object python_number(nb::handle number);
/// A Python number as one of rig's. Throws TypeError.
rig::scalar scalar_from(nb::handle number, const char* call, const char* name);
/// One element as a Python number.
nb::object number_of(const void* element, type of);

}  // namespace rigblas
