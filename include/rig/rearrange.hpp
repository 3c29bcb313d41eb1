#pragma once

/// @file
/// Operations that move entries: `transpose`, `extract`, `assign`, `kronecker`, `diag`, `build`,
/// `to_tuples` and `at`.

#include <concepts>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rig/elementwise.hpp"

namespace rig {

/// Every row, or every column.
struct all_t {};
inline constexpr all_t all;  ///< every row, or every column

/// The indices first, first + step, … before last; step may be negative.
struct range {
  int64 first;     ///< the first index
  int64 last;      ///< the index before which the range ends
  int64 step = 1;  ///< not 0
};

/// @cond internal
/// A list of the caller as indices. A number that no index holds becomes -1, which no operation
/// takes as a place, so its check of the list refuses it.
std::shared_ptr<const std::vector<index>> narrowed(const integers& list);
/// @endcond

/// An argument that names rows or columns: `all`, a `range`, or a list of indices of any integer
/// type, in any order and with repetitions. A list of `index` is not copied.
class indices : public index_list {
 public:
  /// Every row, or every column.
  indices(all_t) {}
  /// The indices of a range.
  indices(range of) {
    what = kind::range;
    first = checked_index(of.first).as("range", "first");
    last = checked_index(of.last).as("range", "last");
    step = checked_index(of.step).as("range", "step");
  }
  /// A list, which outlives the indices unless it is a temporary vector.
  template <integer_range List>
  indices(const List& of) {
    read(of);
  }
  /// A temporary vector, which the indices keep.
  template <class Integer>
  requires integer_range<std::vector<Integer>> indices(std::vector<Integer>&& of) {
    const auto kept = or_out_of_memory("a list of indices", [&] {
      return std::make_shared<const std::vector<Integer>>(std::move(of));
    });
    read(*kept);
    kept_ = kept;
  }
  /// An n×1 dense with packed rows, on the CPU or where the operands are.
  indices(const dense<index>& of) {
    if (of.columns() != 1)
      fail(errc::shape,
           {"indices: a dense of ", of.rows(), "x", of.columns(), " is no list; give one column"});
    if (of.rows() > 1 && of.stride() != 1)
      fail(errc::shape, {"indices: a dense with rows ", of.stride(),
                         " elements apart is no list; pass a copy of it, which is packed"});
    what = kind::list;
    list = of.data();
    count = of.rows();
    where = of.where();
    stream = of.stream();
  }
  /// A temporary dense, which the indices keep.
  indices(dense<index>&& of)
      : indices(or_out_of_memory("a list of indices", [&] {
          return std::make_shared<const dense<index>>(std::move(of));
        })) {}

 private:
  explicit indices(std::shared_ptr<const dense<index>> kept) : indices(*kept) {
    kept_ = std::move(kept);
  }
  template <class List>
  void read(const List& of) {
    what = kind::list;
    count = static_cast<int64>(std::ranges::size(of));
    if constexpr (std::is_same_v<std::ranges::range_value_t<const List>, index>) {
      list = std::ranges::data(of);
    } else {
      given = of;
      narrow_ = narrowed(of);
      list = narrow_->data();
    }
  }

