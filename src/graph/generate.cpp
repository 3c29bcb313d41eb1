#include "rig/generate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "rig/kernels/cpu/threads.hpp"
#include "rig/kernels/sampling.hpp"

namespace rig::generate {
namespace {

/// Random numbers addressed by their place in a stream, so threads share no state.
class random_stream {
 public:
  random_stream(std::uint64_t seed, std::uint64_t stream)
      : key_(scrambled(scrambled(seed + golden) + stream * golden)) {}
  /// 64 random bits.
  std::uint64_t bits(std::uint64_t at) const { return scrambled(key_ + (at + 1) * golden); }
  /// Uniform in [0, 1).
  double real(std::uint64_t at) const { return static_cast<double>(bits(at) >> 11) * 0x1p-53; }
  /// Uniform in 0 … n − 1.
  index below(index n, std::uint64_t at) const {
    return static_cast<index>(real(at) * static_cast<double>(n));
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t key_;
};

struct edge {
  index u, v;
};

/// The number of threads for drawing, placing and sorting `draws` edges, or for as many powers or
/// hashes.
int threads_for(int64 draws) {
  constexpr double multiply_adds = 32;  // one draw takes about this many multiply-adds
  return on_cpu::threads_for(multiply_adds * static_cast<double>(draws));
}

/// The undirected graph of edges make(0) … make(count − 1): loops dropped, duplicates merged, both
/// directions stored. Threads scatter in any order; sorting the rows makes the result
/// deterministic.
template <class Make>
matrix<float> undirected(index n, int64 count, Make make) {
  buffer drawn = buffer::allocate(static_cast<std::size_t>(count) * sizeof(edge));
  edge* edges = drawn.data<edge>();
  // Shifted by two: after the scatter below, offsets[i] … offsets[i + 1] is row i.
  std::vector<int64> offsets(static_cast<std::size_t>(n) + 2, 0);
  int64* shifted = offsets.data() + 2;
  const int threads = threads_for(count + n);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64 e = 0; e < count; ++e) {
    const edge made = edges[e] = make(e);
    if (made.u == made.v) continue;
#pragma omp atomic
    ++shifted[made.u];
#pragma omp atomic
    ++shifted[made.v];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  buffer loose = buffer::allocate(static_cast<std::size_t>(offsets.back()) * sizeof(index));
  index* ends = loose.data<index>();
  int64* cursor = offsets.data() + 1;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64 e = 0; e < count; ++e) {
    const auto [u, v] = edges[e];
    if (u == v) continue;
    int64 at = 0;
#pragma omp atomic capture
    at = cursor[u]++;
    ends[at] = v;
#pragma omp atomic capture
    at = cursor[v]++;
    ends[at] = u;
  }
  drawn = buffer();

  std::vector<int64> kept(static_cast<std::size_t>(n) + 1, 0);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
  for (index i = 0; i < n; ++i) {
    index* begin = ends + offsets[static_cast<std::size_t>(i)];
    index* end = ends + offsets[static_cast<std::size_t>(i) + 1];
    std::sort(begin, end);
    kept[static_cast<std::size_t>(i) + 1] = std::unique(begin, end) - begin;
  }
  std::partial_sum(kept.begin(), kept.end(), kept.begin());

