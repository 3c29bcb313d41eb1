#include <nanobind/nanobind.h>

#include "calls.hpp"

// The extension module of the Python package.

namespace rigblas {
namespace {

PyObject* exception_of(rig::errc code) {
  switch (code) {
    case rig::errc::type:
      return PyExc_TypeError;
    case rig::errc::out_of_memory:
      return PyExc_MemoryError;
    case rig::errc::io:
      return PyExc_OSError;
    case rig::errc::device:
      return PyExc_RuntimeError;
    default:
      return PyExc_ValueError;
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const rig::error& failure) {
    PyErr_SetString(exception_of(failure.code()), failure.what());
  }
}

}  // namespace
}  // namespace rigblas

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  nb::set_leak_warnings(false);  // tensors over rig's memory may outlive the interpreter
  nb::register_exception_translator(&rigblas::translate);
  rigblas::bind_arrays(m);
  rigblas::bind_sparse(m);
  rigblas::bind_semirings(m);
  rigblas::bind_features(m);
  rigblas::bind_products(m);
  rigblas::bind_operations(m);
  rigblas::bind_algorithms(m);
  rigblas::bind_files(m);
  rigblas::bind_distributed(m);
}
