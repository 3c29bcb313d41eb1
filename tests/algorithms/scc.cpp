// Strongly connected components against known answers and plain searches.

#include "rig/algorithms/scc.hpp"

#include <numeric>
#include <utility>

#include "algorithms/known_graphs.hpp"

namespace {

using known::json;

/// The smallest node that has paths to and from each node.
std::vector<int> labels_of(const rig::matrix<bool>& a) {
  const auto arcs = known::arcs_of(a);
  std::vector<std::vector<int>> reached;
  for (int i = 0; i < a.rows(); ++i) reached.push_back(known::levels_of(arcs, i));
  std::vector<int> label(arcs.size());
  for (std::size_t i = 0; i < label.size(); ++i)
    while (reached[i][static_cast<std::size_t>(label[i])] < 0 ||
           reached[static_cast<std::size_t>(label[i])][i] < 0)
      ++label[i];
  return label;
}

/// The numbers 0 … n − 1 in random order.
std::vector<int> mixed(int n, random_bits& bits) {
  std::vector<int> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  for (int i = n - 1; i > 0; --i)
    std::swap(out[static_cast<std::size_t>(i)], out[static_cast<std::size_t>(bits.below(i + 1))]);
  return out;
}

void check_random(const rig::matrix<bool>& a) {
  const auto expected = labels_of(a);
  int rounds = 0;
  rig::scc_options my;
  my.progress = [&](int round, rig::int64 arcs) {
    CHECK(round == ++rounds);
    CHECK(arcs <= a.nnz());
  };
  const auto found = rig::scc(a.with_value(0.0), my);
  CHECK(std::equal(expected.begin(), expected.end(), found.labels.begin()));
  CHECK(found.rounds == rounds);
  rig::int64 roots = 0;
  for (int i = 0; i < a.rows(); ++i) roots += expected[static_cast<std::size_t>(i)] == i;
  CHECK(found.count == roots);
}

}  // namespace

TEST_CASE("strong components of the data sets") {
  for (const auto& graph : known::with("scc")) {
    CAPTURE(graph.name);
    const auto a = graph.load();
    const auto found = rig::scc(a);
    std::vector<rig::int64> sizes(static_cast<std::size_t>(a.rows()));
    for (const int label : found.labels) ++sizes[static_cast<std::size_t>(label)];
    CHECK(found.count == graph.expected["scc"]["count"]);
    CHECK(*std::max_element(sizes.begin(), sizes.end()) == graph.expected["scc"]["largest"]);
  }
}

TEST_CASE("published strong components of cover") {
  const json answers = known::lagraph();
  if (answers.is_null()) return;
  const auto labels = rig::scc(rig::read_matrix<double>(known::lagraph_file("cover"))).labels;
  CHECK(json(std::vector<int>(labels.begin(), labels.end())) == answers["scc"]["cover"]);
}

TEST_CASE("strong components of random graphs are those of plain searches") {
  known::each_random([](const rig::matrix<bool>& a, bool) { check_random(a); });
}

TEST_CASE("paths and rings of rings") {
  random_bits bits(test_seed() + 2);
  const int n = 120;
  const auto order = mixed(n, bits);
  for (const int ring : {1, 2, 5, 40, n}) {
    std::vector<int> from, to;
    const auto arc = [&](int i, int j) {
      from.push_back(order[static_cast<std::size_t>(i)]);
      to.push_back(order[static_cast<std::size_t>(j)]);
    };
    for (int i = 0; i < n; ++i) {
      if (i + 1 < n) arc(i, i + 1);
      if (i % ring == ring - 1 && ring > 1) arc(i, i - ring + 1);
    }
    const auto a = rig::matrix<bool>::from_positions(n, n, from, to, true, true);
    check_random(a);
    CHECK(rig::scc(a).count == n / ring);
  }
}

/// The arcs of `a`, each as a chain of up to so many nodes beside its ends, whose numbers are
/// mixed.
rig::matrix<bool> in_chains(const rig::matrix<bool>& a, int longest, random_bits& bits) {
  std::vector<int> from, to;
  int n = a.rows();
  for (rig::index i = 0; i < a.rows(); ++i)
    for (auto e = a.structure().offset(i); e < a.structure().offset(i + 1); ++e) {
      int last = i;
      for (int k = bits.below(longest + 1); k > 0; --k) {
        from.push_back(std::exchange(last, n));
        to.push_back(n++);
      }
      from.push_back(last);
      to.push_back(a.structure().column_indices()[e]);
    }
  const auto order = mixed(n, bits);
  for (auto* list : {&from, &to})
    for (int& node : *list) node = order[static_cast<std::size_t>(node)];
  return rig::matrix<bool>::from_positions(n, n, from, to);
}

