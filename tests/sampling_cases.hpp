#pragma once

// The cases of the sampled kernels that every place shares. The sampling rules are written here a
// second time, from the papers.

#include <cmath>
#include <numeric>

#include "provoked.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"

using rig::sampling;

struct sampled_kernel {
  const char* name;
  sampling how;
};
inline constexpr sampled_kernel sampled_kernels[] = {{"bucket", sampling::bucket},
                                                     {"fastrand", sampling::fastrand},
                                                     {"adaptive", sampling::adaptive}};

/// The sampled entries of a row, slot by slot.
inline std::vector<long> staged_entries(sampling how, long row_nnz, int width) {
  std::vector<long> slots(static_cast<std::size_t>(std::min<long>(row_nnz, width)));
  std::iota(slots.begin(), slots.end(), 0L);
  const long double ratio = static_cast<long double>(row_nnz) / width;
  if (ratio <= 1 || how == sampling::bucket) return slots;
  if (how == sampling::fastrand) {
    for (long& entry : slots) entry = entry * 577 % row_nnz;
    return slots;
  }
  int runs = 32;
  if (ratio <= 2)
    runs = 4;
  else if (ratio <= 36)
    runs = 8;
  else if (ratio <= 54)
    runs = 16;
  const int length = std::max(1, width / runs);
  runs = std::min(runs, width);
  slots.resize(static_cast<std::size_t>(runs) * length);
  for (int i = 0; i < runs; ++i)
    for (int j = 0; j < length; ++j)
      slots[static_cast<std::size_t>(i + j * runs)] = i * 1429L % (row_nnz - length + 1) + j;
  return slots;
}

template <sampling How>
oracle::sparse sampled_matrix(const oracle::sparse& a, int width) {
  oracle::sparse out;
  out.rows = a.rows;
  out.columns = a.columns;
  for (int i = 0; i < a.rows; ++i) {
    const long begin = a.offsets[i];
    for (const long entry : staged_entries(How, a.offsets[i + 1] - begin, width)) {
      out.inner.push_back(a.inner[begin + entry]);
      out.values.push_back(a.values[begin + entry]);
    }
    out.offsets.push_back(out.nnz());
  }
  return out;
}

inline void sample_with(trial_spec& spec, sampling how, int width) {
  spec.width = width;
  spec.sample = how == sampling::bucket     ? sampled_matrix<sampling::bucket>
                : how == sampling::fastrand ? sampled_matrix<sampling::fastrand>
                                            : sampled_matrix<sampling::adaptive>;
}

inline constexpr int widths[] = {1, 3, 16, 64, 100};

/// Runs a semiring over all shapes, widths and variants with each kernel; true if it is served.
template <class S, class T>
bool sweep_sampled(const std::vector<shape>& shapes, int number, rig::place where) {
  if (rig::samples_as<S> == rig::reduction::none) return false;
  std::set<std::tuple<std::string, std::string, bool>> met;
  int step = 0;
  for (const shape& of : shapes)
    for (const int width : widths) {
      const variant& v =
          variants()[static_cast<std::size_t>(step + 5 * number) % variants().size()];
      for (const auto& [name, how] : sampled_kernels) {
        trial_spec spec;
        spec.of = &of;
        spec.name = v.name;
        spec.features = feature_widths[static_cast<std::size_t>(step * 4 + number + step / 11) %
                                       feature_widths.size()];
        spec.seed = test_seed() * 1009 + static_cast<unsigned long>(step);
        spec.values = std::array{draw::quarters, draw::reals, draw::quarters, draw::extremes,
                                 draw::reals}[static_cast<std::size_t>(step + number) % 5];
        // Each pass through the variants inverts it, so every variant runs with and without
        // rescaling.
        spec.rescale = rig::is_rescaling<S> &&
                       (step / static_cast<int>(variants().size()) + step + number) % 2 == 0;
        spec.where = where;
        v.apply(spec);
        normalise<S>(spec);
        sample_with(spec, how, width);
        trial<S, T, T, T> here(spec);
        std::string wrong;
        try {
          wrong = here.run(name);
        } catch (const rig::error& e) {
          wrong = e.what();
        }
        if (!wrong.empty())
          FAIL_CHECK(std::string(name), ", width ", width, ", ", std::string(S::name), ", ",
                     of.name, ", F = ", spec.features, ", ", spec.name,
                     spec.rescale ? ", rescaled" : "", ", seed ", spec.seed, ": ", wrong);
        met.insert({name, v.name, spec.rescale});
      }
      ++step;
    }
  CHECK(met.size() >= std::size(sampled_kernels) * variants().size());
  return true;
}

