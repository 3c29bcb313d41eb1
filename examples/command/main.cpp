// rigblas: what a matrix is, and what rig does with it, without a program of one's own.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "command.hpp"
#include "report.hpp"

namespace {

constexpr command::subcommand subcommands[] = {
    {"info", "Says what a matrix is, and which kernels rig would choose for it", command::info},
    {"convert", "Writes a matrix to a file of another format", command::convert},
    {"run", "Runs a graph algorithm, and prints its results", command::run},
    {"explain", "Says which kernel a product would run, and why not another", command::explain},
    {"bench", "Times every kernel that can serve, beside other libraries", command::bench},
    {"tune", "Finds the kernel, the threads and the order of nodes that are fastest",
     command::tune},
    {"devices", "Lists the places to compute in, and the libraries that are found",
     command::devices},
};

void print_help() {
  std::cout << "Usage: rigblas COMMAND [FILE] [options]\n"
               "Sparse matrices and graphs, from files, by the library rig.\n\nCommands:\n";
  for (const command::subcommand& each : subcommands)
    std::cout << "  " << each.name << std::string(10 - std::string(each.name).size(), ' ')
              << each.summary << "\n";
  std::cout << "\nOptions:\n"
               "  --help     print this; after a command: its options\n"
               "  --version  print the version of the library\n"
               "\nExit status: 0; 1 if the run fails; 2 if the command line is wrong.\n";
}

int refuse(const std::string& what) {
  std::vector<std::string> names;
  for (const command::subcommand& each : subcommands) names.emplace_back(each.name);
  std::cerr << "rigblas: " << what << "; there are " << example::joined(names)
            << "; see rigblas --help\n";
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return refuse("there is no command");
  const std::string word = arguments[1];
  const auto found = std::ranges::find(subcommands, word, &command::subcommand::name);
  if (found != std::end(subcommands)) {
    std::string name = "rigblas " + word;
    std::vector<char*> rest(arguments + 1, arguments + count);
    rest[0] = name.data();
    return found->run(count - 1, rest.data(), found->summary);
  }
  if (word == "--version")
    std::cout << "rigblas " << rig::version() << "\n";
  else if (word == "--help" || word == "help")
    print_help();
  else
    return refuse("no command is named '" + word + "'");
  if (std::cout.flush()) return 0;
  std::cerr << "rigblas: cannot write to the standard output\n";
  return 1;
}
