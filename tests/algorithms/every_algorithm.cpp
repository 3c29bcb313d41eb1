// What holds for every algorithm: only rig's errors leave it, whichever allocation fails, and it
// refuses what a descriptor cannot mean.

#include <functional>

#include "algorithms/graph_checks.hpp"
#include "failing_allocator.hpp"

namespace {

using rig::descriptor;

struct algorithm {
  std::string name;
  std::function<void(const descriptor&)> run;
  bool has_product() const {
    return name != "scc" && name != "msf" && name != "components" && name != "bipartite_matching";
  }
};

/// Calls of each algorithm on a graph, with its overloads and options.
std::vector<algorithm> algorithms_on(const checks::graph& a) {
  const std::vector<int> sources{0, 3};
  return {{"bfs", [&a](const descriptor& d) { rig::bfs(a, 0, {}, d); }},
          {"bfs", [&a](const descriptor& d) { rig::bfs(a, 0, {.parents = true}, d); }},
          {"multi_source", [=, &a](const descriptor& d) { rig::multi_source(a, sources, {}, d); }},
          {"sssp", [&a](const descriptor& d) { rig::sssp(a, 0, {}, d); }},
          {"sssp", [&a](const descriptor& d) { rig::sssp(a.with_value(1.5), 0, {}, d); }},
          {"sssp", [&a](const descriptor& d) { rig::sssp(a.with_value(rig::int64(2)), 0, {}, d); }},
          {"components", [&a](const descriptor& d) { rig::components(a, {}, d); }},
          {"scc", [&a](const descriptor& d) { rig::scc(a, {}, d); }},
          {"pagerank", [&a](const descriptor& d) { rig::pagerank(a, {.most_iterations = 2}, d); }},
          {"pagerank",
           [&a](const descriptor& d) {
             const rig::dense<double> to(a.rows(), 1, 1.0);
             rig::pagerank(a, {.most_iterations = 2, .personalised = to}, d);
           }},
          {"hits", [&a](const descriptor& d) { rig::hits(a, {.most_iterations = 2}, d); }},
          {"betweenness", [=, &a](const descriptor& d) { rig::betweenness(a, sources, {}, d); }},
          {"betweenness", [&a](const descriptor& d) { rig::betweenness(a, {}, d); }},
          {"triangles", [&a](const descriptor& d) { rig::triangles(a, {}, d); }},
          {"local_clustering", [&a](const descriptor& d) { rig::local_clustering(a, {}, d); }},
          {"local_clustering",
           [&a](const descriptor& d) { rig::local_clustering(a, {.directed = true}, d); }},
          {"kcore", [&a](const descriptor& d) { rig::kcore(a, {}, d); }},
          {"ktruss", [&a](const descriptor& d) { rig::ktruss(a, 3, {}, d); }},
          {"eccentricity", [=, &a](const descriptor& d) { rig::eccentricity(a, sources, {}, d); }},
          {"eccentricity", [&a](const descriptor& d) { rig::eccentricity(a, {}, d); }},
          {"diameter_bound", [&a](const descriptor& d) { rig::diameter_bound(a, 0, {}, d); }},
          {"mis", [&a](const descriptor& d) { rig::mis(a, {}, d); }},
          {"msf", [&a](const descriptor& d) { rig::msf(a.with_value(1.0), {}, d); }},
          {"msf", [&a](const descriptor& d) { rig::msf(a.with_value(1.0f), {}, d); }},
          {"bipartite_matching", [&a](const descriptor& d) { rig::bipartite_matching(a, {}, d); }},
          {"jaccard", [&a](const descriptor& d) { rig::jaccard(a, 0, {}, d); }},
          {"jaccard_of_edges", [&a](const descriptor& d) { rig::jaccard_of_edges(a, {}, d); }},
          {"label_propagation",
           [&a](const descriptor& d) { rig::label_propagation(a, {.iterations = 2}, d); }}};
}

/// An arc i → i + 1, others that close cycles, and an isolated node.
checks::graph small_graph() {
  return checks::of_arcs(
      12, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}, {4, 6}, {6, 7}, {1, 3}, {7, 7}});
}

