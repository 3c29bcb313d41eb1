// scatter_add on a GPU.

#include <limits>

#include "gpu_cases.hpp"
#include "scatter_cases.hpp"

namespace {

using scatter_cases::rows_of, scatter_cases::sizes;

TEST_CASE("scatter_add") { scatter_cases::check_all(gpu); }

TEST_CASE("scatter_add: operands of two places") {
  auto y = rig::dense<float>(3, 2).to(gpu);
  const rig::dense<float> x(4, 2);
  check_error(rig::errc::place, {"X is on cpu", "Y is on cuda:0", ".to()"},
              [&] { rig::scatter_add(y, rig::none, x, rows_of(4, 2)); });
}

TEST_CASE("scatter_add: columns in several parts") {
  random_bits random(test_seed());
  const sizes long_x{4 << 20, 5, 40}, long_y{50, 4 << 20, 33};  // of 40 columns, 32 and 8
  const auto rows = scatter_cases::drawn_rows(long_x, random);
  const auto x = scatter_cases::drawn<float>(long_x.m, long_x.f, random, true);
  const auto y = rig::scatter_add(x.to(gpu), rows.to(gpu), long_x.r).to(rig::cpu());
  scatter_cases::check_sums(y, nullptr, x, rows, 0);

  auto few = scatter_cases::drawn<double>(long_y.m, long_y.f, random, true);
  auto places = scatter_cases::drawn_rows(long_y, random);
  places(49, 32) = 7;
  auto sums = rig::dense<double>(long_y.r, long_y.f, 0.25);
  const auto before = sums;
  auto there = sums.to(gpu);
  rig::scatter_add(there, rig::accumulator::plus, few.to(gpu), places.to(gpu));
  scatter_cases::check_sums(there.to(rig::cpu()), &before, few, places, 0);
  few(49, 32) = std::numeric_limits<double>::infinity();
  rig::scatter_add(there, rig::none, few.to(gpu), places.to(gpu));
  const auto found = there.to(rig::cpu());
  CHECK(found(7, 32) == few(49, 32));
}

TEST_CASE("scatter_add waits for the streams of its operands, and is captured") {
  random_bits random(test_seed());
  const sizes s{3000, 200, 40};
  const auto rows = scatter_cases::drawn_rows(s, random);
  const auto x = scatter_cases::drawn<float>(s.m, s.f, random, true);
  auto expected = scatter_cases::drawn<float>(s.r, s.f, random, true);
  auto y = expected.to(gpu);
  const auto rows_there = rows.to(gpu);
  const auto x_there = x.to(gpu);
  auto late = rig::dense<float>(s.m, s.f, 9).to(gpu);
  rig::scatter_add(late, rows_there, s.r);  // loads the kernels
  const own_stream writer, caller;
  rig::synchronise(gpu);
  writer.hold_back();
  REQUIRE(cudaMemcpyAsync(late.data(), x_there.data(), sizeof(float) * s.m * s.f,
                          cudaMemcpyDeviceToDevice, writer) == cudaSuccess);
  const auto written = rig::dense<float>::view(late.data(), s.m, s.f, s.f, gpu, writer);
  const auto step = [&] {
    rig::scatter_add(y, rig::accumulator::plus, written, rows_there, {.stream = caller});
  };
  step();
  rig::scatter_add(expected, rig::accumulator::plus, x, rows);
  CHECK(distance(y.to(rig::cpu()), expected) == 0);

  const captured_work graph(caller, [&] {
    rig::scatter_add(y, rig::accumulator::plus, x_there, rows_there, {.stream = caller});
  });
  for (int run = 0; run < 2; ++run) {
    graph.launch(caller);
    rig::scatter_add(expected, rig::accumulator::plus, x, rows);
  }
  REQUIRE(cudaStreamSynchronize(caller) == cudaSuccess);
  CHECK(distance(y.to(rig::cpu()), expected) == 0);
}

}  // namespace
