#include "algorithms/preparation.hpp"

#include <utility>

#include "algorithms/measured.hpp"
#include "call/checks.hpp"
#include "call/choice.hpp"
#include "rig/graph.hpp"
#include "rig/kernels/list.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "storage/integers.hpp"

namespace rig {
namespace {

/// A number that orders nodes by degree, then by index.
RIG_OPERATOR(
    degree_and_index, static constexpr long apply(long degree, rig::index i, rig::index,
                                                  long nodes) { return degree * nodes + i; });

/// A number's own place in a column.
RIG_OPERATOR(
    own_row, static constexpr rig::int32 apply(rig::int32, rig::index i, rig::index, rig::int32) {
      return i;
    });

/// Throws unless no kernel is named, or one that computes all of its result.
void require_exact_kernel(const char* name, const std::string& named) {
  if (named.empty()) return;
  require_known_kernel(name, "the descriptor", named);
  for (const kernel& k : kernels())
    if (named == k.name && k.approximate)
      fail(errc::cannot,
           {name, ": kernel '", named, "' is approximate: it leaves out entries, and ",
            "an algorithm reads all; name an exact kernel, or none"});
}

}  // namespace

void require_graph(const char* name, const matrix<bool>& a, const descriptor& desc,
                   main_product product) {
  if (a.rows() != a.columns())
    fail(errc::shape,
         {name, ": A is ", a.rows(), "x", a.columns(), ", not square; give a graph's matrix"});
  require_descriptor(name, desc, product);
}

void require_descriptor(const char* name, const descriptor& desc, main_product product) {
  check_threads(name, desc);
  const auto leave_unset = [&](bool is_set, const char* field, const char* instead) {
    if (is_set)
      fail(errc::cannot,
           {name, ": ", field, " of the descriptor has no meaning here; leave it unset", instead});
  };
  const char* const transposed = ", and pass transpose(A) if you mean the reverse arcs";
  leave_unset(desc.transpose_a, "transpose_a", transposed);
  leave_unset(desc.transpose_b, "transpose_b", transposed);
  leave_unset(desc.replace, "replace", ", because the result is new: there is nothing to replace");
  leave_unset(desc.fill.has_value(), "fill",
              ", because the algorithm defines every element of its result");
  leave_unset(product == main_product::absent && !desc.kernel.empty(), "kernel",
              ", because the algorithm has no main product");
  require_exact_kernel(name, desc.kernel);
}

matrix<bool> to_prepare(const matrix<bool>& a) {
  return matrix<bool>(pattern::prepared_apart(a.shared_structure()), true);
}

bool has_many_levels(const matrix<bool>& a) { return a.nnz() < measured::arcs_per_node * a.rows(); }

std::vector<index> require_sources(const char* name, const integers& sources, index nodes) {
  std::vector<index> out;
  with_type(sources, [&](auto numbers) {
    for (std::size_t k = 0; k < numbers.size; ++k) {
      const auto source = numbers[k];
      if (nodes == 0) fail(errc::range, {name, ": source is ", source, ", but A has no nodes"});
      if (std::cmp_less(source, 0) || std::cmp_greater_equal(source, nodes))
        fail(errc::range, {name, ": source is ", source, "; give one of the ", nodes,
                           " nodes, which are counted from 0"});
      out.push_back(static_cast<index>(source));
    }
  });
  return out;
}

descriptor of_operations(const descriptor& desc) {
  return {.threads = desc.threads, .stream = desc.stream};
}

descriptor of_products(const descriptor& desc) {
  descriptor out = of_operations(desc);
  out.kernel = desc.kernel;
  out.reproducible = desc.reproducible;
  return out;
}

matrix<bool> without_loops(const matrix<bool>& a, const descriptor& desc) {
  if (diag(a, 0, desc).nnz() == 0) return a;
  return select(a, selection::off_diagonal, 0, desc).with_value(true);
}

matrix<bool> undirected(const matrix<bool>& a, const descriptor& desc) {
  return symmetrise(without_loops(a.with_value(true), desc));
}

dense<int64> degrees_of(const matrix<bool>& a, const descriptor& desc) {
  // A product that counts reads no column, and its result needs no second pass.
  const auto unread = dense<int64>::uninitialised(a.columns(), 1, a.where());
  return mxv(a, unread, plus_pair<int64>(), desc);
}

dense<index> ascending(index count, place where, const descriptor& desc) {
  auto out = dense<index>::uninitialised(count, 1, where);
  apply(out, none, out, own_row(), int32(0), desc);
  return out;
}

matrix<bool> one_per_row(const dense<index>& starts, const dense<index>& columns) {
  const index n = columns.rows();
  const auto list = [](const dense<index>& of) {
    return std::span<const index>(of.data(), static_cast<std::size_t>(of.rows()));
  };
  return matrix<bool>(pattern_view(n, n, list(starts), list(columns), input::trusted,
                                   columns.where(), columns.stream()));
}

matrix<bool> to_higher_degree(const matrix<bool>& a, const descriptor& desc) {
  const auto key = apply(degrees_of(a, desc), degree_and_index(), int64(a.rows()), desc);
  const auto of_row =
      join_by<int64>("apply", a.with_value(int64(0)), binary::second, key, broadcast::rows, desc);
  const auto rises = join_by<bool>("apply", of_row, binary::less, key, broadcast::columns, desc);
  return select(rises, selection::equal, true, desc).with_value(true);
}

}  // namespace rig