/// Pairs of nodes with arcs in both directions, each pair with an arc to the next.
checks::graph chain_of_pairs(int pairs) {
  checks::arcs all;
  for (int k = 0; k < pairs; ++k) {
    all.insert(all.end(), {{2 * k, 2 * k + 1}, {2 * k + 1, 2 * k}});
    if (k + 1 < pairs) all.emplace_back(2 * k + 1, 2 * k + 2);
  }
  return checks::of_arcs(2 * pairs, all);
}

}  // namespace

TEST_CASE("every allocation of every algorithm fails in turn") {
  const auto a = small_graph();
  for (const auto& [name, run] : algorithms_on(a)) {
    CAPTURE(name);
    check_every_failure(
        2, [&] { a.drop_derived(); }, [&run = run] { run({}); },
        [&] { return a.nnz() == 11 && a.structure().offset(3) == 5; });
  }
}

TEST_CASE("every allocation of a search in depth fails in turn") {
  const auto a = chain_of_pairs(100);
  check_every_failure(
      2, [&] { a.drop_derived(); }, [&] { rig::scc(a); }, always);
}

TEST_CASE("fields of meaning are refused, each with its remedy") {
  const auto a = small_graph();
  for (const auto& [name, run] : algorithms_on(a)) {
    CAPTURE(name);
    const auto refuses = [&](const descriptor& d, const std::string& text) {
      checks::check_throws(rig::errc::cannot, name + ": " + text, [&] { run(d); });
    };
    refuses({.transpose_a = true},
            "transpose_a of the descriptor has no meaning here; leave it unset, and pass "
            "transpose(A) if");
    refuses({.transpose_b = true}, "transpose_b of the descriptor has no meaning");
    refuses({.replace = true},
            "replace of the descriptor has no meaning here; leave it unset, because the result");
    refuses({.fill = 0},
            "fill of the descriptor has no meaning here; leave it unset, because the algorithm");
  }
}

TEST_CASE("kernels that leave out entries are refused") {
  const auto a = small_graph();
  for (const algorithm& one : algorithms_on(a)) {
    CAPTURE(one.name);
    for (const std::string kernel : {"bucket", "fastrand", "adaptive", "maxk"}) {
      const std::string why = one.has_product() ? ": kernel '" + kernel + "' is approximate"
                                                : ": kernel of the descriptor has no meaning here";
      checks::check_throws(rig::errc::cannot, one.name + why,
                           [&] { one.run({.kernel = kernel, .width = 4, .k = 1}); });
    }
    if (one.has_product())
      checks::check_throws(rig::errc::unknown_kernel,
                           one.name + ": the descriptor names kernel 'none'",
                           [&] { one.run({.kernel = "none"}); });
    checks::check_throws(rig::errc::range, "threads is -1", [&] { one.run({.threads = -1}); });
  }
}

TEST_CASE("every error begins with the algorithm's name, once") {
  const auto a = small_graph();
  int refusals = 0;
  for (const algorithm& one : algorithms_on(a)) {
    CAPTURE(one.name);
    const auto check_name = [&](const descriptor& d) {
      try {
        one.run(d);
      } catch (const rig::error& e) {
        const std::string message = e.what(), start = one.name + ": ";
        CAPTURE(message);
        CHECK(message.starts_with(start));
        CHECK(message.find(start, start.size()) == std::string::npos);
        ++refusals;
      }
    };
    check_name({.threads = -1});
    const int before = refusals;
    for (const rig::kernel& k : rig::kernels())
      if (!k.approximate) check_name({.kernel = k.name});
    CHECK(refusals > before);  // no kernel serves all products, and some serve none
  }
}

TEST_CASE("an algorithm without a main product refuses the name of a kernel") {
  const auto a = small_graph();
  for (const algorithm& one : algorithms_on(a))
    if (!one.has_product())
      for (const char* kernel : {"row", "gustavson", "none"})
        checks::check_throws(rig::errc::cannot,
                             one.name +
                                 ": kernel of the descriptor has no meaning here; leave it "
                                 "unset, because the algorithm has no main product",
                             [&] { one.run({.kernel = kernel}); });
}
