#pragma once

// bucket, fastrand, adaptive: rows longer than descriptor.width are replaced by a sample of them.
//
// The sampled rows are formed as a matrix of their own, entries in the order of their slots, which
// `row` then multiplies: what CUDA kernels do in shared memory, and what their results are compared
// with. Wins where rows are long and an estimate will do: inference of graph networks. Source:
// ES-SpMM (Huang et al., 2021) found a matrix sampled ahead as fast as sampling in the kernel; the
// rules are in rig/sampling.hpp. O(rows + staged · f), memory for the staged entries; 64-bit
// offsets. No tuning.

#include "rig/kernels/list.hpp"

namespace rig::on_cpu {

answer sampled_answer(sampling how, const problem& p);
void sampled(sampling how, const problem& p);

template <sampling How>
answer sampled_answer(const problem& p) {
  return sampled_answer(How, p);
}
template <sampling How>
void sampled(const problem& p) {
  sampled(How, p);
}

}  // namespace rig::on_cpu
