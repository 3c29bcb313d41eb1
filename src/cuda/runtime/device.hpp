#pragma once

// The CUDA functions that the rest of the library calls, without a CUDA header. In a build without
// CUDA they throw error(place), and no device is listed.

#include <initializer_list>
#include <memory>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

std::vector<device_info> list_devices();
void synchronise(int device);

/// Returns `stream`, or rig's own stream of the device if `stream` is null.
void* stream_for(int device, void* stream);

/// The same for memory that any thread may use. Throws error(cannot) for cudaStreamPerThread.
void* lasting_stream(int device, void* stream);

/// The stream that owns the result of a call on `stream`: rig's own stream of the device, which
/// outlives the caller's. While `stream` is captured, `stream` itself, because the result belongs
/// to the graph.
void* owner_for(int device, void* stream);

std::shared_ptr<void> allocate(std::size_t bytes, int device, void* stream);

/// Copies between places. Copies to and from the host go through pinned memory, and wait if the
/// target is the host. Throws error(cannot) if a device stream of either buffer is captured.
void copy(const buffer& from, const buffer& to);
/// Copies within a device, in the order of `stream`, and of `source` if that is another stream.
void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, int device, void* stream, void* source);

/// to = fromᵀ, packed.
void transpose_elements(const dense_operand& from, void* to, void* stream);

/// to = from with rows `stride` elements apart, and zeros in between.
void pad_rows(const dense_operand& from, void* to, int64 stride, void* stream);

/// Words that a block of `tile_rows` copies.
constexpr int words_per_block = 2048;
/// Returns whether tiles can have so many columns: a power of two, at most `words_per_block`.
constexpr bool is_tile(int columns) {
  return columns > 0 && columns <= words_per_block && (columns & (columns - 1)) == 0;
}
/// to = the whole tiles of `from`, `tile` columns each (`is_tile`), one after the other. Then come
/// the columns left of each row, padded with zeros to `rest` elements.
void tile_rows(const dense_operand& from, void* to, int tile, int rest, void* stream);

/// The k greatest numbers of every row of x, as `maxk` defines them; indices as in a
/// `cbsr_pattern`.
void select_top_k(const dense_operand& x, int k, void* values, void* indices, void* stream);
/// take_retained: the values of `retained` = the elements of `full` in its places.
/// scatter_retained: full = retained, 0 elsewhere.
void take_retained(const dense_operand& full, const dense_operand& retained, void* stream);
void scatter_retained(const dense_operand& retained, const dense_operand& full, void* stream);

/// The number of products of a sparse vector and a matrix. Waits.
double count_products(const problem& p);

/// Finds the statistics of A's rows for a checked problem, unless no kernel serves its semiring.
void find_statistics(problem& p);

/// Throws error(cannot) if a structure would be built on `stream`, which belongs to the pattern, in
/// a capture: builders wait, and what a graph records is not there yet. The transpose is allocated
/// on rig's own stream, so that one counts too.
void refuse_captured_build(const char* structure, int device, void* stream);

/// Derives from op(A)'s pattern what any kernel of a device reads.
void prepare_derived(const pattern& of);
std::shared_ptr<const pattern> transpose(const pattern& original, buffer& permutation);

/// Makes a device current for a scope, by its primary context, so that no other device gets a
/// context. In the scope, captures of other threads in any mode forbid nothing.
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope();  // NOLINT(performance-trivially-destructible): without CUDA alone
  device_scope(const device_scope&) = delete;

 private:
  friend struct context;
  device_scope(int device, void* device_context);
  void* previous_ = nullptr;
  bool restores_ = false;
  int mode_;
};

/// Makes the device of a call current, and orders the call's stream after the streams of its
/// buffers. The destructor orders those streams, and rig's own stream of the device, after the
/// call's.
class stream_order {
 public:
  explicit stream_order(const problem& p);
  /// A call on `stream` whose buffers belong to `others`; null stands for none.
  stream_order(int device, void* stream, const char* operation,
               std::initializer_list<void*> others);
  ~stream_order();
  stream_order(const stream_order&) = delete;
  /// Returns whether the call's stream is recording a graph.
  bool is_captured() const { return captured_; }

 private:
  bool add(void* stream, const char* operation);
  bool captured_ = false;
  int device_;
  device_scope current_;
  void* stream_;
  void* others_[16];
  int count_ = 0;
};

}  // namespace rig::on_cuda
