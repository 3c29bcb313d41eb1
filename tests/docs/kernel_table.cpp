// Prints the table of docs/reference/kernels.md: the list of kernels.

#include <cstdio>

#include "rig/kernels/list.hpp"

int main() {
  std::puts("| kernel | place | runs | how |");
  std::puts("| --- | --- | --- | --- |");
  for (const rig::kernel& k : rig::kernels())
    std::printf("| `%s` | %s | %s | %s |\n", k.name,
                k.where == rig::place::kind::cpu ? "CPU" : "CUDA",
                includes(k.takes, rig::operands::cbsr_right)
                    ? "if B is a cbsr; else by name, as an approximation"
                : k.approximate ? "by name, as an approximation"
                : k.last_resort ? "by name"
                                : "by choice",
                k.summary);
}
