// Every algorithm on a GPU: what it finds is what it finds on the CPU.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "gpu_cases.hpp"
#include "graph_oracles.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::index;
using rig::matrix;

template <class T>
bool are_near(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return x == y || std::abs(x - y) <= T(1e-9) * std::max(std::abs(x), std::abs(y));
  else
    return x == y;
}

template <class T>
void check_same(const rig::dense<T>& here, const rig::dense<T>& there) {
  REQUIRE(there.where() == gpu);
  const rig::dense<T> back = there.to(rig::cpu());
  REQUIRE(here.rows() == back.rows());
  REQUIRE(here.columns() == back.columns());
  int wrong = 0;
  for (index i = 0; i < here.rows(); ++i)
    for (index j = 0; j < here.columns(); ++j) wrong += !are_near(here(i, j), back(i, j));
  CHECK(wrong == 0);
}
template <class T>
void check_same(const matrix<T>& here, const matrix<T>& there) {
  REQUIRE(there.where() == gpu);
  const matrix<T> back = there.to(rig::cpu());
  REQUIRE(here.nnz() == back.nnz());
  int wrong = 0;
  for (long p = 0; p < here.nnz(); ++p)
    wrong += here.structure().column_indices()[p] != back.structure().column_indices()[p] ||
             !are_near(here.value(p), back.value(p));
  CHECK(wrong == 0);
}

/// An undirected, a directed, a long and a disconnected graph.
std::vector<matrix<bool>> graphs() {
  std::vector<matrix<bool>> out;
  for (const char* text : {"karate", "rmat:9:8", "grid:20:30", "uniform:500:1"})
    out.push_back(rig::generate::from_text(text).with_value(true));
  out.push_back(rig::select(rig::generate::from_text("rmat:9:6").with_value(true),
                            rig::selection::upper, -20));
  return out;
}

/// Calls compare(graph on the CPU, the same on the GPU) for each graph.
template <class Compare>
void for_each_graph(Compare compare) {
  for (const matrix<bool>& a : graphs()) {
    CAPTURE(a.rows());
    CAPTURE(a.nnz());
    compare(a, a.to(gpu));
  }
}

TEST_CASE("bfs, by every direction, and from several sources") {
  for_each_graph([](const matrix<bool>& here, const matrix<bool>& there) {
    for (const bool parents : {false, true})
      for (const char* kernel : {"", "push", "pull", "closure"}) {
        const auto x = rig::bfs(here, 0, {.parents = parents}),
                   y = rig::bfs(there, 0, {.parents = parents}, {.kernel = kernel});
        check_same(x.levels, y.levels);
        if (parents) check_same(x.parents, y.parents);
        CHECK(x.reached == y.reached);
      }
    std::vector<index> sources;
    for (const int count : {3, 70}) {
      while (static_cast<int>(sources.size()) < count)
        sources.push_back(static_cast<index>(sources.size() * 5) % here.rows());
      const auto x = rig::multi_source(here, sources), y = rig::multi_source(there, sources);
      check_same(x.levels, y.levels);
      CHECK(x.reached == y.reached);
    }
    check_same(rig::eccentricity(here, sources), rig::eccentricity(there, sources));
    const auto x = rig::diameter_bound(here, 0), y = rig::diameter_bound(there, 0);
    CHECK(x.lower == y.lower);
    CHECK(x.upper == y.upper);
    CHECK(x.node == y.node);
  });
}

TEST_CASE("sssp and msf") {
  for_each_graph([](const matrix<bool>& here, const matrix<bool>& there) {
    const auto random = rig::generate::random_values(here.with_value(1.0f), 3);
    const auto x = rig::apply<double>(rig::apply<rig::int64>(random, rig::binary::times, 100.0f),
                                      rig::unary::absolute);
    const auto y = x.to(gpu);
    CHECK(there.nnz() == y.nnz());
    check_same(rig::sssp(x, 0).distances, rig::sssp(y, 0).distances);
    const auto f = rig::msf(x), g = rig::msf(y);
    check_same(f.forest, g.forest);
    CHECK(f.weight == g.weight);
  });
}

TEST_CASE("components, scc, kcore, mis and labels") {
  for_each_graph([](const matrix<bool>& here, const matrix<bool>& there) {
    check_same(rig::components(here).labels, rig::components(there).labels);
    check_same(rig::scc(here).labels, rig::scc(there).labels);
    check_same(rig::kcore(here).cores, rig::kcore(there).cores);
    const auto x = rig::bipartite_matching(here), y = rig::bipartite_matching(there);
    check_same(x.columns, y.columns);
    check_same(x.rows, y.rows);
    check_same(rig::ktruss(here, 4).truss, rig::ktruss(there, 4).truss);
    check_same(rig::mis(here).set.as_row(), rig::mis(there).set.as_row());
    check_same(rig::label_propagation(here).labels, rig::label_propagation(there).labels);
  });
}

