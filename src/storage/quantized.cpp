#include "rig/quantized.hpp"

#include <omp.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"
#include "storage/integers.hpp"

namespace rig {
namespace {

/// The number of threads for a pass over the matrix.
int threads_for(index rows, index columns) {
  return on_cpu::threads_for(static_cast<double>(rows) * columns);
}

struct extent {
  double least = highest<double>(), greatest = lowest<double>();

  void join(const extent& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

/// The least and the greatest number of every range.
template <class T>
std::vector<extent> extents_of(const dense<T>& x, index range_count) {
  const bool per_column = range_count != 1;
  const int64 width = x.columns();
  std::vector<extent> all(static_cast<std::size_t>(range_count));
  int64 first_bad = highest<int64>();
  const int threads = threads_for(x.rows(), x.columns());
  // Allocates before the threads start, because no exception may leave a thread.
  std::vector<std::vector<extent>> of_thread(static_cast<std::size_t>(threads), all);
#pragma omp parallel num_threads(threads)
  {
    std::vector<extent>& mine = of_thread[static_cast<std::size_t>(omp_get_thread_num())];
    int64 my_bad = highest<int64>();
    const auto see = [&](extent& e, index i, index j) {
      const double number = convert<double>(x(i, j));
      if (!(std::fabs(number) <= FLT_MAX)) my_bad = std::min(my_bad, i * width + j);
      e.join({number, number});
    };
#pragma omp for schedule(static) nowait
    for (index i = 0; i < x.rows(); ++i) {
      if (per_column) {
        for (index j = 0; j < x.columns(); ++j) see(mine[static_cast<std::size_t>(j)], i, j);
        continue;
      }
      extent row;
      for (index j = 0; j < x.columns(); ++j) see(row, i, j);
      mine[0].join(row);
    }
#pragma omp critical
    {
      for (std::size_t r = 0; r < all.size(); ++r) all[r].join(mine[r]);
      first_bad = std::min(first_bad, my_bad);
    }
  }
  if (first_bad != highest<int64>()) {
    const auto i = static_cast<index>(first_bad / width), j = static_cast<index>(first_bad % width);
    fail(errc::range, {"quantized: element (", i, ", ", j, ") is ", convert<double>(x(i, j)),
                       "; the ends of a range must be finite floats"});
  }
  return all;
}

/// A range in floats, and the conversion of numbers to its steps.
struct scale {
  float low = 0, step = 0;
  double divisor = 1, factor = 1;

  scale(const extent& e, rounding how) {
    if (!(e.least <= e.greatest)) return;  // an empty range
    low = static_cast<float>(e.least);
    if (low > e.least) low = std::nextafter(low, -FLT_MAX);
    low += 0.0f;  // which zero is the least depends on the threads
    const double span = e.greatest - low, exact = span / 255;
    // Rounds up, so a dequantised code lies within one step of the exact value.
    step = static_cast<float>(exact);
    if (step < exact) step = std::nextafter(step, FLT_MAX);
    if (!std::isfinite(std::fma(step, 255.0f, low))) step = std::nextafter(step, 0.0f);
    if (step == 0) return;
    // The paper's quotient maps the greatest number to code 255. It is used unless rounding to
    // `step` moves other codes far, which happens for denormal floats.
    const bool as_published = how == rounding::floor && step >= FLT_MIN && step >= exact;
    divisor = as_published ? span : step;
    factor = as_published ? 255 : 1;
  }
};

}  // namespace

template <class T>
requires(is_float<T> || is_small_float<T>) quantized quantized::from(const dense<T>& x, ranges over,
                                                                     rounding how) {
  check_enum("quantized", "ranges", over, ranges::column);
  check_enum("quantized", "rounding", how, rounding::nearest);
  if (x.where() != cpu()) return from(x.to(cpu()), over, how).to(x.where());
  return or_out_of_memory("quantized", [&] {
    const index count = over == ranges::column ? x.columns() : 1;
    std::vector<scale> scales;
    for (const extent& e : extents_of(x, count)) scales.emplace_back(e, how);
    const parts out = uninitialised(x.rows(), x.columns(), count);
    for (std::size_t r = 0; r < scales.size(); ++r) {
      out.low[r] = scales[r].low;
      out.step[r] = scales[r].step;
    }
    const double offset = how == rounding::nearest ? 0.5 : 0;
    const bool per_column = count != 1;
#pragma omp parallel for schedule(static) num_threads(threads_for(x.rows(), x.columns()))
    for (index i = 0; i < x.rows(); ++i) {
      unsigned char* const codes = out.codes + static_cast<int64>(i) * x.columns();
      for (index j = 0; j < x.columns(); ++j) {
        const scale& s = scales[static_cast<std::size_t>(per_column ? j : 0)];
        const double steps = (convert<double>(x(i, j)) - s.low) / s.divisor * s.factor;
        codes[j] = static_cast<unsigned char>(std::min(steps + offset, 255.0));
      }
    }
    return out.made;
  });
}

quantized quantized::from_codes(checked_index rows, checked_index columns,
                                std::span<const unsigned char> codes, std::span<const float> low,
                                std::span<const float> step) {
  check_shape("quantized", rows, columns);
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (codes.size() != count)
    fail(errc::shape,
         {"quantized: ", rows, "x", columns, " needs ", count, " codes, got ", codes.size()});
  if (low.size() != step.size() ||
      (low.size() != 1 && low.size() != static_cast<std::size_t>(columns)))
    fail(errc::shape, {"quantized: low has ", low.size(), " numbers and step has ", step.size(),
                       "; give each 1 or ", columns});
  const parts out = uninitialised(rows, columns, static_cast<index>(low.size()));
  std::copy(codes.begin(), codes.end(), out.codes);
  std::copy(low.begin(), low.end(), out.low);
  std::copy(step.begin(), step.end(), out.step);
  out.check("quantized");
  return out.made;
}

quantized quantized::to(place target) const {
  if (target == where()) return *this;
  quantized made = *this;
  made.storage_ = storage_.to(target);
  return made;
}

template <class T>
requires(is_float<T> || is_small_float<T>) dense<T> quantized::dequantised(index first, index count)
const {
  if (first < 0 || count < 0 || count > rows() - first)
    fail(errc::range, {"quantized: ", count, " rows from row ", first, " on, and there are ",
                       rows(), "; name rows that are there"});
  return or_out_of_memory("quantized", [&] {
    auto out = dense<T>::uninitialised(count, columns(), where());
    dense_operand codes, to;
    fill_in(codes, *this);
    fill_in(to, out);
    codes.data = const_cast<unsigned char*>(data() + int64{first} * columns_);
    codes.rows = count;
    const stream_order in_order(where(), to.stream, "quantized", {codes.stream});
    backend_of(where()).dequantise(codes, to);
    return out;
  });
}

quantized::parts quantized::uninitialised(index rows, index columns, index range_count) {
  check_shape("quantized", rows, columns);
  if (range_count != 1 && range_count != columns)
    fail(errc::shape,
         {"quantized: ", range_count, " ranges for ", rows, "x", columns, "; give 1 or ", columns});
  parts out;
  quantized& made = out.made;
  made.rows_ = rows;
  made.columns_ = columns;
  made.range_count_ = range_count;
  made.storage_ = buffer::allocate(made.codes_bytes() +
                                   2 * sizeof(float) * static_cast<std::size_t>(range_count));
  out.codes = const_cast<unsigned char*>(made.data());
  out.low = const_cast<float*>(made.low());
  out.step = const_cast<float*>(made.step());
  return out;
}

void quantized::parts::check(const char* operation) const {
  for (index r = 0; r < made.range_count(); ++r) {
    const float end = std::fma(step[r], 255.0f, low[r]);
    if (!(step[r] >= 0) || !std::isfinite(end))
      fail(errc::range,
           {operation, ": range ", r, " is ", low[r], " + ", step[r],
            " · q; low and low + 255 · step must be finite floats, and step at least 0"});
  }
}

#define RIG_QUANTISE(T)                                                  \
  template quantized quantized::from(const dense<T>&, ranges, rounding); \
  template dense<T> quantized::dequantised(index, index) const;
RIG_QUANTISE(float)
RIG_QUANTISE(double)
RIG_QUANTISE(half)
RIG_QUANTISE(bfloat16)
#undef RIG_QUANTISE

}  // namespace rig
