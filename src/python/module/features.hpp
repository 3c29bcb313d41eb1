#pragma once

#include "calls.hpp"

// Features of graph networks: MaxK results and 8-bit matrices.

namespace rigblas {

/// A rig::cbsr with its type erased.
struct cbsr {
  rig::cbsr_pattern structure;
  rig::buffer values;
  type stored = type::float32;
  std::shared_ptr<const void> keepalive = nullptr;  ///< what owns borrowed values
};
/// The cbsr that an object is, or null.
const cbsr* cbsr_from(nb::handle object);
const rig::quantized* quantized_from(nb::handle object);

/// The same as B of a product, or as the result under a mask.
rig::dense_operand operand_of(const cbsr& from);

/// A view of an array with its type.
template <class T>
rig::dense<T> dense_of(const array& x) {
  return rig::dense<T>::view(static_cast<const T*>(x.full.data), x.full.rows, x.full.columns,
                             x.full.stride, x.full.where, x.full.stream);
}

}  // namespace rigblas