TEST_CASE("betweenness of levels that several blocks share, with rows that a warp reads") {
  constexpr index hubs = 64, leaves = 2000, nodes = hubs * (leaves + 1);
  std::vector<index> from, to;
  const auto join = [&](index i, index j) {
    from.insert(from.end(), {i, j});
    to.insert(to.end(), {j, i});
  };
  for (index hub = 0; hub < hubs; ++hub) {
    if (hub > 0) join(hub - 1, hub);
    for (index leaf = 0; leaf < leaves; ++leaf) join(hub, hubs + hub * leaves + leaf);
  }
  const auto here = matrix<bool>::from_positions(nodes, nodes, from, to);
  const std::vector<index> sources{0, hubs / 2, nodes - 1};
  check_same(rig::betweenness(here, sources), rig::betweenness(here.to(gpu), sources));
}

TEST_CASE("triangles, clustering, jaccard, betweenness and pagerank") {
  for_each_graph([](const matrix<bool>& here, const matrix<bool>& there) {
    CHECK(rig::triangles(here) == rig::triangles(there));
    check_same(rig::local_clustering(here), rig::local_clustering(there));
    check_same(rig::jaccard(here, 1).as_row(), rig::jaccard(there, 1).as_row());
    check_same(rig::jaccard_of_edges(here), rig::jaccard_of_edges(there));
    const std::vector<index> sources{0, 3, 8, 9};
    check_same(rig::betweenness(here, sources), rig::betweenness(there, sources));
    check_same(rig::pagerank(here).ranks, rig::pagerank(there).ranks);
    const auto to = rig::dense<double>(here.rows(), 1, 2.0);
    check_same(rig::pagerank(here, {.personalised = to}).ranks,
               rig::pagerank(there, {.personalised = to.to(gpu)}).ranks);
    // Hubs of components of like size need many iterations.
    const auto x = rig::hits(here, {.tolerance = 0, .most_iterations = 20}),
               y = rig::hits(there, {.tolerance = 0, .most_iterations = 20});
    check_same(x.hubs, y.hubs);
    check_same(x.authorities, y.authorities);
  });
}

/// A path that visits the nodes in steps of `step`.
matrix<bool> path(int n, int step) {
  std::vector<index> from, to;
  for (int i = 0; i + 1 < n; ++i) {
    from.push_back(static_cast<index>(static_cast<long>(i) * step % n));
    to.push_back(static_cast<index>(static_cast<long>(i + 1) * step % n));
  }
  return matrix<bool>::from_positions(n, n, from, to);
}

TEST_CASE("components of long paths, long rows and many parts, ten times each") {
  std::vector<matrix<bool>> all{path(300007, 1), path(300007, 2), path(300007, 123457)};
  for (const char* text : {"rmat:15:16", "uniform:200000:1", "uniform:200000:3", "grid:500:400"})
    all.push_back(rig::generate::from_text(text).with_value(true));
  for (const matrix<bool>& a : all) {
    CAPTURE(a.rows());
    CAPTURE(a.nnz());
    const auto expected = oracle::united(a);
    const auto there = a.to(gpu), both = rig::symmetrise(a).to(gpu);
    for (int again = 0; again < 10; ++again) {
      CHECK(oracle::list_of(rig::components(there).labels) == expected);
      CHECK(oracle::list_of(rig::components(both, {.symmetric = true}).labels) == expected);
    }
  }
}

TEST_CASE("components waits for the stream of the graph") {
  const auto a = rig::symmetrise(rig::generate::from_text("rmat:9:8")).with_value(true);
  REQUIRE(a.nnz() > 4 * a.rows());
  const auto owner = a.to(gpu);
  const rig::pattern& s = owner.structure();
  const auto rows = static_cast<std::size_t>(s.rows()), nnz = static_cast<std::size_t>(s.nnz());
  const auto late = rig::dense<index>(static_cast<index>(nnz), 1, -1).to(gpu);
  rig::synchronise(gpu);
  const own_stream writer;
  const matrix<bool> view(rig::pattern_view(
      s.rows(), s.columns(), std::span(static_cast<const rig::int32*>(s.offsets()), rows + 1),
      std::span(late.data(), nnz), rig::input::trusted, gpu, writer));
  writer.hold_back();
  REQUIRE(cudaMemcpyAsync(const_cast<index*>(late.data()), s.column_indices(), nnz * sizeof(index),
                          cudaMemcpyDeviceToDevice, writer) == cudaSuccess);
  const auto found = rig::components(view, {.symmetric = true});
  const auto wanted = rig::components(a, {.symmetric = true});
  CHECK(found.count == wanted.count);
  check_same(wanted.labels, found.labels);
}

}  // namespace
