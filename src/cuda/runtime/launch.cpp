#include "cuda/runtime/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <vector>

#include "cuda/runtime/compile.hpp"
#include "cuda/runtime/driver.hpp"
#include "cuda/tuning/table.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {
namespace {

void copy_bits(any_value& to, const void* from, std::size_t bytes) {
  std::memcpy(to.bytes, from, bytes);
}

/// The type that a semiring's key names.
std::string_view type_of_key(std::string_view key) {
  const std::size_t begin = key.find("S = ") + 4;
  return key.substr(begin, key.rfind(']') - begin);
}

/// The type that a kernel is compiled for: of B, or any if B is not read.
type type_read(const problem& p) {
  return p.algebra->ignores_right ? p.algebra->right : p.b.value_type;
}

/// A builtin semiring and its kernels that are compiled ahead.
struct aot_pair {
  std::string semiring;
  std::span<const aot_kernel> families[2];
};
const std::vector<aot_pair>& aot_pairs() {
  // Never destroyed, because a product may run while the process ends.
  static const auto& all = *new const std::vector<aot_pair>{
#define RIG_AHEAD(semiring, type)          \
  {type_name(info_of<semiring<type>>.key), \
   {row_kernels_aot<semiring<type>>(), spmv_kernels_aot<semiring<type>>()}},
#include "ahead.def"
#undef RIG_AHEAD
  };
  return all;
}

/// The kernels that are compiled ahead for the problem's semiring and B, or null.
const aot_pair* find_aot_pair(const problem& p) {
  if (p.algebra->source != nullptr ||
      (!p.algebra->ignores_right && p.b.value_type != p.algebra->right))
    return nullptr;
  const auto& all = aot_pairs();
  const auto found = std::ranges::find(all, type_of_key(p.algebra->key), &aot_pair::semiring);
  return found == all.end() ? nullptr : &*found;
}

const void* find_aot(const problem& p, const kernel_request& wanted) {
  if (const aot_pair* const pair = find_aot_pair(p))
    for (const std::span<const aot_kernel> family : pair->families)
      for (const aot_kernel& k : family)
        if (std::string_view(k.name) == wanted.name && k.arguments == wanted.arguments)
          return k.kernel;
  return nullptr;
}

std::string in_words(template_argument of) {
  using enum template_argument::kind;
  static constexpr const char* reads[] = {"full", "prefix", "sampled", "mostly_full"};
  switch (of.of) {
    case boolean:
      return of.value != 0 ? "true" : "false";
    case entries:
      return std::string("rig::on_cuda::entries_read::") + reads[of.value];
    case cbsr_index:
      return of.value != 0 ? "unsigned char" : "unsigned short";
    case number:
      break;
  }
  return std::to_string(of.value);
}

/// The key of a resolved kernel.
struct kernel_key {
  const semiring_info* algebra;
  std::uint64_t key_hash;  ///< the address may be another semiring's if its library is unloaded
  const char* name;
  template_arguments arguments;
  int device;
  type b_type;
  bool per_column;
  bool operator==(const kernel_key&) const = default;

  std::uint64_t hash() const {
    std::uint64_t out = key_hash;
    for (const template_argument one : arguments)
      out = out * 31 + static_cast<std::uint64_t>(one.value);
    return out;
  }
};

/// Resolved kernels. A prepared call finds its kernel without a lock: the lists only grow, at their
/// front, and stay until the process ends.
struct resolved {
  kernel_key key;
  const void* kernel;
  const resolved* next;
};
std::atomic<const resolved*> resolved_kernels[64];

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

/// Returns false, without a launch, if the stream has no graph or its graph does not take this
/// kernel.
bool launch_as_graph(int device, CUstream stream, const CUDA_KERNEL_NODE_PARAMS& what,
                     const char* name) {
  launch_graph* const by = launch_graph_of(device, stream, what);
  if (by == nullptr) return false;
  const std::lock_guard lock(by->busy);
  if (driver().set_kernel(by->graph, by->node, &what) != CUDA_SUCCESS) return false;
  check(driver().launch_graph(by->graph, stream), name);
  return true;
}

}  // namespace

mask_arguments mask_arguments_of(const mask_operand& mask) {
  mask_arguments out;
  out.structural = mask.structural;
  out.complemented = mask.complemented;
  if (mask.over == mask_operand::kind::matrix) {
    out.over = mask_arguments::matrix;
    out.offsets_64 = mask.sparse.offsets_64;
    out.stored = mask.sparse.value_type;
    out.offsets = mask.sparse.offsets;
    out.entries = mask.sparse.entries;
    out.values = mask.sparse.values;
    copy_bits(out.iso, mask.sparse.iso, sizeof(mask.sparse.iso));
  } else if (mask.over == mask_operand::kind::dense) {
    out.over = mask_arguments::dense;
    out.stored = mask.full.value_type;
    out.values = mask.full.data;
    out.stride = mask.full.stride;
  }
  return out;
}

