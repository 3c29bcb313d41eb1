#include <nanobind/stl/string.h>

#include <functional>

#include "features.hpp"

// Graph algorithms. Results are tuples, which Python names.

namespace rigblas {
namespace {

/// The graph of a call, and what all algorithms take.
struct graph {
  const matrix a;
  rig::descriptor desc;
  nb::object progress;
  graph(nb::handle object, const char* call, const char* kernel, rig::int64 threads,
        nb::handle stream, nb::handle given_progress)
      : a(read_matrix(object, call, "A")), progress(nb::borrow(given_progress)) {
    desc.kernel = kernel;
    desc.threads = threads;
    desc.stream = stream_from(stream);
  }
  /// Values are not read.
  rig::matrix<bool> pattern() const { return rig::matrix<bool>(a.structure, true); }
  /// A function of rig that calls the program's, or none.
  template <class... Arguments>
  std::function<void(Arguments...)> reports() const {
    if (progress.is_none()) return {};
    return [call = progress.ptr()](Arguments... values) {
      const nb::gil_scoped_acquire gil;
      const nb::handle function(call);
      function(values...);
    };
  }
};

#define RIGBLAS_GRAPH_PARAMETERS \
  const char *kernel, rig::int64 threads, nb::handle stream, nb::handle progress
#define RIGBLAS_GRAPH_OPTIONS                                                     \
  nb::arg("kernel") = "", nb::arg("threads") = 0, nb::arg("stream") = nb::none(), \
  nb::arg("progress") = nb::none()

/// Runs an algorithm without the interpreter's lock.
template <class Work>
auto unlocked(Work work) {
  const nb::gil_scoped_release release;
  return work();
}

/// A column of rig as an array: of NumPy on the CPU.
template <class T>
nb::object column(rig::dense<T> from, bool is_column = true) {
  const auto rows = static_cast<std::size_t>(from.rows()),
             columns = static_cast<std::size_t>(from.columns());
  if (from.where() != rig::cpu()) from = from.to(rig::cpu());
  auto* const kept = new rig::dense<T>(std::move(from));
  nb::capsule owner(kept, [](void* of) noexcept { delete static_cast<rig::dense<T>*>(of); });
  return numpy_array(kept->data(), rows, columns, rig::type_of<T>, is_column, std::move(owner));
}

/// The numbers of an array as doubles.
rig::dense<double> doubles_of(const array& x, const rig::descriptor& desc) {
  return with_type(x.full.value_type, [&]<class T>(T) {
    return rig::apply<double>(dense_of<T>(x), rig::unary::identity,
                              {.threads = desc.threads, .stream = desc.stream});
  });
}

nb::object bfs(nb::handle a, rig::int64 source, flag parents, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "bfs", kernel, threads, stream, progress);
  rig::bfs_options options;
  options.parents = parents;
  options.progress = g.reports<int, rig::int64>();
  auto found = unlocked([&] { return rig::bfs(g.pattern(), source, options, g.desc); });
  return nb::make_tuple(column(std::move(found.levels)),
                        parents ? column(std::move(found.parents)) : nb::none(), found.reached,
                        found.max_level);
}

nb::object multi_source(nb::handle a, nb::handle sources, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "multi_source", kernel, threads, stream, progress);
  const index_array from = read_indices(sources, "multi_source", "sources");
  rig::bfs_options options;
  options.progress = g.reports<int, rig::int64>();
  auto found =
      unlocked([&] { return rig::multi_source(g.pattern(), from.view(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.levels), false), found.reached, found.max_level);
}

nb::object pagerank(nb::handle a, double damping, double tolerance, rig::int64 most_iterations,
                    nb::handle personalised, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "pagerank", kernel, threads, stream, progress);
  rig::pagerank_options options;
  options.damping = damping;
  options.tolerance = tolerance;
  options.most_iterations = most_iterations;
  options.progress = g.reports<int, double>();
  array jumps;  // its memory is read until the call ends
  if (!personalised.is_none()) {
    jumps = read_array(personalised, "pagerank", "personalised");
    options.personalised = doubles_of(jumps, g.desc);
  }
  auto found = unlocked([&] { return rig::pagerank(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.ranks)), found.iterations, found.change);
}

nb::object hits(nb::handle a, double tolerance, rig::int64 most_iterations,
                RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "hits", kernel, threads, stream, progress);
  rig::hits_options options;
  options.tolerance = tolerance;
  options.most_iterations = most_iterations;
  options.progress = g.reports<int, double>();
  auto found = unlocked([&] { return rig::hits(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.hubs)), column(std::move(found.authorities)),
                        found.iterations, found.change);
}

