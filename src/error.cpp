#include "rig/error.hpp"

#include <charconv>

namespace rig {

message_piece::message_piece(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  text_.assign(digits, end);
}

void fail(errc code, std::initializer_list<message_piece> pieces) {
  std::string message;
  for (const message_piece& piece : pieces) message += piece.text();
  throw error(code, message);
}

}  // namespace rig
