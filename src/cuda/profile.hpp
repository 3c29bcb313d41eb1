#pragma once

// One look at a pattern on a device: O(n), once, and what the choice of kernels and shapes is made
// from.

#include "device.hpp"

namespace rig::on_cuda {

/// Pieces of a row, unless it has millions of entries.
constexpr int64 fine_cut = 128, coarse_cut = 512;

/// Too little work to fill the GPU: more lanes a row.
constexpr int64 few_entries = 300000;

struct profile : form {
  static constexpr const char* name = "profile";
  explicit profile(const pattern& of);
  std::size_t bytes() const override { return sizeof(*this); }

  int64 longest = 0;
  double mean_length = 0;  ///< of the rows that are not empty
  double imbalance =
      1;  ///< of four neighbouring rows, the longest over their mean, weighted by entries
  index cut_rows[2] = {},
        pieces[2] = {};  ///< rows longer than the fine and the coarse cut, and their pieces
  bool local = false;    ///< most entries lie near the diagonal: neighbouring rows share neighbours
};

/// Rows cut into pieces of `cut` entries, and the rows in order of length.
struct row_pieces : form {
  static constexpr const char* name = "row pieces";
  explicit row_pieces(const pattern& of);
  std::size_t bytes() const override { return pieces.bytes() + rows.bytes(); }

  int64 cut = 0;
  index piece_count = 0, row_count = 0;
  buffer pieces, rows;  ///< of `piece`, of `cut_row`
};

struct rows_by_length : form {
  static constexpr const char* name = "rows by length";
  explicit rows_by_length(const pattern& of);
  std::size_t bytes() const override { return rows.bytes(); }

  buffer rows;  ///< row numbers, longest first, to an eighth of an octave
};

/// Chunks of `spmv`: the first row of each, and the number of rows.
struct row_chunks : form {
  static constexpr const char* name = "row chunks";
  explicit row_chunks(const pattern& of);
  std::size_t bytes() const override { return rows.bytes(); }

  index count = 0;
  buffer rows;  ///< of `index`
};

/// Entries a row may have before it is cut.
int64 cut_for(const profile& look, int64 nnz);

/// Are neighbouring rows of unlike lengths, in a matrix small enough for that to show?
bool is_skewed(const profile& look, int64 nnz);

/// Does taking rows by length, or cutting them, pay for this problem?
bool order_helps(const problem& p, const profile& look);
bool split_helps(const problem& p, const profile& look);

/// What one group takes over its longest row, with a batch of loads in flight.
inline double lone_row_seconds(int64 entries) { return 60e-9 * static_cast<double>(entries); }

}  // namespace rig::on_cuda
