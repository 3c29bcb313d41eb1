#include "rig/graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rig/elementwise.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace rig {
namespace {

template <class T>
void require_square(const char* operation, const matrix<T>& a) {
  if (a.rows() != a.columns())
    fail(errc::shape, {operation, ": A is ", a.rows(), "x", a.columns(), ", not square"});
}

template <class T>
bool is_on_host(const matrix<T>& a) {
  return a.where() == cpu();
}

/// Threads for a pass over the rows and entries of a matrix.
template <class T>
int threads_for(const matrix<T>& a) {
  constexpr double multiply_adds = 8;  // one entry takes about this many multiply-adds
  return on_cpu::threads_for(multiply_adds * static_cast<double>(a.nnz() + a.rows()));
}

/// Builds an n×n matrix in two passes over its rows: length(i) returns the number of entries, and
/// write(i, columns, values) writes them. `values` is null if the matrix is iso.
template <class T, class Length, class Write>
matrix<T> from_rows(index n, int threads, bool iso, T iso_value, Length length, Write write) {
  std::vector<int64> offsets(static_cast<std::size_t>(n) + 1, 0);
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads)
  for (index i = 0; i < n; ++i) offsets[static_cast<std::size_t>(i) + 1] = length(i);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];

  const auto count = static_cast<std::size_t>(offsets.back());
  const buffer columns = buffer::allocate(count * sizeof(index));
  const buffer values = iso ? buffer() : buffer::allocate(count * sizeof(T));
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads)
  for (index i = 0; i < n; ++i) {
    const int64 begin = offsets[static_cast<std::size_t>(i)];
    write(i, columns.data<index>() + begin, iso ? nullptr : values.data<T>() + begin);
  }

  bool offsets_64 = false;
  buffer packed = pack_offsets(offsets, offsets_64);
  auto structure =
      std::make_shared<const pattern>(n, n, offsets.back(), std::move(packed), offsets_64, columns);
  return iso ? matrix<T>(std::move(structure), iso_value) : matrix<T>(std::move(structure), values);
}

/// A's pattern with other values: value(i, p) is the value of entry p, in row i.
template <class T, class Value>
matrix<T> with_computed_values(const matrix<T>& a, Value value) {
  const pattern& structure = a.structure();
  const buffer values = buffer::allocate(static_cast<std::size_t>(a.nnz()) * sizeof(T));
  T* out = values.data<T>();
  const int threads = threads_for(a);
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads)
  for (index i = 0; i < a.rows(); ++i) {
    const int64 end = structure.offset(i + 1);
    for (int64 p = structure.offset(i); p < end; ++p) out[p] = value(i, p);
  }
  return matrix<T>(a.shared_structure(), values);
}

/// Walks the union of row i of a pattern and of its transpose in ascending order. It calls
/// visit(column, p, q) with the entry p of the pattern and q of the transpose, −1 if absent.
template <class Visit>
void walk_union(const pattern& forth, const pattern& back, index i, Visit visit) {
  int64 p = forth.offset(i), q = back.offset(i);
  const int64 p_end = forth.offset(i + 1), q_end = back.offset(i + 1);
  while (p < p_end || q < q_end) {
    const bool forth_next =
        p < p_end && (q == q_end || forth.column_indices()[p] <= back.column_indices()[q]);
    const bool back_next =
        q < q_end && (p == p_end || back.column_indices()[q] <= forth.column_indices()[p]);
    const index column = forth_next ? forth.column_indices()[p] : back.column_indices()[q];
    visit(column, forth_next ? p++ : -1, back_next ? q++ : -1);
  }
}

/// The diagonal matrix of A's shape and place.
template <class T>
matrix<T> identity(const matrix<T>& a, T value) {
  std::vector<index> offsets(static_cast<std::size_t>(a.rows()) + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  return matrix<T>::from_csr(a.rows(), a.columns(), offsets,
                             std::span<const index>(offsets).first(offsets.size() - 1),
                             input::trusted, value)
      .to(a.where());
}

/// `add_self_loops` on a device.
template <class T>
matrix<T> add_loops_there(const matrix<T>& a, T value) {
  return or_out_of_memory("add_self_loops", [&] {
    const matrix<T> looped = ewise_add<T>(a, identity(a, value), binary::first);
    if (looped.nnz() == a.nnz()) return a;
    const bool is_iso = a.iso() && a.iso_value() == value;
    return is_iso ? matrix<T>(looped.shared_structure(), value) : looped;
  });
}

/// Numbers as a dense of one column, in a place.
template <class T>
dense<T> column_of(std::span<const T> numbers, place where) {
  return dense<T>::view(numbers.data(), static_cast<index>(numbers.size()), 1).to(where);
}

/// The factor of a row with this sum.
double gcn_factor(double sum) { return sum <= 0 ? 0 : 1 / std::sqrt(sum); }  // NaN stays NaN

/// D^-½ A D^-½ on a device.
template <class T>
matrix<T> normalise_there(const matrix<T>& a) {
  const auto sums = reduce_rows(apply<double>(a, unary::identity), binary::plus).to(cpu());
  std::vector<double> factors(static_cast<std::size_t>(a.rows()), 0);
  for (int64 p = 0; p < sums.nnz(); ++p)
    factors[static_cast<std::size_t>(sums.indices()[p])] = gcn_factor(sums.value(p));
  const auto column = column_of(std::span<const double>(factors), a.where());
  // The product of the factors comes first because it does not depend on the direction of the edge.
  const auto of_rows =
      join_by<double>("gcn_normalise", a.with_value(1.0), binary::times, column, broadcast::rows);
  const auto of_both =
      join_by<double>("gcn_normalise", of_rows, binary::times, column, broadcast::columns);
  return ewise_mult<T>(of_both, a, binary::times);
}

}  // namespace

