// Graph algorithms over ranks: the results of one place. PageRank, whose sums round, has the same
// bits on any number of ranks.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::int32;
using rig::int64;
using rig::matrix;

void require(bool holds, const char* words) {
  if (!holds) throw std::runtime_error(words);
}

/// Directed graphs: skewed, a path against the order of nodes, and small ones.
std::vector<matrix<float>> graphs() {
  std::vector<matrix<float>> out = {rig::generate::rmat(8, 2), matrix<float>(5, 5),
                                    random_matrix<float>(3, 3, 2, 60), matrix<float>(1, 1),
                                    random_matrix<float>(40, 40, 1, 61)};
  std::vector<int> from, to;
  for (int node = 1; node < 30; ++node) {
    from.push_back(node);
    to.push_back(node - 1);
  }
  out.push_back(matrix<float>::from_positions(31, 31, from, to));
  return out;
}

/// Runs work(ranks, parts) for 1 … 7 ranks and both kinds of layout.
template <class T, class Work>
void for_parts(const matrix<T>& a, const Work& work) {
  for (int size = 1; size <= 7; ++size)
    for (const int kind : {0, 1})
      run_all(size, [&](const rig::communicator& here) {
        const auto rows = layout_of(a.structure(), size, kind, 62);
        work(here, distributed<matrix<T>>::from_whole(here, a, rows));
      });
}

TEST_CASE("levels") {
  for (const auto& a : graphs())
    for (const int source : {0, a.rows() - 1}) {
      const auto expected = rig::bfs(a, source);
      std::vector<std::pair<int, int64>> seen, seen_alone;
      rig::bfs(a, source, {.progress = [&](int level, int64 nodes) {
                 seen_alone.emplace_back(level, nodes);
               }});
      for_parts(a, [&](const rig::communicator& here, const auto& part) {
        std::vector<std::pair<int, int64>> mine;
        const auto found = rig::bfs(part, source, {.progress = [&](int level, int64 nodes) {
                                      mine.emplace_back(level, nodes);
                                    }});
        require(same_bits(found.levels.gather(), expected.levels), "levels");
        require(found.reached == expected.reached && found.max_level == expected.max_level, "sums");
        require(mine == seen_alone, "progress");
        (void)here;
      });
    }
}

TEST_CASE("distances") {
  for (const auto& signed_graph : graphs()) {
    const auto a = rig::apply(signed_graph, rig::unary::absolute);
    const auto as_integers =
        rig::apply<int32>(rig::apply(a, rig::binary::times, 100.0f), rig::unary::identity);
    const auto expected = rig::sssp(a, 0);
    const auto of_integers = rig::sssp(as_integers, 0);
    for_parts(a, [&](const rig::communicator&, const auto& part) {
      const auto found = rig::sssp(part, 0);
      require(same_bits(found.distances.gather(), expected.distances), "distances");
      require(found.reached == expected.reached, "reached");
    });
    for_parts(as_integers, [&](const rig::communicator&, const auto& part) {
      require(same_bits(rig::sssp(part, 0).distances.gather(), of_integers.distances), "integers");
    });
  }
}

TEST_CASE("components") {
  for (const auto& a : graphs()) {
    const auto expected = rig::components(a);
    for_parts(a, [&](const rig::communicator&, const auto& part) {
      const auto found = rig::components(part);
      require(same_bits(found.labels.gather(), expected.labels), "labels");
      require(found.count == expected.count, "count");
    });
  }
}

TEST_CASE("PageRank has the same bits on any number of ranks, and nearly those of one place") {
  for (const auto& a : graphs())
    for (const bool is_personal : {false, true}) {
      rig::pagerank_options options;
      if (is_personal) {
        options.personalised = dense<double>(a.rows(), 1, 0.25);
        options.personalised(a.rows() / 2, 0) = 3;
      }
      const auto near = rig::pagerank(a, options);
      dense<double> first;
      std::mutex lock;
      for_parts(a, [&](const rig::communicator& here, const auto& part) {
        const auto found = rig::pagerank(part, options);
        const auto all = found.ranks.gather();
        const std::lock_guard held(lock);
        if (first.rows() == 0 && here.size() == 1) first = all;
        require(same_bits(all, first), "bits");
        require(std::abs(found.iterations - near.iterations) <= 1, "iterations");
        for (index i = 0; i < a.rows(); ++i)
          require(std::abs(all(i, 0) - near.ranks(i, 0)) < 1e-10, "ranks");
      });
    }
}

TEST_CASE("graphs without nodes, and empty ranks") {
  const matrix<float> none(0, 0);
  for_parts(none, [&](const rig::communicator&, const auto& part) {
    require(rig::pagerank(part).ranks.rows() == 0, "pagerank");
    require(rig::components(part).count == 0, "components");
  });
}

TEST_CASE("one rank alone may show progress") {
  for_parts(graphs().front(), [&](const rig::communicator& here, const auto& part) {
    const bool shows = here.rank() == 0;
    int levels = 0, iterations = 0;
    rig::bfs_options search;
    if (shows) search.progress = [&](int, rig::int64) { ++levels; };
    rig::pagerank_options walk;
    walk.tolerance = 0;
    walk.most_iterations = 5;
    if (shows) walk.progress = [&](int, double change) { iterations += change >= 0 ? 1 : 0; };
    const auto found = rig::bfs(part, 0, search);
    const auto ranks = rig::pagerank(part, walk);
    require(levels == (shows ? found.max_level + 1 : 0), "levels");
    require(iterations == (shows ? ranks.iterations : 0), "iterations");
  });
}

TEST_CASE("refusals are those of one place, on all ranks") {
  const auto refused = [](const char* words, auto work) {
    for (const auto& thrown : run(3, [&](const rig::communicator& here) {
           const auto a = random_matrix<float>(9, 9, 3, 63);
           const auto rows = rig::layout::by_entries(a.structure(), 3);
           work(here, distributed<matrix<float>>::from_whole(here, a, rows));
         })) {
      REQUIRE(thrown != nullptr);
      try {
        std::rethrow_exception(thrown);
      } catch (const rig::error& cause) {
        CHECK_MESSAGE(std::string(cause.what()).find(words) != std::string::npos, cause.what());
      }
    }
  };
  refused("bfs: rank 0 of 3: source is 9", [](const auto&, const auto& a) { rig::bfs(a, 9); });
  refused("bfs: rank 2 of 3: source is -1",
          [](const auto& here, const auto& a) { rig::bfs(a, here.rank() == 2 ? -1 : 0); });
  refused("parents are not computed over ranks",
          [](const auto&, const auto& a) { rig::bfs(a, 0, {.parents = true}); });
  refused("the least weight is -", [](const auto&, const auto& a) { rig::sssp(a, 0); });
  refused("bfs: the ranks differ in the source, which is 0 and 2",
          [](const auto& here, const auto& a) { rig::bfs(a, here.rank()); });
  refused("pagerank: the ranks differ in the tolerance", [](const auto& here, const auto& a) {
    rig::pagerank(a, {.tolerance = here.rank() == 1 ? 0.5 : 0.25});
  });
  refused("damping is 2", [](const auto&, const auto& a) { rig::pagerank(a, {.damping = 2}); });
  refused("kernel of the descriptor has no meaning",
          [](const auto&, const auto& a) { rig::components(a, {}, {.kernel = "row"}); });
  refused("pagerank: rank 1 of 3: the program's own", [](const auto& here, const auto& a) {
    rig::pagerank(a, {.progress = [&](int, double) {
                    if (here.rank() == 1) throw std::runtime_error("the program's own");
                  }});
  });
}

}  // namespace
