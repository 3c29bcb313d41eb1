#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "rig/matrix.hpp"

/// Graphs for measurements and examples. All except `karate` are random and determined by their
/// arguments: every edge draws by its own number, so the thread count changes nothing. All are
/// undirected (both directions stored), without loops and duplicates, and are iso matrices of ones.
/// Peak memory: about 16 bytes per drawn edge.
namespace rig::generate {

/// Zachary's karate club: 34 members, 78 friendships. Source: Zachary, J. Anthropological Research
/// 33, 1977.
matrix<float> karate();

/// A power-law graph of 2^scale nodes. It draws edge_factor · 2^scale edges by recursive quadrants
/// with probabilities .57, .19, .19, .05. Loops are dropped, duplicates merged, and nodes keep
/// their order. Throws error: range, out_of_memory. Source: Chakrabarti et al., R-MAT, SDM 2004,
/// with the parameters of Graph500.
matrix<float> rmat(int scale, int edge_factor, std::uint64_t seed = 1);

/// A graph of n nodes with mean degree `degree`: n · degree / 2 edges, both ends uniform. Throws
/// error: range, out_of_memory.
matrix<float> uniform(index n, double degree, std::uint64_t seed = 1);

/// The rows×columns grid; node (r, c) has number r · columns + c. The given shares of its
/// horizontal and vertical edges are missing, at random. Shares of 1/16 and 1/4 resemble a road
/// network. Throws error: range, out_of_memory.
matrix<float> grid(index rows, index columns, double missing_horizontal = 0,
                   double missing_vertical = 0, std::uint64_t seed = 1);

/// The parameters of `community`.
struct community_shape {
  index n = 0;
  double mean = 0;  ///< mean degree, before duplicates are merged, for oversample 1
  int blocks = 1;  ///< communities, contiguous in the numbering, relative sizes uniform in 0.5 … 2
  double mixing = 0;      ///< share of edges whose second end is drawn from all nodes
  double gamma = 3;       ///< node weights are Pareto with density x^-gamma, x ≥ 1, gamma > 2
  double max_degree = 0;  ///< cap of the weights, after they are scaled to the mean degree
  double oversample =
      1;  ///< n · mean · oversample / 2 edges are drawn, to offset loops and duplicates
};

/// A degree-corrected stochastic block model. The first end of an edge is drawn by weight. The
/// second is drawn by weight within the same block, or, with probability `mixing`, among all nodes.
/// Throws error: range, out_of_memory. Source: Karrer & Newman, Physical Review E 83, 2011.
matrix<float> community(const community_shape& shape, std::uint64_t seed = 1);

/// The same graph with its nodes renumbered at random.
matrix<float> shuffled(const matrix<float>& a, std::uint64_t seed = 1);

/// The same pattern with random values in (0, 1]. A value is a hash of the unordered pair of nodes,
/// so both directions of an edge have one value. The result shares the pattern and its derived
/// structures.
matrix<float> random_values(const matrix<float>& a, std::uint64_t seed = 1);

/// A benchmark graph with its expected size and degrees.
struct named_graph {
  const char* name;
  int64 nnz;                     ///< to about 1 %
  std::array<int64, 5> degrees;  ///< as `degree_quantiles` returns them; each to a few per cent
  matrix<float> (*make)();
};

/// The benchmark graphs: synthetic graphs with the shapes of well-known data sets.
std::span<const named_graph> named_graphs();

/// The benchmark graph of this name. Throws error(format), which lists the names, if there is none.
matrix<float> named(std::string_view name);

/// The graph that `text` describes: "karate", "rmat:SCALE:EDGEFACTOR", "uniform:N:DEGREE",
/// "grid:ROWS:COLS", or the name of a benchmark graph. Throws error(format) that names the text.
matrix<float> from_text(std::string_view text);

/// Minimum, median, 90 % and 99 % quantiles, and maximum of the row lengths; zeros for a matrix
/// without rows.
std::array<int64, 5> degree_quantiles(const pattern& structure);

}  // namespace rig::generate
