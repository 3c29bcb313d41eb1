#pragma once

// The cases of `rig::neighbours` that every place shares. Blocks are compared with the graph by
// walking them entry by entry.

#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/sample.hpp"
#include "rig/semirings.hpp"

using rig::index;

/// A directed graph with hubs, empty rows and self loops; no two entries have one value.
inline rig::matrix<int> weighted_graph() {
  const auto a = rig::generate::from_text("rmat:9:8");
  std::vector<int> values(static_cast<std::size_t>(a.nnz()));
  std::iota(values.begin(), values.end(), 1);
  return a.with_values(values);
}

inline std::vector<index> listed(const rig::dense<index>& column) {
  const auto on_host = column.to(rig::cpu());
  std::vector<index> out;
  for (index i = 0; i < on_host.rows(); ++i) out.push_back(on_host(i, 0));
  return out;
}

/// Checks numbers, entries, values and lengths of rows of every block.
inline void check_blocks(const rig::matrix<int>& graph, const rig::neighbourhood<int>& found,
                         const std::vector<index>& seeds, const std::vector<index>& fan_outs) {
  std::map<std::pair<index, index>, int> value_at;
  std::map<index, index> length;
  for (const auto& [i, j, value] : graph.entries()) {
    value_at[{i, j}] = value;
    ++length[i];
  }
  const auto nodes = listed(found.nodes);
  CHECK(std::set<index>(nodes.begin(), nodes.end()).size() == nodes.size());
  REQUIRE(nodes.size() >= seeds.size());
  CHECK(std::equal(seeds.begin(), seeds.end(), nodes.begin()));
  REQUIRE(found.blocks.size() == fan_outs.size());
  CHECK(found.blocks.back().rows() == static_cast<index>(seeds.size()));
  CHECK(found.blocks.front().columns() == static_cast<index>(nodes.size()));
  for (std::size_t l = 0; l < fan_outs.size(); ++l) {
    const auto block = found.blocks[l].to(rig::cpu());
    if (l + 1 < fan_outs.size()) CHECK(block.rows() == found.blocks[l + 1].columns());
    const index fan_out = fan_outs[fan_outs.size() - 1 - l];
    std::map<index, index> drawn;
    std::set<index> met;
    for (const auto& [i, j, value] : block.entries()) {
      const std::pair<index, index> at{nodes[static_cast<std::size_t>(i)],
                                       nodes[static_cast<std::size_t>(j)]};
      REQUIRE(value_at.contains(at));
      CHECK(value_at[at] == value);
      ++drawn[i];
      met.insert(j);
    }
    for (index i = 0; i < block.rows(); ++i) {
      const index whole = length[nodes[static_cast<std::size_t>(i)]];
      CHECK(drawn[i] == (fan_out == -1 ? whole : std::min(whole, fan_out)));
    }
    for (index j = block.rows(); j < block.columns(); ++j) CHECK(met.contains(j));
  }
}

inline void check_neighbours(rig::place where) {
  const auto graph = weighted_graph();
  const auto there = graph.to(where);
  const std::vector<index> some = {300, 0, 17, 511, 5};
  std::vector<index> every(512);
  std::iota(every.begin(), every.end(), 0);
  for (const auto& seeds : {some, std::vector<index>{}, std::vector<index>{3}, every})
    for (const std::vector<index>& fan_outs :
         {std::vector<index>{3}, {4, 2}, {2, 1, 5}, {-1, 2}, {-1, -1}, {4096}})
      for (const std::uint64_t seed : {0, 1, 99})
        check_blocks(graph, rig::neighbours(there, seeds, fan_outs, seed), seeds, fan_outs);
  check_blocks(graph, rig::neighbours(there, rig::all, {2, 2}, 1), every, {2, 2});
  check_blocks(graph, rig::neighbours(there, rig::range{5, 1, -2}, {2, 2}, 1), {5, 3}, {2, 2});
  const auto column = rig::dense<index>::view(some.data(), 5, 1).to(where);
  check_blocks(graph, rig::neighbours(there, column, {2, 2}, 1), some, {2, 2});
}

