#include "rig/buffer.hpp"

#include "rig/dense.hpp"
#include "rig/error.hpp"
#include "storage/backend.hpp"

namespace rig {

buffer buffer::allocate(std::size_t bytes, place where, void* stream) {
  check_place(where);
  return temporary(bytes, where, backend_of(where).lasting_stream(where.device, stream));
}

buffer buffer::temporary(std::size_t bytes, place where, void* stream) {
  check_place(where);
  const backend& by = backend_of(where);
  buffer made;
  made.bytes_ = bytes;
  made.where_ = where;
  made.stream_ = stream = by.stream_for(where.device, stream);
  if (bytes > 0) made.data_ = by.allocate(bytes, where.device, stream);
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
  made.stream_ = backend_of(where).lasting_stream(where.device, stream);
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
  return backend_of(where).owner_for(where.device, stream);
}

buffer buffer::to(place target, void* stream) const {
  check_place(target);
  if (bytes_ > 0) {  // before an allocation that a capture would record
    backend_of(where()).refuse_captured_copy(where().device, this->stream());
    backend_of(target).refuse_captured_copy(target.device, stream);
  }
  buffer made = allocate(bytes_, target, stream);
  // A device copies to and from the CPU.
  if (bytes_ > 0) backend_of(target == cpu() ? where() : target).copy(*this, made);
  return made;
}

void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, place where, void* stream, void* source) {
  if (bytes == 0 || rows == 0) return;
  backend_of(where).copy_rows(to, to_stride, from, from_stride, bytes, rows, where.device, stream,
                              source);
}

}  // namespace rig
