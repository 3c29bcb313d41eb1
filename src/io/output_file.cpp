#include "io/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rig/error.hpp"

namespace rig::io {

output_file::output_file(const std::string& path) : path_(path), buffer_(256 * 1024) {
  constexpr int permissions = 0666;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions);
  if (descriptor_ < 0) fail(errc::io, {path, ": cannot create: ", std::strerror(errno)});
}

output_file::~output_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void output_file::write(const void* data, std::size_t bytes) {
  if (buffer_.size() - used_ < bytes) flush();
  if (bytes > buffer_.size()) return write_out(static_cast<const char*>(data), bytes);
  if (bytes == 0) return;
  std::memcpy(buffer_.data() + used_, data, bytes);
  used_ += bytes;
}

void output_file::close() {
  flush();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  // Some file systems report a full disk only on close.
  if (::close(descriptor) != 0) fail(errc::io, {path_, ": cannot write: ", std::strerror(errno)});
}

void output_file::flush() {
  write_out(buffer_.data(), used_);
  used_ = 0;
}

void output_file::write_out(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errc::io, {path_, ": cannot write: ", std::strerror(errno)});
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

}  // namespace rig::io
