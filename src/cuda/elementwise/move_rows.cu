// Rows of any bytes that a list names, to places that a list names.

#include <cstdint>

#include "cuda/elementwise/each.hpp"

namespace rig::on_cuda {
namespace {

struct rows_to_move {
  void* to;
  const void* from;
  const index *to_rows, *from_rows;
  std::size_t from_stride, bytes;
};

template <class Word>
void move_words(const build& by, const rows_to_move& of, int64 rows) {
  const auto words = static_cast<int64>(of.bytes / sizeof(Word)),
             step = static_cast<int64>(of.from_stride / sizeof(Word)), count = rows * words;
  const auto move = [=, to = static_cast<Word*>(of.to), from = static_cast<const Word*>(of.from),
                     to_rows = of.to_rows, from_rows = of.from_rows] __device__(int64 at) {
    const int64 k = at / words, w = at % words;
    const int64 row = from_rows != nullptr ? from_rows[k] : k;
    to[(to_rows != nullptr ? to_rows[k] : k) * words + w] = from[row * step + w];
  };
  by.each(count, move);
}

}  // namespace

void move_rows(void* to, const index* to_rows, const void* from, const index* from_rows,
               std::size_t from_stride, std::size_t bytes, int64 rows, int device, void* stream) {
  if (bytes == 0 || rows == 0) return;
  const device_scope scope(device);
  const build by(cuda(device), stream_for(device, stream), "mxm");
  const rows_to_move of = {to, from, to_rows, from_rows, from_stride, bytes};
  const std::size_t all = reinterpret_cast<std::uintptr_t>(to) |
                          reinterpret_cast<std::uintptr_t>(from) | from_stride | bytes;
  if (all % 16 == 0)
    move_words<uint4>(by, of, rows);
  else if (all % 4 == 0)
    move_words<unsigned>(by, of, rows);
  else
    move_words<unsigned char>(by, of, rows);
}

}  // namespace rig::on_cuda