template <class T>
matrix<T> symmetrise(const matrix<T>& a) {
  require_square("symmetrise", a);
  return or_out_of_memory("symmetrise", [&] {
    if (!is_on_host(a)) {
      const matrix<T> both = ewise_add<T>(a, a, binary::first, {.transpose_b = true});
      return a.iso() ? matrix<T>(both.shared_structure(), a.iso_value()) : both;
    }
    const pattern& forth = a.structure();
    const transposed transpose(forth);
    const pattern& back = *transpose.structure;
    const auto origin = [&](int64 q) -> int64 {
      return back.offsets_64() ? transpose.permutation.data<int64>()[q]
                               : transpose.permutation.data<int32>()[q];
    };
    return from_rows<T>(
        a.rows(), threads_for(a), a.iso(), a.iso_value(),
        [&](index i) {
          int64 count = 0;
          walk_union(forth, back, i, [&](index, int64, int64) { ++count; });
          return count;
        },
        [&](index i, index* columns, T* values) {
          walk_union(forth, back, i, [&](index column, int64 p, int64 q) {
            *columns++ = column;
            if (values != nullptr) *values++ = a.value(p >= 0 ? p : origin(q));
          });
        });
  });
}

template <class T>
matrix<T> add_self_loops(const matrix<T>& a, argument<T> given) {
  const T value = read_argument<T>(given, "add_self_loops", "value");
  require_square("add_self_loops", a);
  if (!is_on_host(a)) return add_loops_there(a, value);
  return or_out_of_memory("add_self_loops", [&] {
    const pattern& structure = a.structure();
    const index* entries = structure.column_indices();
    // The place of the diagonal entry of row i, or its place of insertion.
    const auto diagonal = [&](index i) -> int64 {
      return std::lower_bound(entries + structure.offset(i), entries + structure.offset(i + 1), i) -
             entries;
    };
    const auto has_loop = [&](index i, int64 at) {
      return at < structure.offset(i + 1) && entries[at] == i;
    };
    const int threads = threads_for(a);
    int64 missing = 0;
#pragma omp parallel for reduction(+ : missing) num_threads(threads)
    for (index i = 0; i < a.rows(); ++i)
      if (!has_loop(i, diagonal(i))) ++missing;
    if (missing == 0) return a;

    return from_rows<T>(
        a.rows(), threads, a.iso() && a.iso_value() == value, value,
        [&](index i) {
          const int64 kept = structure.offset(i + 1) - structure.offset(i);
          return has_loop(i, diagonal(i)) ? kept : kept + 1;
        },
        [&](index i, index* columns, T* values) {
          const int64 begin = structure.offset(i), end = structure.offset(i + 1), at = diagonal(i);
          const int64 rest = at - begin + (has_loop(i, at) ? 0 : 1);  // the new place of entry `at`
          columns[at - begin] = i;
          std::copy(entries + begin, entries + at, columns);
          std::copy(entries + at, entries + end, columns + rest);
          if (values == nullptr) return;
          values[at - begin] = value;
          for (int64 p = begin; p < at; ++p) values[p - begin] = a.value(p);
          for (int64 p = at; p < end; ++p) values[p - at + rest] = a.value(p);
        });
  });
}

template <class T>
matrix<T> scale_rows(const matrix<T>& a, std::span<const std::type_identity_t<T>> factors) {
  if (factors.size() != static_cast<std::size_t>(a.rows()))
    fail(errc::shape, {"scale_rows: A is ", a.rows(), "x", a.columns(), ", but there are ",
                       factors.size(), " factors; give one per row"});
  if (!is_on_host(a))
    return join_by<T>("scale_rows", a, binary::times, column_of(factors, a.where()),
                      broadcast::rows);
  return with_computed_values(
      a, [&](index i, int64 p) { return times(factors[static_cast<std::size_t>(i)], a.value(p)); });
}

