#pragma once

/// @file
/// Shortest paths from one node.

#include <functional>
#include <type_traits>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/elementwise.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// How `sssp` orders its work.
struct sssp_options {
  /// Nodes whose distances differ by less are relaxed together; 0: a multiple of the mean weight of
  /// a sample, in which outliers count little. A greater one makes fewer steps, which relax more
  /// arcs in vain.
  double delta = 0;
  /// Called after each step with its number, from 1 on, and the nodes that it brought nearer.
  std::function<void(int, int64)> progress = {};
};

/// What `sssp` finds. T is int64 or double.
template <class T>
struct sssp_result {
  dense<T> distances;  ///< n×1, where the graph lies; the greatest int64, or ∞: not reached
  int64 reached = 0;   ///< the number of nodes reached, with the source
  int steps = 0;       ///< how many rounds were made
};

/// The least sum of weights on a path from a source to each node: delta-stepping.
///
///   d(source) = 0,  d(j) = min_i d(i) + A(i,j) over arcs i → j
///
/// Shapes: A n×n; entry (i, j) is an arc i → j, and its value, at least 0, is its weight. Integers
/// are summed in int64 and clamp; other weights in double. Deterministic. It is `closure` over
/// min_plus, on a device without the host; the descriptor's kernel (closure), threads and stream go
/// there. Places: all. Cost: O(nnz + n) if no arc is relaxed twice. Throws error: shape, range (a
/// negative weight or NaN among them), cannot, unknown_kernel, out_of_memory. Source: Meyer &
/// Sanders, 2003; Davidson et al., IPDPS 2014.
/// @code
/// const auto found = rig::sssp(A, 0);
/// std::printf("%ld nodes; node 2 is %g away\n", found.reached, found.distances(2, 0));
/// @endcode
sssp_result<double> sssp(const matrix<double>& a, int64 source, const sssp_options& given = {},
                         const descriptor& desc = {});
/// The same for integers.
sssp_result<int64> sssp(const matrix<int64>& a, int64 source, const sssp_options& given = {},
                        const descriptor& desc = {});
/// The same for weights of rig's other types (bool, int32, float, half, bfloat16), which are
/// converted to int64 or double.
template <class T>
auto sssp(const matrix<T>& a, int64 source, const sssp_options& given = {},
          const descriptor& desc = {}) {
  using weight = std::conditional_t<std::is_integral_v<T>, int64, double>;
  const descriptor other{.threads = desc.threads, .stream = desc.stream};
  if constexpr (require_weights<T>())
    return in_name_of("sssp", [&] {
      return sssp(apply<weight>(a, unary::identity, other), source, given, desc);
    });
  else
    return sssp_result<weight>();
}

}  // namespace rig
