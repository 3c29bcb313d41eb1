#pragma once

// Measured numbers that decide on the CPU: what is read ahead, how many threads work, which kernel
// is chosen. docs/lab/cpu.md and docs/lab/analytics.md have the measurements. Not API.

#include "rig/scalar.hpp"

namespace rig::on_cpu::measured {

/// Rows of B are read ahead if they are longer than `short_row_bytes` and B exceeds the second
/// cache: so many entries of A ahead, fewer if a row of B is long.
constexpr double second_cache_bytes = 512 << 10, short_row_bytes = 128, long_row_bytes = 512;
constexpr int64 ahead_of_long_rows = 8, ahead_of_rows = 16;
/// Entries of a matrix of more bytes are far for one that does not read them in streams.
constexpr int64 far_bytes = 2 << 20;
/// The share of rows that continue a stream, from which on the machine reads ahead by itself.
constexpr double most_streams = 0.5;

/// B is converted as a whole if each of its rows is used so often, or once per so many columns.
constexpr int64 least_uses = 2, columns_per_use = 32;

/// A region of so many multiply-adds takes several slices of a scheduler.
constexpr double long_work = 1 << 25;

/// A mask of at most so many entries makes work for these alone.
constexpr int64 few_mask_entries = 4096;

/// A thread's teams, in nanoseconds: the time between two checks of its times, that which is judged
/// at once, that which the share of waiting remembers, and how long it must be calm before its
/// teams grow. It is crowded if it waits for more than one share of its time, and calm below the
/// other.
constexpr int64 ms = 1'000'000, check_interval = 4 * ms, judged_time = 8 * ms,
                least_patience = 50 * ms, most_patience = 1600 * ms;
constexpr double waiting_memory = 32 * ms, crowded = 0.25, calm = 0.125;

// Estimates. Only their order matters.

/// The gather rate per thread for tiles of 64 floats from a table in the last-level cache.
constexpr double bytes_per_second = 17e9;
/// The cost of waking all threads once more for the long rows.
constexpr double barrier_seconds = 1e-5;
/// The time of `sell` over that of `row`.
constexpr double sell_over_row = 0.8;
/// A step of a sparse product. Steps of `dot` that look values up, and that test entries alone, and
/// those of `pull`, take so many of them; an entry of a transpose that is built takes so many too.
constexpr double step_seconds = 2e-9, dot_steps = 2.5, dot_steps_without_values = 0.8,
                 pull_steps = 0.5, transpose_steps = 8;
/// `dot` builds a transpose if the products by rows would take so many times as long.
constexpr double transpose_margin = 4;
/// The entries of a column that `pull` reads if sums end early (Beamer et al., SC 2012), and the
/// cost of entries whose values a permutation scatters.
constexpr double pull_share_read = 1.0 / 14, pull_scattered = 4;

}  // namespace rig::on_cpu::measured
