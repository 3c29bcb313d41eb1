#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "rig/dense.hpp"
#include "rig/matrix.hpp"

/// SuiteSparse:GraphBLAS as a peer. Its header stays in graphblas.cpp.
namespace bench::graphblas {

/// Starts the library, or sets its number of threads.
void start(int threads);
/// That number.
int threads();

/// "SuiteSparse:GraphBLAS 7.4.0"
std::string name();

/// The formats of C = A·B for GraphBLAS, which decide its method. The first three add into a full C
/// in place.
enum class form {
  rows,     ///< A, B and C by row (its method "saxpy5")
  columns,  ///< A, B and C by column ("saxpy4")
  dot,      ///< A by row, B and C by column ("dot4"); of one column, this is GrB_mxv
  fresh,    ///< A and B by row, into a new C
};

/// Sums of products, or the greatest elements of B.
enum class algebra { plus_times, max_second };

/// One product, which may run repeatedly.
class product {
 public:
  product(const rig::matrix<float>& a, const rig::dense<float>& b, form how,
          algebra over = algebra::plus_times);
  ~product();
  void run();
  /// The product of one run, which empties C first.
  rig::dense<float> result();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The forms of C⟨M⟩ = A·B with a sparse C. A, M and C are by row; M is structural.
enum class sparse_form {
  chosen,     ///< B by row, and GraphBLAS chooses the method
  gustavson,  ///< B by row, in a dense row of sums
  hash,       ///< B by row, in a hash table of sums
  dot,        ///< B by column, as the rows of Bᵀ
};

/// One product over plus_times into a new sparse matrix, which may run repeatedly.
class sparse_product {
 public:
  /// `mask`: null for a product without a mask.
  sparse_product(const rig::matrix<float>& a, const rig::matrix<float>& b,
                 const rig::matrix<float>* mask, sparse_form how);
  ~sparse_product();
  void run();
  /// The entries of the last product.
  rig::int64 nnz() const;
  /// The sum of its values.
  double sum() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The forms of a triangle count, which is the sum of a masked product over plus_pair. L and U are
/// the entries below and above the diagonal.
enum class triangle_form {
  lower_saxpy,  ///< L⟨L⟩ = L·L by rows
  lower_dot,    ///< L⟨L⟩ = L·Lᵀ by dot products
  lower_upper,  ///< L⟨L⟩ = L·Uᵀ by dot products, LAGraph's Sandia_LUT
  upper_lower,  ///< U⟨U⟩ = U·Lᵀ by dot products, LAGraph's Sandia_ULT
};

/// A triangle count in 64-bit integers as LAGraph's LAGr_TriangleCount, which may run repeatedly.
class triangles {
 public:
  triangles(const rig::matrix<float>& lower, const rig::matrix<float>& upper, triangle_form how);
  ~triangles();
  void run();
  rig::int64 count() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A triangle count of a symmetric graph as LAGraph's, with the preparation of its triangles.
class triangle_count {
 public:
  /// `sorts`: whether nodes are sorted by degree first. `is_upper`: U⟨U⟩ = U·Lᵀ, else L⟨L⟩ = L·Uᵀ.
  triangle_count(const rig::matrix<float>& symmetric, bool sorts, bool is_upper);
  ~triangle_count();
  void run();
  rig::int64 count() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A breadth-first search as LAGraph's LAGr_BreadthFirstSearch, which may run repeatedly.
class bfs {
 public:
  /// `pulls`: whether wide frontiers are searched from the nodes that are not reached yet.
  bfs(const rig::matrix<float>& graph, bool pulls, bool parents = false);
  ~bfs();
  void run(rig::index source);
  /// The level and the parent of each node; -1 for nodes that are not reached.
  std::vector<int> levels() const;
  std::vector<int> parents() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Shortest paths by delta-stepping as LAGraph's LAGr_SingleSourceShortestPath.
class sssp {
 public:
  static constexpr rig::int64 unreached = std::numeric_limits<rig::int64>::max() / 2;

  sssp(const rig::matrix<rig::int64>& weights, rig::int64 delta);
  ~sssp();
  void run(rig::index source);
  std::vector<rig::int64> distances() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Components of a symmetric graph by FastSV as LAGraph's LG_CC_FastSV6.
class components {
 public:
  /// `samples`: whether a few arcs of each node are joined first, then those outside the greatest
  /// tree. The graph must outlive the object.
  components(const rig::matrix<float>& graph, bool samples);
  ~components();
  void run();
  std::vector<int> labels() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Betweenness from some sources at once as LAGraph's LAGr_Betweenness.
class betweenness {
 public:
  explicit betweenness(const rig::matrix<float>& graph);
  ~betweenness();
  void run(std::span<const rig::index> sources);
  std::vector<double> sums() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// PageRank by LAGraph's LAGr_PageRank, for a given number of iterations; T is float or double.
template <class T>
class pagerank {
 public:
  pagerank(const rig::matrix<float>& graph, double damping, int iterations);
  ~pagerank();
  void run();
  std::vector<T> ranks() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

extern template class pagerank<float>;
extern template class pagerank<double>;

}  // namespace bench::graphblas
