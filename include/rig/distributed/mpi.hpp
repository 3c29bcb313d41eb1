#pragma once

/// @file
/// Ranks of MPI: `mpi_communicator`. It is compiled in the user's program, with MPI's compiler or
/// flags; librig does not link MPI.

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rig/communicator.hpp"
#include "rig/error.hpp"

namespace rig {

/// @cond internal
namespace over_mpi {

inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(errc::cannot, {call, ": ", std::string(text, static_cast<std::size_t>(length))});
}

/// A duplicate of the caller's communicator, so that their messages do not meet.
struct duplicate {
  MPI_Comm ranks = MPI_COMM_NULL;
  /// Has room for two messages with each rank, so that a call in which one rank fails is rare.
  std::vector<MPI_Request> started;

  explicit duplicate(MPI_Comm of) {
    int size = 0;
    check(MPI_Comm_size(of, &size), "MPI_Comm_size");
    started.reserve(2 * static_cast<std::size_t>(size));
    check(MPI_Comm_dup(of, &ranks), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
  }
  duplicate(const duplicate&) = delete;
  ~duplicate() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over == 0) MPI_Comm_free(&ranks);
  }
};

/// Starts each message by `start`, in parts whose bytes an int counts.
template <class Start>
void start_parts(std::span<const message> messages, std::vector<MPI_Request>& started,
                 Start start) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (const message& m : messages)
    for (std::size_t done = 0; done < m.bytes; done += most) {
      started.push_back(MPI_REQUEST_NULL);
      start(static_cast<char*>(m.data) + done, static_cast<int>(std::min(most, m.bytes - done)),
            m.rank, &started.back());
    }
}

inline void exchange(void* state, std::span<const message> sends, std::span<const message> receives,
                     void*) {
  const MPI_Comm ranks = static_cast<duplicate*>(state)->ranks;
  std::vector<MPI_Request>& started = static_cast<duplicate*>(state)->started;
  started.clear();
  start_parts(receives, started, [&](void* data, int bytes, int rank, MPI_Request* request) {
    check(MPI_Irecv(data, bytes, MPI_BYTE, rank, 0, ranks, request), "MPI_Irecv");
  });
  start_parts(sends, started, [&](void* data, int bytes, int rank, MPI_Request* request) {
    check(MPI_Isend(data, bytes, MPI_BYTE, rank, 0, ranks, request), "MPI_Isend");
  });
  check(MPI_Waitall(static_cast<int>(started.size()), started.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

inline int64 all_reduce(void* state, int64 number, joining how) {
  static_assert(sizeof(int64) == sizeof(long long));
  const MPI_Op by = how == joining::sum ? MPI_SUM : how == joining::least ? MPI_MIN : MPI_MAX;
  long long given = number, joined = 0;
  check(MPI_Allreduce(&given, &joined, 1, MPI_LONG_LONG, by, static_cast<duplicate*>(state)->ranks),
        "MPI_Allreduce");
  return joined;
}

inline void barrier(void* state) {
  check(MPI_Barrier(static_cast<duplicate*>(state)->ranks), "MPI_Barrier");
}

inline constexpr communicator::functions calls = {exchange, all_reduce, barrier};

}  // namespace over_mpi
/// @endcond

/// The ranks of an MPI communicator, which is duplicated.
///
/// The caller calls MPI_Init before, and MPI_Finalize after the last use. MPI's calls are made by
/// the calling thread: MPI_THREAD_FUNNELED is enough. Collective. Throws error: cannot, with MPI's
/// text; out_of_memory.
/// @code
/// MPI_Init(&argc, &argv);
/// const rig::communicator ranks = rig::mpi_communicator(MPI_COMM_WORLD);
/// @endcode
inline communicator mpi_communicator(MPI_Comm of) {
  return or_out_of_memory("mpi_communicator", [&] {
    if (of == MPI_COMM_NULL)  // which MPI answers by an abort
      fail(errc::cannot,
           {"mpi_communicator: the communicator is MPI_COMM_NULL; give one of ranks"});
    auto made = std::make_shared<over_mpi::duplicate>(of);
    int rank = 0, size = 0;
    over_mpi::check(MPI_Comm_rank(made->ranks, &rank), "MPI_Comm_rank");
    over_mpi::check(MPI_Comm_size(made->ranks, &size), "MPI_Comm_size");
    return communicator(rank, size, over_mpi::calls, std::move(made));
  });
}

}  // namespace rig
