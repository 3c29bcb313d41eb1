// vendor: cuSPARSE's SpMM, for plus_times in the types that cuSPARSE serves.
//
// Users can name it, and the benchmarks call all of cuSPARSE's algorithms by the same path (suite
// exact). It is never chosen automatically, because rig's own kernels are faster and serve every
// semiring. It requires `reproducible = false` because its sums meet by atomics. Source: cuSPARSE,
// cusparseSpMM.

#include "cuda/families.hpp"
#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"
#include "cuda/vendor/cusparse.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {
namespace {

const char* cannot_because(const problem& p) {
  const std::uint64_t algebra = p.algebra->key_hash;
  if (algebra != info_of<plus_times<float>>.key_hash &&
      algebra != info_of<plus_times<double>>.key_hash)
    return "cuSPARSE serves only plus_times, in float and double";
  if (p.a.values == nullptr) return "cuSPARSE needs a value per entry, but A is iso";
  if (p.a.permutation != nullptr)
    return "cuSPARSE cannot read A's values through the permutation of its transpose";
  if (p.a.value_type != p.b.value_type || p.b.value_type != p.c.value_type ||
      !cusparse_type(p.b.value_type))
    return "cuSPARSE needs A, B and C in the same floating type";
  if ((p.b.value_type == type::float64) != (p.algebra->result == type::float64))
    return "cuSPARSE would sum in another type";
  if (p.desc->reproducible)
    return "cuSPARSE's sums may differ in their last bits between runs; set reproducible = false";
  if (p.a.offsets_64) return "cuSPARSE takes 32-bit columns only with 32-bit offsets";
  if (p.mask.over != mask_operand::kind::absent) return "cuSPARSE has no masks";
  if (p.accum != accumulator::none && p.accum != accumulator::plus)
    return "cuSPARSE accumulates only by plus";
  if (p.desc->fill.has_value() && p.desc->fill.as<double>() != 0)
    return "cuSPARSE fills empty rows with 0";
  return no_cusparse_because();
}

const tuning_row& row_for(const problem& p) {
  product_facts facts = facts_of_rows(statistics_of(p), p.a.nnz);
  facts[fact::columns] = p.b.columns;
  return current_table().find(section::vendor, facts);
}

/// The faster CSR algorithm for the shape (docs/lab/exact.md). No CSR algorithm is reproducible
/// when rows are long. Algorithm 2 for COO is; it turns infinities of B into NaN in rows that do
/// not name them. Nothing is kept between calls, so algorithm 3 prepares in each.
cusparseSpMMAlg_t algorithm_for(const problem& p) {
  // Algorithm 2 can be one unit in the last place off, although `mxm` promises a single rounding.
  if (p.c.value_bytes < 4) return CUSPARSE_SPMM_CSR_ALG3;
  return row_for(p)[setting::algorithm] == 3 ? CUSPARSE_SPMM_CSR_ALG3 : CUSPARSE_SPMM_CSR_ALG2;
}

}  // namespace

answer vendor_answer(const problem& p) {
  answer out;
  if (cannot(out, p, cannot_because(p))) return out;
  out.says = verdict::slower;
  out.seconds = 2 * estimate(p) + lone_row_seconds(statistics_of(p).longest);
  if (p.reasons && p.c.value_bytes >= 4) out.plan = in_words(row_for(p));
  if (p.reasons) out.reason = "rig's kernels move the same bytes in less time";
  return out;
}

void vendor_run(const problem& p, workspace&) {
  cusparse_spmm(p.a, p.b, p.c, algorithm_for(p), p.accum == accumulator::plus, stream_of(p).stream)
      .run();
  launched(p.a.where.device, "vendor");
}

}  // namespace rig::on_cuda
