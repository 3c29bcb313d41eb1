#pragma once

#include <zlib.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "io/number.hpp"
#include "rig/error.hpp"
#include "rig/scalar.hpp"

namespace rig::io {

/// A range of bytes of a file: a member of an archive, or lines, which have no name.
struct file_part {
  std::string name;
  int64 offset = 0, bytes = 0;  ///< position in the file
  bool deflated = false;        ///< whether raw deflate compresses it
};

/// A file, or a part of one, read once from front to back. A file is gunzipped if it begins as
/// gzip; a part is inflated if `deflated` is set. Memory is two fixed buffers for any file. Long
/// reads show their progress on stderr if that is a terminal.
class input_file {
 public:
  static constexpr std::ptrdiff_t longest_line = 256 * 1024;

  explicit input_file(const std::string& path);
  /// Messages name a member after the path.
  input_file(const std::string& path, const file_part& part);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  /// The next bytes, which stay unread; fewer than `count` at the end of the file.
  std::string_view peek(std::size_t count);
  /// The next line without its LF or CR LF, valid until the next call; false at the end of the
  /// file.
  bool next_line(std::string_view& line);
  /// Reads lines "i j" or "i j rest" with one blank or `separator` behind i, as long as they come
  /// and take(i, j, rest) returns true. The line that ends this, which may be such a one too, stays
  /// unread.
  template <class Take>
  void pair_lines(char separator, Take&& take);
  /// Copies the next bytes; fewer than `count` at the end of the file. All threads read
  /// a long range of a part that is not deflated, each directly to its destination.
  std::size_t read(void* out, std::size_t count);

  /// The number of the last line read, from 1; 0 before the first.
  int64 line() const { return line_; }
  const std::string& path() const { return path_; }
  /// Bytes on disk; 0 if unknown (a pipe).
  int64 size() const { return size_; }
  /// Whether the bytes are compressed, or their number is not known: then no part of the text can
  /// be located.
  bool is_stream() const { return size_ == 0 || raw_ != nullptr; }
  /// The byte of the file, or of the part, that is read next; unless it is a stream.
  int64 position() const { return raw_read_ - static_cast<int64>(end_ - begin_); }
  /// Of the lines from the next byte on, in `parts` parts of like length, the bytes of one part.
  /// Only if this is the whole file, and no stream.
  file_part lines(int part, int parts) const;
  /// CRC-32 of the bytes that arrived, including unread ones; only for a member.
  unsigned long crc() const { return crc_; }

  /// Throws error(format) if the file cannot yield so many numbers of so many bytes together, by
  /// its size and the limits of deflate.
  void expect_numbers(int64 count, int64 bytes) const;
  /// Throws error(out_of_memory) if the machine has less memory, because Linux would grant it and
  /// kill the process later.
  void expect_memory(double bytes) const;
  /// Runs `allocate`, which takes this many bytes. Throws error(out_of_memory) that names them if
  /// the machine has or grants less.
  template <class Allocate>
  void with_memory(double bytes, Allocate&& allocate) const {
    expect_memory(bytes);
    try {
      allocate();
      return;
    } catch (const std::bad_alloc&) {
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory) throw;
    }
    fail(errc::out_of_memory, {path_, ": needs ", bytes, " bytes of memory, more than is granted"});
  }
  /// Throws error(format) "path:line: reason", without the line if none was read.
  [[noreturn]] void refuse(std::initializer_list<message_piece> reason) const;
  [[noreturn]] void refuse_at(int64 line, std::initializer_list<message_piece> reason) const;

 private:
  void open();
  void start_inflating(int window_bits);
  bool fill();
  std::size_t pull(char* out, std::size_t room);
  std::size_t inflate_into(char* out, std::size_t room);
  bool read_deflated();
  void inflate_some();
  bool begin_member();
  int64 line_begin(int64 at) const;
  std::size_t read_raw(char* out, std::size_t room);
  std::size_t read_in_pieces(char* out, std::size_t count);
  void show_progress();
  void close();

  std::string path_;
  int descriptor_ = -1;
  int64 size_ = 0, raw_read_ = 0, line_ = 0;
  int64 offset_ = 0;                    // of the part
  std::unique_ptr<char[]> text_, raw_;  // raw_ exists only for a gzip file
  std::size_t begin_ = 0, end_ = 0;     // the unread range of text_
  z_stream inflater_ = {};
  bool member_done_ = false;  // between two members of a gzip file, or after a deflated part
  bool is_part_ = false, is_member_ = false;
  unsigned long crc_ = 0;
  std::chrono::steady_clock::time_point next_report_;
  bool reported_ = false;
};

template <class Take>
void input_file::pair_lines(char separator, Take&& take) {
  constexpr std::size_t most_read = 64;  // of a pair and what follows it
  const char* const end = text_.get() + end_;
  const char* at = text_.get() + begin_;
  while (static_cast<std::size_t>(end - at) >= most_read) {
    std::uint64_t i = 0, j = 0;
    const char* last = at;
    if (!read_digits(last, i) || !ends_word(*last, separator) || !read_digits(++last, j)) return;
    const char* const rest = last;
    if (*last == '\r' && last[1] == '\n') ++last;
    if (*last != '\n') {
      if (!ends_word(*last, separator)) return;
      last =
          static_cast<const char*>(std::memchr(last, '\n', static_cast<std::size_t>(end - last)));
      if (last == nullptr || last - at > longest_line) return;
    }
    const bool is_cr_lf = last != rest && last[-1] == '\r';
    ++line_;
    if (!take(i, j, std::string_view(rest, last - (is_cr_lf ? 1 : 0)))) {
      --line_;
      return;
    }
    at = last + 1;
    begin_ = static_cast<std::size_t>(at - text_.get());
  }
}

/// A piece of a file for messages: cut to 40 bytes, with unprintable bytes escaped.
std::string in_quotes(std::string_view text);

}  // namespace rig::io