nb::object components(nb::handle a, flag symmetric, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "components", kernel, threads, stream, progress);
  rig::components_options options;
  options.symmetric = symmetric;
  options.progress = g.reports<int>();
  auto found = unlocked([&] { return rig::components(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.labels)), found.count, found.iterations);
}

nb::object scc(nb::handle a, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "scc", kernel, threads, stream, progress);
  rig::scc_options options;
  options.progress = g.reports<int, rig::int64>();
  auto found = unlocked([&] { return rig::scc(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.labels)), found.count, found.rounds);
}

nb::object sssp(nb::handle a, rig::int64 source, double delta, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "sssp", kernel, threads, stream, progress);
  rig::sssp_options options;
  options.delta = delta;
  options.progress = g.reports<int, rig::int64>();
  return with_type(g.a.stored, [&]<class T>(T) -> nb::object {
    auto found = unlocked([&] { return rig::sssp(typed<T>(g.a), source, options, g.desc); });
    return nb::make_tuple(column(std::move(found.distances)), found.reached, found.steps);
  });
}

rig::int64 triangles(nb::handle a, flag symmetric, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "triangles", kernel, threads, stream, progress);
  rig::triangles_options options;
  options.symmetric = symmetric;
  options.progress = g.reports<int, rig::int64>();
  return unlocked([&] { return rig::triangles(g.pattern(), options, g.desc); });
}

nb::object local_clustering(nb::handle a, flag directed, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "local_clustering", kernel, threads, stream, progress);
  rig::local_clustering_options options;
  options.directed = directed;
  options.progress = g.reports<int, rig::int64>();
  return column(unlocked([&] { return rig::local_clustering(g.pattern(), options, g.desc); }));
}

nb::object kcore(nb::handle a, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "kcore", kernel, threads, stream, progress);
  rig::kcore_options options;
  options.progress = g.reports<int, rig::int64>();
  auto found = unlocked([&] { return rig::kcore(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.cores)), found.most);
}

nb::object ktruss(nb::handle a, rig::int64 k, flag symmetric, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "ktruss", kernel, threads, stream, progress);
  rig::ktruss_options options;
  options.symmetric = symmetric;
  options.progress = g.reports<int, rig::int64>();
  const auto found = unlocked([&] { return rig::ktruss(g.pattern(), k, options, g.desc); });
  return nb::make_tuple(matrix{erased(found.truss)}, found.rounds);
}

nb::object bipartite_matching(nb::handle a, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "bipartite_matching", kernel, threads, stream, progress);
  rig::bipartite_matching_options options;
  options.progress = g.reports<int, rig::int64>();
  auto found = unlocked([&] { return rig::bipartite_matching(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.columns)), column(std::move(found.rows)), found.size,
                        found.phases);
}

nb::object eccentricity(nb::handle a, nb::handle sources, rig::int64 batch,
                        RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "eccentricity", kernel, threads, stream, progress);
  rig::eccentricity_options options;
  options.batch = batch;
  options.progress = g.reports<rig::int64>();
  if (sources.is_none())
    return column(unlocked([&] { return rig::eccentricity(g.pattern(), options, g.desc); }));
  const index_array from = read_indices(sources, "eccentricity", "sources");
  return column(
      unlocked([&] { return rig::eccentricity(g.pattern(), from.view(), options, g.desc); }));
}

nb::object diameter_bound(nb::handle a, rig::int64 source, flag symmetric, rig::int64 most_sweeps,
                          RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "diameter_bound", kernel, threads, stream, progress);
  rig::diameter_options options;
  options.symmetric = symmetric;
  options.most_sweeps = most_sweeps;
  options.progress = g.reports<int, rig::int64>();
  const auto found =
      unlocked([&] { return rig::diameter_bound(g.pattern(), source, options, g.desc); });
  return nb::make_tuple(found.lower, found.upper, found.node, found.sweeps);
}

nb::object betweenness(nb::handle a, nb::handle sources, rig::int64 batch,
                       RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "betweenness", kernel, threads, stream, progress);
  rig::betweenness_options options;
  options.batch = batch;
  options.progress = g.reports<rig::int64>();
  if (sources.is_none())
    return column(unlocked([&] { return rig::betweenness(g.pattern(), options, g.desc); }));
  const index_array from = read_indices(sources, "betweenness", "sources");
  return column(
      unlocked([&] { return rig::betweenness(g.pattern(), from.view(), options, g.desc); }));
}

vector jaccard(nb::handle a, rig::int64 node, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "jaccard", kernel, threads, stream, progress);
  rig::jaccard_options options;
  options.progress = g.reports<int, rig::int64>();
  return {
      erased(unlocked([&] { return rig::jaccard(g.pattern(), node, options, g.desc); }).as_row())};
}

