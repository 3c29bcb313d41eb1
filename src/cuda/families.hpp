#pragma once

// The two doors of each CUDA kernel family. The device of the problem is current when one runs: hop
// 1 holds a `stream_order`.

#include <optional>

#include "cuda/device/arguments.cuh"
#include "cuda/row/row_shape.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

struct text_edit;

/// What `row` and `split` take in place of what their rules say: tests of shapes set it, and the
/// benchmark's ablation, which asks what each idea is worth.
struct forced_choice {
  std::optional<row_shape> shape = {};  ///< of plain exact products
  const text_edit* edit = nullptr;      ///< in the kernel of plain exact products
  int64 cut = 0;          ///< entries of a piece, where lists are made; 0: by the rules
  bool in_order = false;  ///< rows go in their order, not by length
  bool unsliced = false;  ///< B's columns do not go in slices for the L2 cache
};
extern forced_choice forced;

answer row_answer(const problem& p);
void row_run(const problem& p);

/// Kernels of the family that are compiled ahead: each costs build time and bytes.
std::size_t row_entries();

answer split_answer(const problem& p);
void split_run(const problem& p);

answer spmv_panels_answer(const problem& p);
void spmv_panels_run(const problem& p);

answer spmv_answer(const problem& p);
void spmv_run(const problem& p);
std::size_t spmv_entries();

answer sampled_answer(sampling how, const problem& p);
void sampled_run(sampling how, const problem& p);
template <sampling How>
answer sampled_answer(const problem& p) {
  return sampled_answer(How, p);
}
template <sampling How>
void sampled_run(const problem& p) {
  sampled_run(How, p);
}

answer maxk_answer(const problem& p);
void maxk_run(const problem& p);  ///< puts a dense B through MaxK first
answer maxk_backward_answer(const problem& p);
void maxk_backward_run(const problem& p);

answer vendor_answer(const problem& p);
void vendor_run(const problem& p);

/// A's values in algebra type and order, where they are not: a temporary that lives as long as the
/// launches need it, and takes their place in `args`.
buffer ordered_values(const problem& p, arguments& args);

struct row_lists;

/// `row`'s kernel; with lists, the rows that they cut in pieces. The device is current.
void run_row(const problem& p, arguments& args, const row_lists* lists);

}  // namespace rig::on_cuda
