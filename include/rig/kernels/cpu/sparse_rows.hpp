#pragma once

// What the CPU kernels with sparse results share: entries in algebra types, sets of columns, masks,
// and the pieces of a result.

#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
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

/// Zeroed words; many of them take address space and no memory.
class zeroed_words {
 public:
  explicit zeroed_words(std::size_t count)
      : words_(static_cast<std::uint64_t*>(std::calloc(count, sizeof(std::uint64_t)))) {
    if (words_ == nullptr) cannot_allocate(count * sizeof(std::uint64_t));
  }
  std::uint64_t& operator[](std::size_t i) { return words_.get()[i]; }
  const std::uint64_t& operator[](std::size_t i) const { return words_.get()[i]; }

 private:
  struct release {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint64_t, release> words_;
};

/// A flag per column.
class column_flags {
 public:
  explicit column_flags(index columns) : words_(static_cast<std::size_t>(columns) / 64 + 1) {}
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
  /// Appends the columns in ascending order, and empties the set.
  void drain(std::vector<index>& to);
  /// The same, by reading every word.
  void drain_all(index columns, std::vector<index>& to);

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
  void drain(std::size_t level, std::size_t at, std::vector<index>& to);
  void drain_leaf(std::size_t at, std::vector<index>& to);

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
  /// The same for a row of more products than columns: elements of a dense mask are read before.
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

/// Makes room for `count` elements; a vector that grows gets twice the room that it had.
template <class T>
[[gnu::noinline]] void reserve(std::vector<T>& of, std::size_t count) {
  if (count <= of.capacity()) return;
  count = std::max({count, 2 * of.capacity(), std::size_t{16}});
  try {
    of.reserve(count);
  } catch (const std::bad_alloc&) {
    cannot_allocate(count * sizeof(T));
  }
}

/// Consecutive entries of a result. On cache lines of its own, because threads add to neighbours.
template <class T>
struct alignas(64) result_piece {
  struct element {  // a vector of bool would pack its elements
    T value;
  };
  std::vector<index> columns;
  std::vector<element> values;

  /// Makes room for entries, at most some: products that meet make fewer.
  void expect(int64 entries) {
    const auto count = static_cast<std::size_t>(std::min<int64>(entries, 1 << 20));
    reserve(columns, count);
    reserve(values, count);
  }
  void add(index column, T value) {
    if (columns.size() == columns.capacity()) {
      reserve(columns, columns.size() + 1);
      reserve(values, columns.capacity());
    }
    columns.push_back(column);
    values.push_back({value});
  }
  /// Adds value(column) for the columns from the `first`-th on, which have none.
  template <class Value>
  void add_values(std::size_t first, Value value) {
    reserve(values, columns.size());
    for (std::size_t k = first; k < columns.size(); ++k) values.push_back({value(columns[k])});
  }
};

/// What one thread does of the pieces of some work.
class piece_worker {
 public:
  virtual ~piece_worker() = default;
  virtual void run(int piece) = 0;
};
/// Runs pieces 0 … count − 1 on threads, each with a worker of its own; throws what one of them
/// throws.
void run_pieces(int count, int threads,
                const std::function<std::unique_ptr<piece_worker>()>& worker_of_thread);

/// The same by work(state, piece), where make() returns a thread's state.
template <class Make, class Work>
void in_pieces(int count, int threads, Make make, Work work) {
  struct worker final : piece_worker {
    decltype(make()) state;
    Work& work;
    worker(Make& make, Work& of) : state(make()), work(of) {}
    void run(int piece) override { work(state, piece); }
  };
  run_pieces(count, threads, [&] { return std::make_unique<worker>(make, work); });
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
  for (std::size_t k = 0; k < pieces.size(); ++k)
    before[k + 1] = before[k] + static_cast<int64>(pieces[k].columns.size());
  const int threads = threads_for(static_cast<double>(before.back()), p.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    result_piece<T> piece = std::move(pieces[k]);
    std::copy(piece.columns.begin(), piece.columns.end(), made.columns.data<index>() + before[k]);
    dense_operand to;
    to.data =
        made.values.data<unsigned char>() + static_cast<std::size_t>(before[k]) * p.c.value_bytes;
    to.value_type = p.c.value_type;
    with_stored<T>(to, [&]<class To>(To* out) {
      for (std::size_t e = 0; e < piece.values.size(); ++e)
        out[e] = convert<To>(piece.values[e].value);
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
