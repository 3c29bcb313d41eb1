#include "io/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "rig/kernels/cpu/threads.hpp"

namespace rig::io {
namespace {

// One buffer of text stays in the L2 cache and holds the longest line with its CR LF.
constexpr std::size_t buffer_bytes = input_file::longest_line + 2;
// Deflate codes at most 258 bytes in two bits.
constexpr int64 deflate_limit = 1032;
// A thread reads a huge page of the destination at a time, so no two threads clear the same page.
// `most_pieces` is the number of pieces between two reports of progress.
constexpr std::size_t piece_bytes = 2u << 20, most_pieces = 32;

std::string reason_of(int number) { return std::strerror(number); }

/// A piece of a stored part, and its CRC-32.
struct piece {
  std::size_t got = 0;
  unsigned long crc = 0;
  int error = 0;

  /// Throws nothing, because no exception may leave a thread.
  void read(int descriptor, int64 offset, char* out, std::size_t count) {
    while (got < count) {
      // A buffer's worth stays in the cache until its CRC is computed.
      const ssize_t now = ::pread(descriptor, out + got, std::min(count - got, buffer_bytes),
                                  offset + static_cast<int64>(got));
      if (now < 0 && errno == EINTR) continue;
      if (now < 0) error = errno;
      if (now <= 0) return;
      crc = crc32_z(crc, reinterpret_cast<const Bytef*>(out + got), static_cast<std::size_t>(now));
      got += static_cast<std::size_t>(now);
    }
  }
};

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t shown = 40;
  constexpr const char* digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text.substr(0, shown)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return result + (text.size() > shown ? "…\"" : "\"");
}

input_file::input_file(const std::string& path)
    : path_(path), text_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {
  open();
  try {
    struct stat status;
    if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size;
    while (end_ < 2) {
      const std::size_t got = read_raw(text_.get() + end_, buffer_bytes - end_);
      if (got == 0) break;
      end_ += got;
    }
    if (end_ >= 2 && text_[0] == '\x1f' && text_[1] == '\x8b') {
      constexpr int gzip_only = 16;
      start_inflating(gzip_only + MAX_WBITS);
    }
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (peek(byte_order_mark.size()) == byte_order_mark) begin_ += byte_order_mark.size();
  } catch (...) {
    close();
    throw;
  }
}

input_file::input_file(const std::string& path, const file_part& part)
    : path_(path),
      size_(part.bytes),
      offset_(part.offset),
      text_(std::make_unique_for_overwrite<char[]>(buffer_bytes)),
      is_part_(true),
      is_member_(!part.name.empty()) {
  open();
  try {
    if (is_member_) path_ += ": " + part.name;
    if (part.deflated) start_inflating(-MAX_WBITS);
  } catch (...) {
    close();
    throw;
  }
}

void input_file::open() {
  next_report_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errc::io, {path_, ": cannot open: ", reason_of(errno)});
}

/// Moves the bytes read so far to the compressed input, because they are not text.
void input_file::start_inflating(int window_bits) {
  raw_ = std::make_unique_for_overwrite<char[]>(buffer_bytes);
  raw_.swap(text_);
  inflater_.next_in = reinterpret_cast<Bytef*>(raw_.get());
  inflater_.avail_in = static_cast<uInt>(end_);
  end_ = 0;
  if (inflateInit2(&inflater_, window_bits) != Z_OK) throw std::bad_alloc();
}

input_file::~input_file() { close(); }

void input_file::close() {
  if (inflater_.state != nullptr) inflateEnd(&inflater_);
  ::close(descriptor_);
  constexpr std::string_view erase_line = "\r\033[K";
  if (reported_ && ::write(STDERR_FILENO, erase_line.data(), erase_line.size()) < 0) {
    // A progress line that stays on the terminal is harmless.
  }
}

std::string_view input_file::peek(std::size_t count) {
  while (end_ - begin_ < count && fill()) {
  }
  return {text_.get() + begin_, std::min(count, end_ - begin_)};
}

