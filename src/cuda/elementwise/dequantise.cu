// The numbers that 8-bit codes stand for.

#include <cstdint>

#include "cuda/elementwise/each.hpp"

namespace rig::on_cuda {
namespace {

/// `count` groups of V elements, from element `first` on.
template <class To, int V>
void dequantise_groups(const build& by, const dense_operand& codes, void* to, int64 first,
                       int64 count) {
  const auto dequantise_group = [from = static_cast<const unsigned char*>(codes.data) + first,
                                 out = static_cast<To*>(to) + first, low = codes.low,
                                 step = codes.step, per_column = codes.per_column, first,
                                 columns = codes.columns] __device__(int64 k) {
    const auto some = reinterpret_cast<const vector_of<unsigned char, V>*>(from)[k];
    vector_of<To, V> numbers;
    for (int v = 0; v < V; ++v) {
      const index range = per_column ? static_cast<index>((first + k * V + v) % columns) : 0;
      numbers.element[v] = convert<To>(__fmaf_rn(step[range], some.element[v], low[range]));
    }
    reinterpret_cast<vector_of<To, V>*>(out)[k] = numbers;
  };
  by.each(count, dequantise_group);
}

template <class To>
void dequantise_as(const build& by, const dense_operand& codes, void* to) {
  constexpr int width = 4;
  const int64 count = int64{codes.rows} * codes.columns;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(codes.data) % width == 0;
  const int64 groups = is_aligned ? count / width : 0;
  dequantise_groups<To, width>(by, codes, to, 0, groups);
  dequantise_groups<To, 1>(by, codes, to, groups * width, count - groups * width);
}

}  // namespace

void dequantise(const dense_operand& codes, const dense_operand& to) {
  const device_scope scope(to.where.device);
  const build by(to.where, to.stream, "quantized");
  if (to.value_type == type::float32) dequantise_as<float>(by, codes, to.data);
  if (to.value_type == type::float64) dequantise_as<double>(by, codes, to.data);
  if (to.value_type == type::half) dequantise_as<half>(by, codes, to.data);
  if (to.value_type == type::bfloat16) dequantise_as<bfloat16>(by, codes, to.data);
}

}  // namespace rig::on_cuda
