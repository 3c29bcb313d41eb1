#pragma once

// Graphs, features and comparisons that tests of the CUDA side share.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu.hpp"
#include "rig/mxm.hpp"

/// An n×n matrix whose row i holds every third column from i on, ten at most.
inline rig::matrix<float> banded(int n) {
  std::vector<int> i, j;
  std::vector<float> v;
  for (int row = 0; row < n; ++row)
    for (int column = row; column < std::min(n, row + 30); column += 3) {
      i.push_back(row);
      j.push_back(column);
      v.push_back(1.0f + static_cast<float>((row + column) % 5));
    }
  return rig::matrix<float>::from_tuples(n, n, i, j, v);
}

/// An n×n matrix whose every hundredth row holds every third column below 2000, so that it is
/// split. The other rows hold at most three entries.
inline rig::matrix<float> hubs(int n) {
  std::vector<int> i, j;
  std::vector<float> v;
  for (int row = 0; row < n; ++row)
    for (int column = row % 100 == 7 ? 0 : row;
         column < std::min(n, row % 100 == 7 ? 2000 : row + 9); column += 3) {
      i.push_back(row);
      j.push_back(column);
      v.push_back(1.0f + static_cast<float>((row + column) % 5));
    }
  return rig::matrix<float>::from_tuples(n, n, i, j, v);
}

inline rig::dense<float> waves(int rows, int columns) {
  rig::dense<float> out(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out(i, j) = std::sin(0.37f * static_cast<float>(i) + 1.13f * static_cast<float>(j));
  return out;
}

inline double distance(const rig::dense<float>& x, const rig::dense<float>& y) {
  REQUIRE(x.rows() == y.rows());
  REQUIRE(x.columns() == y.columns());
  double most = 0;
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j)
      most = std::max(most, static_cast<double>(std::fabs(x(i, j) - y(i, j))));
  return most;
}

inline std::string message_of(const auto& work, rig::errc code) {
  try {
    work();
  } catch (const rig::error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  FAIL("no error");
  return {};
}

/// A non-blocking stream of the caller on the current device.
class own_stream {
 public:
  own_stream() {
    REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess);
  }
  own_stream(const own_stream&) = delete;
  ~own_stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  operator cudaStream_t() const { return stream_; }

  /// Delays the later work of the stream, long enough that an unordered race is lost.
  void hold_back() const {
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
    REQUIRE(cudaLaunchHostFunc(stream_, wait, nullptr) == cudaSuccess);
  }
  /// True if the stream has no work left, apart from work that ends in a moment.
  bool is_done() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return cudaStreamQuery(stream_) == cudaSuccess;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

/// The caller's allocator of device memory while this lives: CUDA's pool, one of whose allocations
/// can be made to fail.
class failing_allocator {
 public:
  failing_allocator() {
    rig::set_device_allocator(
        {[](std::size_t bytes, int, void* stream, void* of) -> void* {
           auto& left = static_cast<failing_allocator*>(of)->left_;
           if (left && (*left)-- == 0) return nullptr;
           void* data = nullptr;
           return cudaMallocAsync(&data, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess
                      ? data
                      : nullptr;
         },
         [](void* data, std::size_t, int, void* stream, void*) {
           cudaFreeAsync(data, static_cast<cudaStream_t>(stream));
         },
         this});
  }
  failing_allocator(const failing_allocator&) = delete;
  ~failing_allocator() { rig::set_device_allocator({}); }

  /// Calls work(call) until a call succeeds: allocation 0 of the first call fails, allocation 1 of
  /// the second one, and so on. refused(call) checks what each failure left. Returns the failures.
  template <class Work, class Refused>
  int until_success(Work work, Refused refused) {
    for (int call = 0; call < 100; ++call) {
      left_ = call;
      try {
        work();
        left_.reset();
        return call;
      } catch (const rig::error& e) {
        left_.reset();
        CHECK_MESSAGE(e.code() == rig::errc::out_of_memory, std::string(e.what()));
        refused();
      }
    }
    FAIL("100 allocations failed");
    return 0;
  }

 private:
  std::optional<int> left_;
};

/// The work of `work` on a stream, captured and instantiated.
class captured_work {
 public:
  captured_work(cudaStream_t stream, const auto& work) {
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    work();
    REQUIRE(cudaStreamEndCapture(stream, &graph_) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&replay_, graph_, 0) == cudaSuccess);
  }
  captured_work(const captured_work&) = delete;
  ~captured_work() {
    cudaGraphExecDestroy(replay_);
    cudaGraphDestroy(graph_);
  }
  void launch(cudaStream_t stream) const {
    REQUIRE(cudaGraphLaunch(replay_, stream) == cudaSuccess);
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t replay_ = nullptr;
};

/// Replays a captured product and compares the bits with direct calls. prepare() and one call come
/// before the capture.
template <class S>
void check_replay(const rig::matrix<float>& a, const S& semiring, rig::accumulator accum,
                  rig::descriptor desc, int columns = 64) {
  constexpr int replays = 3;
  const own_stream stream;
  const auto b = waves(a.rows(), columns).to(gpu);
  auto called = rig::dense<float>(a.rows(), columns, -1).to(gpu), replayed = called;
  a.prepare(desc);
  for (int run = 0; run < 1 + replays; ++run) rig::mxm(called, accum, a, b, semiring, desc);

  desc.stream = stream;
  const auto product = [&] { rig::mxm(replayed, accum, a, b, semiring, desc); };
  product();
  rig::synchronise(gpu);
  const captured_work graph(stream, product);
  for (int run = 0; run < replays; ++run) graph.launch(stream);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(distance(called.to(rig::cpu()), replayed.to(rig::cpu())) == 0);
}
