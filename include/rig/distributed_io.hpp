#pragma once

/// @file
/// Files that become matrices over ranks: `read_matrix`.

#include <string>

#include "rig/communicator.hpp"
#include "rig/distributed_matrix.hpp"
#include "rig/io.hpp"

namespace rig {

/// Reads a sparse matrix over ranks, with about the same number of entries on each: the matrix that
/// `read_matrix` of one rank reads, from the same files, with the same options.
///
/// Each rank parses its share of the lines of an edge list or of a coordinate file, and the entries
/// go to the ranks that have their rows. Other files (gzip, .npz, arrays, pipes) and files that are
/// symmetrised are read by each rank as a whole, and so is a file that is refused. Collective.
/// Cost: a share of the time and memory of one rank, and 40 bytes a row; as a whole, those of one
/// rank. Throws error on all ranks: as `read_matrix`, with the same text after the rank's number.
/// @code
/// const auto part = rig::read_matrix<float>(ranks, "graph.mtx");
/// @endcode
template <class T>
distributed<matrix<T>> read_matrix(const communicator& ranks, const std::string& path,
                                   const read_options& options = {});
/// @cond internal
template <class T>
requires(!is_in_files<T>) distributed<matrix<T>> read_matrix(const communicator& ranks,
                                                             const std::string&,
                                                             const read_options& = {}) {
  refuse_in_files<T>();
  return distributed<matrix<T>>::from_rows(ranks, {}, layout::contiguous(ranks, 0));
}
/// @endcond

}  // namespace rig
