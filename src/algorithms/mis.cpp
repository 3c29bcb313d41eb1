#include "rig/algorithms/mis.hpp"

#include "algorithms/preparation.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// 31 random bits (splitmix64) above the node's index, so that no two priorities tie.
RIG_OPERATOR(
    random_priority, static constexpr long apply(bool, rig::index i, rig::index, long seed) {
      unsigned long x = static_cast<unsigned long>(seed) * 0xd1342543de82ef95ul +
                        static_cast<unsigned long>(i) * 0x9e3779b97f4a7c15ul;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
      x ^= x >> 31;
      return static_cast<long>((x >> 33) << 31 | static_cast<unsigned long>(i));
    });

/// The true entries.
vector<bool> true_ones(const vector<bool>& of, const descriptor& desc) {
  return vector<bool>(select(of, selection::equal, true, desc).as_row().with_value(true));
}

mis_result search(const matrix<bool>& a, const mis_options& given, const descriptor& desc) {
  const descriptor other = of_operations(desc);
  descriptor product = of_products(desc);
  // The masks have few nodes, and rows of U are its columns: a pull reads what is needed.
  if (product.kernel.empty()) product.kernel = "pull";
  const auto u = undirected(a, other);
  auto in_set = filled<bool>(a.rows(), 1, false, a.where(), other);
  auto undecided = vector<int64>::from(apply(in_set, random_priority(), given.seed, other));
  mis_result found;
  while (undecided.nnz() > 0) {
    const auto greatest = mxv(u, undecided, max_second<int64>(), structure(undecided), product);
    const auto loses = true_ones(ewise_mult<bool>(undecided, greatest, binary::less, other), other);
    const auto wins = apply<bool>(undecided, unary::one, complement(structure(loses)), other);
    ewise_add(in_set, none, in_set, wins, binary::second, other);
    const auto leaves = mxv(u, wins, any_pair<bool>(), structure(loses), product);
    const auto rest = apply(undecided, unary::identity, structure(loses), other);
    undecided = apply(rest, unary::identity, complement(structure(leaves)), other);
    ++found.rounds;
    if (given.progress) given.progress(found.rounds, undecided.nnz());
  }
  found.set = true_ones(vector<bool>::from(in_set), other);
  return found;
}

}  // namespace

mis_result mis(const matrix<bool>& a, const mis_options& given, const descriptor& desc) {
  return on_graph("mis", a, desc, [&] { return search(a, given, desc); });
}

}  // namespace rig
