// Shortest paths against known answers and a plain loop of Bellman and Ford.

#include "rig/algorithms/sssp.hpp"

#include <cmath>

#include "algorithms/known_graphs.hpp"
#include "rig/user_semiring.hpp"

namespace {

using known::json;

RIG_OPERATOR(
    synthetic,
    static constexpr rig::int64 apply(bool, rig::index i, rig::index j, rig::int64 most) {
      const rig::int64 low = i < j ? i : j, high = i < j ? j : i;
      return 1 + (31 * low + 17 * high) % most;
    });

template <class T>
void check_counts(const rig::matrix<T>& a, int source, const json& expected, double tolerance) {
  const auto found = rig::sssp(a, source);
  double sum = 0, most = 0;
  for (const auto distance : found.distances) {
    if (distance == rig::highest<T>()) continue;
    sum += static_cast<double>(distance);
    most = std::max(most, static_cast<double>(distance));
  }
  CHECK(found.reached == expected["reached"]);
  for (const auto& [node, distance] : expected["at"].items()) {
    const T got = found.distances(std::stoi(node), 0);
    CHECK((got == rig::highest<T>()) == distance.is_null());
    if (!distance.is_null()) {
      const double wanted = distance;
      CHECK(std::abs(static_cast<double>(got) - wanted) <= tolerance * wanted);
    }
  }
  CHECK(std::abs(most - expected["max"].get<double>()) <= tolerance * most);
  CHECK(std::abs(sum - expected["sum"].get<double>()) <= tolerance * sum);
}

/// Distances by relaxing every arc until nothing changes.
template <class T>
std::vector<T> relaxed(const rig::matrix<T>& a, int source) {
  std::vector<T> distance(static_cast<std::size_t>(a.rows()), rig::highest<T>());
  distance[static_cast<std::size_t>(source)] = 0;
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < distance.size(); ++i)
      for (auto p = a.structure().offset(static_cast<int>(i));
           p < a.structure().offset(static_cast<int>(i) + 1); ++p) {
        auto& to = distance[static_cast<std::size_t>(a.structure().column_indices()[p])];
        if (distance[i] == rig::highest<T>() || distance[i] + a.value(p) >= to) continue;
        to = distance[i] + a.value(p);
        changes = true;
      }
  }
  return distance;
}

template <class T>
void check_relaxed(const rig::matrix<T>& a) {
  for (int source = 0; source < a.rows(); source += 1 + a.rows() / 3) {
    const auto expected = relaxed(a, source);
    for (const double delta : {0.0, 0.5, 3.0, 1e30})
      for (const char* kernel : {"", "closure"}) {
        CAPTURE(delta);
        rig::int64 nearer = 0;
        int steps = 0;
        rig::sssp_options my{.delta = delta, .progress = [&](int step, rig::int64 nodes) {
                               CHECK(step == ++steps);
                               nearer += nodes;
                             }};
        const auto found = rig::sssp(a, source, my, {.kernel = kernel});
        CHECK(std::equal(expected.begin(), expected.end(), found.distances.begin()));
        const auto away = std::count(expected.begin(), expected.end(), rig::highest<T>());
        CHECK(found.reached == a.rows() - away);
        CHECK(found.steps == steps);
        CHECK(nearer + 1 >= found.reached);
      }
  }
}

}  // namespace

TEST_CASE("distances in the data sets, by synthetic weights") {
  for (const auto& graph : known::with("sssp_syn")) {
    CAPTURE(graph.name);
    const auto a = rig::apply(graph.load(), synthetic(), rig::int64(64));
    check_counts(a, 0, graph.expected["sssp_syn"], 0);
    check_counts(a, graph.expected["hub"], graph.expected["sssp_syn_hub"], 0);
  }
}

TEST_CASE("distances in the data sets, by the weights of the file") {
  for (const auto& graph : known::with("sssp")) {
    CAPTURE(graph.name);
    check_counts(graph.load<double>(), 0, graph.expected["sssp"], 1e-12);
  }
}

TEST_CASE("distances in LDBC's graphs") {
  for (const auto& graph : known::ldbc("SSSP")) {
    CAPTURE(graph.name);
    const auto found = rig::sssp(graph.a, known::ldbc_source(graph));
    CHECK(graph.a.rows() > 5);
    for (int i = 0; i < graph.a.rows(); ++i) {
      const double got = found.distances(i, 0);
      if (graph.answer(i)[0] == 'I' || graph.answer(i)[0] == 'i')
        CHECK(got == rig::highest<double>());
      else
        CHECK(std::abs(got - std::stod(graph.answer(i))) <= 1e-12 * got);
    }
  }
}

TEST_CASE("distances in random graphs are those of a plain loop") {
  random_bits bits(test_seed() + 1);
  known::each_random([&](const rig::matrix<bool>& a, bool) {
    std::vector<rig::int64> whole(static_cast<std::size_t>(a.nnz()));
    for (auto& weight : whole) weight = bits.below(9);
    check_relaxed(a.with_values(whole));
    std::vector<double> real(whole.size());
    for (auto& weight : real) weight = bits.below(64) / 8.0;  // sums are exact
    check_relaxed(a.with_values(real));
    check_relaxed(a.with_value(rig::int64(1)));
  });
}

