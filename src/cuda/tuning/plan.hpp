#pragma once

// The launch plan of a product of all or some entries of rows: `row`, `split` and the sampled
// kernels.

#include <optional>
#include <string>

#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {

/// Tiles of columns in y of a grid; more of them go on in z.
constexpr int most_tiles = 32768;

/// How a kernel reads B: in place, from a copy whose rows begin on vectors, or from a copy in tiles
/// of columns.
enum class b_layout : unsigned char { in_place, padded, tiled };

/// A launch plan of `row`. Its first numbers are template arguments in row.cuh.
struct launch_plan {
  int vector;  ///< elements of B per load: V
  int tile_lanes, row_lanes, unroll, coarsening;
  bool plain;
  entries_read entries;
  int rest;  ///< columns beyond whole tiles that a tiled copy holds: none, one or a vector
  b_layout layout;
  const tuning_row* row;   ///< the row of section `row`, or of `tiles`, that gives these numbers
  const tuning_row* load;  ///< those of `load`, `copy` and `rare_samples`; null if not searched
  const tuning_row *copy, *rare;
};

/// The plan for these facts, by the table alone. `samples`: the facts of sampled rows, or null if
/// whole rows are read.
launch_plan plan(product_facts whole, const product_facts* samples, const tuning_table& table);

/// The facts of whole rows, and of their samples if entries are sampled.
struct row_facts {
  product_facts whole;
  std::optional<product_facts> samples;
  bool operator==(const row_facts&) const = default;
};
row_facts facts_of(const problem& p, sampling how);

/// The plan for these facts by the table in use.
launch_plan plan_of(const row_facts& facts);

/// The kernel that a plan launches.
kernel_request request_of(const launch_plan& plan);

/// The plan of a problem as `explain` prints it.
std::string plan_in_words(const problem& p, sampling how);
/// The split length and the order of rows, with their lines of the table, to be added to a plan.
std::string segments_in_words(const problem& p);
std::string order_in_words(const problem& p);

}  // namespace rig::on_cuda
