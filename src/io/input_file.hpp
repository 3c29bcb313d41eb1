#pragma once

#include <zlib.h>

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "rig/error.hpp"
#include "rig/scalar.hpp"

namespace rig::io {

/// Some bytes of a file, as an archive has them for its members.
struct file_part {
  std::string name;
  int64 offset = 0, bytes = 0;  ///< in the file
  bool deflated = false;        ///< by raw deflate
};

/// A file, or a part of one, read once, front to back. A file is gunzipped where its first bytes
/// are gzip's, a part is inflated where it says so. Memory is two fixed buffers, whatever the file
/// says or inflates to. Reads that take long show their progress on stderr if that is a terminal.
class input_file {
 public:
  explicit input_file(const std::string& path);
  /// Messages name the part behind the path.
  input_file(const std::string& path, const file_part& part);
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  /// The next bytes, left unread; fewer than `count` at the end of the file.
  std::string_view peek(std::size_t count);
  /// The next line without its LF or CR LF, valid until the next call; false at the end of the
  /// file.
  bool next_line(std::string_view& line);
  /// Copies the next bytes; fewer than `count` at the end of the file. Many bytes of a part that is
  /// not deflated are read by all threads, each straight to its place.
  std::size_t read(void* out, std::size_t count);

  /// Number of the line that was read last, from 1; 0 before the first.
  int64 line() const { return line_; }
  const std::string& path() const { return path_; }
  /// Bytes on disk, 0 where that is unknown (a pipe).
  int64 size() const { return size_; }
  /// CRC-32 of the bytes that came so far, those still unread included; of a part only.
  unsigned long crc() const { return crc_; }

  /// Throws error(format) where fewer bytes can still come, by the file's size and what deflate can
  /// reach.
  void expect_bytes(int64 bytes) const;
  /// Throws error(out_of_memory) where the machine has less: Linux would grant it, and then kill.
  void expect_memory(double bytes) const;
  /// Runs `allocate`, which takes so many bytes. Throws error(out_of_memory) that names them where
  /// the machine has or grants less.
  template <class Allocate>
  void with_memory(double bytes, Allocate&& allocate) const {
    expect_memory(bytes);
    try {
      allocate();
    } catch (const std::bad_alloc&) {
      fail(errc::out_of_memory,
           {path_, ": needs ", bytes, " bytes of memory, more than is granted"});
    }
  }
  /// Throws error(format) "path:line: reason", without a line where none was read.
  [[noreturn]] void refuse(std::initializer_list<message_piece> reason) const;
  [[noreturn]] void refuse_at(int64 line, std::initializer_list<message_piece> reason) const;

 private:
  void open();
  void start_inflating(int window_bits);
  bool fill();
  std::size_t pull(char* out, std::size_t room);
  std::size_t inflate_into(char* out, std::size_t room);
  bool begin_member();
  std::size_t read_raw(char* out, std::size_t room);
  std::size_t read_in_pieces(char* out, std::size_t count);
  void show_progress();
  void close();

  std::string path_;
  int descriptor_ = -1;
  int64 size_ = 0, raw_read_ = 0, line_ = 0;
  int64 offset_ = 0;                    // of a part
  std::unique_ptr<char[]> text_, raw_;  // raw_ is there for a gzip file only
  std::size_t begin_ = 0, end_ = 0;     // what of text_ is still to be handed out
  z_stream inflater_ = {};
  bool member_done_ = false;  // between two members of a gzip file, or behind a deflated part
  bool is_part_ = false;
  unsigned long crc_ = 0;
  std::chrono::steady_clock::time_point next_report_;
  bool reported_ = false;
};

/// A piece of a file as messages show it: cut to 40 bytes, unprintable ones escaped.
std::string in_quotes(std::string_view text);

}  // namespace rig::io
