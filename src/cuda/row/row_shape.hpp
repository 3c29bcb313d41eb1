#pragma once

namespace rig::on_cuda {

/// A launch shape of `row`: packs of 16 bytes a load or single elements; L, G, U, CF of its kernel;
/// plain or any write-back; with a rest, B is copied in tiles.
struct row_shape {
  bool packs;
  int l, g, u, cf;
  bool plain;
  int bytes = 16;  ///< of a pack
  int rest = 0;    ///< columns beyond whole tiles: none, one or a pack
  bool operator==(const row_shape&) const = default;
};

}  // namespace rig::on_cuda
