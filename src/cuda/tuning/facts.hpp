#pragma once

// The facts of a product that decide its launch plan. Conditions of the tuning table name them.

#include <array>
#include <cstddef>

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

/// table.def says what each is.
enum class fact : unsigned char {
#define RIG_FACT(name, sections, words) name,
#include "cuda/tuning/table.def"
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

/// What decides the plan: the sizes of the problem, or of the whole matrix if A is a part of one.
struct deciding_sizes {
  int64 nnz;
  index rows, rows_of_b;
};
inline deciding_sizes sizes_of(const problem& p, const row_statistics& statistics) {
  if (statistics.whole_nnz < 0) return {p.a.nnz, p.a.rows, p.b.rows};
  return {statistics.whole_nnz, statistics.whole_rows, statistics.whole_columns};
}

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

/// The columns of B that decide the plan, and the elements from one row to the next. Slices of a B
/// are packed, as their whole would be.
inline index deciding_columns(const problem& p) {
  return p.planned_columns > 0 ? p.planned_columns : p.b.columns;
}
inline int64 deciding_stride(const problem& p) {
  return p.planned_columns > 0 ? p.planned_columns : p.b.stride;
}

/// Columns of a copy of B whose rows begin and end on 32 bytes.
index padded_columns(index columns, std::size_t value_bytes);

}  // namespace rig::on_cuda
