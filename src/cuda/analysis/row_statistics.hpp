#pragma once

// Statistics of the rows of a pattern on a device: O(n), once. The choice of kernels and launch
// configurations rests on them.

#include <mutex>
#include <utility>
#include <vector>

#include "cuda/device/arguments.cuh"
#include "cuda/runtime/device.hpp"

namespace rig::on_cuda {

/// Entries a piece may have, unless a row has millions.
constexpr int cut_kinds = 3;
constexpr int64 cut_of(int kind) { return kind == 0 ? 128 : kind == 1 ? 512 : 1024; }

/// Too little work to fill the GPU: more lanes a row.
constexpr int64 few_entries = 300000;

struct row_statistics : derived {
  static constexpr const char* name = "row statistics";
  row_statistics() = default;  ///< of nothing: tests of rules fill it in
  explicit row_statistics(const pattern& of);
  std::size_t bytes() const override { return sizeof(*this); }
  /// About the statistics of samples of the rows.
  row_statistics sampled(int width) const;

  int64 longest = 0;
  double mean_length = 0;  ///< of the rows that are not empty
  double imbalance =
      1;  ///< of four neighbouring rows, the longest over their mean, weighted by entries
  index cut_rows[cut_kinds] = {},
        pieces[cut_kinds] = {};  ///< rows longer than each cut, and their pieces
  bool local = false;  ///< most entries lie near the diagonal: neighbouring rows share neighbours
};

/// The lists that `split` and `spmv` work from, in one allocation. Null: not worth having here.
struct row_lists : derived {
  static constexpr const char* name = "row lists";
  explicit row_lists(const pattern& of);
  std::size_t bytes() const override;

  int64 cut = 0;  ///< rows longer than this are cut into pieces of so many entries
  index piece_count = 0, cut_count = 0;
  const piece* pieces = nullptr;
  const cut_row* cut_rows = nullptr;
  const listed_row* by_length = nullptr;  ///< rows, longest first, to an eighth of an octave
  index chunk_count = 0;                  ///< of `spmv`
  const index* chunk_rows = nullptr;      ///< the first row of each chunk, and the number of rows

  /// `count` counters that are zero, for kernels on `stream` that leave them so, and `bytes` for
  /// the sums of one launch: whoever asks on the same stream gets the same ones. Nothing for a
  /// stream beyond the first few.
  buffer counters_of(void* stream, std::size_t count) const;
  buffer sums_of(void* stream, std::size_t bytes) const;

 private:
  struct scratch {
    void* stream;
    buffer counters, sums;
  };
  buffer kept(buffer scratch::*part, void* stream, std::size_t bytes) const;

  buffer memory;
  mutable std::mutex mutex_;
  mutable std::vector<scratch> of_streams_;
};

/// The statistics of the pattern that A is read by, found once per call.
inline const row_statistics& statistics_of(const problem& p) {
  if (p.statistics == nullptr) p.statistics = p.oriented->derived_of<row_statistics>();
  return static_cast<const row_statistics&>(*p.statistics);
}

/// The lists of the pattern that A is read by, held for the call; sets `args` to take rows by
/// length where that pays.
const row_lists& ordered_rows(const problem& p, arguments& args);

/// HasFlags `args` of the pieces that rows are cut in.
void set_pieces(const row_lists& lists, arguments& args);

/// Gives `args` `count` counters that are zero, for a launch that leaves them so, and `bytes` for
/// its sums, to be kept until the launch: the lists' own, where calls follow each other on a
/// stream.
buffer scratch_for(const problem& p, const row_lists& lists, std::size_t bytes, std::size_t count,
                   arguments& args);

/// HasFlags `args` of the pieces, if there are any, with counters of those that are done,
/// for each of `tiles`, and room for their sums, `bytes` each, to be kept until the launch.
buffer cut_in_pieces(const problem& p, const row_lists& lists, std::size_t bytes, int64 tiles,
                     arguments& args);

/// Entries a row may have before it is cut.
int64 cut_for(const row_statistics& statistics, int64 nnz);

/// Are there rows that one group of lanes would work on while others wait?
bool cut_helps(const row_statistics& statistics, int64 nnz);

/// Are neighbouring rows of unlike lengths, in a matrix small enough for that to show?
bool is_skewed(const row_statistics& statistics, int64 nnz);

/// Does taking rows by length, or cutting them, pay for this problem?
bool order_helps(const problem& p, const row_statistics& statistics);
bool split_helps(const problem& p, const row_statistics& statistics);

/// What one group takes over its longest row, with a batch of loads in flight.
inline double lone_row_seconds(int64 entries) { return 60e-9 * static_cast<double>(entries); }

}  // namespace rig::on_cuda
