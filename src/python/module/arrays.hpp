#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

#include "types.hpp"

// Dense arrays of Python as dense operands of rig.

namespace rigblas {

/// Memory of a framework that Python names by its address.
struct dense_view {
  rig::dense_operand full;
};

/// The memory of a tensor of one or two dimensions: its address, its shape and strides in elements,
/// and its CUDA device, negative for the CPU. Throws ValueError if rows do not lie in order.
rig::dense_operand tensor_memory(std::uintptr_t data, nb::tuple shape, nb::tuple strides, type of,
                                 int device, std::uintptr_t stream);

/// A dense operand, or a dense result.
struct array {
  rig::dense_operand full;
  bool is_column = false;  ///< given as a one-dimensional array
  bool read_only = false;
  nb::object owner;  ///< keeps the memory during the call
  /// What the caller has: the array itself, whose framework results have. Of a result: the array,
  /// or what makes the framework's array of `owner`.
  nb::object given;
};

/// Whether an object is exactly a NumPy array: the first question, because most operands are.
bool is_numpy(nb::handle object);
/// Whether an object is a dense array: of NumPy, or one with DLPack or a CUDA array interface.
bool is_array(nb::handle object);
/// Reads an array of one or two dimensions. NumPy arrays whose rows do not lie in order are copied.
/// Throws TypeError, ValueError.
array read_array(nb::handle object, const char* call, const char* name);
/// The same for a result that is written in place, which is never copied.
array writable_array(nb::handle object, const char* call);
/// A new array of a framework: that of `like`, else NumPy.
array new_array(const array& like, rig::index rows, rig::index columns, type of, bool is_column);
/// The array as it is returned.
nb::object returned(array made);

/// A packed list of int32 or int64 on the CPU, of any integer type before. Throws TypeError.
struct index_array {
  const void* data = nullptr;
  std::size_t size = 0;
  bool is_64 = false;
  nb::object owner;
  bool is_callers = false;  ///< the memory is the caller's, not a copy

  rig::int64 operator[](std::size_t at) const {
    return is_64 ? static_cast<const rig::int64*>(data)[at]
                 : static_cast<const rig::int32*>(data)[at];
  }
  rig::integers view() const;
};
index_array read_indices(nb::handle object, const char* call, const char* name);

/// A CUDA stream by its address; null for None. Throws TypeError.
void* stream_from(nb::handle given);
/// The stream of a call: the one given, else the current one of the operand's framework.
void* stream_of(nb::handle given, const array& first);

/// The DLPack type of a storage type.
nb::dlpack::dtype dlpack_type(type of);
/// A read-only array over memory of a device that `owner` keeps, for `from_dlpack` of a framework.
/// Waits for rig's work on the device.
nb::object device_view(const void* data, std::size_t rows, std::size_t columns,
                       nb::dlpack::dtype of, bool is_column, const nb::object& owner,
                       rig::place where);
/// A read-only NumPy array over memory that `owner` keeps.
nb::object numpy_view(const void* data, std::size_t rows, std::size_t columns, type of,
                      bool is_column, nb::object owner);
/// The same that may be written.
nb::object numpy_array(void* data, std::size_t rows, std::size_t columns, type of, bool is_column,
                       nb::object owner);

rig::place place_from(nb::handle device);

void bind_arrays(nb::module_& m);

}  // namespace rigblas
