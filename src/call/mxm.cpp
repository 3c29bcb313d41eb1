// Hop 1: checks a problem, orients its operands, chooses a kernel and runs it.

#include <algorithm>

#include "call/checks.hpp"
#include "call/choice.hpp"
#include "call/operands.hpp"
#include "call/trace.hpp"
#include "rig/kernels/problem.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

/// Whether two dense take different columns of the same rows, so that they share no element.
bool are_side_by_side(const dense_operand& x, const dense_operand& y) {
  if (x.stride != y.stride || x.value_bytes != y.value_bytes) return false;
  const bool is_first = std::less<const void*>()(x.data, y.data);
  const dense_operand &left = is_first ? x : y, &right = is_first ? y : x;
  const auto bytes = static_cast<std::size_t>(x.stride) * x.value_bytes;
  const std::size_t apart = static_cast<std::size_t>(static_cast<const char*>(right.data) -
                                                     static_cast<const char*>(left.data)) %
                            bytes;
  const auto width = [](const dense_operand& of) {
    return static_cast<std::size_t>(of.columns) * of.value_bytes;
  };
  return apart >= width(left) && apart + width(right) <= bytes;
}

/// An operand as messages show it.
struct factor {
  const char* name;
  bool is_transposed;
  index rows, columns;
};
std::string in_words(const factor& x, const factor& y) {
  const auto words = [](const factor& of) {
    return std::string(of.name) + (of.is_transposed ? "ᵀ is " : " is ") +
           shape_text(of.rows, of.columns);
  };
  return words(x) + ", " + words(y) + "; ";
}

void check_inner(const problem& p, const factor& x, const factor& y) {
  if (x.columns != y.rows)
    fail(errc::shape, {p.name, ": ", in_words(x, y), "the first has ", x.columns,
                       " columns, the second ", y.rows, " rows"});
}
void check_result(const problem& p, const factor& x, const factor& y, const char* what, index rows,
                  index columns) {
  if (rows != x.rows || columns != y.columns)
    refuse_result(p, in_words(x, y), shape_text(x.rows, y.columns), what,
                  shape_text(rows, columns));
}

void check_shapes(const problem& p) {
  const factor a{"A", p.desc->transpose_a, p.a.rows, p.a.columns},
      b{"B", p.desc->transpose_b, p.b.rows, p.b.columns},
      w{"W", false, p.weights.rows, p.weights.columns};
  const dense_operand &c = p.updated, &z = p.c;
  check_inner(p, a, b);
  if (!p.creates_result) check_result(p, a, b, p.is_updated ? "Z" : "C", z.rows, z.columns);
  if (p.is_updated) {
    check_inner(p, b, w);
    check_result(p, a, w, "C", c.rows, c.columns);
    if (memory(c).overlaps(z) && !are_side_by_side(c, z))
      fail(errc::range, {p.name, ": C, ", c.rows, "x", c.columns, ", and Z, ", z.rows, "x",
                         z.columns, ", share memory; pass two results"});
  }
  if (!p.creates_result && p.algebra->is_indexed)
    check_result(p, a, b, "C's index array", p.indices.rows, p.indices.columns);
  const bool is_cbsr = p.mask.over == mask_operand::kind::cbsr;
  if (p.mask.is_there())
    check_result(p, a, b, is_cbsr ? "the cbsr of the mask" : "the mask", p.mask.rows(),
                 p.mask.columns());
}

void check_places(const problem& p) {
  const auto expect = [&](const char* what, place where) {
    check_place(p, "A", p.a.where, what, where);
  };
  expect("B", p.b.where);
  if (!p.creates_result) expect(p.is_updated ? "Z" : "C", p.c.where);
  if (p.is_updated) expect("W", p.weights.where);
  if (p.is_updated) expect("C", p.updated.where);
  if (!p.creates_result && p.algebra->is_indexed) expect("C's index array", p.indices.where);
  if (p.mask.is_there()) expect("the mask", p.mask.where());
}

void check_quantized(const problem& p) {
  if (p.b.value_type != type::code || p.algebra->ignores_right) return;
  if (p.desc->transpose_b && p.b.per_column)
    fail(errc::cannot, {p.name,
                        ": B is quantized with a range per column, so it cannot be "
                        "transposed; quantize it with ranges::matrix"});
}

void check_cbsr(const problem& p) {
  if (p.b.k > 0) {
    if (p.desc->transpose_b)
      fail(errc::cannot, {p.name, ": B is a cbsr, which cannot be transposed; pass to_dense(B)"});
    return;
  }
  const kernel* named = p.named;
  if (named == nullptr || !includes(named->takes, operands::cbsr_right) ||
      operands_of(p) != operands::dense)
    return;
  const std::string refusal = no_cbsr_because(p.b.columns, p.desc->k);
  if (!refusal.empty()) fail(errc::range, {p.name, ": kernel '", named->name, "' on B: ", refusal});
}

