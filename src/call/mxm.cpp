// Hop 1: checks a problem, orients its operands, chooses a kernel and runs it.

#include <algorithm>

#include "call/choice.hpp"
#include "call/vector_mask.hpp"
#include "rig/kernels/problem.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

std::string shape(const char* name, bool transposed, index rows, index columns) {
  return std::string(name) + (transposed ? "ᵀ is " : " is ") + std::to_string(rows) + "x" +
         std::to_string(columns);
}

struct range {
  const char* begin;
  std::size_t bytes;
  bool overlaps(const range& other) const {
    return bytes > 0 && other.bytes > 0 && begin < other.begin + other.bytes &&
           other.begin < begin + bytes;
  }
};

range range_of(const void* data, std::size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}
range range_of(const dense_operand& d) {
  return range_of(d.data, d.data != nullptr ? d.extent() : 0);
}

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

/// The weights of `mxm_update` and its result.
void check_update(const problem& p) {
  const dense_operand &w = p.weights, &c = p.updated;
  if (w.rows != p.b.columns)
    fail(errc::shape, {p.operation, ": ", shape("B", p.desc->transpose_b, p.b.rows, p.b.columns),
                       ", W is ", w.rows, "x", w.columns, "; the first has ", p.b.columns,
                       " columns, the second ", w.rows, " rows"});
  if (c.rows != p.a.rows || c.columns != w.columns)
    fail(errc::shape, {p.operation, ": ", shape("A", p.desc->transpose_a, p.a.rows, p.a.columns),
                       ", W is ", w.rows, "x", w.columns, "; the result is ", p.a.rows, "x",
                       w.columns, ", but C is ", c.rows, "x", c.columns});
  if (range_of(c).overlaps(range_of(p.c)) && !are_side_by_side(c, p.c))
    fail(errc::range, {p.operation, ": C, ", c.rows, "x", c.columns, ", and Z, ", p.c.rows, "x",
                       p.c.columns, ", share memory; pass two results"});
}

void check_shapes(const problem& p) {
  const auto operands = [&] {
    return shape("A", p.desc->transpose_a, p.a.rows, p.a.columns) + ", " +
           shape("B", p.desc->transpose_b, p.b.rows, p.b.columns);
  };
  if (p.a.columns != p.b.rows)
    fail(errc::shape, {p.operation, ": ", operands(), "; the first has ", p.a.columns,
                       " columns, the second ", p.b.rows, " rows"});
  const auto expect = [&](const char* what, index rows, index columns) {
    if (rows != p.a.rows || columns != p.b.columns)
      fail(errc::shape, {p.operation, ": ", operands(), "; the result is ", p.a.rows, "x",
                         p.b.columns, ", but ", what, " is ", rows, "x", columns});
  };
  if (!p.creates_result) expect(p.is_updated ? "Z" : "C", p.c.rows, p.c.columns);
  if (p.is_updated) check_update(p);
  if (!p.creates_result && p.algebra->is_indexed)
    expect("C's index array", p.indices.rows, p.indices.columns);
  if (p.mask.over == mask_operand::kind::matrix)
    expect("the mask", p.mask.sparse.rows, p.mask.sparse.columns);
  if (p.mask.over == mask_operand::kind::dense)
    expect("the mask", p.mask.full.rows, p.mask.full.columns);
  if (p.mask.over == mask_operand::kind::cbsr)
    expect("the cbsr of the mask", p.mask.full.rows, p.mask.full.columns);
}

[[noreturn, gnu::cold]] void refuse_place(const problem& p, const char* what, place where) {
  fail(errc::place, {p.operation, ": A is on ", to_string(p.a.where), ", ", what, " is on ",
                     to_string(where), "; copy one with .to()"});
}

void check_places(const problem& p) {
  const auto expect = [&](const char* what, place where) {
    if (where != p.a.where) refuse_place(p, what, where);
  };
  expect("B", p.b.where);
  if (!p.creates_result) expect(p.is_updated ? "Z" : "C", p.c.where);
  if (p.is_updated) expect("W", p.weights.where);
  if (p.is_updated) expect("C", p.updated.where);
  if (!p.creates_result && p.algebra->is_indexed) expect("C's index array", p.indices.where);
  if (p.mask.over == mask_operand::kind::matrix) expect("the mask", p.mask.sparse.where);
  if (p.mask.over == mask_operand::kind::dense || p.mask.over == mask_operand::kind::cbsr)
    expect("the mask", p.mask.full.where);
}

