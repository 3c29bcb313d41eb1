#pragma once

// What products over ranks need without the type of a semiring: agreement, plans, exchanges.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/communicator.hpp"
#include "rig/error.hpp"
#include "rig/layout.hpp"
#include "rig/pattern.hpp"

namespace rig::over_ranks {

/// What each rank says before all go on: 0 or 1. After `conclude`, the number of ranks that said 1.
struct votes {
  int64 lacking = 0;   ///< this rank lacks the plan
  int64 features = 0;  ///< this rank exchanges by `exchange::features`
};

/// Why a rank cannot go on.
struct failure {
  errc code;
  std::string text;
};

/// Joins the ranks' votes. If a rank failed, throws its error on all of them. Collective.
votes conclude(const communicator& ranks, const char* name, const failure* here, votes said = {});

/// Runs work, which makes no collective call, and concludes. Collective.
template <class Work>
votes agree(const communicator& ranks, const char* name, Work&& work, votes said = {}) {
  failure here{errc::cannot, "an exception without a text"};
  const failure* failed = &here;
  try {
    work();
    failed = nullptr;
  } catch (const error& cause) {
    here = {cause.code(), cause.what()};
  } catch (const std::bad_alloc&) {
    here = {errc::out_of_memory, "out of memory"};
  } catch (const std::exception& cause) {
    here = {errc::cannot, cause.what()};
  } catch (...) {
  }
  return conclude(ranks, name, failed, said);
}

/// Throws on all ranks if their numbers differ. Collective.
void require_equal(const communicator& ranks, const char* name, const char* what, int64 number);

/// Rows of X that a rank sends to, and receives from, another rank or has itself.
struct fetch_pair {
  int rank;
  std::vector<index> sent;      ///< as rows of this rank's part of X
  std::vector<index> received;  ///< as rows of the fetched X
};

/// Which rows of X go where, and this rank's rows of A with the columns that are fetched.
struct fetch_plan {
  std::shared_ptr<const pattern> local;     ///< columns are renumbered, and ascend as before
  std::shared_ptr<const pattern> original;  ///< has the offsets of `local`
  std::vector<index> columns;               ///< the whole matrix's number of each column
  std::vector<fetch_pair> pairs;            ///< one for each rank, this one among them

  /// Bytes that the plan takes.
  std::size_t bytes() const;
};
std::shared_ptr<const fetch_plan> make_fetch_plan(const communicator& ranks, const char* name,
                                                  std::shared_ptr<const pattern> rows_here,
                                                  const layout& of_x);

/// One fetch of rows of X.
struct fetch {
  buffer x, sent, staged;
  std::vector<message> sends, receives;
};
fetch start_fetch(const fetch_plan& plan, int rank, const void* x, std::size_t stride,
                  std::size_t row_bytes);
/// After the exchange: puts staged rows in their places.
void finish_fetch(const fetch_plan& plan, fetch& of, int rank, std::size_t row_bytes);

/// The columns of X of rank `rank` begin here, if X is distributed by features.
index first_feature(index columns, int rank, int ranks);

/// Elements of a dense, some rows of all columns or some columns of all rows.
struct elements {
  const void* data;
  std::size_t stride, bytes_each;  ///< in bytes
  index columns;                   ///< of the whole dense
};
/// Changes the distribution. `make` allocates this rank's part of the result, whose rows are
/// packed. Collective.
void rows_to_features(const communicator& ranks, const layout& rows, const elements& from,
                      const std::function<void*()>& make);
void features_to_rows(const communicator& ranks, const layout& rows, const elements& from,
                      const std::function<void*()>& make);
/// All rows on each rank. Collective.
void gather_rows(const communicator& ranks, const layout& rows, const elements& from,
                 const std::function<void*()>& make);

/// The pattern of the whole matrix, from each rank's rows. Collective.
std::shared_ptr<const pattern> gather_pattern(const communicator& ranks, const layout& rows,
                                              const pattern& rows_here);

/// The values of a matrix without their type; of an iso matrix one value.
struct plain_values {
  bool is_iso;
  buffer values;
};
/// The values of the whole matrix. It is iso if all ranks with entries have one value. Collective.
plain_values gather_values(const communicator& ranks, const layout& rows, const pattern& whole,
                           int64 entries_here, std::size_t bytes_each, bool is_iso,
                           const void* values);

/// Numbers of each rank, rank by rank. Collective.
std::vector<int64> gather_numbers(const communicator& ranks, const char* name,
                                  const std::vector<int64>& here);

}  // namespace rig::over_ranks
