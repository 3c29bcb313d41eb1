// The stopwatch, the race, and the ceilings of the machine's memory.

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "bench.hpp"

namespace bench {
namespace {

constexpr int row_floats = 64;

/// Seconds of the fastest of five runs.
double fastest(const std::function<void()>& work) {
  double ms = wall_clock(work);
  for (int i = 0; i < 4; ++i) ms = std::min(ms, wall_clock(work));
  return ms / 1e3;
}

float* touched(const rig::buffer& memory, int threads) {
  const auto count = static_cast<rig::int64>(memory.bytes() / sizeof(float));
  auto* const data = memory.data<float>();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (rig::int64 i = 0; i < count; ++i) data[i] = 1;
  return data;
}

double gather(std::size_t table_bytes, int threads) {
  const rig::buffer memory = rig::buffer::allocate(table_bytes);
  const float* const table = touched(memory, threads);
  constexpr rig::int64 reads = 1 << 20;
  std::vector<rig::index> rows(reads);
  std::minstd_rand random(1);
  const auto last = static_cast<rig::index>(table_bytes / sizeof(float) / row_floats) - 1;
  std::uniform_int_distribution<rig::index> draw(0, last);
  for (rig::index& at : rows) at = draw(random);
  float total = 0;
  const double seconds = fastest([&] {
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
      float sums[4] = {};
#pragma omp for schedule(static)
      for (rig::int64 p = 0; p < reads; ++p) {
        // One float per cache line is read, so that the loads bind and not the additions.
        const float* const from =
            table + rig::int64{rows[static_cast<std::size_t>(p)]} * row_floats;
        for (int line = 0; line < 4; ++line) sums[line] += from[line * row_floats / 4];
      }
      for (const float sum : sums) total += sum;
    }
  });
  if (!(total > 0)) rig::fail(rig::errc::range, {"gather: the sum of ones is ", total});
  return reads * row_floats * sizeof(float) / seconds / 1e9;
}

double copy(int threads) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const rig::buffer from = rig::buffer::allocate(bytes), to = rig::buffer::allocate(bytes);
  const float* const source = touched(from, threads);
  float* const target = touched(to, threads);
  constexpr auto count = static_cast<rig::int64>(bytes / sizeof(float));
  const double seconds = fastest([&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (rig::int64 i = 0; i < count; ++i) target[i] = source[i];
  });
  return 2.0 * bytes / seconds / 1e9;
}

}  // namespace

double wall_clock(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::vector<double> race(std::span<const contender> field, int repeat, stopwatch watch) {
  constexpr int warm_up = 1;
  std::vector<std::vector<double>> times(field.size());
  for (int round = 0; round < warm_up + repeat; ++round)
    for (std::size_t i = 0; i < field.size(); ++i) {
      // Else a run would find the caches as the contender before it left them.
      if (!field[i].own_ms) field[i].run();
      const double ms = field[i].own_ms ? field[i].own_ms() : watch(field[i].run);
      if (round >= warm_up) times[i].push_back(ms);
    }
  std::vector<double> medians;
  for (std::vector<double>& of : times) medians.push_back(median(std::move(of)));
  return medians;
}

std::map<std::string, double> measure_ceilings(int threads) {
  return {{"copy", copy(threads)},
          {"gather_cached", gather(std::size_t{16} << 20, threads)},
          {"gather_memory", gather(std::size_t{512} << 20, threads)}};
}

int threads_of(const options& given) {
  return given.threads > 0 ? given.threads : omp_get_max_threads();
}

int repeat_of(const options& given) { return given.repeat > 0 ? given.repeat : 21; }

double geometric_mean(std::span<const double> numbers) {
  double sum = 0;
  for (const double x : numbers) sum += std::log(x);
  return std::exp(sum / static_cast<double>(numbers.size()));
}

}  // namespace bench
