#include "rig/buffer.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "cuda/runtime/device.hpp"
#include "rig/dense.hpp"
#include "rig/error.hpp"

namespace rig {
namespace {

constexpr std::align_val_t cache_line{64};
constexpr std::align_val_t huge_page{2u << 20};

/// Buffers of at least this size use huge pages, because gathers from a large table then miss the
/// TLB less.
constexpr std::size_t huge_bytes = 4u << 20;

std::shared_ptr<void> allocate_on_host(std::size_t bytes) {
  const bool large = bytes >= huge_bytes;
  const std::align_val_t alignment = large ? huge_page : cache_line;
  std::shared_ptr<void> made;
  try {
    made = std::shared_ptr<void>(::operator new(bytes, alignment),
                                 [alignment](void* p) { ::operator delete(p, alignment); });
  } catch (const std::bad_alloc&) {
    cannot_allocate(bytes);
  }
  // Advice only: if the operating system declines, small pages serve.
  if (large) madvise(made.get(), bytes, MADV_HUGEPAGE);
  return made;
}

}  // namespace

void cannot_allocate(std::size_t bytes) {
  fail(errc::out_of_memory, {"out of memory: cannot allocate ", bytes, " bytes on cpu"});
}

buffer buffer::allocate(std::size_t bytes, place where, void* stream) {
  check_place(where);
  if (where.where == place::kind::cuda) stream = on_cuda::lasting_stream(where.device, stream);
  return temporary(bytes, where, stream);
}

buffer buffer::temporary(std::size_t bytes, place where, void* stream) {
  check_place(where);
  buffer made;
  made.bytes_ = bytes;
  made.where_ = where;
  if (where.where == place::kind::cuda)
    made.stream_ = stream = on_cuda::stream_for(where.device, stream);
  if (bytes == 0) return made;
  made.data_ =
      where == cpu() ? allocate_on_host(bytes) : on_cuda::allocate(bytes, where.device, stream);
  return made;
}

buffer buffer::zeros(std::size_t bytes) {
  if (bytes < huge_bytes) {
    buffer made = allocate(bytes);
    if (bytes > 0) std::memset(made.data(), 0, bytes);
    return made;
  }
  void* const pages =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) cannot_allocate(bytes);
  buffer made;
  or_out_of_memory("buffer", [&] {
    made.data_ = std::shared_ptr<void>(pages, [bytes](void* p) { munmap(p, bytes); });
  });
  made.bytes_ = bytes;
  return made;
}

buffer buffer::borrow(void* data, std::size_t bytes, place where, void* stream) {
  check_place(where);
  if (data == nullptr && bytes > 0)
    fail(errc::range, {"buffer: ", bytes, " bytes at a null pointer"});
  buffer made;
  made.data_ = std::shared_ptr<void>(std::shared_ptr<void>(), data);
  made.bytes_ = bytes;
  made.where_ = where;
  if (where.where == place::kind::cuda)
    made.stream_ = on_cuda::lasting_stream(where.device, stream);
  return made;
}

buffer buffer::first(std::size_t bytes) const {
  if (bytes > bytes_)
    fail(errc::range, {"buffer: the first ", bytes, " bytes of ", std::size_t{bytes_},
                       "; give a number of at most ", std::size_t{bytes_}});
  buffer out = *this;
  out.bytes_ = bytes;
  if (bytes == 0) out.data_.reset();
  return out;
}

void* owner_for(place where, void* stream) {
  return where == cpu() ? nullptr : on_cuda::owner_for(where.device, stream);
}

buffer buffer::to(place target, void* stream) const {
  buffer made = allocate(bytes_, target, stream);
  if (bytes_ == 0) return made;
  if (target == cpu() && where_ == cpu())
    std::memcpy(made.data(), data(), bytes_);
  else
    on_cuda::copy(*this, made);
  return made;
}

void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, place where, void* stream, void* source) {
  if (bytes == 0 || rows == 0) return;
  if (where != cpu())
    return on_cuda::copy_rows(to, to_stride, from, from_stride, bytes, rows, where.device, stream,
                              source);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    std::memcpy(static_cast<char*>(to) + i * to_stride,
                static_cast<const char*>(from) + i * from_stride, bytes);
}

}  // namespace rig
