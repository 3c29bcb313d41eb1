// Matrices with a part of the entries.

#include "rig/sample.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rig/conversions.hpp"
#include "rig/reduce.hpp"

namespace rig {
namespace {

/// T has entries of the rows `rows` of A, those that `draw` draws.
template <class T>
matrix<T> drawn_rows(const char* name, const matrix<T>& a, const index_list& rows, row_draw draw) {
  auto made = rearrange_call(name, operation::kind::sample, a);
  made.o.rows = rows;
  made.o.draw = draw;
  return run_creating<matrix<T>, void>(std::move(made), no_mask(), descriptor{});
}

void check_width(const char* name, const char* what, index width, const char* or_else = "") {
  if (width < 1 || width > widest_sample)
    fail(errc::range,
         {name, ": ", what, " is ", width, "; it must be 1 to ", widest_sample, or_else});
}

/// The number of entries of each row, or 1 if there are none.
template <class A, class T>
dense<A> row_lengths_of(const matrix<T>& a) {
  return reduce_rows(matrix<A>(a.shared_structure(), A(1)), binary::plus).to_dense(A(1));
}

}  // namespace

template <class T>
matrix<T> sample(const matrix<T>& a, const sampling_options& how) {
  using A = algebra<T>;
  const index width = how.width;
  if (how.strategy != sampling::whole) check_width("sample", "the width", width);
  if (how.rescale && !is_float<A>)
    fail(errc::cannot, {"sample: rescale multiplies by a fraction, and the values are integers; "
                        "convert them to float"});
  return or_out_of_memory("sample", [&] {
    matrix<T> out = drawn_rows("sample", a, index_list{}, {how.strategy, width, how.seed});
    if constexpr (is_float<A>)
      if (how.rescale)
        return join_by<T>("sample", out, binary::times,
                          ewise_mult(row_lengths_of<A>(a), row_lengths_of<A>(out), binary::divide),
                          broadcast::rows);
    return out;
  });
}

namespace {

/// Indices as a column in a place; of n in all.
dense<index> column_of(const index_list& list, index n, place where) {
  const auto count = static_cast<index>(list.size(n));
  if (list.what == index_list::kind::list)
    return dense<index>::view(list.list, count, 1, 1, list.where, list.stream).to(where);
  dense<index> out(count, 1);
  for (index k = 0; k < count; ++k) out(k, 0) = list[k];  // `all` is the range from 0
  return out.to(where);
}

/// The nodes and more of them, one below the other.
dense<index> joined(const dense<index>& nodes, const dense<index>& more) {
  const index first = nodes.rows(), last = first + more.rows();
  auto out = dense<index>::uninitialised(last, 1, nodes.where());
  assign(out, none, nodes, range{0, first}, all);
  assign(out, none, more, range{first, last}, all);
  return out;
}

/// The numbers of the nodes of a batch, by operations of its place: passes over all nodes.
class numbers_there {
 public:
  explicit numbers_there(const dense<index>& seeds, index n)
      : known_(vector<bool>(n).to(seeds.where())) {
    assign(known_, none, true, indices(seeds));
  }
  /// How many nodes have a number.
  int64 size() const { return known_.nnz(); }
  /// Appends the columns that are no nodes yet, in ascending order; returns the matrix with the
  /// nodes' numbers for columns.
  template <class T>
  matrix<T> renumber(const matrix<T>& drawn, dense<index>& nodes) {
    const auto fresh =
        reduce_columns(drawn.with_value(true), binary::logical_or, complement(structure(known_)));
    nodes = joined(nodes, dense<index>::view(fresh.indices(), fresh.nnz(), 1, 1, fresh.where(),
                                             fresh.as_row().structure().stream()));
    known_ = ewise_add(known_, fresh, binary::logical_or);
    return extract(drawn, all, nodes);
  }

