// PageRank, a search, shortest paths and components of a file's graph over the ranks of MPI:
//   mpirun -n 4 build/examples/analytics_ranks graph.mtx
// Each rank reads its part of the file. Without a file the graph is made.

#include <cstdio>
#include <string>

#include "rig/distributed.hpp"
#include "rig/distributed/mpi.hpp"
#include "rig/generate.hpp"

namespace {

using graph = rig::distributed<rig::matrix<float>>;

graph read(const rig::communicator& ranks, int count, char** arguments) {
  if (count > 1) return rig::read_matrix<float>(ranks, arguments[1]);
  const auto whole = rig::generate::from_text("rmat:10:8").with_value(1.0f);
  return graph::from_whole(ranks, whole, rig::layout::by_entries(whole.structure(), ranks.size()));
}

/// The node with the greatest rank, in the numbers of the whole graph; the least of several.
rig::index first_of(const rig::distributed<rig::dense<double>>& of) {
  const rig::dense<double> all = of.gather();
  rig::index best = 0;
  for (rig::index i = 0; i < all.rows(); ++i)
    if (all(i, 0) > all(best, 0)) best = i;
  return best;
}

/// Prints on rank 0. Collective.
void run(const rig::communicator& ranks, const graph& a) {
  const auto walked = rig::pagerank(a);
  const rig::index first = first_of(walked.ranks);
  const auto levels = rig::bfs(a, first);
  const auto lengths = rig::sssp(a, first);
  const auto parts = rig::components(a);
  if (ranks.rank() != 0) return;
  std::printf("%d nodes, %ld entries, %d ranks\n", a.rows(), static_cast<long>(a.nnz()),
              ranks.size());
  std::printf("PageRank: %d iterations; node %d is first\n", walked.iterations, first);
  std::printf("search: %ld nodes in %d levels; %d rounds of shortest paths\n",
              static_cast<long>(levels.reached), levels.max_level + 1, lengths.steps);
  std::printf("components: %ld\n", static_cast<long>(parts.count));
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int status = 0;
  try {
    const rig::communicator ranks = rig::mpi_communicator(MPI_COMM_WORLD);
    run(ranks, read(ranks, count, arguments));
  } catch (const rig::error& failed) {
    std::fprintf(stderr, "analytics_ranks: %s\n", failed.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