void check_quantized(const problem& p) {
  if (p.b.value_type != type::code || p.algebra->ignores_right) return;
  if (p.desc->transpose_b && p.b.per_column)
    fail(errc::cannot, {p.operation,
                        ": B is quantized with a range per column, so it cannot be "
                        "transposed; quantize it with ranges::matrix"});
}

void check_cbsr(const problem& p) {
  if (p.b.k > 0) {
    if (p.desc->transpose_b)
      fail(errc::cannot,
           {p.operation, ": B is a cbsr, which cannot be transposed; pass to_dense(B)"});
    return;
  }
  const kernel* named = p.named;
  if (named == nullptr || !includes(named->takes, operands::cbsr_right) ||
      operands_of(p) != operands::dense)
    return;
  const std::string refusal = no_cbsr_because(p.b.columns, p.desc->k);
  if (!refusal.empty())
    fail(errc::range, {p.operation, ": kernel '", named->name, "' on B: ", refusal});
}

/// Throws error(range) if C has integers, and fill is none of them.
void check_fill(const problem& p) {
  if (p.c.value_type == type::int32)
    p.desc->fill.checked<int32>(p.operation, "fill");
  else if (p.c.value_type == type::int64)
    p.desc->fill.checked<int64>(p.operation, "fill");
}

void check_descriptor(problem& p) {
  if (p.desc->threads < 0)
    fail(errc::range,
         {p.operation, ": threads is ", p.desc->threads, "; set a number, or 0 for the default"});
  check_enum(p.operation, "precision", p.desc->precision, precision::tf32);
  if (p.desc->fill.has_value() && p.algebra->result == type::other)
    fail(errc::type,
         {p.operation, ": fill is a number, which does not convert to the result type of ",
          p.algebra->name, "; leave fill unset"});
  check_fill(p);
  p.preferred = preferred_kernel(p);
  p.named = named_kernel(p);
  backend_of(p.a.where).check_settings();
}

