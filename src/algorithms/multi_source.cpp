// multi_source of rig/algorithms/bfs.hpp.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "algorithms/measured.hpp"
#include "algorithms/preparation.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/elementwise.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

// Sets of sources: bit k % 64 of word k / 64 of a node's row stands for source k.
constexpr index word_bits = 64;

RIG_SEMIRING(
    union_of_second, using left = bool; using right = rig::int64; using accum = rig::int64;
    static constexpr bool ignores_left = true; static constexpr rig::int64 zero() {
      return 0;
    } static constexpr rig::int64 add(rig::int64 x, rig::int64 y) {
      return x | y;
    } static constexpr rig::int64 multiply(bool, rig::int64 y) { return y; });
RIG_SEMIRING(
    union_of_first, using left = rig::int64; using right = bool; using accum = rig::int64;
    static constexpr bool ignores_right = true; static constexpr rig::int64 zero() {
      return 0;
    } static constexpr rig::int64 add(rig::int64 x, rig::int64 y) {
      return x | y;
    } static constexpr rig::int64 multiply(rig::int64 x, bool) { return x; });
RIG_SEMIRING(
    set_difference, using left = rig::int64; using right = rig::int64; using accum = rig::int64;
    static constexpr rig::int64 zero() { return 0; } static constexpr rig::int64 add(rig::int64 x,
                                                                                     rig::int64 y) {
      return x | y;
    } static constexpr rig::int64 multiply(rig::int64 x, rig::int64 y) { return x & ~y; });
RIG_OPERATOR(
    set_size, static constexpr rig::int64 apply(rig::int64 x, rig::index, rig::index, rig::int64) {
      unsigned long left = static_cast<unsigned long>(x);
      left -= left >> 1 & 0x5555555555555555ul;
      left = (left & 0x3333333333333333ul) + (left >> 2 & 0x3333333333333333ul);
      left = (left + (left >> 4)) & 0x0f0f0f0f0f0f0f0ful;
      return static_cast<rig::int64>(left * 0x0101010101010101ul >> 56);
    });
/// Bit `place % 64` of a set, times 2^(place / 64); a sum of such less 1.
RIG_SEMIRING(
    level_in_digits, using left = rig::int64; using right = rig::int32; using accum = rig::int32;
    static constexpr rig::int32 zero() { return 0; } static constexpr rig::int32 add(rig::int32 x,
                                                                                     rig::int32 y) {
      return x + y;
    } static constexpr rig::int32 multiply(rig::int64 set, rig::int32 place) {
      return static_cast<rig::int32>(static_cast<unsigned long>(set) >> place % 64 & 1)
             << place / 64;
    } static constexpr rig::int32 finish(rig::int32 x, rig::int64) { return x - 1; });
RIG_OPERATOR(
    row_start, static constexpr rig::int64 apply(rig::int64, rig::index i, rig::index,
                                                 rig::int64 entries) { return i * entries; });
RIG_OPERATOR(
    own_column, static constexpr rig::index apply(rig::index, rig::index, rig::index j,
                                                  rig::int64) { return j; });

/// The sets of word w of the sources.
vector<int64> sets_of(std::span<const index> sources, index w, index n) {
  const auto part = sources.subspan(static_cast<std::size_t>(w) * word_bits);
  const auto of_word = part.first(std::min<std::size_t>(part.size(), word_bits));
  std::vector<int64> bits;
  for (std::size_t k = 0; k < of_word.size(); ++k)
    bits.push_back(static_cast<int64>(std::uint64_t{1} << k));
  // Sources in one node have different bits, so the sum is the union.
  return vector<int64>::from_tuples(n, of_word, bits, std::plus<>());
}

/// A view of columns.
template <class T>
dense<T> columns_of(dense<T>& of, index first, index count = 1) {
  return dense<T>::view(of.data() + first, of.rows(), count, of.stride(), of.where(), of.stream());
}

/// The places of a matrix that has every entry.
class every_place {
 public:
  every_place(const dense<int64>& like, const descriptor& desc)
      : starts_(dense<int64>::uninitialised(like.rows() + 1, 1, like.where())),
        columns_(dense<index>::uninitialised(like.rows(), like.columns(), like.where())) {
    apply(starts_, none, starts_, row_start(), int64{like.columns()}, desc);
    apply(columns_, none, columns_, own_column(), int64{0}, desc);
  }

  /// A view of these values, without a copy.
  matrix<int64> with_values(const dense<int64>& values) const {
    const auto count = static_cast<std::size_t>(values.rows()) * values.columns();
    const std::span starts(starts_.data(), static_cast<std::size_t>(starts_.rows()));
    return matrix<int64>::view(values.rows(), values.columns(), starts,
                               std::span(columns_.data(), count), std::span(values.data(), count),
                               input::trusted, values.where(), values.stream());
  }

 private:
  dense<int64> starts_;
  dense<index> columns_;
};

/// Sets of sources that walk along the arcs of A, one level after the other. A node's row of
/// ⌈K / 64⌉ words is the set of the sources that reach it.
class walking_sets {
 public:
  walking_sets(const matrix<bool>& a, std::span<const index> sources, const descriptor& desc)
      : a_(a), other_(of_operations(desc)), full_product_(other_) {
    full_product_.transpose_a = true;
    full_product_.kernel = desc.kernel;
    const auto words = static_cast<index>((sources.size() + word_bits - 1) / word_bits);
    reached_ = filled<int64>(a.rows(), words, 0, a.where(), other_);
    for (index w = 0; w < words; ++w) few_.push_back(sets_of(sources, w, a.rows()).to(a.where()));
    digits_.resize(few_.size());
  }

