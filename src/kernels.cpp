// The list of kernels: one line per name and place. No other file includes all backends.

#include "cuda/families.hpp"
#include "rig/kernels/cpu/closure.hpp"
#include "rig/kernels/cpu/maxk.hpp"
#include "rig/kernels/cpu/multiply.hpp"
#include "rig/kernels/cpu/run.hpp"
#include "rig/kernels/cpu/sampled.hpp"
#include "rig/kernels/cpu/slices.hpp"
#include "rig/kernels/cpu/update.hpp"
#include "rig/kernels/list.hpp"

namespace rig {
namespace {

template <int Family>
void family(const problem& p, workspace&) {
  on_cpu::run_converted(Family, p);
}

template <int Family>
void sparse_family(const problem& p, workspace& work) {
  work.made = p.multiply_cpu(Family, p);
}

void slices_prepare(const pattern&, const pattern& oriented) { oriented.derived_of<slices>(); }

using enum sampling;

constexpr auto here = place::kind::cpu;
#ifdef RIG_HAS_CUDA
constexpr auto gpu = place::kind::cuda;
#endif

constexpr kernel list[] = {
    {"row", here, false, "whole rows per thread", on_cpu::row_answer, family<on_cpu::row_family>},
    {"split", here, false, "long rows split, segments added in order", on_cpu::split_answer,
     family<on_cpu::split_family>},
    {"sell", here, false, "one column: eight rows of like length at once", on_cpu::sell_answer,
     family<on_cpu::sell_family>, whole, operands::dense, false, slices_prepare},
    {"bucket", here, true, "the first entries of long rows", on_cpu::sampled_answer<bucket>,
     on_cpu::sampled<bucket>, bucket},
    {"fastrand", here, true, "entries scattered over long rows", on_cpu::sampled_answer<fastrand>,
     on_cpu::sampled<fastrand>, fastrand},
    {"adaptive", here, true, "runs of entries of long rows", on_cpu::sampled_answer<adaptive>,
     on_cpu::sampled<adaptive>, adaptive},
    {"maxk", here, true, "the k greatest of each row of B", on_cpu::maxk_answer, on_cpu::maxk_run,
     whole, operands::cbsr_right | operands::dense},
    {"maxk_backward", here, false, "the places that a cbsr stores", on_cpu::maxk_backward_answer,
     family<on_cpu::maxk_backward_family>, whole, operands::cbsr_mask},
    {"gustavson", here, false, "rows of B added up in a dense row", on_cpu::gustavson_answer,
     sparse_family<on_cpu::gustavson_family>, whole, operands::sparse},
    {"dot", here, false, "rows of A times columns of B, where the mask has entries",
     on_cpu::dot_answer, sparse_family<on_cpu::dot_family>, whole,
     operands::sparse | operands::dense_pair},
    {"push", here, false, "rows of the matrix that the vector names", on_cpu::push_answer,
     sparse_family<on_cpu::push_family>, whole, operands::vector},
    {"pull", here, false, "columns of the matrix that the mask allows", on_cpu::pull_answer,
     sparse_family<on_cpu::pull_family>, whole, operands::vector},
    {"update", here, false, "a product, and then its update", on_cpu::update_answer,
     on_cpu::update_run, whole, operands::updated},
    {"closure", here, false, "lists of nodes that changed, the best values first",
     on_cpu::closure_answer, on_cpu::closure_run, whole, operands::closed},
#ifdef RIG_HAS_CUDA
    {"row", gpu, false, "a subwarp per row", on_cuda::row_answer, on_cuda::row_run},
    {"split", gpu, false, "long rows split, segments added in order", on_cuda::split_answer,
     on_cuda::split_run},
    {"crc", gpu, false, "a warp per row, entries through shared memory", on_cuda::crc_answer,
     on_cuda::crc_run},
    {"hybrid", gpu, false, "windows of 16 rows: the dense ones on Tensor cores",
     on_cuda::hybrid_answer, on_cuda::hybrid_run, whole, operands::dense, false,
     on_cuda::hybrid_prepare},
    {"spmv_panels", gpu, false, "one column: parts of B in shared memory",
     on_cuda::spmv_panels_answer, on_cuda::spmv_panels_run, whole, operands::dense, false,
     on_cuda::spmv_panels_prepare},
    {"spmv", gpu, false, "one column: even chunks of entries", on_cuda::spmv_answer,
     on_cuda::spmv_run},
    {"bucket", gpu, true, "the first entries of long rows", on_cuda::sampled_answer<bucket>,
     on_cuda::sampled_run<bucket>, bucket},
    {"fastrand", gpu, true, "entries scattered over long rows", on_cuda::sampled_answer<fastrand>,
     on_cuda::sampled_run<fastrand>, fastrand},
    {"adaptive", gpu, true, "runs of entries of long rows", on_cuda::sampled_answer<adaptive>,
     on_cuda::sampled_run<adaptive>, adaptive},
    {"maxk", gpu, true, "the k greatest of each row of B", on_cuda::maxk_answer, on_cuda::maxk_run,
     whole, operands::cbsr_right | operands::dense},
    {"maxk_backward", gpu, false, "the places that a cbsr stores", on_cuda::maxk_backward_answer,
     on_cuda::maxk_backward_run, whole, operands::cbsr_mask, false, on_cuda::maxk_backward_prepare},
    {"gustavson", gpu, false, "rows of B added up in shared memory", on_cuda::gustavson_answer,
     on_cuda::gustavson_run, whole, operands::sparse | operands::vector},
    {"dot", gpu, false, "rows of A times columns of B, where the mask has entries",
     on_cuda::dot_answer, on_cuda::dot_run, whole, operands::sparse | operands::dense_pair},
    {"push", gpu, false, "rows of the matrix that the vector names", on_cuda::push_answer,
     on_cuda::push_run, whole, operands::vector},
    {"pull", gpu, false, "columns of the matrix that the mask allows", on_cuda::pull_answer,
     on_cuda::pull_run, whole, operands::vector},
    {"update", gpu, false, "a product, and then its update", on_cuda::update_answer,
     on_cuda::update_run, whole, operands::updated},
    {"closure", gpu, false, "one kernel, with lists of nodes that changed", on_cuda::closure_answer,
     on_cuda::closure_run, whole, operands::closed},
    {"vendor", gpu, false, "cuSPARSE, plus_times only", on_cuda::vendor_answer, on_cuda::vendor_run,
     whole, operands::dense, true},
#endif
};

}  // namespace

std::span<const kernel> kernels() { return list; }

}  // namespace rig
