// Hop 1 of products with sparse results: chooses a kernel and runs it. Masks, accumulators and
// transposes of the first operand are those of every operation (operations.cpp).

#include <algorithm>

#include "call/checked_operation.hpp"
#include "call/choice.hpp"
#include "rig/kernels/cpu/threads.hpp"

namespace rig {
namespace {

/// The number of a ⊗ b, or an estimate where counting would cost a transpose or a wait.
double count_products(const problem& p) {
  const double nnz = static_cast<double>(p.a.nnz);
  const sparse_operand& b = p.right.sparse;
  if (p.a.where != cpu() || p.right.is_transposed)
    return nnz * static_cast<double>(b.nnz) / std::max(1, p.right.rows());
  int64 products = 0;
#pragma omp parallel for reduction(+ : products) \
    num_threads(on_cpu::threads_for(nnz, p.desc->threads))
  for (int64 e = 0; e < p.a.nnz; ++e)
    products += b.offset(p.a.entries[e] + 1) - b.offset(p.a.entries[e]);
  return static_cast<double>(products);
}

problem problem_of(const operation& o) {
  problem p;
  p.operation = o.name;
  p.algebra = o.product->algebra;
  p.multiply_cpu = o.product->multiply_cpu;
  p.flips_positions = o.product->flips_positions;
  p.desc = o.desc;
  p.mask = o.mask;
  p.c.value_type = o.out_type;
  p.c.value_bytes = o.out_bytes;
  p.is_vector = o.x.is_vector;
  if (o.x.what == operand::kind::dense) {
    p.left_full = o.x.full;
    p.b = o.y.full;
    p.a.where = o.x.full.where;
  } else {
    p.a = o.x.sparse;
    p.oriented = o.x.structure.get();
    p.right = {o.y.sparse, o.y.structure, o.y_transposed};
    p.products = count_products(p);
  }
  p.preferred = preferred_kernel(p);
  p.named = named_kernel(p);
  return p;
}

}  // namespace

sparse_result multiply(const operation& o) {
  problem p = problem_of(o);
  workspace work;
  choose(p).chosen->run(p, work);
  return std::move(work.made);
}

}  // namespace rig