  std::shared_ptr<const void> kept_;
  std::shared_ptr<const std::vector<index>> narrow_;  // of a list in another type
};

/// @cond internal
template <class X>
auto rearrange_call(const char* name, operation::kind what, const X& x) {
  call<typename X::value_type> made{{name, what}};
  fill_in(made.o.x, x);
  return made;
}
template <class X>
auto extract_call(const X& x, const index_list& rows, const index_list& columns) {
  auto made = rearrange_call("extract", operation::kind::extract, x);
  made.o.rows = rows;
  made.o.columns = columns;
  return made;
}
template <class T>
auto transpose_call(const dense<T>& x) {
  auto made = extract_call(x, indices(all), indices(all));
  made.o.name = "transpose";
  return made;
}
/// The entries as they are; copying serves values of every type.
template <class T>
auto transpose_call(const matrix<T>& x) {
  if constexpr (is_storage<T>)
    return map_call<T>("transpose", operation::kind::map, x, builtin_unary(type_of<algebra<T>>),
                       static_cast<int>(unary::identity));
  else
    return map_call<T>("transpose", operation::kind::map, x, copying(), 0);
}
/// @endcond

/// Aᵀ of a matrix or a dense. A matrix's result shares the derived structure "transpose" of A,
/// which is built on first use; a dense's has memory of its own.
///
/// Shapes: A m×n, T n×m; transpose_a gives A itself. Elements keep their type, or have a named one.
/// Places: all. Cost: O(entries) beside the derived structure. Throws error: shape, place,
/// out_of_memory; C is unchanged then.
/// @code
/// auto reversed = rig::transpose(A);
/// rig::transpose(reversed, rig::accumulator::plus, A);
/// @endcode
template <class Named = void, two_dimensional X, option_like Option = descriptor>
auto transpose(const X& a, const Option& option = {}, const behind<Option>& desc = {}) {
  return run_creating<X, Named>(transpose_call(a), mask_among(option),
                                turned(descriptor_among(option, desc)));
}
/// Into C.
template <two_dimensional C, alike<C> X, option_like Option = descriptor>
void transpose(C& c, accumulator accum, const X& a, const Option& option = {},
               const behind<Option>& desc = {}) {
  run_into(c, accum, transpose_call(a), mask_among(option), turned(descriptor_among(option, desc)));
}

/// The part of a matrix or a dense in some rows and columns: T(i,j) = A(rows[i], columns[j]).
///
/// Indices may repeat and have any order: extract(A, order, order) permutes. Shapes: T has as many
/// rows and columns as the lists; with transpose_a it is a part of Aᵀ. Places: all. Cost: O(rows +
/// columns + entries of the rows that are named + entries of T). Throws error: range, shape, place,
/// out_of_memory; C is unchanged then.
/// @code
/// const auto block = rig::extract(A, rig::range{0, 2}, rig::all);
/// const auto sample = rig::extract(A, std::vector{2, 0}, std::vector{2, 0});
/// @endcode
template <class Named = void, two_dimensional X, option_like Option = descriptor>
auto extract(const X& a, const indices& rows, const indices& columns, const Option& option = {},
             const behind<Option>& desc = {}) {
  return run_creating<X, Named>(extract_call(a, rows, columns), option, desc);
}
/// Into C.
template <two_dimensional C, alike<C> X, option_like Option = descriptor>
void extract(C& c, accumulator accum, const X& a, const indices& rows, const indices& columns,
             const Option& option = {}, const behind<Option>& desc = {}) {
  run_into(c, accum, extract_call(a, rows, columns), option, desc);
}

/// The part of a vector at some indices: t(j) = v(places[j]). Otherwise as for a matrix.
///
///   auto part = rig::extract(v, rig::range{10, 20});
///   rig::extract(w, rig::none, v, order);
template <class Named = void, class T, option_like Option = descriptor>
auto extract(const vector<T>& v, const indices& places, const Option& option = {},
             const behind<Option>& desc = {}) {
  return run_creating<vector<T>, Named>(extract_call(v, indices(all), places), option, desc);
}
/// Into C.
template <class W, class T, option_like Option = descriptor>
void extract(vector<W>& w, accumulator accum, const vector<T>& v, const indices& places,
             const Option& option = {}, const behind<Option>& desc = {}) {
  run_into(w, accum, extract_call(v, indices(all), places), option, desc);
}

/// A row of a matrix as a vector; with transpose_a a column. Cost: O(entries of the row), or a
/// transpose that A keeps.
/// @code
/// const auto neighbours = rig::extract_row(A, 1);
/// const auto sources = rig::extract_row(A, 1, {.transpose_a = true});
/// @endcode
template <class T>
vector<T> extract_row(const matrix<T>& a, checked_index row, const descriptor& desc = {}) {
  const index number = row.as("extract_row", "row");
  const index rows = desc.transpose_a ? a.columns() : a.rows();
  if (number < 0 || number >= rows)
    fail(errc::range, {"extract_row: row ", number, " is outside the ", rows,
                       desc.transpose_a ? " columns of A" : " rows of A"});
  return vector<T>(extract(a, std::span(&number, 1), all, desc));
}

/// @cond internal
template <class X>
auto assign_call(const X& x, const index_list& rows, const index_list& columns) {
  auto made = rearrange_call("assign", operation::kind::assign, x);
  made.o.rows = rows;
  made.o.columns = columns;
  return made;
}
/// What may be assigned to elements of type C: any number where they are numbers.
template <class Y, class C>
concept number_for = std::convertible_to<Y, C> ||
    (is_storage<C> && (is_storage<Y> || std::is_integral_v<Y>));

/// The type in which a number is assigned to elements of C: its own, so that it is rounded after
/// the accumulator has joined it; int64 for other integers, and C's for what is no number.
template <class C, class Y>
using assigned_type = std::conditional_t<
    !is_storage<C>, C,
    std::conditional_t<is_storage<Y>, Y, std::conditional_t<std::is_integral_v<Y>, int64, C>>>;

/// The number to assign, whose fraction C's type drops. Throws error(range) for one outside the
/// integers of C's elements, or of int64.
template <class C, class Y>
assigned_type<C, Y> assigned(const Y& x) {
  using held = std::conditional_t<has_limits<C>, C, int64>;
  const auto check = [](const scalar& number) {
    if (!number.is_within(limits_of<held>()))
      refuse_number("assign", "the number", number, limits_of<held>());
  };
  if constexpr (has_limits<Y>)
    check(+x);
  else if constexpr (has_limits<C> && std::is_enum_v<Y>)
    check(static_cast<int64>(x));
  else if constexpr (has_limits<C> && (std::is_floating_point_v<Y> || is_small_float<Y>))
    check(convert<double>(x));
  return static_cast<assigned_type<C, Y>>(x);
}

/// The call that assigns a number of type T.
template <class T>
auto assign_scalar_call(const T& x, const index_list& rows, const index_list& columns) {
  call<T> made{{"assign", operation::kind::assign}};
  made.o.scalar = &x;
  made.o.scalar_bytes = sizeof(T);
  made.o.scalar_type = type_of<T>;
  made.o.rows = rows;
  made.o.columns = columns;
  return made;
}

/// @endcond

/// Writes a part of C: C(rows[i], columns[j]) = A(i,j).
///
/// Z is C, except that in the region of rows and columns it has exactly A's entries, or with an
/// accumulator C ⊙ A; then C⟨mask, replace⟩ = Z, and the mask covers all of C. A place that the
/// lists name twice gets its values joined by the accumulator, in the order of A; without one the
/// last stays. Shapes: A has as many rows and columns as the lists; mask and C are alike, except
/// that a vector may mask a dense of one column. Places: all. Cost: O(entries of A, C and mask +
/// rows + columns). Throws error: range, shape, place, out_of_memory; C is unchanged then.
/// @code
/// auto P = A;
/// rig::assign(P, rig::accumulator::plus, A, std::vector{2, 1, 0}, rig::all);
/// @endcode
template <two_dimensional C, alike<C> X, option_like Option = descriptor>
void assign(C& c, accumulator accum, const X& a, const indices& rows, const indices& columns,
            const Option& option = {}, const behind<Option>& desc = {}) {
  run_into(c, accum, assign_call(a, rows, columns), option, desc);
}
/// Into C.
template <class W, class T, option_like Option = descriptor>
void assign(vector<W>& w, accumulator accum, const vector<T>& v, const indices& places,
            const Option& option = {}, const behind<Option>& desc = {}) {
  run_into(w, accum, assign_call(v, indices(all), places), option, desc);
}

/// Writes one value to every place of a part of C, entries or not. A place that the lists name
/// twice counts once.
/// @code
/// auto P = A;
/// rig::assign(P, rig::none, 1.0f, rig::all, rig::range{0, 2});
/// @endcode
template <two_dimensional C, number_for<typename C::value_type> Y, option_like Option = descriptor>
void assign(C& c, accumulator accum, const Y& x, const indices& rows, const indices& columns,
            const Option& option = {}, const behind<Option>& desc = {}) {
  const auto number = assigned<typename C::value_type>(x);
  run_into(c, accum, assign_scalar_call(number, rows, columns), option, desc);
}
/// Into a vector.
template <class W, number_for<W> Y, option_like Option = descriptor>
void assign(vector<W>& w, accumulator accum, const Y& x, const indices& places,
            const Option& option = {}, const behind<Option>& desc = {}) {
  const auto number = assigned<W>(x);
  run_into(w, accum, assign_scalar_call(number, indices(all), places), option, desc);
}

/// @cond internal
template <class X, class Y, class Op>
auto kronecker_call(const X& x, const Y& y, Op op) {
  auto made = merge_call<false>("kronecker", x, y, op);
  made.o.what = operation::kind::kronecker;
  return made;
}

/// @endcond

/// The Kronecker product: T(i·m + k, j·n + l) = A(i,j) ⊗ B(k,l), B m×n.
///
/// `op` is a `binary`, or a semiring, whose multiply is ⊗. Shapes: the result has rows(A)·m rows
/// and columns(A)·n columns, each at most 2^31 − 1. Places: all. Cost: O(nnz(A)·nnz(B)). Throws
/// error: range, shape, place, out_of_memory; C is unchanged then.
/// @code
/// auto product = rig::kronecker(A, A, rig::binary::times);
/// rig::kronecker(product, rig::accumulator::plus, A, A, rig::plus_times<float>{});
/// @endcode
template <class Named = void, class T, class U, class Op, option_like Option = descriptor>
auto kronecker(const matrix<T>& a, const matrix<U>& b, Op op, const Option& option = {},
               const behind<Option>& desc = {}) {
  return run_creating<matrix<T>, Named>(kronecker_call(a, b, op), option, desc);
}
/// Into C.
template <class C, class T, class U, class Op, option_like Option = descriptor>
void kronecker(matrix<C>& c, accumulator accum, const matrix<T>& a, const matrix<U>& b, Op op,
               const Option& option = {}, const behind<Option>& desc = {}) {
  run_into(c, accum, kronecker_call(a, b, op), option, desc);
}

/// The square matrix with a vector on its k-th diagonal: k = 0 is the main one, k > 0 lies above.
///
/// Shapes: v n, T (n + |k|)×(n + |k|). Places: all. Cost: O(n). Throws error: range, place,
/// out_of_memory.
/// @code
/// const auto ones = rig::vector<float>::from_indices(3, std::vector{0, 1, 2});
/// const auto path = rig::diag(ones, 1);
/// @endcode
template <class T>
matrix<T> diag(const vector<T>& v, checked_index k = 0, const descriptor& desc = {}) {
  auto made = rearrange_call("diag", operation::kind::diagonal, v.as_row());
  made.o.diagonal = k.as("diag", "k");
  return run_creating<matrix<T>, T>(std::move(made), no_mask(), desc);
}
/// The k-th diagonal of a matrix as a vector. Shapes: A m×n, the vector min(m, n − k), or
/// min(m + k, n) for k < 0. Cost: O(rows · log of the longest row).
/// @code
/// const auto loops = rig::diag(A);
/// const auto above = rig::diag(A, 1);
/// @endcode
template <class T>
vector<T> diag(const matrix<T>& a, checked_index k = 0, const descriptor& desc = {}) {
  auto made = rearrange_call("diag", operation::kind::from_diagonal, a);
  made.o.diagonal = k.as("diag", "k");
  return run_creating<vector<T>, T>(std::move(made), no_mask(), desc);
}

/// @cond internal

/// Row 0, for each of `count` tuples.
inline index_list first_row(int64 count) {
  index_list out;
  out.what = index_list::kind::same;
  out.step = 0;
  out.count = count;
  return out;
}

template <class T>
auto build_call(checked_index rows, checked_index columns, const index_list& i, const index_list& j,
                const dense<T>& v) {
  if (rows.as("build", "rows") < 0 || columns.as("build", "columns") < 0)
    fail(errc::shape, {"build: ", rows, "x", columns, " is not a shape"});
  if (v.columns() != 1)
    fail(errc::shape,
         {"build: v is ", v.rows(), "x", v.columns(), "; give one column, a value per tuple"});
  auto made = rearrange_call("build", operation::kind::build, v);
  made.o.rows = i;
  made.o.columns = j;
  made.o.c.sparse.rows = rows;
  made.o.c.sparse.columns = columns;
  if (v.stride() != 1 && v.rows() > 1)
    fail(errc::shape, {"build: the values lie ", v.stride(), " elements apart; copy them"});
  return made;
}
/// A call whose duplicates are folded by an operator.
template <class T>
call<T> folded(call<T> made, binary combine) {
  static_assert(is_storage<T>, "a builtin operator folds numbers");
  check_enum("build", "combine", combine, binary::greater_equal);
  if (is_comparison(combine))
    fail(errc::cannot, {"build: combine is binary::", name_of(combine),
                        ", a comparison, whose results are no elements; pass plus, minus, times, "
                        "divide, minimum, maximum, first, second, logical_or or logical_and"});
  made.o.accum = accumulator::own;
  made.o.accumulates = &builtin_binary(type_of<algebra<T>>);
  made.o.accumulates_code = static_cast<unsigned char>(combine);
  return made;
}
/// @endcond

/// A matrix from tuples (i[p], j[p], v[p]) in any order, where v lies: on a device too.
///
/// i and j are lists, on the CPU or where v lies, or ranges. Duplicates are folded by `combine` in
/// the order of the tuples, or are an error. logical_or and logical_and make 0 or 1 of a value
/// alone too. Shapes: v n×1, i and j n indices. Places: all. Cost: O(n log n). Throws error: shape,
/// place, range, duplicate, out_of_memory.
/// @code
/// const auto t = rig::to_tuples(A);
/// const auto sums = rig::build(3, 3, t.columns, t.columns, t.values, rig::binary::plus);
/// @endcode
template <class T>
matrix<T> build(checked_index rows, checked_index columns, const indices& i, const indices& j,
                const dense<T>& v, binary combine, const descriptor& desc = {}) {
  return run_creating<matrix<T>, T>(folded(build_call(rows, columns, i, j, v), combine), no_mask(),
                                    desc);
}
/// The same, except that duplicates are error(duplicate).
template <class T>
matrix<T> build(checked_index rows, checked_index columns, const indices& i, const indices& j,
                const dense<T>& v, const descriptor& desc = {}) {
  return run_creating<matrix<T>, T>(build_call(rows, columns, i, j, v), no_mask(), desc);
}
/// A vector from tuples (i[p], v[p]).
template <class T>
vector<T> build(checked_index size, const indices& i, const dense<T>& v, binary combine,
                const descriptor& desc = {}) {
  auto made = folded(build_call(1, size.as("build", "size"), first_row(v.rows()), i, v), combine);
  return vector<T>(run_creating<matrix<T>, T>(std::move(made), no_mask(), desc));
}
/// The same, except that duplicates are error(duplicate).
template <class T>
vector<T> build(checked_index size, const indices& i, const dense<T>& v,
                const descriptor& desc = {}) {
  return vector<T>(run_creating<matrix<T>, T>(
      build_call(1, size.as("build", "size"), first_row(v.rows()), i, v), no_mask(), desc));
}

/// The entries of a matrix, row by row, as three n×1 arrays in its place.
template <class T>
struct tuples {
  dense<index> rows;     ///< the row of each entry
  dense<index> columns;  ///< the column of each entry
  dense<T> values;       ///< the value of each entry
};

/// @cond internal

/// The entries of a matrix on a device as tuples.
template <class T>
tuples<T> tuples_there(const matrix<T>& a) {
  const auto n = static_cast<index>(a.nnz());
  const place where = a.where();
  dense<index> numbers(a.rows(), 1);
  for (index i = 0; i < a.rows(); ++i) numbers(i, 0) = i;
  const auto rows = join_by<index>("to_tuples", a.with_value(index(0)), binary::second,
                                   numbers.to(where), broadcast::rows);
  const auto copy = [&]<class U>(const U* from, void* stream) {
    return dense<U>::view(from, n, 1, 1, where, stream).to(where);
  };
  return {copy(rows.values(), rows.values_stream()),
          copy(a.structure().column_indices(), a.structure().stream()),
          a.iso() ? dense<T>(n, 1, a.iso_value()).to(where) : copy(a.values(), a.values_stream())};
}

/// @endcond

/// The entries of a matrix as tuples in its place, ascending by row and column.
///
/// from_tuples(m, n, t.rows, t.columns, t.values) gives the matrix again. Cost: O(entries + rows).
/// Throws error: range (2^31 entries or more do not fit a dense), out_of_memory.
/// @code
/// const auto t = rig::to_tuples(A);
/// std::printf("%d %d %g\n", t.rows(0, 0), t.columns(0, 0), t.values(0, 0));
/// @endcode
template <class T>
tuples<T> to_tuples(const matrix<T>& a) {
  return or_out_of_memory("to_tuples", [&] {
    if (a.nnz() > highest<index>())
      fail(errc::range, {"to_tuples: ", a.nnz(), " entries; a dense has at most 2147483647 rows"});
    if (a.where() != cpu()) return tuples_there(a);
    const auto n = static_cast<index>(a.nnz());
    tuples<T> out{dense<index>::uninitialised(n, 1), dense<index>::uninitialised(n, 1),
                  dense<T>::uninitialised(n, 1)};
    index *const rows = out.rows.data(), *const columns = out.columns.data();
    T* const values = out.values.data();
    const int threads = on_cpu::threads_for(static_cast<double>(a.nnz()) + a.rows());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 512)
    for (index i = 0; i < a.rows(); ++i)
      for (int64 p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p) {
        rows[p] = i;
        columns[p] = a.structure().column_indices()[p];
        values[p] = a.value(p);
      }
    return out;
  });
}