 private:
  vector<bool> known_;
};

/// The same in host memory, where a pass over all nodes would take longer than the batch.
class numbers_here {
 public:
  explicit numbers_here(const dense<index>& seeds, index) {
    for (index k = 0; k < seeds.rows(); ++k) number_.emplace(seeds(k, 0), k);
  }
  int64 size() const { return static_cast<int64>(number_.size()); }
  template <class T>
  matrix<T> renumber(const matrix<T>& drawn, dense<index>& nodes) {
    const pattern& from = drawn.structure();
    const std::span columns(from.column_indices(), static_cast<std::size_t>(from.nnz()));
    std::vector<index> fresh;
    for (const index column : columns)
      if (number_.try_emplace(column, -1).second) fresh.push_back(column);
    std::ranges::sort(fresh);
    for (std::size_t k = 0; k < fresh.size(); ++k)
      number_[fresh[k]] = nodes.rows() + static_cast<index>(k);
    nodes = joined(nodes, dense<index>::view(fresh.data(), fresh.size(), 1));

    std::vector<int64> offsets(static_cast<std::size_t>(from.rows()) + 1);
    for (index i = 0; i <= from.rows(); ++i) offsets[static_cast<std::size_t>(i)] = from.offset(i);
    std::vector<index> numbers(columns.size());
    std::ranges::transform(columns, numbers.begin(), [&](index j) { return number_.at(j); });
    if (drawn.iso())
      return matrix<T>::from_csr(from.rows(), nodes.rows(), offsets, numbers, input::sorted,
                                 drawn.iso_value());
    return matrix<T>::from_csr(from.rows(), nodes.rows(), offsets, numbers,
                               std::span(drawn.values(), columns.size()), input::sorted);
  }

 private:
  std::unordered_map<index, index> number_;
};

template <class Numbers, class T>
neighbourhood<T> neighbours_by(const char* name, const matrix<T>& a, const indices& seeds,
                               const std::vector<index>& fan_outs, std::uint64_t seed) {
  neighbourhood<T> out;
  std::optional<Numbers> numbers;
  for (std::size_t hop = 0; hop < fan_outs.size(); ++hop) {
    // The draws of hops differ, and none is that of the kernels.
    const std::uint64_t of_hop = scrambled(seed + (hop + 1) * 0x9e3779b97f4a7c15u) | 1;
    const bool is_whole = fan_outs[hop] == -1;
    const row_draw draw{is_whole ? sampling::whole : sampling::fastrand, fan_outs[hop], of_hop};
    const auto drawn = drawn_rows(name, a, hop == 0 ? seeds : indices(out.nodes), draw);
    if (hop == 0) {
      out.nodes = column_of(seeds, a.rows(), a.where());
      numbers.emplace(out.nodes, a.rows());
      if (numbers->size() < out.nodes.rows())
        fail(errc::duplicate, {name, ": of ", out.nodes.rows(), " seeds ", numbers->size(),
                               " differ; give each once"});
    }
    out.blocks.push_back(numbers->renumber(drawn, out.nodes));
  }
  std::ranges::reverse(out.blocks);
  return out;
}

}  // namespace

template <class T>
neighbourhood<T> neighbours(const matrix<T>& a, const indices& seeds,
                            const std::vector<index>& fan_outs, std::uint64_t seed) {
  const char* const name = "neighbours";
  if (a.rows() != a.columns())
    fail(errc::shape,
         {name, ": A is ", a.rows(), "x", a.columns(), ", not square; give a graph's matrix"});
  if (fan_outs.empty()) fail(errc::range, {name, ": there are no fan-outs; give one per layer"});
  for (const index width : fan_outs)
    if (width != -1) check_width(name, "a fan-out", width, ", or -1 for all entries");
  return or_out_of_memory(name, [&] {
    return a.where() == cpu() ? neighbours_by<numbers_here>(name, a, seeds, fan_outs, seed)
                              : neighbours_by<numbers_there>(name, a, seeds, fan_outs, seed);
  });
}

#define RIG_SAMPLE(T)                                                    \
  template matrix<T> sample(const matrix<T>&, const sampling_options&);  \
  template neighbourhood<T> neighbours(const matrix<T>&, const indices&, \
                                       const std::vector<index>&, std::uint64_t)
RIG_SAMPLE(float);
RIG_SAMPLE(double);
RIG_SAMPLE(half);
RIG_SAMPLE(bfloat16);
RIG_SAMPLE(int32);
RIG_SAMPLE(int64);
RIG_SAMPLE(bool);

}  // namespace rig
