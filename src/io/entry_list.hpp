#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/input_file.hpp"
#include "rig/accumulate.hpp"
#include "rig/buffer.hpp"
#include "rig/io.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "rig/matrix.hpp"

namespace rig::io {

/// How the other half of a square file follows from the listed half.
enum class symmetry : unsigned char { none, symmetric, skew };

/// Entries in file order, and their lines. It grows as entries arrive, and refuses the file if
/// memory runs out.
template <class T>
class entry_list {
 public:
  const input_file& file;
  bool has_values = true;
  index nodes = 0;  ///< of an edge list

  /// `lists` of a file grow alike.
  explicit entry_list(const input_file& of, bool values = true, int lists = 1)
      : file(of), has_values(values), lists_(lists) {}

  std::size_t size() const { return size_; }
  index row(std::size_t p) const { return rows_[p]; }
  index column(std::size_t p) const { return columns_[p]; }
  /// Only if the list has values.
  T value(std::size_t p) const { return values_[p]; }
  const index* columns() const { return columns_; }
  const T* values() const { return values_; }

  /// Adds the entry of the file's current line; a list without values drops the value.
  void add(index row, index column, T value) {
    if (size_ == room_) grow();
    if (file.line() - static_cast<int64>(size_) != first_line_) start_run();
    rows_[size_] = row;
    columns_[size_] = column;
    if (has_values) values_[size_] = value;
    ++size_;
  }
  /// Reserves room for `entries` entries.
  void reserve(std::size_t entries) {
    file.with_memory(lists_ * bytes_of(entries, runs_.capacity()), [&] {
      move_to(rows_, row_buffer_, entries);
      move_to(columns_, column_buffer_, entries);
      if (has_values) move_to(values_, value_buffer_, entries);
    });
    room_ = entries;
  }
  double bytes() const { return bytes_of(size_, runs_.capacity()); }
  int64 line_of(std::size_t p) const {
    const auto after = std::upper_bound(runs_.begin(), runs_.end(),
                                        std::pair(static_cast<int64>(p), highest<int64>()));
    return after[-1].second + static_cast<int64>(p);
  }

 private:
  static constexpr std::size_t least = 4096;

  double bytes_of(std::size_t entries, std::size_t runs) const {
    return static_cast<double>(entries) * (2 * sizeof(index) + (has_values ? sizeof(T) : 0)) +
           static_cast<double>(runs) * sizeof(runs_[0]);
  }
  /// Makes room for what the rest of the file lists if it is as dense as what was read. The first
  /// lines may be short, so the room is at most eight times the entries.
  [[gnu::noinline]] void grow() {
    std::size_t likely = 2 * size_;
    if (!file.is_stream() && size_ > 0) {
      const double left = static_cast<double>(file.size()) / static_cast<double>(file.position());
      likely = static_cast<std::size_t>(static_cast<double>(size_) * std::clamp(left, 1.2, 7.5));
    }
    reserve(likely + likely / 16 + least);
  }
  [[gnu::noinline]] void start_run() {
    if (runs_.size() == runs_.capacity()) {
      const std::size_t runs = std::max(2 * runs_.size(), least);
      file.with_memory(lists_ * bytes_of(room_, runs), [&] { runs_.reserve(runs); });
    }
    first_line_ = file.line() - static_cast<int64>(size_);
    runs_.emplace_back(size_, first_line_);
  }
  template <class U>
  void move_to(U*& from, buffer& old, std::size_t entries) {
    buffer made = buffer::allocate(entries * sizeof(U));
    std::copy_n(from, size_, made.data<U>());
    old = std::move(made);
    from = old.data<U>();
  }

