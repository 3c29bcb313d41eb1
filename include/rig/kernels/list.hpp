#pragma once

#include <span>
#include <string>

#include "rig/explain.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/place.hpp"

namespace rig {

/// Products by the types of A, B and mask. A kernel serves a set of them.
enum class operands : unsigned char {
  dense = 1,        ///< B is a dense or a quantized; C is dense
  cbsr_right = 2,   ///< B is a cbsr
  cbsr_mask = 4,    ///< B is a dense, the mask the structure of a cbsr; C is a cbsr
  sparse = 8,       ///< A and B are matrices; C is sparse
  vector = 16,      ///< A is a sparse vector, B a matrix; C is a sparse vector
  dense_pair = 32,  ///< A and B are dense, the mask is a matrix; C is sparse
  updated = 64,     ///< B is a dense, and the product is multiplied by a dense of weights
  closed = 128,     ///< C is a dense, and becomes the fixed point of C = C ⊕ C·A
};
constexpr operands operator|(operands x, operands y) {
  return static_cast<operands>(static_cast<int>(x) | static_cast<int>(y));
}
constexpr bool includes(operands set, operands one) {
  return (static_cast<int>(set) & static_cast<int>(one)) != 0;
}
operands operands_of(const problem& p);

/// What one run of a kernel keeps alive and works with. Hop 1 releases it after it has ordered
/// other streams after the call: a dropped structure is freed in the order of A's stream, which
/// waits for the call only then.
struct workspace {
  std::shared_ptr<const void> lists, panels;  ///< derived structures that the kernel reads
  buffer counters, sums;                      ///< the lists' memory, which another run may replace
  sparse_result made;                         ///< the result, if it is sparse
  const struct kernel* ran = nullptr;         ///< the kernel of a product with a sparse result
};

/// An entry in the list of kernels: one name in one place.
struct kernel {
  const char* name;
  place::kind where;
  bool approximate;  ///< on a dense or quantized B it runs only if the descriptor names it
  const char* summary;
  answer (*answers)(const problem&);
  void (*run)(const problem&, workspace&);
  sampling samples = sampling::whole;  ///< how it samples rows; a sample needs descriptor.width
  operands takes = operands::dense;    ///< the set of operands it serves
  bool last_resort = false;            ///< at best slower; skipped if an earlier kernel can serve
  /// Derives what a run reads beside what each kernel of its place reads: from A's pattern as it is
  /// stored, or from op(A)'s. Null: nothing.
  void (*prepare)(const pattern& stored, const pattern& oriented) = nullptr;
};

/// The list of kernels. Dispatch, `explain`, tests and benchmarks use it.
std::span<const kernel> kernels();

/// The kernel that the descriptor names, or null if it names none. Throws error: unknown_kernel,
/// cannot (not in this place), range (a sampled kernel without a width).
const kernel* named_kernel(const problem& p);

/// The cheapest kernel that can serve without being named. A kernel that answers slower serves only
/// if no other can. Null: none serves. Adds the number of kernels that can to `able`.
const kernel* cheapest_kernel(const problem& p, int* able = nullptr);
/// The kernel for a product inside another call: as RIG_KERNEL prefers, or the cheapest.
const kernel* inner_kernel(const problem& p);

/// The product of a call that also updates it. Its result needs memory if the call stores none.
problem product_to_update(const problem& updated);
/// The part of the answers of `update` that all places share: the kernel of the product, as a plan.
answer update_answer(const problem& p);

/// B of a product with a sparse result, by its rows, or by its columns: as the rows of its
/// transpose, which is built if it is not there.
struct oriented {
  sparse_operand sparse;
  std::shared_ptr<const void> kept;
};
oriented right_by_rows(const problem& p);
oriented right_by_columns(const problem& p);

/// Whether op(B) by columns, or by rows, is there, so that it costs no transpose.
bool has_columns(const problem& p);
bool has_rows(const problem& p);
/// The part of the answers of kernels that read B by columns, or by rows: slower if that builds a
/// transpose.
answer by_columns_answer(const problem& p, answer otherwise);
answer by_rows_answer(const problem& p, answer otherwise);
/// Why a kernel that reads no rows of C's column cannot finish its sums, or null.
const char* no_finish_because(const problem& p);
/// A refusal with its reason.
answer refusal(const problem& p, std::initializer_list<const char*> words);
inline answer refusal(const problem& p, const char* why) { return refusal(p, {why}); }

/// The part of the sampled kernels' answers that all places share, without an estimate. If the
/// descriptor names this kernel and reasons are requested, the reason states how much of op(A) is
/// staged.
answer sampling_answer(sampling how, const problem& p);

/// The part of the answers of `maxk` and `maxk_backward` that all places share, without an
/// estimate.
answer maxk_answer(const problem& p);
answer maxk_backward_answer(const problem& p);

/// The reason why no cbsr can retain k of `columns` columns; empty if one can.
std::string no_cbsr_because(index columns, int k);
/// Throws error(range) with that reason, if there is one.
void check_k(const char* operation, index columns, int k);

/// Entries per row of the problem's cbsr, or of the one that it makes from its B.
int retained_per_row(const problem& p);

/// Bytes that estimates use: per entry of op(A) its column, its value and a gathered row of op(B);
/// and C once. `retained`: entries per row of the cbsr that is read or made; 0: none.
double predicted_bytes(const problem& p, double entries, int retained = 0);

/// run(p, work); a dense B is replaced by maxk(B, k).
void run_with_cbsr(const problem& p, workspace& work, void (*run)(const problem&, workspace&));

/// `explain` for a checked problem.
explanation explain(problem& p);

}  // namespace rig
