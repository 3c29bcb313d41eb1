// Sums of rows, and of everything, by a monoid. Chunks have a fixed length, and their sums are
// joined in order, so the number of threads does not change the result.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

using namespace on_cpu;

constexpr int64 chunk = 16384;

/// Folds in `lanes` partial sums, so that the compiler can use vectors, and joins them in order.
template <class A, class F>
A fold_in_lanes(const element_source& of, int64 begin, int64 end, F add) {
  constexpr int lanes = 16, most = element_block::most;
  A room[most], sums[lanes] = {};
  int used = 0;
  for (int64 first = begin; first < end; first += most) {
    const int count = static_cast<int>(std::min<int64>(most, end - first));
    const A* x = in_place<A>(of, {nullptr, first});
    if (x == nullptr) {
      gather(of, {nullptr, first}, count, room);
      x = room;
    }
    int k = 0;
    for (; used < lanes && k < count; ++k) sums[used++] = x[k];
    for (; k + lanes <= count; k += lanes)
      for (int l = 0; l < lanes; ++l) sums[l] = add(sums[l], x[k + l]);
    for (int l = 0; k < count; ++k, ++l) sums[l] = add(sums[l], x[k]);
  }
  A sum = sums[0];
  for (int l = 1; l < used; ++l) sum = add(sum, sums[l]);
  return sum;
}

/// The sum of `count` equal elements, at least one, by doubling.
template <class A, class F>
A fold_equal(const element_source& of, int64 count, F add) {
  A power, sum;
  gather(of, {}, 1, &power);
  for (; count % 2 == 0; count /= 2) power = add(power, power);
  sum = power;
  for (count /= 2; count > 0; count /= 2) {
    power = add(power, power);
    if (count % 2 != 0) sum = add(sum, power);
  }
  return sum;
}

template <class A>
void fold_builtin(const monoid_info& m, const element_source& of, int64 begin, int64 end,
                  void* out) {
  const auto by = [&](auto add, bool is_logical = false) {
    A sum = of.values == nullptr ? fold_equal<A>(of, end - begin, add)
                                 : fold_in_lanes<A>(of, begin, end, add);
    if (is_logical) sum = A(sum != A(0));  // of one element
    std::memcpy(out, &sum, sizeof(A));
  };
  switch (static_cast<binary>(m.code)) {
    case binary::times:
      return by([](A x, A y) { return times(x, y); });
    case binary::minimum:
      return by([](A x, A y) { return minimum(x, y); });
    case binary::maximum:
      return by([](A x, A y) { return maximum(x, y); });
    case binary::logical_or:
      return by([](A x, A y) { return accumulate(accumulator::logical_or, x, y); }, true);
    case binary::logical_and:
      return by([](A x, A y) { return accumulate(accumulator::logical_and, x, y); }, true);
    default:
      return by([](A x, A y) { return plus(x, y); });
  }
}

template <class A>
A identity_of(binary op) {
  switch (op) {
    case binary::times:
    case binary::logical_and:
      return A(1);
    case binary::minimum:
      return highest<A>();
    case binary::maximum:
      return lowest<A>();
    default:
      return A(0);
  }
}

}  // namespace

monoid_info builtin_monoid(const char* operation, binary op, type algebra) {
  check_enum(operation, "operator", op, binary::greater_equal);
  const bool has_identity = op == binary::plus || op == binary::times || op == binary::minimum ||
                            op == binary::maximum || op == binary::logical_or ||
                            op == binary::logical_and;
  if (!has_identity)
    fail(errc::cannot, {operation, ": binary::", name_of(op),
                        " is no monoid; pass plus, times, minimum, maximum, logical_or or "
                        "logical_and, or a monoid of your own"});
  const operator_info& add = builtin_binary(algebra);
  return with_algebra(algebra, [&]<class A>(A) {
    return monoid_info{"builtin",       type_of<A>, sizeof(A), &add, static_cast<unsigned char>(op),
                       &fold_builtin<A>};
  });
}

void write_identity(binary op, type algebra, void* out) {
  with_algebra(algebra, [&]<class A>(A) {
    const A zero = identity_of<A>(op);
    std::memcpy(out, &zero, sizeof(A));
  });
}

