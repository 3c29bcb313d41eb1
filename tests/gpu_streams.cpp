// Streams and capture: what is ordered without being asked, and what a graph replays.

#include "gpu_cases.hpp"

namespace {

TEST_CASE("two streams: what one makes the other reads") {
  cudaStream_t first = nullptr, second = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) == cudaSuccess);
  const auto a = banded(20000), on_gpu = a.to(gpu);
  const auto b = waves(20000, 96);
  const auto expected =
      rig::mxm(a, rig::mxm(a, b, rig::max_second<float>{}), rig::max_second<float>{});
  for (int round = 0; round < 20; ++round) {
    const auto middle = rig::mxm(on_gpu, b.to(gpu), rig::max_second<float>{}, {.stream = first});
    const auto last = rig::mxm(on_gpu, middle, rig::max_second<float>{}, {.stream = second});
    REQUIRE(distance(expected, last.to(rig::cpu())) == 0);
  }
  rig::synchronise(gpu);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

TEST_CASE("a prepared product can be captured and replayed") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  const auto a = banded(3000);
  const auto b = waves(3000, 64);
  const auto on_gpu = a.to(gpu);
  const auto features = b.to(gpu);
  auto c = rig::dense<float>(3000, 64, -1).to(gpu);
  on_gpu.prepare();
  rig::mxm(c, rig::none, on_gpu, features, rig::plus_times<float>{},
           {.stream = stream});  // loads the kernel
  rig::synchronise(gpu);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  rig::mxm(c, rig::accumulator::plus, on_gpu, features, rig::plus_times<float>{},
           {.stream = stream});
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  cudaGraphExec_t replay = nullptr;
  REQUIRE(cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess);
  for (int run = 0; run < 3; ++run) REQUIRE(cudaGraphLaunch(replay, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  auto expected = rig::mxm(a, b, rig::plus_times<float>{});
  for (int run = 0; run < 3; ++run)
    rig::mxm(expected, rig::accumulator::plus, a, b, rig::plus_times<float>{});
  CHECK(distance(expected, c.to(rig::cpu())) < 1e-3);
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace
