#pragma once

#include "rig/cpu/load.hpp"

namespace rig::on_cpu {

/// Is the result one column that `process_column` can write: stored as computed, no mask, C = T or
/// C += T?
template <class S>
bool is_plain_column(const problem& p) {
  if constexpr (!is_storage<output<S>> || has_terminal<S>)
    return false;
  else
    return p.b.columns == 1 && p.c.value_type == type_of<output<S>> &&
           p.mask.over == mask_operand::kind::absent &&
           (p.accum == accumulator::none || p.accum == accumulator::plus);
}

/// Rows [begin, end) of a plain column that have at most `longest` entries; `all` is A from its
/// first entry. What `process_rows` does for any tile costs more here than the sums: on rmat:16:16
/// most rows have three entries or fewer, and a product with a vector took 2.6 times as long. Loads
/// bound it, so no instruction set is chosen.
template <class S>
void process_column(const problem& p, const entries<S>& all, index begin, index end,
                    int64 longest) {
  using element = output<S>;
  auto* const c = static_cast<element*>(p.c.data);
  const element fill =
      p.desc->fill.has_value() ? p.desc->fill.as<element>() : finished<S>(S::zero(), 0);
  const bool adds = p.accum == accumulator::plus;
  entries<S> some = all;
  some.starts = true;
  int64 next = p.a.offset(begin);
  for (some.row = begin; some.row < end; ++some.row) {
    const int64 first = next;
    next = p.a.offset(some.row + 1);
    some.count = next - first;
    if (some.count > longest) continue;
    element& place = c[some.row * p.c.stride];
    if (some.count == 0) {
      if (!adds) place = fill;
      continue;
    }
    some.a = all.a + first * all.a_step;
    some.inner = some.b_rows = all.inner + first;
    typename S::accum sum;
    accumulate_column<S>(&sum, some, 0, 0);
    const element t = finished<S>(sum, some.count);
    place = adds ? plus(place, t) : t;
  }
}

}  // namespace rig::on_cpu