namespace on_cpu {
namespace {

/// A part of a row.
struct segment {
  int64 begin, end;
};

/// Sums as a monoid stores them.
element_source sums_in(const void* sums, const monoid_info& m) {
  return source_of(sums, m.result, m.result_bytes);
}

/// Joins sums[0 … count) into the first, in order.
void join_sums(const monoid_info& m, unsigned char* sums, int64 count) {
  const element_source of = sums_in(sums, m);
  for (int64 k = 1; k < count; ++k)
    run_block(*m.add, m.code, of, {}, of, {nullptr, k}, m.result, m.result_bytes, sums, 1);
}

/// The sum of each segment, in order.
void fold_all(const operation& o, const element_source& of, const std::vector<segment>& segments,
              int64 elements, unsigned char* sums) {
  const monoid_info& m = *o.sums;
  const int threads = threads_for(static_cast<double>(elements), o.desc->threads);
  const auto count = static_cast<int64>(segments.size());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
  for (int64 k = 0; k < count; ++k)
    m.fold(m, of, segments[static_cast<std::size_t>(k)].begin,
           segments[static_cast<std::size_t>(k)].end,
           sums + static_cast<std::size_t>(k) * m.result_bytes);
}

void append(std::vector<segment>& to, int64 begin, int64 end) {
  for (; begin < end; begin += chunk) to.push_back({begin, std::min(begin + chunk, end)});
}

/// The positions of the elements of a row.
segment row_of(const dense_operand& x, index row) {
  const int64 begin = row * x.stride;
  return {begin, begin + x.columns};
}

/// The first element of a row.
void* element_of(const dense_operand& of, index row) {
  return static_cast<unsigned char*>(of.data) +
         static_cast<std::size_t>(row * of.stride) * of.value_bytes;
}

/// out[k] = sum first + k, converted to the type of the result.
void store_sums(const operation& o, const element_source& sums, int64 first, int64 count,
                void* out) {
  for (int64 k = 0; k < count; k += element_block::most)
    run_block(converting(o), 0, sums, {nullptr, first + k}, sums, element_block::absent, o.out_type,
              o.out_bytes,
              static_cast<unsigned char*>(out) + static_cast<std::size_t>(k) * o.out_bytes,
              std::min<int64>(element_block::most, count - k));
}

/// The sum of one row, in chunks whose sums are joined in order.
void fold_row(const operation& o, const element_source& of, segment row, unsigned char* sum) {
  const monoid_info& m = *o.sums;
  if (row.end - row.begin <= chunk) return m.fold(m, of, row.begin, row.end, sum);
  std::vector<segment> segments;
  append(segments, row.begin, row.end);
  const buffer sums = buffer::allocate(segments.size() * m.result_bytes);
  fold_all(o, of, segments, row.end - row.begin, sums.data<unsigned char>());
  join_sums(m, sums.data<unsigned char>(), static_cast<int64>(segments.size()));
  std::memcpy(sum, sums.data(), m.result_bytes);
}

}  // namespace

sparse_result reduce_rows(const operation& o) {
  const sparse_operand& x = o.x.sparse;
  std::vector<index> rows;  // that have entries
  std::vector<std::size_t> long_ones;
  rows.reserve(static_cast<std::size_t>(std::min<int64>(x.nnz, o.x.rows())));
  int64 begin = x.offset(0);
  for (index i = 0; i < o.x.rows(); ++i) {
    const int64 n = x.offset(i + 1) - std::exchange(begin, x.offset(i + 1));
    if (n > chunk) long_ones.push_back(rows.size());
    if (n > 0) rows.push_back(i);
  }
  const std::size_t bytes = o.sums->result_bytes;
  const buffer sums = buffer::allocate(rows.size() * bytes);
  const element_source of = source_of(o.x);
  const auto fold = [&](std::size_t k, bool is_long) {
    const segment row{x.offset(rows[k]), x.offset(rows[k] + 1)};
    if ((row.end - row.begin > chunk) == is_long)
      fold_row(o, of, row, sums.data<unsigned char>() + k * bytes);
  };
  const int threads = threads_for(static_cast<double>(x.nnz + o.x.rows()), o.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 512)
  for (std::size_t k = 0; k < rows.size(); ++k) fold(k, false);
  for (const std::size_t k : long_ones) fold(k, true);  // whose chunks go to all threads

  sparse_result out;
  const int64 offsets[] = {0, static_cast<int64>(rows.size())};
  out.structure = pattern_from_csr(1, o.x.rows(), offsets, rows, input::trusted);
  out.values = buffer::allocate(rows.size() * o.out_bytes);
  store_sums(o, sums_in(sums.data(), *o.sums), 0, offsets[1], out.values.data());
  return out;
}

namespace {

/// sums[j] = sums[j] op the element at position `first` + j of x, for `count` elements.
void add_row(const monoid_info& m, const element_source& x, int64 first, index count,
             unsigned char* sums) {
  const element_source sums_of = sums_in(sums, m);
  for (int64 j = 0; j < count; j += element_block::most)
    run_block(*m.add, m.code, sums_of, {nullptr, j}, x, {nullptr, first + j}, m.result,
              m.result_bytes, sums + static_cast<std::size_t>(j) * m.result_bytes,
              std::min<int64>(element_block::most, count - j));
}

/// The sums of columns: of chunks of rows, then of the chunks in order.
void fold_columns(const operation& o, const dense_operand& t) {
  constexpr index rows_of_chunk = 1024;
  const monoid_info& m = *o.sums;
  const dense_operand& x = o.x.full;
  const element_source x_of = source_of(x);
  const index chunks = (x.rows - 1) / rows_of_chunk + 1;
  const std::size_t row_bytes = static_cast<std::size_t>(x.columns) * m.result_bytes;
  const buffer sums = buffer::allocate(static_cast<std::size_t>(chunks) * row_bytes);
  auto* const first = sums.data<unsigned char>();
  const int threads = threads_for(static_cast<double>(x.rows) * x.columns, o.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (index c = 0; c < chunks; ++c) {
    unsigned char* const row = first + static_cast<std::size_t>(c) * row_bytes;
    const index begin = c * rows_of_chunk, end = begin + std::min(rows_of_chunk, x.rows - begin);
    for (index j = 0; j < x.columns; ++j) {
      const int64 at = begin * x.stride + j;
      m.fold(m, x_of, at, at + 1, row + static_cast<std::size_t>(j) * m.result_bytes);
    }
    for (index i = begin + 1; i < end; ++i) add_row(m, x_of, i * x.stride, x.columns, row);
  }
  const element_source sums_of = sums_in(first, m);
  for (index c = 1; c < chunks; ++c) add_row(m, sums_of, int64{c} * x.columns, x.columns, first);
  for (index j = 0; j < x.columns; ++j) store_sums(o, sums_of, j, 1, element_of(t, j));
}

/// The sums of rows whose elements lie side by side.
void fold_rows(const operation& o, const dense_operand& x, const dense_operand& t) {
  const monoid_info& m = *o.sums;
  std::vector<segment> segments;
  for (index i = 0; i < x.rows; ++i) {
    const segment row = row_of(x, i);
    append(segments, row.begin, row.end);
  }
  const buffer sums = buffer::allocate(segments.size() * m.result_bytes);
  fold_all(o, source_of(x), segments, int64{x.rows} * x.columns, sums.data<unsigned char>());
  const int64 each = (int64{x.columns} + chunk - 1) / chunk;
  for (index i = 0; i < x.rows; ++i) {
    const int64 at = i * each;
    join_sums(m, sums.data<unsigned char>() + static_cast<std::size_t>(at) * m.result_bytes, each);
    store_sums(o, sums_in(sums.data(), m), at, 1, element_of(t, i));
  }
}

}  // namespace

void fold_dense(const operation& o, const dense_operand& t) {
  dense_operand x = o.x.full;
  if (!o.desc->transpose_a) return fold_rows(o, x, t);
  if (x.columns > 1 || x.stride > 1) return fold_columns(o, t);
  std::swap(x.rows, x.columns);  // one packed column
  x.stride = x.columns;
  fold_rows(o, x, t);
}

void reduce(const operation& o, void* out) {
  std::vector<segment> segments;
  int64 elements = 0;
  if (o.x.what == operand::kind::sparse) {
    append(segments, o.x.sparse.offset(0), o.x.sparse.offset(o.x.sparse.rows));
    elements = o.x.sparse.nnz;
  } else if (o.x.full.columns > 0) {
    const bool is_packed = o.x.full.stride == o.x.full.columns;
    elements = static_cast<int64>(o.x.full.rows) * o.x.full.columns;
    if (is_packed) append(segments, 0, elements);
    for (index i = 0; !is_packed && i < o.x.full.rows; ++i) {
      const segment row = row_of(o.x.full, i);
      append(segments, row.begin, row.end);
    }
  }
  if (segments.empty()) return;
  const std::size_t bytes = o.sums->result_bytes;
  const buffer sums = buffer::allocate(segments.size() * bytes);
  fold_all(o, source_of(o.x), segments, elements, sums.data<unsigned char>());
  join_sums(*o.sums, sums.data<unsigned char>(), static_cast<int64>(segments.size()));
  std::memcpy(out, sums.data(), bytes);
}

}  // namespace on_cpu
}  // namespace rig
