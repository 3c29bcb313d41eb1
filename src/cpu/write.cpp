// What the CPU kernels of all semirings share for each algebra type.

#include "rig/kernels/cpu/element.hpp"

namespace rig::on_cpu {

#define RIG_SHARED(T)                                                                   \
  template void read_tile<T>(const dense_operand&, index, int64, const places&, T*);    \
  template void write_tile<T>(const target&, index, int64, const places&, const T*, T); \
  template void convert_row<T>(const void*, type, T*, int64);                           \
  template void gather<T>(const element_source&, const element_positions&, int, T*);    \
  template void store<T>(const element_block&, const T*);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

}  // namespace rig::on_cpu
