// rigblas run: the example programs of the algorithms, by their names.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "command.hpp"
#include "report.hpp"

// The examples are compiled into this command with another name for their main.
#define RIG_ALGORITHM(name) int run_##name(int, char**);
#include "algorithms.def"
#undef RIG_ALGORITHM

namespace {

struct algorithm {
  const char* name;
  int (*run)(int count, char** arguments);
};
constexpr algorithm algorithms[] = {
#define RIG_ALGORITHM(name) {#name, run_##name},
#include "algorithms.def"
#undef RIG_ALGORITHM
};

void print_help(const char* summary) {
  std::cout << "Usage: rigblas run ALGORITHM [FILE] [options]\n" << summary << ".\n\nAlgorithms:\n";
  for (const algorithm& each : algorithms) std::cout << "  " << each.name << "\n";
  std::cout << "\nOptions:\n"
               "  --help  print this; after an algorithm: its options\n"
               "\nExit status: 0; 1 if the run fails; 2 if the command line is wrong.\n";
}

int refuse(const std::string& what) {
  std::vector<std::string> names;
  for (const algorithm& each : algorithms) names.emplace_back(each.name);
  std::cerr << "rigblas run: " << what << "; there are " << example::joined(names)
            << "; see rigblas run --help\n";
  return 2;
}

}  // namespace

int command::run(int count, char** arguments, const char* summary) {
  if (count < 2) return refuse("there is no algorithm");
  const std::string word = arguments[1];
  if (word == "--help") {
    print_help(summary);
    if (std::cout.flush()) return 0;
    std::cerr << "rigblas run: cannot write to the standard output\n";
    return 1;
  }
  const auto found = std::ranges::find(algorithms, word, &algorithm::name);
  if (found == std::end(algorithms)) return refuse("no algorithm is named '" + word + "'");
  std::string name = "rigblas run " + word;
  std::vector<char*> rest(arguments + 1, arguments + count);
  rest[0] = name.data();
  return found->run(count - 1, rest.data());
}
