#pragma once

#include <span>

// The subcommands of rigblas. Each is a file, which runs as a program of its own.

namespace command {

struct subcommand {
  const char* name;
  const char* summary;  ///< one line, without a full stop
  /// Returns the exit status; the first of the arguments is the name of the program.
  int (*run)(int count, char** arguments, const char* summary);
};

int info(int count, char** arguments, const char* summary);
int convert(int count, char** arguments, const char* summary);
int run(int count, char** arguments, const char* summary);
int explain(int count, char** arguments, const char* summary);
int bench(int count, char** arguments, const char* summary);
int tune(int count, char** arguments, const char* summary);
int devices(int count, char** arguments, const char* summary);

}  // namespace command
