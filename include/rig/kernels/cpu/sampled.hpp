#pragma once

// bucket, fastrand, adaptive: each row longer than descriptor.width is replaced by a sample.
//
// The sampled rows form a matrix, with entries in the order of their slots, which `row` multiplies.
// CUDA kernels read the same entries, and tests compare the results. Wins if rows are long
// and an estimate suffices: inference in graph networks.
// Source: ES-SpMM (Lin, Luo and Ceze, 2021) found sampling ahead as fast as sampling in the kernel;
// rig/kernels/sampling.hpp holds the rules. Cost: O(rows + staged · f); memory for the staged
// entries; 64-bit offsets. No tuning.

#include "rig/kernels/list.hpp"

namespace rig::on_cpu {

answer sampled_answer(sampling how, const problem& p);
void sampled(sampling how, const problem& p);

template <sampling How>
answer sampled_answer(const problem& p) {
  return sampled_answer(How, p);
}
template <sampling How>
void sampled(const problem& p, workspace&) {
  sampled(How, p);
}

}  // namespace rig::on_cpu
