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
/// first entry, offsets are of type Offset.
template <class S, class Offset>
[[gnu::always_inline]] inline void add_rows(const problem& p, const entries<S>& all, int64 a_step,
                                            int64 b_stride, int64 c_stride, index begin, index end,
                                            int64 longest) {
  using element = output<S>;
  const auto* const offsets = static_cast<const Offset*>(p.a.offsets);
  auto* const c = static_cast<element*>(p.c.data);
  const element fill =
      p.desc->fill.has_value() ? p.desc->fill.as<element>() : finished<S>(S::zero(), 0);
  const bool adds = p.accum == accumulator::plus;
  int64 first = offsets[begin];
  for (index row = begin; row < end; ++row) {
    const int64 last = offsets[row + 1], count = last - first;
    element& place = c[row * c_stride];
    if (count > 0 && count <= longest) {
      const index* const inner = all.inner + first;
      const entries<S> some{
          all.a + first * a_step, a_step, inner, inner, all.b, b_stride, count, row, true};
      const element t = finished<S>(add_column<S>(S::zero(), some, 0, a_step, b_stride), count);
      place = adds ? plus(place, t) : t;
    } else if (count == 0 && !adds) {
      place = fill;
    }
    first = last;
  }
}

/// What `process_rows` does for any tile costs more here than the sums: most rows of rmat:16:16
/// have three entries or fewer, and a product with a vector took 2.6 times as long. For the same
/// reason steps of one are told to the compiler; loads bound the rest, so no instruction set is
/// chosen.
template <class S>
void process_column(const problem& p, const entries<S>& all, index begin, index end,
                    int64 longest) {
  constexpr int64 a_step = is_ignoring_left<S> ? 0 : 1;
  if (p.a.wide)
    add_rows<S, int64>(p, all, all.a_step, all.b_stride, p.c.stride, begin, end, longest);
  else if (all.a_step == a_step && all.b_stride == 1 && p.c.stride == 1)
    add_rows<S, int32>(p, all, a_step, 1, 1, begin, end, longest);
  else
    add_rows<S, int32>(p, all, all.a_step, all.b_stride, p.c.stride, begin, end, longest);
}

}  // namespace rig::on_cpu
