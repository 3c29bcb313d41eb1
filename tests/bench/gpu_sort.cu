// CUB has no interface that the run-time compiler could offer the bench: its one file for nvcc.

#include <cub/device/device_segmented_sort.cuh>

#include "gpu_sort.hpp"

namespace bench::gpu {

cudaError_t sort_rows(void* scratch, std::size_t& scratch_bytes, const float* keys, float* sorted,
                      const unsigned char* columns, unsigned char* sorted_columns, int rows,
                      int width, const int* offsets, cudaStream_t stream) {
  return cub::DeviceSegmentedSort::SortPairsDescending(scratch, scratch_bytes, keys, sorted,
                                                       columns, sorted_columns, rows * width, rows,
                                                       offsets, offsets + 1, stream);
}

}  // namespace bench::gpu
