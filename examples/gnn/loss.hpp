#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "layers.hpp"

// Losses and accuracies, computed where the results lie.

namespace gnn {

/// The truth, and the three parts of the nodes: those trained on, those that choose the epoch, and
/// those that test it.
template <class T>
struct truth {
  bool multi_label = false;      ///< several labels a node: each column is a task of its own
  rig::dense<T> y;               ///< nodes × classes, 1 where a node has the label
  rig::dense<rig::int32> label;  ///< the class of each node, or −1; unused with several labels
  rig::matrix<T> trained;        ///< nodes × classes, an entry for each class of a node trained on
  rig::matrix<T> all;            ///< nodes × classes, every place
  rig::matrix<T> parts;          ///< 3 × nodes, a 1 for each node of a part

  truth to(rig::place where) const {
    return {multi_label,       y.to(where),   label.to(where),
            trained.to(where), all.to(where), parts.to(where)};
  }
};

/// The loss of results Z, and its gradient by them, which it adds to Z's.
///
///   one label:  L = −Σ log softmax(Z_i)(label of i) / nodes,        dZ = (softmax(Z) − Y) / nodes
///   several:    L = −Σ log |1 − Y − σ(Z)| / (nodes · classes),      dZ = (σ(Z) − Y) / (nodes ·
///   classes)
///
/// over the nodes trained on. A probability below the least float counts as that. Returns the
/// loss, for which it waits.
template <class T>
double loss(tape& t, const var<T>& z, const truth<T>& of) {
  using enum rig::binary;
  return t.run(stage::update, [&] {
    const double terms =
        static_cast<double>(of.trained.nnz()) / (of.multi_label ? 1 : std::max(1, of.y.columns()));
    const auto logits = rig::ewise_mult(of.trained, z->value, second);
    const auto p =
        of.multi_label ? rig::apply(logits, rig::unary::sigmoid) : rig::edge_softmax(logits);
    const auto error = rig::ewise_mult(p, of.y, minus);
    if (t.records())
      z->add(rig::ewise_add(rig::apply(error, divide, static_cast<T>(terms)),
                            constant<T>(z->rows(), z->columns(), 0, z->where()), plus));
    // What was given to the truth: p where Y is 1, and with several labels 1 − p where it is 0.
    auto right =
        of.multi_label ? rig::apply(T(1), minus, rig::apply(error, rig::unary::absolute)) : p;
    right = rig::apply(right, maximum, std::numeric_limits<T>::min());
    auto logs = rig::apply(right, rig::unary::logarithm);
    if (!of.multi_label) logs = rig::ewise_mult(logs, of.y, times);
    return -static_cast<double>(rig::reduce(logs, plus)) / terms;
  });
}

/// Whether all elements are finite. Waits for them.
template <class T>
bool is_finite(const rig::dense<T>& z) {
  using enum rig::binary;
  return rig::reduce(rig::ewise_add(z, z, minus), plus) == 0;  // x − x is NaN elsewhere
}

/// A score for each part of the nodes: trained, validation, test.
struct scores {
  double train = 0, validation = 0, test = 0;
};

/// Sums over the nodes of each part, of an n×1 column. Waits for them.
template <class T>
std::array<double, 3> sums_of_parts(const truth<T>& of, const rig::dense<T>& column) {
  const auto sums = rig::mxm(of.parts, column, rig::plus_times<T>{}).to(rig::cpu());
  return {sums(0, 0), sums(1, 0), sums(2, 0)};
}

/// The share of nodes whose greatest result is their label; with several labels the micro-F1 of
/// the positive results. A part without nodes has 0.
template <class T>
scores accuracy(const rig::dense<T>& z, const truth<T>& of) {
  using enum rig::binary;
  std::array<double, 3> right, all;
  if (of.multi_label) {
    const auto found = rig::apply(z, greater, T(0));
    right = sums_of_parts(of, rig::reduce_rows(rig::ewise_mult(found, of.y, times), plus));
    all = sums_of_parts(of, rig::reduce_rows(rig::ewise_add(found, of.y, plus), plus));
    for (double& x : right) x *= 2;
  } else {
    const auto best =
        rig::reduce_rows(rig::ewise_mult(of.all, z, second), rig::arg_max_second<T>{}).indices;
    right = sums_of_parts(of, rig::ewise_mult<T>(best, of.label, equal));
    all = sums_of_parts(of, constant<T>(z.rows(), 1, 1, z.where()));
  }
  const auto share = [&](std::size_t part) { return all[part] > 0 ? right[part] / all[part] : 0; };
  return {share(0), share(1), share(2)};
}

/// The mean over the tasks of the area under the ROC curve: the probability that a node with the
/// label has a greater result than one without it, ties counting one half. Tasks with one kind of
/// nodes alone are left out. NaN if all are, or if a result of `nodes`, those that count, is NaN.
/// All in host memory.
template <class T>
double roc_auc(const rig::dense<T>& z, const rig::dense<T>& y, std::span<const rig::index> nodes) {
  using ranked = std::vector<std::pair<T, bool>>;
  // The area of each task, −1 for one with one kind of nodes; allocated before threads start.
  std::vector<double> areas(static_cast<std::size_t>(z.columns()), -1);
  std::vector<ranked> of_thread(static_cast<std::size_t>(omp_get_max_threads()),
                                ranked(nodes.size()));
#pragma omp parallel for
  for (rig::index c = 0; c < z.columns(); ++c) {
    ranked& results = of_thread[static_cast<std::size_t>(omp_get_thread_num())];
    for (std::size_t k = 0; k < nodes.size(); ++k)
      results[k] = {z(nodes[k], c), y(nodes[k], c) != 0};
    double& area = areas[static_cast<std::size_t>(c)];
    if (std::ranges::any_of(results, [](const auto& one) { return std::isnan(one.first); })) {
      area = std::numeric_limits<double>::quiet_NaN();  // which has no rank
      continue;
    }
    std::sort(results.begin(), results.end());
    double positive = 0, negative = 0, pairs = 0;
    for (std::size_t first = 0, last; first < results.size(); first = last) {
      double in = 0, out = 0;
      for (last = first; last < results.size() && results[last].first == results[first].first;
           ++last)
        (results[last].second ? in : out) += 1;
      pairs += in * (negative + out / 2);
      positive += in;
      negative += out;
    }
    if (positive > 0 && negative > 0) area = pairs / (positive * negative);
  }
  double sum = 0;
  int tasks = 0;
  for (const double area : areas)
    if (area != -1) {
      sum += area;
      ++tasks;
    }
  return tasks > 0 ? sum / tasks : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gnn
