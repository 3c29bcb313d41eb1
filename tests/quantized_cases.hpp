#pragma once

// The products with INT8 features that every place shares.

#include <cfloat>
#include <cmath>

#include "rig/quantized.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"

/// Runs every shape and variant with the widths `features`, against an oracle over the dequantised
/// numbers. The ranges are of one kind, or of both in turn. `run` receives the trial, S's name and
/// the spec.
template <class S, class TA, class TC>
void sweep_quantized(const std::vector<shape>& shapes, int number, const std::vector<int>& features,
                     std::optional<rig::ranges> over, rig::place where, const auto& run) {
  const auto count = static_cast<int>(variants().size());
  const int rounds = count / static_cast<int>(shapes.size()) + 1;
  for (int step = 0; step < rounds * static_cast<int>(shapes.size()); ++step) {
    const variant& v = variants()[static_cast<std::size_t>((step + 5 * number) % count)];
    trial_spec spec;
    spec.name = v.name;
    spec.of = &shapes[static_cast<std::size_t>(step + number) % shapes.size()];
    spec.features =
        features[static_cast<std::size_t>(step * 4 + number + step / 11) % features.size()];
    spec.seed = test_seed() * 7919 + static_cast<unsigned long>(number * 1000 + step);
    spec.values = step % 3 == 0 ? draw::reals : draw::quarters;
    spec.where = where;
    v.apply(spec);
    normalise<S>(spec);
    spec.quantized = over.value_or(step % 2 == 0 ? rig::ranges::matrix : rig::ranges::column);
    if (spec.transpose_b) spec.quantized = rig::ranges::matrix;
    trial<S, TA, float, TC> t(spec);
    run(t, S::name, spec);
  }
}

/// Compares products over codes with products over the dequantised numbers. Sums may differ by
/// rounding if `is_reordered(features)`.
inline void check_dequantised(rig::place where, bool (*is_reordered)(int features)) {
  random_bits random(test_seed());
  const oracle::sparse p = random_pattern(60, 80, 0.2, random);
  std::vector<float> weights(p.inner.size());
  for (float& w : weights) w = static_cast<float>(random.unit() - 0.5);
  const auto a =
      rig::matrix<float>::from_csr(60, 80, std::span<const long>(p.offsets),
                                   std::span<const int>(p.inner), std::span<const float>(weights))
          .to(where);
  for (const int f : {1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 100, 128, 257})
    for (const rig::ranges over : {rig::ranges::matrix, rig::ranges::column}) {
      rig::dense<float> x(80, f);
      for (int i = 0; i < 80; ++i)
        for (int j = 0; j < f; ++j) x(i, j) = static_cast<float>(random.unit() * 20 - 10);
      const rig::quantized q = rig::quantized::from(x, over).to(where);
      const rig::dense<float> back = placed(q.dequantised<float>(), where);
      const auto same = [&](auto s, double bound) {
        const auto got = placed(rig::mxm(a, q, s), rig::cpu()),
                   want = placed(rig::mxm(a, back, s), rig::cpu());
        double off = 0;
        for (int i = 0; i < 60; ++i)
          for (int j = 0; j < f; ++j)
            off = std::max<double>(off, std::fabs(got(i, j) - want(i, j)));
        CHECK(off <= bound);
      };
      same(rig::max_second<float>{}, 0);
      same(rig::min_plus<float>{}, 0);
      same(rig::plus_times<float>{}, is_reordered(f) ? 80 * 5 * 80 * double(FLT_EPSILON) : 0);
    }
}