  /// Marks the frontier as reached at this level; returns the size of its sets.
  int64 mark(int level) {
    int64 size = 0;
    for (index w = 0; w < reached_.columns(); ++w)
      size += is_few_ ? mark(few_[at(w)], w, level) : mark(columns_of(full_, w), w, level);
    return size;
  }

  /// The next frontier, after one whose sets have this size. If few nodes have a set, and few arcs,
  /// there is a vector per word, and only those arcs are read; otherwise one product for all words.
  void step(int64 size) {
    if (!full_product_.kernel.empty() ||
        size * measured::nodes_per_set > int64{a_.rows()} * reached_.columns())
      return step_full();
    for (index w = 0; !is_few_ && w < full_.columns(); ++w)
      few_[at(w)] = non_empty(vector<int64>::from(columns_of(full_, w)));
    if (has_few_arcs())
      step_few();
    else
      step_full();
  }

  /// Levels of `count` sources, -1 where none was reached: a product per word.
  dense<int32> levels(index count) {
    auto out = dense<int32>::uninitialised(a_.rows(), count, a_.where());
    if (count == 0) return out;
    const every_place matrix_of(digits_.front(), other_);
    dense<int32> bits(digits_.front().columns(), word_bits);
    for (index b = 0; b < bits.rows(); ++b)
      for (index k = 0; k < word_bits; ++k) bits(b, k) = b * word_bits + k;
    bits = bits.to(a_.where());
    for (index w = 0; w < reached_.columns(); ++w) {
      const index first = w * word_bits, width = std::min(word_bits, count - first);
      auto part = columns_of(out, first, width);
      mxm(part, none, matrix_of.with_values(digits_[at(w)]), columns_of(bits, 0, width),
          level_in_digits(), other_);
    }
    return out;
  }

 private:
  static std::size_t at(index w) { return static_cast<std::size_t>(w); }

  template <class Sets>
  int64 mark(const Sets& frontier, index w, int level) {
    const auto add_to = [&](dense<int64> column) {
      ewise_add(column, none, column, frontier, union_of_second(), other_);
    };
    add_to(columns_of(reached_, w));
    dense<int64>& digits = digits_[at(w)];
    for (index b = 0; (level + 1) >> b != 0; ++b) {
      if (b == digits.columns()) grow(digits);
      if ((level + 1) >> b & 1) add_to(columns_of(digits, b));
    }
    return reduce(apply(frontier, set_size(), int64{0}, other_), binary::plus, other_);
  }

  /// Room for twice as many digits.
  void grow(dense<int64>& digits) const {
    const index had = digits.columns();
    auto grown = filled<int64>(a_.rows(), had == 0 ? 4 : 2 * had, 0, a_.where(), other_);
    auto part = columns_of(grown, 0, had);
    if (had > 0) apply(part, none, digits, unary::identity, other_);
    digits = std::move(grown);
  }

  vector<int64> non_empty(const vector<int64>& sets) const {
    return select(sets, selection::not_equal, int64{0}, other_);
  }

  /// Whether the arcs of the nodes that have a set are few beside those of all words.
  bool has_few_arcs() {
    if (has_many_levels(a_)) return true;
    if (degrees_.rows() == 0) degrees_ = degrees_of(a_, other_);
    int64 arcs = 0;
    for (const vector<int64>& sets : few_)
      arcs += reduce(ewise_mult(sets, degrees_, binary::second, other_), binary::plus, other_);
    return arcs * measured::arcs_per_frontier_arc <= a_.nnz() * reached_.columns();
  }

  void step_few() {
    for (index w = 0; w < reached_.columns(); ++w)
      few_[at(w)] = non_empty(ewise_mult(vxm(few_[at(w)], a_, union_of_first(), other_),
                                         columns_of(reached_, w), set_difference(), other_));
    is_few_ = true;
  }

  void step_full() {
    if (full_.rows() == 0)
      for (dense<int64>* const of : {&full_, &next_})
        *of = dense<int64>::uninitialised(a_.rows(), reached_.columns(), a_.where());
    for (index w = 0; is_few_ && w < full_.columns(); ++w) {
      auto word = columns_of(full_, w);
      assign(word, none, int64{0}, all, all, other_);
      ewise_add(word, none, word, few_[at(w)], union_of_second(), other_);
    }
    is_few_ = false;
    mxm(next_, none, a_, full_, union_of_second(), full_product_);
    ewise_mult(next_, none, next_, reached_, set_difference(), other_);
    std::swap(full_, next_);
  }

  const matrix<bool>& a_;
  descriptor other_, full_product_;
  dense<int64> degrees_, reached_;
  // By word. Column b: the sets at whose level bit b of level + 1 is 1.
  std::vector<dense<int64>> digits_;
  // The frontier: a vector per word, or a dense.
  bool is_few_ = true;
  std::vector<vector<int64>> few_;
  dense<int64> full_, next_;
};

multi_source_result search(const matrix<bool>& a, const integers& from, const bfs_options& given,
                           const descriptor& desc) {
  const std::vector<index> sources = require_sources("multi_source", from, a.rows());
  walking_sets sets(a, sources, desc);
  multi_source_result found;
  int64 size = 0;
  for (int level = 0; (size = sets.mark(level)) > 0; ++level) {
    found.max_level = level;
    found.reached += size;
    if (given.progress) given.progress(level, size);
    sets.step(size);
  }
  found.levels = sets.levels(static_cast<index>(sources.size()));
  return found;
}

}  // namespace

multi_source_result multi_source(const matrix<bool>& a, const integers& from,
                                 const bfs_options& given, const descriptor& desc) {
  return on_graph("multi_source", a, desc, [&] { return search(a, from, given, desc); });
}

}  // namespace rig
