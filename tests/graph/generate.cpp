// The graph generators: the properties of every graph, and the degrees of the benchmark graphs.

#include "rig/generate.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "data_folder.hpp"
#include "rig/io.hpp"

namespace {

using rig::int32;
using rig::int64;
using rig::matrix;
namespace generate = rig::generate;

bool has(const rig::pattern& a, int32 i, int32 j) {
  return std::binary_search(a.column_indices() + a.offset(i), a.column_indices() + a.offset(i + 1),
                            j);
}

bool same(const rig::pattern& a, const rig::pattern& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns() || a.nnz() != b.nnz()) return false;
  for (int32 i = 0; i <= a.rows(); ++i)
    if (a.offset(i) != b.offset(i)) return false;
  return std::equal(a.column_indices(), a.column_indices() + a.nnz(), b.column_indices());
}

/// Checks that a graph is undirected, sorted, without loops or repeated entries, and iso with value
/// 1.
void check_graph(const matrix<float>& made) {
  const rig::pattern& a = made.structure();
  REQUIRE(made.rows() == made.columns());
  CHECK(made.iso());
  CHECK(made.iso_value() == 1);
  CHECK(a.offset(made.rows()) == made.nnz());
  int64 wrong = 0;
  for (int32 i = 0; i < a.rows(); ++i)
    for (int64 p = a.offset(i); p < a.offset(i + 1); ++p) {
      const int32 j = a.column_indices()[p];
      const bool ascends = p == a.offset(i) || a.column_indices()[p - 1] < j;
      if (j < 0 || j >= a.columns() || j == i || !ascends || !has(a, j, i)) ++wrong;
    }
  CHECK(wrong == 0);
}

std::string message_of(rig::errc code, const std::string& text) {
  try {
    generate::from_text(text);
  } catch (const rig::error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  FAIL("nothing was thrown for " << text);
  return "";
}

}  // namespace

TEST_CASE("karate equals the graph of the file") {
  const auto club = generate::karate();
  check_graph(club);
  CHECK(club.rows() == 34);
  CHECK(club.nnz() == 156);
  const auto file = data::folder() / "karate" / "graph.mtx";
  if (data::has(file))
    CHECK(same(club.structure(), rig::read_matrix<float>(file.string()).structure()));
}

TEST_CASE("every generator gives an undirected graph, the same for any number of threads") {
  const generate::community_shape shape{3000, 12, 7, 0.3, 2.5, 400, 1.2};
  const auto make_all = [&] {
    return std::vector{generate::karate(),           generate::rmat(11, 8),
                       generate::uniform(2500, 7.5), generate::grid(31, 47, 0.1, 0.3),
                       generate::community(shape),   generate::shuffled(generate::rmat(9, 4)),
                       generate::cliques(1000, 48),  generate::banded(700, 20)};
  };
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = make_all();
  omp_set_num_threads(7);
  const auto seven = make_all();
  omp_set_num_threads(threads);
  for (std::size_t k = 0; k < one.size(); ++k) {
    check_graph(one[k]);
    CHECK(same(one[k].structure(), seven[k].structure()));
  }
}

TEST_CASE("numbers of threads out of range do not reach OpenMP") {
  const auto make = [] {
    return std::vector{generate::grid(2, 2),
                       generate::rmat(2, 1),
                       generate::uniform(3, 1),
                       generate::community({3, 1, 1, 0.1, 2.5, 4, 1}),
                       generate::shuffled(generate::grid(2, 2)),
                       generate::random_values(generate::grid(2, 2))};
  };
  const auto usual = make();
  const int threads = omp_get_max_threads();
  omp_set_num_threads(200000);
  const auto wild = make();
  omp_set_num_threads(threads);
  for (std::size_t k = 0; k < usual.size(); ++k)
    CHECK(same(usual[k].structure(), wild[k].structure()));
}

TEST_CASE("another seed gives another graph") {
  CHECK(same(generate::rmat(8, 4, 5).structure(), generate::rmat(8, 4, 5).structure()));
  CHECK_FALSE(same(generate::rmat(8, 4, 5).structure(), generate::rmat(8, 4, 6).structure()));
  CHECK_FALSE(
      same(generate::uniform(99, 4, 1).structure(), generate::uniform(99, 4, 2).structure()));
}

