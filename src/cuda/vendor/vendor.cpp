// vendor: cuSPARSE's SpMM, for plus_times in the types it serves.
//
// Here so that users can name it, and measured beside all of cuSPARSE's algorithms, which the
// benchmarks call by the same path (suite exact); rig's own kernels are faster and serve every
// semiring, so it is never chosen by itself, and only where `reproducible = false` is said: its
// sums meet by atomics. Source: cuSPARSE, cusparseSpMM.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/families.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/vendor/cusparse.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {
namespace {

const char* cannot_because(const problem& p) {
  const std::uint64_t algebra = p.algebra->key_hash;
  if (algebra != info_of<plus_times<float>>.key_hash &&
      algebra != info_of<plus_times<double>>.key_hash)
    return "cuSPARSE serves plus_times in float and double";
  if (p.a.values == nullptr) return "cuSPARSE needs a value an entry, and A is iso";
  if (p.a.permutation != nullptr) return "cuSPARSE would need A's transpose with its values";
  if (p.a.value_type != p.b.value_type || p.b.value_type != p.c.value_type ||
      !cusparse_type(p.b.value_type))
    return "cuSPARSE needs A, B and C in one floating type";
  if ((p.b.value_type == type::float64) != (p.algebra->result == type::float64))
    return "cuSPARSE would sum in another type";
  if (p.desc->reproducible)
    return "cuSPARSE's sums differ in their last bits from run to run: say reproducible = false";
  if (p.a.offsets_64) return "cuSPARSE takes 32-bit columns only with 32-bit offsets";
  if (p.mask.over != mask_operand::kind::absent) return "cuSPARSE has no masks";
  if (p.accum != accumulator::none && p.accum != accumulator::plus)
    return "cuSPARSE accumulates by plus alone";
  if (p.desc->fill.has_value() && p.desc->fill.as<double>() != 0)
    return "cuSPARSE fills empty rows with 0";
  return no_cusparse_because();
}

/// The faster one for the shape, of those for CSR. None of them gives the same bits each time where
/// rows are long; algorithm 2 for COO does, but makes NaN of infinities in rows that do not name
/// them (docs/lab/exact.md). Nothing is kept between calls, so algorithm 3 prepares in each.
/// Milliseconds of 2 and of 3, here and prepared before: f = 32: reddit-like 5.55, 4.69, 1.91;
/// uniform:262144:32 0.564, 0.265, 0.212; rmat:18:16 0.460, 0.639, 0.304; pubmed-like 0.0176,
/// 0.0311, 0.0091; f = 64: reddit-like 6.02, 10.2, 3.98.
cusparseSpMMAlg_t algorithm_for(const problem& p) {
  // Algorithm 2 ends a unit of C's last place off, where `mxm` says that it rounds once.
  if (p.c.value_bytes < 4) return CUSPARSE_SPMM_CSR_ALG3;
  const row_statistics& statistics = statistics_of(p);
  constexpr int64 many = 4000000;
  return p.b.columns <= 32 && p.a.nnz >= many && statistics.mean_length >= 6 &&
                 !is_skewed(statistics, p.a.nnz)
             ? CUSPARSE_SPMM_CSR_ALG3
             : CUSPARSE_SPMM_CSR_ALG2;
}

}  // namespace

answer vendor_answer(const problem& p) {
  answer out;
  if (cannot(out, p, cannot_because(p))) return out;
  out.says = verdict::slower;
  out.seconds = 2 * estimate(p) + lone_row_seconds(statistics_of(p).longest);
  if (p.reasons) out.reason = "rig's kernels move the same bytes with less waiting";
  return out;
}

void vendor_run(const problem& p) {
  cusparse_spmm(p.a, p.b, p.c, algorithm_for(p), p.accum == accumulator::plus, stream_of(p)).run();
  launched(p.a.where.device, "vendor");
}

}  // namespace rig::on_cuda
