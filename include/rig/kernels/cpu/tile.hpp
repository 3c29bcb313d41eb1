#pragma once

#include <algorithm>
#include <utility>

#include "rig/kernels/cpu/isa.hpp"
#include "rig/semiring.hpp"

namespace rig::on_cpu {

/// Some rows of A with all inputs of the inner loop, in algebra types, and the destination of the
/// sums for one tile of columns.
template <class S>
struct block {
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;

  const left* a;        ///< value of entry e is a[e · a_step]
  int64 a_step;         ///< 0 if all values are equal
  const index* inner;   ///< k of entry e
  const index* b_rows;  ///< row of `b` that holds B(k, ·): `inner`, unless B is staged
  const right* b;       ///< at the tile's first column
  int64 b_stride;
  int64 gap;            ///< columns from the start of the tile's first half to that of its second
  const void* offsets;  ///< row i has the entries offset(i) … offset(i + 1)
  bool offsets_64;      ///< offsets are int64, else int32
  index row, rows;      ///< rows row … row + rows of A; i counts from `row`
  const int32* list;  ///< not null: only the rows list[0 … rows), whose sums are packed in `out`
  accum* out;         ///< row i goes to out + i · out_stride
  int64 out_stride;
  bool continues;  ///< the sums continue from the content of `out`
  bool is_final;   ///< `out` is C itself: finish the sums, and write empty rows
  bool adds;       ///< final: C += the sums, and empty rows stay
  accum fill;      ///< final: the value of an empty row
  int64 ahead;     ///< rows of B are prefetched this many entries before their use; 0: not
  int64 last;      ///< then, the greatest entry that `b_rows` holds

  int64 offset(index i) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[i]
                      : static_cast<const int32*>(offsets)[i];
  }
};

/// Accumulators of half a tile: two halves of 512 bytes fill sixteen AVX-512 registers. Narrower
/// tiles read a row of B in parts, which is slower (docs/lab/cpu.md).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int half_tile_bytes = 32;  // sanitizers take minutes to compile wide tiles
#else
inline constexpr int half_tile_bytes = 512;
#endif

/// The most columns of half a tile: a power of two.
template <class S>
inline constexpr int half_tile = [] {
  int width = 128;
  while (width > 1 && width * static_cast<int>(sizeof(typename S::accum)) > half_tile_bytes)
    width /= 2;
  return width;
}();
/// The same where registers are shorter: two halves fill the sixteen of AVX2.
template <class S>
inline constexpr int short_half_tile = std::max(1, half_tile<S> / 2);

/// The same of the baseline. Where the compiler has longer registers, few machines and builds
/// without optimisation run it, and wide tiles would only lengthen each user's build.
template <class S>
inline constexpr int baseline_half_tile = has_longer_registers ? std::max(1, half_tile<S> / 32)
                                                               : short_half_tile<S>;

/// The instruction set whose tiles run on this machine.
inline isa isa_of_tiles() { return is_optimised ? instruction_set() : isa::baseline; }

/// Columns of a whole tile on this machine.
template <class S>
int tile_columns() {
  static constexpr int halves[] = {baseline_half_tile<S>, short_half_tile<S>, half_tile<S>};
  return 2 * halves[static_cast<int>(isa_of_tiles())];
}

/// Whether sums of S can be C's elements, so blocks may be final.
template <class S>
inline constexpr bool is_direct_output =
    is_storage<typename S::accum>&& is_same<output<S>, typename S::accum>;

/// Whether the compiler has vectors of N elements of type T.
template <class T, int N>
inline constexpr bool has_vectors = N > 1 &&
                                    (is_float<T> || is_same<T, int32> || is_same<T, int64>);
