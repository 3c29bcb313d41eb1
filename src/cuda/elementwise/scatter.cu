// Sums of elements at rows that each one names, in fixed point: integers may be added in any order.

#include <cub/device/device_reduce.cuh>

#include "cuda/elementwise/each.hpp"

namespace rig::on_cuda {
namespace {

using word = unsigned long long;  ///< of a sum, as atomicAdd has it
constexpr int sum_bits = 62;
/// Sums beyond 2^62 in size, which no finite elements have.
constexpr int64 infinite = highest<int64>(), no_number = highest<int64>() - 1;
/// Sums that are formed at a time, unless one column has more.
constexpr int64 sums_at_once = 1 << 27;

/// The fixed point of numbers up to `greatest` in size, 2^`bits` of which have a sum of 62 bits.
struct fixed_point {
  double greatest;
  int bits;

  __device__ int shift() const {
    return sum_bits - bits - (greatest > 0 ? ilogb(greatest) + 1 : 0);
  }
};

/// Some columns of X, of their rows, and of Y; element k is in row k / width. There are fewer than
/// 2^32 elements, and sums.
template <class T>
struct columns_of_x {
  static constexpr bool is_wide = is_same<T, double>;  ///< whether a sum has a second word
  const T* x;
  const int32* rows;
  T* y;
  int64 x_stride, rows_stride, y_stride;
  unsigned width;  ///< of a row
  index count;     ///< rows of Y
  word* sums;      ///< those of second words follow
  double* greatest;
  int bits;
  bool* has_others;  ///< whether an added element is infinite or no number

  __device__ T element(unsigned k) const { return x[k / width * x_stride + k % width]; }
  /// Where the sum of element k is; negative: nowhere.
  __device__ int64 place_of(unsigned k) const {
    const int32 row = rows[k / width * rows_stride + k % width];
    return row >= 0 && row < count ? int64{row} * width + k % width : -1;
  }
  __device__ fixed_point unit() const { return {*greatest, bits}; }
  __device__ word* second(int64 place) const { return sums + int64{count} * width + place; }
};

template <class T>
struct finite_size {
  columns_of_x<T> of;
  __device__ double operator()(unsigned k) const {
    const double x = fabs(convert<double>(of.element(k)));
    return isfinite(x) && of.place_of(k) >= 0 ? x : 0;
  }
};

template <class T>
__device__ void add_finite(const columns_of_x<T>& of, unsigned k) {
  const int64 place = of.place_of(k);
  if (place < 0) return;
  const double x = convert<double>(of.element(k));
  if (!isfinite(x)) {
    *of.has_others = true;
    return;
  }
  const double scaled = scalbn(x, of.unit().shift());
  const int64 whole = __double2ll_rn(scaled);
  atomicAdd(of.sums + place, static_cast<word>(whole));
  if constexpr (columns_of_x<T>::is_wide) {
    const double rest = scalbn(scaled - static_cast<double>(whole), sum_bits - of.bits);
    if (rest != 0) atomicAdd(of.second(place), static_cast<word>(__double2ll_rn(rest)));
  }
}

/// Any two infinities and numbers that are none have one sum, in either order.
template <class T>
__device__ void add_other(const columns_of_x<T>& of, unsigned k) {
  const double x = convert<double>(of.element(k));
  const int64 place = isfinite(x) ? -1 : of.place_of(k);
  if (place < 0) return;
  const int64 given = isnan(x) ? no_number : x > 0 ? infinite : -infinite;
  word seen = of.sums[place], expected;
  do {
    const auto before = static_cast<int64>(seen);
    const bool is_finite = before < no_number && before > -infinite;
    const int64 sum = is_finite || before == given ? given : no_number;
    expected = seen;
    seen = atomicCAS(of.sums + place, expected, static_cast<word>(sum));
  } while (seen != expected);
}

template <class T>
__device__ double sum_at(const columns_of_x<T>& of, int64 place) {
  const auto whole = static_cast<int64>(of.sums[place]);
  if (whole == no_number) return nan("");
  if (whole == infinite || whole == -infinite) return static_cast<double>(whole) * INFINITY;
  const int shift = of.unit().shift();
  double sum = scalbn(static_cast<double>(whole), -shift);
  if constexpr (columns_of_x<T>::is_wide)
    sum += scalbn(static_cast<double>(static_cast<int64>(*of.second(place))),
                  of.bits - sum_bits - shift);
  return sum;
}

template <class T>
void find_greatest(const build& by, const columns_of_x<T>& of, index rows) {
  const auto sizes =
      thrust::make_transform_iterator(thrust::counting_iterator<unsigned>(0), finite_size<T>{of});
  by.with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Max(scratch, bytes, sizes, of.greatest, int64{rows} * of.width,
                                  by.stream);
  });
}

