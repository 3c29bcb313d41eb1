#pragma once

/// @file
/// How much of a matrix a sampled kernel reads: `sampling_report`.

#include <string>

#include "rig/matrix.hpp"

namespace rig {

/// The entries of a matrix that a sampled kernel reads. A row's share is its staged entries over
/// all its entries; rows without entries have none.
struct sampling_statistics {
  int64 entries = 0;         ///< entries of the matrix
  int64 staged = 0;          ///< entries read; repeated ones count each time
  int64 distinct = 0;        ///< different entries among them
  index rows = 0;            ///< rows of the matrix
  index whole_rows = 0;      ///< rows not longer than the width, including empty ones
  double least_share = 1,    ///< the least share of a row with entries
      percent_1_share = 1,   ///< 1 % of the rows with entries keep this share or less
      percent_10_share = 1,  ///< 10 % of them
      median_share = 1,      ///< half of them
      mean_share = 1;        ///< the mean over them

  /// staged / entries; 1 if there are no entries.
  double kept_share() const { return share_of(staged); }
  /// distinct / entries; 1 if there are no entries.
  double distinct_share() const { return share_of(distinct); }
  /// "stages 26.0 % of 114 M entries (25.1 % distinct), 12.0 % of rows whole"
  std::string text() const;

 private:
  double share_of(int64 part) const {
    return entries > 0 ? static_cast<double>(part) / static_cast<double>(entries) : 1;
  }
};

/// How much of op(A) the sampled kernel in `desc` would read, without computing a product.
///
/// The result depends only on kernel, width, transpose_a and the row lengths, so it is the same for
/// any B and semiring. Deterministic. Places: any; for a device the call copies the offsets and
/// waits. Cost: O(rows + distinct lengths · width), and a transpose if one is needed. Throws error:
/// unknown_kernel, range (width), cannot (no sampled kernel is named), out_of_memory.
/// @code
/// const auto report = rig::sampling_report(A, {.kernel = "adaptive", .width = 64});
/// std::puts(report.text().c_str());
/// @endcode
template <class T>
sampling_statistics sampling_report(const matrix<T>& a, const descriptor& desc);

/// The same for a pattern; `transpose_a` applies.
sampling_statistics sampling_report(const pattern& structure, const descriptor& desc);

template <class T>
sampling_statistics sampling_report(const matrix<T>& a, const descriptor& desc) {
  return sampling_report(a.structure(), desc);
}

}  // namespace rig
