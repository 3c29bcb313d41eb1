#pragma once

#include <memory>
#include <string>

#include "rig/dense.hpp"
#include "rig/matrix.hpp"

/// oneMKL's inspector-executor routines as a peer. Its headers stay in onemkl.cpp.
namespace bench::onemkl {

/// The library's version; empty if the benchmark was built without it.
std::string name();

/// C = A·B by mkl_sparse_?_mm, or by mkl_sparse_?_mv of one column, which may run repeatedly. Its
/// constructor gives the hints and optimises. A must have 32-bit offsets; T is float or double.
template <class T>
class product {
 public:
  product(const rig::matrix<T>& a, const rig::dense<T>& b, int threads);
  ~product();
  void run();
  /// The C of the last run.
  const rig::dense<T>& result() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// C = A·A by mkl_sparse_spmm into a new C, which may run repeatedly.
class sparse_product {
 public:
  sparse_product(const rig::matrix<float>& a, int threads);
  ~sparse_product();
  void run();
  /// The entries of the last product.
  rig::int64 nnz() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

extern template class product<float>;
extern template class product<double>;

}  // namespace bench::onemkl
