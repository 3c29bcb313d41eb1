#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace bench::gpu {

/// CUB's segmented sort: each of `rows` rows of `width` keys from the greatest, and the columns
/// with them; row i begins at offsets[i]. Without scratch it only tells how many bytes that needs.
cudaError_t sort_rows(void* scratch, std::size_t& scratch_bytes, const float* keys, float* sorted,
                      const unsigned char* columns, unsigned char* sorted_columns, int rows,
                      int width, const int* offsets, cudaStream_t stream);

}  // namespace bench::gpu