  buffer columns = buffer::allocate(static_cast<std::size_t>(kept.back()) * sizeof(index));
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
  for (index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    std::copy_n(ends + offsets[row], kept[row + 1] - kept[row], columns.data<index>() + kept[row]);
  }
  bool offsets_64 = false;
  buffer packed = pack_offsets(kept, offsets_64);
  return matrix<float>(std::make_shared<const pattern>(n, n, kept.back(), std::move(packed),
                                                       offsets_64, std::move(columns)));
}

/// Rounds a number of edges, and refuses more than 2^48.
int64 edge_count(double edges) {
  if (edges > 0x1p48)
    fail(errc::range,
         {"generate: ", edges, " edges exceed the limit of 2^48; make the graph smaller"});
  return std::llround(edges);
}

/// Draws an index with probability proportional to its weight, among all or within a range.
class by_weight {
 public:
  explicit by_weight(const std::vector<double>& weights)
      : sums_(weights.size() + 1, 0), first_(weights.size() + 1) {
    std::partial_sum(weights.begin(), weights.end(), sums_.begin() + 1);
    scale_ = static_cast<double>(weights.size()) / sums_.back();
    // The search for a number of bucket b starts at first_[b]; about one step remains.
    std::size_t i = 0;
    for (std::size_t b = 0; b < first_.size(); ++b) {
      while (i + 2 < sums_.size() && bucket(sums_[i + 1]) < b) ++i;
      first_[b] = static_cast<index>(i);
    }
  }
  /// Chooses an index in begin … end − 1 by x, which is uniform in [0, 1).
  index operator()(double x, index begin, index end) const {
    const double low = sums_[static_cast<std::size_t>(begin)];
    const double sum = low + x * (sums_[static_cast<std::size_t>(end)] - low);
    index i = first_[bucket(sum)];
    while (i + 1 < end && sums_[static_cast<std::size_t>(i) + 1] <= sum) ++i;
    return std::max(i, begin);
  }

