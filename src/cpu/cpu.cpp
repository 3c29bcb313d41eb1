// The parts of the CPU kernels that do not depend on a semiring.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "cpu/measured.hpp"
#include "rig/kernels/cpu/run.hpp"

namespace rig::on_cpu {
namespace {

isa best_isa() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return isa::avx2;
#endif
  return isa::baseline;
}

isa wanted_isa() {
  const isa best = best_isa();
  const char* wanted = std::getenv("RIG_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (const isa which : {isa::baseline, isa::avx2, isa::avx512})
    if (std::string_view(wanted) == to_string(which)) return std::min(which, best);
  fail(errc::range, {"RIG_ISA is '", wanted, "'; set it to baseline, avx2 or avx512"});
}

}  // namespace

isa instruction_set() {
  static const isa chosen = wanted_isa();
  return chosen;
}

const char* to_string(isa which) {
  static constexpr const char* names[] = {"baseline", "avx2", "avx512"};
  return names[static_cast<int>(which)];
}

namespace {

/// The share of sampled rows whose first entry is one column right of the row's before, as in grids
/// and other bands. The machine's own prefetcher follows such rows of B.
double share_of_streams(const sparse_operand& a) {
  constexpr index samples = 16;
  index found = 0, seen = 0;
  for (index k = 0; k < samples; ++k) {
    const auto row = static_cast<index>(int64{a.rows - 1} * (2 * k + 1) / (2 * samples));
    const int64 here = a.offset(row), next = a.offset(row + 1);
    if (here == next || next == a.offset(row + 2)) continue;
    ++seen;
    if (a.entries[next] == a.entries[here] + 1) ++found;
  }
  return seen == 0 ? 0 : static_cast<double>(found) / seen;
}

}  // namespace

int64 entries_ahead(const problem& p) {
  // The window of instructions holds enough rows of two lines, and the distance is in entries whose
  // lines the machine can wait for at once.
  const double row_bytes = static_cast<double>(p.b.columns) * static_cast<double>(p.b.value_bytes);
  if (p.a.rows < 2 || row_bytes <= measured::short_row_bytes ||
      row_bytes * p.b.rows <= measured::second_cache_bytes ||
      share_of_streams(p.a) > measured::most_streams)
    return 0;
  return row_bytes > measured::long_row_bytes ? measured::ahead_of_long_rows
                                              : measured::ahead_of_rows;
}

bool are_far(const sparse_operand& by, const sparse_operand& of) {
  return by.rows > 1 && of.nnz * static_cast<int64>(sizeof(index)) > measured::far_bytes &&
         share_of_streams(by) <= measured::most_streams;
}

bool is_true(const mask_operand& mask, int64 e) {
  const bool is_matrix = mask.over == mask_operand::kind::matrix;
  const void* values = is_matrix ? mask.sparse.values : mask.full.data;
  const type stored = is_matrix ? mask.sparse.value_type : mask.full.value_type;
  if (mask.structural) return true;
  if (values == nullptr) {
    values = mask.sparse.iso;
    e = 0;
  } else if (is_matrix) {
    e = mask.sparse.value_at(e);
  }
  if (stored == type::boolean) return static_cast<const bool*>(values)[e];
  const std::size_t bytes = is_matrix ? mask.sparse.value_bytes : mask.full.value_bytes;
  bool out = true;
  convert_row(static_cast<const unsigned char*>(values) + static_cast<std::size_t>(e) * bytes,
              stored, &out, 1);
  return out;
}

namespace {

/// Sets allowed[j] for `count` elements of a mask over a dense, from (row, first).
void read_full(const mask_operand& mask, index row, int64 first, int count, bool* allowed) {
  if (mask.structural) return static_cast<void>(std::fill_n(allowed, count, true));
  convert_row(static_cast<const unsigned char*>(mask.full.data) +
                  static_cast<std::size_t>(row * mask.full.stride + first) * mask.full.value_bytes,
              mask.full.value_type, allowed, count);
}

void apply_complement(const mask_operand& mask, int count, bool* allowed) {
  const bool is_complemented = mask.complemented;  // a local copy cannot alias `allowed`
  for (int j = 0; j < count; ++j) allowed[j] = allowed[j] != is_complemented;
}

}  // namespace

bool mask_row::sweep(int64 first, int count, bool* allowed) {
  if (mask_.over == mask_operand::kind::dense) {
    read_full(mask_, row_, first, count, allowed);
  } else {
    std::fill_n(allowed, count, false);
    for (; next_ < end_ && mask_.sparse.entries[next_] < first + count; ++next_)
      allowed[mask_.sparse.entries[next_] - first] = is_true(mask_, next_);
  }
  apply_complement(mask_, count, allowed);
  return std::memchr(allowed, 1, static_cast<std::size_t>(count)) != nullptr;
}

namespace {

/// Sets present[i] if row i of `count` rows has entries.
template <class Offset>
void read_present(const Offset* offsets, int count, bool* present) {
  for (int i = 0; i < count; ++i) present[i] = offsets[i] < offsets[i + 1];
}
void read_present(const sparse_operand& a, index row, int count, bool* present) {
  if (a.offsets_64)
    read_present(static_cast<const int64*>(a.offsets) + row, count, present);
  else
    read_present(static_cast<const int32*>(a.offsets) + row, count, present);
}

/// Reads rows row … row + count of a mask with one column.
void read_mask_column(const mask_operand& mask, index row, int count, bool* allowed) {
  if (mask.over == mask_operand::kind::matrix) {
    read_present(mask.sparse, row, count, allowed);
    for (int i = 0; !mask.structural && i < count; ++i)
      if (allowed[i]) allowed[i] = is_true(mask, mask.sparse.offset(row + i));
  } else if (mask.full.stride == 1) {
    read_full(mask, row, 0, count, allowed);
  } else {
    for (int i = 0; i < count; ++i) read_full(mask, row + i, 0, 1, allowed + i);
  }
  apply_complement(mask, count, allowed);
}

/// Places of half a tile or strip, one bit each: bit j is flags[j].
using place_bits = std::uint64_t;

place_bits bits_of(const bool* flags, int count) {
  place_bits bits = 0;
  int j = 0;
  for (; j + 8 <= count; j += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, flags + j, sizeof(bytes));
    // Moves the lowest bit of byte i to bit 56 + i.
    bits |= bytes * 0x0102040810204080u >> 56 << j;
  }
  for (; j < count; ++j) bits |= static_cast<place_bits>(flags[j]) << j;
  return bits;
}

/// Appends `first` + the number of each set bit to `list`; returns its new length.
int append(place_bits bits, int first, int32* list, int listed) {
  for (; bits != 0; bits &= bits - 1) list[listed++] = first + std::countr_zero(bits);
  return listed;
}

}  // namespace

