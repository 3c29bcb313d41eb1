// The interface for C on a GPU: memory and streams of the program, DLPack, a semiring from text, a
// search.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "rig/rig.h"

struct DLManagedTensor {
  void* data;
  std::int32_t device_type, device_id, ndim;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

namespace {

constexpr int nodes = 40, width = 3;
constexpr rig_place device = RIG_CUDA(0);  // which is gpu

void must(rig_status status) {
  INFO(std::string(rig_error_message()));
  REQUIRE(status == RIG_OK);
}

/// Node i points to i + 1 and to 3i + 2, modulo the nodes.
struct ring {
  std::vector<std::int32_t> offsets, indices;
  rig_container *host = nullptr, *there = nullptr;
  ring() {
    offsets.push_back(0);
    for (int i = 0; i < nodes; ++i) {
      const int one = (i + 1) % nodes, other = (3 * i + 2) % nodes;
      indices.push_back(std::min(one, other));
      if (one != other) indices.push_back(std::max(one, other));
      offsets.push_back(static_cast<std::int32_t>(indices.size()));
    }
    rig_csr arrays{};
    arrays.size = sizeof(arrays);
    arrays.rows = arrays.columns = nodes;
    arrays.entries = static_cast<std::int64_t>(indices.size());
    arrays.offsets = offsets.data();
    arrays.indices = indices.data();
    arrays.offset_type = arrays.index_type = RIG_INT32;
    arrays.type = RIG_FLOAT32;
    must(rig_from_csr(&arrays, &host));
    must(rig_copy_to(host, device, &there));
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring() {
    rig_free(host);
    rig_free(there);
  }
  template <class Work>
  void for_arcs(Work work) const {
    for (int i = 0; i < nodes; ++i)
      for (int p = offsets[i]; p < offsets[i + 1]; ++p) work(i, indices[p]);
  }
};

/// Elements on the device, on a stream of the program.
struct features {
  cudaStream_t stream = nullptr;
  float* memory = nullptr;
  std::vector<float> host;
  rig_container* view = nullptr;
  features() {
    for (int i = 0; i < nodes * width; ++i) host.push_back(static_cast<float>(i % 17 - 5));
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&memory), host.size() * sizeof(float)) ==
            cudaSuccess);
    cudaMemcpyAsync(memory, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice,
                    stream);
    rig_elements at{};
    at.size = sizeof(at);
    at.data = memory;
    at.rows = nodes;
    at.columns = width;
    at.type = RIG_FLOAT32;
    at.place = device;
    at.stream = stream;
    must(rig_view_elements(&at, &view));
  }
  features(const features&) = delete;
  features& operator=(const features&) = delete;
  ~features() {
    rig_free(view);
    cudaStreamSynchronize(stream);
    cudaFree(memory);
    cudaStreamDestroy(stream);
  }
};

std::vector<float> on_host(const rig_container* from) {
  rig_container* copy = nullptr;
  must(rig_copy_to(from, RIG_CPU, &copy));
  rig_elements at{};
  at.size = sizeof(at);
  must(rig_elements_of(copy, &at));
  const auto* const data = static_cast<const float*>(at.data);
  const std::vector<float> out(data, data + at.rows * at.columns);
  rig_free(copy);
  return out;
}

TEST_CASE("a product on a stream of the program, over its memory") {
  const ring graph;
  const features x;
  rig_semiring* s = nullptr;
  rig_container* y = nullptr;
  rig_options options{};
  options.size = sizeof(options);
  options.stream = x.stream;
  must(rig_semiring_by_name("plus_times", RIG_FLOAT32, &s));
  must(rig_mxm(&y, graph.there, x.view, s, &options));
  std::vector<float> want(x.host.size());
  graph.for_arcs([&](int i, int k) {
    for (int j = 0; j < width; ++j) want[i * width + j] += x.host[k * width + j];
  });
  CHECK(on_host(y) == want);
  rig_container* mixed = nullptr;
  CHECK(rig_mxm(&mixed, graph.host, x.view, s, nullptr) == RIG_ERROR_PLACE);
  CHECK(mixed == nullptr);
  rig_free(y);
  rig_free_semiring(s);
}

TEST_CASE("a tensor of DLPack goes out and comes back") {
  const features x;
  DLManagedTensor* tensor = nullptr;
  rig_container* back = nullptr;
  must(rig_to_dlpack(x.view, &tensor));
  CHECK(tensor->device_type == 2);
  CHECK(tensor->device_id == gpu.device);
  CHECK(tensor->data == x.memory);
  must(rig_from_dlpack(tensor, x.stream, &back));
  CHECK(on_host(back) == x.host);
  rig_free(back);
}

TEST_CASE("a semiring from text") {
  const ring graph;
  const features x;
  rig_semiring_text text{};
  text.size = sizeof(text);
  text.name = "plus_max";
  text.type = RIG_FLOAT32;
  text.add = "x + y";
  text.multiply = "max(a, b)";
  text.zero = "0";
  rig_semiring* s = nullptr;
  must(rig_semiring_from_text(&text, &s));
  rig_container* y = nullptr;
  must(rig_mxm(&y, graph.there, x.view, s, nullptr));
  std::vector<float> want(x.host.size());
  graph.for_arcs([&](int i, int k) {
    for (int j = 0; j < width; ++j) want[i * width + j] += std::max(1.0F, x.host[k * width + j]);
  });
  CHECK(on_host(y) == want);
  rig_free(y);
  rig_free_semiring(s);
}

TEST_CASE("a search") {
  const ring graph;
  std::vector<int> level(nodes, -1);
  level[0] = 0;
  for (int round = 0; round < nodes; ++round)
    graph.for_arcs([&](int i, int k) {
      if (level[i] == round && level[k] < 0) level[k] = round + 1;
    });
  rig_argument source{};
  source.name = "source";
  source.number.kind = RIG_INTEGER;
  rig_results* found = nullptr;
  rig_container *levels = nullptr, *copy = nullptr;
  must(rig_run("bfs", graph.there, &source, 1, nullptr, &found));
  must(rig_result_container(found, "levels", &levels));
  must(rig_copy_to(levels, RIG_CPU, &copy));
  rig_elements at{};
  at.size = sizeof(at);
  must(rig_elements_of(copy, &at));
  CHECK(std::memcmp(at.data, level.data(), nodes * sizeof(int)) == 0);
  rig_free(levels);
  rig_free(copy);
  rig_free_results(found);
}

}  // namespace
