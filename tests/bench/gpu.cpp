// The bench on a GPU: the clock, the ceilings, and their kernels.

#include "gpu.hpp"

#include <malloc.h>
#include <nvrtc.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "cuda/device/arguments.cuh"
#include "rig/dense.hpp"

namespace bench::gpu {
namespace {

constexpr const char* kernel_text = R"~~~(
extern "C" __global__ void hold(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

__device__ unsigned mixed(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<unsigned>((x ^ (x >> 31)) >> 32);
}

// As many bytes of arguments as rig's kernels have.
struct arguments { unsigned long words[70]; };
extern "C" __global__ void nothing(const __grid_constant__ arguments) {}

extern "C" __global__ void fill_random(float* out, long count, unsigned seed) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += step)
    out[i] = ((mixed((i + 1) * 0x9e3779b97f4a7c15ull + seed) >> 9) + 0.5f) / 8388608.0f - 0.5f;
}

extern "C" __global__ void fill_rows(unsigned* out, long count, unsigned rows) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += step)
    out[i] = __umulhi(mixed((i + 1) * 0x9e3779b97f4a7c15ull), rows);
}

extern "C" __global__ void round_to(const float* from, unsigned short* to, long count, int to_half) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += step)
    if (to_half) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to[i]) : "f"(from[i]));
    else asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to[i]) : "f"(from[i]));
}

extern "C" __global__ void add_squares(const float* x, const float* y, long count, double* sums) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  double apart = 0, whole = 0;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < count; i += step) {
    const double difference = static_cast<double>(x[i]) - y[i];
    apart += difference * difference;
    whole += static_cast<double>(y[i]) * y[i];
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    apart += __shfl_down_sync(~0u, apart, lanes);
    whole += __shfl_down_sync(~0u, whole, lanes);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(sums, apart);
  atomicAdd(sums + 1, whole);
}

extern "C" __global__ void gather(const float4* table, const unsigned* rows, long count, float* out) {
  const long warps = gridDim.x * static_cast<long>(blockDim.x) / 32;
  const long warp = (blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  float sum = 0;
  for (long p = warp * 8; p + 8 <= count; p += warps * 8) {
    float4 part[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) part[i] = table[rows[p + i] * 32ul + lane];
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += part[i].x + part[i].y + part[i].z + part[i].w;
  }
  if (sum == 1e30f) *out = sum;  // never true, which the compiler cannot prove
}
)~~~";

void check(nvrtcResult status, const char* what) {
  if (status != NVRTC_SUCCESS)
    rig::fail(rig::errc::device, {what, ": ", nvrtcGetErrorString(status)});
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  gpu::check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

std::string compile(const char* text, bool for_linking) {
  const std::string architecture = std::to_string(attribute(cudaDevAttrComputeCapabilityMajor)) +
                                   std::to_string(attribute(cudaDevAttrComputeCapabilityMinor));
  const std::string target = (for_linking ? "-arch=compute_" : "-arch=sm_") + architecture;
  const char* const flags[] = {target.c_str(), "-std=c++17", "-dlto", "-rdc=true"};
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, text, "bench.program", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  struct guard {
    nvrtcProgram* program;
    ~guard() { nvrtcDestroyProgram(program); }
  } const destroyed{&program};
  if (nvrtcCompileProgram(program, for_linking ? 4 : 2, flags) != NVRTC_SUCCESS) {
    std::size_t size = 0;
    check(nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check(nvrtcGetProgramLog(program, log.data()), "nvrtcGetProgramLog");
    rig::fail(rig::errc::device, {"NVRTC: ", log.c_str()});
  }
  std::size_t size = 0;
  check(for_linking ? nvrtcGetLTOIRSize(program, &size) : nvrtcGetCUBINSize(program, &size),
        "the size of what NVRTC made");
  std::string code(size, '\0');
  check(for_linking ? nvrtcGetLTOIR(program, code.data()) : nvrtcGetCUBIN(program, code.data()),
        "what NVRTC made");
  return code;
}

cudaKernel_t kernel(const char* name) {
  static const cudaLibrary_t library = [] {
    static const std::string code = compile(kernel_text, false);
    cudaLibrary_t loaded = nullptr;
    gpu::check(cudaLibraryLoadData(&loaded, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
               "cudaLibraryLoadData");
    return loaded;
  }();
  static std::map<std::string, cudaKernel_t> found;
  cudaKernel_t& out = found[name];
  if (out == nullptr) gpu::check(cudaLibraryGetKernel(&out, library, name), "cudaLibraryGetKernel");
  return out;
}

template <class... Arguments>
void launch(const std::string& name, dim3 blocks, dim3 threads, Arguments... arguments) {
  void* pointers[] = {&arguments...};
  gpu::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel(name.c_str())), blocks, threads,
                              pointers, 0, stream()),
             name.c_str());
}

