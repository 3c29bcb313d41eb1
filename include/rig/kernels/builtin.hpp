#pragma once

// The library contains the CPU kernels of the builtin pairs, so users' builds need not compile them
// again. rig/semirings.hpp includes this after the semirings.

#include "rig/semirings.hpp"

namespace rig {

struct problem;
struct sparse_result;

namespace on_cpu {

template <class S>
void run(int which, const problem& p);
template <class S>
sparse_result multiply(int which, const problem& p);
template <class S>
sparse_result multiply_column(int which, const problem& p);
template <class S>
int columns_of_tile();

#define RIG_BUILTIN(semiring, type)                                            \
  extern template void run<semiring<type>>(int, const problem&);               \
  extern template int columns_of_tile<semiring<type>>();                       \
  extern template sparse_result multiply<semiring<type>>(int, const problem&); \
  extern template sparse_result multiply_column<semiring<type>>(int, const problem&);
#include "rig/builtin.def"
#undef RIG_BUILTIN

}  // namespace on_cpu
}  // namespace rig
