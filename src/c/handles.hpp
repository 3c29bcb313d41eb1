#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rig/kernels/erased.hpp"
#include "rig/rig.h"

// What the functions of rig.h share: handles, structs that may grow, errors as numbers.

struct rig_container {
  rig_kind kind = RIG_MATRIX;
  rig::erased_matrix sparse;  ///< a vector is a matrix of one row
  rig::dense_operand full;
  std::shared_ptr<const void> owner;  ///< of the elements of `full`
  bool read_only = false;

  bool is_dense() const { return kind == RIG_DENSE; }
  rig::type stored() const { return is_dense() ? full.value_type : sparse.stored; }
  rig::place where() const { return is_dense() ? full.where : sparse.where(); }
  rig::index rows() const { return is_dense() ? full.rows : sparse.rows(); }
  rig::index columns() const { return is_dense() ? full.columns : sparse.columns(); }
};

struct rig_semiring {
  const rig::builtin_pair* pair;
  bool is_own;
};

namespace rig::c {

/// A misuse that C++ cannot commit: a null pointer, or a struct of another size.
struct misuse : std::runtime_error {
  rig_status status;
  misuse(rig_status of, const std::string& text) : std::runtime_error(text), status(of) {}
};

/// Keeps the text for this thread, and returns the status of the exception that is being handled.
rig_status status_of_failure() noexcept;

/// Runs the body of a function: no exception leaves it.
template <class Work>
rig_status guarded(const char* call, const Work& work) noexcept {
  try {
    or_out_of_memory(call, work);
    return RIG_OK;
  } catch (...) {
    return status_of_failure();
  }
}

/// Throws misuse if a pointer is null.
inline void require(const char* call, const char* name, const void* pointer) {
  if (pointer == nullptr)
    throw misuse(RIG_ERROR_NULL, std::string(call) + ": " + name + " is null");
}
/// What a pointer points to. Throws misuse if it is null.
template <class T>
T& given(const char* call, const char* name, T* pointer) {
  require(call, name, pointer);
  return *pointer;
}

/// Throws misuse unless a struct has the size of this version, or a later version's.
void check_size(const char* call, const char* name, std::size_t size, std::size_t known);
/// Throws misuse if a later version's fields are used.
void check_rest(const char* call, const char* name, const void* from, std::size_t size,
                std::size_t known);

/// A struct of the caller, read.
template <class Struct>
Struct read(const char* call, const char* name, const Struct* from) {
  const std::size_t size = given(call, name, from).size;
  check_size(call, name, size, sizeof(Struct));
  check_rest(call, name, from, size, sizeof(Struct));
  return *from;
}
/// Writes a struct of the caller, whose size stays.
template <class Struct>
void write(const char* call, const char* name, Struct value, Struct* to) {
  const std::size_t size = given(call, name, to).size;
  check_size(call, name, size, sizeof(Struct));
  value.size = size;
  std::memset(static_cast<void*>(to), 0, size);
  *to = value;
}

type type_from(const char* call, rig_type of);
/// The same where 0 is `other`: not given.
inline type type_or_none(const char* call, rig_type of) {
  return of == 0 ? type::other : type_from(call, of);
}
inline rig_type type_to(type of) { return static_cast<rig_type>(of) + 1; }

place place_from(const char* call, rig_place of);
inline rig_place place_to(place of) { return of == cpu() ? RIG_CPU : RIG_CUDA(of.device); }

given_number number_from(const char* call, const char* name, const rig_number& from);
/// The same where none is an empty scalar.
scalar scalar_from(const char* call, const char* name, const rig_number& from);
/// A number in a storage type, for C.
rig_number number_to(const void* element, type of);

/// A container of a kind. Throws error(type) for another kind, misuse for null.
const rig_container& container_from(const char* call, const char* name, const rig_container* from);
const rig_container& dense_from(const char* call, const char* name, const rig_container* from);
const rig_container& matrix_from(const char* call, const char* name, const rig_container* from);

/// A dense as a container.
template <class T>
std::unique_ptr<rig_container> held(dense<T> from) {
  auto out = std::make_unique<rig_container>();
  const auto kept = std::make_shared<dense<T>>(std::move(from));
  out->kind = RIG_DENSE;
  fill_in(out->full, *kept);
  out->owner = kept;
  return out;
}
/// A sparse as a container.
std::unique_ptr<rig_container> held(erased_matrix from, bool is_vector);
/// A dense that is written before it is read.
std::unique_ptr<rig_container> new_dense(index rows, index columns, type of, place where,
                                         void* stream);

/// A dense with its type: a view that lives as long as the container.
template <class T>
dense<T> view_of(const rig_container& x) {
  return dense<T>::view(static_cast<const T*>(x.full.data), x.full.rows, x.full.columns,
                        x.full.stride, x.full.where, x.full.stream);
}

/// Memory of the caller, which is released when the last container with it goes.
struct foreign {
  void (*release)(void*) = nullptr;
  void* owner = nullptr;

  foreign() = default;
  foreign(const foreign&) = delete;
  foreign& operator=(const foreign&) = delete;
  ~foreign() {
    if (release != nullptr) release(owner);
  }
};

/// The options of a call, read once.
struct settings {
  settings(const char* call, const rig_options* from);

  descriptor desc;
  mask_operand mask;
  accumulator accum = accumulator::none;
  type named = type::other;  ///< the type of a new result, if it is named
  rig_container** indices = nullptr;

  /// Throws error(cannot) if they name an array of indices: no result but a product's has one.
  void refuse_indices(const char* call) const;
  type type_or(type natural) const { return named == type::other ? natural : named; }
};

}  // namespace rig::c