unsigned enough_blocks() {
  static const auto blocks = static_cast<unsigned>(8 * attribute(cudaDevAttrMultiProcessorCount));
  return blocks;
}

/// A batch of calls, timed by the device's clock.
class timer {
 public:
  timer() {
    gpu::check(cudaEventCreate(&begin_), "cudaEventCreate");
    gpu::check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  timer(const timer&) = delete;
  ~timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// Milliseconds per call; the device first waits `hold_ms`, while the host enqueues.
  double run(const std::function<void()>& call, int calls, double hold_ms) {
    launch("hold", 1, 1, static_cast<unsigned long long>(hold_ms * 1e6));
    gpu::check(cudaEventRecord(begin_, stream()), "cudaEventRecord");
    for (int i = 0; i < calls; ++i) call();
    gpu::check(cudaEventRecord(end_, stream()), "cudaEventRecord");
    gpu::check(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float ms = 0;
    gpu::check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return ms / calls;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// How to time a contender: the calls per batch, and the host's time to enqueue them.
struct batch {
  int calls = 1;
  double hold_ms = 0;
};

batch batch_for(const contender& of, timer& clock) {
  // The queue holds about a thousand launches, and one call may launch several.
  constexpr double batch_ms = 1;
  constexpr int trial = 8, most = 200;
  const batch single = {1, 0.1};
  for (int i = 0; i < 2; ++i) of.run();
  synchronise();
  if (clock.run(of.run, single.calls, single.hold_ms) >= batch_ms) return single;
  const double enqueue_ms = wall_clock([&] {
                              for (int i = 0; i < trial; ++i) of.run();
                            }) /
                            trial;
  synchronise();
  const auto hold = [&](int calls) { return std::min(20.0, 0.03 + 1.5 * enqueue_ms * calls); };
  const double ms = clock.run(of.run, trial, hold(trial));
  batch out;
  if (ms < batch_ms) out.calls = std::clamp(static_cast<int>(std::ceil(batch_ms / ms)), 1, most);
  out.hold_ms = hold(out.calls);
  return out;
}

double copy(int repeat) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const rig::buffer from = rig::buffer::allocate(bytes, rig::cuda());
  const rig::buffer to = rig::buffer::allocate(bytes, rig::cuda());
  const contender only[] = {{"copy", [&] {
                               gpu::check(cudaMemcpyAsync(to.data(), from.data(), bytes,
                                                          cudaMemcpyDeviceToDevice, stream()),
                                          "cudaMemcpyAsync");
                             }}};
  return 2.0 * bytes / gpu::race(only, repeat)[0] / 1e6;
}

std::string version(int number) {
  return "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  rig::fail(rig::errc::device, {what, ": ", cudaGetErrorString(status)});
}

cudaStream_t stream() {
  // Device memory that names no stream belongs to rig's own stream.
  static void* const of_rig = rig::buffer::allocate(64, rig::cuda()).stream();
  return static_cast<cudaStream_t>(of_rig);
}

void synchronise() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void release_memory() {
  synchronise();
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "cudaDeviceGetDefaultMemPool");
  check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
  malloc_trim(0);
}

std::vector<double> race(std::span<const contender> field, int repeat) {
  timer clock;
  std::vector<batch> batches;
  for (const contender& of : field) batches.push_back(batch_for(of, clock));
  std::vector<std::vector<double>> times(field.size());
  for (int round = 0; round < repeat; ++round)
    for (std::size_t i = 0; i < field.size(); ++i)
      times[i].push_back(clock.run(field[i].run, batches[i].calls, batches[i].hold_ms));
  std::vector<double> medians;
  for (std::vector<double>& of : times) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    medians.push_back(*middle);
  }
  return medians;
}

double gather(std::size_t table_bytes, int repeat) {
  constexpr rig::int64 reads = rig::int64{1} << 22;
  constexpr std::size_t row_bytes = 512;
  const rig::buffer table = rig::buffer::allocate(table_bytes, rig::cuda());
  const rig::buffer rows = rig::buffer::allocate(reads * sizeof(unsigned), rig::cuda());
  const rig::buffer out = rig::buffer::allocate(sizeof(float), rig::cuda());
  fill_random(table.data<float>(), static_cast<rig::int64>(table_bytes / sizeof(float)), 1);
  launch("fill_rows", enough_blocks(), 256, rows.data<unsigned>(), reads,
         static_cast<unsigned>(table_bytes / row_bytes));
  const contender only[] = {{"gather", [&] {
                               launch("gather", enough_blocks(), 256, table.data(), rows.data(),
                                      reads, out.data());
                             }}};
  return static_cast<double>(reads) * row_bytes / gpu::race(only, repeat)[0] / 1e6;
}

std::map<std::string, double> measure_ceilings(int repeat) {
  return {{"copy", copy(repeat)},
          {"gather_cached", gather(20'000'256, repeat)},
          {"gather_memory", gather(2'000'000'000, repeat)}};
}

std::string driver() {
  int number = 0;
  check(cudaDriverGetVersion(&number), "cudaDriverGetVersion");
  std::ifstream facts("/proc/driver/nvidia/version");
  std::string word;
  // "NVRM version: NVIDIA … Kernel Module  580.65.06  Release Build …"
  while (facts >> word)
    if (word.find_first_not_of("0123456789.") == std::string::npos &&
        word.find('.') != std::string::npos)
      return word + ", " + version(number);
  return version(number);
}

std::string toolkit() { return version(CUDART_VERSION); }

void fill_random(float* out, rig::int64 count, unsigned seed) {
  launch("fill_random", enough_blocks(), 256, out, count, seed);
}

void round_to(rig::type stored, const float* from, void* to, rig::int64 count) {
  launch("round_to", enough_blocks(), 256, from, to, count, stored == rig::type::half ? 1 : 0);
}

double relative_error(const float* x, const float* exact, rig::int64 count) {
  const rig::buffer sums = rig::buffer::allocate(2 * sizeof(double), rig::cuda());
  check(cudaMemsetAsync(sums.data(), 0, sums.bytes(), stream()), "cudaMemsetAsync");
  launch("add_squares", enough_blocks(), 256, x, exact, count, sums.data<double>());
  double apart_and_whole[2];
  synchronise();
  check(cudaMemcpy(apart_and_whole, sums.data(), sizeof apart_and_whole, cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  return std::sqrt(apart_and_whole[0] / apart_and_whole[1]);
}

std::function<void()> bare_launch() {
  struct arguments {
    unsigned long words[70];
  };
  static_assert(sizeof(arguments) == sizeof(rig::on_cuda::arguments));
  return [found = reinterpret_cast<const void*>(kernel("nothing")), on = stream()] {
    arguments none = {};
    void* pointers[] = {&none};
    gpu::check(cudaLaunchKernel(found, 1, 64, pointers, 0, on), "nothing");
  };
}

std::string compile_to_lto(const char* text) { return compile(text, true); }

}  // namespace bench::gpu
