#pragma once

/// @file
/// Graphs for measurements and examples: the namespace `rig::generate`.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rig/matrix.hpp"

/// Graphs for measurements and examples. All are determined by their arguments. Random graphs draw
/// every edge by its own number, so the thread count changes nothing. All are undirected (both
/// directions stored), without loops and duplicates, and are iso matrices of ones.
/// Peak memory: about 16 bytes per drawn edge.
namespace rig::generate {

/// Zachary's karate club: 34 members, 78 friendships. Source: Zachary, J. Anthropological Research
/// 33, 1977.
/// @code
/// const auto club = rig::generate::karate();
/// std::printf("%d nodes, %ld entries\n", club.rows(), club.nnz());  // 34 nodes, 156 entries
/// @endcode
matrix<float> karate();

/// A power-law graph of 2^scale nodes. It draws edge_factor · 2^scale edges by recursive quadrants
/// with probabilities .57, .19, .19, .05. Loops are dropped, duplicates merged, and nodes keep
/// their order. Throws error: range, out_of_memory. Source: Chakrabarti et al., R-MAT, SDM 2004,
/// with the parameters of Graph500.
/// @code
/// const auto graph = rig::generate::rmat(10, 8);
/// const auto other = rig::generate::rmat(10, 8, 2);
/// @endcode
matrix<float> rmat(checked_index scale, checked_index edge_factor, std::uint64_t seed = 1);

/// A graph of n nodes with mean degree `degree`: n · degree / 2 edges, both ends uniform. Throws
/// error: range, out_of_memory.
/// @code
/// const auto graph = rig::generate::uniform(1000, 8);
/// @endcode
matrix<float> uniform(checked_index n, double degree, std::uint64_t seed = 1);

/// The rows×columns grid; node (r, c) has number r · columns + c. The given shares of its
/// horizontal and vertical edges are missing, at random. Shares of 1/16 and 1/4 resemble a road
/// network. Throws error: range, out_of_memory.
/// @code
/// const auto whole = rig::generate::grid(30, 40);
/// const auto roads = rig::generate::grid(30, 40, 1. / 16, 1. / 4);
/// @endcode
matrix<float> grid(checked_index rows, checked_index columns, double missing_horizontal = 0,
                   double missing_vertical = 0, std::uint64_t seed = 1);

/// Complete subgraphs of `size` consecutive nodes each; the last one takes the nodes that remain.
/// Throws error: range, out_of_memory.
/// @code
/// const auto graph = rig::generate::cliques(96, 32);  // nodes 0 to 31, 32 to 63 and 64 to 95
/// @endcode
matrix<float> cliques(checked_index n, checked_index size);

/// Nodes i ≠ j have an edge if |i - j| ≤ half. Throws error: range, out_of_memory.
/// @code
/// const auto path = rig::generate::banded(100, 1);
/// @endcode
matrix<float> banded(checked_index n, checked_index half);

/// The parameters of `community`.
struct community_shape {
  checked_option<"n"> n = 0;  ///< nodes
  double mean = 0;            ///< mean degree, before duplicates are merged, for oversample 1
  checked_option<"blocks"> blocks =
      1;  ///< communities, contiguous in the numbering, relative sizes uniform in 0.5 … 2
  double mixing = 0;      ///< share of edges whose second end is drawn from all nodes
  double gamma = 3;       ///< node weights are Pareto with density x^-gamma, x ≥ 1, gamma > 2
  double max_degree = 0;  ///< cap of the weights, after they are scaled to the mean degree
  double oversample =
      1;  ///< n · mean · oversample / 2 edges are drawn, to offset loops and duplicates
};

/// A degree-corrected stochastic block model. The first end of an edge is drawn by weight. The
/// second is drawn by weight within the same block, or, with probability `mixing`, among all nodes.
/// Throws error: range, out_of_memory. Source: Karrer & Newman, Physical Review E 83, 2011.
/// @code
/// const auto graph = rig::generate::community(
///     {.n = 1000, .mean = 10, .blocks = 4, .mixing = 0.1, .max_degree = 100});
/// @endcode
matrix<float> community(const community_shape& shape, std::uint64_t seed = 1);

/// The block of each node of `community` with the same arguments. Throws as `community`.
/// @code
/// const rig::generate::community_shape shape{.n = 100, .mean = 5, .blocks = 4, .max_degree = 9};
/// const auto classes = rig::generate::community_blocks(shape);
/// @endcode
std::vector<index> community_blocks(const community_shape& shape, std::uint64_t seed = 1);

/// The same graph with its nodes renumbered at random, as an iso matrix of ones with both
/// directions of each edge.
///
/// Shapes: A n×n. Places: cpu. Throws error: shape, range, out_of_memory.
/// @code
/// const auto graph = rig::generate::shuffled(rig::generate::karate());
/// @endcode
matrix<float> shuffled(const matrix<float>& a, std::uint64_t seed = 1);

/// The same pattern with random values in (0, 1]. A value is a hash of the unordered pair of nodes,
/// so both directions of an edge have one value. The result shares the pattern and its derived
/// structures. Places: cpu. Throws error(out_of_memory).
/// @code
/// const auto weighted = rig::generate::random_values(rig::generate::karate());
/// @endcode
matrix<float> random_values(const matrix<float>& a, std::uint64_t seed = 1);

/// A benchmark graph with its expected size and degrees.
struct named_graph {
  const char* name;              ///< the name, for `named`
  int64 nnz;                     ///< to about 1 %
  std::array<int64, 5> degrees;  ///< as `degree_quantiles` returns them; each to a few per cent
  matrix<float> (*make)();       ///< generates the graph
};

/// The benchmark graphs: synthetic graphs with the shapes of well-known data sets.
/// @code
/// for (const auto& graph : rig::generate::named_graphs())
///   std::printf("%s: %ld entries\n", graph.name, graph.nnz);
/// @endcode
std::span<const named_graph> named_graphs();

/// A benchmark graph that `community` makes, with the arguments.
struct named_community {
  const char* name;       ///< the name, for `community_of`
  community_shape shape;  ///< the first argument
  std::uint64_t seed;     ///< the second
};

/// The arguments of `community` for the benchmark graph of this name. Throws error(format) if there
/// is none, or if it has no communities.
/// @code
/// const auto& reddit = rig::generate::community_of("reddit-like");
/// std::cout << reddit.shape.blocks << " communities\n";  // 41 communities
/// @endcode
const named_community& community_of(std::string_view name);

/// The benchmark graph of this name. Throws error: format, which lists the names, if there is none;
/// out_of_memory.
/// @code
/// const auto graph = rig::generate::named("pubmed-like");
/// @endcode
matrix<float> named(std::string_view name);

/// The graph that `text` describes: "karate", "rmat:SCALE:EDGEFACTOR", "uniform:N:DEGREE",
/// "grid:ROWS:COLS", "cliques:N:SIZE", "banded:N:HALF", or the name of a benchmark graph. Throws
/// error: format, which names the text; range, out_of_memory.
/// @code
/// const auto graph = rig::generate::from_text("rmat:10:8");
/// @endcode
matrix<float> from_text(std::string_view text);

/// Minimum, median, 90 % and 99 % quantiles, and maximum of the row lengths; zeros for a matrix
/// without rows. Places: cpu. Cost: O(rows · log rows). Throws error(out_of_memory).
/// @code
/// const auto degrees = rig::generate::degree_quantiles(A.structure());
/// std::printf("median %ld, longest %ld\n", degrees[1], degrees[4]);
/// @endcode
std::array<int64, 5> degree_quantiles(const pattern& structure);

}  // namespace rig::generate
