// Calls of rig.h with any options over a few containers: each returns a status, and a call that
// fails has a text and leaves its handle as it was. What owns memory frees it once.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz.hpp"
#include "rig/rig.h"

// As DLPack's header has it.
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

constexpr unsigned slots = 6;
/// Bytes of memory that a program lends: more than any shape below takes.
constexpr std::size_t lent_bytes = 512;

struct world {
  fuzz::bytes from;
  rig_container* containers[slots] = {};
  rig_semiring* semiring = nullptr;

  explicit world(fuzz::bytes bytes) : from(bytes) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() {
    for (rig_container* const each : containers) rig_free(each);
    rig_free_semiring(semiring);
  }
  rig_container*& any() { return containers[from.below(slots)]; }
  /// A slot without a container.
  rig_container*& emptied() {
    rig_container*& to = any();
    rig_free(to);
    return to = nullptr;
  }
  const char* name_of(std::initializer_list<const char*> names) {
    return *(names.begin() + from.below(static_cast<unsigned>(names.size())));
  }
  rig_type type() { return static_cast<rig_type>(from.below(9)); }
  rig_number number() {
    return {static_cast<std::int32_t>(from.below(5)), static_cast<std::int64_t>(from.below(9)) - 4,
            static_cast<double>(from.below(9)) / 2};
  }
};

void ended(rig_status status) {
  fuzz::require(status >= RIG_OK && status < RIG_ERROR_INTERNAL);
  fuzz::require(status == RIG_OK || rig_error_message()[0] != '\0');
}

rig_options options_of(world& w) {
  rig_options out{};
  out.size = sizeof(out) - (w.from.below(32) == 1 ? 8 : 0);
  const unsigned flags = w.from.below(256);
  out.transpose_a = flags & 1;
  out.transpose_b = flags >> 1 & 1;
  out.replace = flags >> 2 & 1;
  out.mask_structure = flags >> 3 & 1;
  out.mask_complement = flags >> 4 & 1;
  out.mask = (flags >> 5 & 1) != 0 ? w.any() : nullptr;
  out.rescale = flags >> 6 & 1;
  out.any_order = flags >> 7 & 1;
  out.type = static_cast<rig_type>(w.from.below(3) == 0 ? w.type() : 0);
  out.accumulate = w.name_of({nullptr, "plus", "own", "minimum", "none", "?"});
  out.fill = w.number();
  out.kernel = w.name_of({nullptr, nullptr, "row", "dot", "gustavson", "bucket", "?"});
  out.width = w.from.below(5);
  out.threads = 1;
  return out;
}

void make(world& w) {
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(w.from.below(4)),
                                  static_cast<std::int32_t>(w.from.below(5)),
                                  static_cast<std::int32_t>(w.from.below(6))};
  std::int32_t indices[5];
  for (std::int32_t& each : indices) each = static_cast<std::int32_t>(w.from.below(6)) - 1;
  static const double zeros[5] = {};
  rig_csr arrays{};
  arrays.size = sizeof(arrays);
  arrays.rows = w.from.below(4);
  arrays.columns = w.from.below(6);
  arrays.entries = w.from.below(6);
  arrays.offsets = offsets;
  arrays.indices = indices;
  arrays.values = w.from.below(2) == 0 ? nullptr : zeros;
  arrays.value = w.number();
  arrays.offset_type = arrays.index_type = RIG_INT32;
  arrays.type = w.type();
  arrays.is_vector = static_cast<std::int32_t>(w.from.below(2));
  arrays.copy = 1;
  rig_container*& to = w.emptied();
  if (w.from.below(3) == 0)
    ended(rig_new_dense(w.from.below(5), w.from.below(5), w.type(), RIG_CPU, &to));
  else
    ended(rig_from_csr(&arrays, &to));
}

void make_of_tuples(world& w) {
  std::int64_t rows[7], columns[7];
  for (unsigned n = 0; n < 7; ++n) {
    rows[n] = static_cast<std::int64_t>(w.from.below(6)) - (n == 0);
    columns[n] = w.from.below(6);
  }
  static const double zeros[7] = {};
  rig_tuples tuples{};
  tuples.size = sizeof(tuples);
  tuples.rows = tuples.columns = 4 + w.from.below(3);
  if (w.from.below(4) == 0) tuples.rows = 1;
  tuples.count = w.from.below(8);
  tuples.row_indices = w.from.below(8) == 0 ? nullptr : rows;
  tuples.column_indices = columns;
  tuples.values = w.from.below(2) == 0 ? nullptr : zeros;
  tuples.index_type = RIG_INT64;
  tuples.type = w.type();
  tuples.is_vector = w.from.below(5) == 0;
  tuples.combine = w.name_of({nullptr, "plus", "maximum", "?"});
  ended(rig_from_tuples(&tuples, &w.emptied()));
}

/// Memory of the program, which rig views until it calls `free_memory` once.
struct memory {
  unsigned char bytes[lent_bytes] = {};
  std::int64_t shape[3], strides[3];
  DLManagedTensor tensor{};
};
void free_memory(void* of) { delete static_cast<memory*>(of); }
void free_tensor(DLManagedTensor* of) { free_memory(of->manager_ctx); }

