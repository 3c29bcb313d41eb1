#include <cstdio>

#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

int main() {
  const auto A = rig::matrix<float>::from_positions(2, 2, std::vector{0, 1}, std::vector{1, 0});
  const auto C = rig::mxm(A, A, rig::plus_times<float>{});
  std::printf("%lld\n", static_cast<long long>(C.nnz()));
}