template <class S, class TA, class TB, class TC>
void check_types(rig::place where) {
  const shape rows = row_lengths_shape();
  for (const auto& [name, how] : sampled_kernels)
    for (const bool transposed : {false, true})
      for (const bool rescale : {false, rig::is_rescaling<S>}) {
        trial_spec spec;
        spec.of = &rows;
        spec.features = 33;
        spec.seed = test_seed();
        spec.where = where;
        spec.transpose_a = transposed;
        spec.rescale = rescale;
        sample_with(spec, how, 32);
        CHECK(trial<S, TA, TB, TC>(spec).run(name) == "");
      }
}

/// Checks that runs with the given numbers of threads have the same bits. If no row is longer than
/// the width, they are the exact kernel's bits.
template <class S, class T>
void check_same_bits(rig::place where, int features, const std::vector<int>& repeats) {
  const shape rows = row_lengths_shape();
  for (const auto& [name, how] : sampled_kernels) {
    trial_spec spec;
    spec.of = &rows;
    spec.features = features;
    spec.seed = test_seed();
    spec.values = draw::reals;
    spec.rescale = rig::is_rescaling<S>;
    spec.where = where;
    for (const int width : {100, 300}) {
      sample_with(spec, how, width);
      trial<S, T, T, T> t(spec);
      std::vector<unsigned char> once, again;
      CHECK(t.run(name, 1, &once) == "");
      for (const int threads : repeats) {
        again.clear();
        CHECK(t.run(name, threads, &again) == "");
        CHECK(again == once);
      }
    }
    for (const int width : {1000, rig::widest_sample}) {
      sample_with(spec, how, width);
      trial<S, T, T, T> whole(spec);
      std::vector<unsigned char> exact, sampled;
      CHECK(whole.run(where == rig::cpu() ? "row" : "", 0, &exact) == "");
      CHECK(whole.run(name, 0, &sampled) == "");
      CHECK(sampled == exact);
    }
  }
}

/// A matrix of one row with n entries of value 1.
inline rig::matrix<float> one_row(rig::index n) {
  std::vector<rig::index> i(static_cast<std::size_t>(n), 0), j(static_cast<std::size_t>(n));
  std::iota(j.begin(), j.end(), 0);
  return rig::matrix<float>::from_positions(1, n, i, j);
}

inline void check_repetitions(rig::place where) {
  const auto a = one_row(80).to(where);
  rig::descriptor desc{.kernel = "adaptive", .width = 64};
  const auto ones = rig::dense<float>(80, 3, 1.0f).to(where);
  const auto number = [&](auto s, int column) {
    return placed(rig::mxm(a, ones, s, desc), rig::cpu())(0, column);
  };
  CHECK(number(rig::plus_pair<float>{}, 0) == 64);
  CHECK(number(rig::mean_second<float>{}, 1) == 1);
  const auto tied = rig::mxm(a, ones, rig::arg_min_second<float>{}, desc);
  CHECK(tied.indices.to(rig::cpu())(0, 2) == 0);
  // Among the runs whose columns have the value 5, run 3 starts lowest: 3·1429 mod 65 = 62.
  rig::dense<float> steps(80, 1);
  for (int k = 0; k < 80; ++k) steps(k, 0) = k < 62 ? 0 : 5;
  const auto greatest = rig::mxm(a, steps.to(where), rig::arg_max_second<float>{}, desc);
  CHECK(greatest.values.to(rig::cpu())(0, 0) == 5);
  CHECK(greatest.indices.to(rig::cpu())(0, 0) == 62);
  desc.rescale = true;
  CHECK(number(rig::plus_pair<float>{}, 0) == 80);
}

template <class S, class T>
void check_refusal(rig::place where) {
  const auto a = one_row(9).to(where);
  const auto b = rig::dense<T>(9, 2, T(1)).to(where);
  for (const auto& [name, how] : sampled_kernels) {
    const rig::descriptor desc{.kernel = name, .width = 4};
    const auto product = [&] { rig::mxm(a, b, S{}, desc); };
    if (rig::samples_as<S> == rig::reduction::none)
      check_error(rig::errc::cannot, {name, S::name, "samples_as"}, product);
    else
      CHECK_NOTHROW(product());
    const rig::descriptor rescaling{.kernel = name, .width = 4, .rescale = true};
    const auto rescaled = [&] { rig::mxm(a, b, S{}, rescaling); };
    if (rig::is_rescaling<S>)
      CHECK_NOTHROW(rescaled());
    else
      check_error(rig::errc::cannot, {name, S::name}, rescaled);
  }
}

