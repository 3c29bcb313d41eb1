// scatter_add: its checks, and the order of its streams.

#include "rig/scatter.hpp"

#include "call/checks.hpp"
#include "call/operands.hpp"
#include "call/trace.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

constexpr const char* name = "scatter_add";

void check_operands(const dense_operand& y, accumulator accum, const dense_operand& x,
                    const dense_operand& rows) {
  if (rows.rows != x.rows || rows.columns != x.columns)
    fail(errc::shape, {name, ": X is ", x.rows, "x", x.columns, " and rows is ", rows.rows, "x",
                       rows.columns, "; name a row for each element of X"});
  if (y.columns != x.columns)
    fail(errc::shape,
         {name, ": Y has ", y.columns, " columns and X has ", x.columns, "; give Y as many as X"});
  for (const auto& [what, where] : {std::pair{"rows", rows.where}, {"Y", y.where}})
    if (where != x.where)
      fail(errc::place, {name, ": X is on ", to_string(x.where), ", ", what, " is on ",
                         to_string(where), "; copy one with .to()"});
  if (accum != accumulator::none && accum != accumulator::plus)
    fail(errc::cannot, {name,
                        ": sums join Y by plus alone; pass rig::accumulator::plus, or "
                        "rig::none to overwrite Y"});
  for (const auto& [what, of] : {std::pair{"X", &x}, {"rows", &rows}})
    if (memory(y).overlaps(*of))
      fail(errc::cannot, {name, ": Y shares memory with ", what, "; give a Y of its own"});
}

void run(const dense_operand& y, accumulator accum, const dense_operand& x,
         const dense_operand& rows, const descriptor& desc) {
  check_operands(y, accum, x, rows);
  check_threads(name, desc);
  timed_call line;
  const stream_order order(x.where, desc.stream, name, {x.stream, rows.stream, y.stream});
  line.begin(x.where, order.is_captured(), [&] { return traced_words(name, x); });
  if (y.rows > 0 && y.columns > 0)
    backend_of(x.where).scatter_add(x, rows, y, accum == accumulator::plus, desc);
}

}  // namespace

template <class T>
requires(is_float<T> ||
         is_small_float<T>) void scatter_add(dense<T>& y, accumulator accum, const dense<T>& x,
                                             const dense<int32>& rows, const descriptor& desc) {
  or_out_of_memory(name, [&] {
    dense_operand to, from, at;
    fill_in(to, y);
    fill_in(from, x);
    fill_in(at, rows);
    run(to, accum, from, at, desc);
  });
}

template <class T>
requires(is_float<T> ||
         is_small_float<T>) dense<T> scatter_add(const dense<T>& x, const dense<int32>& rows,
                                                 checked_index given, const descriptor& desc) {
  const index count = given.as(name, "count");
  if (count < 0)
    fail(errc::range, {name, ": count is ", count, "; give the rows of the result, at least 0"});
  return or_out_of_memory(name, [&] {
    auto y =
        dense<T>::uninitialised(count, x.columns(), x.where(), owner_for(x.where(), desc.stream));
    scatter_add(y, none, x, rows, desc);
    return y;
  });
}

#define RIG_SCATTER_ADD(T)                                                                \
  template void scatter_add(dense<T>&, accumulator, const dense<T>&, const dense<int32>&, \
                            const descriptor&);                                           \
  template dense<T> scatter_add(const dense<T>&, const dense<int32>&, checked_index,      \
                                const descriptor&);
RIG_SCATTER_ADD(float)
RIG_SCATTER_ADD(double)
RIG_SCATTER_ADD(half)
RIG_SCATTER_ADD(bfloat16)
#undef RIG_SCATTER_ADD

}  // namespace rig