const char* element_name(type stored, bool per_column) {
  switch (stored) {
    case type::boolean:
      return "bool";
    case type::int32:
      return "rig::int32";
    case type::int64:
      return "rig::int64";
    case type::float32:
      return "float";
    case type::float64:
      return "double";
    case type::half:
      return "rig::half";
    case type::bfloat16:
      return "rig::bfloat16";
    case type::code:
      return per_column ? "rig::on_cuda::column_code" : "rig::on_cuda::code";
    case type::other:
      return nullptr;
  }
  return nullptr;
}

arguments arguments_of(const problem& p) {
  arguments out;
  out.rows = p.a.rows;
  out.nnz = p.a.nnz;
  out.offsets_64 = p.a.offsets_64;
  out.a_type = p.a.value_type;
  out.offsets = p.a.offsets;
  out.entries = p.a.entries;
  out.permutation = p.a.permutation;
  out.a_values = p.a.values;
  if (p.a.values == nullptr) p.algebra->take_left(p.a.iso, p.a.value_type, out.iso.bytes);
  out.columns = p.b.columns;
  out.b = p.b.data;
  if (!p.algebra->ignores_right && p.b.rows > 1)
    out.b_row_bytes = row_bytes(p.b.stride, p.b.value_bytes);
  out.low = p.b.low;
  out.step = p.b.step;
  out.c = p.c.data;
  out.c_stride = p.c.stride;
  out.indices = static_cast<int32*>(p.indices.data);
  out.indices_stride = p.indices.stride;
  out.c_type = p.c.value_type;
  out.accum = p.accum;
  out.outside_fills = p.creates_result || p.desc->replace;
  p.algebra->fill(p, out.fill.bytes);
  if (p.mask.over != mask_operand::kind::absent) out.mask = mask_arguments_of(p.mask);
  return out;
}

bool is_plain(const problem& p) {
  const bool as_it_is = p.c.value_type == p.algebra->result;
  const bool narrowed = p.algebra->result == type::float32 && !p.algebra->is_indexed &&
                        (p.c.value_type == type::half || p.c.value_type == type::bfloat16);
  return p.mask.over == mask_operand::kind::absent && p.accum == accumulator::none &&
         (as_it_is || narrowed);
}

unsigned row_bytes(int64 stride, std::size_t element_bytes) {
  constexpr std::size_t most = 0xffffffff;
  const std::size_t bytes = static_cast<std::size_t>(stride) * element_bytes;
  if (bytes > most)
    fail(errc::cannot,
         {"mxm: rows of B begin ", bytes, " bytes apart, and CUDA kernels reach ", most});
  return static_cast<unsigned>(bytes);
}

double estimate(const problem& p) {
  const tuning_table& table = current_table();
  return table[constant::launch_seconds] + predicted_bytes(p, static_cast<double>(p.a.nnz)) /
                                               table[constant::gather_bytes_per_second];
}

std::string type_name(const char* key) { return std::string(type_of_key(key)); }

std::string type_name(const char* key, const source_text* source) {
  const std::string name = type_name(key);
  if (source == nullptr) return name;
  const std::string user = "rig_user::" + std::string(source->name);
  for (const char* const wrapper : {"rig::flipped<", "rig::exchanged<", "rig::of_entries<"})
    if (name.starts_with(wrapper)) return wrapper + user + ">";
  return user;
}

const char* no_kernel_because(const semiring_info& s) {
  if (s.result_bytes > sizeof(arguments::fill))
    return "its results have more than 16 bytes each, which CUDA kernels do not store";
  // rig's own semirings have their text in the library; a type of the caller's has none.
  if (s.source == nullptr && !s.is_rigs)
    return "the GPU compiler cannot see this semiring's text: define it by RIG_SEMIRING";
  return nullptr;
}

const char* no_kernel_because(const problem& p) {
  if (const char* const why = no_kernel_because(*p.algebra)) return why;
  constexpr index widest_tile = 4096;
  if (p.b.columns > highest<index>() - widest_tile)
    return "B has more columns than its last tile could count to";
  if (!p.algebra->ignores_right && p.b.rows > 1 &&
      static_cast<std::size_t>(p.b.stride) * p.b.value_bytes > 0xffffffff)
    return "rows of B begin more than 4 GiB apart";
  if (const char* const without = no_compiler_because()) {
    if (const char* const why = no_machine_code_because(p.a.where.device)) return why;
    if (find_aot_pair(p) == nullptr) return without;
  }
  return nullptr;
}