/// Throws error(range) if C has integers, and fill is none of them.
void check_fill(const problem& p) {
  if (p.c.value_type == type::int32)
    p.desc->fill.checked<int32>(p.name, "fill");
  else if (p.c.value_type == type::int64)
    p.desc->fill.checked<int64>(p.name, "fill");
}

void check_descriptor(problem& p) {
  check_threads(p.name, *p.desc);
  check_enum(p.name, "precision", p.desc->precision, precision::tf32);
  if (p.desc->fill.has_value() && p.algebra->result == type::other)
    fail(errc::type, {p.name, ": fill is ", p.desc->fill.in_words(),
                      ", which does not convert to the result type of ", p.algebra->name,
                      "; leave fill unset"});
  check_fill(p);
  p.preferred = preferred_kernel(p);
  p.named = named_kernel(p);
  backend_of(p.a.where).check_settings();
}

void transpose_a(problem& p) {
  p.keepalive = turn(p.a, *p.structure);
  p.oriented = p.keepalive.get();
  if (p.algebra->ignores_left) p.a.permutation = nullptr;
}

void transpose_b(problem& p) {
  dense_operand stored = p.b, flipped = p.b;
  std::swap(stored.rows, stored.columns);
  flipped.stride = flipped.columns;
  // Which entries MaxK keeps depends on the values of B even if the product does not.
  const bool selects = p.named != nullptr && includes(p.named->takes, operands::cbsr_right);
  if (!p.algebra->ignores_right || selects) {
    p.keepalive_b = buffer::temporary(flipped.extent(), p.b.where, p.desc->stream);
    flipped.data = p.keepalive_b.data();
    const stream_order order(p);  // B may belong to another stream
    backend_of(p.b.where).transpose_elements(stored, flipped.data, p.keepalive_b.stream());
    flipped.stream = p.keepalive_b.stream();
  }
  p.b = flipped;
}

/// Whether the result shares memory with an input of the product.
bool is_aliased(const problem& p) {
  const memory c = p.c, other = p.is_updated ? p.updated : p.indices;
  const auto shares = [&](const memory& of) {
    return of.overlaps(p.b) || of.overlaps(p.a) || of.overlaps(p.mask.full) ||
           of.overlaps(p.mask.sparse) || of.overlaps(p.weights);
  };
  return shares(c) || shares(other) || (!p.is_updated && c.overlaps(other));
}

/// Runs a kernel with packed copies of the results, which it may read.
void run_via_temporary(problem& p, const kernel& chosen, workspace& work) {
  dense_operand* const results[] = {&p.c, &p.indices, &p.updated};
  const dense_operand given[] = {p.c, p.indices, p.updated};
  dense_room rooms[3];
  for (int k = 0; k < 3; ++k) {
    if (given[k].data == nullptr) continue;
    rooms[k] = room_like(given[k], given[k].value_type, given[k].value_bytes, p.desc->stream);
    *results[k] = rooms[k].full;
    copy(given[k], rooms[k].full, p.desc->stream);
  }
  chosen.run(p, work);
  for (int k = 0; k < 3; ++k) {
    if (given[k].data != nullptr) copy(rooms[k].full, given[k], p.desc->stream);
    *results[k] = given[k];
  }
}

void run_chosen(problem& p, const kernel& chosen, workspace& work) {
  if ((!p.creates_result || p.is_updated) && is_aliased(p))
    run_via_temporary(p, chosen, work);
  else
    chosen.run(p, work);
}

/// Whether no result has an element.
bool writes_nothing(const problem& p) {
  const bool stores_product = !p.is_updated || !p.creates_result;
  return p.a.rows == 0 ||
         ((!stores_product || p.b.columns == 0) && (!p.is_updated || p.updated.columns == 0));
}

/// The entries that the kernel reads; for a sampling kernel an upper bound.
double entries_of(const kernel& k, const problem& p) {
  const double all = static_cast<double>(p.a.nnz);
  return k.samples == sampling::whole
             ? all
             : std::min(all, static_cast<double>(p.a.rows) * p.desc->width);
}

double traffic(const kernel& k, const problem& p) {
  const bool has_cbsr = includes(k.takes, operands::cbsr_right | operands::cbsr_mask);
  return predicted_bytes(p, entries_of(k, p), has_cbsr ? retained_per_row(p) : 0);
}