  double lists_;
  std::size_t size_ = 0, room_ = 0;
  index *rows_ = nullptr, *columns_ = nullptr;
  T* values_ = nullptr;
  int64 first_line_ = lowest<int64>();
  buffer row_buffer_, column_buffer_, value_buffer_;
  // (p, line): from entry p on, each line has one entry, and entry q is on line `line` + q.
  std::vector<std::pair<int64, int64>> runs_;
};

/// The lists of a file, in its order.
template <class T>
using entry_lists = std::span<const entry_list<T>>;

/// Whether the nodes of an edge list take far more memory than its edges, so that a number in it
/// is likely no index.
inline bool is_far_beyond(index nodes, int64 edges) {
  constexpr index many = 1 << 24;  // fewer take little memory in any case
  constexpr int64 per_edge = 16;
  return nodes > many && nodes > per_edge * edges;
}

/// The value at (j, i) of one at (i, j).
template <class T>
T mirrored(T value, symmetry half) {
  if constexpr (is_same<T, bool>)
    return value;
  else
    return half == symmetry::skew ? -value : value;
}

/// Runs work(0) … work(count − 1) on threads, and throws what the first of them that failed threw.
template <class Work>
void on_threads(int threads, int64 count, Work&& work) {
  std::exception_ptr thrown;
  std::atomic<int64> failed = count;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64 n = 0; n < count; ++n) {
    if (n > failed) continue;
    try {
      work(n);
    } catch (...) {
#pragma omp critical(rig_io_failed)
      if (n < failed) {
        failed = n;
        thrown = std::current_exception();
      }
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

/// How many threads list the lines from the file's next byte on.
inline int threads_of(const input_file& file) {
  constexpr int64 least = 64 * 1024;  // bytes of a thread
  if (file.is_stream()) return 1;
  const int64 bytes = file.size() - file.position();
  return static_cast<int>(std::min<int64>(on_cpu::threads_for(static_cast<double>(bytes)),
                                          std::max<int64>(1, bytes / least)));
}

/// What the lines from a file's next byte on list, in parts that threads read.
template <class T>
struct lists_of_parts {
  std::vector<std::unique_ptr<input_file>> lines;
  std::vector<entry_list<T>> lists;

  template <class List>
  lists_of_parts(const input_file& file, int parts, bool has_values, List&& list) {
    lists.reserve(static_cast<std::size_t>(parts));
    for (int part = 0; part < parts; ++part) {
      lines.push_back(std::make_unique<input_file>(file.path(), file.lines(part, parts)));
      lists.emplace_back(*lines.back(), has_values, parts);
    }
    on_threads(parts, parts, [&](int64 part) {
      const auto p = static_cast<std::size_t>(part);
      list(*lines[p], lists[p]);
    });
  }
};

/// The matrix make(lists) from what list(lines, to) adds for the lines from the file's next byte
/// on. If anything is wrong in a part, the file is read again from there to its end, because then
/// its first fault is found first, with its line. Lines whose places follow from those before are
/// read in one part.
template <class T, class List, class Make>
matrix<T> list_and_make(input_file& file, bool has_values, bool in_parts, List&& list,
                        Make&& make) {
  const int threads = in_parts ? threads_of(file) : 1;
  try {
    if (threads > 1) {
      const lists_of_parts<T> parts(file, threads, has_values, list);
      return make(entry_lists<T>(parts.lists));
    }
  } catch (const error& failure) {
    if (failure.code() == errc::io) throw;
  } catch (const std::exception&) {
    // The second reading throws.
  }
  entry_list<T> whole(file, has_values);
  list(file, whole);
  return make(entry_lists<T>(&whole, 1));
}

/// What some lines of a file list. The file is kept open for the list.
template <class T>
struct listed_part {
  std::unique_ptr<input_file> file;
  entry_list<T> list;
  index rows = 0, columns = 0;
  symmetry half = symmetry::none;
  int64 entries_of_file = -1;  ///< as the file claims; −1: it does not
  accumulator fold = accumulator::none;

  listed_part(const input_file& of, int part, int parts, bool has_values)
      : file(std::make_unique<input_file>(of.path(), of.lines(part, parts))),
        list(*file, has_values) {}
};

// The parts of a file that is read in parts; each starts at the file's first byte. A result is
// absent if the format is read as a whole.
template <class T>
std::unique_ptr<listed_part<T>> list_matrix_market(input_file& file, const read_options& options,
                                                   int part, int parts);
template <class T>
std::unique_ptr<listed_part<T>> list_edges(input_file& file, const read_options& options, int part,
                                           int parts);

}  // namespace rig::io
