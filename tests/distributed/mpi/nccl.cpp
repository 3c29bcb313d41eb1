// Ranks of MPI whose bytes on devices go by NCCL: the bits of one rank, an error of one rank on
// all, and bytes and products from device to device. Run by mpirun; skipped where the devices take
// fewer ranks.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#include "distributed/nccl_ranks.hpp"
#include "distributed/product_cases.hpp"
#include "rig/distributed/mpi_nccl.hpp"

unsigned long test_seed() { return 20250607; }

namespace {

using namespace ranks;

template <class S>
bool is_right(const rig::communicator& here, const rig::matrix<float>& a, int kind) {
  const auto rows = layout_of(a.structure(), here.size(), kind, 3);
  const std::string wrong =
      compare<S>(here, a, random_dense<float>(a.columns(), 32, 5), rows, rows);
  if (!wrong.empty()) std::printf("rank %d: %s\n", here.rank(), wrong.c_str());
  return wrong.empty();
}

/// A ring: each rank's bytes arrive at the next one's device.
bool passes_on(const rig::communicator& here) {
  constexpr std::size_t bytes = (std::size_t{1} << 20) + 3;
  const int next = (here.rank() + 1) % here.size(),
            before = (here.rank() + here.size() - 1) % here.size();
  const rig::place device = rig::cuda(nccl_ranks::device_of(here.rank()));
  const auto out = rig::buffer::allocate(bytes, device), in = rig::buffer::allocate(bytes, device);
  cudaMemset(out.data(), here.rank() + 1, bytes);
  cudaDeviceSynchronize();
  const rig::message send{next, out.data(), bytes}, receive{before, in.data(), bytes};
  here.exchange({&send, 1}, {&receive, 1});
  cudaDeviceSynchronize();
  const auto got = in.to(rig::cpu());
  for (std::size_t k = 0; k < bytes; ++k)
    if (got.data<unsigned char>()[k] != before + 1) return false;
  return true;
}

/// All ranks get the last rank's error, and go on.
bool fails_together(const rig::communicator& here, const rig::matrix<float>& a) {
  try {
    rig::over_ranks::agree(here, "test", [&] {
      if (here.rank() == here.size() - 1) rig::fail(rig::errc::range, {"of the last"});
    });
  } catch (const rig::error& cause) {
    return std::string(cause.what()).find("of the last") != std::string::npos &&
           is_right<rig::max_second<float>>(here, a, 0);
  }
  return false;
}

bool run(ncclComm_t devices) {
  const rig::communicator here = rig::mpi_communicator(MPI_COMM_WORLD, devices);
  const auto a = random_matrix<float>(497, 497, 20, 1);
  bool right = is_right<rig::plus_times<float>>(here, a, 0);
  right &= is_right<damped>(here, a, 1);
  right &= passes_on(here);
  right &= nccl_ranks::multiplies_on_devices<rig::plus_times<float>>(
      here, a, random_dense<float>(a.columns(), 32, 5),
      layout_of(a.structure(), here.size(), 0, 3));
  right &= fails_together(here, a);
  return here.all_reduce(right, rig::joining::least) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, code = 77;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (nccl_ranks::greatest_size() < size) {
    if (rank == 0)
      std::printf("SKIPPED: %d CUDA devices here, this needs %d or NCCL_MULTI_RANK_GPU_ENABLE=1\n",
                  nccl_ranks::devices(), size);
  } else {
    ncclUniqueId id;
    ncclComm_t of = nullptr;
    if (rank == 0) ncclGetUniqueId(&id);
    MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
    code = cudaSetDevice(nccl_ranks::device_of(rank)) == cudaSuccess &&
                   ncclCommInitRank(&of, size, id, rank) == ncclSuccess && run(of)
               ? 0
               : 1;
    ncclCommDestroy(of);
  }
  MPI_Finalize();
  return code;
}
