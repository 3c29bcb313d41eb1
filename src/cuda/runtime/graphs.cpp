#include "cuda/runtime/graphs.hpp"

#include <atomic>
#include <iterator>
#include <mutex>

#include "cuda/runtime/launch.hpp"

namespace rig::on_cuda {
namespace {

/// A CUDA graph of one kernel for a stream. Each launch sets the kernel's parameters anew; earlier
/// launches are not touched. This costs the host less than a plain launch, and the device no more;
/// docs/lab/start.md.
struct launch_graph {
  std::mutex busy;
  CUstream stream;
  CUgraphNode node;
  CUgraphExec graph;
};
/// One graph per stream, because launches of one graph wait for each other. Graphs stay until the
/// process ends. Streams beyond the first few have none; one place is reserved for rig's own
/// stream.
struct launch_graphs {
  std::mutex making;
  std::atomic<std::size_t> count;
  launch_graph of_streams[16];
};
launch_graphs launch_graphs_of_devices[most_devices];

launch_graph* find_launch_graph(launch_graphs& graphs, CUstream stream) {
  const std::size_t count = graphs.count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    if (graphs.of_streams[i].stream == stream) return &graphs.of_streams[i];
  return nullptr;
}

/// Returns null if the stream has no graph and none can be made.
launch_graph* launch_graph_of(int device, CUstream stream, const CUDA_KERNEL_NODE_PARAMS& what) {
  launch_graphs& graphs = launch_graphs_of_devices[device];
  if (launch_graph* const found = find_launch_graph(graphs, stream)) return found;
  const std::lock_guard lock(graphs.making);
  if (launch_graph* const found = find_launch_graph(graphs, stream)) return found;
  const std::size_t count = graphs.count.load(std::memory_order_relaxed);
  void* const own = stream_for(device, nullptr);
  const bool is_kept =
      stream != own && find_launch_graph(graphs, static_cast<CUstream>(own)) == nullptr;
  if (count + is_kept >= std::size(graphs.of_streams)) return nullptr;
  const driver_functions& call = driver();
  launch_graph& made = graphs.of_streams[count];
  CUgraph graph = nullptr;
  const bool is_made = call.create_graph(&graph, 0) == CUDA_SUCCESS &&
                       call.add_kernel(&made.node, graph, nullptr, 0, &what) == CUDA_SUCCESS &&
                       call.instantiate(&made.graph, graph, 0) == CUDA_SUCCESS;
  if (!is_made) {
    if (graph != nullptr) call.destroy_graph(graph);
    return nullptr;
  }
  made.stream = stream;
  graphs.count.store(count + 1, std::memory_order_release);
  return &made;
}

}  // namespace

bool launch_as_graph(int device, CUstream stream, const CUDA_KERNEL_NODE_PARAMS& what,
                     const char* name) {
  launch_graph* const by = launch_graph_of(device, stream, what);
  if (by == nullptr) return false;
  const std::lock_guard lock(by->busy);
  if (driver().set_kernel(by->graph, by->node, &what) != CUDA_SUCCESS) return false;
  check(driver().launch_graph(by->graph, stream), name);
  return true;
}

bool has_launch_graph(int device, void* stream) {
  return find_launch_graph(launch_graphs_of_devices[device], static_cast<CUstream>(stream)) !=
         nullptr;
}

}  // namespace rig::on_cuda