void chosen_places::select(const problem& p, int count, const bool* allowed, const bool* present) {
  constexpr int half = 64;
  const place_bits absent_fills = p.accum == accumulator::none ? ~place_bits{0} : 0,
                   outside_fills = p.creates_result || p.desc->replace ? ~place_bits{0} : 0;
  bool is_whole = true;
  filled = 0;
  for (int first = 0; first < count; first += half) {
    const int here = std::min(half, count - first);
    const place_bits all = ~place_bits{0} >> (half - here),
                     in = allowed == nullptr ? all : bits_of(allowed + first, here),
                     has = present == nullptr ? all : bits_of(present + first, here);
    gets_sum_[first / half] = in & has;
    is_whole &= (in & has) == all;
    filled =
        append(((in & ~has & absent_fills) | (~in & outside_fills)) & all, first, fills, filled);
  }
  summed = is_whole ? count : 0;
  sums = is_whole ? nullptr : sum_list_;
  for (int first = 0; !is_whole && first < count; first += half)
    summed = append(gets_sum_[first / half], first, sum_list_, summed);
}

void column_strip::read(const problem& p, index row, int count) {
  read_present(p.a, row, count, present_);
  const bool is_masked = p.mask.over != mask_operand::kind::absent;
  if (is_masked) read_mask_column(p.mask, row, count, allowed_);
  chosen.select(p, count, is_masked ? allowed_ : nullptr, present_);
}

bool allows_few(const mask_operand& mask) {
  return mask.over == mask_operand::kind::matrix && !mask.complemented &&
         mask.sparse.nnz <= measured::few_mask_entries;
}