TEST_CASE("chains join a component if both their ends do") {
  random_bits bits(test_seed() + 3);
  for (const int nodes : {1, 2, 5, 20})
    for (int trial = 0; trial < 6; ++trial) {
      std::vector<int> from, to;
      for (int i = 0; i < nodes; ++i)
        for (int j = 0; j < nodes; ++j)
          if (bits.chance(1.5 / nodes)) {
            from.push_back(i);
            to.push_back(j);
          }
      const auto a = rig::matrix<bool>::from_positions(nodes, nodes, from, to);
      for (const int longest : {3, 9}) check_random(in_chains(a, longest, bits));
    }
}

TEST_CASE("long paths and rings take steps, of which few change many nodes") {
  const int n = 4000;
  std::vector<int> from, to;
  for (int i = 0; i + 1 < n; ++i) {
    from.push_back(i);
    to.push_back(i + 1);
  }
  CHECK(rig::scc(rig::matrix<bool>::from_positions(n, n, from, to)).count == n);
  for (const int first : {0, n / 4, n / 2}) {
    from.push_back(first + n / 4 - 1);
    to.push_back(first);
  }
  const auto rings = rig::scc(rig::matrix<bool>::from_positions(n, n, from, to));
  CHECK(rings.count == 3 + n / 4);
  CHECK(rings.labels(n / 2 - 1, 0) == n / 4);
}

namespace {

/// Complete graphs of so many nodes, each with an arc to the next; the numbers of nodes are mixed.
/// Checks the label of every node.
void check_chain_of_complete(int length, int nodes) {
  random_bits bits(test_seed() + 5);
  const int n = length * nodes;
  const auto order = mixed(n, bits);
  const auto node = [&](int k) { return order[static_cast<std::size_t>(k)]; };
  std::vector<int> from, to, label(order.size(), n);
  for (int k = 0; k < n; ++k) {
    const int first = k / nodes * nodes;
    for (int j = first; j < first + nodes; ++j) {
      auto& least = label[static_cast<std::size_t>(node(k))];
      least = std::min(least, node(j));
      if (j == k) continue;
      from.push_back(node(k));
      to.push_back(node(j));
    }
    if (k % nodes != nodes - 1 || k + 1 == n) continue;
    from.push_back(node(k));
    to.push_back(node(k + 1));
  }
  const auto found = rig::scc(rig::matrix<bool>::from_positions(n, n, from, to));
  CHECK(found.count == length);
  CHECK(std::equal(label.begin(), label.end(), found.labels.begin()));
}

}  // namespace

TEST_CASE("long chains of small components take no step per component") {
  check_chain_of_complete(100000, 2);
  check_chain_of_complete(50000, 3);
  check_chain_of_complete(20000, 8);
}

TEST_CASE("long paths and long cycles") {
  random_bits bits(test_seed() + 6);
  const int n = 200000;
  const auto order = mixed(n, bits);
  std::vector<int> from(order.begin(), order.end() - 1), to(order.begin() + 1, order.end());
  const auto path = rig::scc(rig::matrix<bool>::from_positions(n, n, from, to));
  CHECK(path.count == n);
  from.push_back(order.back());
  to.push_back(order.front());
  CHECK(rig::scc(rig::matrix<bool>::from_positions(n, n, from, to)).count == 1);
  // Shortcuts on the cycle, so that its nodes do not form one chain.
  for (int k = 0; k + 5 < n; k += 2) {
    from.push_back(order[static_cast<std::size_t>(k)]);
    to.push_back(order[static_cast<std::size_t>(k + 5)]);
  }
  CHECK(rig::scc(rig::matrix<bool>::from_positions(n, n, from, to)).count == 1);
}

TEST_CASE("random graphs whose arcs are chains of pairs") {
  random_bits bits(test_seed() + 7);
  for (int trial = 0; trial < 4; ++trial) {
    const int nodes = 12;
    int n = nodes;
    std::vector<int> from, to;
    const auto arc = [&](int i, int j) {
      from.push_back(i);
      to.push_back(j);
    };
    for (int k = 0; k < 14; ++k) {
      int last = bits.below(nodes);
      for (int pairs = 30 + bits.below(40); pairs > 0; --pairs, n += 2) {
        arc(last, n);
        arc(n, n + 1);
        arc(n + 1, n);
        last = n + 1;
      }
      arc(last, bits.below(nodes));
    }
    check_random(rig::matrix<bool>::from_positions(n, n, from, to));
  }
}

TEST_CASE("wrong input") {
  known::check_error(rig::errc::shape, "scc: A is 2x3", [] { rig::scc(rig::matrix<bool>(2, 3)); });
}
