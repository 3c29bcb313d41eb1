#pragma once

#include <span>
#include <string>

#include "rig/explain.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/place.hpp"

namespace rig {

/// Which products a kernel is for, by the types of B and mask.
enum class operands : unsigned char {
  dense,       ///< B a dense or a quantized, and so C dense
  cbsr_right,  ///< B a cbsr, or a dense that is put through MaxK first
  cbsr_mask,   ///< B a dense, under the structure of a cbsr, and so C a cbsr
};
operands operands_of(const problem& p);

/// A line of the list of kernels: one name in one place.
struct kernel {
  const char* name;
  place::kind where;
  bool approximate;  ///< on a dense or quantized B it runs only where the descriptor names it
  const char* summary;
  answer (*answers)(const problem&);
  void (*run)(const problem&);
  sampling samples = sampling::none;  ///< it reads a sample of each row: needs descriptor.width
  operands takes = operands::dense;   ///< asked for nothing else, but `maxk` for a dense B too
  bool last_resort = false;  ///< it answers slower at best: not asked where one before it can
};

/// The list. It drives dispatch, `explain`, tests and benchmarks.
std::span<const kernel> kernels();

/// The kernel the descriptor names, or null where it names none. Throws error: unknown_kernel,
/// cannot (not in this place), range (a sampled kernel without a width).
const kernel* named_kernel(const problem& p);

/// Of the kernels that run without being named: among those that can, the cheapest; those that are
/// slower serve only where none can. Null: none serves. Adds those that can to `able`.
const kernel* cheapest_kernel(const problem& p, int* able = nullptr);

/// What sampled kernels of all places answer alike, without an estimate. The reason says how much
/// of op(A) is staged where the descriptor names this kernel and reasons are asked for.
answer sampling_answer(sampling how, const problem& p);

/// What `maxk` and `maxk_backward` of all places answer alike, without an estimate.
answer maxk_answer(const problem& p);
answer maxk_backward_answer(const problem& p);

/// Why no cbsr keeps k of so many columns, or nothing.
std::string no_cbsr_because(index columns, int k);

/// Entries of a row of the cbsr that a problem is about, or is to make of its B.
int kept_of(const problem& p);

/// Bytes that estimates go by: of `entries` entries of op(A) the column, the value and a row of
/// op(B), as often as it is gathered, and C once. `kept`: the numbers of a row of the cbsr that is
/// read or made; 0: none is.
double predicted_bytes(const problem& p, double entries, int kept = 0);

/// run(p), where B is dense with maxk(B, k) in its place.
void run_with_cbsr(const problem& p, void (*run)(const problem&));

/// `explain` on a checked problem.
explanation explain(problem& p);

}  // namespace rig
