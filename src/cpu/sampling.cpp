// Sampled rows: the report, the answers of the sampled kernels, and the CPU's kernels.

#include "rig/kernels/sampling.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "rig/kernels/cpu/run.hpp"
#include "rig/kernels/cpu/sampled.hpp"
#include "rig/sampling_report.hpp"

namespace rig {
namespace {

std::string rounded(double value, std::chars_format how, int digits) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value, how, digits).ptr};
}

/// A share as a percentage; only the whole shows as "100.0 %".
std::string percent(double share) {
  const double shown = share < 1 ? std::min(100 * share, 99.9) : 100;
  return rounded(shown, std::chars_format::fixed, 1) + " %";
}

/// A count with three digits: 114000000 becomes "114 M".
std::string counted(int64 count) {
  static constexpr const char* units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  auto value = static_cast<double>(count);
  for (; value >= 999.5 && unit < 4; ++unit) value /= 1000;
  return rounded(value, std::chars_format::general, 3) + units[unit];
}

/// Counts the distinct entries of samples.
class distinct_counter {
 public:
  int64 count(const row_sample& sample) {
    ++stamp_;
    int64 found = 0;
    for (unsigned slot = 0; slot < sample.count; ++slot) {
      const std::size_t entry = sample.entry(slot);
      if (entry >= seen_.size()) seen_.resize(std::max(entry + 1, 2 * seen_.size()));
      if (seen_[entry] != stamp_) ++found;
      seen_[entry] = stamp_;
    }
    return found;
  }

 private:
  std::vector<unsigned> seen_;  ///< the last stamp of each entry
  unsigned stamp_ = 0;
};

/// How many rows keep this share of their entries.
struct rows_of_share {
  double share;
  int64 rows;
};

/// The share that the fraction `part` of the rows does not exceed.
double quantile(const std::vector<rows_of_share>& ascending, int64 rows, double part) {
  double left = part * static_cast<double>(rows);
  for (const rows_of_share& s : ascending) {
    left -= static_cast<double>(s.rows);
    if (left <= 0) return s.share;
  }
  return ascending.back().share;
}

sampling_statistics statistics_of(const pattern& of, sampling how, int width) {
  sampling_statistics out;
  out.rows = of.rows();
  out.entries = of.nnz();
  const buffer offsets = buffer::borrow(const_cast<void*>(of.offsets()),
                                        (static_cast<std::size_t>(of.rows()) + 1) *
                                            (of.offsets_64() ? sizeof(int64) : sizeof(int32)),
                                        of.where(), of.stream())
                             .to(cpu());
  const auto offset = [&](index row) -> int64 {
    return of.offsets_64() ? offsets.data<int64>()[row] : offsets.data<int32>()[row];
  };

  // Rows of one length have one sample; only rows longer than the width are counted by length.
  std::unordered_map<int64, int64> rows_of_length;
  int64 filled = 0, whole = 0;
  for (index row = 0; row < of.rows(); ++row) {
    const int64 n = offset(row + 1) - offset(row);
    if (n > 0) ++filled;
    if (n > width) {
      ++rows_of_length[n];
    } else {
      ++out.whole_rows;
      out.staged += n;
      if (n > 0) ++whole;
    }
  }
  out.distinct = out.staged;
  std::vector<rows_of_share> shares;
  if (whole > 0) shares.push_back({1, whole});
  distinct_counter counter;
  for (const auto& [length, rows] : rows_of_length) {
    const row_sample sample = sample_of(how, length, width);
    out.staged += rows * sample.count;
    out.distinct += rows * counter.count(sample);
    shares.push_back({static_cast<double>(sample.count) / static_cast<double>(length), rows});
  }
  if (filled == 0) return out;
  // Sorts by rows too, because the mean must not depend on the order.
  std::sort(shares.begin(), shares.end(), [](const rows_of_share& x, const rows_of_share& y) {
    return std::tie(x.share, x.rows) < std::tie(y.share, y.rows);
  });
  out.least_share = shares.front().share;
  out.percent_1_share = quantile(shares, filled, 0.01);
  out.percent_10_share = quantile(shares, filled, 0.1);
  out.median_share = quantile(shares, filled, 0.5);
  double sum = 0;
  for (const rows_of_share& s : shares) sum += s.share * static_cast<double>(s.rows);
  out.mean_share = sum / static_cast<double>(filled);
  return out;
}

}  // namespace

std::string sampling_statistics::text() const {
  return or_out_of_memory("sampling_report", [&] {
    const double whole = rows > 0 ? static_cast<double>(whole_rows) / rows : 1;
    return "stages " + percent(kept_share()) + " of " + counted(entries) + " entries (" +
           percent(distinct_share()) + " distinct), " + percent(whole) + " of rows whole";
  });
}

sampling_statistics sampling_report(const pattern& structure, const descriptor& desc) {
  return or_out_of_memory("sampling_report", [&] {
    problem p;
    p.name = "sampling_report";
    p.a.where = structure.where();
    p.desc = &desc;
    const kernel* named = named_kernel(p);
    if (named == nullptr)
      fail(errc::cannot,
           {p.name, ": the descriptor names no kernel; name bucket, fastrand or adaptive"});
    if (named->samples == sampling::whole)
      fail(errc::cannot, {p.name, ": kernel '", named->name,
                          "' takes no sample; name bucket, fastrand or adaptive"});
    if (!desc.transpose_a) return statistics_of(structure, named->samples, desc.width);
    return statistics_of(*structure.derived_of<transposed>()->structure, named->samples,
                         desc.width);
  });
}

