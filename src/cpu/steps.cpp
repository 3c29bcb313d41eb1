#include "cpu/steps.hpp"

namespace rig::on_cpu {

const operation_steps steps = {&run,      &run,           &run_dense, &extract, &kronecker,
                               &diagonal, &from_diagonal, &values,    &region,  &fill_region,
                               &placed,   &reduce_rows,   &reduce};

}  // namespace rig::on_cpu
