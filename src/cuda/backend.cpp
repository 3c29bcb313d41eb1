// A CUDA device as a place: the table of what it implements.

#include "storage/backend.hpp"

#include "cuda/runtime/shared_library.hpp"
#include "cuda/vendor/cusparse.hpp"
#include "rig/kernels/optional_libraries.hpp"

namespace rig {

/// RIG_TUNING is checked where a plan is first chosen.
void on_cuda::check_settings() {}

constinit const backend on_cuda::functions = {
#define RIG_FUNCTION(result, name, ...) .name = &name,
#include "storage/backend.def"
};

std::vector<optional_library> optional_libraries() {
  return {{"libcuda", "the driver of NVIDIA's GPUs", on_cuda::driver_library().path()},
          {"libnvrtc", "kernels that are compiled at run time", on_cuda::compiler_library().path()},
          {"libcusparse", "the kernel vendor", on_cuda::cusparse_library().path()}};
}

}  // namespace rig
