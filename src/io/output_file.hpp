#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rig/scalar.hpp"

namespace rig::io {

/// A file written once from front to back. Every failure, also of `close`, is error(io) with path
/// and reason; an unclosed file keeps the bytes written so far.
class output_file {
 public:
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(const void* data, std::size_t bytes);
  void text(std::string_view text) { write(text.data(), text.size()); }
  /// Writes the shortest decimal that reads back to the same bits.
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
  void close();

 private:
  void flush();
  void write_out(const char* data, std::size_t bytes);

  std::string path_;
  int descriptor_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

}  // namespace rig::io
