#pragma once

#include "rig/kernels/cpu/threads.hpp"
#include "rig/kernels/cpu/tile.hpp"
#include "rig/kernels/problem.hpp"

namespace rig::on_cpu {

/// Widens `count` halves to floats by the machine's conversion instructions.
void widen(const half* from, float* to, int64 count);

/// to[j] = low[r] + step[r] · codes[j], rounded once; r = j if per_column, else 0.
void dequantise(const unsigned char* codes, const float* low, const float* step, bool per_column,
                float* to, int64 count);

/// to[j] = convert(from[j]): converts a row of one storage type to another.
template <class To>
void convert_row(const void* from, type stored, To* to, int64 count) {
  const auto each = [&](const auto* typed) {
    for (int64 j = 0; j < count; ++j) to[j] = convert<To>(typed[j]);
  };
  switch (stored) {
    case type::boolean:
      return each(static_cast<const bool*>(from));
    case type::int32:
      return each(static_cast<const int32*>(from));
    case type::int64:
      return each(static_cast<const int64*>(from));
    case type::float32:
      return each(static_cast<const float*>(from));
    case type::float64:
      return each(static_cast<const double*>(from));
    case type::half:
      if constexpr (is_same<To, float>)
        return widen(static_cast<const half*>(from), to, count);
      else
        return each(static_cast<const half*>(from));
    case type::bfloat16:
      return each(static_cast<const bfloat16*>(from));
    case type::code:  // has no meaning without its range
    case type::other:
      return;
  }
}

/// Algebra types, for each of which the library has what all semirings share.
#define RIG_EACH_ALGEBRA(OF) OF(bool) OF(int32) OF(int64) OF(float) OF(double)
#define RIG_SHARED(T) extern template void convert_row<T>(const void*, type, T*, int64);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

/// to[j] = b(i, first + j) in the type To, for 0 … count; of a cbsr the elements that it retains.
template <class To>
void convert_part(const dense_operand& b, index i, int64 first, int64 count, To* to) {
  const auto* const from = static_cast<const unsigned char*>(b.data) +
                           static_cast<std::size_t>(i * b.stride + first) * b.value_bytes;
  if (b.value_type != type::code) return convert_row<To>(from, b.value_type, to, count);
  constexpr int64 most = 256;
  float numbers[most];
  for (int64 j = 0; j < count; j += most) {
    const int64 some = std::min(most, count - j), range = b.per_column ? first + j : 0;
    float* out = numbers;
    if constexpr (is_same<To, float>) out = to + j;
    dequantise(from + j, b.low + range, b.step + range, b.per_column, out, some);
    if constexpr (!is_same<To, float>) convert_row<To>(numbers, type::float32, to + j, some);
  }
}

/// The number of entries between the prefetch of a row of B and its use; 0: none is prefetched. It
/// changes no bit of the result.
int64 entries_ahead(const problem& p);

/// Entries of A whose values are converted at once, a multiple of `strand`.
inline constexpr int64 staged_a = entries_per_test;

/// A's values in the semiring's left type, in place if they are stored so. One per thread.
template <class S>
class left_values {
 public:
  using left = typename S::left;

  explicit left_values(const sparse_operand& a) : a_(a) {
    is_equal_ = is_ignoring_left<S> || a.values == nullptr;
    is_staged_ = !is_equal_ && (a.permutation != nullptr || type_of<left> != a.value_type);
    if (!is_ignoring_left<S> && is_equal_) read(a.iso, 0, same_);
  }

  bool is_staged() const { return is_staged_; }
  /// From one value to the next.
  int64 step() const { return is_equal_ ? 0 : 1; }
  /// The values from entry `begin`, which last until the next call; at most `staged_a` if they are
  /// staged.
  const left* from(int64 begin, int64 count) {
    if (is_equal_) return &same_;
    if (!is_staged_) return in_place() + begin;
    if (a_.permutation == nullptr) {
      if constexpr (is_storage<left>)
        convert_row<left>(static_cast<const unsigned char*>(a_.values) +
                              static_cast<std::size_t>(begin) * a_.value_bytes,
                          a_.value_type, staged_, count);
    } else {
      for (int64 e = 0; e < count; ++e) read(a_.values, a_.value_at(begin + e), staged_[e]);
    }
    return staged_;
  }
  /// All values, if they are not staged.
  const left* all() const { return is_equal_ ? &same_ : in_place(); }

