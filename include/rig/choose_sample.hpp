#pragma once

/// @file
/// Which sample of a matrix keeps a tolerance: `choose_sample`.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rig/mxm.hpp"
#include "rig/quantized.hpp"
#include "rig/rearrange.hpp"

namespace rig {

/// Options of `choose_sample`.
/// @code
/// const rig::choice_options how{.tolerance = 0.05, .narrows = true};
/// @endcode
struct choice_options {
  double tolerance = 0.01;  ///< the greatest relative error of the product that is accepted
  bool narrows = false;     ///< whether features of 16 and 8 bits are tried too
  checked_option<"rows"> rows = 1024;  ///< rows that are drawn to measure errors, at least 2
  std::uint64_t seed = 1;              ///< draws them
};

/// In which type features are gathered.
enum class feature_type : unsigned char {
  given,      ///< that of X
  half,       ///< `rig::half`
  quantized,  ///< 8 bits: `quantized::from(X, ranges::column)`
};

/// What `choose_sample` returns: how a product is computed, what it gives up, and what it gains.
/// @code
/// const auto found = rig::choose_sample(A, X, rig::mean_second<float>{}, {.tolerance = 0.05});
/// const auto C = rig::mxm(A, X, rig::mean_second<float>{}, found.on({}));
/// @endcode
struct sample_choice {
  std::string kernel;                           ///< a sampled kernel; empty: the exact product
  index width = 0;                              ///< entries per row that it reads
  bool rescale = false;                         ///< whether its sums are rescaled
  feature_type features = feature_type::given;  ///< the type to gather features in
  double error = 0;                             ///< the relative error that was measured
  double bound = 0;                             ///< that of all rows exceeds it in few cases
  double cost = 1;  ///< bytes that it reads over those of the exact product

  /// A descriptor with this kernel, width and rescale.
  descriptor on(descriptor desc) const {
    desc.kernel = kernel;
    desc.width = width;
    desc.rescale = rescale;
    return desc;
  }
};

/// @cond internal
namespace choosing {

/// Rows that are drawn, longer ones more often, and for how many rows each stands. All rows, each
/// for itself, if there are no more than `count`.
struct drawn_lines {
  std::vector<index> rows;
  std::vector<double> weights;
  bool are_all;
};
drawn_lines draw_lines(const pattern& of, index count, std::uint64_t seed);

/// A way to compute a product.
struct sample_candidate {
  const char* kernel;
  index width;
  feature_type features;
  double cost;
};
/// The ways that cost less than the exact product with features of `columns` elements, in ascending
/// order of cost.
std::vector<sample_candidate> sample_candidates(const pattern& of, bool samples, bool narrows,
                                                index columns, std::size_t element_bytes);

/// The relative error of a product, of squares by row, and its bound for all rows.
struct relative_error {
  double measured, bound;
};
relative_error error_of(const drawn_lines& lines, const std::vector<double>& off,
                        const std::vector<double>& all);
void check_options(const choice_options& how);

/// Σ_j (C(i,j) − D(i,j))² of each row; without D, Σ_j C(i,j)².
template <class T>
std::vector<double> squares_of(const dense<T>& c, const dense<T>* d = nullptr) {
  std::vector<double> out(static_cast<std::size_t>(c.rows()), 0);
  for (index i = 0; i < c.rows(); ++i)
    for (index j = 0; j < c.columns(); ++j) {
      const double x =
          static_cast<double>(c(i, j)) - (d != nullptr ? static_cast<double>((*d)(i, j)) : 0);
      out[static_cast<std::size_t>(i)] += x * x;
    }
  return out;
}
/// work(X) with X in another type.
template <class T, class Work>
auto with_features(const dense<T>& x, feature_type as, Work work) {
  if constexpr (is_same<T, float>) {
    if (as == feature_type::half) return work(apply<half>(x, unary::identity));
    if (as == feature_type::quantized) return work(quantized::from(x, ranges::column));
  }
  return work(x);
}

}  // namespace choosing
/// @endcond

/// The cheapest way to compute op(A) ⊕.⊗ X whose error keeps a tolerance.
///
///   error = ‖C' − C‖ / ‖C‖, the norms over all elements
///
/// Draws rows, longer ones more often, and computes them exactly and by each sampled kernel, the
/// cheapest first. The first whose error is below the tolerance by three standard deviations is
/// returned; else the exact product. Errors of the whole product exceed the bound in few cases, and
/// in none if A has no more rows than are drawn. A semiring without `samples_as` is exact, and so
/// is a product with NaN or infinities. S: sums in float or double. Deterministic; times nothing.
/// Places: all; the call waits. Cost: a product with `rows` rows per way that is tried, a copy of X
/// per narrow one, and op(A) if it is transposed. Throws error: range (tolerance, rows), shape, and
/// as `mxm`.
/// @code
/// const auto found = rig::choose_sample(A, X, rig::mean_second<float>{}, {.tolerance = 0.05});
/// std::printf("%s %d\n", found.kernel.c_str(), static_cast<int>(found.width));
/// @endcode
template <class T, class X, semiring S>
sample_choice choose_sample(const matrix<T>& a, const dense<X>& x, S s, const choice_options& how,
                            const descriptor& desc = {}) {
  static_assert(is_float<typename S::accum>, "the error is measured of sums in float or double");
  using namespace choosing;
  check_options(how);
  return or_out_of_memory("choose_sample", [&]() -> sample_choice {
    const matrix<T> op = desc.transpose_a ? transpose(a) : a;
    if (op.columns() != x.rows())
      fail(errc::shape, {"choose_sample: op(A) is ", op.rows(), "x", op.columns(), ", X has ",
                         x.rows(), " rows; X needs one for each column"});
    descriptor plain = desc;
    plain.transpose_a = false;
    plain.kernel.clear();
    plain.fill = 0;
    const drawn_lines lines = draw_lines(op.structure(), how.rows, how.seed);
    const matrix<T> part = extract(op, lines.rows, all);
    const auto exact = mxm(part, x, s, plain).to(cpu());
    const auto all_squares = squares_of(exact);
    if (!std::ranges::all_of(all_squares, [](double of_row) { return std::isfinite(of_row); }))
      return {};  // no error can be measured
    constexpr bool can_narrow = is_same<X, float>;
    for (const sample_candidate& c :
         sample_candidates(op.structure(), samples_as<S> != reduction::none,
                           can_narrow && how.narrows, exact.columns(), sizeof(X))) {
      sample_choice out{c.kernel, c.width, c.width > 0 && is_rescaling<S>, c.features};
      const auto estimate = with_features(x, c.features, [&](const auto& features) {
        return mxm(part, features, s, out.on(plain)).to(cpu());
      });
      const relative_error found = error_of(lines, squares_of(exact, &estimate), all_squares);
      if (!(found.bound <= how.tolerance)) continue;
      out.error = found.measured;
      out.bound = found.bound;
      out.cost = c.cost;
      return out;
    }
    return {};
  });
}

}  // namespace rig