template <class T>
matrix<T> scale_columns(const matrix<T>& a, std::span<const std::type_identity_t<T>> factors) {
  if (factors.size() != static_cast<std::size_t>(a.columns()))
    fail(errc::shape, {"scale_columns: A is ", a.rows(), "x", a.columns(), ", but there are ",
                       factors.size(), " factors; give one per column"});
  if (!is_on_host(a))
    return join_by<T>("scale_columns", a, binary::times, column_of(factors, a.where()),
                      broadcast::columns);
  const index* entries = a.structure().column_indices();
  return with_computed_values(a, [&](index, int64 p) {
    return times(a.value(p), factors[static_cast<std::size_t>(entries[p])]);
  });
}

template <class T>
matrix<T> gcn_normalise(const matrix<T>& a) {
  require_square("gcn_normalise", a);
  return or_out_of_memory("gcn_normalise", [&] {
    const matrix<T> looped = add_self_loops(a);
    if (!is_on_host(a)) return normalise_there(looped);
    const pattern& structure = looped.structure();
    std::vector<double> factors(static_cast<std::size_t>(a.rows()));
    const int threads = threads_for(looped);
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads)
    for (index i = 0; i < a.rows(); ++i) {
      double sum = 0;
      for (int64 p = structure.offset(i); p < structure.offset(i + 1); ++p) sum += looped.value(p);
      factors[static_cast<std::size_t>(i)] = gcn_factor(sum);
    }
    return with_computed_values(looped, [&](index i, int64 p) {
      const auto j = static_cast<std::size_t>(structure.column_indices()[p]);
      // The product of the factors comes first because it does not depend on the direction of the
      // edge.
      return static_cast<T>(factors[static_cast<std::size_t>(i)] * factors[j] * looped.value(p));
    });
  });
}

template <class T>
matrix<T> mean_normalise(const matrix<T>& a) {
  return or_out_of_memory("mean_normalise", [&] {
    if (!is_on_host(a)) {
      const auto lengths = reduce_rows(a.with_value(T(1)), binary::plus).to_dense(T(1));
      return join_by<T>("mean_normalise", a, binary::divide, lengths, broadcast::rows);
    }
    const pattern& structure = a.structure();
    return with_computed_values(a, [&](index i, int64 p) {
      return a.value(p) / static_cast<T>(structure.offset(i + 1) - structure.offset(i));
    });
  });
}

/// The sum of each row's entries over a semiring that ignores B. Unlike `reduce_rows` it waits for
/// no device, so it can be captured.
template <class S, class T>
dense<typename S::accum> column_of_sums(const matrix<T>& a, S s, const descriptor& desc) {
  using accum = typename S::accum;
  const auto unread = dense<accum>::uninitialised(desc.transpose_a ? a.rows() : a.columns(), 1,
                                                  a.where(), desc.stream);
  return mxv(a, unread, s,
             {.transpose_a = desc.transpose_a,
              .fill = accum(0),
              .threads = desc.threads,
              .stream = desc.stream});
}

template <class T>
matrix<T> edge_softmax(const matrix<T>& a, const descriptor& desc) {
  return or_out_of_memory("edge_softmax", [&] {
    using A = algebra<T>;
    const char* const name = "edge_softmax";
    const descriptor plain = untransposed(desc);
    const auto greatest = column_of_sums(a, max_first<A>(), desc);
    const auto below = join_by<A>(name, a, binary::minus, greatest, broadcast::rows, desc);
    const auto raised = apply(below, unary::exponential, plain);
    const auto sums = column_of_sums(raised, plus_first<A>(), plain);
    return join_by<T>(name, raised, binary::divide, sums, broadcast::rows, plain);
  });
}

#define RIG_GRAPH(T)                               \
  template matrix<T> symmetrise(const matrix<T>&); \
  template matrix<T> add_self_loops(const matrix<T>&, argument<T>)
#define RIG_SCALE(T)                                                   \
  template matrix<T> scale_rows(const matrix<T>&, std::span<const T>); \
  template matrix<T> scale_columns(const matrix<T>&, std::span<const T>)

RIG_GRAPH(float);
RIG_GRAPH(double);
RIG_GRAPH(int32);
RIG_GRAPH(int64);
RIG_GRAPH(bool);
RIG_SCALE(float);
RIG_SCALE(double);
RIG_SCALE(int32);
RIG_SCALE(int64);
template matrix<float> gcn_normalise(const matrix<float>&);
template matrix<double> gcn_normalise(const matrix<double>&);
template matrix<float> mean_normalise(const matrix<float>&);
template matrix<double> mean_normalise(const matrix<double>&);

template matrix<float> edge_softmax(const matrix<float>&, const descriptor&);
template matrix<double> edge_softmax(const matrix<double>&, const descriptor&);
template matrix<half> edge_softmax(const matrix<half>&, const descriptor&);
template matrix<bfloat16> edge_softmax(const matrix<bfloat16>&, const descriptor&);

}  // namespace rig