 private:
  const left* in_place() const { return static_cast<const left*>(a_.values); }
  void read(const void* values, int64 at, left& to) const {
    const auto* bytes =
        static_cast<const unsigned char*>(values) + static_cast<std::size_t>(at) * a_.value_bytes;
    if constexpr (is_storage<left>)
      convert_row<left>(bytes, a_.value_type, &to, 1);
    else
      __builtin_memcpy(&to, bytes, sizeof(left));
  }

  const sparse_operand& a_;
  bool is_equal_ = false, is_staged_ = false;
  left same_{};
  left staged_[staged_a];
};

/// Reads A and B of one problem for the inner loops, in place if stored and algebra types agree.
/// Otherwise it converts through small buffers on the thread's stack. One reader per thread. If
/// OneColumn, B has one column, and no wider tile is compiled.
template <class S, bool OneColumn = false>
class reader {
 public:
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;

  explicit reader(const problem& p)
      : p_(p),
        a_(p.a),
        tile_(tile_columns<S>()),
        full_(shape_for(tile_)),
        rest_(shape_for(p.b.columns % tile_)),
        ahead_(entries_ahead(p)) {
    require_openmp<S>();
    b_staged_ = !is_ignoring_right<S> && !stored_as<right>(p.b.value_type);
  }

  /// out[0 … columns) = the ⊕-sum over the entries [begin, end) of `row`, at least one, for columns
  /// first … first + columns of B. `columns` is a tile's width, or the rest of a row of B.
  void sum(index row, int64 begin, int64 end, int64 first, int columns, accum* out) {
    block<S> rows = tile_of(first, columns);
    rows.offsets_64 = true;
    rows.row = row;
    rows.rows = 1;
    rows.out = out;
    if (b_staged_) {
      rows.b = b_buffer_;
      rows.b_rows = counting_;
      rows.b_stride = staged_stride(columns);
    }
    int64 step = end - begin;
    if (a_.is_staged() || has_terminal<S>) step = staged_a;
    if (b_staged_) step = staged_b / rows.b_stride;
    for (int64 e = begin; e < end; e += step) {
      const int64 offsets[] = {0, e + step < end ? step : end - e};
      rows.offsets = offsets;
      rows.a = a_.from(e, offsets[1]);
      rows.inner = p_.a.entries + e;
      if (b_staged_)
        stage_b(rows.inner, offsets[1], first, columns);
      else
        rows.b_rows = rows.inner;
      rows.ahead = b_staged_ ? 0 : ahead_;
      rows.last = p_.a.nnz - 1 - e;
      rows.continues = e > begin;
      run(rows, columns);
      if constexpr (has_terminal<S>)
        if (all_terminal(out, columns)) break;
    }
  }

  /// Whether sums can go directly to C: no conversion, no mask, and C = T or C += T.
  bool is_direct() const {
    if constexpr (!is_direct_output<S>)
      return false;
    else
      return (!has_terminal<S> || p_.b.columns == 1) && !a_.is_staged() && !b_staged_ &&
             stored_as<accum>(p_.c.value_type) && p_.mask.over == mask_operand::kind::absent &&
             p_.rescaled_to == nullptr &&
             (p_.accum == accumulator::none || p_.accum == accumulator::plus);
  }

  /// Whether a single column can be summed by strips of rows.
  bool has_strips() const { return p_.b.columns == 1 && !a_.is_staged() && !b_staged_; }

  /// out[k] = the ⊕-sum of row `row` + list[k], which has entries, in the only column. If `list` is
  /// null, list[k] = k for 0 … count.
  void sum_strip(index row, int count, const int32* list, accum* out) {
    block<S> rows = rows_in_place(row, 0, 1);
    rows.rows = count;
    rows.list = list;
    rows.out = out;
    rows.out_stride = 1;
    run(rows, 1);
  }

