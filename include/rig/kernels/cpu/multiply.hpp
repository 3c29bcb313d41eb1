#pragma once

#include "rig/kernels/cpu/dot.hpp"
#include "rig/kernels/cpu/gustavson.hpp"

namespace rig::on_cpu {

/// The CPU kernels with a sparse result, in the order of the list of kernels.
enum sparse_family : int { gustavson_family, dot_family, push_family, pull_family };

/// Runs one of them on a problem over S.
template <class S>
sparse_result multiply(int which, const problem& p) {
  require_openmp<S>();
  if constexpr (is_indexed<output<S>>) {
    return {};  // a sparse result has one array of values; hop 0 refuses S
  } else {
    static constexpr sparse_result (*families[])(const problem&) = {&gustavson<S>, &dot<S>,
                                                                    &push<S>, &pull<S>};
    return families[which](p);
  }
}

}  // namespace rig::on_cpu
