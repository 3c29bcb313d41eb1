#pragma once

/// @file
/// The exception of rig: `error`, and `errc`, the kinds of mistake.

#include <cstdint>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rig {

/// The kind of mistake that an `error` reports; the message holds the values.
enum class errc {
  shape,           ///< operand, mask or result sizes do not fit together
  place,           ///< operands live in different places, or the place is not there
  range,           ///< an index or a number is out of its range
  duplicate,       ///< two tuples at one position and no combiner
  order,           ///< columns of a row do not ascend
  type,            ///< a storage type cannot serve here
  unknown_kernel,  ///< no kernel has this name
  cannot,          ///< the named kernel cannot serve this problem
  out_of_memory,   ///< an allocation failed; the message states the bytes
  format,          ///< a file or string does not follow its format
  io,              ///< a file cannot be opened, read or written
  read_only,       ///< a write through a read-only view
  device,          ///< a device reported a fault
};

/// The only exception type of rig: a code to branch on, and a message that names the values.
/// @code
/// try { rig::mxm(A, rig::dense<float>(9, 9), rig::plus_times<float>{}); }
/// catch (const rig::error& e) { if (e.code() == rig::errc::shape) std::puts(e.what()); }
/// @endcode
class error : public std::runtime_error {
 public:
  /// An error of this kind; `what()` returns the message.
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// The kind of mistake.
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

class checked_index;

/// @cond internal
/// A piece of an error message: text or a number, formatted without locale. It refers to its text
/// and allocates nothing, because some errors are thrown when memory has run out.
class message_piece {
 public:
  message_piece(const char* text) : text_(text) {}
  message_piece(std::string_view text) : text_(text) {}
  message_piece(const std::string& text) : text_(text) {}
  message_piece(int value) : message_piece(static_cast<long long>(value)) {}
  message_piece(long value) : message_piece(static_cast<long long>(value)) {}
  message_piece(long long value);
  message_piece(unsigned value) : message_piece(static_cast<unsigned long long>(value)) {}
  message_piece(unsigned long value) : message_piece(static_cast<unsigned long long>(value)) {}
  message_piece(unsigned long long value);
  message_piece(double value);
  message_piece(checked_index value);
  message_piece(const message_piece& other) : text_(other.text_) {
    if (text_.data() != other.digits_) return;
    text_.copy(digits_, text_.size());
    text_ = {digits_, text_.size()};
  }
  message_piece& operator=(const message_piece&) = delete;
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  char digits_[32];
};

/// Throws `error(code, …)` with the joined pieces; the only way in which rig reports a mistake.
[[noreturn]] void fail(errc code, std::initializer_list<message_piece> pieces);

/// Throws error(range) if `value` is not a value of its enum, whose greatest value is `last`.
template <class Enum>
void check_enum(const char* operation, const char* what, Enum value, Enum last) {
  const int number = static_cast<int>(value), greatest = static_cast<int>(last);
  if (number < 0 || number > greatest)
    fail(errc::range, {operation, ": ", what, " ", number, " is outside 0 … ", greatest,
                       "; pass a named value of the enum"});
}

/// Runs `work` and turns a failure of the standard library to allocate into an
/// `error(out_of_memory)` whose message starts with `what`.
template <class Work>
decltype(auto) or_out_of_memory(const char* what, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail(errc::out_of_memory, {what, ": out of memory"});
  } catch (const std::length_error&) {
    fail(errc::out_of_memory, {what, ": out of memory: a list is longer than memory can be"});
  }
}

/// Throws `cause` again; its message starts with `name`, which is put before it unless it is there.
/// Only where `cause` is being handled.
[[noreturn]] void fail_as(const char* name, const error& cause);

/// Runs `work` as or_out_of_memory does; messages of other errors of rig start with `name` too.
template <class Work>
decltype(auto) in_name_of(const char* name, Work&& work) {
  try {
    return or_out_of_memory(name, work);
  } catch (const error& cause) {
    fail_as(name, cause);
  }
}
/// @endcond

}  // namespace rig