/// Elements of one register, as a vector type, because g++ keeps an array in memory between loops.
/// It has no arithmetic: a semiring adds single elements, and g++ makes vectors of such loops.
template <class T, int N>
struct pack {
  T all[std::size_t(N)] = {};
  [[gnu::always_inline]] void load(const T* from) {
    for (int j = 0; j < N; ++j) all[j] = from[j];
  }
  [[gnu::always_inline]] void store(T* to) const {
    for (int j = 0; j < N; ++j) to[j] = all[j];
  }
  template <class F>
  [[gnu::always_inline]] void update(F to) {
#pragma omp simd
    for (int j = 0; j < N; ++j) all[j] = to(all[j], j);
  }
};
template <class T, int N>
requires has_vectors<T, N>
struct pack<T, N> {
  using vector [[gnu::vector_size(N * sizeof(T)), gnu::may_alias]] = T;
  vector all = {};
  [[gnu::always_inline]] void load(const T* from) { __builtin_memcpy(&all, from, sizeof(all)); }
  [[gnu::always_inline]] void store(T* to) const { __builtin_memcpy(to, &all, sizeof(all)); }
  template <class F>
  [[gnu::always_inline]] void update(F to) {
    alignas(N * sizeof(T)) T each[std::size_t(N)];
    *reinterpret_cast<vector*>(each) = all;
#pragma omp simd
    for (int j = 0; j < N; ++j) each[j] = to(each[j], j);
    all = *reinterpret_cast<vector*>(each);
  }
};

/// Values and indices in a register each, because g++ makes no vectors of a loop over pairs.
template <class T, int N>
requires has_vectors<T, N>
struct pack<indexed<T>, N> {
  pack<T, N> values;
  pack<int32, N> indices;
  [[gnu::always_inline]] void load(const indexed<T>* from) {
    T v[std::size_t(N)];
    int32 k[std::size_t(N)];
    for (int j = 0; j < N; ++j) v[j] = from[j].value;
    for (int j = 0; j < N; ++j) k[j] = from[j].index;
    values.load(v);
    indices.load(k);
  }
  [[gnu::always_inline]] void store(indexed<T>* to) const {
    T v[std::size_t(N)];
    int32 k[std::size_t(N)];
    values.store(v);
    indices.store(k);
    for (int j = 0; j < N; ++j) to[j] = {v[j], k[j]};
  }
  template <class F>
  [[gnu::always_inline]] void update(F to) {
    alignas(N * sizeof(T)) T v[std::size_t(N)];
    alignas(N * sizeof(int32)) int32 k[std::size_t(N)];
    values.store(v);
    indices.store(k);
#pragma omp simd
    for (int j = 0; j < N; ++j) {
      const indexed<T> made = to(indexed<T>{v[j], k[j]}, j);
      v[j] = made.value;
      k[j] = made.index;
    }
    values.load(v);
    indices.load(k);
  }
};

/// Bytes of an element in its widest register.
template <class T>
inline constexpr std::size_t register_bytes = sizeof(T);
template <class T>
inline constexpr std::size_t register_bytes<indexed<T>> = sizeof(T);

/// W elements in registers of Bytes bytes.
template <class T, int W, int Bytes>
struct half_sums {
  static constexpr int lanes = [] {  // a power of two, as W is, whatever T's size
    int out = 1;
    while (2 * out <= W && 2 * out * static_cast<int>(register_bytes<T>) <= Bytes) out *= 2;
    return out;
  }();
  static constexpr int count = W / lanes;
  static_assert(lanes * count == W);
  pack<T, lanes> packs[std::size_t(count)];

  /// Every element becomes x.
  [[gnu::always_inline]] void fill(T x) {
    T same[std::size_t(lanes)];
    for (int j = 0; j < lanes; ++j) same[j] = x;
    each([&](auto& one, int) __attribute__((always_inline)) { one.load(same); });
  }
  [[gnu::always_inline]] void load(const T* from) {
    each([=](auto& one, int at) __attribute__((always_inline)) { one.load(from + at); });
  }
  [[gnu::always_inline]] void store(T* to) {
    each([=](auto& one, int at) __attribute__((always_inline)) { one.store(to + at); });
  }
  /// Element j becomes to(element j, j).
  template <class F>
  [[gnu::always_inline]] void update(F to) {
    each([&](auto& one, int at) __attribute__((always_inline)) {
      one.update([&](T x, int j) __attribute__((always_inline)) { return to(x, at + j); });
    });
  }

 private:
  template <class F>
  [[gnu::always_inline]] void each(F to) {
    each(to, std::make_integer_sequence<int, count>());
  }
  template <class F, int... K>
  [[gnu::always_inline]] void each(F to, std::integer_sequence<int, K...>) {
    (to(packs[K], K * lanes), ...);
  }
};

