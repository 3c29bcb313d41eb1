#include <charconv>
#include <new>

#include "rig/checked_index.hpp"

namespace rig {
namespace {

/// Constructed before memory runs out. Copies of an exception share their message, so throwing it
/// allocates nothing.
const error no_memory_for_words(errc::out_of_memory, "out of memory, even for an error message");

}  // namespace

message_piece::message_piece(long long value) {
  text_ = {digits_, static_cast<std::size_t>(
                        std::to_chars(digits_, digits_ + sizeof(digits_), value).ptr - digits_)};
}

message_piece::message_piece(unsigned long long value) {
  text_ = {digits_, static_cast<std::size_t>(
                        std::to_chars(digits_, digits_ + sizeof(digits_), value).ptr - digits_)};
}

message_piece::message_piece(double value) {
  text_ = {digits_, static_cast<std::size_t>(
                        std::to_chars(digits_, digits_ + sizeof(digits_), value).ptr - digits_)};
}

void refuse_number(const char* call, const char* argument, const scalar& number,
                   const integer_limits& type) {
  const char* const colon = call == nullptr ? "" : ": ";
  const message_piece given = number.in_words();
  if (call == nullptr) call = "";
  if (number.is_within(type))
    fail(errc::range, {call, colon, argument, " is ", given, ", and ", type.name,
                       " holds whole numbers; pass one"});
  fail(errc::range, {call, colon, argument, " is ", given, ", outside ", type.least, " … ",
                     type.greatest, " of ", type.name, "; pass one within"});
}

void fail(errc code, std::initializer_list<message_piece> pieces) {
  try {
    std::string message;
    for (const message_piece& piece : pieces) message += piece.text();
    throw error(code, message);
  } catch (const std::bad_alloc&) {
    throw no_memory_for_words;
  }
}

void fail_as(const char* name, const error& cause) {
  const std::string_view message = cause.what(), start = name;
  // Not `throw;`: a librig that has its own C++ runtime cannot rethrow what the caller's caught.
  if (message.starts_with(start) && message.substr(start.size()).starts_with(": "))
    throw error(cause);
  fail(cause.code(), {name, ": ", message});
}

}  // namespace rig
