// MaxK on a GPU in the order of streams, and in CUDA graphs.

#include <atomic>

#include "gpu_maxk_cases.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::cbsr;
using rig::descriptor;

const descriptor transposed{.transpose_a = true};

/// Maxima, which never round: the features, the retained elements, C and its gradient.
struct step_of_training {
  rig::matrix<float> a;
  int k;
  rig::max_second<float> greatest{};

  cbsr<float> gradient(const rig::dense<float>& x, void* first, void* second, void* third) const {
    const auto retained = rig::maxk(x, k, {.stream = first});
    const auto c = rig::mxm(a, retained, greatest, {.fill = 0, .stream = second});
    return rig::mxm(a, c, greatest, rig::structure(retained),
                    {.transpose_a = true, .stream = third});
  }
};

TEST_CASE("each stream reads the results of the one before") {
  constexpr int n = 5000, columns = 96;
  const auto a = banded(n);
  const step_of_training here{a, 20}, there{a.to(gpu), 20};
  const rig::dense<float> late = waves(n, columns);
  const auto late_there = late.to(gpu);
  const auto want = here.gradient(late, nullptr, nullptr, nullptr);
  const auto want_full = rig::to_dense(want);
  auto x = rig::dense<float>(n, columns).to(gpu);
  const own_stream writer, first, second, third;
  const auto view = rig::dense<float>::view(x.data(), n, columns, 0, gpu, writer);
  there.gradient(view, first, second, third);  // loads the kernels
  rig::synchronise(gpu);
  for (int round = 0; round < 4; ++round) {
    REQUIRE(cudaMemsetAsync(x.data(), 0, x.extent(), writer) == cudaSuccess);
    writer.hold_back();
    REQUIRE(cudaMemcpyAsync(x.data(), late_there.data(), x.extent(), cudaMemcpyDeviceToDevice,
                            writer) == cudaSuccess);
    const auto made = there.gradient(view, first, second, third);
    // The views' stream continues only after their readers end.
    REQUIRE(cudaMemsetAsync(x.data(), 0xff, x.extent(), writer) == cudaSuccess);
    CHECK(equal(rig::to_dense(made).to(rig::cpu()), want_full));
    const auto retained = rig::maxk_gradient(late_there, made).to(rig::cpu());
    CHECK(same(retained, rig::maxk_gradient(late, want)));
  }
}

TEST_CASE("a prepared product into C can be captured and replayed") {
  using enum rig::accumulator;
  const rig::plus_times<float> sum;
  for (const auto& a : {banded(3000).to(gpu), hubs(3000).to(gpu)})
    for (const bool transpose : {false, true})
      for (const rig::accumulator accum : {none, plus}) {
        check_replay(a, sum, accum, {.transpose_a = transpose, .kernel = "maxk", .k = 13});
        const own_stream stream;
        const auto retained = rig::maxk(waves(3000, 64).to(gpu), 13);
        auto called = rig::dense<float>(3000, 64, -1).to(gpu), replayed = called;
        descriptor desc{.transpose_a = transpose};
        a.prepare(desc);
        for (int run = 0; run < 4; ++run) rig::mxm(called, accum, a, retained, sum, desc);
        desc.stream = stream;
        const auto product = [&] { rig::mxm(replayed, accum, a, retained, sum, desc); };
        product();
        rig::synchronise(gpu);
        const captured_work graph(stream, product);
        for (int run = 0; run < 3; ++run) graph.launch(stream);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
        CHECK(distance(called.to(rig::cpu()), replayed.to(rig::cpu())) == 0);
      }
}

