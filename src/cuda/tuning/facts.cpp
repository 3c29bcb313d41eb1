#include "cuda/tuning/facts.hpp"

#include "cuda/analysis/column_panels.hpp"
#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {
namespace {

constexpr unsigned line_bytes = 128;
constexpr int bytes_per_vector = 16;

double over(double x, double y) { return y > 0 ? x / y : 0; }

/// Bytes of an element of B as kernels are compiled for it. A semiring that ignores B is compiled
/// for its own right type.
std::size_t bytes_of_element(const problem& p) {
  return p.algebra->ignores_right ? p.algebra->right_bytes : p.b.value_bytes;
}

element_class element_of(const problem& p) {
  if (reads_quantized(p)) return element_class::quantized;
  switch (bytes_of_element(p)) {
    case 1:
      return element_class::bytes_1;
    case 2:
      return element_class::bytes_2;
    case 4:
      return element_class::bytes_4;
    case 8:
      return element_class::bytes_8;
    default:
      return element_class::other;
  }
}

/// The largest power of two, up to 16, that divides the address of B, the bytes between its rows
/// and the bytes of a row.
int alignment_of(const problem& p, const deciding_sizes& sizes) {
  if (p.algebra->right == type::other || bytes_of_element(p) >= bytes_per_vector) return 0;
  if (p.algebra->ignores_right) return bytes_per_vector;
  const std::size_t row =
      sizes.rows_of_b > 1 ? static_cast<std::size_t>(deciding_stride(p)) * p.b.value_bytes : 0;
  // Slices lie in memory of rig's own. The address of an X whose rows are not fetched yet does not
  // count.
  const std::size_t begin = p.planned_columns > 0 ? 0 : reinterpret_cast<std::size_t>(p.b.data);
  const std::size_t all = begin | row |
                          static_cast<std::size_t>(deciding_columns(p)) * p.b.value_bytes |
                          bytes_per_vector;
  return static_cast<int>(all & -all);
}

bool begins_on_lines(const problem& p, const deciding_sizes& sizes) {
  const bool has_distance = !p.algebra->ignores_right && sizes.rows_of_b > 1;
  return !has_distance ||
         static_cast<std::size_t>(deciding_stride(p)) * p.b.value_bytes % line_bytes == 0;
}

/// Vectors of 16 bytes, 32, 16 or 8, so many of all rows of B fit in `bytes`; 0 if 8 do not.
int vectors_within(const deciding_sizes& sizes, double bytes) {
  int vectors = 32;
  while (vectors >= 8 && sizes.rows_of_b * static_cast<double>(bytes_per_vector) * vectors > bytes)
    vectors /= 2;
  return vectors >= 8 ? vectors : 0;
}

/// The columns of one of the equal tiles in which scalar loads take F columns.
int tile_columns_of(int columns) {
  constexpr int most_in_one = 32 * 7, most_in_several = 32 * 5;
  const auto parts = [](int number, int size) { return (number + size - 1) / size; };
  return columns <= most_in_one ? columns : parts(columns, parts(columns, most_in_several));
}

void set_b(product_facts& out, const problem& p, const deciding_sizes& sizes) {
  using enum fact;
  const std::size_t element_size = bytes_of_element(p);
  const auto bytes = static_cast<double>(element_size);
  const index width = deciding_columns(p);
  const int in_tile =
      8 * bytes_per_vector / static_cast<int>(element_size < 16 ? element_size : 16);
  out.set(element, element_of(p));
  out[columns] = width;
  out[element_bytes] = bytes;
  out[alignment] = alignment_of(p, sizes);
  out[reads_b] = !p.algebra->ignores_right;
  out[tile_columns] = tile_columns_of(width);
  out[b_vectors] = width * bytes / bytes_per_vector;
  out[over_tiles] = width % in_tile;
  out[columns_mod_16] = width % 16;
  out[whole_vectors] = width * static_cast<int64>(element_size) % bytes_per_vector == 0;
  out[on_lines] = begins_on_lines(p, sizes);
  if (out[alignment] > 0 && out[reads_b] != 0)
    out[copy_on_lines] = static_cast<std::size_t>(padded_columns(width, p.b.value_bytes)) *
                             p.b.value_bytes % line_bytes ==
                         0;
  out[reuse] = over(static_cast<double>(sizes.nnz), sizes.rows_of_b);
  out[fact::b_row_bytes] = static_cast<double>(width) * static_cast<double>(p.b.value_bytes);
  out[fact::b_bytes] = sizes.rows_of_b * out[fact::b_row_bytes];
}

}  // namespace

