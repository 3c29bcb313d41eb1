#include "cuda/runtime/kernels.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {
namespace {

/// The name that a type's key has.
std::string_view name_in(std::string_view key) {
  const std::size_t begin = key.find("S = ") + 4;
  return key.substr(begin, key.rfind(']') - begin);
}

/// A builtin semiring and its kernels that are compiled ahead.
struct aot_pair {
  std::string_view semiring;
  type right;
  std::span<const aot_kernel> families[2];
};
const std::vector<aot_pair>& aot_pairs() {
  // Never destroyed, because a product may run while the process ends.
  static const auto& all = *new const std::vector<aot_pair>{
#define RIG_AHEAD(semiring, type)        \
  {name_in(info_of<semiring<type>>.key), \
   info_of<semiring<type>>.right,        \
   {row_kernels_aot<semiring<type>>(), spmv_kernels_aot<semiring<type>>()}},
#include "ahead.def"
#undef RIG_AHEAD
  };
  return all;
}

/// The kernels that are compiled ahead for the key, or null.
const aot_pair* find_aot_pair(const kernel_key& key) {
  if (key.source != nullptr || key.as != kernel_key::role::semiring) return nullptr;
  const auto& all = aot_pairs();
  const auto found = std::ranges::find_if(all, [&](const aot_pair& pair) {
    return pair.right == key.x && pair.semiring == name_in(key.type_name);
  });
  return found == all.end() ? nullptr : &*found;
}

const void* find_aot(const kernel_key& key, const kernel_request& wanted) {
  if (const aot_pair* const pair = find_aot_pair(key))
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

/// A type as the run-time compiler names it, whose text of a type of the caller is `source`.
std::string type_name(const char* key, const source_text* source) {
  const std::string name(name_in(key));
  if (source == nullptr) return name;
  const std::string user = "rig_user::" + std::string(source->name);
  for (const char* const wrapper : {"rig::flipped<", "rig::exchanged<", "rig::of_entries<"})
    if (name.starts_with(wrapper)) return wrapper + user + ">";
  return user;
}

/// Resolved kernels. A prepared call finds its kernel without a lock: the lists only grow, at their
/// front, and stay until the process ends.
struct resolved {
  kernel_key key;
  const char* name;
  template_arguments arguments;
  const void* kernel;
  const resolved* next;
};
std::atomic<const resolved*> resolved_kernels[64];

std::atomic<const resolved*>& list_for(const kernel_key& key, const template_arguments& arguments) {
  std::uint64_t hash = key.type_hash;
  for (const template_argument one : arguments)
    hash = hash * 31 + static_cast<std::uint64_t>(one.value);
  return resolved_kernels[hash % std::size(resolved_kernels)];
}

}  // namespace

const char* element_name(type stored, bool per_column) {
  static constexpr const char* names[] = {
      "bool",   "rig::int32", "rig::int64",   "float",
      "double", "rig::half",  "rig::bfloat16"};  // in the order of `type`
  if (stored < type::code) return names[static_cast<int>(stored)];
  if (stored == type::other) return nullptr;
  return per_column ? "rig::on_cuda::column_code" : "rig::on_cuda::code";
}

std::size_t shared_room(int device) {
  return static_cast<std::size_t>(attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

std::string expression_of(const kernel_request& wanted, const std::string& semiring,
                          const std::string& b_type) {
  std::string out = std::string("rig::on_cuda::") + wanted.name + "<" + semiring;
  if (wanted.reads_b) out += ", " + b_type;
  for (const template_argument one : wanted.arguments) out += ", " + in_words(one);
  return out + ">";
}

kernel_source source_of(const kernel_key& key, const kernel_request& wanted) {
  using enum kernel_key::role;
  const std::string of = type_name(key.type_name, key.source);
  const char* const x = element_name(key.x, key.per_column);
  const std::string x_name = x != nullptr ? x : "typename " + of + "::right";
  const std::string roles[] = {
      of, "rig::on_cuda::adding<" + of + ">", "rig::on_cuda::multiplying<" + of + ">",
      key.as != applying
          ? ""
          : "rig::on_cuda::applying<" + of + ", " + x_name + ", " + element_name(key.y) + ">"};
  return {wanted.file, expression_of(wanted, roles[static_cast<int>(key.as)], x_name), key.source};
}

bool has_aot_kernels(const kernel_key& key) { return find_aot_pair(key) != nullptr; }

std::size_t aot_kernel_count() {
  std::size_t out = 0;
  for (const aot_pair& pair : aot_pairs())
    for (const std::span<const aot_kernel> family : pair.families) out += family.size();
  return out;
}

// A launch by a kernel's handle needs no look-up of its address; docs/lab/start.md.
device_kernel kernel_by_nvcc(const void* kernel, const char* name) {
  cudaKernel_t handle = nullptr;
  check(cudaGetKernel(&handle, kernel), name);
  return {handle, name};
}

device_kernel kernel_for(const kernel_key& key, const kernel_request& wanted) {
  std::atomic<const resolved*>& list = list_for(key, wanted.arguments);
  for (const resolved* r = list.load(std::memory_order_acquire); r != nullptr; r = r->next)
    if (r->name == wanted.name && r->arguments == wanted.arguments && r->key == key)
      return {r->kernel, r->name};
  const void* const aot =
      no_machine_code_because(key.device) == nullptr ? find_aot(key, wanted) : nullptr;
  const void* const kernel = aot != nullptr ? kernel_by_nvcc(aot, wanted.name).handle
                                            : compile(source_of(key, wanted), key.device);
  const auto set = [&](cudaFuncAttribute attribute, int value) {
    check(cudaFuncSetAttribute(kernel, attribute, value), wanted.name);
  };
  if (wanted.shared_percent >= 0)
    set(cudaFuncAttributePreferredSharedMemoryCarveout, wanted.shared_percent);
  if (wanted.most_shared > 0)
    set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(wanted.most_shared));
  auto* const made = new resolved{key, wanted.name, wanted.arguments, kernel,
                                  list.load(std::memory_order_relaxed)};
  while (!list.compare_exchange_weak(made->next, made, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
  return {kernel, wanted.name};
}

}  // namespace rig::on_cuda