matrix jaccard_of_edges(nb::handle a, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "jaccard_of_edges", kernel, threads, stream, progress);
  rig::jaccard_options options;
  options.progress = g.reports<int, rig::int64>();
  return {erased(unlocked([&] { return rig::jaccard_of_edges(g.pattern(), options, g.desc); }))};
}

nb::object label_propagation(nb::handle a, rig::int64 iterations, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "label_propagation", kernel, threads, stream, progress);
  rig::label_propagation_options options;
  options.iterations = iterations;
  options.progress = g.reports<int, rig::int64>();
  auto found = unlocked([&] { return rig::label_propagation(g.pattern(), options, g.desc); });
  return nb::make_tuple(column(std::move(found.labels)), found.communities, found.iterations);
}

nb::object mis(nb::handle a, rig::int64 seed, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "mis", kernel, threads, stream, progress);
  rig::mis_options options;
  options.seed = seed;
  options.progress = g.reports<int, rig::int64>();
  const auto found = unlocked([&] { return rig::mis(g.pattern(), options, g.desc); });
  return nb::make_tuple(vector{erased(found.set.as_row())}, found.rounds);
}

nb::object msf(nb::handle a, RIGBLAS_GRAPH_PARAMETERS) {
  const graph g(a, "msf", kernel, threads, stream, progress);
  rig::msf_options options;
  options.progress = g.reports<int, rig::int64>();
  const matrix weights{astype(g.a, type::float64)};
  const auto found = unlocked([&] { return rig::msf(typed<double>(weights), options, g.desc); });
  return nb::make_tuple(matrix{erased(found.forest)}, found.weight, found.rounds);
}

}  // namespace

void bind_algorithms(nb::module_& m) {
  const nb::arg a("A");
  m.def("bfs", &bfs, a, nb::arg("source"), nb::arg("parents"), RIGBLAS_GRAPH_OPTIONS);
  m.def("multi_source", &multi_source, a, nb::arg("sources"), RIGBLAS_GRAPH_OPTIONS);
  m.def("pagerank", &pagerank, a, nb::arg("damping"), nb::arg("tolerance"),
        nb::arg("most_iterations"), nb::arg("personalised").none(), RIGBLAS_GRAPH_OPTIONS);
  m.def("hits", &hits, a, nb::arg("tolerance"), nb::arg("most_iterations"), RIGBLAS_GRAPH_OPTIONS);
  m.def("components", &components, a, nb::arg("symmetric"), RIGBLAS_GRAPH_OPTIONS);
  m.def("scc", &scc, a, RIGBLAS_GRAPH_OPTIONS);
  m.def("sssp", &sssp, a, nb::arg("source"), nb::arg("delta"), RIGBLAS_GRAPH_OPTIONS);
  m.def("triangles", &triangles, a, nb::arg("symmetric"), RIGBLAS_GRAPH_OPTIONS);
  m.def("local_clustering", &local_clustering, a, nb::arg("directed"), RIGBLAS_GRAPH_OPTIONS);
  m.def("kcore", &kcore, a, RIGBLAS_GRAPH_OPTIONS);
  m.def("ktruss", &ktruss, a, nb::arg("k"), nb::arg("symmetric"), RIGBLAS_GRAPH_OPTIONS);
  m.def("bipartite_matching", &bipartite_matching, a, RIGBLAS_GRAPH_OPTIONS);
  m.def("eccentricity", &eccentricity, a, nb::arg("sources").none(), nb::arg("batch"),
        RIGBLAS_GRAPH_OPTIONS);
  m.def("diameter_bound", &diameter_bound, a, nb::arg("source"), nb::arg("symmetric"),
        nb::arg("most_sweeps"), RIGBLAS_GRAPH_OPTIONS);
  m.def("betweenness", &betweenness, a, nb::arg("sources").none(), nb::arg("batch"),
        RIGBLAS_GRAPH_OPTIONS);
  m.def("jaccard", &jaccard, a, nb::arg("node"), RIGBLAS_GRAPH_OPTIONS);
  m.def("jaccard_of_edges", &jaccard_of_edges, a, RIGBLAS_GRAPH_OPTIONS);
  m.def("label_propagation", &label_propagation, a, nb::arg("iterations"), RIGBLAS_GRAPH_OPTIONS);
  m.def("mis", &mis, a, nb::arg("seed"), RIGBLAS_GRAPH_OPTIONS);
  m.def("msf", &msf, a, RIGBLAS_GRAPH_OPTIONS);
}

}  // namespace rigblas