bool input_file::next_line(std::string_view& line) {
  std::size_t searched = 0;  // bytes after begin_ that hold no LF
  const char* end = nullptr;
  while (end == nullptr) {
    const char* const from = text_.get() + begin_ + searched;
    const std::size_t count = end_ - begin_ - searched;
    end = static_cast<const char*>(std::memchr(from, '\n', count));
    searched += count;
    if (end == nullptr && (searched == buffer_bytes || !fill())) break;
  }
  if (end == nullptr && searched == 0) return false;
  const char* const first = text_.get() + begin_;
  const char* const last = end != nullptr ? end : first + searched;
  line = {first, static_cast<std::size_t>(last - first)};
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_;
  if (std::ssize(line) > longest_line) refuse({"the line is longer than ", longest_line, " bytes"});
  begin_ += static_cast<std::size_t>(last - first) + (end != nullptr ? 1 : 0);
  return true;
}

file_part input_file::lines(int part, int parts) const {
  const int64 from = position();
  // A line belongs to the part in which it begins.
  const auto begin = [&](int of) {
    const int64 near = from + (size_ - from) / parts * of;
    return of == parts ? size_ : near > from ? line_begin(near) : from;
  };
  const int64 first = begin(part);
  return {"", first, begin(part + 1) - first, false};
}

/// The first byte from `at` on where a line may begin: within a line that is too long, any byte.
int64 input_file::line_begin(int64 at) const {
  std::array<char, 4096> bytes;
  const int64 last = std::min<int64>(size_, at + buffer_bytes);
  for (int64 from = at - 1; from < last;) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), from);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errc::io, {path_, ": cannot read: ", reason_of(errno)});
    if (got == 0) break;
    const void* const found = std::memchr(bytes.data(), '\n', static_cast<std::size_t>(got));
    if (found != nullptr) return from + (static_cast<const char*>(found) - bytes.data()) + 1;
    from += got;
  }
  return last;
}

std::size_t input_file::read(void* out, std::size_t count) {
  auto* const to = static_cast<char*>(out);
  std::size_t done = 0;
  while (done < count) {
    if (begin_ == end_ && is_part_ && raw_ == nullptr && count - done >= piece_bytes)
      return done + read_in_pieces(to + done, count - done);
    if (begin_ == end_ && !fill()) break;
    const std::size_t now = std::min(count - done, end_ - begin_);
    std::memcpy(to + done, text_.get() + begin_, now);
    begin_ += now;
    done += now;
  }
  return done;
}

// Pieces and their order do not depend on the threads.
std::size_t input_file::read_in_pieces(char* out, std::size_t count) {
  count = std::min(count, static_cast<std::size_t>(size_ - raw_read_));
  std::size_t done = 0;
  while (done < count) {
    const std::size_t now = std::min(count - done, most_pieces * piece_bytes);
    const auto pieces = static_cast<int>((now + piece_bytes - 1) / piece_bytes);
    std::array<piece, most_pieces> all;
    // One byte and its part of the CRC take about one multiply-add.
    const int threads = std::min(on_cpu::threads_for(static_cast<double>(now)), pieces);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int p = 0; p < pieces; ++p) {
      const std::size_t at = static_cast<std::size_t>(p) * piece_bytes;
      all[static_cast<std::size_t>(p)].read(descriptor_,
                                            offset_ + raw_read_ + static_cast<int64>(at),
                                            out + done + at, std::min(piece_bytes, now - at));
    }
    std::size_t joined = 0;
    for (const piece& one : all) {
      if (one.error != 0) fail(errc::io, {path_, ": cannot read: ", reason_of(one.error)});
      crc_ = crc32_combine(crc_, one.crc, static_cast<z_off_t>(one.got));
      joined += one.got;
      if (one.got < piece_bytes) break;
    }
    done += joined;
    raw_read_ += static_cast<int64>(joined);
    show_progress();
    if (joined < now) break;  // the file became shorter during the read
  }
  return done;
}

void input_file::expect_numbers(int64 count, int64 bytes) const {
  if (size_ == 0)
    fail(errc::io, {path_, ": an array is read from a regular file only, not from a pipe"});
  int64 most = std::max<int64>(0, size_ - raw_read_);
  if (raw_ != nullptr) {
    most += static_cast<int64>(inflater_.avail_in) + 1;
    if (__builtin_mul_overflow(most, deflate_limit, &most)) return;
  }
  if (bytes > most && bytes - most > static_cast<int64>(end_ - begin_))
    refuse({"the sizes announce ", count, " numbers, which take ", bytes,
            " bytes or more, but at most ", most + static_cast<int64>(end_ - begin_),
            " follow; the file is cut, or its sizes are wrong"});
}

