// Two layers of a graph convolutional network over the ranks of MPI:
//   mpirun -n 4 build/examples/gcn_ranks rmat:12:16
// Each rank has some rows of the graph and of the features. The scores have the bits of one rank.

#include <cstdio>
#include <cstring>
#include <string>

#include "rig/distributed.hpp"
#include "rig/distributed/mpi.hpp"
#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::dense;
using rig::index;

/// Numbers that every rank makes alike.
dense<float> numbers(index rows, index columns, int seed) {
  dense<float> made(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j)
      made(i, j) = static_cast<float>((i * 31 + j * 17 + seed) % 23 - 11) / 32;
  return made;
}

/// max(H · W, 0), row by row: a rank needs no other rank's rows for it.
dense<float> update(const dense<float>& h, const dense<float>& w) {
  dense<float> out(h.rows(), w.columns());
  for (index i = 0; i < h.rows(); ++i) {
    const auto to = out.row(i);
    for (index k = 0; k < w.rows(); ++k)
      for (index j = 0; j < w.columns(); ++j) to[static_cast<std::size_t>(j)] += h(i, k) * w(k, j);
    for (float& x : to) x = x > 0 ? x : 0;
  }
  return out;
}

/// Prints what moves, and whether the scores are those of one rank. Collective.
bool run(const rig::communicator& ranks, const std::string& recipe) {
  const auto s = rig::plus_times<float>();
  const auto graph = rig::gcn_normalise(rig::generate::from_text(recipe).with_value(1.0f));
  const auto x = numbers(graph.rows(), 32, 1), w1 = numbers(32, 16, 2), w2 = numbers(16, 4, 3);

  const auto rows = rig::layout::by_entries(graph.structure(), ranks.size());
  const auto a = rig::distributed<rig::matrix<float>>::from_whole(ranks, graph, rows);
  auto h = rig::distributed<dense<float>>::from_whole(ranks, x, rows);
  const std::string why = rig::explain(a, h, s).text();
  for (const dense<float>* w : {&w1, &w2}) {
    const auto sums = rig::mxm(a, h, s);
    h = rig::distributed<dense<float>>::from_rows(ranks, update(sums.local(), *w), rows);
  }
  const dense<float> scores = h.gather();

  const dense<float> on_one = update(rig::mxm(graph, update(rig::mxm(graph, x, s), w1), s), w2);
  const bool is_same = std::memcmp(scores.data(), on_one.data(), scores.extent()) == 0;
  if (ranks.rank() == 0)
    std::printf("%s%d nodes, %d ranks: the scores %s those of one rank\n", why.c_str(),
                graph.rows(), ranks.size(), is_same ? "are" : "are not");
  return is_same;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  bool is_same = false;
  try {
    is_same = run(rig::mpi_communicator(MPI_COMM_WORLD), count > 1 ? arguments[1] : "karate");
  } catch (const rig::error& failed) {
    std::fprintf(stderr, "gcn_ranks: %s\n", failed.what());
  }
  MPI_Finalize();
  return is_same ? 0 : 1;
}
