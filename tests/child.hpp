#pragma once

// Test cases that need a process of their own.

#include <sys/wait.h>
#include <unistd.h>

#include <string>

/// Starts a test case of this program, which other runs skip, in a new process. doctest separates
/// names by commas, so the name has none.
inline pid_t start_child(const std::string& test_case) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "child", "--no-skip", ("--test-case=" + test_case).c_str(), nullptr);
    _exit(99);
  }
  return child;
}

/// The exit code of the child: 0 if the test case passed.
inline int result_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
