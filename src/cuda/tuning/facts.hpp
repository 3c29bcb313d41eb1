#pragma once

// The facts of a product that decide its launch plan. Conditions of the tuning table name them.

#include <array>
#include <cstddef>
#include <span>

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/tuning/sum_kind.hpp"
#include "rig/kernels/problem.hpp"

namespace rig::on_cuda {

class tuning_table;

/// Classes of A by the lengths of its rows. tiny: few entries in all. short_rows: few entries per
/// row. skewed: neighbouring rows differ in length. uniform and long: they do not, with fewer or
/// more entries per row. clustered: neighbouring rows share columns; scattered: they do not.
enum class row_class {
  tiny,
  short_rows,
  skewed,
  skewed_clustered,
  uniform,
  long_clustered,
  long_scattered
};
/// The stored elements of B, by their bytes.
enum class element_class { quantized, bytes_1, bytes_2, bytes_4, bytes_8, other };
enum class store_kind { plain, any };
enum class load_kind { vector, scalar };

/// Facts that are words first, then numbers. table.cpp has their names.
enum class fact : unsigned char {
  row_class,
  element,
  sum,
  entries,  ///< `entries_read`: full, prefix, sampled
  store,    ///< plain: no mask, no accumulator
  load,
  columns,        ///< F
  element_bytes,  ///< of B, or of the semiring's right type if B is ignored
  alignment,      ///< bytes, up to 16, that B's rows begin and end on; 0: never read in vectors
  vector_bytes,
  b_vectors,       ///< vectors of 16 bytes per row of B
  vectors,         ///< vector loads per row of B
  slice,           ///< vector loads per row of B in one pass over A; fewer if L2 holds a slice of B
  reads_b,         ///< 0: the semiring ignores B
  tile_columns,    ///< columns of each of the equal tiles that scalar loads take
  over_tiles,      ///< columns beyond whole tiles of 8 vectors of 16 bytes
  columns_mod_16,  ///< F modulo 16
  whole_vectors,   ///< 1: rows of B are whole vectors of 16 bytes
  on_lines,        ///< 1: rows of B begin on cache lines
  copy_on_lines,   ///< 1: rows of a padded copy of B would
  nonzeros,
  mean,               ///< entries per row that has any; of the samples when entries are sampled
  per_row,            ///< entries per row
  reuse,              ///< entries per row of B
  longest_over_mean,  ///< entries of the longest row over the mean
  longest_rows,       ///< entries over those of the longest row
  imbalance,          ///< see row_statistics
  skewed,             ///< 1: neighbouring rows differ in length, in a matrix that is not huge
  clustered,          ///< 1: neighbouring rows share columns
  l2_vectors,         ///< 32, 16, 8: a slice of so many vectors of all rows of B fits in L2; else 0
  slice_vectors,      ///< the same for the slices of one pass, which may exceed L2 a little
  b_bytes,            ///< bytes of B
  b_row_bytes,        ///< bytes of a row of B
  accum_bytes,
  compiler,             ///< 1: there is a run-time compiler
  sample,               ///< entries per sample
  sample_over_mean,     ///< entries per sample over the mean of whole rows
  samples_filled,       ///< 1: every row fills its sample
  per_row_over_sample,  ///< entries per row over entries per sample
  longest_over_sample,
  sampled_share,  ///< share of rows that are longer than the sample, estimated
  row_lanes,      ///< lanes per row of the plan for whole rows
  k,              ///< entries per row of a cbsr
  k_over_columns,
  atomics,            ///< 1: sums may be added by atomics
  panels,             ///< panels of A's columns
  per_segment,        ///< entries per row and panel
  longest_over_warp,  ///< entries of the longest row in a panel over a warp's share
  iso,                ///< 1: no value of A is read
  count
};
constexpr std::size_t fact_count = static_cast<std::size_t>(fact::count);
constexpr std::size_t word_fact_count = static_cast<std::size_t>(fact::load) + 1;

class product_facts {
 public:
  double operator[](fact f) const { return values_[static_cast<std::size_t>(f)]; }
  double& operator[](fact f) { return values_[static_cast<std::size_t>(f)]; }
  template <class E>
  void set(fact f, E word) {
    (*this)[f] = static_cast<double>(word);
  }
  template <class E>
  bool is(fact f, E word) const {
    return (*this)[f] == static_cast<double>(word);
  }
  bool operator==(const product_facts&) const = default;

 private:
  std::array<double, fact_count> values_{};
};

row_class class_of(const problem& p, const row_statistics& statistics);
bool reads_quantized(const problem& p);
sum_kind sum_kind_of(const semiring_info& algebra);

/// The facts of rows alone; F and B are not read.
product_facts facts_of_rows(const row_statistics& statistics, int64 nnz);

/// The facts of a product whose B is read in place. `statistics` are those of A's rows, or those of
/// their samples.
product_facts facts_of(const problem& p, const row_statistics& statistics);

/// Adds the facts of samples of `width` entries to the facts of whole rows, or of the samples.
void set_samples(product_facts& facts, sampling how, int width, const row_statistics& whole,
                 const row_statistics& samples, index all_rows);

/// Columns of a copy of B whose rows begin and end on 32 bytes.
index padded_columns(const problem& p);

}  // namespace rig::on_cuda