 private:
  std::size_t bucket(double sum) const {
    return std::min(static_cast<std::size_t>(sum * scale_), first_.size() - 1);
  }
  std::vector<double> sums_;
  std::vector<index> first_;
  double scale_ = 0;
};

/// Throws error(range) unless a shape makes sense.
void check(const community_shape& shape) {
  const index n = shape.n;
  if (n < 1 || !(shape.mean > 0 && shape.mean < 0x1p31) || shape.blocks < 1 ||
      !(shape.mixing >= 0 && shape.mixing <= 1) || !(shape.gamma > 2) || !(shape.max_degree > 0) ||
      !(shape.oversample >= 0 && shape.oversample < 0x1p10)) {
    constexpr const char* bounds =
        "; n and blocks must be at least 1, mean and max_degree above 0, mixing 0 to 1, gamma "
        "above 2, oversample at least 0 and below 1024";
    fail(errc::range,
         {"generate: community of n ", n, ", mean ", shape.mean, ", blocks ", shape.blocks,
          ", mixing ", shape.mixing, ", gamma ", shape.gamma, ", max_degree ", shape.max_degree,
          ", oversample ", shape.oversample, bounds});
  }
}

/// Where the blocks of a community graph begin, and the end of the last one.
std::vector<index> block_bounds(const community_shape& shape, std::uint64_t seed) {
  const random_stream of_blocks(seed, 1);
  std::vector<double> sizes(static_cast<std::size_t>(shape.blocks) + 1, 0);
  for (std::size_t b = 1; b < sizes.size(); ++b)
    sizes[b] = sizes[b - 1] + 0.5 + 1.5 * of_blocks.real(b);
  std::vector<index> bounds(sizes.size());
  for (std::size_t b = 1; b < sizes.size(); ++b)
    bounds[b] = static_cast<index>(std::llround(sizes[b] / sizes.back() * shape.n));
  return bounds;
}

/// Parses `part` as a number; an error message shows `whole`.
template <class Number>
Number parse(std::string_view part, std::string_view whole) {
  Number number{};
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (code != std::errc() || end != part.data() + part.size())
    fail(errc::format, {"generate: '", part, "' in '", whole, "' is not a number in range"});
  return number;
}

/// The benchmark graphs that are community graphs: name; n, mean, blocks, mixing, gamma,
/// max_degree, oversample; seed.
constexpr auto communities = std::to_array<named_community>({
    {"reddit-like", {232'965, 492, 41, 0.25, 2.3, 21'657, 1.315}, 2},
    {"reddit-like-eighth", {29'121, 492, 5, 0.25, 2.3, 21'657, 1.315}, 2},
    {"proteins-like", {132'534, 597, 48, 0.25, 2.5, 7'750, 1.26}, 1},
    {"products-like", {2'449'029, 50.5, 5'000, 0.30, 2.4, 17'481, 1.308}, 1},
    {"arxiv-like", {169'343, 13.7, 400, 0.35, 2.3, 13'155, 1.22}, 11},
    {"pubmed-like", {19'717, 4.5, 300, 0.20, 2.7, 171, 1.145}, 16},
});

matrix<float> community_named(std::string_view name) {
  const named_community& found = community_of(name);
  return community(found.shape, found.seed);
}

constexpr auto table = std::to_array<named_graph>({
    {"reddit-like",
     114'600'000,
     {125, 280, 869, 3'834, 12'960},
     [] { return community_named("reddit-like"); }},
    {"reddit-like-eighth",
     13'500'000,
     {130, 271, 825, 3'579, 9'840},
     [] { return community_named("reddit-like-eighth"); }},
    {"proteins-like",
     77'800'000,
     {204, 403, 1'033, 3'436, 5'431},
     [] { return community_named("proteins-like"); }},
    {"products-like",
     123'600'000,
     {2, 30, 86, 352, 7'649},
     [] { return community_named("products-like"); }},
    {"arxiv-like", 2'320'000, {0, 7, 23, 116, 5'023}, [] { return community_named("arxiv-like"); }},
    {"arxiv-like-shuffled",
     2'320'000,
     {0, 7, 23, 116, 5'023},
     [] { return shuffled(named("arxiv-like")); }},
    {"pubmed-like", 88'700, {0, 3, 8, 25, 93}, [] { return community_named("pubmed-like"); }},
    {"rmat:18:16", 7'610'000, {0, 2, 54, 557, 25'228}, [] { return rmat(18, 16); }},
    {"uniform:262144:32", 8'390'000, {6, 32, 39, 46, 63}, [] { return uniform(262'144, 32); }},
    {"road-like", 6'610'000, {0, 3, 4, 4, 4}, [] { return grid(1'400, 1'400, 1.0 / 16, 1.0 / 4); }},
});

std::vector<std::string_view> between_colons(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text;;) {
    const std::size_t colon = rest.find(':');
    parts.push_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    rest.remove_prefix(colon + 1);
  }
}

/// The generators of from_text that take two integers.
struct two_integers {
  std::string_view name;
  matrix<float> (*make)(checked_index, checked_index);
};
constexpr auto of_two_integers = std::to_array<two_integers>({
    {"rmat",
     [](checked_index scale, checked_index edge_factor) { return rmat(scale, edge_factor); }},
    {"grid", [](checked_index rows, checked_index columns) { return grid(rows, columns); }},
    {"cliques", cliques},
    {"banded", banded},
});

}  // namespace

matrix<float> karate() {
  static constexpr auto friends = std::to_array<edge>({
      {1, 0},   {2, 0},   {3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},   {8, 0},   {10, 0},
      {11, 0},  {12, 0},  {13, 0},  {17, 0},  {19, 0},  {21, 0},  {31, 0},  {2, 1},   {3, 1},
      {7, 1},   {13, 1},  {17, 1},  {19, 1},  {21, 1},  {30, 1},  {3, 2},   {7, 2},   {8, 2},
      {9, 2},   {13, 2},  {27, 2},  {28, 2},  {32, 2},  {7, 3},   {12, 3},  {13, 3},  {6, 4},
      {10, 4},  {6, 5},   {10, 5},  {16, 5},  {16, 6},  {30, 8},  {32, 8},  {33, 8},  {33, 9},
      {33, 13}, {32, 14}, {33, 14}, {32, 15}, {33, 15}, {32, 18}, {33, 18}, {33, 19}, {32, 20},
      {33, 20}, {32, 22}, {33, 22}, {25, 23}, {27, 23}, {29, 23}, {32, 23}, {33, 23}, {25, 24},
      {27, 24}, {31, 24}, {31, 25}, {29, 26}, {33, 26}, {33, 27}, {31, 28}, {33, 28}, {32, 29},
      {33, 29}, {32, 30}, {33, 30}, {32, 31}, {33, 31}, {33, 32},
  });
  return or_out_of_memory("generate: karate", [&] {
    return undirected(34, static_cast<int64>(friends.size()),
                      [&](int64 e) { return friends[static_cast<std::size_t>(e)]; });
  });
}

matrix<float> rmat(checked_index given_scale, checked_index given_factor, std::uint64_t seed) {
  const index scale = given_scale.as("rmat", "scale"),
              edge_factor = given_factor.as("rmat", "edge_factor");
  if (scale < 0 || scale > 30 || edge_factor < 0)
    fail(errc::range, {"generate: rmat of scale ", scale, " and edge factor ", edge_factor,
                       "; the scale must be 0 to 30, and the edge factor at least 0"});
  const index n = index{1} << scale;
  const random_stream random(seed, 0);
  // Each level takes 32 bits, half a draw; these are the quadrants' bounds in units of 2^-32.
  constexpr auto a = static_cast<std::uint32_t>(0.57 * 0x1p32);
  constexpr auto ab = static_cast<std::uint32_t>(0.76 * 0x1p32);
  constexpr auto abc = static_cast<std::uint32_t>(0.95 * 0x1p32);
  return or_out_of_memory("generate: rmat", [&] {
    return undirected(n, edge_count(1.0 * n * edge_factor), [&](int64 e) {
      edge made{0, 0};
      std::uint64_t bits = 0;
      for (int level = 0; level < scale; ++level) {
        bits = level % 2 == 0 ? random.bits(static_cast<std::uint64_t>(e) * 16 +
                                            static_cast<std::uint64_t>(level) / 2)
                              : bits >> 32;
        const auto draw = static_cast<std::uint32_t>(bits);
        made.u = 2 * made.u + (draw >= ab ? 1 : 0);
        made.v = 2 * made.v + ((draw >= a && draw < ab) || draw >= abc ? 1 : 0);
      }
      return made;
    });
  });
}

matrix<float> uniform(checked_index nodes, double degree, std::uint64_t seed) {
  const index n = nodes.as("uniform", "n");
  if (n < 0 || !(degree >= 0 && degree < 0x1p31))
    fail(errc::range, {"generate: uniform of ", n, " nodes and mean degree ", degree,
                       "; the nodes must be at least 0, and the degree at least 0 and below 2^31"});
  const random_stream random(seed, 0);
  return or_out_of_memory("generate: uniform", [&] {
    return undirected(n, edge_count(n * degree / 2), [&](int64 e) {
      const auto at = static_cast<std::uint64_t>(e) * 2;
      return edge{random.below(n, at), random.below(n, at + 1)};
    });
  });
}

matrix<float> grid(checked_index height, checked_index width, double missing_horizontal,
                   double missing_vertical, std::uint64_t seed) {
  const index rows = height.as("grid", "rows"), columns = width.as("grid", "columns");
  if (rows < 0 || columns < 0 || int64{rows} * columns > highest<index>())
    fail(errc::range,
         {"generate: grid of ", rows, "x", columns,
          " nodes; the sizes must be at least 0, and the nodes at most ", highest<index>()});
  for (const double share : {missing_horizontal, missing_vertical})
    if (!(share >= 0 && share <= 1))
      fail(errc::range, {"generate: grid with a share of ", share,
                         " missing edges; shares are between 0 and 1"});
  const auto n = static_cast<index>(rows * columns);
  const random_stream random(seed, 0);
  return or_out_of_memory("generate: grid", [&] {
    // Each node owns the edges to its right and below it; a missing edge becomes a loop, which is
    // dropped.
    return undirected(n, int64{n} * 2, [&](int64 e) {
      const auto u = static_cast<index>(e / 2);
      const bool down = e % 2 != 0;
      const bool last = down ? u / columns + 1 == rows : u % columns + 1 == columns;
      const double missing = down ? missing_vertical : missing_horizontal;
      if (last || random.real(static_cast<std::uint64_t>(e)) < missing) return edge{u, u};
      return edge{u, u + (down ? index(columns) : 1)};
    });
  });
}

matrix<float> cliques(checked_index nodes, checked_index each) {
  const index n = nodes.as("cliques", "n"), size = each.as("cliques", "size");
  if (n < 0 || size < 1)
    fail(errc::range, {"generate: cliques of ", n, " nodes in groups of ", size,
                       "; the nodes must be at least 0, and the group at least 1"});
  return or_out_of_memory("generate: cliques", [&] {
    // Each node owns the edges to the later nodes of its group; an edge past the group becomes a
    // loop, which is dropped.
    const int64 later = std::min<index>(size, std::max<index>(n, 1)) - 1;
    return undirected(n, edge_count(1.0 * n * static_cast<double>(later)), [=](int64 e) {
      const int64 u = e / later, v = u + 1 + e % later;
      const bool past = v >= n || v / size != u / size;
      return edge{static_cast<index>(u), static_cast<index>(past ? u : v)};
    });
  });
}

matrix<float> banded(checked_index nodes, checked_index half_width) {
  const index n = nodes.as("banded", "n"), half = half_width.as("banded", "half");
  if (n < 0 || half < 0)
    fail(errc::range,
         {"generate: banded of ", n, " nodes and half-width ", half, "; both must be at least 0"});
  return or_out_of_memory("generate: banded", [&] {
    const int64 later = std::min<index>(half, n);
    return undirected(n, edge_count(1.0 * n * static_cast<double>(later)), [=](int64 e) {
      const int64 u = e / later, v = u + 1 + e % later;
      return edge{static_cast<index>(u), static_cast<index>(v < n ? v : u)};
    });
  });
}

std::vector<index> community_blocks(const community_shape& shape, std::uint64_t seed) {
  check(shape);
  return or_out_of_memory("generate: community_blocks", [&] {
    const std::vector<index> bounds = block_bounds(shape, seed);
    std::vector<index> block_of(static_cast<std::size_t>(shape.n));
    for (std::size_t b = 1; b < bounds.size(); ++b)
      std::fill(block_of.begin() + bounds[b - 1], block_of.begin() + bounds[b],
                static_cast<index>(b) - 1);
    return block_of;
  });
}

const named_community& community_of(std::string_view name) {
  for (const named_community& found : communities)
    if (found.name == name) return found;
  fail(errc::format, {"generate: '", name, "' is not a benchmark graph with communities"});
}

matrix<float> community(const community_shape& shape, std::uint64_t seed) {
  const index n = shape.n;
  check(shape);
  return or_out_of_memory("generate: community", [&] {
    const random_stream of_nodes(seed, 0), of_edges(seed, 2);

    std::vector<double> weights(static_cast<std::size_t>(n));
    const int threads = threads_for(n);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index i = 0; i < n; ++i)
      weights[static_cast<std::size_t>(i)] =
          std::pow(1 - of_nodes.real(static_cast<std::uint64_t>(i)), -1 / (shape.gamma - 1));
    // One thread adds, so the rounding of the sum does not depend on the number of threads.
    const double to_degree = n * shape.mean / std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight = std::min(weight * to_degree, shape.max_degree);
    const by_weight draw(weights);

    const std::vector<index> bounds = block_bounds(shape, seed),
                             block_of = community_blocks(shape, seed);

    return undirected(n, edge_count(n * shape.mean * shape.oversample / 2), [&](int64 e) {
      const auto at = static_cast<std::uint64_t>(e) * 3;
      const index u = draw(of_edges.real(at), 0, n);
      const auto block = static_cast<std::size_t>(block_of[static_cast<std::size_t>(u)]);
      const bool anywhere = of_edges.real(at + 1) < shape.mixing;
      const double x = of_edges.real(at + 2);
      return edge{u, anywhere ? draw(x, 0, n) : draw(x, bounds[block], bounds[block + 1])};
    });
  });
}

matrix<float> shuffled(const matrix<float>& a, std::uint64_t seed) {
  if (a.rows() != a.columns())
    fail(errc::shape, {"generate: shuffled: A is ", a.rows(), "x", a.columns(), ", not square"});
  return or_out_of_memory("generate: shuffled", [&] {
    const index n = a.rows();
    const random_stream random(seed, 0);
    std::vector<index> renamed(static_cast<std::size_t>(n));
    std::iota(renamed.begin(), renamed.end(), 0);
    for (index i = n; i > 1; --i)
      std::swap(renamed[static_cast<std::size_t>(i) - 1],
                renamed[static_cast<std::size_t>(random.below(i, static_cast<std::uint64_t>(i)))]);
    // Every entry becomes an edge. Each edge appears in both directions; `undirected` merges the
    // duplicates.
    const pattern& structure = a.structure();
    std::vector<index> row_of(static_cast<std::size_t>(a.nnz()));
    for (index i = 0; i < n; ++i)
      std::fill(row_of.begin() + structure.offset(i), row_of.begin() + structure.offset(i + 1), i);
    return undirected(n, a.nnz(), [&](int64 p) {
      const index i = row_of[static_cast<std::size_t>(p)], j = structure.column_indices()[p];
      return edge{renamed[static_cast<std::size_t>(i)], renamed[static_cast<std::size_t>(j)]};
    });
  });
}

matrix<float> random_values(const matrix<float>& a, std::uint64_t seed) {
  const pattern& structure = a.structure();
  const random_stream random(seed, 0);
  const buffer values = buffer::allocate(static_cast<std::size_t>(a.nnz()) * sizeof(float));
  float* out = values.data<float>();
  const int threads = threads_for(a.nnz() + a.rows());
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads)
  for (index i = 0; i < a.rows(); ++i) {
    for (int64 p = structure.offset(i); p < structure.offset(i + 1); ++p) {
      const index j = structure.column_indices()[p];
      const auto pair = static_cast<std::uint64_t>(std::min(i, j)) << 32 |
                        static_cast<std::uint64_t>(std::max(i, j));
      out[p] = static_cast<float>((random.bits(pair) >> 40) + 1) * 0x1p-24f;
    }
  }
  return matrix<float>(a.shared_structure(), values);
}

std::span<const named_graph> named_graphs() { return table; }

matrix<float> named(std::string_view name) {
  return or_out_of_memory("generate", [&]() -> matrix<float> {
    std::string known;
    for (const named_graph& graph : table) {
      if (graph.name == name) return graph.make();
      known += known.empty() ? "" : ", ";
      known += graph.name;
    }
    fail(errc::format, {"generate: no graph is named '", name, "'; there are ", known});
  });
}

matrix<float> from_text(std::string_view text) {
  return or_out_of_memory("generate", [&]() -> matrix<float> {
    for (const named_graph& graph : table)
      if (graph.name == text) return graph.make();
    if (text == "karate") return karate();

    const std::vector<std::string_view> parts = between_colons(text);
    if (parts.size() == 3) {
      if (parts[0] == "uniform")
        return uniform(parse<index>(parts[1], text), parse<double>(parts[2], text));
      for (const auto& [name, make] : of_two_integers)
        if (parts[0] == name)
          return make(parse<index>(parts[1], text), parse<index>(parts[2], text));
    }
    std::string known;
    for (const named_graph& graph : table) known += std::string(", ") + graph.name;
    fail(errc::format, {"generate: '", text, "' is none of karate, rmat:SCALE:EDGEFACTOR, ",
                        "uniform:N:DEGREE, grid:ROWS:COLS, cliques:N:SIZE, banded:N:HALF", known});
  });
}

std::array<int64, 5> degree_quantiles(const pattern& structure) {
  return or_out_of_memory("degree_quantiles", [&]() -> std::array<int64, 5> {
    std::vector<int64> lengths(static_cast<std::size_t>(structure.rows()));
    for (index i = 0; i < structure.rows(); ++i)
      lengths[static_cast<std::size_t>(i)] = structure.offset(i + 1) - structure.offset(i);
    if (lengths.empty()) return {};
    std::sort(lengths.begin(), lengths.end());
    const std::size_t n = lengths.size();
    return {lengths[0], lengths[n / 2], lengths[n * 9 / 10], lengths[n * 99 / 100], lengths[n - 1]};
  });
}

}  // namespace rig::generate
