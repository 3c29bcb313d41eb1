// MaxK: the selection, its gradient, and the part of the kernels' answers that all places share.

#include <string>

#include "call/checks.hpp"
#include "call/trace.hpp"
#include "rig/cbsr.hpp"
#include "rig/kernels/list.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

/// A selection with its type erased, and its memory.
struct top_k {
  cbsr_pattern structure;
  buffer values;
};

/// Allocates room for k numbers per row of x, whose type a cbsr can hold; for one call, or for a
/// result, which lasts.
top_k room_for(const dense_operand& x, int k, void* owner, bool lasts) {
  const auto structure_of = lasts ? &cbsr_pattern::uninitialised : &cbsr_pattern::temporary;
  const auto allocate = lasts ? &buffer::allocate : &buffer::temporary;
  top_k out;
  out.structure = structure_of(x.rows, x.columns, k, x.where, owner);
  out.values = allocate(out.structure.nnz() * x.value_bytes, x.where, owner);
  return out;
}

/// Selects the k greatest numbers of every row of x into `out`, and returns it as an operand.
dense_operand select_top_k(const dense_operand& x, const descriptor& desc, const top_k& out) {
  dense_operand retained;
  fill_in(retained, out.structure);
  retained.data = out.values.data();
  retained.value_bytes = x.value_bytes;
  retained.value_type = x.value_type;
  backend_of(x.where).select_top_k(x, retained, desc);
  return retained;
}

}  // namespace

template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk(const dense<T>& x, checked_index given,
                                                        const descriptor& desc) {
  const index k = given.as("maxk", "k");
  check_k("maxk", x.columns(), k);
  check_threads("maxk", desc);
  return or_out_of_memory("maxk", [&] {
    dense_operand from;
    fill_in(from, x);
    top_k made = room_for(from, k, owner_for(from.where, desc.stream), true);
    timed_call line;
    const stream_order order(from.where, desc.stream, "maxk", {from.stream, made.values.stream()});
    line.begin(from.where, order.is_captured(), [&] { return traced_words("maxk", from); });
    select_top_k(from, desc, made);
    return cbsr<T>(std::move(made.structure), std::move(made.values));
  });
}

template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk_gradient(const dense<T>& dy,
                                                                 const cbsr_pattern& retained) {
  if (dy.rows() != retained.rows() || dy.columns() != retained.columns())
    fail(errc::shape, {"maxk_gradient: the gradient is ", dy.rows(), "x", dy.columns(),
                       ", but the cbsr is ", retained.rows(), "x", retained.columns()});
  if (dy.where() != retained.where())
    fail(errc::place, {"maxk_gradient: the gradient is on ", to_string(dy.where()),
                       ", the cbsr is on ", to_string(retained.where()), "; copy one with .to()"});
  return or_out_of_memory("maxk_gradient", [&] {
    auto out = cbsr<T>::uninitialised(retained);
    dense_operand from, to;
    fill_in(from, dy);
    fill_in(to, out);
    timed_call line;
    const stream_order order(from.where, nullptr, "maxk_gradient",
                             {from.stream, to.stream, to.beside_stream});
    line.begin(from.where, order.is_captured(),
               [&] { return traced_words("maxk_gradient", from); });
    backend_of(from.where).take_retained(from, to);
    return out;
  });
}

template <class T>
requires(is_float<T> || is_small_float<T>) dense<T> to_dense(const cbsr<T>& x) {
  return or_out_of_memory("to_dense", [&] {
    auto out = dense<T>::uninitialised(x.rows(), x.columns(), x.where());
    dense_operand from, to;
    fill_in(from, x);
    fill_in(to, out);
    timed_call line;
    const stream_order order(from.where, nullptr, "to_dense",
                             {from.stream, from.beside_stream, to.stream});
    line.begin(from.where, order.is_captured(), [&] { return traced_words("to_dense", from); });
    backend_of(from.where).scatter_retained(from, to);
    return out;
  });
}

#define RIG_MAXK(T)                                                         \
  template cbsr<T> maxk(const dense<T>&, checked_index, const descriptor&); \
  template cbsr<T> maxk_gradient(const dense<T>&, const cbsr_pattern&);     \
  template dense<T> to_dense(const cbsr<T>&);
RIG_MAXK(float)
RIG_MAXK(double)
RIG_MAXK(half)
RIG_MAXK(bfloat16)
#undef RIG_MAXK

answer maxk_answer(const problem& p) {
  if (p.algebra->samples_as == reduction::none)
    return refusal(p, {"the greatest elements of B do not determine ", p.algebra->name,
                       ", which declares no samples_as"});
  const bool has_floats = p.b.value_type == type::float32 || p.b.value_type == type::float64 ||
                          p.b.value_type == type::half || p.b.value_type == type::bfloat16;
  if (!has_floats || p.algebra->right == type::other)
    return refusal(p, {"MaxK needs a B of float, double, half or bfloat16"});
  const int k = retained_per_row(p);
  if (const std::string why = no_cbsr_because(p.b.columns, k); !why.empty())
    return refusal(p, {"on B: ", why.c_str()});
  answer out;
  if (p.reasons)
    out.reason = "reads " + std::to_string(k) + " of " + std::to_string(p.b.columns) +
                 " columns of each row of B";
  return out;
}

answer maxk_backward_answer(const problem& p) {
  if (p.b.value_type == type::code && !p.algebra->ignores_right)
    return refusal(p, "reads no codes, and B is quantized");
  answer out;
  if (p.reasons)
    out.reason = "forms " + std::to_string(p.mask.full.k) + " of " + std::to_string(p.b.columns) +
                 " columns of each row of C";
  return out;
}

int retained_per_row(const problem& p) {
  if (p.mask.over == mask_operand::kind::cbsr) return p.mask.full.k;
  return p.b.k > 0 ? p.b.k : index(p.desc->k);
}

void run_with_cbsr(const problem& p, workspace& work, void (*run)(const problem&, workspace&)) {
  if (p.b.k > 0) return run(p, work);
  const top_k retained = room_for(p.b, p.desc->k, p.desc->stream, false);
  problem q = p;
  q.b = select_top_k(p.b, *p.desc, retained);
  run(q, work);
}

}  // namespace rig