void view_tensor(world& w) {
  static constexpr std::pair<std::uint8_t, std::uint8_t> types[] = {
      {6, 8}, {0, 32}, {0, 64}, {2, 32}, {2, 64}, {2, 16}, {4, 16}, {5, 64}};
  auto lent = std::make_unique<memory>();
  for (std::int64_t& each : lent->shape) each = static_cast<std::int64_t>(w.from.below(6)) - 1;
  for (std::int64_t& each : lent->strides) each = static_cast<std::int64_t>(w.from.below(7)) - 1;
  const auto [code, bits] = types[w.from.below(std::size(types))];
  lent->tensor = {lent->bytes,
                  w.from.below(8) == 0 ? 7 : 1,
                  0,
                  static_cast<std::int32_t>(w.from.below(4)),
                  code,
                  bits,
                  1,
                  lent->shape,
                  w.from.below(2) == 0 ? nullptr : lent->strides,
                  8 * w.from.below(3),
                  lent.get(),
                  free_tensor};
  const rig_status status = rig_from_dlpack(&lent->tensor, nullptr, &w.emptied());
  ended(status);
  if (status == RIG_OK) lent.release();
}

void view_elements(world& w) {
  auto lent = std::make_unique<memory>();
  rig_elements elements{};
  elements.size = sizeof(elements);
  elements.data = lent->bytes;
  elements.rows = static_cast<std::int64_t>(w.from.below(6)) - 1;
  elements.columns = static_cast<std::int64_t>(w.from.below(6)) - 1;
  elements.stride = w.from.below(7);
  elements.type = w.type();
  elements.read_only = static_cast<std::int32_t>(w.from.below(2));
  elements.place = w.from.below(8) == 0 ? RIG_CUDA(9) : RIG_CPU;
  elements.release = free_memory;
  elements.owner = lent.get();
  const rig_status status = rig_view_elements(&elements, &w.emptied());
  ended(status);
  if (status == RIG_OK) lent.release();
}

/// A tensor of a dense, which becomes another container or is deleted.
void pass_tensor(world& w) {
  DLManagedTensor* tensor = nullptr;
  const rig_status status = rig_to_dlpack(w.any(), &tensor);
  ended(status);
  fuzz::require((status == RIG_OK) == (tensor != nullptr));
  if (tensor == nullptr) return;
  if (w.from.below(2) == 0) return tensor->deleter(tensor);
  const rig_status taken = rig_from_dlpack(tensor, nullptr, &w.emptied());
  ended(taken);
  if (taken != RIG_OK) tensor->deleter(tensor);
}

void any_make(world& w) {
  switch (w.from.below(8)) {
    case 0:
      return view_tensor(w);
    case 1:
      return view_elements(w);
    case 2:
      return pass_tensor(w);
    case 3:
    case 4:
    case 5:
      return make_of_tuples(w);
    default:
      return make(w);
  }
}

/// Reads all that a container gives, and makes another handle of it.
void look_at(world& w) {
  const rig_container* const of = w.any();
  rig_description about{};
  about.size = sizeof(about);
  ended(rig_describe(of, &about));
  rig_csr arrays{};
  arrays.size = sizeof(arrays);
  const rig_status is_sparse = rig_csr_of(of, &arrays);
  ended(is_sparse);
  if (is_sparse == RIG_OK && arrays.offset_type == RIG_INT32) {
    const auto* const offsets = static_cast<const std::int32_t*>(arrays.offsets);
    const auto* const indices = static_cast<const std::int32_t*>(arrays.indices);
    fuzz::require(offsets[arrays.rows] == about.entries);
    for (std::int64_t p = 0; p < arrays.entries; ++p)
      fuzz::require(indices[p] >= 0 && indices[p] < about.columns);
  }
  rig_elements elements{};
  elements.size = sizeof(elements);
  const rig_status is_dense = rig_elements_of(of, &elements);
  ended(is_dense);
  fuzz::require(of == nullptr || (is_sparse == RIG_OK) != (is_dense == RIG_OK));
  rig_container* other = nullptr;
  ended(w.from.below(2) == 0 ? rig_share(of, &other) : rig_copy_to(of, RIG_CPU, &other));
  w.emptied() = other;
}

/// Some arguments of algorithms; those that an algorithm needs come first.
struct algorithm {
  const char* name;
  const char* arguments[3];
};
constexpr algorithm algorithms[] = {{"betweenness", {"sources", "batch"}},
                                    {"bfs", {"source", "parents"}},
                                    {"bipartite_matching", {}},
                                    {"components", {"symmetric"}},
                                    {"diameter_bound", {"source", "most_sweeps", "symmetric"}},
                                    {"eccentricity", {"sources", "batch"}},
                                    {"hits", {"tolerance", "most_iterations"}},
                                    {"jaccard", {"node"}},
                                    {"jaccard_of_edges", {}},
                                    {"kcore", {}},
                                    {"ktruss", {"k", "symmetric"}},
                                    {"label_propagation", {"iterations"}},
                                    {"local_clustering", {"directed"}},
                                    {"mis", {"seed"}},
                                    {"msf", {}},
                                    {"multi_source", {"sources"}},
                                    {"pagerank", {"damping", "most_iterations", "personalised"}},
                                    {"scc", {}},
                                    {"sssp", {"source", "delta"}},
                                    {"triangles", {"symmetric"}},
                                    {"?", {"?"}}};

