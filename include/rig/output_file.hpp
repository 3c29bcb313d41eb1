#pragma once

/// @file
/// Files that are written whole or not at all.

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rig/scalar.hpp"

namespace rig {

/// A regular file, written from front to back; it appears, or replaces the one of its name, only
/// with `close`.
///
/// Until then the bytes lie in a file of another name in the same folder, which the destructor
/// removes. So a file made and dropped is a test of whether the path can be written. A symbolic
/// link is followed. A file that is replaced passes on its permissions, and its owner where the
/// system allows. Throws error(io) with path and reason: also for a pipe, a device, a folder, or a
/// file without permission to write.
/// @code
/// rig::output_file file("levels.txt");
/// file.text("0 1 2\n"), file.close();
/// @endcode
class output_file {
 public:
  /// Creates the file of another name.
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
  void create_temporary(const char* complaint);
  void take_over_permissions();
  void flush();
  void write_out(const char* data, std::size_t bytes);
  [[noreturn]] void refuse(const char* what, const char* why) const;

  std::string path_;                ///< as it was given
  std::string target_, temporary_;  ///< where the links lead, and the file beside it until `close`
  int descriptor_ = -1;
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