namespace {

/// The entries of A in rows where the mask has entries. It has few.
int64 entries_under(const mask_operand& mask, const sparse_operand& a) {
  const sparse_operand& m = mask.sparse;
  int64 sum = 0;
  for (index row = 0; row < m.rows && m.offset(row) < m.nnz; ++row) {
    const int64 entry = m.offset(row);
    row = first_where(row, m.rows - 1, [&](index i) { return m.offset(i + 1) > entry; });
    sum += a.offset(row + 1) - a.offset(row);
  }
  return sum;
}

}  // namespace

bool allows_in(const problem& p, index row) {
  mask_row mask(p.mask, row);
  bool allowed[widest_tile];
  for (int64 first = 0; first < p.b.columns; first += widest_tile)
    if (mask.read(first, static_cast<int>(std::min<int64>(widest_tile, p.b.columns - first)),
                  allowed))
      return true;
  return false;
}

int threads_for(const problem& p) {
  const double rows = p.a.rows, columns = p.b.columns;
  const bool writes_all = p.creates_result || p.desc->replace;
  const double work = allows_few(p.mask)
                          ? static_cast<double>(entries_under(p.mask, p.a)) * columns +
                                (writes_all ? rows * columns : rows / widest_tile)
                          : (static_cast<double>(p.a.nnz) + rows) * columns;
  return threads_for(work, p.desc->threads);
}

index first_row_of(const sparse_operand& a, int piece, int pieces) {
  if (piece == pieces) return a.rows;
  const int64 total = a.nnz + a.rows;
  const int64 target = total / pieces * piece + total % pieces * piece / pieces;
  return first_where(0, a.rows, [&](index row) { return a.offset(row) + row >= target; });
}

rows_under rows_under_mask(const mask_operand& mask, index row, index end) {
  if (mask.over != mask_operand::kind::matrix || mask.complemented) return {end, end};
  const sparse_operand& m = mask.sparse;
  // Shorter runs without entries are computed: their strips would become short.
  const auto block_end = [&](index from) { return from + std::min(widest_tile, end - from); };
  while (row < end && m.offset(block_end(row)) > m.offset(row)) row = block_end(row);
  // To the last row before which the mask has no more entries.
  return {row, first_where(row, end, [&](index k) { return m.offset(k + 1) != m.offset(row); })};
}

index next_longer(const sparse_operand& a, index row, index end, int64 longest) {
  if (longest >= a.nnz) return end;
  while (row < end && a.offset(row + 1) - a.offset(row) <= longest) ++row;
  return row;
}

double estimate(const problem& p, double share, int retained) {
  return predicted_bytes(p, static_cast<double>(p.a.nnz) * share, retained) /
         measured::bytes_per_second;
}

namespace {

struct shares {
  double cores, longest;
  int64 longest_row;
};

/// The equal share of the entries per core, and the share of the longest row. Cores are the
/// machine's, not the call's: the choice of kernel, and so the bits, must not depend on the number
/// of threads.
shares shares_of(int64 entries, int64 longest) {
  // Cached because the system call takes longer than a small product.
  static const double cores = std::max(1u, std::thread::hardware_concurrency());
  const double nnz = static_cast<double>(std::max<int64>(entries, 1));
  return {1.0 / cores, static_cast<double>(longest) / nnz, longest};
}
shares shares_of(const problem& p) {
  return shares_of(p.a.nnz, p.oriented->derived_of<row_lengths>()->longest);
}

bool splits(const shares& s) { return s.longest > s.cores && s.longest_row > long_row; }

}  // namespace

bool splits(int64 nnz, int64 longest) { return splits(shares_of(nnz, longest)); }

answer row_answer(const problem& p) {
  const shares s = shares_of(p);
  answer out{verdict::can, "", estimate(p, std::max(s.cores, s.longest))};
  if (splits(s)) {
    out.says = verdict::slower;
    if (p.reasons)
      out.reason = "one row holds " + std::to_string(s.longest_row) + " of " +
                   std::to_string(p.a.nnz) + " entries";
  }
  return out;
}

answer split_answer(const problem& p) {
  using measured::barrier_seconds;
  const shares s = shares_of(p);
  if (s.longest_row > long_row) return {verdict::can, "", estimate(p, s.cores) + barrier_seconds};
  answer out{verdict::slower, "", estimate(p, std::max(s.cores, s.longest)) + barrier_seconds};
  if (p.reasons)
    out.reason = "no row is longer than " + std::to_string(long_row) + " entries: nothing to split";
  return out;
}

}  // namespace rig::on_cpu
