#pragma once

// Windows of 16 rows of A, with their distinct columns in tiles: the input of `hybrid` on Tensor
// cores.

#include <array>

#include "cuda/device/arguments.cuh"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

/// Windows whose tiles have some entries, by the number of entries per tile.
struct window_class {
  int64 windows = 0, tiles = 0, entries = 0;
};
constexpr int window_classes = 32;

/// The distinct columns of each window of A's rows, eight to a tile, and a bitmap of the entries of
/// each tile. Values are read in the order of A's entries. A window has no tiles if it has fewer
/// entries per tile than section `windows` of the tuning table says, or a long row. Memory: 48
/// bytes per tile, 4 per window; with the built-in table at most 4 bytes per entry and 1/4 per row.
struct windows : derived {
  static constexpr const char* name = "windows";
  windows() = default;  ///< empty: tests of rules fill it in
  explicit windows(const pattern& original);
  std::size_t bytes() const override;

  /// Tiles are counted in 32 bits.
  static bool serves(index rows, int64 nnz) {
    return nnz / tile_slots + rows / window_height < highest<int32>();
  }

  std::array<window_class, window_classes> classes = {};
  const int32* tiles = nullptr;    ///< each window's first tile, then the end
  const index* columns = nullptr;  ///< of each slot; the last one is repeated to fill the tile
  const unsigned short* bits = nullptr;  ///< 8 per tile: number g has the slots of rows g and g + 8

 private:
  buffer tiles_, columns_, bits_;
};

/// The least entries per tile of a window with tiles. The tuning table decides (src/cuda/tuning).
int least_entries_per_tile(int64 nnz);

}  // namespace rig::on_cuda