/// Entries that alternate between two sums, which are then added. Parts of a row are multiples of
/// this, so that its sum has the same bits in any parts. A single column has four sums per part.
inline constexpr int64 strand = 16;

/// The sums of a row's tile: halves x and y. The second begins `gap` columns after the first.
template <class S, int W, int Bytes>
class row_tile {
 public:
  using accum = typename S::accum;
  using right = typename S::right;

  [[gnu::always_inline]] row_tile(const block<S>& rows, index i)
      : rows_(rows), i_(i), gap_(rows.gap) {}

  [[gnu::always_inline]] void set_zero() {
    x_.fill(S::zero());
    y_.fill(S::zero());
  }
  [[gnu::always_inline]] void load(const accum* from) {
    x_.load(from);
    y_.load(from + gap_);
  }
  [[gnu::always_inline]] void store(accum* to) {
    x_.store(to);
    y_.store(to + gap_);
  }
  /// Writes finish of the sums of n entries, or C ⊕ that, to C. Both halves read C before either is
  /// written, because they may share columns.
  [[gnu::always_inline]] void store_final(accum* c, int64 n, bool finishes, bool adds) {
    accum sums[std::size_t(2 * W)];
    x_.store(sums);
    y_.store(sums + W);
    for (int j = 0; j < 2 * W; ++j) {
      if (finishes) sums[j] = finished<S>(sums[j], n);
      if (adds) sums[j] = plus(c[j < W ? j : gap_ + j - W], sums[j]);
    }
    std::copy_n(sums, W, c);
    std::copy_n(sums + W, W, c + gap_);
  }

  /// Adds entries begin … end. Those before `fetched` prefetch the rows of B that are used `ahead`
  /// entries later: without that, only the few rows within the window of instructions are read at
  /// once. `fetched` is `end`, or a multiple of `strand` after `begin`.
  [[gnu::always_inline]] void add_entries(int64 begin, int64 fetched, int64 end) {
    int64 e = begin;
    // In a narrow tile each add waits for the one before it, so entries alternate between two sums.
    constexpr bool is_narrow = W * sizeof(accum) <= 64;
    if constexpr (is_float<accum> && is_narrow)
      for (; end - e >= strand; e += strand) {
        if (e < fetched)
          for (int64 k = 0; k < strand; ++k) fetch(e + k);
        row_tile other(rows_, i_);
        other.set_zero();
        for (int64 k = 0; k < strand; k += 2) {
          add_entry(e + k);
          other.add_entry(e + k + 1);
        }
        accum sums[std::size_t(2 * W)];
        other.gap_ = W;
        other.store(sums);
        x_.update([&](accum x, int j)
                      __attribute__((always_inline)) { return S::add(x, sums[j]); });
        y_.update([&](accum x, int j)
                      __attribute__((always_inline)) { return S::add(x, sums[W + j]); });
      }
    if constexpr (is_narrow)
      for (; e < fetched; ++e) {
        fetch(e);
        add_entry(e);
      }
    for (; e < end; ++e) {
      if (!is_narrow && e < fetched) fetch(e);
      add_entry(e);
    }
  }

 private:
  /// Element j of the halves, columns j and gap + j, becomes to(element, column).
  template <class F>
  [[gnu::always_inline]] void each(F to) {
    x_.update([=](accum x, int j) __attribute__((always_inline)) { return to(x, j); });
    y_.update([ =, gap = gap_ ](accum x, int j)
                  __attribute__((always_inline)) { return to(x, gap + j); });
  }

  [[gnu::always_inline]] void fetch(int64 e) {
    if constexpr (!is_ignoring_right<S>) {
      constexpr int line = std::max<int>(1, 64 / sizeof(right));
      const right* const later = rows_.b + rows_.b_rows[e + rows_.ahead] * rows_.b_stride;
      for (int j = 0; j < W; j += line) __builtin_prefetch(later + j);
      for (int j = 0; j < W; j += line) __builtin_prefetch(later + gap_ + j);
    }
  }

