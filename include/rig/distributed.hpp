#pragma once

/// @file
/// Matrices, dense matrices and their products over ranks: everything that is `distributed`.
///
/// The ranks come from `loopback`, from MPI by `rig/distributed/mpi.hpp`, or from NCCL by
/// `rig/distributed/nccl.hpp`. Every call that takes something distributed is collective: all ranks
/// make the same calls in the same order.

#include "rig/communicator.hpp"
#include "rig/distributed_algorithms.hpp"
#include "rig/distributed_closure.hpp"
#include "rig/distributed_dense.hpp"
#include "rig/distributed_io.hpp"
#include "rig/distributed_matrix.hpp"
#include "rig/distributed_mxm.hpp"
#include "rig/distributed_mxv.hpp"
#include "rig/distributed_rows.hpp"
#include "rig/distributed_sparse_mxm.hpp"
#include "rig/layout.hpp"
