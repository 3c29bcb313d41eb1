#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "rig/matrix.hpp"

/// Graphs to measure and to learn on. All but `karate` are random, yet a function of their
/// arguments alone: every edge draws from its own number, so the thread count changes nothing. All
/// are undirected (both directions stored), without loops and duplicates, and come as iso matrices
/// of ones. Memory: about 16 bytes an edge drawn, at the peak.
namespace rig::generate {

/// Zachary's karate club: 34 members, 78 friendships. Source: Zachary, J. Anthropological Research
/// 33, 1977.
matrix<float> karate();

/// A power-law graph of 2^scale nodes, from edge_factor · 2^scale edges drawn by recursive
/// quadrants with probabilities .57, .19, .19, .05; loops dropped, duplicates merged, nodes left in
/// order. Throws error: range, out_of_memory. Source: Chakrabarti et al., R-MAT, SDM 2004, with the
/// numbers of Graph500.
matrix<float> rmat(int scale, int edge_factor, std::uint64_t seed = 1);

/// n nodes of mean degree `degree`: n · degree / 2 edges with both ends uniform. Throws error:
/// range, out_of_memory.
matrix<float> uniform(index n, double degree, std::uint64_t seed = 1);

/// The rows×columns grid, node (r, c) numbered r · columns + c; of its horizontal and vertical
/// edges, these shares are missing, at random. Shares of 1/16 and 1/4 look like a road network.
/// Throws error: range, out_of_memory.
matrix<float> grid(index rows, index columns, double missing_horizontal = 0,
                   double missing_vertical = 0, std::uint64_t seed = 1);

/// What `community` draws from.
struct community_shape {
  index n = 0;
  double mean = 0;  ///< mean degree, before duplicates are merged and with oversample 1
  int blocks = 1;  ///< communities, contiguous in the numbering, relative sizes uniform in 0.5 … 2
  double mixing = 0;      ///< share of edges whose second end is drawn from all nodes
  double gamma = 3;       ///< node weights are Pareto with density x^-gamma, x ≥ 1, gamma > 2
  double max_degree = 0;  ///< cap of the weights, once these are scaled to the mean degree
  double oversample =
      1;  ///< n · mean · oversample / 2 edges are drawn, to make up for loops and duplicates
};

/// A degree-corrected stochastic block model: the first end of an edge by weight, the second by
/// weight within the same block, or, with probability `mixing`, among all nodes. Throws error:
/// range, out_of_memory. Source: Karrer & Newman, Physical Review E 83, 2011.
matrix<float> community(const community_shape& shape, std::uint64_t seed = 1);

/// The same graph, its nodes numbered at random.
matrix<float> shuffled(const matrix<float>& a, std::uint64_t seed = 1);

/// The same pattern with random values in (0, 1]: a hash of the unordered pair of nodes, so that
/// both directions of an edge have one value. The pattern and its derived structures are shared.
matrix<float> random_values(const matrix<float>& a, std::uint64_t seed = 1);

/// A benchmark graph, with what it is known to look like.
struct named_graph {
  const char* name;
  int64 nnz;                     ///< to about 1 %
  std::array<int64, 5> degrees;  ///< as `degree_quantiles` gives them; each to some per cent
  matrix<float> (*make)();
};

/// The benchmark graphs: shapes of well-known data sets that can be made anywhere.
std::span<const named_graph> named_graphs();

/// The benchmark graph of this name. Throws error(format) that lists the names.
matrix<float> named(std::string_view name);

/// "karate", "rmat:SCALE:EDGEFACTOR", "uniform:N:DEGREE", "grid:ROWS:COLS", or the name of a
/// benchmark graph. Throws error(format) that names the text.
matrix<float> from_text(std::string_view text);

/// Minimum, median, 90 %, 99 % quantile and maximum of the row lengths; zeros for a matrix without
/// rows.
std::array<int64, 5> degree_quantiles(const pattern& structure);

}  // namespace rig::generate
