#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <utility>

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

/// What messages call by its name in C++, and by that in Python.
constexpr std::pair<std::string_view, std::string_view> names[] = {
    {"but C is ", "but out is "},
    {"C's index array is ", "the second array of out is "},
    {", C is on ", ", out is on "},
    {"the descriptor names kernel ", "kernel is "},
    {"the descriptor names no kernel", "kernel is not set"},
    {" of the descriptor has", " has"},
    {"accumulator::plus", "\"plus\""},
    {"accumulator::own", "accum=\"own\""},
    {"to_dense(B)", "B.dense()"},
    {"ranges::matrix", "per=\"matrix\""},
    {"rig::transpose of it", "its transpose"},
    {"rig::structure of a matrix or of a dense", "a Matrix or an array"},
    {"rig::cpu()", "\"cpu\""},
    {"read_options::", ""},
    {"binary::", ""},
    {"from_rows: ", ""},
    {", or a monoid of your own", ""},
    {"quantized: element", "quantize: element"},
};
std::string in_python(std::string text) {
  if (text.starts_with("assign: ")) return text;  // its result is C in Python, too
  for (const auto& [ours, theirs] : names)
    for (auto at = text.find(ours); at != std::string::npos; at = text.find(ours, at))
      text.replace(at, ours.size(), theirs);
  return text;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const rig::error& failure) {
    PyErr_SetString(exception_of(failure.code()), in_python(failure.what()).c_str());
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
