#include "cpu/steps.hpp"

namespace rig::on_cpu {

const operation_steps steps = {.merge = &run,
                               .map = &run,
                               .dense = &run_dense,
                               .fold_dense = &fold_dense,
                               .extract_dense = &extract_dense,
                               .placed_dense = &placed_dense,
                               .extract = &extract,
                               .kronecker = &kronecker,
                               .diagonal = &diagonal,
                               .from_diagonal = &from_diagonal,
                               .values = &values,
                               .find_outside = &find_outside,
                               .region = &region,
                               .fill_region = &fill_region,
                               .placed = &placed,
                               .reduce_rows = &reduce_rows,
                               .reduce = &reduce};

}  // namespace rig::on_cpu