/// The element at (i, j) of a matrix, if it is an entry. Cost: O(log of the row); on a device a few
/// kernels, for whose result it waits. Throws error: range.
/// @code
/// if (const auto weight = rig::at(A, 0, 1)) std::printf("%g\n", *weight);
/// const float or_zero = rig::at(A, 2, 2).value_or(0);
/// @endcode
template <class T>
std::optional<T> at(const matrix<T>& a, checked_index i, checked_index j) {
  const index row = i.as("at", "i"), column = j.as("at", "j");
  if (row < 0 || row >= a.rows() || column < 0 || column >= a.columns())
    fail(errc::range, {"at: (", row, ", ", column, ") is outside ", a.rows(), "x", a.columns()});
  if (a.where() != cpu()) {
    const matrix<T> one = extract(a, std::span(&row, 1), std::span(&column, 1)).to(cpu());
    return one.nnz() == 0 ? std::nullopt : std::optional<T>(one.value(0));
  }
  const index* const columns = a.structure().column_indices();
  const int64 end = a.structure().offset(row + 1);
  const int64 p = first_where(a.structure().offset(row), end,
                              [=](int64 entry) { return columns[entry] >= column; });
  if (p == end || columns[p] != column) return std::nullopt;
  return a.value(p);
}
/// The element at index i of a vector, if it is an entry.
template <class T>
std::optional<T> at(const vector<T>& v, checked_index i) {
  return at(v.as_row(), 0, i.as("at", "i"));
}

}  // namespace rig
