// Weakly connected components against known answers and a plain search.

#include "rig/algorithms/components.hpp"

#include "algorithms/known_graphs.hpp"
#include "graph_oracles.hpp"

namespace {

using known::json;

/// The smallest node that a plain search of A ∪ Aᵀ joins with each node.
std::vector<int> labels_of(const rig::matrix<bool>& a) {
  auto arcs = known::arcs_of(a);
  for (std::size_t i = 0, n = arcs.size(); i < n; ++i)
    for (std::size_t k = 0, count = arcs[i].size(); k < count; ++k)
      arcs[static_cast<std::size_t>(arcs[i][k])].push_back(static_cast<int>(i));
  std::vector<int> label(arcs.size(), -1);
  for (int root = 0; root < a.rows(); ++root) {
    if (label[static_cast<std::size_t>(root)] >= 0) continue;
    const auto level = known::levels_of(arcs, root);
    for (std::size_t i = 0; i < level.size(); ++i)
      if (level[i] >= 0) label[i] = root;
  }
  return label;
}

}  // namespace

TEST_CASE("components of the data sets") {
  for (const auto& graph : known::with("wcc")) {
    CAPTURE(graph.name);
    const auto a = graph.load();
    const json& expected = graph.expected["wcc"];
    for (const bool symmetric : {false, true}) {
      if (symmetric && !graph.expected["symmetric"].get<bool>()) continue;
      const auto found = rig::components(a, {.symmetric = symmetric});
      std::vector<rig::int64> sizes(static_cast<std::size_t>(a.rows()));
      rig::int64 sum = 0;
      for (const int label : found.labels) {
        ++sizes[static_cast<std::size_t>(label)];
        sum += label;
      }
      CHECK(found.count == expected["count"]);
      CHECK(*std::max_element(sizes.begin(), sizes.end()) == expected["largest"]);
      CHECK(sum == expected["sum_min_index"]);
    }
  }
}

TEST_CASE("published numbers of components") {
  const json answers = known::lagraph();
  if (answers.is_null()) return;
  for (const auto& [name, count] : answers["connected_components"].items()) {
    CAPTURE(name);
    CHECK(rig::components(rig::read_matrix<double>(known::lagraph_file(name))).count == count);
  }
}

TEST_CASE("components of LDBC's graphs") {
  for (const auto& graph : known::ldbc("WCC")) {
    CAPTURE(graph.name);
    const auto found = rig::components(graph.a);
    CHECK(graph.a.rows() > 5);
    // The ids ascend with the nodes, and the reference names a component by one of its ids.
    for (int i = 0; i < graph.a.rows(); ++i)
      for (int j = 0; j < i; ++j)
        CHECK((found.labels(i, 0) == found.labels(j, 0)) == (graph.answer(i) == graph.answer(j)));
  }
}

TEST_CASE("components of random graphs are those of a plain search") {
  known::each_random([](const rig::matrix<bool>& a, bool undirected) {
    const auto expected = labels_of(a);
    for (const bool symmetric : {false, true}) {
      if (symmetric && !undirected) continue;
      int iterations = 0;
      const auto found = rig::components(
          a.with_value(0.0f),
          {.symmetric = symmetric, .progress = [&](int k) { CHECK(k == ++iterations); }});
      CHECK(std::equal(expected.begin(), expected.end(), found.labels.begin()));
      CHECK(found.iterations == iterations);
      rig::int64 roots = 0;
      for (int i = 0; i < a.rows(); ++i) roots += expected[static_cast<std::size_t>(i)] == i;
      CHECK(found.count == roots);
    }
  });
}

TEST_CASE("components of large graphs, on several threads, are those of a union of sets") {
  for (const char* text : {"rmat:13:8", "uniform:20000:1", "uniform:20000:4", "grid:200:150"}) {
    CAPTURE(text);
    const auto a = rig::generate::from_text(text).with_value(true);
    const auto both = rig::symmetrise(a);
    const auto expected = oracle::united(a);
    for (const int threads : {1, 2, 5}) {
      const rig::descriptor desc{.threads = threads};
      CHECK(oracle::list_of(rig::components(a, {}, desc).labels) == expected);
      CHECK(oracle::list_of(rig::components(both, {.symmetric = true}, desc).labels) == expected);
    }
  }
}

TEST_CASE("a long path, and nodes in an order that hinders hooking") {
  const int n = 2000;
  std::vector<int> from, to, order(n);
  for (int i = 0; i < n; ++i)
    order[static_cast<std::size_t>(i)] = i % 2 == 0 ? i / 2 : n - 1 - i / 2;
  for (int i = 0; i + 1 < n; ++i) {
    from.push_back(order[static_cast<std::size_t>(i)]);
    to.push_back(order[static_cast<std::size_t>(i + 1)]);
  }
  const auto found = rig::components(rig::matrix<bool>::from_positions(n, n, from, to));
  CHECK(found.count == 1);
  CHECK(*std::max_element(found.labels.begin(), found.labels.end()) == 0);
}

TEST_CASE("a wide graph in parts that are searched, joined, and without arcs") {
  // A dense part, a band whose search has many levels, pairs, and nodes alone, in mixed order.
  const int n = 3000, dense = 60, band = 2000, pairs = 400;
  for (const bool directed : {false, true})
    for (const int step : {1, 7, 1213}) {
      std::vector<int> from, to;
      const auto edge = [&](int i, int j) {
        const int x = i * step % n, y = j * step % n;
        from.push_back(x);
        to.push_back(y);
        if (directed) return;
        from.push_back(y);
        to.push_back(x);
      };
      for (int i = 0; i < dense; ++i)
        for (int j = 0; j < i; ++j) edge(i, j);
      for (int i = dense; i < dense + band; ++i)
        for (int j = i + 1; j < std::min(i + 8, dense + band); ++j) edge(i, j);
      for (int i = 0; i < pairs; i += 2) edge(dense + band + i, dense + band + i + 1);
      const auto a = rig::matrix<bool>::from_positions(n, n, from, to);
      const auto expected = labels_of(a);
      const auto found = rig::components(a, {.symmetric = !directed});
      CHECK(std::equal(expected.begin(), expected.end(), found.labels.begin()));
      CHECK(found.count == 2 + pairs / 2 + (n - dense - band - pairs));
    }
}

TEST_CASE("wrong input") {
  known::check_error(rig::errc::shape, "components: A is 2x3",
                     [] { rig::components(rig::matrix<bool>(2, 3)); });
}
