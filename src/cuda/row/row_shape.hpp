#pragma once

namespace rig::on_cuda {

/// A launch configuration of `row`. packs: vector loads, else scalar loads. l, g, u, cf: L, G, U,
/// CF of the kernel. plain: stores without a mask or accumulator, else any write-back. With a rest,
/// B is copied in tiles.
struct row_shape {
  bool packs;
  int l, g, u, cf;
  bool plain;
  int bytes = 16;  ///< of a vector load
  int rest = 0;    ///< columns beyond whole tiles: none, one or a pack
  bool operator==(const row_shape&) const = default;
};

}  // namespace rig::on_cuda