std::size_t shared_room(int device) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "shared memory");
  return static_cast<std::size_t>(bytes);
}

std::string expression_of(const kernel_request& wanted, const std::string& semiring,
                          const std::string& b_type) {
  std::string out = std::string("rig::on_cuda::") + wanted.name + "<" + semiring;
  if (wanted.reads_b) out += ", " + b_type;
  for (const template_argument one : wanted.arguments) out += ", " + in_words(one);
  return out + ">";
}

kernel_source source_of(const problem& p, const kernel_request& wanted) {
  const source_text* const user = p.algebra->source;
  const std::string semiring = type_name(p.algebra->key, user);
  const char* const element = element_name(type_read(p), p.b.per_column);
  const std::string b_type = element != nullptr ? element : "typename " + semiring + "::right";
  return {wanted.file, expression_of(wanted, semiring, b_type), user};
}

std::size_t aot_kernel_count() {
  std::size_t out = 0;
  for (const aot_pair& pair : aot_pairs())
    for (const std::span<const aot_kernel> family : pair.families) out += family.size();
  return out;
}

const void* kernel_for(const problem& p, const kernel_request& wanted) {
  const int device = p.a.where.device;
  const type b_type = type_read(p);
  const bool per_column = b_type == type::code && p.b.per_column;
  const kernel_key key = {p.algebra, p.algebra->key_hash, wanted.name, wanted.arguments, device,
                          b_type,    per_column};
  std::atomic<const resolved*>& list = resolved_kernels[key.hash() % std::size(resolved_kernels)];
  for (const resolved* r = list.load(std::memory_order_acquire); r != nullptr; r = r->next)
    if (r->key == key) return r->kernel;
  const void* kernel = no_machine_code_because(device) == nullptr ? find_aot(p, wanted) : nullptr;
  if (kernel != nullptr) {
    // A launch by the kernel's handle needs no look-up of its address; docs/lab/start.md.
    cudaKernel_t handle = nullptr;
    check(cudaGetKernel(&handle, kernel), wanted.name);
    kernel = handle;
  } else {
    kernel = compile(source_of(p, wanted), device);
  }
  if (wanted.shared_percent >= 0)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               wanted.shared_percent),
          wanted.name);
  if (wanted.most_shared > 0)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(wanted.most_shared)),
          wanted.name);
  auto* const made = new resolved{key, kernel, list.load(std::memory_order_relaxed)};
  while (!list.compare_exchange_weak(made->next, made, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
  return kernel;
}

void launch_kernel(const void* kernel, const char* name, int device, cudaStream_t stream, dim3 grid,
                   dim3 threads, void** parameters) {
  if (is_empty(grid)) return;
  check(cudaLaunchKernel(kernel, grid, threads, parameters, 0, stream), name);
  launched(device, name);
}

bool has_launch_graph(int device, void* stream) {
  return find_launch_graph(launch_graphs_of_devices[device], static_cast<CUstream>(stream)) !=
         nullptr;
}

void launch(const problem& p, const char* name, const void* kernel, dim3 grid, unsigned threads,
            const arguments& args, std::size_t shared) {
  if (is_empty(grid)) return;
  void* parameters[] = {const_cast<arguments*>(&args)};
  CUDA_KERNEL_NODE_PARAMS what = {};
  what.kern = static_cast<CUkernel>(const_cast<void*>(kernel));
  what.gridDimX = grid.x;
  what.gridDimY = grid.y;
  what.gridDimZ = grid.z;
  what.blockDimX = threads;
  what.blockDimY = what.blockDimZ = 1;
  what.sharedMemBytes = static_cast<unsigned>(shared);
  what.kernelParams = parameters;
  const int device = p.a.where.device;
  CUstream const stream = stream_of(p);
  // A capture records the kernel itself, and cudaStreamPerThread names another stream in each
  // thread: neither uses a kept graph.
  const bool own = !p.captured && stream != cudaStreamPerThread;
  if (!own || !launch_as_graph(device, stream, what, name)) {
    // The driver accepts a kernel's handle as a function.
    auto* const function = static_cast<CUfunction>(const_cast<void*>(kernel));
    check(driver().launch(function, grid.x, grid.y, grid.z, threads, 1, 1, what.sharedMemBytes,
                          stream, parameters, nullptr),
          name);
  }
  launched(device, name);
}

}  // namespace rig::on_cuda