void input_file::expect_memory(double bytes) const {
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  if (bytes > memory)
    fail(errc::out_of_memory,
         {path_, ": needs ", bytes, " bytes of memory, but the machine has ", memory});
}

void input_file::refuse(std::initializer_list<message_piece> reason) const {
  refuse_at(line_, reason);
}

void input_file::refuse_at(int64 line, std::initializer_list<message_piece> reason) const {
  std::string text;
  for (const message_piece& piece : reason) text += piece.text();
  if (line == 0) fail(errc::format, {path_, ": ", text});
  fail(errc::format, {path_, ":", line, ": ", text});
}

// Reads more bytes after the unread ones; returns false at the end of the file or if the buffer is
// full.
bool input_file::fill() {
  if (begin_ > 0) {
    std::memmove(text_.get(), text_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t got = pull(text_.get() + end_, buffer_bytes - end_);
  end_ += got;
  return got > 0;
}

std::size_t input_file::pull(char* out, std::size_t room) {
  const std::size_t got = raw_ == nullptr ? read_raw(out, room) : inflate_into(out, room);
  if (is_member_) crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(out), got);
  return got;
}

std::size_t input_file::inflate_into(char* out, std::size_t room) {
  inflater_.next_out = reinterpret_cast<Bytef*>(out);
  inflater_.avail_out = static_cast<uInt>(room);
  while (inflater_.avail_out == room && room > 0) {
    if (is_part_ && member_done_) {
      if (inflater_.avail_in > 0 || raw_read_ < size_) refuse({"bytes follow the deflated data"});
      return 0;
    }
    if (inflater_.avail_in == 0 && !read_deflated()) return 0;
    if (member_done_ && !begin_member()) continue;
    inflate_some();
  }
  return room - inflater_.avail_out;
}

// Returns false at the end of the file, which is refused inside a member.
bool input_file::read_deflated() {
  const std::size_t got = read_raw(raw_.get(), buffer_bytes);
  if (got == 0) {
    if (member_done_) return false;
    if (is_part_) refuse({"the deflated data end too early"});
    refuse_at(line_ + 1, {"the gzip data end too early"});
  }
  inflater_.next_in = reinterpret_cast<Bytef*>(raw_.get());
  inflater_.avail_in = static_cast<uInt>(got);
  return true;
}

void input_file::inflate_some() {
  const int result = inflate(&inflater_, Z_NO_FLUSH);
  member_done_ = result == Z_STREAM_END;
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
    refuse_at(is_part_ ? 0 : line_ + 1,
              {is_part_ ? "damaged deflated data: " : "damaged gzip data: ",
               inflater_.msg != nullptr ? inflater_.msg : "cannot be inflated"});
}

// A gzip file may have several members, one after the other. Zeros between and after them are
// padding; anything else there fails as a header.
bool input_file::begin_member() {
  for (; inflater_.avail_in > 0 && *inflater_.next_in == 0; ++inflater_.next_in)
    --inflater_.avail_in;
  if (inflater_.avail_in == 0) return false;
  inflateReset(&inflater_);
  return true;
}

std::size_t input_file::read_raw(char* out, std::size_t room) {
  if (is_part_) room = std::min(room, static_cast<std::size_t>(size_ - raw_read_));
  while (true) {
    const ssize_t got = is_part_ ? ::pread(descriptor_, out, room, offset_ + raw_read_)
                                 : ::read(descriptor_, out, room);
    if (got >= 0) {
      raw_read_ += got;
      show_progress();
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) fail(errc::io, {path_, ": cannot read: ", reason_of(errno)});
  }
}

void input_file::show_progress() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_report_) return;
  next_report_ = now + std::chrono::milliseconds(500);
  if (::isatty(STDERR_FILENO) == 0) return;
  std::string report = "\rrig: reading " + path_ + ": ";
  if (size_ > 0)
    report += std::to_string(100 * std::min(raw_read_, size_) / size_) + " %";
  else
    report += std::to_string(raw_read_ >> 20) + " MiB";
  reported_ = ::write(STDERR_FILENO, report.data(), report.size()) >= 0;
}

}  // namespace rig::io