/// Often a square matrix, if there is one.
const rig_container* graph_of(world& w) {
  const rig_container* const one = w.any();
  if (w.from.below(4) == 0) return one;
  for (const rig_container* const each : w.containers) {
    rig_description about{};
    about.size = sizeof(about);
    if (each != nullptr && rig_describe(each, &about) == RIG_OK && about.kind == RIG_MATRIX &&
        about.rows == about.columns)
      return each;
  }
  return one;
}

/// An algorithm with some arguments. Each result is a number or a container.
void run(world& w) {
  const algorithm& asked = algorithms[w.from.below(std::size(algorithms))];
  rig_argument arguments[3] = {};
  std::size_t count = 0;
  for (const char* const name : asked.arguments)
    if (name != nullptr && w.from.below(8) != 0)
      arguments[count++] = {
          w.from.below(16) == 0 ? "source" : name,
          w.from.below(4) == 0 ? w.number()
                               : rig_number{RIG_INTEGER, static_cast<int>(w.from.below(4)), 0},
          std::string_view(name) == "sources" || std::string_view(name) == "personalised"
              ? w.any()
              : nullptr};
  rig_options options{};
  if (w.from.below(8) == 0) options = options_of(w);
  options.size = sizeof(options);
  options.threads = 1;
  rig_results* found = nullptr;
  const rig_status status = rig_run(asked.name, graph_of(w), arguments, count, &options, &found);
  ended(status);
  fuzz::require((status == RIG_OK) == (found != nullptr));
  for (std::size_t n = 0; const char* const each = rig_result_name(found, n); ++n) {
    rig_number number{};
    rig_container* container = nullptr;
    const bool is_number = rig_result_number(found, each, &number) == RIG_OK,
               is_container = rig_result_container(found, each, &container) == RIG_OK;
    fuzz::require(is_number != is_container);
    if (is_container) w.emptied() = container;
  }
  rig_free_results(found);
}

void compute(world& w) {
  const rig_options options = options_of(w);
  rig_container *&c = w.any(), *const before = c;
  const rig_container *const a = w.any(), *const b = w.any();
  const rig_number y = w.number();
  const char* const op = w.name_of({"plus", "times", "less", "minus", "maximum", "first", "lower",
                                    "equal", "absolute", "identity", "sigmoid", "?"});
  rig_number sum{};
  rig_status status = RIG_OK;
  switch (w.from.below(11)) {
    case 0:
      status = rig_mxm(&c, a, b, w.semiring, &options);
      break;
    case 1:
      status = rig_mxv(&c, a, b, w.semiring, &options);
      break;
    case 2:
      status = rig_vxm(&c, a, b, w.semiring, &options);
      break;
    case 3:
      status = rig_ewise_add(&c, a, b, op, &options);
      break;
    case 4:
      status = rig_ewise_mult(&c, a, b, op, &options);
      break;
    case 5:
      status = rig_apply(&c, a, op, &options);
      break;
    case 6:
      status = rig_apply_number(&c, a, op, &y, w.from.below(2) == 1, &options);
      break;
    case 7:
      status = rig_select(&c, a, op, &y, &options);
      break;
    case 8:
      status = rig_reduce_rows(&c, a, op, &options);
      break;
    case 9:
      status = rig_transpose(&c, a, &options);
      break;
    default:
      status = rig_reduce(&sum, a, op, &options);
      break;
  }
  ended(status);
  fuzz::require(status == RIG_OK || c == before);
}

void read_text(world& w) {
  const std::string rest(w.from.rest());
  const std::string name = rest.substr(0, rest.find('\n'));
  rig_semiring_text text{};
  text.size = sizeof(text);
  text.name = name.c_str();
  text.type = w.type();
  text.add = text.multiply = text.zero = text.finish = rest.c_str();
  rig_semiring* out = nullptr;
  const rig_status status = rig_semiring_from_text(&text, &out);  // a static library compiles none
  ended(status);
  fuzz::require(status != RIG_OK && out == nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  world w({data, size});
  ended(
      rig_semiring_by_name(w.name_of({"plus_times", "max_second", "?"}), RIG_FLOAT32, &w.semiring));
  for (unsigned n = 0; n < slots; ++n) any_make(w);
  for (unsigned n = w.from.below(24); n > 0; --n) {
    constexpr void (*steps[])(world&) = {any_make, look_at, run, run, compute, compute, compute};
    steps[w.from.below(std::size(steps))](w);
  }
  read_text(w);
  return 0;
}
