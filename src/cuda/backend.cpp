// A CUDA device as a place: the table of what it implements.

#include "storage/backend.hpp"

namespace rig {

/// RIG_TUNING is checked where a plan is first chosen.
void on_cuda::check_settings() {}

constinit const backend on_cuda::functions = {
#define RIG_FUNCTION(result, name, ...) .name = &name,
#include "storage/backend.def"
};

}  // namespace rig
