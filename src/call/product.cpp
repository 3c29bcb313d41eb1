// Hop 1 of products with sparse results: chooses a kernel and runs it. Masks, accumulators and
// transposes of the first operand are those of every operation (operations.cpp).

#include <algorithm>

#include "call/checked_operation.hpp"
#include "call/choice.hpp"

namespace rig {
namespace {

/// The number of a ⊗ b, or an estimate where counting would cost more than it can save.
double count_products(const problem& p) {
  if (const auto counted = backend_of(p.a.where).count_products(p)) return *counted;
  return static_cast<double>(p.a.nnz) * static_cast<double>(p.right.sparse.nnz) /
         std::max(1, p.right.rows());
}

/// The caller holds the order of streams.
problem problem_of(const operation& o) {
  problem p;
  static_cast<any_call&>(p) = {o.name, o.desc, o.mask};
  p.algebra = o.product->algebra;
  p.multiply_cpu = o.product->multiply_cpu;
  p.flips_positions = o.product->flips_positions;
  p.c.value_type = o.out_type;
  p.c.value_bytes = o.out_bytes;
  p.is_vector = o.x.is_vector;
  if (o.x.what == operand::kind::dense) {
    p.left_full = o.x.full;
    p.b = o.y.full;
    p.a.where = o.x.full.where;
    p.c.data = o.values;
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

oriented turned(const problem& p) {
  oriented out{p.right.sparse, nullptr};
  out.kept = turn(out.sparse, *p.right.structure);
  return out;
}

}  // namespace

oriented right_by_rows(const problem& p) {
  return p.right.is_transposed ? turned(p) : oriented{p.right.sparse, nullptr};
}
oriented right_by_columns(const problem& p) {
  return p.right.is_transposed ? oriented{p.right.sparse, nullptr} : turned(p);
}

const char* no_finish_because(const problem& p) {
  return p.flips_positions && p.algebra->has_finish
             ? "finish takes the entries of A's rows, which this kernel does not read"
             : nullptr;
}

answer refusal(const problem& p, std::initializer_list<const char*> words) {
  answer out{verdict::cannot, "", 0};
  for (const char* const word : words)
    if (p.reasons) out.reason += word;
  return out;
}

namespace {

bool has_transpose(const problem& p) { return p.right.structure->is_prepared(true); }

/// `otherwise`, or slower because a transpose is not prepared.
answer without_transpose(const problem& p, bool is_prepared, const char* why, answer otherwise) {
  if (is_prepared || otherwise.says == verdict::cannot) return otherwise;
  otherwise.says = verdict::slower;
  if (p.reasons)
    otherwise.reason = std::string(why) +
                       ", and its transpose is not prepared; call B.prepare({.transpose_a = true})";
  return otherwise;
}

}  // namespace

bool has_columns(const problem& p) { return p.right.is_transposed || has_transpose(p); }
bool has_rows(const problem& p) { return !p.right.is_transposed || has_transpose(p); }

answer by_columns_answer(const problem& p, answer otherwise) {
  return without_transpose(p, has_columns(p), "reads B by columns", std::move(otherwise));
}
answer by_rows_answer(const problem& p, answer otherwise) {
  return without_transpose(p, has_rows(p), "reads B by rows", std::move(otherwise));
}

namespace {

std::string in_words(const operation& o) {
  const auto side = [](const operand& of, bool transposed) {
    std::string words = of.is_vector ? "a vector of " + std::to_string(of.columns())
                                     : shape_text(of.rows(), of.columns());
    if (of.what == operand::kind::sparse)
      words += " with " + std::to_string(of.sparse.nnz) + " entries";
    return words + (transposed ? " (transposed)" : "");
  };
  std::string words = std::string(o.name) + " " + o.product->algebra->name + ": A " +
                      side(o.x, o.desc->transpose_a && !o.x.is_vector) + ", B " +
                      side(o.y, o.y_transposed);
  if (o.mask.is_there()) words += ", masked";
  return words + ", on " + to_string(o.where());
}

/// Per product the column and the value of B; per entry of C the same.
double sparse_traffic(const kernel&, const problem& p) {
  if (operands_of(p) == operands::dense_pair)
    return static_cast<double>(p.mask.sparse.nnz) *
           static_cast<double>(p.left_full.columns * p.b.value_bytes);
  const bool reads = !p.algebra->ignores_right && p.right.sparse.values != nullptr;
  return p.products *
         (sizeof(index) + (reads ? static_cast<double>(p.right.sparse.value_bytes) : 0));
}

}  // namespace

explanation explain_product(const operation& o) {
  const in_order order(o);
  problem p = problem_of(o);
  p.reasons = true;
  return explanation_of(p, in_words(o), operands::sparse | operands::vector | operands::dense_pair,
                        &sparse_traffic);
}

sparse_result multiply(const operation& o, workspace& work) {
  problem p = problem_of(o);
  work.ran = choose(p).chosen;
  work.ran->run(p, work);
  return std::move(work.made);
}

}  // namespace rig
