#pragma once

// What the CUDA files share beside the functions of the place, without a CUDA header.

#include "storage/backend.hpp"

namespace rig::on_cuda {

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

/// Makes a device current for a scope, by its primary context, so that no other device gets a
/// context. In the scope, captures of other threads in any mode forbid nothing.
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope();
  device_scope(const device_scope&) = delete;

 private:
  friend struct context;
  device_scope(int device, void* device_context);
  void* previous_ = nullptr;
  bool restores_ = false;
  int mode_;
};

}  // namespace rig::on_cuda