  [[gnu::always_inline]] void add_entry(int64 e) {
    const typename S::left a = rows_.a[e * rows_.a_step];
    const position at{rows_.row + i_, rows_.inner[e]};
    if constexpr (is_ignoring_right<S>) {
      each([=](accum x, int64)
               __attribute__((always_inline)) { return S::add(x, product<S>(a, right{}, at)); });
    } else {
      const right* const b = rows_.b + rows_.b_rows[e] * rows_.b_stride;
      each([=](accum x, int64 j)
               __attribute__((always_inline)) { return S::add(x, product<S>(a, b[j], at)); });
    }
  }

  const block<S>& rows_;
  const index i_;
  int64 gap_;
  half_sums<accum, W, Bytes> x_, y_;
};

/// Sums row i, whose n entries start at `begin`, in two halves of W columns. Overlapping halves
/// compute shared columns twice, to the same bits, so one pass covers any width from W to 2W.
///   out[j] = ⊕_e a(e) ⊗ b(e, j) for j in 0 … W and gap … gap + W
template <class S, int W, int Bytes>
[[gnu::always_inline]] inline void sum_row(const block<S>& rows, index i, int64 begin, int64 n) {
  using accum = typename S::accum;
  accum* const out = rows.out + i * rows.out_stride;
  // Prefetches C, because a store that misses the cache would delay the stores after it.
  if constexpr (is_direct_output<S>) {
    constexpr int64 line = 64 / sizeof(accum);
    for (int64 j = 0; rows.is_final && rows.ahead > 0 && j < rows.gap + W; j += line)
      __builtin_prefetch(out + j, 1);
  }
  row_tile<S, W, Bytes> sums(rows, i);
  if (rows.continues)
    sums.load(out);
  else
    sums.set_zero();
  const int64 end = begin + n;
  int64 fetched = begin;
  if (rows.ahead > 0) fetched = std::clamp(rows.last + 1 - rows.ahead, begin, end);
  if (fetched < end) fetched -= (fetched - begin) % strand;
  sums.add_entries(begin, fetched, end);
  if constexpr (is_direct_output<S>) {
    const bool finishes = has_finish<S> && rows.is_final;
    if (finishes || rows.adds) return sums.store_final(out, n, finishes, rows.adds);
  }
  sums.store(out);
}

/// Keeps g++ from packing scalars from separate loads into a vector, which costs more than it saves
/// (docs/lab/cpu.md).
template <class T>
[[gnu::always_inline]] inline void keep_scalar(T& x) {
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr (is_float<T>)
    asm("" : "+x"(x));
  else if constexpr (is_integer<T>)
    asm("" : "+r"(x));
#endif
  static_cast<void>(x);
}

/// x ⊕ y. In sums that are one of their numbers, NaN takes a branch, because g++ moves scalars
/// through other registers to choose without one.
template <class S>
[[gnu::always_inline]] inline typename S::accum add_scalar(typename S::accum x,
                                                           typename S::accum y) {
  if constexpr (is_float<typename S::accum> && is_exact<S>)
    if (y != y) [[unlikely]]
      return S::add(x, y);
  return S::add(x, y);
}

/// x ⊕= entry e of row i, in the first column. Returns true if x has reached its terminal value.
template <class S>
[[gnu::always_inline]] inline bool add_entry(typename S::accum& x, const block<S>& rows, index i,
                                             int64 e) {
  const typename S::left a = rows.a[e * rows.a_step];
  const position at{rows.row + i, rows.inner[e]};
  if constexpr (is_ignoring_right<S>)
    x = add_scalar<S>(x, product<S>(a, typename S::right{}, at));
  else
    x = add_scalar<S>(x, product<S>(a, rows.b[rows.b_rows[e] * rows.b_stride], at));
  if constexpr (has_terminal<S>)
    return x == S::terminal();
  else
    keep_scalar(x);
  return false;
}

/// Adds entries e … end, at most three, to one strand each. Returns true if a strand is terminal.
/// Nested, so a row whose length is a multiple of four costs one test.
template <class S>
[[gnu::always_inline]] inline bool add_last_entries(typename S::accum& x, typename S::accum& y,
                                                    typename S::accum& z, const block<S>& rows,
                                                    index i, int64 e, int64 end) {
  if (e < end) {
    if (add_entry(x, rows, i, e)) return true;
    if (e + 1 < end) {
      if (add_entry(y, rows, i, e + 1)) return true;
      if (e + 2 < end && add_entry(z, rows, i, e + 2)) return true;
    }
  }
  return false;
}

