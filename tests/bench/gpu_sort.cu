// CUB has no interface for the run-time compiler, so this is the bench's one file for nvcc.

#include <cub/device/device_segmented_sort.cuh>
#include <cub/version.cuh>

#include "gpu_sort.hpp"

namespace bench::gpu {

std::string cub_name() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) +
         "." + std::to_string(CUB_SUBMINOR_VERSION);
}

cudaError_t sort_rows(void* scratch, std::size_t& scratch_bytes, const float* keys, float* sorted,
                      const unsigned char* columns, unsigned char* sorted_columns, int rows,
                      int width, const int* offsets, cudaStream_t stream) {
  return cub::DeviceSegmentedSort::SortPairsDescending(scratch, scratch_bytes, keys, sorted,
                                                       columns, sorted_columns, rows * width, rows,
                                                       offsets, offsets + 1, stream);
}

}  // namespace bench::gpu
