#pragma once

// Checks of errors that a test provokes: the code, and the values in the message.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "rig/error.hpp"

/// CHECKs that `work` throws error(code) whose message contains every text.
template <class Work>
void check_error(rig::errc code, std::initializer_list<std::string> texts, Work&& work) {
  try {
    work();
  } catch (const rig::error& e) {
    CHECK_MESSAGE(e.code() == code, "another code, with: ", std::string(e.what()));
    for (const std::string& text : texts)
      CHECK_MESSAGE(std::string(e.what()).find(text) != std::string::npos, "\"", text,
                    "\" is not in: ", std::string(e.what()));
    return;
  }
  FAIL_CHECK("nothing was thrown");
}
