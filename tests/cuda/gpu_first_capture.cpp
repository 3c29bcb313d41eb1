// The first calls of a process in a capture: what they would build is refused before anything is
// recorded, and what is built later is right.

#include "cuda/analysis/row_statistics.hpp"
#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/semirings.hpp"
#include "rig/vector.hpp"

namespace {

/// Runs work() while the stream is captured; the capture must end whole and without a node.
template <class Work>
void check_nothing_recorded(cudaStream_t stream, Work work) {
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  work();
  cudaGraph_t graph = nullptr;
  std::size_t nodes = 1;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 0);
  cudaGraphDestroy(graph);
}

template <class Work>
void check_refused(Work work) {
  check_error(rig::errc::cannot, {"captured", "cuda:0", "prepare()"}, work);
}

TEST_CASE("a copy into a captured stream") {
  const own_stream captured;
  const auto bytes = rig::buffer::allocate(4096, rig::cpu());
  check_nothing_recorded(captured, [&] {
    check_error(rig::errc::cannot, {"copy", "captured", "cuda:0"},
                [&] { bytes.to(gpu, captured); });
  });
}

TEST_CASE("structures of a captured stream's matrix") {
  const auto a = hubs(5000), owner = a.to(gpu);
  const rig::pattern& s = owner.structure();
  const own_stream captured;
  const auto view = rig::pattern_view(
      s.rows(), s.columns(), std::span(static_cast<const rig::int32*>(s.offsets()), 5001),
      std::span(s.column_indices(), static_cast<std::size_t>(s.nnz())), rig::input::trusted, gpu,
      captured);
  const rig::matrix<float> there(view, 2.0f), here(a.shared_structure(), 2.0f);
  const auto b = waves(5000, 48), features = b.to(gpu), before = waves(5001, 48);
  auto c = rig::dense<float>::view(before.data() + 48, 5000, 48).to(gpu);
  rig::synchronise(gpu);
  const auto product = [&](const rig::descriptor& desc) {
    rig::mxm(c, rig::none, there, features, rig::max_second<float>{}, desc);
  };
  check_nothing_recorded(captured, [&] {
    check_refused([&] { view->derived_of<rig::on_cuda::row_statistics>(); });
    check_refused([&] { product({.stream = captured}); });
    check_refused([&] { product({.transpose_a = true, .stream = captured}); });
    for (const bool transpose : {false, true})
      for (const char* kernel : {"", "spmv_panels", "hybrid", "maxk_backward"})
        check_refused([&] { there.prepare({.transpose_a = transpose, .kernel = kernel}); });
  });
  CHECK(view->derived_structures().empty());
  CHECK(distance(c.to(rig::cpu()), rig::dense<float>::view(before.data() + 48, 5000, 48)) == 0);

  // Row r has 667 entries if r % 100 is 7, else 3, and the last rows fewer.
  const auto statistics = view->derived_of<rig::on_cuda::row_statistics>();
  CHECK(statistics->longest == 667);
  CHECK(statistics->split_rows[0] == 50);
  CHECK(statistics->segments[0] == 50 * 3);
  const auto other = banded(3000).to(gpu).structure().derived_of<rig::on_cuda::row_statistics>();
  CHECK(other->longest == 10);
  CHECK(other->split_rows[0] == 0);
  for (const bool transpose : {false, true}) {
    const rig::descriptor desc{.transpose_a = transpose};
    there.prepare(desc);
    rig::descriptor on_captured = desc;
    on_captured.stream = captured;
    product(on_captured);
    rig::synchronise(gpu);
    const captured_work graph(captured, [&] { product(on_captured); });
    graph.launch(captured);
    REQUIRE(cudaStreamSynchronize(captured) == cudaSuccess);
    CHECK(distance(c.to(rig::cpu()), rig::mxm(here, b, rig::max_second<float>{}, desc)) == 0);
  }
}

TEST_CASE("a full vector while rig's own stream is captured") {
  const auto column = waves(300, 1).to(gpu);
  rig::synchronise(gpu);
  check_nothing_recorded(static_cast<cudaStream_t>(column.stream()), [&] {
    check_error(rig::errc::cannot, {"captured"}, [&] { rig::vector<float>::from(column); });
  });
  CHECK(rig::vector<float>::from(column).to(rig::cpu()).nnz() == 300);
}

}  // namespace
