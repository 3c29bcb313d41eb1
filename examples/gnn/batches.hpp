#pragma once

#include <numeric>
#include <random>

#include "training.hpp"

// Training on some nodes at a time, over sampled neighbours. The graph lies where the network is
// computed; features and truth stay in host memory, and a batch copies its rows.

namespace gnn {

/// How nodes are divided among the steps of an epoch.
struct batching {
  rig::matrix<float> graph;          ///< of ones, where the network is
  std::vector<rig::index> seeds;     ///< the nodes trained on
  std::vector<rig::index> fan_outs;  ///< neighbours per node, for each hop from the seeds
  int size = 0;                      ///< seeds per step

  std::span<const rig::index> first() const {
    return std::span(seeds).first(std::min(seeds.size(), static_cast<std::size_t>(size)));
  }
};

/// The rows of some nodes, where a network is computed.
inline var<float> rows_of(const variable<float>& x, const rig::dense<rig::index>& nodes,
                          rig::place where) {
  const auto taken = [&](const auto& from) {
    const auto out = variable_of<float>(rig::extract(from, nodes, rig::all).to(where));
    out->needs_gradient = false;
    return out;
  };
  return x.is_sparse ? taken(x.sparse) : taken(x.value);
}

/// One step over the neighbours of some seeds; `seed` draws them, and dropout. Returns the loss.
inline double step(tape& t, network<float>& net, adam<float>& optimiser, const problem& on,
                   const batching& by, std::span<const rig::index> seeds, std::uint64_t seed) {
  const rig::place where = by.graph.where();
  const auto drawn = t.run(stage::aggregate, [&] {
    return rig::neighbours(by.graph, rig::indices(seeds), by.fan_outs, seed);
  });
  std::vector<aggregation<float>> layers;
  for (const auto& block : drawn.blocks)
    layers.push_back(aggregation_of(net.shape(), block, on.a.desc));
  const auto x =
      t.run(stage::update, [&] { return rows_of(*on.x, drawn.nodes.to(rig::cpu()), where); });
  const rig::indices chosen(seeds);
  const auto part = [&](const auto& of) { return rig::extract(of, chosen, rig::all).to(where); };
  truth<float> of;
  of.multi_label = on.of.multi_label;
  of.y = part(on.of.y);
  of.trained = part(on.of.trained);
  net.clear_gradients();
  const auto z = net.forward(t, layers, x, seed);
  const double found = loss(t, z, of);
  t.backward();
  t.run(stage::update, [&] { optimiser.step(net); });
  return found;
}

/// The seeds in an order that a number draws, the same on any machine.
inline std::vector<rig::index> shuffled(std::vector<rig::index> seeds, std::uint64_t by) {
  std::mt19937_64 random(by);
  for (std::size_t left = seeds.size(); left > 1; --left)
    std::swap(seeds[left - 1], seeds[random() % left]);
  return seeds;
}

/// The steps of an epoch, over all seeds in an order of its own. Returns their mean loss.
inline double run_epoch(tape& t, network<float>& net, adam<float>& optimiser, const problem& on,
                        const batching& by, std::uint64_t seed) {
  const auto seeds = shuffled(by.seeds, seed);
  double sum = 0;
  const auto size = static_cast<std::size_t>(by.size);
  for (std::size_t first = 0; first < seeds.size(); first += size) {
    const auto now = std::span(seeds).subspan(first, std::min(size, seeds.size() - first));
    sum += step(t, net, optimiser, on, by, now, (seed << 32) + first / size) *
           static_cast<double>(now.size());
  }
  return sum / static_cast<double>(seeds.size());
}

}  // namespace gnn
