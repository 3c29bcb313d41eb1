#pragma once

// What the files of hop 1 of the operations share: their checks, their steps and the order of
// streams.

#include "rig/kernels/list.hpp"
#include "storage/backend.hpp"

namespace rig {

/// The shape of T, and so of C and the mask.
result_shape shape_of_result(const operation& o);

// Each throws if its part of the operation is malformed.
void check_descriptor(const operation& o);
void check_places(const operation& o);
void check_indices(const operation& o);
void check_shapes(const operation& o);
[[noreturn]] void refuse_turned_dense(const operation& o);

/// The steps where an operation's operands are.
inline const backend& steps_of(const operation& o) { return backend_of(o.where()); }

/// T of a product, at the places that the mask allows. `work` outlives the order of streams,
/// because kernels that run on after the call read what it keeps.
sparse_result multiply(const operation& o, workspace& work);
explanation explain_product(const operation& o);

/// The map of entries by the operation's operator.
map_step map_of(const operation& o, const sparse_operand& x, type out_type, std::size_t out_bytes);

/// Orders the streams of an operation.
class in_order : stream_order {
 public:
  using stream_order::is_captured;
  explicit in_order(const operation& o)
      : stream_order(
            o.where(), o.desc->stream, o.name,
            {o.x.sparse.stream, o.x.sparse.values_stream, o.x.full.stream, o.y.sparse.stream,
             o.y.sparse.values_stream, o.y.full.stream, o.c.sparse.stream, o.c.sparse.values_stream,
             o.c.full.stream, o.mask.sparse.stream, o.mask.sparse.values_stream, o.mask.full.stream,
             o.rows.stream, o.columns.stream}) {}
  /// Throws for a captured call that waits for the device.
  void refuse_capture(const operation& o) const {
    if (is_captured())
      fail(errc::cannot, {o.name,
                          ": the call waits for the device, so its stream cannot be "
                          "captured in a CUDA graph; call it outside the capture"});
  }
};

}  // namespace rig
