#pragma once

// A's entries by panels of its columns: what `spmv_panels` works from.

#include "cuda/device/arguments.cuh"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

/// Columns of A whose elements of B a block of `spmv_panels` holds in shared memory, at most: 224
/// KB of four bytes each, whatever their type is, so that one serves all.
constexpr index most_panel_columns = 56 * 1024;
constexpr index column_panel_count(index columns) {
  return columns > most_panel_columns ? (columns - 1) / most_panel_columns + 1 : 1;
}
constexpr index column_panel_width(index columns) {
  const index count = column_panel_count(columns);
  const index least = columns > 0 ? (columns - 1) / count + 1 : 1;
  return (least + panel_grain - 1) / panel_grain * panel_grain;
}

/// The entries of each row in each panel of columns, in packs of four as A stores them: 8 bytes of
/// codes and a bit a pack, and 4 bytes a segment. A's last entries that fill no pack are left out.
/// Some 2.2 bytes an entry where rows in panels are long.
struct column_panels : derived {
  static constexpr const char* name = "column panels";
  explicit column_panels(const pattern& original);
  std::size_t bytes() const override;

  /// Entries are counted in 32 bits. Beyond so many segments, most of them without entries, a form
  /// would be larger than A; and packs could not be counted in 32 bits: a segment has at most two
  /// that are not full.
  static bool serves(bool offsets_64, index rows, index columns, int64 nnz) {
    constexpr int64 many = 1 << 26, most = 1 << 28;
    const int64 segments = static_cast<int64>(rows) * column_panel_count(columns);
    return !offsets_64 && segments <= nnz + many && segments <= most;
  }

  index panel_count = 0;
  index block_count = 0;
  const pack_codes* codes = nullptr;
  const unsigned* segment_ends = nullptr;
  const int32* segment_packs = nullptr;
  const warp_start* starts = nullptr;
  const column_unit* units = nullptr;
  const index* block_units = nullptr;

 private:
  buffer codes_, ends_, packs_, starts_, units_, block_units_;
};

}  // namespace rig::on_cuda
