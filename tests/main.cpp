#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "data_folder.hpp"
#include "seed.hpp"

unsigned long test_seed() {
  static const unsigned long seed = [] {
    const char* given = std::getenv("RIG_SEED");
    return given != nullptr ? std::strtoul(given, nullptr, 10) : 20250607ul;
  }();
  return seed;
}

int main(int argc, char** argv) {
  std::printf("seed %lu (RIG_SEED sets another)\n", test_seed());
  std::fflush(stdout);
  const int failed = doctest::Context(argc, argv).run();
  return failed == 0 && data::is_missing ? 77 : failed;
}