/// Checks that the table above names every approximate kernel of a place.
inline void check_listed(rig::place where) {
  std::size_t listed = 0;
  for (const rig::kernel& k : rig::kernels()) {
    if (k.where != where.where || k.takes != rig::operands::dense) continue;
    CHECK(k.approximate == (k.samples != sampling::whole));
    listed += k.approximate;
    for (const auto& [name, how] : sampled_kernels)
      CHECK((k.name == std::string(name)) == (k.samples == how));
  }
  CHECK(listed == std::size(sampled_kernels));
}

/// A width out of range and an unsupported semiring are refused, and C stays.
inline void check_widths(rig::place where) {
  const auto a = one_row(9).to(where);
  const auto b = rig::dense<float>(9, 2, 1.0f).to(where);
  auto c = rig::dense<float>(1, 2, 42.0f).to(where);
  constexpr rig::plus_times<float> plus_times;
  for (const auto& [name, how] : sampled_kernels) {
    for (const int width : {0, -1, 4097}) {
      const rig::descriptor desc{.kernel = name, .width = width};
      const auto in_message = {std::string(name), std::to_string(width), std::string("4096")};
      check_error(rig::errc::range, in_message,
                  [&] { rig::mxm(c, rig::none, a, b, plus_times, desc); });
      check_error(rig::errc::range, in_message, [&] { rig::explain(a, b, plus_times, desc); });
      check_error(rig::errc::range, in_message, [&] { rig::sampling_report(a, desc); });
    }
    check_error(rig::errc::cannot, {name, "mean_times"}, [&] {
      rig::mxm(c, rig::none, a, b, rig::mean_times<float>{},
               {.kernel = name, .width = 4, .rescale = true});
    });
    check_error(rig::errc::cannot, {name, "any_pair", "samples_as"}, [&] {
      rig::mxm(c, rig::none, a, b, rig::any_pair<bool>{}, {.kernel = name, .width = 4});
    });
  }
  const auto kept = placed(std::move(c), rig::cpu());
  CHECK(kept(0, 0) == 42);
  CHECK(kept(0, 1) == 42);
  // Exact kernels ignore the width.
  const auto exact = rig::mxm(a, b, plus_times, {.kernel = "row", .width = -1});
  CHECK(exact.to(rig::cpu())(0, 0) == 9);
}

/// The least share that the fraction `part` of all rows does not exceed.
inline double share_of_rows(std::vector<double> shares, double part) {
  std::sort(shares.begin(), shares.end());
  for (std::size_t r = 0; r < shares.size(); ++r)
    if (static_cast<double>(r + 1) >= part * static_cast<double>(shares.size())) return shares[r];
  return 1;
}

inline void check_report(const oracle::sparse& pattern, const sampled_kernel& k, int width,
                         bool transposed, rig::place where) {
  const auto a = rig::matrix<float>::from_csr(
                     pattern.rows, pattern.columns, std::span<const long>(pattern.offsets),
                     std::span<const int>(pattern.inner), rig::input::checked, 1.0f)
                     .to(where);
  const auto got =
      rig::sampling_report(a, {.transpose_a = transposed, .kernel = k.name, .width = width});
  const oracle::sparse op = transposed ? oracle::transpose(pattern) : pattern;
  long staged = 0, distinct = 0;
  int whole = 0;
  std::vector<double> shares;
  double sum = 0;
  for (int i = 0; i < op.rows; ++i) {
    const long n = op.offsets[i + 1] - op.offsets[i];
    const auto entries = staged_entries(k.how, n, width);
    staged += static_cast<long>(entries.size());
    distinct += static_cast<long>(std::set<long>(entries.begin(), entries.end()).size());
    whole += n <= width;
    if (n > 0) shares.push_back(static_cast<double>(entries.size()) / static_cast<double>(n));
    if (n > 0) sum += shares.back();
  }
  CHECK(got.entries == op.nnz());
  CHECK(got.staged == staged);
  CHECK(got.distinct == distinct);
  CHECK(got.rows == op.rows);
  CHECK(got.whole_rows == whole);
  const auto nnz = static_cast<double>(op.nnz());
  CHECK(got.kept_share() == (op.nnz() > 0 ? static_cast<double>(staged) / nnz : 1));
  CHECK(got.distinct_share() == (op.nnz() > 0 ? static_cast<double>(distinct) / nnz : 1));
  CHECK(got.least_share == share_of_rows(shares, 0));
  CHECK(got.percent_1_share == share_of_rows(shares, 0.01));
  CHECK(got.percent_10_share == share_of_rows(shares, 0.1));
  CHECK(got.median_share == share_of_rows(shares, 0.5));
  const double mean = shares.empty() ? 1 : sum / static_cast<double>(shares.size());
  CHECK(std::fabs(got.mean_share - mean) <= 1e-12);
}
