// Which sample of a matrix keeps a tolerance: rows to measure on, ways to try, and their errors.

#include "rig/choose_sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace rig::choosing {
namespace {

/// The lengths of the rows of a pattern in any place.
std::vector<int64> lengths_of(const pattern& of) {
  const std::size_t bytes = of.offsets_64() ? sizeof(int64) : sizeof(int32);
  const buffer offsets =
      buffer::borrow(const_cast<void*>(of.offsets()),
                     (static_cast<std::size_t>(of.rows()) + 1) * bytes, of.where(), of.stream())
          .to(cpu());
  const auto offset = [&](std::size_t row) -> int64 {
    return of.offsets_64() ? offsets.data<int64>()[row] : offsets.data<int32>()[row];
  };
  std::vector<int64> out(static_cast<std::size_t>(of.rows()));
  for (std::size_t row = 0; row < out.size(); ++row) out[row] = offset(row + 1) - offset(row);
  return out;
}

}  // namespace

void check_options(const choice_options& how) {
  if (!(how.tolerance >= 0))
    fail(errc::range,
         {"choose_sample: the tolerance is ", how.tolerance, "; it must be at least 0"});
  if (how.rows < 2) fail(errc::range, {"choose_sample: rows is ", how.rows, "; give at least 2"});
}

drawn_lines draw_lines(const pattern& of, index count, std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(of.rows());
  drawn_lines out{std::vector<index>(n), std::vector<double>(n, 1), of.rows() <= count};
  std::iota(out.rows.begin(), out.rows.end(), 0);
  if (out.are_all) return out;
  // A third of the draws by each of 1, length and length²: rows that add most are drawn most.
  const auto lengths = lengths_of(of);
  double entries = 1e-300, squares = 1e-300;
  for (const int64 length : lengths) {
    entries += static_cast<double>(length);
    squares += static_cast<double>(length) * static_cast<double>(length);
  }
  std::vector<double> share(n), before(n + 1, 0);
  for (std::size_t row = 0; row < n; ++row) {
    const auto length = static_cast<double>(lengths[row]);
    share[row] = 1 / static_cast<double>(n) + length / entries + length * length / squares;
    before[row + 1] = before[row] + share[row];
  }
  std::mt19937_64 random(seed);
  out.rows.resize(static_cast<std::size_t>(count));
  out.weights.resize(out.rows.size());
  for (std::size_t k = 0; k < out.rows.size(); ++k) {
    const double at = static_cast<double>(random() >> 11) * 0x1p-53 * before[n];
    const auto next = std::upper_bound(before.begin() + 1, before.end() - 1, at);
    const auto row = static_cast<std::size_t>(next - before.begin() - 1);
    out.rows[k] = static_cast<index>(row);
    out.weights[k] = before[n] / share[row];
  }
  return out;
}

std::vector<sample_candidate> sample_candidates(const pattern& of, bool samples, bool narrows,
                                                index columns, std::size_t element_bytes) {
  const auto lengths = lengths_of(of);
  const auto bytes_of = [&](feature_type as) {
    const std::size_t each = as == feature_type::half        ? sizeof(half)
                             : as == feature_type::quantized ? 1
                                                             : element_bytes;
    return static_cast<double>(sizeof(index) + static_cast<std::size_t>(columns) * each);
  };
  const double whole = static_cast<double>(of.nnz()) * bytes_of(feature_type::given);
  std::vector<sample_candidate> out;
  if (of.nnz() == 0) return out;
  const auto add = [&](const char* kernel, index width, double entries) {
    using enum feature_type;
    for (const feature_type as : {given, half, quantized}) {
      const double cost = entries * bytes_of(as) / whole;
      if ((as == given || narrows) && cost < 1) out.push_back({kernel, width, as, cost});
    }
  };
  add("", 0, static_cast<double>(of.nnz()));
  if (samples)
    for (index width = 8; width <= widest_sample; width *= 2) {
      double entries = 0;
      for (const int64 length : lengths)
        entries += static_cast<double>(std::min<int64>(length, width));
      for (const char* kernel : {"fastrand", "bucket", "adaptive"}) add(kernel, width, entries);
    }
  std::ranges::stable_sort(out, {}, &sample_candidate::cost);
  return out;
}

relative_error error_of(const drawn_lines& lines, const std::vector<double>& off,
                        const std::vector<double>& all) {
  const auto count = static_cast<double>(off.size());
  double sum_off = 0, sum_all = 0;
  for (std::size_t k = 0; k < off.size(); ++k) {
    sum_off += off[k] * lines.weights[k];
    sum_all += all[k] * lines.weights[k];
  }
  if (sum_off == 0 && lines.are_all) return {0, 0};
  const double ratio = sum_off / sum_all;
  if (lines.are_all) return {std::sqrt(ratio), std::sqrt(ratio)};
  // The variance of a ratio of two sums, linearised.
  double squares = 0;
  for (std::size_t k = 0; k < off.size(); ++k) {
    const double z = (off[k] - ratio * all[k]) * lines.weights[k];
    squares += z * z;
  }
  const double deviation = std::sqrt(squares * count / (count - 1)) / sum_all;
  constexpr double deviations = 3;
  return {std::sqrt(ratio), std::sqrt(ratio + deviations * deviation)};
}

}  // namespace rig::choosing