TEST_CASE("weights of other types are converted") {
  const std::vector<int> from{0, 1, 0}, to{1, 2, 2};
  const auto whole =
      rig::sssp(rig::matrix<int>::from_tuples(3, 3, from, to, std::vector{3, 4, 9}), 0);
  static_assert(std::is_same_v<decltype(whole), const rig::sssp_result<rig::int64>>);
  CHECK(whole.distances(2, 0) == 7);
  const auto real =
      rig::sssp(rig::matrix<float>::from_tuples(3, 3, from, to, std::vector{3.5f, 4.0f, 9.0f}), 0);
  CHECK(real.distances(2, 0) == 7.5);
  CHECK(rig::sssp(rig::matrix<bool>::from_positions(3, 3, from, to), 0).distances(2, 0) == 1);
}

TEST_CASE("zero, infinite and very large weights") {
  const std::vector<int> from{0, 1, 2, 0}, to{1, 2, 0, 3};
  const auto loop = rig::sssp(rig::matrix<double>::from_positions(4, 4, from, to, 0.0), 0);
  CHECK(loop.reached == 4);
  CHECK(loop.distances(2, 0) == 0);
  const double infinity = rig::highest<double>();
  const auto cut = rig::sssp(
      rig::matrix<double>::from_tuples(4, 4, from, to, std::vector{1.0, infinity, 1.0, 2.0}), 0);
  CHECK(cut.reached == 3);
  CHECK(cut.distances(2, 0) == infinity);
  const auto far = rig::highest<rig::int64>() - 1;
  const auto clamped = rig::sssp(
      rig::matrix<rig::int64>::from_tuples(4, 4, from, to, std::vector<rig::int64>{far, 5, 1, 2}),
      0);
  CHECK(clamped.distances(1, 0) == far);
  CHECK(clamped.distances(2, 0) == rig::highest<rig::int64>());
  CHECK(clamped.reached == 3);
}

namespace {

/// How often a search brings a node nearer.
template <class T>
rig::int64 times_nearer(const rig::matrix<T>& a) {
  rig::int64 sum = 0;
  rig::sssp_options my;
  my.progress = [&](int, rig::int64 nodes) { sum += nodes; };
  rig::sssp(a, 0, my);
  return sum;
}

/// Weights 1 … 1000 on random arcs among 3000 nodes, and some great ones.
template <class T>
rig::matrix<T> with_great_weights(const std::vector<T>& great) {
  random_bits bits(test_seed() + 4);
  std::vector<int> from, to;
  std::vector<T> weights;
  for (std::size_t k = 0; k < 24000 + great.size(); ++k) {
    from.push_back(bits.below(3000));
    to.push_back(bits.below(3000));
    weights.push_back(k < 24000 ? T(1 + bits.below(1000)) : great[k - 24000]);
  }
  return rig::matrix<T>::from_tuples(3000, 3000, from, to, weights,
                                     [](T x, T y) { return std::min(x, y); });
}

}  // namespace

TEST_CASE("a few great weights make no more work") {
  const auto usual = times_nearer(with_great_weights<double>({}));
  for (const double great : {rig::highest<double>(), 1e300, 1e9})
    CHECK(times_nearer(with_great_weights<double>({great, great})) < 1.1 * double(usual));
  for (const rig::int64 great : {rig::highest<rig::int64>(), rig::highest<rig::int64>() / 2})
    CHECK(times_nearer(with_great_weights<rig::int64>({great, great, great})) <
          1.1 * double(usual));
}

TEST_CASE("most weights are zero or infinite") {
  const std::vector<int> from{0, 1, 2, 3, 4}, to{1, 2, 3, 4, 5};
  const double infinity = rig::highest<double>();
  const auto distance = [&](const std::vector<double>& weights) {
    return rig::sssp(rig::matrix<double>::from_tuples(6, 6, from, to, weights), 0).distances(4, 0);
  };
  CHECK(distance({0, 0, 0, 7, infinity}) == 7);
  CHECK(distance({0, 0, 0, 0, infinity}) == 0);
  CHECK(distance({infinity, infinity, infinity, infinity, infinity}) == infinity);
}

TEST_CASE("wrong input") {
  using rig::errc;
  const rig::matrix<double> wide(2, 3), five(5, 5);
  known::check_error(errc::shape, "sssp: A is 2x3", [&] { rig::sssp(wide, 0); });
  known::check_error(errc::range, "sssp: source is 5", [&] { rig::sssp(five, 5); });
  known::check_error(errc::range, "sssp: delta is -1", [&] { rig::sssp(five, 0, {.delta = -1}); });
  const std::vector<int> from{0, 1}, to{1, 0};
  known::check_error(errc::range, "the least weight is -2", [&] {
    rig::sssp(rig::matrix<int>::from_tuples(2, 2, from, to, std::vector{3, -2}), 0);
  });
  known::check_error(errc::range, "the least weight is nan", [&] {
    rig::sssp(rig::matrix<double>::from_tuples(2, 2, from, to, std::vector{3.0, std::nan("")}), 0);
  });
}

TEST_CASE("a delta that vanishes beside a distance") {
  const std::vector<int> from{0, 1}, to{1, 2};
  const auto path = rig::matrix<double>::from_tuples(3, 3, from, to, std::vector<double>{1, 2});
  CHECK(rig::sssp(path, 0, {.delta = 1e-300}).distances(2, 0) == 3);
}
