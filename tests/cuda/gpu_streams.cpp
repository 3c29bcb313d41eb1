// Streams and capture: the implicit order of calls, and the replay of graphs.

#include <atomic>

#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.hpp"
#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "tuned.hpp"

RIG_SEMIRING(
    sum_of_weighted_squares, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) { return a * b * b; });

namespace {

TEST_CASE("a product on one stream reads the result of another stream") {
  const own_stream first, second;
  const auto a = banded(20000), on_gpu = a.to(gpu);
  const auto b = waves(20000, 96);
  const auto expected =
      rig::mxm(a, rig::mxm(a, b, rig::max_second<float>{}), rig::max_second<float>{});
  for (int round = 0; round < 20; ++round) {
    const auto middle = rig::mxm(on_gpu, b.to(gpu), rig::max_second<float>{}, {.stream = first});
    const auto last = rig::mxm(on_gpu, middle, rig::max_second<float>{}, {.stream = second});
    REQUIRE(distance(expected, last.to(rig::cpu())) == 0);
  }
}

/// Checks that a product waits for an earlier write of B on the writer's stream, and that a later
/// write waits for the product.
void check_order_around(const rig::descriptor& desc) {
  const auto a = banded(2000), on_gpu = a.to(gpu);
  const auto early = waves(2000, 2000), late = waves(2001, 2000);
  const auto source = rig::dense<float>::view(late.data() + late.stride(), 2000, 2000);
  auto c = rig::dense<float>(2000, 2000).to(gpu), b = early.to(gpu);
  const auto late_there = source.to(gpu), early_there = early.to(gpu);
  const own_stream writer, caller;
  const auto view = rig::dense<float>::view(b.data(), 2000, 2000, 0, gpu, writer);
  rig::descriptor there = desc;
  there.stream = caller;
  rig::mxm(c, rig::none, on_gpu, view, rig::max_second<float>{}, there);  // loads the kernels
  rig::synchronise(gpu);

  const auto overwrite = [&](const rig::dense<float>& with) {
    REQUIRE(cudaMemcpyAsync(b.data(), with.data(), with.extent(), cudaMemcpyDeviceToDevice,
                            writer) == cudaSuccess);
  };
  writer.hold_back();
  overwrite(late_there);
  rig::mxm(c, rig::none, on_gpu, view, rig::max_second<float>{}, there);
  const auto expected = rig::mxm(a, source, rig::max_second<float>{}, desc);
  REQUIRE(distance(expected, c.to(rig::cpu())) == 0);

  rig::synchronise(gpu);
  caller.hold_back();
  rig::mxm(c, rig::none, on_gpu, view, rig::max_second<float>{}, there);
  overwrite(early_there);
  REQUIRE(distance(expected, c.to(rig::cpu())) == 0);
}

TEST_CASE("a product waits for B's stream, and B's stream waits for the product") {
  check_order_around({});
}

TEST_CASE("the transposed copy of B waits for B's stream, and B's stream waits for the copy") {
  check_order_around({.transpose_b = true});
}

TEST_CASE("a derived structure that is listed is finished") {
  const auto a = hubs(5000), on_gpu = a.to(gpu);
  const own_stream stream;
  const rig::pattern& s = on_gpu.structure();
  const auto view = rig::pattern_view(
      s.rows(), s.columns(), std::span(static_cast<const rig::int32*>(s.offsets()), 5001),
      std::span(s.column_indices(), static_cast<std::size_t>(s.nnz())), rig::input::trusted, gpu,
      stream);
  rig::synchronise(gpu);
  stream.hold_back();
  view->derived_of<rig::transposed>();
  CHECK(stream.is_done());
  view->drop_derived();
  for (const bool transpose : {false, true}) {
    stream.hold_back();
    rig::prepare_derived(*view, transpose);
    CHECK(stream.is_done());
  }
  CHECK(view->derived_structures().size() == 3);  // row statistics, row lists, transpose
}

TEST_CASE("derived structures may be dropped while running products read them") {
  const auto a = hubs(4000), on_gpu = a.to(gpu);
  const auto b = waves(4000, 64);
  const auto features = b.to(gpu);
  std::atomic<bool> over = false;
  std::thread dropper([&] {
    // New arrays overwrite the dropped memory at once, if it is free too early.
    while (!over) {
      on_gpu.drop_derived();
      for (const int columns : {1, 2, 8}) rig::dense<float>(4000, columns, 1e9f).to(gpu);
    }
  });
  const own_stream stream;
  for (const char* kernel : {"split", "maxk"}) {
    rig::descriptor desc{.kernel = kernel, .k = 16};
    const auto expected = rig::mxm(a, b, rig::max_second<float>{}, desc);
    desc.stream = stream;
    for (int round = 0; round < 200; ++round) {
      const auto c = rig::mxm(on_gpu, features, rig::max_second<float>{}, desc);
      CHECK(distance(expected, c.to(rig::cpu())) == 0);
    }
  }
  over = true;
  dropper.join();
}

template <class S>
void check_replays(const S& semiring) {
  using enum rig::accumulator;
  const auto even = banded(3000).to(gpu), skewed = hubs(3000).to(gpu);
  for (const rig::accumulator accum : {none, plus}) {
    check_replay(even, semiring, accum, {.kernel = "row"});
    check_replay(skewed, semiring, accum, {.kernel = "split"});
    check_replay(skewed, semiring, accum, {.transpose_a = true, .kernel = "split"});
    check_replay(skewed, semiring, accum, {});
    check_replay(skewed, semiring, accum, {.kernel = "spmv"}, 1);
    check_replay(skewed, semiring, accum, {.kernel = "spmv_panels"}, 1);
    check_replay(skewed, semiring, accum, {.transpose_a = true, .kernel = "spmv_panels"}, 1);
  }
}

/// Runs products concurrently, by a kernel whose blocks pass sums to each other.
void check_at_once(const char* kernel, int columns) {
  constexpr int streams = 4, rounds = 20;
  const auto a = hubs(3000).to(gpu);
  const auto b = waves(3000, columns).to(gpu);
  const rig::dense<float> expected =
      rig::mxm(a, b, rig::plus_times<float>{}, {.kernel = kernel}).to(rig::cpu());
  std::vector<rig::dense<float>> results, of_graphs;
  for (int s = 0; s < streams; ++s) {
    results.push_back(rig::dense<float>(3000, columns, 0.0f).to(gpu));
    of_graphs.push_back(rig::dense<float>(3000, columns, 0.0f).to(gpu));
  }
  rig::synchronise(gpu);
  std::vector<std::thread> threads;
  for (int s = 0; s < streams; ++s)
    threads.emplace_back([&, s] {
      const auto mine = static_cast<std::size_t>(s);
      cudaStream_t stream = nullptr;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      const auto product = [&](rig::dense<float>& c, cudaStream_t on) {
        rig::mxm(c, rig::none, a, b, rig::plus_times<float>{}, {.kernel = kernel, .stream = on});
      };
      product(results[mine], stream);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t replay = nullptr;
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      product(of_graphs[mine], stream);
      cudaStreamEndCapture(stream, &graph);
      cudaGraphInstantiate(&replay, graph, 0);
      for (int round = 0; round < rounds; ++round) {
        product(results[mine], stream);
        product(results[mine], cudaStreamPerThread);
        cudaGraphLaunch(replay, stream);
      }
      cudaStreamSynchronize(cudaStreamPerThread);
      cudaStreamSynchronize(stream);
      cudaGraphExecDestroy(replay);
      cudaGraphDestroy(graph);
      cudaStreamDestroy(stream);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto* made : {&results, &of_graphs})
    for (const rig::dense<float>& c : *made) CHECK(distance(c.to(rig::cpu()), expected) == 0);
}

TEST_CASE("products that split the rows of one matrix run on several streams and graphs at once") {
  check_at_once("split", 70);
  {
    const tuned by = tuned::tiles(lanes(8, 8, 6, 1));  // and a column more
    check_at_once("split", 33);
  }
  check_at_once("spmv", 1);
  check_at_once("spmv_panels", 1);
}

TEST_CASE("more streams than launch graphs are kept for") {
  constexpr std::size_t many = 20;
  const auto a = banded(2000), on_gpu = a.to(gpu);
  const auto b = waves(2000, 32), features = b.to(gpu);
  const auto expected = rig::mxm(a, b, rig::max_second<float>{});
  const std::vector<own_stream> streams(many);
  for (int round = 0; round < 2; ++round)
    for (const own_stream& stream : streams) {
      const auto c = rig::mxm(on_gpu, features, rig::max_second<float>{}, {.stream = stream});
      CHECK(distance(expected, c.to(rig::cpu())) == 0);
    }
  rig::mxm(on_gpu, features, rig::max_second<float>{});
  CHECK(rig::on_cuda::has_launch_graph(0, rig::on_cuda::stream_for(0, nullptr)));
}

TEST_CASE("the first product of a stream while another stream is captured") {
  const auto a = banded(2000), on_gpu = a.to(gpu);
  const auto b = waves(2000, 32), features = b.to(gpu);
  const auto expected = rig::mxm(a, b, rig::max_second<float>{});
  auto c = rig::dense<float>(2000, 32).to(gpu), d = rig::dense<float>(2000, 32).to(gpu);
  const auto product = [&](rig::dense<float>& to, void* stream) {
    rig::mxm(to, rig::none, on_gpu, features, rig::max_second<float>{}, {.stream = stream});
  };
  const own_stream captured, fresh;
  product(c, nullptr);  // loads the kernels
  product(d, captured);
  rig::synchronise(gpu);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal) == cudaSuccess);
  product(d, captured);
  product(c, fresh);
  REQUIRE(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(replay, captured) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(captured) == cudaSuccess);
  rig::synchronise(gpu);
  CHECK(distance(expected, c.to(rig::cpu())) == 0);
  CHECK(distance(expected, d.to(rig::cpu())) == 0);
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

TEST_CASE("a call on another stream refuses an operand of a captured stream") {
  const auto on_gpu = banded(200).to(gpu);
  const auto features = waves(200, 32).to(gpu);
  const own_stream captured;
  const auto view = rig::dense<float>::view(features.data(), 200, 32, 0, gpu, captured);
  auto c = rig::dense<float>(200, 32, 7.0f).to(gpu);
  rig::mxm(c, rig::none, on_gpu, view, rig::max_second<float>{});
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  check_error(rig::errc::cannot, {"captured"},
              [&] { rig::mxm(c, rig::none, on_gpu, view, rig::max_second<float>{}); });
  REQUIRE(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
  cudaGraphDestroy(graph);
}

TEST_CASE("a prepared product can be captured and replayed") {
  check_replays(rig::plus_times<float>{});
}

TEST_CASE("a product over a semiring compiled at run time can be captured and replayed") {
  check_replays(sum_of_weighted_squares{});
}

}  // namespace
