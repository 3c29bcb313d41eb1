// Ranks of MPI: the bits of one rank, and an error of one rank on all of them. Run by mpirun; each
// rank returns 0 if it finds nothing wrong.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "distributed/product_cases.hpp"
#include "rig/distributed/mpi.hpp"

unsigned long test_seed() { return 20250607; }

namespace {

using namespace ranks;
using rig::index;

/// One layout and width for each semiring: MPICH's ranks take turns on the cores, so a call costs
/// many milliseconds.
template <class S>
bool is_right(const rig::communicator& here, const rig::matrix<float>& a, int kind,
              index features) {
  const auto rows = layout_of(a.structure(), here.size(), kind, 3);
  const auto x = random_dense<float>(a.columns(), features, 5);
  const std::string wrong = compare<S>(here, a, x, rows, rows);
  if (!wrong.empty())
    std::printf("%s, rank %d: %s\n", words_of(S::name, here.size(), kind, features).c_str(),
                here.rank(), wrong.c_str());
  return wrong.empty();
}

/// Whether all ranks get the last rank's error, with its text and within a second.
bool fails_together(const rig::communicator& here, const rig::matrix<float>& a) {
  const auto rows = rig::layout::by_entries(a.structure(), here.size());
  const auto part = rig::distributed<rig::matrix<float>>::from_whole(here, a, rows);
  const auto x = random_dense<float>(a.columns(), 3, 5);
  const auto of_x = rig::distributed<rig::dense<float>>::from_whole(here, x, rows);
  rig::descriptor desc;
  if (here.rank() == here.size() - 1) desc.kernel = "sell";
  const std::string start = "mxm: rank " + std::to_string(here.size() - 1) + " of " +
                            std::to_string(here.size()) + ": kernel 'sell'";
  here.barrier();
  const auto began = std::chrono::steady_clock::now();
  try {
    rig::mxm(part, of_x, rig::plus_times<float>(), desc);
  } catch (const rig::error& cause) {
    return std::string_view(cause.what()).starts_with(start) &&
           std::chrono::steady_clock::now() - began < std::chrono::seconds(20);  // a second if idle
  }
  return false;
}

/// The bits of one rank: of a transposed product, of a sparse one, of levels and labels, and of
/// what a file holds.
bool are_right(const rig::communicator& here, const rig::matrix<float>& a) {
  const rig::descriptor turned = {.transpose_a = true, .threads = 1};
  const auto rows = layout_of(a.structure(), here.size(), 1, 4);
  const auto part = rig::distributed<rig::matrix<float>>::from_whole(here, a, rows);
  const auto x = random_dense<float>(a.columns(), 3, 5);
  const auto of_x = rig::distributed<rig::dense<float>>::from_whole(here, x, rows);
  const auto sums = rig::plus_times<float>();
  bool right = same_bits(rig::mxm(part, of_x, sums, turned).gather(), rig::mxm(a, x, sums, turned));
  const auto pairs = rig::mxm(part, part, sums, rig::structure(part), {.threads = 1});
  right &= pairs.local() == rig::distributed<rig::matrix<float>>::from_whole(
                                here, rig::mxm(a, a, sums, rig::structure(a), {.threads = 1}), rows)
                                .local();
  right &= same_bits(rig::bfs(part, 0).levels.gather(), rig::bfs(a, 0).levels);
  right &= same_bits(rig::components(part).labels.gather(), rig::components(a).labels);
  // The first rank's process names the file.
  const auto process = here.all_reduce(here.rank() == 0 ? getpid() : 0, rig::joining::sum);
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("rig_ranks_" + std::to_string(process) + ".mtx");
  if (here.rank() == 0) rig::write_matrix(path, a);
  here.barrier();
  const auto read = rig::read_matrix<float>(here, path);
  right &= read.local() ==
           rig::distributed<rig::matrix<float>>::from_whole(here, a, read.layout()).local();
  here.barrier();
  if (here.rank() == 0) std::filesystem::remove(path);
  if (!right) std::printf("rank %d: another result\n", here.rank());
  return right;
}

bool run() {
  const rig::communicator here = rig::mpi_communicator(MPI_COMM_WORLD);
  const auto square = random_matrix<float>(97, 97, 20, 1);
  bool right = is_right<rig::plus_times<float>>(here, square, 0, 128);
  right &= is_right<rig::arg_max_second<float>>(here, square, 1, 3);
  right &= is_right<damped>(here, square, 1, 32);
  right &= is_right<weighted_by_place>(here, random_matrix<float>(3, 3, 2, 2), 0, 1);
  right &= fails_together(here, square);
  // After an error the ranks go on together.
  right &= is_right<rig::max_second<float>>(here, square, 0, 1);
  right &= are_right(here, square);
  return here.all_reduce(right, rig::joining::least) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool is_right = run();
  MPI_Finalize();
  return is_right ? 0 : 1;
}