bool is_skewed(const row_statistics& statistics, int64 nnz) {
  const tuning_table& table = current_table();
  return statistics.imbalance > table[constant::skewed_imbalance] &&
         static_cast<double>(nnz) < table[constant::skewed_nonzeros];
}

bool reads_quantized(const problem& p) {
  return p.b.value_type == type::code && !p.algebra->ignores_right;
}

sum_kind sum_kind_of(const semiring_info& algebra) {
  return algebra.is_indexed     ? sum_kind::indexed
         : algebra.ignores_left ? sum_kind::unweighted
                                : sum_kind::weighted;
}

row_class class_of(const problem& p, const row_statistics& statistics) {
  using enum row_class;
  const tuning_table& table = current_table();
  const deciding_sizes sizes = sizes_of(p, statistics);
  if (static_cast<double>(sizes.nnz) < table[constant::tiny_nonzeros]) return tiny;
  if (statistics.mean_length < table[constant::short_mean]) return short_rows;
  if (is_skewed(statistics, sizes.nnz)) return statistics.local ? skewed_clustered : skewed;
  if (statistics.mean_length < table[constant::long_mean]) return uniform;
  const bool fits = vectors_within(sizes, table[constant::l2_slice_bytes]) >= 8;
  return statistics.local && fits ? long_clustered : long_scattered;
}

product_facts facts_of_rows(const row_statistics& statistics, int64 nnz) {
  using enum fact;
  product_facts out;
  const auto longest = static_cast<double>(statistics.longest);
  out[nonzeros] = static_cast<double>(nnz);
  out[mean] = statistics.mean_length;
  out[longest_over_mean] = over(longest, statistics.mean_length);
  out[longest_rows] = statistics.longest > 0 ? static_cast<double>(nnz / statistics.longest) : 0;
  out[imbalance] = statistics.imbalance;
  out[skewed] = is_skewed(statistics, nnz);
  out[clustered] = statistics.local;
  return out;
}

product_facts facts_of(const problem& p, const row_statistics& statistics) {
  using enum fact;
  const tuning_table& table = current_table();
  const deciding_sizes sizes = sizes_of(p, statistics);
  product_facts out = facts_of_rows(statistics, sizes.nnz);
  out.set(fact::row_class, class_of(p, statistics));
  out.set(sum, sum_kind_of(*p.algebra));
  out.set(store, is_plain(p) ? store_kind::plain : store_kind::any);
  out[per_row] = over(static_cast<double>(sizes.nnz), sizes.rows);
  out[iso] = p.algebra->ignores_left || p.a.values == nullptr;
  out[accum_bytes] = static_cast<double>(p.algebra->accum_bytes);
  out[compiler] = no_compiler_because() == nullptr;
  out[l2_vectors] = out[slice_vectors] = vectors_within(sizes, table[constant::l2_slice_bytes]);
  if (out.is(fact::row_class, row_class::long_scattered) && !statistics.local &&
      out[l2_vectors] == 0)
    out[slice_vectors] = vectors_within(sizes, table[constant::l2_slice_bytes_scattered]);
  set_b(out, p, sizes);
  return out;
}

void set_samples(product_facts& facts, sampling how, int width, const row_statistics& whole,
                 const row_statistics& samples, index all_rows) {
  using enum fact;
  facts.set(entries, how == sampling::bucket ? entries_read::prefix : entries_read::sampled);
  int kind = 0;  // section rare_samples was measured with the shares of 128 entries and more
  while (nth_split_length(kind) < 128) ++kind;
  while (kind + 1 < split_length_count && nth_split_length(kind + 1) <= width) ++kind;
  facts[sample] = width;
  facts[sample_over_mean] = over(width, whole.mean_length);
  facts[samples_filled] = samples.longest == width && samples.mean_length >= width;
  facts[per_row_over_sample] = over(facts[per_row], width);
  facts[longest_over_sample] = over(static_cast<double>(whole.longest), width);
  facts[sampled_share] = over(whole.split_rows[kind], all_rows);
}

index padded_columns(index columns, std::size_t value_bytes) {
  const auto unit = static_cast<index>(32 / value_bytes);
  return (columns + unit - 1) / unit * unit;
}

}  // namespace rig::on_cuda
