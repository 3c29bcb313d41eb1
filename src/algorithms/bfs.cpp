#include "rig/algorithms/bfs.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "algorithms/preparation.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// The least index of a node of the frontier with an arc to the place.
RIG_SEMIRING(
    least_inner, using left = bool; using right = bool; using accum = rig::int32;
    static constexpr bool ignores_left = true; static constexpr bool ignores_right = true;
    static constexpr bool keeps_first = true; static constexpr rig::int32 zero() {
      return rig::highest<rig::int32>();
    } static constexpr rig::int32 add(rig::int32 x, rig::int32 y) {
      return rig::minimum(x, y);
    } static constexpr rig::int32 multiply(bool, bool, rig::position at) { return at.inner; });

/// The sources as indices, after the checks.
std::vector<index> checked(const char* name, const matrix<bool>& a, const integers& sources,
                           const descriptor& desc) {
  require_graph(name, a, desc);
  return require_sources(name, sources, a.rows());
}

/// Writes `value` at the entries of a vector.
template <class T, class V>
void write_at(dense<T>& to, const vector<V>& entries, T value, const descriptor& desc) {
  ewise_add(to, none, to, vector<T>(entries.as_row().with_value(value)), binary::second, desc);
}

}  // namespace

bfs_result bfs(const matrix<bool>& a, int64 source, const bfs_options& given,
               const descriptor& desc) {
  const std::vector<index> start = checked("bfs", a, std::span(&source, 1), desc);
  const index n = a.rows();
  const descriptor other = of_operations(desc), product = of_products(desc);
  if (given.both_directions && !has_many_levels(a)) a.prepare({.transpose_a = true});

  bfs_result found;
  found.levels = filled<int32>(n, 1, -1, a.where(), other);
  if (given.parents) found.parents = filled<int32>(n, 1, -1, a.where(), other);
  auto visited = filled<bool>(n, 1, false, a.where(), other);
  auto frontier = vector<bool>::from_indices(n, start).to(a.where());
  vector<int32> parents(frontier.as_row().with_value(start[0]));
  for (int level = 0; frontier.nnz() > 0; ++level) {
    write_at(found.levels, frontier, level, other);
    write_at(visited, frontier, true, other);
    if (given.parents)
      ewise_add(found.parents, none, found.parents, parents, binary::second, other);
    found.reached += frontier.nnz();
    found.max_level = level;
    if (given.progress) given.progress(level, frontier.nnz());
    if (given.parents) {
      parents = vxm(frontier, a, least_inner(), complement(values(visited)), product);
      frontier = vector<bool>(parents.as_row().with_value(true));
    } else {
      frontier = vxm(frontier, a, any_pair<bool>(), complement(values(visited)), product);
    }
  }
  return found;
}

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
RIG_OPERATOR(
    half_word,
    static constexpr rig::int32 apply(rig::int64 x, rig::index, rig::index, rig::int64 shift) {
      return static_cast<rig::int32>(static_cast<unsigned long>(x) >> shift);
    });
/// `weight` in byte k of column j for each source 4 (j % 8) + k in the half word x of a set.
RIG_OPERATOR(
    spread,
    static constexpr rig::int32 apply(rig::int32 x, rig::index, rig::index j, rig::int32 weight) {
      const unsigned four = static_cast<unsigned>(x) >> 4 * (j % 8) & 15u;
      const unsigned bytes = four * 0x00204081u & 0x01010101u;
      return static_cast<rig::int32>(bytes * static_cast<unsigned>(weight));
    });
/// Byte j % 4 of a word: bits `first` to `first` + 7 of level + 1. The first byte subtracts the 1.
RIG_OPERATOR(
    level_bits,
    static constexpr rig::int32 apply(rig::int32 x, rig::index, rig::index j, rig::int32 first) {
      const unsigned byte = static_cast<unsigned>(x) >> 8 * (j % 4) & 255u;
      return static_cast<rig::int32>(byte << first) - (first == 0 ? 1 : 0);
    });

/// The sets of the nodes at level 0.
dense<int64> sets_of(std::span<const index> sources, index n, place where, const descriptor& desc) {
  const auto words = static_cast<index>((sources.size() + word_bits - 1) / word_bits);
  auto out = filled<int64>(n, words, 0, where, desc);
  for (index w = 0; w < words; ++w) {
    const auto part = sources.subspan(static_cast<std::size_t>(w) * word_bits);
    const auto of_word = part.first(std::min<std::size_t>(part.size(), word_bits));
    std::vector<int64> bits;
    for (std::size_t k = 0; k < of_word.size(); ++k)
      bits.push_back(static_cast<int64>(std::uint64_t{1} << k));
    // Sources in one node have different bits, so the sum is the union.
    const auto sets = vector<int64>::from_tuples(n, of_word, bits, std::plus<>()).to(where);
    assign(out, none, sets.to_dense(0), all, range{w, w + 1}, desc);
  }
  return out;
}

