#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench.hpp"
#include "rig/matrix.hpp"

/// What measuring on a GPU needs. The bench's own kernels are compiled at run time, so that no file
/// of it needs nvcc but the one that calls CUB.
namespace bench::gpu {

/// Throws rig::error(device) with CUDA's words.
void check(cudaError_t status, const char* what);

/// rig's own stream of the first GPU. Everything measured runs in it: no call waits for another
/// stream.
cudaStream_t stream();
void synchronise();

/// Median milliseconds of each contender, which take turns. What is timed is a batch of calls that
/// lasts a millisecond or more, all of them enqueued before the first may start, so that the time
/// of the host is not in it.
std::vector<double> race(std::span<const contender> field, int repeat);

/// Gigabytes a second: "copy" counts reads and writes of a device-to-device copy of 1 GiB;
/// "gather_cached" and "gather_memory" read random rows of 128 floats of a table of 20 MB and of
/// 2 GB by a kernel of the bench's own (a warp a row, a float4 a lane, eight rows in flight) and
/// count the bytes of the rows alone.
std::map<std::string, double> measure_ceilings(int repeat);

/// Gigabytes a second of the same kernel on a table of so many bytes.
double gather(std::size_t table_bytes, int repeat);

/// The driver, and the toolkit this program was built with.
std::string driver();
std::string toolkit();

/// Uniform in (-0.5, 0.5), a function of the seed and of the position alone.
void fill_random(float* out, rig::int64 count, unsigned seed);

/// to = from, rounded to the nearest; `to` has the element type `stored`, half or bfloat16.
void round_to(rig::type stored, const float* from, void* to, rig::int64 count);

/// C = A·B by the kernel of GE-SpMM, a warp a row, B and C packed by row: `coarsening` columns a
/// lane (1, 2, 4), with or without coalesced row caching. A has 32-bit offsets and values of its
/// own.
void ge_spmm(int coarsening, bool caching, const rig::matrix<float>& a, const float* b, int columns,
             float* c);

/// Launches a kernel that does nothing, with as many bytes of arguments as rig's: what CUDA alone
/// costs the host.
std::function<void()> bare_launch();

/// Link-time code of one device function, for cuSPARSE.
std::string compile_to_lto(const char* text);

}  // namespace bench::gpu
