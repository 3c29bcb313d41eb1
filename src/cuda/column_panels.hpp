#pragma once

// A's entries by panels of its columns: what `spmv_panels` works from.

#include "arguments.cuh"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

/// The entries of each row in each panel of columns, in packs of four as A stores them: 8 bytes of
/// codes and a bit a pack, and 4 bytes a segment. A's last entries that fill no pack are left out.
/// Some 2.2 bytes an entry where rows in panels are long.
struct column_panels : form {
  static constexpr const char* name = "column panels";
  explicit column_panels(const pattern& original);
  std::size_t bytes() const override;

  /// Entries are counted in 32 bits. Beyond so many segments, most of them without entries, a form
  /// would be larger than A; and packs could not be counted in 32 bits: a segment has at most two
  /// that are not full.
  static bool serves(bool wide, index rows, index columns, int64 nnz) {
    constexpr int64 many = 1 << 26, most = 1 << 28;
    const int64 segments = static_cast<int64>(rows) * column_panel_count(columns);
    return !wide && segments <= nnz + many && segments <= most;
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
