// Two GPUs: copies between them, and calls on one while the other is current.

#include <cstring>
#include <optional>

#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/semirings.hpp"

namespace {

const rig::place second = [] {
  if (gpu.device == 0 && rig::devices().size() < 3) {
    std::puts("SKIPPED: one CUDA device here, this needs two");
    std::exit(77);
  }
  return rig::cuda(1);
}();

int current_device() {
  int device = -1;
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  return device;
}

TEST_CASE("copies between devices keep every bit") {
  const auto a = banded(5000);
  const auto b = waves(5000, 37);
  for (const auto& [from, to] : {std::pair(gpu, second), std::pair(second, gpu)}) {
    const auto moved = a.to(from).to(to);
    CHECK(moved.where() == to);
    const auto back = moved.to(rig::cpu());
    for (rig::int64 p = 0; p < a.nnz(); ++p) REQUIRE(back.value(p) == a.value(p));
    CHECK(distance(b, b.to(from).to(to).to(rig::cpu())) == 0);
  }
  CHECK(current_device() == 0);
}

TEST_CASE("a copy to the other device waits for the stream of its source") {
  const auto early = waves(4000, 64), late = rig::dense<float>(4000, 64, 3);
  auto source = early.to(gpu);
  const auto later = late.to(gpu);
  rig::synchronise(gpu);
  const own_stream writer;
  const auto view = rig::dense<float>::view(source.data(), 4000, 64, 0, gpu, writer);
  writer.hold_back();
  REQUIRE(cudaMemcpyAsync(source.data(), later.data(), view.extent(), cudaMemcpyDeviceToDevice,
                          writer) == cudaSuccess);
  CHECK(distance(late, view.to(second).to(rig::cpu())) == 0);
}

TEST_CASE(
    "a copy between devices refuses a captured stream of either side, and changes no capture") {
  const own_stream here;
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  std::optional<own_stream> there(std::in_place);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto source = waves(500, 8).to(gpu);
  rig::synchronise(gpu);  // its stream is not that of the view
  const auto of_here = rig::buffer::borrow(source.data(), source.extent(), gpu, here);
  const auto captured_copy = [&](cudaStream_t captured) {
    cudaGraph_t graph = nullptr;
    std::size_t nodes = 1;
    REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    check_error(rig::errc::cannot, {"captured"}, [&] { of_here.to(second, *there); });
    REQUIRE(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
    REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
    CHECK(nodes == 0);
    cudaGraphDestroy(graph);
  };
  captured_copy(here);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  captured_copy(*there);
  const auto copied = of_here.to(second, *there).to(rig::cpu());
  const auto original = source.to(rig::cpu());
  CHECK(std::memcmp(copied.data(), original.data(), copied.bytes()) == 0);
  there.reset();
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("a product runs on the device of its operands, whatever device is current") {
  const auto a = banded(3000);
  const auto b = waves(3000, 64);
  const auto expected = rig::mxm(a, b, rig::max_second<float>{});
  const auto there = a.to(second);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  {
    const own_stream first, other;
    for (const int current : {0, 1}) {
      REQUIRE(cudaSetDevice(current) == cudaSuccess);
      const auto middle =
          rig::mxm(there, b.to(second), rig::max_second<float>{}, {.stream = first});
      const auto twice = rig::mxm(there, middle, rig::max_second<float>{}, {.stream = other});
      CHECK(current_device() == current);
      CHECK(distance(expected, middle.to(rig::cpu())) == 0);
      CHECK(distance(rig::mxm(a, expected, rig::max_second<float>{}), twice.to(rig::cpu())) == 0);
    }
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
  }
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("the error names operands on two devices") {
  CHECK(
      message_of(
          [&] { rig::mxm(banded(10).to(gpu), waves(10, 4).to(second), rig::max_second<float>{}); },
          rig::errc::place) == "mxm: A is on cuda:0, B is on cuda:1; copy one with .to()");
}

}  // namespace
