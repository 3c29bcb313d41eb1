// Operations whose results are entries of their operands at other places: first the structure and
// where each entry comes from, then the values.

#include <omp.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu/index_targets.hpp"
#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {
namespace {

/// The entries of a result, counted row by row and then filled in.
class rows_to_fill {
 public:
  rows_to_fill(index rows, index columns) : columns_(columns), offsets_(size(rows) + 1, 0) {}

  int64& count(index row) { return offsets_[size(row) + 1]; }
  /// Turns counts into offsets, and allocates. `has_y`: entries come from Y too.
  void allocate(bool has_y) {
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    const std::size_t nnz = size(offsets_.back());
    entries = buffer::allocate(nnz * sizeof(index));
    x = buffer::allocate(nnz * sizeof(int64));
    if (has_y) y = buffer::allocate(nnz * sizeof(int64));
  }
  int64 offset(index row) const { return offsets_[size(row)]; }
  rearranged finish() {
    bool offsets_64 = false;
    buffer packed = pack_offsets(offsets_, offsets_64);
    return {std::make_shared<const pattern>(static_cast<index>(offsets_.size() - 1), columns_,
                                            offsets_.back(), std::move(packed), offsets_64,
                                            std::move(entries)),
            std::move(x), std::move(y)};
  }

  buffer entries, x, y;

 private:
  index columns_;
  std::vector<int64> offsets_;
};

index row_of_x(const operation& o, index i) {
  return o.rows.what == index_list::kind::all ? i : o.rows[i];
}

/// Calls visit(row of the result, row of X) in parallel; `entries` of X are visited.
template <class Visit>
void for_rows(const operation& o, index rows, int64 entries, Visit visit) {
  const int threads = threads_for(static_cast<double>(entries) + rows, o.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
  for (index i = 0; i < rows; ++i) visit(i, row_of_x(o, i));
}

/// The entries of X in the rows that are extracted.
int64 entries_in_rows(const operation& o, index rows) {
  const sparse_operand& a = o.x.sparse;
  if (o.rows.what == index_list::kind::all) return a.nnz;
  int64 entries = 0;
  for (index i = 0; i < rows; ++i) entries += a.offset(o.rows[i] + 1) - a.offset(o.rows[i]);
  return entries;
}

rearranged extract_rows(const operation& o, index rows) {
  const sparse_operand& a = o.x.sparse;
  rows_to_fill out(rows, a.columns);
  for_rows(o, rows, 0,
           [&](index i, index from) { out.count(i) = a.offset(from + 1) - a.offset(from); });
  out.allocate(false);
  for_rows(o, rows, out.offset(rows), [&](index i, index from) {
    const int64 begin = a.offset(from), length = a.offset(from + 1) - begin, to = out.offset(i);
    std::copy_n(a.entries + begin, length, out.entries.data<index>() + to);
    std::iota(out.x.data<int64>() + to, out.x.data<int64>() + to + length, begin);
  });
  return out.finish();
}

/// Sorts the rows of a result by column; places of one column stay in the order of X's entries.
void sort_rows(const operation& o, index rows, const rows_to_fill& out) {
  int64 longest = 0;
  for (index i = 0; i < rows; ++i) longest = std::max(longest, out.offset(i + 1) - out.offset(i));
  const int threads = threads_for(static_cast<double>(out.offset(rows)), o.desc->threads);
  // Allocated here, because an exception must not leave a parallel region.
  std::vector<std::pair<index, int64>> room(size(longest) * static_cast<std::size_t>(threads));
  index* const columns = out.entries.data<index>();
  int64* const x = out.x.data<int64>();
#pragma omp parallel num_threads(threads)
  {
    auto* const row = room.data() + size(longest) * static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic, 256)
    for (index i = 0; i < rows; ++i) {
      const int64 begin = out.offset(i), count = out.offset(i + 1) - begin;
      for (int64 k = 0; k < count; ++k) row[k] = {columns[begin + k], x[begin + k]};
      std::sort(row, row + count);
      for (int64 k = 0; k < count; ++k) std::tie(columns[begin + k], x[begin + k]) = row[k];
    }
  }
}

}  // namespace

rearranged extract(const operation& o) {
  const sparse_operand& a = o.x.sparse;
  const auto rows = static_cast<index>(o.rows.size(a.rows));
  if (o.columns.what == index_list::kind::all) return extract_rows(o, rows);
  const index_targets targets(o.columns, a.columns);
  rows_to_fill out(rows, static_cast<index>(o.columns.size(a.columns)));
  const int64 entries = entries_in_rows(o, rows);
  for_rows(o, rows, entries, [&](index i, index from) {
    int64 count = 0;
    for (int64 p = a.offset(from); p < a.offset(from + 1); ++p)
      count += targets.count(a.entries[p]);
    out.count(i) = count;
  });
  out.allocate(false);
  for_rows(o, rows, entries + out.offset(rows), [&](index i, index from) {
    index* const columns = out.entries.data<index>();
    int64* const x = out.x.data<int64>();
    int64 to = out.offset(i);
    for (int64 p = a.offset(from); p < a.offset(from + 1); ++p)
      for (int64 k = 0; k < targets.count(a.entries[p]); ++k) {
        columns[to] = targets.begin(a.entries[p])[k];
        x[to++] = p;
      }
  });
  if (!targets.is_ascending()) sort_rows(o, rows, out);
  return out.finish();
}

