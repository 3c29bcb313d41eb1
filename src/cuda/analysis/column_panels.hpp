#pragma once

// A's entries by panels of its columns: the input of `spmv_panels`.

#include "cuda/device/arguments.cuh"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

struct build;

/// Most columns per panel: a block of `spmv_panels` holds their elements of B in shared memory. At
/// four bytes each they have 224 KB. The number is the same for every type of B, so that one
/// structure serves all.
constexpr index most_panel_columns = 56 * 1024;
constexpr index column_panel_count(index columns) {
  return columns > most_panel_columns ? (columns - 1) / most_panel_columns + 1 : 1;
}
constexpr index column_panel_width(index columns) {
  const index count = column_panel_count(columns);
  const index least = columns > 0 ? (columns - 1) / count + 1 : 1;
  return (least + panel_grain - 1) / panel_grain * panel_grain;
}

/// The entries of each row in each panel of columns, in vectors of four as A stores them. A's last
/// entries that fill no vector are left out. Memory: 8 bytes of codes and one bit per vector, and 4
/// bytes per segment. Long segments need some 2.2 bytes per entry.
struct column_panels : derived {
  static constexpr const char* name = "column panels";
  explicit column_panels(const pattern& original);
  std::size_t bytes() const override;

  /// Entries are counted in 32 bits. With `many` segments more than entries, most of them empty,
  /// the structure would be larger than A. With more than `most`, vectors could exceed 32 bits,
  /// because a segment has at most two that are not full.
  static bool serves(bool offsets_64, index rows, index columns, int64 nnz) {
    constexpr int64 many = 1 << 26, most = 1 << 28;
    const int64 segments = static_cast<int64>(rows) * column_panel_count(columns);
    return !offsets_64 && segments <= nnz + many && segments <= most;
  }

  index panel_count = 0;
  index block_count = 0;
  const vector_codes* codes = nullptr;
  const unsigned* segment_ends = nullptr;
  const int32* segment_vectors = nullptr;
  const warp_start* starts = nullptr;
  const column_unit* units = nullptr;
  const index* block_units = nullptr;

 private:
  struct segment_list;
  segment_list list_segments(const build& in, const pattern& original) const;
  void vector_entries_of(const build& in, const pattern& original, const segment_list& of);
  /// Deals the vectors to the blocks, which it lists.
  void deal_out(const build& in, const pattern& original, const segment_list& of);

  buffer codes_, ends_, vectors_, starts_, units_, block_units_;
};

}  // namespace rig::on_cuda
