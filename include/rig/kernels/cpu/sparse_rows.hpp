#pragma once

// What the CPU kernels with sparse results share: entries in algebra types, sets of columns, masks,
// and the pieces of a result.

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/row.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cpu {

/// Entries of a sparse operand as values of type T, some at a time.
template <class T>
class entry_values {
 public:
  static constexpr int64 most = elements_at_once<T>;

  entry_values(const sparse_operand& of, bool is_ignored) : from_(source_of(of)) {
    if (is_ignored || of.values == nullptr) {
      is_constant_ = true;
      if (!is_ignored) gather(from_, {nullptr, 0}, static_cast<int>(most), buffer_);
    } else if (of.permutation == nullptr && of.value_type == type_of<T>) {
      in_place_ = static_cast<const T*>(of.values);
    }
  }

  /// How many of `count` entries the next call of `read` can return.
  int64 at_once(int64 count) const { return in_place_ != nullptr || count < most ? count : most; }
  /// Prefetches the values of up to 16 entries from `first` on.
  [[gnu::always_inline]] void prefetch(int64 first, int64 nnz) const {
    if (in_place_ == nullptr) return;
    __builtin_prefetch(in_place_ + first);
    __builtin_prefetch(in_place_ + std::min(first + 15, nnz));
  }
  /// The values of entries first … first + count.
  const T* read(int64 first, int64 count) {
    if (in_place_ != nullptr) return in_place_ + first;
    if (!is_constant_) gather(from_, {nullptr, first}, static_cast<int>(count), buffer_);
    return buffer_;
  }

 private:
  element_source from_;
  const T* in_place_ = nullptr;
  bool is_constant_ = false;
  T buffer_[std::size_t(most)]{};
};

/// Rows are prefetched so many rows before their use: they are short and lie anywhere, so the
/// machine foresees none.
constexpr index rows_ahead = 16;
/// Whether a prefetch pays for the rows of `of` that the entries of `by` name. It does not if they
/// are in a cache, nor in grids, where the machine foresees them.
bool are_far(const sparse_operand& by, const sparse_operand& of);
/// Prefetches the columns of one row, up to 16, and the offset of a later one; the next `count`
/// rows are those that `rows` names. Inline, because GCC drops calls of functions that only
/// prefetch.
[[gnu::always_inline]] inline void prefetch_rows(const sparse_operand& of, const index* rows,
                                                 int64 count) {
  if (count > 2 * rows_ahead)
    __builtin_prefetch(static_cast<const char*>(of.offsets) +
                       int64{rows[2 * rows_ahead]} * (of.offsets_64 ? 8 : 4));
  if (count <= rows_ahead) return;
  const int64 first = of.offset(rows[rows_ahead]);
  __builtin_prefetch(of.entries + first);
  __builtin_prefetch(of.entries + std::min(first + 15, of.nnz));
}

/// Words that are 0 once the thread that uses them has called `start`: it zeroes them, so they lie
/// near it. Very many are zeroed when they are touched, and take address space until then.
class zeroed_words {
 public:
  explicit zeroed_words(std::size_t count) {
    // malloc takes more than the greater number from the system, as zeros; few are zeroed at once.
    constexpr std::size_t least_cleared = 64 << 10, most_cleared = 32 << 20;
    const std::size_t bytes = count * sizeof(std::uint64_t);
    if (bytes >= least_cleared && bytes <= most_cleared) to_clear_ = bytes;
    words_.reset(
        static_cast<std::uint64_t*>(to_clear_ > 0 ? std::malloc(bytes) : std::calloc(1, bytes)));
    if (words_ == nullptr) cannot_allocate(bytes);
  }
  void start() { std::memset(words_.get(), 0, to_clear_); }
  std::uint64_t& operator[](std::size_t i) { return words_.get()[i]; }
  const std::uint64_t& operator[](std::size_t i) const { return words_.get()[i]; }

 private:
  struct release {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint64_t, release> words_;
  std::size_t to_clear_ = 0;
};

/// A flag per column.
class column_flags {
 public:
  explicit column_flags(index columns) : words_(static_cast<std::size_t>(columns) / 64 + 1) {}
  void start() { words_.start(); }
  bool contains(index column) const {
    return (words_[static_cast<std::size_t>(column) / 64] >> (column % 64) & 1) != 0;
  }
  void set(index column) {
    words_[static_cast<std::size_t>(column) / 64] |= std::uint64_t{1} << (column % 64);
  }
  void clear(index column) { words_[static_cast<std::size_t>(column) / 64] = 0; }

 private:
  zeroed_words words_;
};

/// A set of columns that is read in ascending order. A bit of a level marks a word of the level
/// below that is not empty, so a set of few columns is read in few steps.
class column_set {
 public:
  explicit column_set(index columns) {
    std::size_t words = static_cast<std::size_t>(columns);
    do {
      words = words / 64 + 1;
      levels_.emplace_back(words);
    } while (words > 1);
    leaves_ = &levels_.front()[0];
  }
  void start() {
    for (zeroed_words& level : levels_) level.start();
  }
  /// Returns whether the column is new.
  bool insert(index column) {
    const auto at = static_cast<std::size_t>(column);
    const std::uint64_t bit = std::uint64_t{1} << (at % 64);
    std::uint64_t& word = leaves_[at / 64];
    if ((word & bit) != 0) return false;
    if (word == 0) mark(at / 64);
    word |= bit;
    return true;
  }
  /// Inserts a column of a set that `drain_all` reads.
  void insert_unmarked(index column) {
    const auto at = static_cast<std::size_t>(column);
    leaves_[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  /// Writes the columns in ascending order to `to`, and empties the set; returns their end.
  index* drain(index* to);
  /// The same, by reading every word.
  index* drain_all(index columns, index* to);

 private:
  /// Marks a word of the leaves that is no longer empty.
  void mark(std::size_t at) {
    for (std::size_t level = 1; level < levels_.size(); ++level) {
      std::uint64_t& word = levels_[level][at / 64];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (at % 64);
      if (!was_empty) return;
      at /= 64;
    }
  }
  index* drain(std::size_t level, std::size_t at, index* to);
  index* drain_leaf(std::size_t at, index* to);

  std::vector<zeroed_words> levels_;
  std::uint64_t* leaves_;  ///< of the lowest level
};

/// Which columns of one row a mask allows.
class row_mask_flags {
 public:
  row_mask_flags(const mask_operand& mask, index columns)
      : mask_(mask),
        columns_(columns),
        flags_(mask.over == mask_operand::kind::absent ? 0 : columns) {}

  void start() { flags_.start(); }
  void begin(index row) {
    row_ = row;
    if (mask_.over != mask_operand::kind::matrix) return;
    const int64 end = mask_.sparse.offset(row + 1);
    for (int64 e = mask_.sparse.offset(row); e < end; ++e)
      if (mask_.structural || is_true(mask_, e)) flags_.set(mask_.sparse.entries[e]);
  }
  void end() {
    if (mask_.over != mask_operand::kind::matrix) return;
    const int64 end = mask_.sparse.offset(row_ + 1);
    for (int64 e = mask_.sparse.offset(row_); e < end; ++e) flags_.clear(mask_.sparse.entries[e]);
  }
  /// Calls work with a function from a column to whether it is allowed.
  template <class Work>
  void with_test(Work work) const {
    const bool is_complemented = mask_.complemented;
    if (mask_.over == mask_operand::kind::matrix)
      return work([&](index column) { return flags_.contains(column) != is_complemented; });
    if (mask_.over == mask_operand::kind::absent) return work([](index) { return true; });
    const int64 first = first_of_row();
    const auto by_values = [&]<class T>(const T* values) {
      work([=](index column) { return (values[column] != T()) != is_complemented; });
    };
    if (mask_.full.value_type == type::boolean && !mask_.structural)
      return by_values(static_cast<const bool*>(mask_.full.data) + first);
    if (mask_.full.value_type == type::int32 && !mask_.structural)
      return by_values(static_cast<const int32*>(mask_.full.data) + first);
    work([&, first](index column) {
      return (mask_.structural || is_true(mask_, first + column)) != is_complemented;
    });
  }
  /// Writes the allowed columns first … end to `to`; returns their end.
  index* list(index first, index end, index* to) const {
    with_test([&](auto allows) {
      // Stores a column that is not allowed too; the next one takes its place.
      for (index j = first; j < end; ++j) {
        *to = j;
        to += allows(j);
      }
    });
    return to;
  }
  /// with_test for a row of more products than columns: elements of a dense mask are read before.
  template <class Work>
  void with_test_of_many(Work work) {
    if (mask_.over == mask_operand::kind::absent) return work([](index) { return true; });
    if (mask_.over == mask_operand::kind::dense) set_flags_of_dense();
    const bool is_complemented = mask_.complemented;
    work([&](index column) { return flags_.contains(column) != is_complemented; });
  }

 private:
  int64 first_of_row() const { return row_ * mask_.full.stride; }
  void set_flags_of_dense();

  const mask_operand& mask_;
  const index columns_;
  column_flags flags_;
  index row_ = 0;
};

/// At most so many of `count` entries of row i are formed.
inline int64 allowed_of_row(const mask_operand& mask, index i, int64 count) {
  if (mask.over != mask_operand::kind::matrix || mask.complemented) return count;
  return std::min(count, mask.sparse.offset(i + 1) - mask.sparse.offset(i));
}

/// Memory for one element per column, never initialised.
template <class T>
class column_elements {
 public:
  explicit column_elements(index columns)
      : memory_(buffer::allocate((static_cast<std::size_t>(columns) + 1) * sizeof(T))) {}
  T& operator[](index column) { return memory_.data<T>()[column]; }

 private:
  buffer memory_;
};

/// Consecutive entries of a result, in blocks that never move. `grow` allocates, before a parallel
/// region; `add` does not. On cache lines of its own, because threads add to neighbours.
template <class T>
class alignas(64) result_piece {
 public:
  /// Makes room for so many entries in one block; an older block keeps what it has.
  void grow(int64 entries) {
    close();
    if (entries == 0) return;
    const auto count = static_cast<std::size_t>(entries);
    const std::size_t of_columns = (count * sizeof(index) + 63) / 64 * 64;
    block made;
    made.memory = buffer::allocate(of_columns + count * sizeof(T));
    made.columns = columns_ = made.memory.template data<index>();
    made.values = values_ =
        reinterpret_cast<T*>(made.memory.template data<unsigned char>() + of_columns);
    blocks_.push_back(std::move(made));
    capacity_ = entries;
  }
  int64 size() const { return before_ + count_; }
  /// How many entries `add` can still take.
  int64 room() const { return capacity_ - count_; }
  void add(index column, T value) {
    columns_[count_] = column;
    values_[count_++] = value;
  }
  /// Where the columns of the next entries are written, before `add_values`.
  index* next_columns() { return columns_ + count_; }
  /// Adds the entries whose columns end at `end`, with value(column) each.
  template <class Value>
  void add_values(const index* end, Value value) {
    for (; columns_ + count_ < end; ++count_) values_[count_] = value(columns_[count_]);
  }
  /// Calls visit(columns, values, count) for each block in order, and frees them.
  template <class Visit>
  void drain(Visit visit) {
    close();
    for (block& of : blocks_) {
      visit(of.columns, of.values, of.count);
      of = block();
    }
  }

 private:
  struct block {
    buffer memory;
    const index* columns = nullptr;
    const T* values = nullptr;
    int64 count = 0;
  };
  /// Ends the last block where its entries end.
  void close() {
    if (!blocks_.empty()) blocks_.back().count = count_;
    before_ += std::exchange(count_, 0);
    capacity_ = 0;
  }

  std::vector<block> blocks_;
  index* columns_ = nullptr;  ///< of the last block
  T* values_ = nullptr;
  int64 before_ = 0, count_ = 0, capacity_ = 0;
};
/// Entries per block of a piece whose entries are not known: products that meet make fewer.
constexpr int64 entries_at_first = 1 << 20;

/// What each thread of a region holds, on cache lines of its own. It is made before the region,
/// because an allocation that fails inside one would end the process, and started inside.
template <class Make>
class thread_states {
 public:
  thread_states(int threads, Make make) {
    states_.reserve(static_cast<std::size_t>(threads));
    for (int t = 0; t < threads; ++t) states_.push_back(std::make_unique<one>(one{make()}));
  }
  auto& mine() {
    one& of = *states_[static_cast<std::size_t>(omp_get_thread_num())];
    if constexpr (requires { of.state.start(); })
      if (!std::exchange(of.is_started, true)) of.state.start();
    return of.state;
  }

 private:
  struct alignas(64) one {
    decltype(std::declval<Make>()()) state;
    bool is_started = false;
  };
  std::vector<std::unique_ptr<one>> states_;
};

/// Runs work(state, k) for 0 … count − 1 on threads, each with its own state from make().
template <class Make, class Work>
void in_pieces(int count, int threads, Make make, Work work) {
  thread_states<Make> states(threads, make);
#pragma omp parallel num_threads(threads)
  {
    auto& state = states.mine();
#pragma omp for schedule(dynamic, 1)
    for (int k = 0; k < count; ++k) work(state, k);
  }
}

/// The same for pieces whose entries are not known, in rounds. Before each, piece k grows by
/// wanted(k) entries, 0 if it is complete; work(state, k) goes on while its next entries have room.
template <class T, class Make, class Wanted, class Work>
void fill_pieces(std::vector<result_piece<T>>& pieces, int threads, Make make, Wanted wanted,
                 Work work) {
  thread_states<Make> states(threads, make);
  const auto grow_all = [&] {
    bool grows = false;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const int64 entries = wanted(k);
      if (entries == 0) continue;
      pieces[k].grow(entries);
      grows = true;
    }
    return grows;
  };
  while (grow_all()) {
#pragma omp parallel num_threads(threads)
    {
      auto& state = states.mine();
#pragma omp for schedule(dynamic, 1)
      for (std::size_t k = 0; k < pieces.size(); ++k) work(state, k);
    }
  }
}

/// Empty rows, with room for so many entries of C's type.
struct result_rows {
  buffer offsets, columns, values;
  bool offsets_64 = false;
};
/// lengths[i] entries in row i; turns them into offsets.
result_rows make_rows(const problem& p, std::vector<int64>& lengths);

/// The pieces of a result behind each other, in C's type. Row i has lengths[i] entries.
template <class T>
sparse_result assemble(const problem& p, index rows, index columns, std::vector<int64> lengths,
                       std::vector<result_piece<T>>& pieces) {
  result_rows made = make_rows(p, lengths);
  std::vector<int64> before(pieces.size() + 1, 0);
  for (std::size_t k = 0; k < pieces.size(); ++k) before[k + 1] = before[k] + pieces[k].size();
  const int threads = threads_for(static_cast<double>(before.back()), p.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    int64 at = before[k];
    pieces[k].drain([&](const index* from, const T* values, int64 count) {
      std::copy_n(from, count, made.columns.data<index>() + at);
      dense_operand to;
      to.data = made.values.data<unsigned char>() + static_cast<std::size_t>(at) * p.c.value_bytes;
      to.value_type = p.c.value_type;
      with_stored<T>(to, [&]<class To>(To* out) {
        for (int64 e = 0; e < count; ++e) out[e] = convert<To>(values[e]);
      });
      at += count;
    });
  }
  sparse_result out;
  out.structure =
      std::make_shared<const pattern>(rows, columns, before.back(), std::move(made.offsets),
                                      made.offsets_64, std::move(made.columns));
  out.values = std::move(made.values);
  return out;
}

#define RIG_SHARED(T)                                                                         \
  extern template sparse_result assemble<T>(const problem&, index, index, std::vector<int64>, \
                                            std::vector<result_piece<T>>&);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

/// The first rows of at most `pieces` pieces of equal work, and the end; row i has work[i].
std::vector<index> cut_rows(const std::vector<int64>& work, int pieces);

}  // namespace rig::on_cpu