TEST_CASE("grid") {
  const auto whole = generate::grid(5, 7);
  check_graph(whole);
  CHECK(whole.rows() == 35);
  CHECK(whole.nnz() == 2 * (5 * 6 + 4 * 7));
  CHECK(has(whole.structure(), 0, 1));
  CHECK(has(whole.structure(), 0, 7));
  CHECK_FALSE(has(whole.structure(), 6, 7));
  CHECK(generate::grid(5, 7, 1, 0).nnz() == 2 * 4 * 7);
  CHECK(generate::grid(5, 7, 0, 1).nnz() == 2 * 5 * 6);
  CHECK(generate::grid(1, 1).nnz() == 0);
  CHECK(generate::grid(0, 9).rows() == 0);
}

TEST_CASE("cliques and bands have exactly the entries of their definitions") {
  const auto groups = generate::cliques(70, 32);
  const auto band = generate::banded(70, 9);
  check_graph(groups);
  check_graph(band);
  int wrong = 0;
  for (int32 i = 0; i < 70; ++i)
    for (int32 j = 0; j < 70; ++j) {
      wrong += has(groups.structure(), i, j) != (i != j && i / 32 == j / 32) ? 1 : 0;
      wrong += has(band.structure(), i, j) != (i != j && std::abs(i - j) <= 9) ? 1 : 0;
    }
  CHECK(wrong == 0);
  CHECK(generate::cliques(70, 32).nnz() == 2 * 32 * 31 + 6 * 5);
  CHECK(generate::banded(70, 9).nnz() == 70 * 18 - 9 * 10);
  CHECK(same(generate::cliques(5, 2'000'000'000).structure(), generate::banded(5, 4).structure()));
}

TEST_CASE("the smallest graphs") {
  CHECK(generate::cliques(0, 16).rows() == 0);
  CHECK(generate::cliques(3, 1).nnz() == 0);
  CHECK(generate::banded(0, 16).rows() == 0);
  CHECK(generate::banded(3, 0).nnz() == 0);
  CHECK(generate::banded(3, 9).nnz() == 6);
  CHECK(generate::rmat(0, 16).rows() == 1);
  CHECK(generate::rmat(0, 16).nnz() == 0);
  CHECK(generate::rmat(5, 0).nnz() == 0);
  CHECK(generate::uniform(0, 3).rows() == 0);
  CHECK(generate::uniform(1, 3).nnz() == 0);
  CHECK(generate::uniform(2, 100).nnz() == 2);
  CHECK(generate::community({1, 3, 1, 0, 2.5, 10, 1}).nnz() == 0);
  CHECK(generate::community({4, 3, 9, 0.5, 2.5, 10, 1}).rows() == 4);  // some blocks are empty
  CHECK(generate::degree_quantiles(generate::uniform(0, 3).structure())[4] == 0);
}

TEST_CASE("community: the share of edges within blocks follows the mixing") {
  const int32 n = 20000;
  const auto a = generate::community({n, 10, 1000, 0, 3, 40, 1});
  int64 far = 0;
  for (int32 i = 0; i < n; ++i)
    for (int64 p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      if (std::abs(a.structure().column_indices()[p] - i) > 40) ++far;
  CHECK(far == 0);
}

TEST_CASE("the blocks of a community graph are those that its edges keep to") {
  const generate::community_shape shape{
      .n = 2000, .mean = 12, .blocks = 7, .mixing = 0, .gamma = 2.5, .max_degree = 80};
  const auto graph = generate::community(shape, 3);
  const auto block = generate::community_blocks(shape, 3);
  REQUIRE(block.size() == 2000);
  CHECK(block.front() == 0);
  CHECK(block.back() == 6);
  for (rig::index i = 0; i < graph.rows(); ++i)
    for (auto p = graph.structure().offset(i); p < graph.structure().offset(i + 1); ++p)
      REQUIRE(block[static_cast<std::size_t>(i)] ==
              block[static_cast<std::size_t>(graph.structure().column_indices()[p])]);
  CHECK_THROWS_AS(generate::community_blocks({.n = 0}), rig::error);
}

TEST_CASE("community_of has the arguments of a benchmark graph, or says that there are none") {
  const auto& pubmed = generate::community_of("pubmed-like");
  CHECK(generate::community(pubmed.shape, pubmed.seed).nnz() ==
        generate::named("pubmed-like").nnz());
  CHECK_THROWS_WITH(generate::community_of("road-like"),
                    "generate: 'road-like' is not a benchmark graph with communities");
}

TEST_CASE("random values: in (0, 1], equal in both directions, the pattern shared") {
  const auto graph = generate::rmat(10, 8);
  const auto a = generate::random_values(graph), other = generate::random_values(graph, 2);
  CHECK(a.shared_structure() == graph.shared_structure());
  const rig::pattern& s = a.structure();
  std::set<float> seen;
  double sum = 0;
  int64 wrong = 0, equal = 0;
  for (int32 i = 0; i < a.rows(); ++i)
    for (int64 p = s.offset(i); p < s.offset(i + 1); ++p) {
      const int32 j = s.column_indices()[p];
      const auto back = std::lower_bound(s.column_indices() + s.offset(j),
                                         s.column_indices() + s.offset(j + 1), i) -
                        s.column_indices();
      if (!(a.value(p) > 0 && a.value(p) <= 1) || a.value(p) != a.value(back)) ++wrong;
      if (a.value(p) == other.value(p)) ++equal;
      seen.insert(a.value(p));
      sum += a.value(p);
    }
  CHECK(wrong == 0);
  CHECK(equal < 5);
  CHECK(static_cast<double>(seen.size()) > 0.499 * static_cast<double>(a.nnz()));
  CHECK(sum / static_cast<double>(a.nnz()) == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("the small benchmark graphs have their recorded degrees") {
  for (const generate::named_graph& known : generate::named_graphs()) {
    if (known.nnz > 20'000'000) continue;
    CAPTURE(known.name);
    const auto a = generate::named(known.name);
    check_graph(a);
    CHECK(std::abs(static_cast<double>(a.nnz() - known.nnz)) <
          0.01 * static_cast<double>(known.nnz));
    const auto degrees = generate::degree_quantiles(a.structure());
    for (std::size_t q = 0; q < degrees.size(); ++q) {
      CAPTURE(q);
      const auto expected = static_cast<double>(known.degrees[q]);
      // The extreme degrees of a random graph vary, so a difference of 4 passes even above a tenth.
      CHECK(std::abs(static_cast<double>(degrees[q]) - expected) <= std::max(4.0, 0.1 * expected));
    }
  }
}

TEST_CASE("shuffled keeps the degrees and changes the numbering") {
  const auto a = generate::named("pubmed-like"), b = generate::shuffled(a);
  const auto sorted_degrees = [](const rig::pattern& s) {
    std::vector<int64> degrees;
    for (int32 i = 0; i < s.rows(); ++i) degrees.push_back(s.offset(i + 1) - s.offset(i));
    std::sort(degrees.begin(), degrees.end());
    return degrees;
  };
  CHECK(sorted_degrees(a.structure()) == sorted_degrees(b.structure()));
  CHECK_FALSE(same(a.structure(), b.structure()));
}

TEST_CASE("from_text") {
  CHECK(same(generate::from_text("karate").structure(), generate::karate().structure()));
  CHECK(same(generate::from_text("rmat:7:3").structure(), generate::rmat(7, 3).structure()));
  CHECK(same(generate::from_text("uniform:50:2.5").structure(),
             generate::uniform(50, 2.5).structure()));
  CHECK(same(generate::from_text("grid:3:4").structure(), generate::grid(3, 4).structure()));
  CHECK(same(generate::from_text("cliques:9:4").structure(), generate::cliques(9, 4).structure()));
  CHECK(same(generate::from_text("banded:9:4").structure(), generate::banded(9, 4).structure()));
  CHECK(same(generate::from_text("pubmed-like").structure(),
             generate::named("pubmed-like").structure()));
  for (const std::string text :
       {"", "club", "rmat", "rmat:7", "rmat:7:3:1", "rmat:x:3", "rmat:7:3x",
        "rmat::", "uniform:50:", "grid:3: 4", "grid:99999999999:4", "Karate", "uniform:1e3:2",
        "cliques:8", "banded:8:2:1"})
    CHECK(message_of(rig::errc::format, text).find("'" + text + "'") != std::string::npos);
  for (const std::string text :
       {"rmat:31:1", "rmat:-1:1", "rmat:4:-2", "uniform:-5:2", "uniform:5:-2", "uniform:5:nan",
        "uniform:5:inf", "grid:-1:3", "uniform:2000000000:2000000000", "rmat:30:2000000000",
        "grid:100000:100000", "cliques:-1:4", "cliques:8:0", "banded:-1:4", "banded:8:-1",
        "cliques:2000000000:2000000000", "banded:2000000000:2000000000"})
    message_of(rig::errc::range, text);
  CHECK_THROWS_AS(generate::community({10, 0, 1, 0.5, 2.5, 10, 1}), rig::error);
  CHECK_THROWS_AS(generate::named("karate-like"), rig::error);
  CHECK_THROWS_AS(generate::community({10, 3, 1, 1.5, 2.5, 10, 1}), rig::error);
}