/// With every neighbour, products by blocks are products by the whole graph.
inline void check_whole_hops(rig::place where) {
  const auto graph = weighted_graph().to(where);
  const std::vector<index> seeds = {40, 0, 9};
  rig::dense<int> x(512, 2);
  for (index i = 0; i < 512; ++i)
    for (index j = 0; j < 2; ++j) x(i, j) = i % 7 - j;
  const auto found = rig::neighbours(graph, seeds, {-1, -1}, 1);
  const rig::plus_times<int> sum;
  const auto on = x.to(where);
  auto by_blocks = rig::extract(on, found.nodes, rig::all);
  for (const auto& block : found.blocks) by_blocks = rig::mxm(block, by_blocks, sum);
  const auto got = by_blocks.to(rig::cpu()),
             want = rig::extract(rig::mxm(graph, rig::mxm(graph, on, sum), sum), seeds, rig::all)
                        .to(rig::cpu());
  CHECK(std::ranges::equal(got.span(), want.span()));
}

/// A seed draws the same each time, others draw others, and each neighbour is drawn equally often.
inline void check_draws(rig::place where) {
  const auto graph = weighted_graph();
  const auto there = graph.to(where);
  index hub = 0;
  for (index i = 0; i < 512; ++i) {
    const auto length = [&](index row) {
      return graph.structure().offset(row + 1) - graph.structure().offset(row);
    };
    if (length(i) > length(hub)) hub = i;
  }
  const auto drawn = [&](std::uint64_t seed) {
    return rig::neighbours(there, std::vector{hub}, {4, 4}, seed);
  };
  CHECK(listed(drawn(5).nodes) == listed(drawn(5).nodes));
  CHECK(listed(drawn(5).nodes) != listed(drawn(6).nodes));
  std::map<int, int> times;
  int alike = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto found = drawn(seed);
    std::set<int> of_seed, of_hop;
    for (const auto& [i, j, value] : found.blocks[1].to(rig::cpu()).entries())
      of_seed.insert(value);
    for (const auto& [i, j, value] : found.blocks[0].to(rig::cpu()).entries())
      if (i == 0) of_hop.insert(value);
    alike += of_seed == of_hop;
    for (const int value : of_seed) ++times[value];
  }
  CHECK(alike < 40);
  const auto n =
      static_cast<double>(graph.structure().offset(hub + 1) - graph.structure().offset(hub));
  const double share = 4 / n, mean = 400 * share, off = 5 * std::sqrt(400 * share * (1 - share));
  for (const auto& [value, count] : times) CHECK(std::fabs(count - mean) <= off);
}

inline void check_neighbour_errors(rig::place where) {
  const auto a = weighted_graph().to(where);
  const std::vector<index> twice = {4, 2, 4}, outside = {4, 512};
  check_error(rig::errc::duplicate, {"neighbours", "3", "2"},
              [&] { rig::neighbours(a, twice, {2}, 1); });
  check_error(rig::errc::range, {"neighbours", "512", "511"},
              [&] { rig::neighbours(a, outside, {2}, 1); });
  check_error(rig::errc::range, {"neighbours", "fan-outs"},
              [&] { rig::neighbours(a, rig::all, {}, 1); });
  for (const int wrong : {0, -2, 4097})
    check_error(rig::errc::range, {"neighbours", "fan-out", std::to_string(wrong), "4096, or -1"},
                [&] {
                  rig::neighbours(a, rig::all, {2, wrong}, 1);
                });
  check_error(rig::errc::shape, {"neighbours", "2x3", "square"},
              [&] { rig::neighbours(rig::matrix<int>(2, 3).to(where), rig::all, {2}, 1); });
}
