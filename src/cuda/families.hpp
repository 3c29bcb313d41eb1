#pragma once

// The two entry points of each CUDA kernel family: `answer` and `run`. The caller of `run` holds a
// `stream_order`, so the problem's device is current.

#include <optional>

#include "cuda/device/arguments.cuh"
#include "cuda/row/row_shape.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

struct text_edit;

/// Overrides for the rules of `row` and `split`. Tests of shapes set them, and so does the
/// benchmark's ablation, which measures the worth of each idea.
struct forced_choice {
  std::optional<row_shape> shape = {};  ///< the shape of plain exact products
  const text_edit* edit = nullptr;      ///< an edit of the kernel of plain exact products
  int64 cut = 0;                        ///< entries per piece, when lists are made; 0: by the rules
  bool in_order = false;                ///< rows keep their order
  bool unsliced = false;                ///< B's columns are not sliced for the L2 cache
};
extern forced_choice forced;

answer row_answer(const problem& p);
void row_run(const problem& p);

/// The number of kernels of the family that are compiled ahead; each costs build time and bytes.
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
void maxk_run(const problem& p);  ///< applies MaxK to a dense B first
answer maxk_backward_answer(const problem& p);
void maxk_backward_run(const problem& p);

answer vendor_answer(const problem& p);
void vendor_run(const problem& p);

/// Converts A's values to the semiring's left type and to the order of entries, if they differ, and
/// sets them in `args`. The returned temporary must live until the launches.
buffer ordered_values(const problem& p, arguments& args);

struct row_lists;

/// Launches `row`'s kernel; with lists, their cut rows run in pieces. The device must be current.
void run_row(const problem& p, arguments& args, const row_lists* lists);

}  // namespace rig::on_cuda