answer sampling_answer(sampling how, const problem& p) {
  if (p.algebra->samples_as == reduction::none)
    return refusal(p, {"a sample of the entries does not estimate ", p.algebra->name,
                       ", which declares no samples_as"});
  if (p.desc->rescale && !p.algebra->rescales)
    return refusal(
        p, {"rescale needs a sum of numbers, and ", p.algebra->name,
            p.algebra->samples_as == reduction::mean ? " divides by the sampled entries already"
                                                     : " forms none"});
  if (p.desc->width < 1 || p.desc->width > widest_sample)
    return refusal(p, {"needs a width of 1 to ", std::to_string(widest_sample).c_str()});
  answer out;
  if (p.reasons && !p.desc->kernel.empty() && named_kernel(p)->samples == how)
    out.reason = statistics_of(*p.oriented, how, p.desc->width).text();
  return out;
}

namespace on_cpu {
namespace {

/// A sample of another operand, and its memory.
struct sampled_operand {
  sparse_operand a;
  buffer offsets, entries, values;
};

/// to[slot] = from[entry(slot)], through the permutation; each value is one Word.
template <class Word>
void gather(const sparse_operand& from, int64 begin, const row_sample& sample, void* to) {
  const auto* values = static_cast<const Word*>(from.values);
  for (unsigned slot = 0; slot < sample.count; ++slot)
    static_cast<Word*>(to)[slot] = values[from.value_at(begin + sample.entry(slot))];
}

void gather_values(const sparse_operand& from, int64 begin, const row_sample& sample, void* to) {
  switch (from.value_bytes) {
    case 1:
      return gather<unsigned char>(from, begin, sample, to);
    case 2:
      return gather<unsigned short>(from, begin, sample, to);
    case 4:
      return gather<unsigned>(from, begin, sample, to);
    case 8:
      return gather<unsigned long>(from, begin, sample, to);
    default:
      break;
  }
  const auto* values = static_cast<const unsigned char*>(from.values);
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(sample.count); ++slot) {
    const auto at =
        static_cast<std::size_t>(from.value_at(begin + sample.entry(static_cast<unsigned>(slot))));
    std::memcpy(static_cast<unsigned char*>(to) + slot * from.value_bytes,
                values + at * from.value_bytes, from.value_bytes);
  }
}

/// Prefetches the entries of a sample, and their values unless those are permuted.
void fetch(const sparse_operand& from, bool has_values, int64 begin, const row_sample& sample) {
  const auto* const values = static_cast<const unsigned char*>(from.values);
  const bool fetches_values = has_values && from.permutation == nullptr;
  const unsigned step = sample.is_start() ? 64 / sizeof(index) : 1;
  for (unsigned slot = 0; slot < sample.count; slot += step) {
    const int64 at = begin + sample.entry(slot);
    __builtin_prefetch(from.entries + at);
    if (fetches_values)
      __builtin_prefetch(values + static_cast<std::size_t>(at) * from.value_bytes);
  }
}

sampled_operand sample_rows(sampling how, const problem& p) {
  const sparse_operand& from = p.a;
  const auto sample = [&](index row) {
    return sample_of(how, from.offset(row + 1) - from.offset(row), p.desc->width);
  };
  sampled_operand out{from, {}, {}, {}};
  out.offsets = buffer::allocate((static_cast<std::size_t>(from.rows) + 1) * sizeof(int64));
  auto* const offsets = out.offsets.data<int64>();
  offsets[0] = 0;
  for (index row = 0; row < from.rows; ++row) offsets[row + 1] = offsets[row] + sample(row).count;
  out.a.nnz = offsets[from.rows];
  const auto staged = static_cast<std::size_t>(out.a.nnz);
  const bool has_values = from.values != nullptr && !p.algebra->ignores_left;
  out.entries = buffer::allocate(staged * sizeof(index));
  if (has_values) out.values = buffer::allocate(staged * from.value_bytes);
  auto* const entries = out.entries.data<index>();
  constexpr index rows_ahead = 4;  // docs/lab/cpu.md
  const int threads = threads_for(static_cast<double>(out.a.nnz) + from.rows, p.desc->threads);
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
  for (index row = 0; row < from.rows; ++row) {
    if (row + rows_ahead < from.rows)
      fetch(from, has_values, from.offset(row + rows_ahead), sample(row + rows_ahead));
    const row_sample s = sample(row);
    const int64 begin = from.offset(row), to = offsets[row];
    for (unsigned slot = 0; slot < s.count; ++slot)
      entries[to + slot] = from.entries[begin + s.entry(slot)];
    if (has_values)
      gather_values(
          from, begin, s,
          out.values.data<unsigned char>() + static_cast<std::size_t>(to) * from.value_bytes);
  }
  out.a.offsets = offsets;
  out.a.offsets_64 = true;
  out.a.entries = entries;
  out.a.permutation = nullptr;
  out.a.values = has_values ? out.values.data() : nullptr;
  return out;
}

}  // namespace

answer sampled_answer(sampling how, const problem& p) {
  answer out = sampling_answer(how, p);
  if (out.says == verdict::cannot) return out;
  const double nnz = static_cast<double>(std::max<int64>(p.a.nnz, 1));
  const double staged = std::min(nnz, static_cast<double>(p.a.rows) * p.desc->width);
  out.seconds = estimate(p, staged / nnz / std::max(1u, std::thread::hardware_concurrency()));
  return out;
}

void sampled(sampling how, const problem& p) {
  // No row exceeds the width, so the product is exact, to the bit.
  if (p.oriented->derived_of<row_lengths>()->longest <= p.desc->width)
    return run_converted(row_family, p);
  const sampled_operand sample = sample_rows(how, p);
  problem q = p;
  q.a = sample.a;
  if (p.desc->rescale) q.rescaled_to = &p.a;
  run_converted(row_family, q);
}

}  // namespace on_cpu
}  // namespace rig