/// x ⊕= n > 0 entries from `begin`, in four strands whose adds are independent. The strands are
/// four variables because g++ keeps an array in memory. Returns true if a strand is terminal; x is
/// then not the sum.
template <class S>
[[gnu::always_inline]] inline bool add_entries(typename S::accum& x, const block<S>& rows, index i,
                                               int64 begin, int64 n) {
  typename S::accum y = S::zero(), z = S::zero(), w = S::zero();
  // Short rows are the most common in many graphs, rows of two in road networks; strands without
  // entries are not added.
  if (n == 2) {
    if (add_entry(x, rows, i, begin) || add_entry(y, rows, i, begin + 1)) return true;
    x = add_scalar<S>(x, y);
    return false;
  }
  if (n < 4) {
    if (add_entry(x, rows, i, begin)) return true;
    if (n == 1) return false;
    if (add_entry(y, rows, i, begin + 1) || add_entry(z, rows, i, begin + 2)) return true;
    x = add_scalar<S>(add_scalar<S>(x, y), z);
    return false;
  }
  const int64 end = begin + n;
  int64 e = begin;
  for (; e + 4 <= end; e += 4)
    if (add_entry(x, rows, i, e) || add_entry(y, rows, i, e + 1) || add_entry(z, rows, i, e + 2) ||
        add_entry(w, rows, i, e + 3))
      return true;
  if (add_last_entries(x, y, z, rows, i, e, end)) return true;
  x = add_scalar<S>(add_scalar<S>(x, y), add_scalar<S>(z, w));
  return false;
}

/// The number of entries between two tests for the terminal value.
inline constexpr int64 entries_per_test = 256;

/// `sum_row` for one column; the sum goes to `out`.
template <class S>
[[gnu::always_inline]] inline void sum_column(const block<S>& rows, index i, int64 begin, int64 n,
                                              typename S::accum& out) {
  typename S::accum x = rows.continues ? out : S::zero();
  if constexpr (has_terminal<S>) {
    for (int64 e = 0; e < n; e += entries_per_test)
      if (add_entries(x, rows, i, begin + e, n - e < entries_per_test ? n - e : entries_per_test)) {
        x = S::terminal();
        break;
      }
  } else {
    add_entries(x, rows, i, begin, n);
  }
  if constexpr (is_direct_output<S>) {
    if (rows.is_final) x = finished<S>(x, n);
    if (rows.adds) x = plus(out, x);
  }
  out = x;
}

/// Sums the listed rows of a block, all of which have entries, in one column.
template <class S>
[[gnu::always_inline]] inline void sum_listed(const block<S>& rows) {
  for (index k = 0; k < rows.rows; ++k) {
    const index i = rows.list[k];
    const int64 begin = rows.offset(i);
    sum_column<S>(rows, i, begin, rows.offset(i + 1) - begin, rows.out[k]);
  }
}

/// Sums all rows of a block, in halves of W columns; W = 0 is a single column.
template <class S, int W, int Bytes>
[[gnu::always_inline]] inline void sum_each(const block<S>& rows) {
  int64 begin = rows.offset(0);
  for (index i = 0; i < rows.rows; ++i) {
    const int64 end = rows.offset(i + 1), n = end - begin;
    if (n > 0) {
      if constexpr (W == 0)
        sum_column<S>(rows, i, begin, n, rows.out[i * rows.out_stride]);
      else
        sum_row<S, W, Bytes>(rows, i, begin, n);
    } else if (rows.is_final && !rows.adds) {
      typename S::accum* const out = rows.out + i * rows.out_stride;
      for (int j = 0; j < W; ++j) out[j] = rows.fill;
      for (int j = 0; j < std::max(W, 1); ++j) out[rows.gap + j] = rows.fill;
    }
    begin = end;
  }
}

/// `sum_each` for the usual cases of a single column. Constants let the compiler drop the tests per
/// row, because most rows of many graphs have three or four entries.
template <class S, int Step>
[[gnu::always_inline]] inline void sum_usual(block<S> rows) {
  rows.b_rows = rows.inner;
  rows.a_step = Step;
  rows.b_stride = rows.out_stride = 1;
  rows.offsets_64 = rows.continues = false;
  if (rows.list != nullptr) {
    rows.is_final = rows.adds = false;
    return sum_listed<S>(rows);
  }
  if (rows.adds) {
    rows.adds = rows.is_final = true;
    return sum_each<S, 0, 0>(rows);
  }
  rows.adds = false;
  sum_each<S, 0, 0>(rows);
}

