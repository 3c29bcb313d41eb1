#include "rig/kernels/cpu/write.hpp"

namespace rig::on_cpu {

template void read_tile<bool>(const dense_operand&, index, int64, const places&, bool*);
template void write_tile<bool>(const target&, index, int64, const places&, const bool*, bool);
template void read_tile<int32>(const dense_operand&, index, int64, const places&, int32*);
template void write_tile<int32>(const target&, index, int64, const places&, const int32*, int32);
template void read_tile<int64>(const dense_operand&, index, int64, const places&, int64*);
template void write_tile<int64>(const target&, index, int64, const places&, const int64*, int64);
template void read_tile<float>(const dense_operand&, index, int64, const places&, float*);
template void write_tile<float>(const target&, index, int64, const places&, const float*, float);
template void read_tile<double>(const dense_operand&, index, int64, const places&, double*);
template void write_tile<double>(const target&, index, int64, const places&, const double*, double);

}  // namespace rig::on_cpu
