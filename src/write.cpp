#include "rig/cpu/write.hpp"

namespace rig::on_cpu {

template void write_tile<bool>(const target&, index, int64, int, const bool*, bool, const bool*,
                               const bool*);
template void write_tile<int32>(const target&, index, int64, int, const int32*, int32, const bool*,
                                const bool*);
template void write_tile<int64>(const target&, index, int64, int, const int64*, int64, const bool*,
                                const bool*);
template void write_tile<float>(const target&, index, int64, int, const float*, float, const bool*,
                                const bool*);
template void write_tile<double>(const target&, index, int64, int, const double*, double,
                                 const bool*, const bool*);

}  // namespace rig::on_cpu