template <class T>
void add_columns(const build& by, const columns_of_x<T>& of, index rows, bool accumulates) {
  const int64 elements = int64{rows} * of.width;
  by.each(elements, [of] __device__(unsigned k) { add_finite(of, k); });
  by.each(elements, [of] __device__(unsigned k) {
    if (*of.has_others) add_other(of, k);
  });
  by.each(int64{of.count} * of.width, [of, accumulates] __device__(unsigned place) {
    T& to = of.y[place / of.width * of.y_stride + place % of.width];
    const double sum = sum_at(of, place);
    to = convert<T>(accumulates ? convert<double>(to) + sum : sum);
  });
}

/// The columns that are summed at a time, in whole warps if there are that many.
index columns_at_once(index columns, int64 rows) {
  const int64 fit = std::max<int64>(sums_at_once / std::max<int64>(rows, 1), 1);
  return static_cast<index>(std::min<int64>(columns, fit < 32 ? fit : fit / 32 * 32));
}

template <class T>
void scatter_add_as(const build& by, const dense_operand& x, const dense_operand& rows,
                    const dense_operand& y, bool accumulates) {
  const index most = columns_at_once(x.columns, std::max(x.rows, y.rows));
  const index parts = (x.columns - 1) / most + 1;
  const buffer known = by.room(int64{parts} + 1, sizeof(double));
  const buffer sums =
      by.room(int64{y.rows} * most * (columns_of_x<T>::is_wide ? 2 : 1), sizeof(word));
  by.clear(known);
  const auto part = [&](index p) -> columns_of_x<T> {
    const int64 first = int64{p} * most;
    return {static_cast<const T*>(x.data) + first,
            static_cast<const int32*>(rows.data) + first,
            static_cast<T*>(y.data) + first,
            x.stride,
            rows.stride,
            y.stride,
            static_cast<unsigned>(std::min<int64>(most, x.columns - first)),
            y.rows,
            sums.data<word>(),
            known.data<double>() + p,
            bits_below(x.rows),
            reinterpret_cast<bool*>(known.data<double>() + parts)};
  };
  // All memory is allocated before Y changes.
  for (index p = 0; p < parts; ++p) find_greatest(by, part(p), x.rows);
  for (index p = 0; p < parts; ++p) {
    by.clear(sums);
    add_columns(by, part(p), x.rows, accumulates);
  }
}

}  // namespace

void scatter_add(const dense_operand& x, const dense_operand& rows, const dense_operand& y,
                 bool accumulates, const descriptor& desc) {
  const build by(x.where, stream_for(x.where.device, desc.stream), "scatter_add");
  if (x.value_type == type::float32) scatter_add_as<float>(by, x, rows, y, accumulates);
  if (x.value_type == type::float64) scatter_add_as<double>(by, x, rows, y, accumulates);
  if (x.value_type == type::half) scatter_add_as<half>(by, x, rows, y, accumulates);
  if (x.value_type == type::bfloat16) scatter_add_as<bfloat16>(by, x, rows, y, accumulates);
}

}  // namespace rig::on_cuda