std::string in_words(const problem& p) {
  std::string words = std::string(p.name) + " " + p.algebra->name + ": A " +
                      shape_text(p.a.rows, p.a.columns) + " with " + std::to_string(p.a.nnz) +
                      " entries";
  if (p.desc->transpose_a) words += " (transposed)";
  words += ", B " + shape_text(p.b.rows, p.b.columns);
  if (p.desc->transpose_b) words += " (transposed)";
  if (p.b.value_type == type::code) words += " of int8 codes";
  if (p.is_updated) words += ", W " + shape_text(p.weights.rows, p.weights.columns);
  if (p.b.k > 0) words += " with " + std::to_string(p.b.k) + " entries per row";
  if (p.mask.over == mask_operand::kind::cbsr)
    words += ", masked by " + std::to_string(p.mask.full.k) + " entries per row";
  else if (p.mask.is_there())
    words += ", masked";
  return words + ", on " + to_string(p.a.where);
}

}  // namespace

void check(problem& p) {
  p.oriented = p.structure;
  // Checks shapes first, on the operands as the product sees them; transposes only if they fit.
  if (p.desc->transpose_a) std::swap(p.a.rows, p.a.columns);
  if (p.desc->transpose_b) std::swap(p.b.rows, p.b.columns);
  const bool turns_mask = p.mask.is_vector && p.b.columns == 1;
  if (turns_mask) std::swap(p.mask.sparse.rows, p.mask.sparse.columns);
  check_shapes(p);
  check_places(p);
  check_accumulator(p, *p.algebra);
  check_descriptor(p);
  check_quantized(p);
  check_cbsr(p);
  if (p.desc->transpose_a) transpose_a(p);
  if (p.desc->transpose_b) transpose_b(p);
  if (turns_mask) turn_into_column(p.mask);
}

problem product_to_update(const problem& updated) {
  problem out = updated;
  out.is_updated = false;
  out.named = nullptr;
  if (out.c.data != nullptr) return out;
  out.c.rows = out.a.rows;
  out.c.columns = out.c.stride = out.b.columns;
  return out;
}

answer update_answer(const problem& p) {
  answer out;
  if (!p.reasons || writes_nothing(p)) return out;
  const problem product = product_to_update(p);
  const kernel* const inner = product.b.columns > 0 ? inner_kernel(product) : nullptr;
  if (inner != nullptr) out.plan = std::string("product by ") + inner->name;
  return out;
}

void run(problem& p) {
  const bool is_empty = writes_nothing(p);
  if (!is_empty) backend_of(p.a.where).find_statistics(p);
  const kernel& chosen = *choose(p).chosen;
  if (is_empty) return;
  workspace work;  // before `order`, because it must outlive it
  timed_call line;
  const stream_order order(p);
  p.captured = order.is_captured();
  line.begin(
      p.a.where, p.captured, [&] { return traced_words(p, chosen); },
      [&] { return traffic(chosen, p); });
  run_chosen(p, chosen, work);
}

double predicted_bytes(const problem& p, double entries, int retained) {
  const int64 f = p.b.columns;
  const int64 b_bytes = p.algebra->ignores_right ? 0 : static_cast<int64>(p.b.value_bytes);
  const bool reads_values = !p.algebra->ignores_left && p.a.values != nullptr;
  const int64 a_bytes = reads_values ? static_cast<int64>(p.a.value_bytes) : 0;
  const int64 index_bytes = p.algebra->is_indexed ? sizeof(int32) : 0;
  const int64 c_bytes = static_cast<int64>(p.c.value_bytes) + index_bytes;
  // Retained entries come with their columns, which are read per entry of A for B, and once for C.
  const bool is_under_cbsr = p.mask.over == mask_operand::kind::cbsr;
  const int64 retained_column_bytes = f > 256 ? 2 : 1;
  const int64 read = retained > 0
                         ? retained * (b_bytes + (is_under_cbsr ? 0 : retained_column_bytes))
                         : f * b_bytes;
  const int64 written = is_under_cbsr ? retained * (c_bytes + retained_column_bytes) : f * c_bytes;
  constexpr int64 column_bytes = sizeof(index);
  return entries * static_cast<double>(column_bytes + a_bytes + read) +
         static_cast<double>(p.a.rows) * static_cast<double>(written);
}

explanation explain(problem& p) {
  p.reasons = true;
  check(p);
  backend_of(p.a.where).find_statistics(p);
  return explanation_of(p, in_words(p),
                        p.is_updated ? operands::updated
                                     : operands::dense | operands::cbsr_right | operands::cbsr_mask,
                        &traffic);
}

}  // namespace rig
