#pragma once

#include "rig/kernels/cpu/maxk.hpp"
#include "rig/kernels/cpu/row.hpp"
#include "rig/kernels/cpu/sell.hpp"
#include "rig/kernels/cpu/split.hpp"

namespace rig::on_cpu {

/// The CPU kernel families that `run` serves.
enum family : int { row_family, split_family, maxk_family, maxk_backward_family, sell_family };

/// Runs one family on a problem over S; `multiply` is the other entry to a semiring's kernels.
template <class S>
void run(int which, const problem& p) {
  static constexpr void (*families[])(const problem&) = {&row<S>, &split<S>, &maxk<S>,
                                                         &maxk_backward<S>, &sell<S>};
  families[which](p);
}

/// `run` where B has one column, which compiles in a third of the time.
template <class S>
void run_column(int which, const problem& p) {
  static constexpr void (*families[])(const problem&) = {&row<S, true>, &split<S, true>, &maxk<S>,
                                                         &maxk_backward<S>, &sell<S>};
  families[which](p);
}

/// Runs one family; converts B to the semiring's right type first if that costs less than one
/// conversion per entry. That takes memory for the converted B.
void run_converted(int family, const problem& p);

}  // namespace rig::on_cpu
