#pragma once

// What the rest of the library asks of CUDA, without a CUDA header. A build without CUDA has the
// same functions: they throw error(place), and no device is listed.

#include <memory>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

std::vector<device_info> list_devices();
void synchronise(int device);

/// `stream` itself, or the device's stream of rig where it is null.
void* stream_for(int device, void* stream);

/// The same for a view, which is used from any thread: refuses the name of a stream per thread.
void* lasting_stream(int device, void* stream);

/// The stream that a result of a call on `stream` belongs to: the device's stream of rig, which
/// outlives the caller's, or `stream` while it is captured, when the result is the graph's.
void* owner_for(int device, void* stream);

std::shared_ptr<void> allocate(std::size_t bytes, int device, void* stream);

/// Between places, through pinned memory; waits where the target is the host. Refused where a
/// stream of either is captured.
void copy(const buffer& from, const buffer& to);
/// Within a device, in the order of `stream`, and of `source` where that is another.
void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, int device, void* stream, void* source);

/// to = fromᵀ, packed.
void transpose_elements(const dense_operand& from, void* to, void* stream);

/// to = from with rows `stride` elements apart, zeros between them.
void pad_rows(const dense_operand& from, void* to, int64 stride, void* stream);

/// Words that a block of `tile_rows` copies.
constexpr int words_a_block = 2048;
/// Can tiles have so many columns? A power of two, no more than those words.
constexpr bool is_tile(int columns) {
  return columns > 0 && columns <= words_a_block && (columns & (columns - 1)) == 0;
}
/// to = from's whole tiles of `tile` columns (`is_tile`), one after the other, and then what they
/// leave of its rows, at most `rest` elements, with zeros to make it as many.
void tile_rows(const dense_operand& from, void* to, int tile, int rest, void* stream);

/// The k greatest numbers of every row of x, as `maxk` has them; indices as a `cbsr_pattern` has.
void keep_greatest(const dense_operand& x, int k, void* values, void* indices, void* stream);
/// kept's values = the elements of `full` in its places; full = kept, 0 elsewhere.
void take_kept(const dense_operand& full, const dense_operand& kept, void* stream);
void scatter_kept(const dense_operand& kept, const dense_operand& full, void* stream);

/// Forms of a pattern on a device.
void prepare_derived(const pattern& of);
void prepare_row_panels(const pattern& of);
void prepare_column_panels(const pattern& of);
std::shared_ptr<const pattern> transpose(const pattern& original, buffer& permutation);

/// Makes a device current for a scope, by its context, so that no other device gets one. Captures
/// of other threads, in whatever mode, forbid nothing meanwhile.
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

/// Makes the device of a call current, and orders its stream after the streams its buffers belong
/// to; on destruction those, and the device's stream of rig, after the call's.
class stream_order {
 public:
  explicit stream_order(const problem& p);
  ~stream_order();
  stream_order(const stream_order&) = delete;
  /// Is the call's stream recording a graph?
  bool is_captured() const { return captured_; }

 private:
  bool add(void* stream, const char* operation);
  void follow(void* stream, const char* operation);
  bool captured_ = false;
  int device_;
  device_scope current_;
  void* stream_;
  void* others_[13];
  int count_ = 0;
};

}  // namespace rig::on_cuda