void transpose_a(problem& p) {
  auto derived = p.structure->derived_of<transposed>();
  const pattern& s = *derived->structure;
  p.a.offsets = s.offsets();
  p.a.entries = s.column_indices();
  p.a.offsets_64 = s.offsets_64();
  if (!p.algebra->ignores_left && p.a.values != nullptr)
    p.a.permutation = derived->permutation.data();
  p.oriented = &s;
  p.keepalive = std::move(derived);
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

bool overlaps(const range& c, const sparse_operand& m) {
  const auto nnz = static_cast<std::size_t>(m.nnz);
  const std::size_t offset_bytes = m.offsets_64 ? sizeof(int64) : sizeof(int32);
  return c.overlaps(range_of(m.values, m.values != nullptr ? nnz * m.value_bytes : 0)) ||
         c.overlaps(range_of(m.entries, nnz * sizeof(index))) ||
         c.overlaps(range_of(m.offsets, (static_cast<std::size_t>(m.rows) + 1) * offset_bytes));
}

/// Whether the result shares memory with an input of the product.
bool is_aliased(const problem& p) {
  const bool is_masked = p.mask.over != mask_operand::kind::absent;
  const auto shares = [&](const range& c) {
    return c.overlaps(range_of(p.b)) || overlaps(c, p.a) ||
           (is_masked && (c.overlaps(range_of(p.mask.full)) || overlaps(c, p.mask.sparse)));
  };
  const range c = range_of(p.c);
  if (shares(c)) return true;
  if (p.is_updated) {
    const range updated = range_of(p.updated), weights = range_of(p.weights);
    return shares(updated) || updated.overlaps(weights) || c.overlaps(weights);
  }
  if (p.indices.data == nullptr) return false;
  const range indices = range_of(p.indices);
  return shares(indices) || c.overlaps(indices);
}

void copy(const dense_operand& from, const dense_operand& to, void* stream) {
  copy_rows(to.data, static_cast<std::size_t>(to.stride) * to.value_bytes, from.data,
            static_cast<std::size_t>(from.stride) * from.value_bytes,
            static_cast<std::size_t>(from.columns) * from.value_bytes, from.rows, from.where,
            stream);
}

/// A packed copy of a result array; `kept` owns it.
dense_operand copy_of(const dense_operand& original, buffer& kept, void* stream) {
  if (original.data == nullptr) return original;
  dense_operand made = original;
  made.stride = made.columns;
  kept = buffer::temporary(made.extent(), original.where, stream);
  made.data = kept.data();
  copy(original, made, stream);
  return made;
}

void run_via_temporary(problem& p, const kernel& chosen, workspace& work) {
  const dense_operand c = p.c, indices = p.indices, updated = p.updated;
  buffer kept_c, kept_indices, kept_updated;
  void* stream = p.desc->stream;
  p.c = copy_of(c, kept_c, stream);
  p.indices = copy_of(indices, kept_indices, stream);
  p.updated = copy_of(updated, kept_updated, stream);
  chosen.run(p, work);
  if (c.data != nullptr) copy(p.c, c, stream);
  if (indices.data != nullptr) copy(p.indices, indices, stream);
  if (updated.data != nullptr) copy(p.updated, updated, stream);
  p.c = c;
  p.indices = indices;
  p.updated = updated;
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

std::string in_words(const problem& p) {
  std::string words = std::string(p.operation) + " " + p.algebra->name + ": A " +
                      std::to_string(p.a.rows) + "x" + std::to_string(p.a.columns) + " with " +
                      std::to_string(p.a.nnz) + " entries";
  if (p.desc->transpose_a) words += " (transposed)";
  words += ", B " + std::to_string(p.b.rows) + "x" + std::to_string(p.b.columns);
  if (p.desc->transpose_b) words += " (transposed)";
  if (p.b.value_type == type::code) words += " of int8 codes";
  if (p.is_updated)
    words += ", W " + std::to_string(p.weights.rows) + "x" + std::to_string(p.weights.columns);
  if (p.b.k > 0) words += " with " + std::to_string(p.b.k) + " entries per row";
  if (p.mask.over == mask_operand::kind::cbsr)
    words += ", masked by " + std::to_string(p.mask.full.k) + " entries per row";
  else if (p.mask.over != mask_operand::kind::absent)
    words += ", masked";
  return words + ", on " + to_string(p.a.where);
}

}  // namespace

void check_accumulator(const char* operation, accumulator how, const semiring_info& s) {
  if (how == accumulator::none) return;
  check_enum(operation, "accumulator", how, accumulator::logical_and);
  if (how == accumulator::own && !s.is_indexed && s.has_finish)
    fail(errc::cannot, {operation, ": ", s.name,
                        " finishes its sums, so its own add cannot accumulate them; pass an "
                        "operator such as accumulator::plus"});
  if (how != accumulator::own && (s.is_indexed || s.result == type::other))
    fail(errc::cannot,
         {operation, ": ", s.name,
          " yields a structure, which only its own add can accumulate; pass accumulator::own"});
}

void check(problem& p) {
  p.oriented = p.structure;
  // Checks shapes first, on the operands as the product sees them; transposes only if they fit.
  if (p.desc->transpose_a) std::swap(p.a.rows, p.a.columns);
  if (p.desc->transpose_b) std::swap(p.b.rows, p.b.columns);
  const bool turns_mask = p.mask.is_vector && p.b.columns == 1;
  if (turns_mask) std::swap(p.mask.sparse.rows, p.mask.sparse.columns);
  check_shapes(p);
  check_places(p);
  check_accumulator(p.operation, p.accum, *p.algebra);
  check_descriptor(p);
  check_quantized(p);
  check_cbsr(p);
  if (p.desc->transpose_a) transpose_a(p);
  if (p.desc->transpose_b) transpose_b(p);
  if (turns_mask) as_column(p.mask);
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
  const stream_order order(p);
  p.captured = order.is_captured();
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

namespace {

double traffic(const kernel& k, const problem& p) {
  const bool has_cbsr = includes(k.takes, operands::cbsr_right | operands::cbsr_mask);
  return predicted_bytes(p, entries_of(k, p), has_cbsr ? retained_per_row(p) : 0);
}

}  // namespace

explanation explain(problem& p) {
  p.reasons = true;
  check(p);
  backend_of(p.a.where).find_statistics(p);
  return explained(p, in_words(p),
                   p.is_updated ? operands::updated
                                : operands::dense | operands::cbsr_right | operands::cbsr_mask,
                   &traffic);
}

}  // namespace rig
