// Matrices with a part of the entries.

#include "rig/sample.hpp"

#include <utility>

#include "rig/reduce.hpp"

namespace rig {
namespace {

/// T has entries of the rows `rows` of A, those that `draw` draws.
template <class T>
matrix<T> drawn_rows(const char* name, const matrix<T>& a, const index_list& rows, row_draw draw) {
  auto made = rearrange_call(name, operation::kind::sample, a);
  made.o.rows = rows;
  made.o.draw = draw;
  return run_creating<matrix<T>, void>(std::move(made), no_mask(), descriptor{});
}

void check_width(const char* name, const char* what, index width) {
  if (width < 1 || width > widest_sample)
    fail(errc::range, {name, ": ", what, " is ", width, "; it must be 1 to ", widest_sample});
}

/// The number of entries of each row, or 1 if there are none.
template <class A, class T>
dense<A> row_lengths_of(const matrix<T>& a) {
  return reduce_rows(matrix<A>(a.shared_structure(), A(1)), binary::plus).to_dense(A(1));
}

}  // namespace

template <class T>
matrix<T> sample(const matrix<T>& a, const sampling_options& how) {
  using A = algebra<T>;
  const index width = how.width;
  if (how.strategy != sampling::whole) check_width("sample", "the width", width);
  if (how.rescale && !is_float<A>)
    fail(errc::cannot, {"sample: rescale multiplies by a fraction, and the values are integers; "
                        "convert them to float"});
  return or_out_of_memory("sample", [&] {
    const matrix<T> out = drawn_rows("sample", a, index_list{}, {how.strategy, width, how.seed});
    if constexpr (is_float<A>)
      if (how.rescale)
        return join_by<T>("sample", out, binary::times,
                          ewise_mult(row_lengths_of<A>(a), row_lengths_of<A>(out), binary::divide),
                          broadcast::rows);
    return out;
  });
}

template matrix<float> sample(const matrix<float>&, const sampling_options&);
template matrix<double> sample(const matrix<double>&, const sampling_options&);
template matrix<half> sample(const matrix<half>&, const sampling_options&);
template matrix<bfloat16> sample(const matrix<bfloat16>&, const sampling_options&);
template matrix<int32> sample(const matrix<int32>&, const sampling_options&);
template matrix<int64> sample(const matrix<int64>&, const sampling_options&);
template matrix<bool> sample(const matrix<bool>&, const sampling_options&);

}  // namespace rig
