#pragma once

/// @file
/// Files that are written whole or not at all.

#include <charconv>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rig/scalar.hpp"

namespace rig {

/// A regular file, written from front to back; it appears, or replaces the one of its name, only
/// with `close`. If its name ends in .gz, its bytes are packed as gzip.
///
/// Until then the bytes lie in a file without a name in the same folder, which ends with the object
/// or the process. Where the file system has none, as NFS, it is `.rig-PID-N`, which the destructor
/// removes and a killed process leaves. A file made and dropped tests whether the path can be
/// written. Symbolic links are followed. A replaced file passes on its permissions, and its owner
/// where the system allows. Throws error(io) with path and reason: also for a pipe, a device, a
/// folder, or a file without permission to write.
/// @code
/// rig::output_file file("levels.txt");
/// file.text("0 1 2\n"), file.close();
/// @endcode
class output_file {
 public:
  /// Creates the file that has no name yet.
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  /// Appends bytes.
  void write(const void* data, std::size_t bytes);
  /// Appends text.
  void text(std::string_view text) { write(text.data(), text.size()); }
  /// Appends the shortest decimal that reads back to the same bits.
  template <class T>
  void number(T value) {
    constexpr std::size_t longest = 32;
    if (buffer_.size() - used_ < longest) flush();
    char* at = buffer_.data() + used_;
    if constexpr (is_same<T, bool>)
      *at++ = value ? '1' : '0';
    else
      at = std::to_chars(at, buffer_.data() + buffer_.size(), value).ptr;
    used_ = static_cast<std::size_t>(at - buffer_.data());
  }
  /// Gives the file its name.
  void close();

 private:
  void create(const char* complaint);
  template <class Make>
  bool make_temporary(Make make);
  void take_over_permissions();
  void flush();
  void write_out(const char* data, std::size_t bytes);
  void pack(const char* data, std::size_t bytes, bool ends);
  [[noreturn]] void refuse(const char* what, const char* why) const;

  std::string path_;  ///< as it was given
  std::string target_,
      temporary_;  ///< where the links lead, and the file beside it, if it is named
  int descriptor_ = -1;
  struct packer;
  std::unique_ptr<packer> packer_;  ///< null unless the bytes are packed
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

/// Writes a file that holds a text, as `output_file` does.
inline void write_text(const std::string& path, std::string_view text) {
  output_file file(path);
  file.text(text);
  file.close();
}

}  // namespace rig
