#include "rig/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "rig/error.hpp"

namespace rig {
namespace {

/// The kind of a file that is not regular, for messages.
const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a folder; name a file in it";
  if (S_ISFIFO(mode)) return "it is a pipe; name a regular file";
  if (S_ISSOCK(mode)) return "it is a socket; name a regular file";
  return "it is a device; name a regular file";
}

/// Where the symbolic links of a path's last part lead, to a file that need not exist; empty if
/// there are too many.
std::string end_of_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most = 40;  // as the kernel follows
  fs::path at = path;
  std::error_code none;
  for (int links = 0; links <= most; ++links) {
    const fs::path next = fs::read_symlink(at, none);
    if (none) return at;
    at = at.parent_path() / next;
  }
  return {};
}

/// The link of /proc to an open file.
struct link_to {
  char path[32];
  explicit link_to(int descriptor) {
    std::snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
  }
};

}  // namespace

/// A stream of gzip, and where its bytes go first.
struct output_file::packer {
  z_stream stream{};
  std::vector<char> packed = std::vector<char>(256 * 1024);

  packer() {
    constexpr int gzip = 16, usual_memory = 8;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip + MAX_WBITS, usual_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  packer(const packer&) = delete;
  ~packer() { deflateEnd(&stream); }
};

output_file::output_file(const std::string& path) try : path_(path), buffer_(256 * 1024) {
  if (path.empty()) fail(errc::io, {"'': cannot create: the path is empty; name a file"});
  struct stat found {};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && !S_ISREG(found.st_mode)) refuse("cannot write", kind_of(found.st_mode));
  if (exists && ::access(path.c_str(), W_OK) != 0) refuse("cannot write", std::strerror(errno));
  target_ = end_of_links(path);
  if (target_.empty()) refuse("cannot create", std::strerror(ELOOP));
  // Whole, because the process may change its folder before the file is named.
  std::error_code none;
  if (const auto whole = std::filesystem::absolute(target_, none); !none) target_ = whole;
  if (path.ends_with(".gz")) packer_ = std::make_unique<packer>();
  create(exists ? "cannot create a file beside it" : "cannot create");
} catch (const std::bad_alloc&) {
  fail(errc::out_of_memory, {path, ": out of memory"});
}

/// Calls `make` with new names beside the target until one is free; false: an error of another
/// kind.
template <class Make>
bool output_file::make_temporary(Make make) {
  static std::atomic<int> serial = 0;
  const std::string folder = target_.substr(0, target_.rfind('/') + 1);
  do {
    temporary_ = folder + ".rig-" + std::to_string(getpid()) + "-" + std::to_string(serial++);
    if (make(temporary_.c_str())) return true;
  } while (errno == EEXIST);
  temporary_.clear();
  return false;
}

void output_file::create(const char* complaint) {
  constexpr int flags = O_WRONLY | O_CLOEXEC, permissions = 0666;  // less the process's mask
  const std::string folder = target_.substr(0, target_.rfind('/') + 1);
  // The system removes a file without a name if the process is killed.
  descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), flags | O_TMPFILE, permissions);
  if (descriptor_ >= 0 && ::access(link_to(descriptor_).path, F_OK) == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  const bool is_made = make_temporary([&](const char* name) {
    return (descriptor_ = ::open(name, flags | O_CREAT | O_EXCL, permissions)) >= 0;
  });
  if (!is_made) refuse(complaint, std::strerror(errno));
}

output_file::~output_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void output_file::write(const void* data, std::size_t bytes) {
  if (buffer_.size() - used_ < bytes) flush();
  if (bytes > buffer_.size()) return pack(static_cast<const char*>(data), bytes, false);
  if (bytes == 0) return;
  std::memcpy(buffer_.data() + used_, data, bytes);
  used_ += bytes;
}

/// The file to be replaced may have come or gone since the start.
void output_file::take_over_permissions() {
  struct stat found {};
  if (::stat(target_.c_str(), &found) != 0) return;
  // Only root can give a file away: whoever else replaces a file of another user then owns it.
  const bool is_given = ::fchown(descriptor_, found.st_uid, found.st_gid) == 0;
  static_cast<void>(is_given);
  if (::fchmod(descriptor_, found.st_mode & 0777) != 0)
    refuse("cannot write", std::strerror(errno));
}

void output_file::close() {
  flush();
  pack(nullptr, 0, true);
  take_over_permissions();
  const auto link = [&](const char* name) {
    return ::linkat(AT_FDCWD, link_to(descriptor_).path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  };
  const bool is_named =
      !temporary_.empty() || or_out_of_memory(path_.c_str(), [&] { return make_temporary(link); });
  if (!is_named) refuse("cannot write", std::strerror(errno));
  const int descriptor = descriptor_;
  descriptor_ = -1;
  buffer_.clear();  // so that each later byte meets the check of flush
  // Some file systems report a full disk only on close.
  if (::close(descriptor) != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0)
    refuse("cannot write", std::strerror(errno));
  temporary_.clear();
}

void output_file::flush() {
  if (descriptor_ < 0) refuse("cannot write", "it is closed; make another output_file");
  pack(buffer_.data(), used_, false);
  used_ = 0;
}

/// Writes bytes, packed if the file is; `ends`: they are the last.
void output_file::pack(const char* data, std::size_t bytes, bool ends) {
  if (packer_ == nullptr) return write_out(data, bytes);
  z_stream& stream = packer_->stream;
  std::vector<char>& packed = packer_->packed;
  do {
    constexpr std::size_t most = 1u << 30;  // zlib counts in 32 bits
    const std::size_t part = std::min(bytes, most);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
    stream.avail_in = static_cast<uInt>(part);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream, ends && part == bytes ? Z_FINISH : Z_NO_FLUSH);
      write_out(packed.data(), packed.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    data += part;
    bytes -= part;
  } while (bytes > 0);
}

void output_file::write_out(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) refuse("cannot write", std::strerror(errno));
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void output_file::refuse(const char* what, const char* why) const {
  fail(errc::io, {path_, ": ", what, ": ", why});
}

}  // namespace rig
