#include "rig/buffer.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "rig/error.hpp"

namespace rig {
namespace {

constexpr std::align_val_t cache_line{64};
constexpr std::align_val_t huge_page{2u << 20};

/// From here on a buffer asks the kernel for huge pages: gathers from a large table miss the TLB less.
constexpr std::size_t huge_bytes = 4u << 20;

}  // namespace

buffer buffer::allocate(std::size_t bytes, place where) {
  if (where != cpu()) fail(errc::place, {"allocate: ", to_string(where), " is not available"});
  buffer made;
  made.bytes_ = bytes;
  if (bytes == 0) return made;
  const bool large = bytes >= huge_bytes;
  const std::align_val_t alignment = large ? huge_page : cache_line;
  try {
    made.data_ = std::shared_ptr<void>(::operator new(bytes, alignment),
                                       [alignment](void* p) { ::operator delete(p, alignment); });
  } catch (const std::bad_alloc&) {
    fail(errc::out_of_memory, {"out of memory: ", bytes, " bytes asked on cpu"});
  }
  // Advice only: where the kernel declines, small pages serve.
  if (large) madvise(made.data_.get(), bytes, MADV_HUGEPAGE);
  return made;
}

buffer buffer::borrow(void* data, std::size_t bytes, place where) {
  buffer made;
  made.data_ = std::shared_ptr<void>(std::shared_ptr<void>(), data);
  made.bytes_ = bytes;
  made.where_ = where;
  return made;
}

}  // namespace rig
