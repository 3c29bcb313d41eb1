#pragma once

/// @file
/// Ranks of MPI whose data on devices goes by NCCL: `mpi_communicator` of both. It is compiled in
/// the user's program, which links MPI, NCCL and CUDA's runtime.

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "rig/distributed/mpi.hpp"
#include "rig/distributed/nccl.hpp"

namespace rig {

/// @cond internal
namespace over_mpi_and_nccl {

/// The same ranks of both.
struct participant {
  over_mpi::duplicate by_mpi;
  over_nccl::participant by_nccl;
};

/// NCCL votes on its room for all ranks, so they first agree on whether it is used.
inline void exchange(void* state, std::span<const message> sends, std::span<const message> receives,
                     void* stream) {
  participant& of = *static_cast<participant*>(state);
  const auto is_there = [](const message& m) { return m.bytes > 0 && over_nccl::is_on_device(m); };
  const bool here = std::ranges::any_of(sends, is_there) || std::ranges::any_of(receives, is_there);
  if (over_mpi::all_reduce(&of.by_mpi, here, joining::greatest) != 0)
    over_nccl::exchange(&of.by_nccl, sends, receives, stream);
  else
    over_mpi::exchange(&of.by_mpi, sends, receives, stream);
}
inline int64 all_reduce(void* state, int64 number, joining how) {
  return over_mpi::all_reduce(&static_cast<participant*>(state)->by_mpi, number, how);
}
inline void barrier(void* state) { over_mpi::barrier(&static_cast<participant*>(state)->by_mpi); }

inline constexpr communicator::functions calls = {exchange, all_reduce, barrier, true};

}  // namespace over_mpi_and_nccl
/// @endcond

/// The ranks of an MPI communicator, which is duplicated; bytes on devices go by NCCL.
///
/// Both communicators give each process the same rank. An exchange in which no rank has bytes on a
/// device goes by MPI, as do reductions. Everything else is as for `mpi_communicator` of MPI alone
/// and for `nccl_communicator`. Collective. Throws error: cannot, with MPI's or NCCL's text; shape,
/// if the ranks differ; device; place; out_of_memory.
/// @code
/// const rig::communicator ranks = rig::mpi_communicator(MPI_COMM_WORLD, by_nccl);
/// @endcode
inline communicator mpi_communicator(MPI_Comm of, ncclComm_t data, cudaStream_t stream = nullptr) {
  return or_out_of_memory("mpi_communicator", [&] {
    auto made = std::shared_ptr<over_mpi_and_nccl::participant>(
        new over_mpi_and_nccl::participant{over_mpi::duplicate(of), {data, stream}});
    int rank = 0, size = 0, rank_there = 0, size_there = 0;
    over_mpi::check(MPI_Comm_rank(of, &rank), "MPI_Comm_rank");
    over_mpi::check(MPI_Comm_size(of, &size), "MPI_Comm_size");
    over_nccl::check(ncclCommUserRank(data, &rank_there), "ncclCommUserRank", data);
    over_nccl::check(ncclCommCount(data, &size_there), "ncclCommCount", data);
    if (rank != rank_there || size != size_there)
      fail(errc::shape, {"mpi_communicator: MPI has this process as rank ", rank, " of ", size,
                         ", NCCL as rank ", rank_there, " of ", size_there,
                         "; make NCCL's communicator with MPI's rank and size"});
    return communicator(rank, size, over_mpi_and_nccl::calls, std::move(made));
  });
}

}  // namespace rig
