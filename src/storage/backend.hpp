#pragma once

// A place as a table of functions. The rest of the library reaches a place by its table alone.

#include <initializer_list>
#include <optional>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/kernels/whole_rows.hpp"
#include "storage/steps.hpp"

namespace rig {

/// What a place implements: a pointer to each function of backend.def.
struct backend {
  /// Null, or why this build has not got the place. All else is null then.
  const char* absent = nullptr;
#define RIG_FUNCTION(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "storage/backend.def"
};

// Each place defines the functions, and its table of them.
namespace on_cpu {
#define RIG_FUNCTION(result, name, ...) result name(__VA_ARGS__);
#include "storage/backend.def"
extern const backend functions;
}  // namespace on_cpu
namespace on_cuda {
#define RIG_FUNCTION(result, name, ...) result name(__VA_ARGS__);
#include "storage/backend.def"
extern const backend functions;
}  // namespace on_cuda

/// Throws error(place) with the reason why this build has not got a place.
[[noreturn]] void refuse_absent(place where, const backend& by);

/// What a place implements. Throws error(place) if this build has not got it.
inline const backend& backend_of(place where) {
  const backend& by = where.where == place::kind::cpu ? on_cpu::functions : on_cuda::functions;
  if (by.absent != nullptr) refuse_absent(where, by);
  return by;
}

/// Makes the device of a call current, and orders the call's stream after the streams of its
/// buffers. The destructor orders those streams, and rig's own stream of the device, after the
/// call's. Does nothing where there are no streams.
class stream_order {
 public:
  static constexpr std::size_t room = 192;  ///< bytes for what a place keeps of an order

  /// A call on `stream` whose buffers belong to `others`; null stands for none.
  stream_order(place where, void* stream, const char* operation,
               std::initializer_list<void*> others)
      : by_(backend_of(where)) {
    is_captured_ = by_.begin_order(memory_, where.device, stream, operation, others);
  }
  explicit stream_order(const problem& p)
      : stream_order(
            p.a.where, p.desc->stream, p.name,
            {p.a.stream, p.a.values_stream, p.mask.sparse.stream, p.mask.sparse.values_stream,
             p.b.stream, p.b.beside_stream, p.c.stream, p.c.beside_stream, p.indices.stream,
             p.indices.beside_stream, p.mask.full.stream, p.mask.full.beside_stream,
             p.weights.stream, p.updated.stream}) {}
  ~stream_order() { by_.end_order(memory_); }
  stream_order(const stream_order&) = delete;
  /// Returns whether the call's stream is recording a graph.
  bool is_captured() const { return is_captured_; }

 private:
  const backend& by_;
  bool is_captured_;
  alignas(void*) unsigned char memory_[room];
};

}  // namespace rig