template <class S, bool HasUsualCases>
[[gnu::always_inline]] inline void sum_column_of_rows(block<S> rows) {
  if (HasUsualCases && rows.b_stride == 1 && rows.out_stride == 1 && !rows.offsets_64 &&
      !rows.continues && rows.b_rows == rows.inner) {
    if (rows.a_step == 0) return sum_usual<S, 0>(rows);
    if constexpr (!is_ignoring_left<S>) return sum_usual<S, 1>(rows);
  }
  if (rows.list != nullptr) return sum_listed<S>(rows);
  sum_each<S, 0, 0>(rows);
}

/// Sums with registers of Bytes bytes.
template <class S, int W, int Bytes>
[[gnu::always_inline]] inline void sum_tile(const block<S>& rows) {
  if constexpr (W == 0)
    sum_column_of_rows<S, (Bytes > 16 || !has_longer_registers)>(rows);
  else
    sum_each<S, W, Bytes>(rows);
}
template <class S, int W>
void tile_baseline(const block<S>& rows) {
  sum_tile<S, W, 16>(rows);
}
template <class S, int W>
RIG_TARGET_AVX2 void tile_avx2(const block<S>& rows) {
  sum_tile<S, W, 32>(rows);
  RIG_LEAVE_AVX();
}
template <class S, int W>
RIG_TARGET_AVX512 void tile_avx512(const block<S>& rows) {
  sum_tile<S, W, 64>(rows);
  RIG_LEAVE_AVX();
}

template <class S>
using tile_function = void (*)(const block<S>&);

/// The function for halves of W columns where registers have 64 bytes; those that fit in shorter
/// ones take AVX2's, which is compiled anyway.
template <class S, int W>
constexpr tile_function<S> long_tile() {
  if constexpr (W * sizeof(typename S::accum) <= 32 && W <= short_half_tile<S>)
    return tile_avx2<S, W>;
  else
    return tile_avx512<S, W>;
}

/// The function for a single column on this machine, which gains from fused multiply-adds, and not
/// from longer registers.
template <class S>
tile_function<S> column_tile() {
  return isa_of_tiles() == isa::baseline ? tile_baseline<S, 0> : tile_avx2<S, 0>;
}

/// The function for halves of `width` columns on this machine.
template <class S>
tile_function<S> tile_for(int width) {
  // Index log2(width); wider tiles repeat the widest and do not occur.
  constexpr auto clamp_128 = [](int w) { return std::min(w, baseline_half_tile<S>); };
  constexpr auto clamp = [](int w) { return std::min(w, short_half_tile<S>); };
  constexpr auto clamp_512 = [](int w) { return std::min(w, half_tile<S>); };
  static constexpr tile_function<S> table[3][8] = {
      {tile_baseline<S, 1>, tile_baseline<S, clamp_128(2)>, tile_baseline<S, clamp_128(4)>,
       tile_baseline<S, clamp_128(8)>, tile_baseline<S, clamp_128(16)>,
       tile_baseline<S, clamp_128(32)>, tile_baseline<S, clamp_128(64)>, nullptr},
      {tile_avx2<S, 1>, tile_avx2<S, clamp(2)>, tile_avx2<S, clamp(4)>, tile_avx2<S, clamp(8)>,
       tile_avx2<S, clamp(16)>, tile_avx2<S, clamp(32)>, tile_avx2<S, clamp(64)>, nullptr},
      {tile_avx2<S, 1>, long_tile<S, clamp_512(2)>(), long_tile<S, clamp_512(4)>(),
       long_tile<S, clamp_512(8)>(), long_tile<S, clamp_512(16)>(), long_tile<S, clamp_512(32)>(),
       long_tile<S, clamp_512(64)>(), long_tile<S, clamp_512(128)>()},
  };
  int place = 0;
  for (int w = width; w > 1; w /= 2) ++place;
  return table[static_cast<int>(isa_of_tiles())][place];
}

}  // namespace rig::on_cpu
