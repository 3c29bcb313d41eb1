// The known answers of the data sets on a GPU.

#include "algorithms/known_answers.hpp"
#include "algorithms/known_matrices.hpp"
#include "gpu.hpp"

TEST_CASE("known answers of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("sddmm")) {
    CAPTURE(name);
    const checks::graph there = a.to(gpu);
    checks::check_products(there, expected);
    checks::check_algorithms(there, expected);
  }
}

TEST_CASE("known answers of the matrix sets") {
  for (const auto& set : data::sets("spmv", "matrix.mtx")) {
    CAPTURE(set.name);
    checks::check_matrix(rig::read_matrix<double>(set.file).to(gpu), set.answers);
  }
}
