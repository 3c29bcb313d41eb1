#pragma once

// The entry points of each CUDA kernel family, `answer`, `run` and `prepare`, and what families
// share. The caller of `run` holds a `stream_order`, so the problem's device is current.

#include "cuda/analysis/lists.hpp"

namespace rig::on_cuda {

answer row_answer(const problem& p);
void row_run(const problem& p, workspace& work);

answer split_answer(const problem& p);
void split_run(const problem& p, workspace& work);

answer crc_answer(const problem& p);
void crc_run(const problem& p, workspace& work);

answer spmv_panels_answer(const problem& p);
void spmv_panels_run(const problem& p, workspace& work);
void spmv_panels_prepare(const pattern& stored, const pattern& oriented);

answer spmv_answer(const problem& p);
void spmv_run(const problem& p, workspace& work);

answer sampled_answer(sampling how, const problem& p);
void sampled_run(sampling how, const problem& p, workspace& work);
template <sampling How>
answer sampled_answer(const problem& p) {
  return sampled_answer(How, p);
}
template <sampling How>
void sampled_run(const problem& p, workspace& work) {
  sampled_run(How, p, work);
}

answer maxk_answer(const problem& p);
void maxk_run(const problem& p, workspace& work);  ///< applies MaxK to a dense B first
answer maxk_backward_answer(const problem& p);
void maxk_backward_run(const problem& p, workspace& work);
void maxk_backward_prepare(const pattern& stored, const pattern& oriented);

answer gustavson_answer(const problem& p);
void gustavson_run(const problem& p, workspace& work);
answer dot_answer(const problem& p);
void dot_run(const problem& p, workspace& work);
answer push_answer(const problem& p);
void push_run(const problem& p, workspace& work);
answer pull_answer(const problem& p);
void pull_run(const problem& p, workspace& work);

answer closure_answer(const problem& p);
void closure_run(const problem& p, workspace& work);

answer hybrid_answer(const problem& p);
void hybrid_run(const problem& p, workspace& work);
void hybrid_prepare(const pattern& stored, const pattern& oriented);

answer update_answer(const problem& p);
void update_run(const problem& p, workspace& work);

answer vendor_answer(const problem& p);
void vendor_run(const problem& p, workspace& work);

/// Returns whether A's values must be converted to the semiring's left type, or put in the order of
/// entries.
bool must_order_values(const problem& p);

/// Converts A's values to the semiring's left type and to the order of entries, if they differ, and
/// sets them in `args`. The returned temporary must live until the launches.
buffer ordered_values(const problem& p, arguments& args);

/// Returns whether the values that `ordered_values` sets, if any, begin on 16 bytes.
bool has_aligned_values(const problem& p);

/// Which entries `row`'s kernel reads, and how it takes the rows.
struct row_pass {
  sampling samples = sampling::whole;
  const listed_row* order = nullptr;      ///< null: as A stores them
  const row_lists* split_rows = nullptr;  ///< the lists of split rows; null: no row is split
};

/// Runs `row`'s kernel. The device must be current.
void run_row(const problem& p, const row_pass& pass, workspace& work);

}  // namespace rig::on_cuda