/// 0 … count - 1, each divided by `by`.
std::vector<index> divided(index count, index by) {
  std::vector<index> out(static_cast<std::size_t>(count));
  for (index k = 0; k < count; ++k) out[static_cast<std::size_t>(k)] = k / by;
  return out;
}

/// The two half words of each word.
dense<int32> halves_of(const dense<int64>& sets, const descriptor& desc) {
  auto out = dense<int32>::uninitialised(sets.rows(), 2 * sets.columns(), sets.where());
  for (const index half : {0, 1})
    assign(out, none, apply(sets, half_word(), int64{32} * half, desc), all,
           range{half, out.columns(), 2}, desc);
  return out;
}

/// Levels of n×count sources, -1 where none was reached. with_bit[b]: the sets at whose level bit b
/// of level + 1 is 1. Words of four bytes have eight bits of four sources; they take a quarter of
/// the levels' memory.
dense<int32> levels_of(const std::vector<dense<int64>>& with_bit, index n, index count, place where,
                       const descriptor& desc) {
  constexpr int bits = 8;
  const std::vector<index> half_of = divided((count + 3) / 4, 8), word_of = divided(count, 4);
  auto levels = dense<int32>::uninitialised(n, count, where);
  for (std::size_t first = 0; first < with_bit.size(); first += bits) {
    auto words = filled<int32>(n, static_cast<index>(half_of.size()), 0, where, desc);
    for (std::size_t b = first; b < std::min(first + bits, with_bit.size()); ++b)
      apply(words, accumulator::plus, extract(halves_of(with_bit[b], desc), all, half_of, desc),
            spread(), int32{1} << (b - first), desc);
    apply(levels, first == 0 ? none : accumulator::plus, extract(words, all, word_of, desc),
          level_bits(), static_cast<int32>(first), desc);
  }
  return levels;
}

/// A level per product of n×⌈K / 64⌉ sets of sources.
multi_source_result all_at_once(const matrix<bool>& a, std::span<const index> sources,
                                const bfs_options& given, const descriptor& desc) {
  const descriptor other = of_operations(desc);
  descriptor product = other;
  product.transpose_a = true;
  product.kernel = desc.kernel;

  auto frontier = sets_of(sources, a.rows(), a.where(), other);
  auto visited = frontier, next = frontier;
  std::vector<dense<int64>> with_bit;
  multi_source_result found;
  const auto count = [&] {
    return reduce(apply(frontier, set_size(), int64{0}, other), binary::plus, other);
  };
  for (int64 reached = count(); reached > 0; reached = count()) {
    const int level = found.reached == 0 ? 0 : found.max_level + 1;
    found.max_level = level;
    found.reached += reached;
    if (given.progress) given.progress(level, reached);
    for (std::size_t b = 0; (level + 1) >> b != 0; ++b) {
      if (b == with_bit.size())
        with_bit.push_back(filled<int64>(a.rows(), frontier.columns(), 0, a.where(), other));
      if ((level + 1) >> b & 1)
        ewise_add(with_bit[b], none, with_bit[b], frontier, union_of_second(), other);
    }
    mxm(next, none, a, frontier, union_of_second(), product);
    ewise_mult(next, none, next, visited, set_difference(), other);
    ewise_add(visited, none, visited, next, union_of_second(), other);
    std::swap(frontier, next);
  }
  found.levels =
      levels_of(with_bit, a.rows(), static_cast<index>(sources.size()), a.where(), other);
  return found;
}

/// A search per source.
multi_source_result one_by_one(const matrix<bool>& a, std::span<const index> sources,
                               const bfs_options& given, const descriptor& desc) {
  multi_source_result found;
  found.levels =
      dense<int32>::uninitialised(a.rows(), static_cast<index>(sources.size()), a.where());
  std::vector<int64> nodes;
  bfs_options my;
  my.progress = [&](int level, int64 count) {
    const auto at = static_cast<std::size_t>(level);
    if (at == nodes.size()) nodes.push_back(0);
    nodes[at] += count;
  };
  index column = 0;
  for (const index source : sources) {
    const auto one = bfs(a, source, my, desc);
    assign(found.levels, none, one.levels, all, range{column, column + 1}, desc);
    found.reached += one.reached;
    found.max_level = std::max(found.max_level, one.max_level);
    ++column;
  }
  for (std::size_t level = 0; given.progress && level < nodes.size(); ++level)
    given.progress(static_cast<int>(level), nodes[level]);
  return found;
}

}  // namespace

multi_source_result multi_source(const matrix<bool>& a, const integers& from,
                                 const bfs_options& given, const descriptor& desc) {
  const std::vector<index> sources = checked("multi_source", a, from, desc);
  // Each level costs a product with all of A.
  if (has_many_levels(a) && a.where() == cpu() && desc.kernel.empty())
    return one_by_one(a, sources, given, {.threads = desc.threads, .stream = desc.stream});
  return all_at_once(a, sources, given, desc);
}

}  // namespace rig