  /// Sums rows [begin, end) directly to C.
  void sum_to_c(index begin, index end) {
    if constexpr (is_direct_output<S>) {
      const int width = tile_;
      const index f = p_.b.columns;
      // Rows of several tiles are summed few at a time, because the next tile gathers data adjacent
      // to this tile's; one at a time where the machine's own prefetcher follows them.
      const index rows_at_once = f <= width ? end - begin : ahead_ > 0 ? 16 : 1;
      for (int64 row = begin; row < end; row += rows_at_once)
        for (index first = 0; first < f; first += width) {
          const int columns = f - first < width ? f - first : width;
          block<S> rows = rows_in_place(static_cast<index>(row), first, columns);
          rows.rows = static_cast<index>(std::min<int64>(rows_at_once, end - row));
          rows.out = static_cast<accum*>(p_.c.data) + row * p_.c.stride + first;
          rows.out_stride = p_.c.stride;
          rows.is_final = true;
          rows.adds = p_.accum == accumulator::plus;
          rows.fill = p_.desc->fill.has_value() ? p_.desc->fill.template as<accum>()
                                                : finished<S>(S::zero(), 0);
          rows.ahead = ahead_;
          rows.last = p_.a.nnz - 1;
          run(rows, columns);
        }
    }
  }

 private:
  /// Elements of B that are staged.
  static constexpr int64 staged_b = 2 * strand * 2 * short_half_tile<S>;

  static constexpr int staged_stride(int columns) {
    constexpr int narrow = 2 * short_half_tile<S>;
    return columns > narrow ? 2 * half_tile<S> : narrow;
  }

  /// The width of a half in columns, and the function for it.
  struct shape {
    int width;
    tile_function<S> tile;
  };
  static shape shape_for(int columns) {
    if (columns <= 1) return {0, column_tile<S>()};
    int width = 1;
    while (2 * width < columns) width *= 2;
    if constexpr (OneColumn)
      return {width, nullptr};
    else
      return {width, tile_for<S>(width)};
  }

  /// A tile of `columns` columns of B in place; the caller sets rows and places.
  block<S> tile_of(int64 first, int columns) const {
    block<S> rows{};
    rows.a_step = a_.step();
    // A B without rows has no memory.
    if (p_.b.rows > 0) rows.b = static_cast<const right*>(p_.b.data) + first;
    rows.b_stride = p_.b.stride;
    // The second half starts inside the first if columns < 2 · width.
    rows.gap = columns == 1 ? 0 : columns - shape_of(columns).width;
    return rows;
  }
  /// Rows of A from `row` with such a tile, nothing staged; the caller sets the destination.
  block<S> rows_in_place(index row, int64 first, int columns) const {
    block<S> rows = tile_of(first, columns);
    rows.a = a_.all();
    rows.inner = rows.b_rows = p_.a.entries;
    rows.offsets_64 = p_.a.offsets_64;
    rows.offsets =
        static_cast<const unsigned char*>(p_.a.offsets) +
        static_cast<std::size_t>(row) * (p_.a.offsets_64 ? sizeof(int64) : sizeof(int32));
    rows.row = row;
    return rows;
  }
  const shape& shape_of(int columns) const { return columns == tile_ ? full_ : rest_; }
  void run(const block<S>& rows, int columns) const { shape_of(columns).tile(rows); }

  template <class T>
  static bool stored_as(type stored) {
    return type_of<T> == stored;
  }
  void stage_b(const index* rows, int64 count, int64 first, int columns) {
    if constexpr (is_storage<right>)
      for (int64 e = 0; e < count; ++e) {
        counting_[e] = static_cast<index>(e);
        convert_part(p_.b, rows[e], first, columns, b_buffer_ + e * staged_stride(columns));
      }
  }
  static bool all_terminal(const accum* out, int count) {
    for (int j = 0; j < count; ++j)
      if (!(out[j] == S::terminal())) return false;
    return true;
  }

  const problem& p_;
  left_values<S> a_;
  const int tile_;  ///< columns of a whole tile
  const shape full_, rest_;
  const int64 ahead_;
  bool b_staged_ = false;
  // Only storage types are converted; other types, which may be large, are never staged.
  right b_buffer_[is_storage<right> ? staged_b : 1];
  index counting_[2 * strand];
};

}  // namespace rig::on_cpu