rearranged sample(const operation& o) {
  const sparse_operand& a = o.x.sparse;
  const auto rows = static_cast<index>(o.rows.size(a.rows));
  rows_to_fill out(rows, a.columns);
  // Calls use(entries, count) with the numbers of the drawn entries of a row, counted from its
  // start.
  const auto draw = [&](index from, auto use) {
    std::array<int64, widest_sample> drawn;
    const int64 nnz = a.offset(from + 1) - a.offset(from);
    const drawn_sample s = o.draw.of(nnz, from);
    if (s.count() == nnz) return use(nullptr, nnz);
    for (unsigned slot = 0; slot < s.count(); ++slot) drawn[slot] = s.entry(slot);
    std::sort(drawn.begin(), drawn.begin() + s.count());
    return use(drawn.data(), std::unique(drawn.begin(), drawn.begin() + s.count()) - drawn.begin());
  };
  const int64 most =
      o.draw.how == sampling::whole ? entries_in_rows(o, rows) : int64{rows} * o.draw.width;
  for_rows(o, rows, most, [&](index i, index from) {
    draw(from, [&](const int64*, int64 count) { out.count(i) = count; });
  });
  out.allocate(false);
  for_rows(o, rows, most, [&](index i, index from) {
    draw(from, [&](const int64* drawn, int64 count) {
      for (int64 k = 0, to = out.offset(i); k < count; ++k, ++to) {
        const int64 p = a.offset(from) + (drawn != nullptr ? drawn[k] : k);
        out.entries.data<index>()[to] = a.entries[p];
        out.x.data<int64>()[to] = p;
      }
    });
  });
  return out.finish();
}

rearranged kronecker(const operation& o) {
  const sparse_operand &a = o.x.sparse, &b = o.y.sparse;
  rows_to_fill out(a.rows * b.rows, a.columns * b.columns);
  const auto length = [](const sparse_operand& of, index row) {
    return of.offset(row + 1) - of.offset(row);
  };
  for (index i = 0; i < a.rows; ++i)
    for (index k = 0; k < b.rows; ++k) out.count(i * b.rows + k) = length(a, i) * length(b, k);
  out.allocate(true);
  const int threads =
      threads_for(static_cast<double>(a.nnz) * static_cast<double>(b.nnz), o.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
  for (index row = 0; row < a.rows * b.rows; ++row) {
    const index i = row / b.rows, k = row % b.rows;
    int64 to = out.offset(row);
    for (int64 p = a.offset(i); p < a.offset(i + 1); ++p)
      for (int64 q = b.offset(k); q < b.offset(k + 1); ++q, ++to) {
        out.entries.data<index>()[to] = a.entries[p] * b.columns + b.entries[q];
        out.x.data<int64>()[to] = p;
        out.y.data<int64>()[to] = q;
      }
  }
  return out.finish();
}

rearranged diagonal(const operation& o) {
  const sparse_operand& v = o.x.sparse;
  const index down = std::max(-o.diagonal, 0), right = std::max(o.diagonal, 0);
  const index n = v.columns + down + right;
  rows_to_fill out(n, n);
  for (int64 p = 0; p < v.nnz; ++p) out.count(v.entries[p] + down) = 1;
  out.allocate(false);
  for (int64 p = 0; p < v.nnz; ++p) {
    out.entries.data<index>()[p] = v.entries[p] + right;
    out.x.data<int64>()[p] = p;
  }
  return out.finish();
}

rearranged from_diagonal(const operation& o) {
  const sparse_operand& a = o.x.sparse;
  const int64 down = std::max(-int64{o.diagonal}, int64{0}), right = std::max(o.diagonal, 0);
  const auto n = static_cast<index>(std::max(int64{0}, std::min(a.rows - down, a.columns - right)));
  std::vector<index> entries;
  std::vector<int64> from;
  for (index i = 0; i < n; ++i) {
    const index* const begin = a.entries + a.offset(static_cast<index>(i + down));
    const index* const end = a.entries + a.offset(static_cast<index>(i + down + 1));
    const index* const at = std::lower_bound(begin, end, i + right);
    if (at == end || *at != i + right) continue;
    entries.push_back(i);
    from.push_back(at - a.entries);
  }
  rows_to_fill out(1, n);
  out.count(0) = static_cast<int64>(entries.size());
  out.allocate(false);
  std::copy(entries.begin(), entries.end(), out.entries.data<index>());
  std::copy(from.begin(), from.end(), out.x.data<int64>());
  return out.finish();
}

buffer values(const operation& o, const rearranged& r, const operator_info& op) {
  const element_source x_of = source_of(o.x), y_of = source_of(o.y.sparse);
  const int64 nnz = r.structure->nnz(), step = element_block::most;
  buffer out = buffer::allocate(size(nnz) * o.out_bytes);
  const int64* const x = r.x.data<int64>();
  const int64* const y = r.y.bytes() > 0 ? r.y.data<int64>() : nullptr;
  const int threads = threads_for(static_cast<double>(nnz), o.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64 first = 0; first < nnz; first += step) {
    const element_positions of_y =
        y != nullptr ? element_positions{y + first} : element_block::absent;
    run_block(op, o.code, x_of, {x + first}, y != nullptr ? y_of : x_of, of_y, o.out_type,
              o.out_bytes, out.data<unsigned char>() + size(first) * o.out_bytes,
              std::min(step, nnz - first));
  }
  return out;
}

}  // namespace rig::on_cpu
