// Lifetimes on a device: results and streams, memory and captures, threads and both.

#include <atomic>
#include <cstring>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/mxm_update.hpp"
#include "rig/quantized.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace {

const rig::max_second<float> greatest;

/// The bytes of device memory that buffers hold now.
std::size_t held_bytes() {
  rig::synchronise(gpu);
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  std::uint64_t bytes = 0;
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes) == cudaSuccess);
  return bytes;
}

/// A capture in progress; it must end without an error.
class capture {
 public:
  capture(void* stream, cudaStreamCaptureMode mode) : stream_(static_cast<cudaStream_t>(stream)) {
    REQUIRE(cudaStreamBeginCapture(stream_, mode) == cudaSuccess);
  }
  capture(const capture&) = delete;
  ~capture() {
    if (graph_ == nullptr) CHECK(cudaStreamEndCapture(stream_, &graph_) == cudaSuccess);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  void replay(int times) {
    REQUIRE(cudaStreamEndCapture(stream_, &graph_) == cudaSuccess);
    cudaGraphExec_t made = nullptr;
    REQUIRE(cudaGraphInstantiate(&made, graph_, 0) == cudaSuccess);
    for (int run = 0; run < times; ++run) REQUIRE(cudaGraphLaunch(made, stream_) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream_) == cudaSuccess);
    cudaGraphExecDestroy(made);
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
};

TEST_CASE("a gradient waits for indices that another stream still computes") {
  const auto dy = waves(3000, 64), dy_there = dy.to(gpu);
  const own_stream first;
  for (int round = 0; round < 4; ++round) {
    // The indices differ each round, so that reused memory does not hold the right ones already.
    const auto numbers = waves(3001 + round, 64);
    const auto x = rig::dense<float>::view(numbers.row(round + 1).data(), 3000, 64);
    const auto want = rig::maxk_gradient(dy, rig::maxk(x, 13));
    auto there = x.to(gpu);
    rig::synchronise(gpu);
    const auto view = rig::dense<float>::view(there.data(), 3000, 64, 0, gpu, first);
    if (round > 0) first.hold_back();
    auto retained = std::make_optional(rig::maxk(view, 13, {.stream = first}));
    const auto made = rig::maxk_gradient(dy_there, *retained);
    retained.reset();
    // These overwrite the dropped memory, if it is free too soon.
    for (const int columns : {4, 13, 16}) rig::dense<float>(3000, columns, 1e9f).to(gpu);
    const auto back = made.to(rig::cpu());
    CHECK(std::memcmp(back.values(), want.values(), want.structure().nnz() * sizeof(float)) == 0);
    CHECK(std::memcmp(back.indices(), want.indices(), want.structure().nnz()) == 0);
  }
}

TEST_CASE("the ranges of a transposed quantized B last as long as the product") {
  constexpr int n = 30000, f = 256, in_a_row = 300;
  std::vector<int> offsets{0}, columns;
  for (int i = 0; i < n; ++i) {
    for (int e = 0; e < in_a_row; ++e) columns.push_back((i % 100) + e * 99);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  const auto a = rig::matrix<float>::from_csr(n, n, std::span<const int>(offsets),
                                              std::span<const int>(columns));
  const auto q = rig::quantized::from(waves(f, n));
  const auto want = rig::mxm(a, q, greatest, {.transpose_b = true});
  const auto owner = a.to(gpu);
  const own_stream of_a, of_c;
  const rig::pattern& s = owner.structure();
  const rig::matrix<float> view(rig::pattern_view(
      n, n, std::span(static_cast<const rig::int32*>(s.offsets()), n + 1u),
      std::span(s.column_indices(), columns.size()), rig::input::trusted, gpu, of_a));
  auto c = rig::dense<float>(n, f).to(gpu);
  auto of_caller = rig::dense<float>::view(c.data(), n, f, 0, gpu, of_c);
  for (int round = 0; round < 3; ++round) {
    auto there = std::make_optional(q.to(gpu));
    rig::synchronise(gpu);
    rig::mxm(of_caller, rig::none, view, *there, greatest, {.transpose_b = true, .stream = of_c});
    there.reset();
    auto other = rig::dense<unsigned char>::uninitialised(1, f * n + 8, gpu);
    REQUIRE(cudaMemsetAsync(other.data(), 0x41, other.extent(),
                            static_cast<cudaStream_t>(other.stream())) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(of_c) == cudaSuccess);
    CHECK(distance(want, of_caller.to(rig::cpu())) == 0);
  }
}

TEST_CASE("results outlive the stream they were made on") {
  const auto a = banded(2000), on_gpu = a.to(gpu);
  const auto b = waves(2000, 48), features = b.to(gpu);
  const auto want = rig::mxm(a, b, greatest);
  const auto want_twice = rig::mxm(a, want, greatest);
  const auto want_retained = rig::maxk(b, 5);
  std::size_t before = 0;
  for (int round = 0; round < 20; ++round) {
    std::optional<own_stream> stream(std::in_place);
    const rig::descriptor desc{.stream = *stream};
    auto c = rig::mxm(on_gpu, features, greatest, desc);
    const auto indexed = rig::mxm(on_gpu, features, rig::arg_max_second<float>{}, desc);
    const auto retained = rig::maxk(features, 5, desc);
    const auto gradient = rig::mxm(on_gpu, features, greatest, rig::structure(retained), desc);
    const auto seen_by = rig::dense<float>::view(c.data(), 2000, 48, 0, gpu, *stream);
    const auto copied = seen_by;
    stream.reset();
    CHECK(distance(want, c.to(rig::cpu())) == 0);
    CHECK(distance(want, copied.to(rig::cpu())) == 0);
    CHECK(distance(want, indexed.values.to(rig::cpu())) == 0);
    CHECK(distance(want_twice, rig::mxm(on_gpu, c, greatest).to(rig::cpu())) == 0);
    CHECK(distance(rig::to_dense(want_retained), rig::to_dense(retained).to(rig::cpu())) == 0);
    CHECK(gradient.to(rig::cpu()).k() == 5);
    rig::mxm(c, rig::accumulator::plus, on_gpu, features, greatest);
    if (round == 0) before = held_bytes();
    CHECK(held_bytes() == before);
  }
}

TEST_CASE("any thread may read and free results of another thread's default stream") {
  const auto a = banded(2000), on_gpu = a.to(gpu);
  const auto b = waves(2000, 48), features = b.to(gpu);
  const auto want = rig::mxm(a, b, greatest);
  rig::mxm(on_gpu, features, greatest, {.stream = cudaStreamPerThread});
  for (int round = 0; round < 4; ++round) {
    rig::synchronise(gpu);
    std::optional<rig::dense<float>> made;
    std::latch is_made(1), is_read(1);
    std::thread maker([&] {
      const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
      cudaLaunchHostFunc(cudaStreamPerThread, wait, nullptr);
      made = rig::mxm(on_gpu, features, greatest, {.stream = cudaStreamPerThread});
      is_made.count_down();
      is_read.wait();
    });
    is_made.wait();
    const auto twice = rig::mxm(on_gpu, *made, greatest, {.stream = cudaStreamPerThread});
    CHECK(distance(want, made->to(rig::cpu())) == 0);
    is_read.count_down();
    maker.join();
    made.reset();
    CHECK(distance(rig::mxm(a, want, greatest), twice.to(rig::cpu())) == 0);
  }
  check_error(rig::errc::cannot, {"cudaStreamPerThread", "cuda:0"}, [&] {
    rig::dense<float>::view(features.data(), 2000, 48, 0, gpu, cudaStreamPerThread);
  });
  const auto check_refused = [](auto work) {
    check_error(rig::errc::cannot, {"cudaStreamPerThread", "cuda:0"}, work);
  };
  check_refused([] { rig::buffer::allocate(64, gpu, cudaStreamPerThread); });
  check_refused([] { rig::buffer::allocate(64).to(gpu, cudaStreamPerThread); });
  check_refused([] { rig::dense<float>::uninitialised(2, 3, gpu, cudaStreamPerThread); });
  check_refused([] { rig::cbsr_pattern::uninitialised(2, 3, 1, gpu, cudaStreamPerThread); });
}

TEST_CASE("a thread without earlier CUDA calls may use its own default stream") {
  const auto a = banded(2000), on_gpu = a.to(gpu);
  const auto b = waves(2000, 64), features = b.to(gpu);
  const auto want = rig::mxm(a, b, greatest);
  for (cudaStream_t const stream : {cudaStreamLegacy, cudaStreamPerThread})
    for (int round = 0; round < 10; ++round) {
      std::optional<rig::dense<float>> made;
      std::thread([&] {
        made = rig::mxm(on_gpu, features, greatest, {.stream = stream});
        cudaStreamSynchronize(cudaStreamPerThread);
      }).join();
      CHECK(distance(want, made->to(rig::cpu())) == 0);
    }
}

TEST_CASE("many threads on many streams each read their finished results") {
  // Unread results fill the streams. Under the mask the longest rows run much longer than the
  // others, so that an early read shows.
  const auto a = rig::generate::random_values(rig::generate::rmat(13, 16, 5), 6);
  const auto on_gpu = a.to(gpu);
  const auto features = waves(a.rows(), 37).to(gpu);
  const auto nowhere = rig::matrix<float>(a.rows(), 37).to(gpu);
  const auto product = [&](void* stream) {
    return rig::mxm(on_gpu, features, rig::plus_times<float>{},
                    rig::complement(rig::structure(nowhere)), {.stream = stream});
  };
  const auto want = product(nullptr).to(rig::cpu());
  const own_stream common;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 12; ++t)
    threads.emplace_back([&, t] {
      const own_stream own;
      std::minstd_rand random(t + 1);
      for (int round = 0; round < 5000; ++round) {
        void* const streams[] = {nullptr, own, common, cudaStreamPerThread};
        const auto made = product(streams[random() % std::size(streams)]);
        if (random() % 2 == 0) continue;
        const auto read = made.to(rig::cpu());
        wrong += std::memcmp(read.data(), want.data(), read.extent()) == 0 ? 0 : 1;
      }
      cudaStreamSynchronize(cudaStreamPerThread);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

/// An allocator of the caller that overwrites released memory, in the order of its stream.
struct overwriting {
  int calls = 0;
  static void* allocate(std::size_t bytes, int, void* stream, void* context) {
    ++static_cast<overwriting*>(context)->calls;
    void* data = nullptr;
    return cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess
               ? data
               : nullptr;
  }
  static void release(void* data, std::size_t bytes, int, void* stream, void*) {
    auto* const order = static_cast<cudaStream_t>(stream);
    cudaMemsetAsync(data, 0xff, bytes, order);
    cudaFreeAsync(data, order);
  }
};

TEST_CASE("a captured call takes its scratch from CUDA's pool, not from the caller's allocator") {
  const auto a = hubs(3000), on_gpu = a.to(gpu);
  const auto b = waves(3000, 33), features = b.to(gpu);
  const auto want = rig::mxm(on_gpu, features, rig::plus_times<float>{}, {.kernel = "split"});
  auto c = rig::dense<float>(3000, 33).to(gpu);
  const own_stream stream;
  static overwriting state;
  rig::set_device_allocator({&overwriting::allocate, &overwriting::release, &state});
  {
    const auto product = [&] {
      rig::mxm(c, rig::none, on_gpu, features, rig::plus_times<float>{},
               {.kernel = "split", .stream = stream});
    };
    product();
    rig::synchronise(gpu);
    REQUIRE(state.calls > 0);
    capture graph(stream, cudaStreamCaptureModeThreadLocal);
    const int before = state.calls;
    product();
    CHECK(state.calls == before);
    graph.replay(3);
    CHECK(distance(want.to(rig::cpu()), c.to(rig::cpu())) == 0);
  }
  rig::set_device_allocator({});
}

TEST_CASE("an allocator that returns unaligned memory is refused, and its memory is released") {
  struct unaligned {
    static void* allocate(std::size_t bytes, int, void* stream, void* context) {
      void* data = overwriting::allocate(bytes + 16, 0, stream, context);
      return static_cast<char*>(data) + 16;
    }
    static void release(void* data, std::size_t bytes, int, void* stream, void* context) {
      --static_cast<overwriting*>(context)->calls;
      overwriting::release(static_cast<char*>(data) - 16, bytes + 16, 0, stream, context);
    }
  };
  static overwriting state;
  rig::set_device_allocator({&unaligned::allocate, &unaligned::release, &state});
  check_error(rig::errc::cannot, {"multiple of 256", "512 bytes", "cuda:0", "0x"},
              [] { rig::buffer::allocate(512, gpu); });
  rig::set_device_allocator({});
  CHECK(state.calls == 0);
}

TEST_CASE("an allocator has both functions, or none") {
  check_error(rig::errc::range, {"release is null"}, [] {
    rig::set_device_allocator({&overwriting::allocate, nullptr, nullptr});
  });
  check_error(rig::errc::range, {"allocate is null"}, [] {
    rig::set_device_allocator({nullptr, &overwriting::release, nullptr});
  });
}

TEST_CASE("another thread's capture in global mode blocks no call") {
  const own_stream captured, fresh;
  const auto a = hubs(2500);
  const auto b = waves(2500, 40);
  const auto want = rig::mxm(a, b, greatest);
  const auto want_back = rig::mxm(a, b, greatest, {.transpose_a = true});
  auto d = rig::dense<float>(8, 8).to(gpu);
  capture graph(captured, cudaStreamCaptureModeGlobal);
  const auto goes_on = [&] {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(captured, &status);
    return status == cudaStreamCaptureStatusActive;
  };
  std::thread([&] {
    // These calls make everything that is made once: pinned memory, derived structures, kernels
    // compiled at run time.
    const auto on_gpu = a.to(gpu);
    const auto features = b.to(gpu);
    CHECK(goes_on());
    CHECK(distance(want, rig::mxm(on_gpu, features, greatest).to(rig::cpu())) == 0);
    CHECK(goes_on());
    CHECK(distance(want_back,
                   rig::mxm(on_gpu, features, greatest, {.transpose_a = true}).to(rig::cpu())) ==
          0);
    CHECK(goes_on());
    on_gpu.drop_derived();
    on_gpu.prepare({.kernel = "spmv_panels"});
    on_gpu.prepare({.transpose_a = true, .kernel = "maxk_backward"});
    const auto retained = rig::maxk(features, 7);
    CHECK(rig::mxm(on_gpu, retained, greatest).to(rig::cpu()).rows() == 2500);
    CHECK(rig::explain(on_gpu, features, greatest).chosen != "");
    CHECK(goes_on());
    rig::synchronise(gpu);
    CHECK(goes_on());
    CHECK(distance(want, rig::mxm(on_gpu, features, greatest, {.stream = fresh}).to(rig::cpu())) ==
          0);
  }).join();
  CHECK(goes_on());
  rig::dense<float>(16, 16, 1.0f).to(gpu);
  CHECK(goes_on());
  CHECK(cudaMemsetAsync(d.data(), 0, d.extent(), captured) == cudaSuccess);
  graph.replay(1);
}

TEST_CASE("a copy on a captured stream is refused, and later copies work") {
  const auto b = waves(500, 16), features = b.to(gpu);
  const own_stream stream;
  const auto view = rig::dense<float>::view(features.data(), 500, 16, 0, gpu, stream);
  {
    const capture graph(stream, cudaStreamCaptureModeThreadLocal);
    check_error(rig::errc::cannot, {"captured", "cuda:0"}, [&] { view.to(rig::cpu()); });
    CHECK(distance(b, features.to(rig::cpu())) == 0);
  }
  CHECK(distance(b, view.to(rig::cpu())) == 0);
  CHECK(distance(b, waves(500, 16).to(gpu).to(rig::cpu())) == 0);
}

TEST_CASE("memory that is dropped while its stream is captured is freed later") {
  auto first = std::make_optional(waves(100, 100).to(gpu));
  const own_stream stream;
  const std::size_t before = held_bytes();
  for (const bool of_rig : {true, false}) {
    void* const captured = of_rig ? first->stream() : stream;
    auto dropped = std::make_optional(rig::dense<float>::uninitialised(1 << 20, 4, gpu, captured));
    CHECK(held_bytes() >= before + (4u << 22));
    rig::synchronise(gpu);
    {
      const capture graph(captured, cudaStreamCaptureModeThreadLocal);
      dropped.reset();
    }
    rig::dense<float>::uninitialised(1, 1, gpu);
    CHECK(held_bytes() == before);
  }
}

TEST_CASE("rows with a larger stride than the pitch of a copy") {
  constexpr rig::index columns = 600000000;
  auto wide = rig::dense<float>::uninitialised(2, columns, gpu);
  const float mark = 7;
  const auto put = [&](rig::dense<float>& to, rig::index i, rig::index j) {
    REQUIRE(cudaMemcpy(to.data() + i * to.stride() + j, &mark, sizeof(mark),
                       cudaMemcpyHostToDevice) == cudaSuccess);
  };
  put(wide, 1, columns - 1);
  put(wide, 1, 9);
  const rig::dense<float> copied = wide;
  float seen = 0;
  rig::synchronise(gpu);
  REQUIRE(cudaMemcpy(&seen, copied.data() + 2l * columns - 1, sizeof(seen),
                     cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(seen == mark);
  auto narrow = rig::dense<float>::view(wide.data(), 2, 10, columns, gpu);
  CHECK(narrow.to(rig::cpu())(1, 9) == mark);
  // An update of no columns clears C, and only C.
  put(wide, 0, 10);
  rig::mxm_update(narrow, rig::matrix<float>(2, 2).to(gpu), rig::dense<float>(2, 0).to(gpu),
                  rig::dense<float>(0, 10).to(gpu), rig::plus_times<float>{});
  CHECK(distance(narrow.to(rig::cpu()), rig::dense<float>(2, 10, 0)) == 0);
  const auto wider = rig::dense<float>::view(wide.data(), 1, 11, columns, gpu);
  CHECK(wider.to(rig::cpu())(0, 10) == mark);
  // A result in the place of an operand goes through a copy.
  put(wide, 1, 9);
  const int swapped[] = {1, 0}, rows[] = {0, 1};
  const auto a = rig::matrix<float>::from_tuples(2, 2, rows, swapped, std::vector<float>{1, 1});
  rig::mxm(narrow, rig::none, a.to(gpu), narrow, rig::plus_times<float>{});
  CHECK(narrow.to(rig::cpu())(0, 9) == mark);
  CHECK(narrow.to(rig::cpu())(1, 9) == 0);
}

/// Records how far the stream had come when memory older than the call was released in its order.
struct watching {
  std::set<void*> old;
  std::optional<int> until_failure;
  const rig::matrix<float>* of = nullptr;
  void* own = nullptr;
  bool watches = false;
  std::vector<cudaEvent_t> given_back;

  static void* allocate(std::size_t bytes, int, void* stream, void* context) {
    auto& state = *static_cast<watching*>(context);
    if (state.until_failure && (*state.until_failure)-- == 0) {
      state.until_failure.reset();
      // Memory that the call does not hold may be released at once; memory that it holds, when it
      // ends.
      state.of->drop_derived();
      state.watches = true;
      return nullptr;
    }
    return overwriting::allocate(bytes, 0, stream, &unused());
  }
  static void release(void* data, std::size_t, int, void* stream, void* context) {
    auto& state = *static_cast<watching*>(context);
    auto* const order = static_cast<cudaStream_t>(stream);
    if (state.old.erase(data) > 0 && stream == state.own && state.watches) {
      cudaEvent_t event = nullptr;
      cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
      cudaEventRecord(event, order);
      state.given_back.push_back(event);
    }
    cudaFreeAsync(data, order);
  }
  static overwriting& unused() {
    static overwriting state;
    return state;
  }
};

TEST_CASE("a call that fails after a launch keeps its row lists until its stream has passed") {
  static watching state;
  const auto on_host = hubs(3000);
  rig::set_device_allocator(
      {[](std::size_t bytes, int device, void* stream, void* context) -> void* {
         void* const data = watching::allocate(bytes, device, stream, context);
         if (!state.until_failure && state.of == nullptr) state.old.insert(data);
         return data;
       },
       &watching::release, &state});
  {
    const auto features = waves(3000, 64).to(gpu);
    // This stream keeps no scratch between calls, so every call allocates and can fail.
    const rig::descriptor desc{.kernel = "maxk", .k = 13, .stream = cudaStreamPerThread};
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
    auto c = rig::dense<float>(3000, 64).to(gpu);
    state.own = c.stream();
    bool succeeded = false;
    int seen = 0;
    for (int n = 0; !succeeded && n < 20; ++n) {
      const auto a = on_host.to(gpu);
      state.of = nullptr;
      rig::mxm(c, rig::none, a, features, greatest, desc);
      rig::synchronise(gpu);
      state.of = &a;
      state.until_failure = n;
      REQUIRE(cudaLaunchHostFunc(cudaStreamPerThread, wait, nullptr) == cudaSuccess);
      try {
        rig::mxm(c, rig::none, a, features, greatest, desc);
        succeeded = true;
      } catch (const rig::error& e) {
        CHECK(e.code() == rig::errc::out_of_memory);
      }
      state.watches = false;
      for (cudaEvent_t event : state.given_back) {
        CHECK(cudaEventQuery(event) == cudaErrorNotReady);
        cudaEventDestroy(event);
        ++seen;
      }
      state.given_back.clear();
      state.until_failure.reset();
      rig::synchronise(gpu);
    }
    CHECK(succeeded);
    CHECK(seen > 0);
    state.of = nullptr;
  }
  rig::set_device_allocator({});
}

/// Drops a matrix's derived structures when a call allocates its result, and delays the rest of the
/// call. Memory is zeroed when it is released, in the order of its stream.
struct dropping {
  const rig::matrix<float>* of = nullptr;
  void* own = nullptr;
  const own_stream* caller = nullptr;

  static void* allocate(std::size_t bytes, int, void* stream, void* context) {
    auto& state = *static_cast<dropping*>(context);
    if (state.of != nullptr && stream == state.own) {
      std::exchange(state.of, nullptr)->drop_derived();
      state.caller->hold_back();
    }
    void* data = nullptr;
    return cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess
               ? data
               : nullptr;
  }
  static void release(void* data, std::size_t bytes, int, void* stream, void*) {
    auto* const order = static_cast<cudaStream_t>(stream);
    cudaMemsetAsync(data, 0, bytes, order);
    cudaFreeAsync(data, order);
  }
};

TEST_CASE("the transpose that a product reads lives until the call's stream has passed") {
  const auto a = rig::generate::random_values(rig::generate::from_text("rmat:10:16"), 3).to(gpu);
  const auto on_host = rig::generate::random_values(rig::generate::from_text("uniform:1024:9"), 5);
  const own_stream caller;
  static dropping state;
  rig::set_device_allocator({&dropping::allocate, &dropping::release, &state});
  {
    const auto b = on_host.to(gpu);
    const rig::descriptor desc{.transpose_b = true, .kernel = "gustavson", .stream = caller};
    const auto wanted = rig::mxm(a, b, rig::plus_times<float>{}, desc).to(rig::cpu());
    b.prepare({.transpose_a = true});
    rig::synchronise(gpu);
    state.own = b.structure().stream();
    state.caller = &caller;
    state.of = &b;
    const auto made = rig::mxm(a, b, rig::plus_times<float>{}, desc).to(rig::cpu());
    REQUIRE(state.of == nullptr);
    CHECK(b.derived_structures().empty());
    REQUIRE(made.nnz() == wanted.nnz());
    const auto entries = static_cast<std::size_t>(wanted.nnz());
    CHECK(std::memcmp(made.structure().column_indices(), wanted.structure().column_indices(),
                      entries * sizeof(rig::index)) == 0);
    CHECK(std::memcmp(made.values(), wanted.values(), entries * sizeof(float)) == 0);
  }
  rig::set_device_allocator({});
}

}  // namespace
