#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

namespace bench::gpu {

/// "CUB 2.5.0"
std::string cub_name();

/// CUB's segmented sort: sorts the `width` keys of each of `rows` rows in descending order, with
/// their columns; row i starts at offsets[i]. If `scratch` is null, it only sets `scratch_bytes`.
cudaError_t sort_rows(void* scratch, std::size_t& scratch_bytes, const float* keys, float* sorted,
                      const unsigned char* columns, unsigned char* sorted_columns, int rows,
                      int width, const int* offsets, cudaStream_t stream);

}  // namespace bench::gpu
