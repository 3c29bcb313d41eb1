#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rig/dense.hpp"
#include "rig/matrix.hpp"

/// SuiteSparse:GraphBLAS as a peer. Its header stays in graphblas.cpp.
namespace bench::graphblas {

/// Starts the library, or sets its number of threads.
void start(int threads);

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

/// One product over plus_times, which may run repeatedly.
class product {
 public:
  product(const rig::matrix<float>& a, const rig::dense<float>& b, form how);
  ~product();
  void run();
  /// The product of one run, which empties C first.
  rig::dense<float> result();

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
