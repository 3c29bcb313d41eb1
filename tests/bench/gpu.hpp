#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench.hpp"
#include "rig/matrix.hpp"

/// Measuring on a GPU. The bench's own kernels are compiled at run time, so that only the file that
/// calls CUB needs nvcc.
namespace bench::gpu {

/// Throws rig::error(device) with the words of CUDA.
void check(cudaError_t status, const char* what);

/// rig's own stream of the first GPU. Everything measured runs in it, so that no call waits for
/// another stream.
cudaStream_t stream();
void synchronise();

/// Gives the memory that rig and this process have freed back, so that the next graph has all of
/// it.
void release_memory();

/// Median milliseconds of each contender; the contenders take turns. Each timing covers a batch of
/// calls, long enough for the clock. All calls are enqueued before the first starts, so that the
/// host's time is left out.
std::vector<double> race(std::span<const contender> field, int repeat);

/// Gigabytes per second: "copy" counts reads and writes of a device-to-device copy of 1 GiB.
/// "gather_cached" and "gather_memory" read random rows of 128 floats from tables of 20 MB and 2
/// GB. They count the rows' bytes alone. A warp reads a row, a lane a float4, with eight rows in
/// flight.
std::map<std::string, double> measure_ceilings(int repeat);

/// Gigabytes per second of the same kernel on a table of this size.
double gather(std::size_t table_bytes, int repeat);

/// The driver, and the toolkit that built this program.
std::string driver();
std::string toolkit();

/// Uniform in (-0.5, 0.5), a function of the seed and of the position alone.
void fill_random(float* out, rig::int64 count, unsigned seed);

/// to = from, rounded to the nearest; `to` has the element type `stored`, half or bfloat16.
void round_to(rig::type stored, const float* from, void* to, rig::int64 count);

/// The Frobenius norm of x - exact over that of `exact`, both packed.
double relative_error(const float* x, const float* exact, rig::int64 count);

/// Launches an empty kernel with as many bytes of arguments as rig's, which gives CUDA's own cost
/// on the host.
std::function<void()> bare_launch();

/// Link-time code of one device function, for cuSPARSE.
std::string compile_to_lto(const char* text);

}  // namespace bench::gpu
