#pragma once

// gustavson's classes of rows by their numbers of products: arithmetic for the host, the kernels
// and a test without a GPU.

#include "rig/scalar.hpp"

namespace rig::on_cuda {

/// Bits of a digit at most by which products are sorted, and its values.
constexpr int digit_bits = 8, digit_values = 1 << digit_bits;
/// Slots per product of a table in which columns are counted, and their bytes.
constexpr int slots_per_product = 2, count_bytes_per_product = slots_per_product * 4;

/// Words of shared memory of a block that sorts, beside its lists.
constexpr int sort_scratch_words(int threads) {
  return threads / 32 * digit_values + digit_values + 64;
}
/// Bytes of the lists per product: its column, its number in two orders, and itself. Numbers have 2
/// bytes, or 4 where lists are in device memory.
constexpr int64 sort_list_bytes(bool is_wide, int64 accum_bytes) {
  return 4 + 2 * (is_wide ? 4 : 2) + accum_bytes;
}

enum class row_kernel : unsigned char { rank, sort, sort_wide };

/// Rows of at most so many products: so many lanes each, and room for products or sums.
struct product_class {
  row_kernel kernel;
  int lanes, room, threads;
  int64 most_products;
};
inline constexpr product_class row_classes[] = {{row_kernel::rank, 8, 48, 256, 48},
                                                {row_kernel::rank, 32, 192, 256, 192},
                                                {row_kernel::sort, 64, 768, 64, 768},
                                                {row_kernel::sort, 128, 1536, 128, 1536},
                                                {row_kernel::sort, 256, 3072, 256, 3072},
                                                {row_kernel::sort, 256, 5120, 256, 5120},
                                                {row_kernel::sort, 512, 7936, 512, 7936},
                                                {row_kernel::sort, 1024, 16384, 1024, 16384},
                                                {row_kernel::sort_wide, 1024, 0, 1024, 1 << 28}};
/// Classes 1 … listed_classes are those above; 0 has no products, and the last one has windows.
constexpr int listed_classes = sizeof(row_classes) / sizeof(product_class);
constexpr int class_count = listed_classes + 2;

/// Dynamic shared memory of a block that computes rows of the class, or counts their columns.
constexpr int64 sort_shared_bytes(const product_class& of, bool fills, int64 accum_bytes) {
  if (of.kernel == row_kernel::rank) return 0;
  return sort_scratch_words(of.threads) * 4 +
         of.room * (fills ? sort_list_bytes(false, accum_bytes) : count_bytes_per_product);
}

/// What the classes of a product depend on.
struct class_facts {
  int64 shared_room;  ///< bytes that a block can use
  int64 accum_bytes;  ///< of a sum
  int64 windows;      ///< of B's columns
  double per_window;  ///< products in each for which windows pay
};

/// The products of the rows of each class.
struct class_limits {
  /// Of a class without rows, because the device lacks the memory: those of the class before.
  int64 most_products[listed_classes] = {};
  int64 least_in_windows = 0;

  constexpr int class_of(int64 products) const {
    if (products >= least_in_windows) return class_count - 1;
    int out = products > 0 ? 1 : 0;
    for (const int64 most : most_products) out += products > most ? 1 : 0;
    return out;
  }
};
constexpr class_limits limits_for(const class_facts& facts) {
  constexpr int64 never_in_windows = 1536;
  class_limits out;
  int64 before = 0;
  for (int c = 0; c < listed_classes; ++c) {
    const product_class& of = row_classes[c];
    const bool fits = sort_shared_bytes(of, true, facts.accum_bytes) <= facts.shared_room;
    if (fits && of.most_products > before) before = of.most_products;
    out.most_products[c] = before;
  }
  const double least = facts.per_window * static_cast<double>(facts.windows);
  out.least_in_windows =
      least > never_in_windows ? static_cast<int64>(least) : never_in_windows + 1;
  return out;
}

}  // namespace rig::on_cuda