TEST_CASE("a training step can be captured: selection, forward, backward") {
  constexpr int n = 3000, columns = 64, k = 13;
  for (const auto& on_host : {banded(n), hubs(n)}) {
    const step_of_training here{on_host, k}, there{on_host.to(gpu), k};
    const own_stream stream;
    there.a.prepare().prepare(transposed);
    auto x = waves(n, columns).to(gpu);
    auto out = rig::dense<float>(n, k).to(gpu);
    // The graph allocates and frees its results, so the test copies them out.
    const auto step = [&] {
      const auto made = there.gradient(x, stream, stream, stream);
      REQUIRE(cudaMemcpyAsync(out.data(), made.values(), out.extent(), cudaMemcpyDeviceToDevice,
                              stream) == cudaSuccess);
    };
    step();
    rig::synchronise(gpu);
    const captured_work graph(stream, step);
    for (int round = 0; round < 3; ++round) {
      rig::dense<float> fresh = waves(n, columns);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < columns; ++j) fresh(i, j) *= static_cast<float>(1 + (i + round) % 3);
      const auto fresh_there = fresh.to(gpu);
      rig::synchronise(gpu);
      REQUIRE(cudaMemcpyAsync(x.data(), fresh_there.data(), x.extent(), cudaMemcpyDeviceToDevice,
                              stream) == cudaSuccess);
      graph.launch(stream);
      REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      const auto want = here.gradient(fresh, nullptr, nullptr, nullptr);
      const auto made = out.to(rig::cpu());
      CHECK(std::equal(made.data(), made.data() + n * k, want.values()));
    }
  }
}

TEST_CASE("backward by panels: captured, and while another thread drops derived structures") {
  const pair_of_places<float> at(quarters_of_hubs(), 128);
  const rig::plus_times<float> sum;
  const auto retained = rig::maxk(at.x, 16);
  const auto there = retained.to(gpu);
  const auto want = rig::mxm(at.a, at.x, sum, rig::structure(retained), transposed);
  const own_stream stream;
  descriptor desc = transposed;
  desc.kernel = "maxk_backward";
  at.a_there.prepare(desc);
  desc.stream = stream;
  const auto product = [&] {
    return rig::mxm(at.a_there, at.x_there, sum, rig::structure(there), desc);
  };
  product();
  rig::synchronise(gpu);
  auto out = rig::dense<float>(at.x.rows(), 16).to(gpu);
  const captured_work graph(stream, [&] {
    const auto made = product();
    REQUIRE(cudaMemcpyAsync(out.data(), made.values(), out.extent(), cudaMemcpyDeviceToDevice,
                            stream) == cudaSuccess);
  });
  for (int run = 0; run < 3; ++run) {
    graph.launch(stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    const auto made = out.to(rig::cpu());
    CHECK(std::equal(made.data(), made.data() + std::int64_t{made.rows()} * 16, want.values()));
  }

  std::atomic<bool> over = false;
  std::thread dropper([&] {
    // New arrays overwrite the dropped memory at once, if it is free too early.
    while (!over) {
      at.a_there.drop_derived();
      for (const int columns : {1, 2, 8}) rig::dense<float>(16384, columns, 1e9f).to(gpu);
    }
  });
  for (int round = 0; round < 40; ++round) CHECK(equal(product().to(rig::cpu()), want));
  over = true;
  dropper.join();
}

TEST_CASE("backward in any order: captured, and exact up to rounding") {
  const auto a = hubs(3000).to(gpu);
  const auto dc = waves(3000, 64).to(gpu);
  const auto retained = rig::maxk(dc, 13);
  const rig::plus_times<float> sum;
  const own_stream stream;
  descriptor desc = transposed;
  desc.reproducible = false;
  a.prepare(desc);
  desc.stream = stream;
  auto out = rig::dense<float>(3000, 13).to(gpu);
  const auto step = [&] {
    const auto made = rig::mxm(a, dc, sum, rig::structure(retained), desc);
    REQUIRE(cudaMemcpyAsync(out.data(), made.values(), out.extent(), cudaMemcpyDeviceToDevice,
                            stream) == cudaSuccess);
  };
  step();
  rig::synchronise(gpu);
  const auto fixed = rig::mxm(a, dc, sum, rig::structure(retained), transposed).to(rig::cpu());
  const captured_work graph(stream, step);
  for (int run = 0; run < 5; ++run) {
    graph.launch(stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    const auto made = out.to(rig::cpu());
    double most = 0;
    for (int p = 0; p < 3000 * 13; ++p)
      most = std::max(most, std::fabs(static_cast<double>(made.data()[p] - fixed.values()[p])));
    // Each element sums 40 terms of at most 5.
    CHECK(most <= 2 * 40 * 40 * 5.0 * std::ldexp(1.0, -24));
  }
}

}  // namespace
