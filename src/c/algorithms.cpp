#include <optional>

#include "c/handles.hpp"
#ifdef RIG_HAS_ALGORITHMS
#include "rig/rig.hpp"
#endif

// Graph algorithms by name: a table of what each takes, and of the calls.

namespace rig::c {
namespace {

struct result {
  const char* name;
  rig_number number{};
  std::unique_ptr<rig_container> container = nullptr;  ///< null: it is the number
};

}  // namespace
}  // namespace rig::c

struct rig_results {
  std::vector<rig::c::result> all;

  const rig::c::result& find(const char* call, const char* name) const {
    std::string names;
    for (const auto& each : all) {
      if (std::string_view(name) == each.name) return each;
      names += std::string(names.empty() ? "" : ", ") + each.name;
    }
    rig::fail(rig::errc::range, {call, ": no result is named '", name, "'; there are ", names});
  }
};

using namespace rig::c;

namespace rig::c {
namespace {

/// The arguments of a call, and what it found.
class run_call {
 public:
  run_call(const char* algorithm, const rig_container& graph, std::span<const rig_argument> given,
           const descriptor& desc, rig_results& out)
      : desc(desc), name_(algorithm), graph_(graph), given_(given), out_(out) {}

  const descriptor& desc;

  const erased_matrix& graph() const { return graph_.sparse; }
  /// Values are not read.
  matrix<bool> pattern() const { return matrix<bool>(graph().structure, true); }

  template <class T>
  T number(const char* name, T otherwise) const {
    const rig_argument* const found = find(name);
    if (found == nullptr) return otherwise;
    if (found->container != nullptr)
      fail(errc::type, {name_, ": ", name, " is a container; give a number"});
    return number_from(name_, name, found->number).value.template checked<T>(name_, name);
  }
  int64 required(const char* name) const {
    if (find(name) == nullptr) fail(errc::range, {name_, ": the argument ", name, " is missing"});
    return number<int64>(name, 0);
  }
  /// A dense column as packed numbers in host memory; none if it is not given.
  template <class T>
  std::optional<dense<T>> column(const char* name) const {
    const rig_argument* const found = find(name);
    if (found == nullptr) return std::nullopt;
    if (found->container == nullptr || !found->container->is_dense() ||
        found->container->columns() != 1)
      fail(errc::type, {name_, ": ", name, " must be a dense column"});
    return with_type(found->container->stored(), [&]<class From>(From) {
      const dense<From> from = view_of<From>(*found->container).to(cpu());
      dense<T> to(from.rows(), 1);
      for (index i = 0; i < from.rows(); ++i) to(i, 0) = scalar(from(i, 0)).checked<T>(name_, name);
      return std::optional<dense<T>>(std::move(to));
    });
  }

  void add(const char* name, int64 number) { out_.all.push_back({name, {RIG_INTEGER, number, 0}}); }
  void add(const char* name, int number) { add(name, static_cast<int64>(number)); }
  void add(const char* name, double number) { out_.all.push_back({name, {RIG_REAL, 0, number}}); }
  template <class T>
  void add(const char* name, dense<T> found) {
    out_.all.push_back({name, {}, held(std::move(found))});
  }
  template <class T>
  void add(const char* name, matrix<T> found) {
    out_.all.push_back({name, {}, held(erased(std::move(found)), false)});
  }
  template <class T>
  void add(const char* name, const vector<T>& found) {
    out_.all.push_back({name, {}, held(erased(found.as_row()), true)});
  }

 private:
  const rig_argument* find(std::string_view name) const {
    for (const rig_argument& each : given_)
      if (name == each.name) return &each;
    return nullptr;
  }

  const char* name_;
  const rig_container& graph_;
  std::span<const rig_argument> given_;
  rig_results& out_;
};

struct algorithm {
  const char* name;
  std::initializer_list<const char*> arguments;
  void (*run)(run_call& c);
};

#ifdef RIG_HAS_ALGORITHMS

std::span<const int64> list_of(const dense<int64>& from) {
  return {from.data(), static_cast<std::size_t>(from.rows())};
}

void run_bfs(run_call& c) {
  bfs_options options;
  options.parents = c.number("parents", false);
  bfs_result found = bfs(c.pattern(), c.required("source"), options, c.desc);
  c.add("levels", std::move(found.levels));
  if (options.parents) c.add("parents", std::move(found.parents));
  c.add("reached", found.reached);
  c.add("max_level", found.max_level);
}

void run_multi_source(run_call& c) {
  const auto sources = c.column<int64>("sources");
  if (!sources) fail(errc::range, {"multi_source: the argument sources is missing"});
  auto found = multi_source(c.pattern(), list_of(*sources), {}, c.desc);
  c.add("levels", std::move(found.levels));
  c.add("reached", found.reached);
  c.add("max_level", found.max_level);
}

void run_pagerank(run_call& c) {
  pagerank_options options;
  options.damping = c.number("damping", options.damping);
  options.tolerance = c.number("tolerance", options.tolerance);
  options.most_iterations = c.number("most_iterations", options.most_iterations);
  if (auto jumps = c.column<double>("personalised"))
    options.personalised = jumps->to(c.graph().where());
  pagerank_result found = pagerank(c.pattern(), options, c.desc);
  c.add("ranks", std::move(found.ranks));
  c.add("iterations", found.iterations);
  c.add("change", found.change);
}

void run_hits(run_call& c) {
  hits_options options;
  options.tolerance = c.number("tolerance", options.tolerance);
  options.most_iterations = c.number("most_iterations", options.most_iterations);
  hits_result found = hits(c.pattern(), options, c.desc);
  c.add("hubs", std::move(found.hubs));
  c.add("authorities", std::move(found.authorities));
  c.add("iterations", found.iterations);
  c.add("change", found.change);
}

void run_components(run_call& c) {
  components_options options;
  options.symmetric = c.number("symmetric", false);
  components_result found = components(c.pattern(), options, c.desc);
  c.add("labels", std::move(found.labels));
  c.add("count", found.count);
}

void run_scc(run_call& c) {
  scc_result found = scc(c.pattern(), {}, c.desc);
  c.add("labels", std::move(found.labels));
  c.add("count", found.count);
  c.add("rounds", found.rounds);
}

void run_sssp(run_call& c) {
  sssp_options options;
  options.delta = c.number("delta", options.delta);
  const int64 source = c.required("source");
  with_type(c.graph().stored, [&]<class T>(T) {
    auto found = sssp(typed<T>(c.graph()), source, options, c.desc);
    c.add("distances", std::move(found.distances));
    c.add("reached", found.reached);
    c.add("steps", found.steps);
  });
}

void run_triangles(run_call& c) {
  triangles_options options;
  options.symmetric = c.number("symmetric", false);
  c.add("count", triangles(c.pattern(), options, c.desc));
}

void run_local_clustering(run_call& c) {
  local_clustering_options options;
  options.directed = c.number("directed", false);
  c.add("coefficients", local_clustering(c.pattern(), options, c.desc));
}

void run_kcore(run_call& c) {
  kcore_result found = kcore(c.pattern(), {}, c.desc);
  c.add("cores", std::move(found.cores));
  c.add("most", found.most);
}

void run_ktruss(run_call& c) {
  ktruss_options options;
  options.symmetric = c.number("symmetric", false);
  ktruss_result found = ktruss(c.pattern(), c.required("k"), options, c.desc);
  c.add("truss", std::move(found.truss));
  c.add("rounds", found.rounds);
}

void run_bipartite_matching(run_call& c) {
  auto found = bipartite_matching(c.pattern(), {}, c.desc);
  c.add("columns", std::move(found.columns));
  c.add("rows", std::move(found.rows));
  c.add("size", found.size);
  c.add("phases", found.phases);
}

void run_eccentricity(run_call& c) {
  eccentricity_options options;
  options.batch = c.number("batch", options.batch);
  const auto sources = c.column<int64>("sources");
  c.add("eccentricities", sources ? eccentricity(c.pattern(), list_of(*sources), options, c.desc)
                                  : eccentricity(c.pattern(), options, c.desc));
}

void run_diameter_bound(run_call& c) {
  diameter_options options;
  options.symmetric = c.number("symmetric", false);
  options.most_sweeps = c.number("most_sweeps", options.most_sweeps);
  const auto found = diameter_bound(c.pattern(), c.required("source"), options, c.desc);
  c.add("lower", found.lower);
  c.add("upper", found.upper);
  c.add("node", found.node);
  c.add("sweeps", found.sweeps);
}

void run_betweenness(run_call& c) {
  betweenness_options options;
  options.batch = c.number("batch", options.batch);
  const auto sources = c.column<int64>("sources");
  c.add("scores", sources ? betweenness(c.pattern(), list_of(*sources), options, c.desc)
                          : betweenness(c.pattern(), options, c.desc));
}

void run_jaccard(run_call& c) {
  c.add("similarities", jaccard(c.pattern(), c.required("node"), {}, c.desc));
}
void run_jaccard_of_edges(run_call& c) {
  c.add("similarities", jaccard_of_edges(c.pattern(), {}, c.desc));
}

void run_label_propagation(run_call& c) {
  label_propagation_options options;
  options.iterations = c.number("iterations", options.iterations);
  auto found = label_propagation(c.pattern(), options, c.desc);
  c.add("labels", std::move(found.labels));
  c.add("communities", found.communities);
  c.add("iterations", found.iterations);
}

void run_mis(run_call& c) {
  mis_options options;
  options.seed = c.number("seed", options.seed);
  const mis_result found = mis(c.pattern(), options, c.desc);
  c.add("set", found.set);
  c.add("rounds", found.rounds);
}

void run_msf(run_call& c) {
  msf_result found = msf(typed<double>(converted(c.graph(), type::float64)), {}, c.desc);
  c.add("forest", std::move(found.forest));
  c.add("weight", found.weight);
  c.add("rounds", found.rounds);
}

constexpr algorithm algorithms[] = {
    {"betweenness", {"sources", "batch"}, run_betweenness},
    {"bfs", {"source", "parents"}, run_bfs},
    {"bipartite_matching", {}, run_bipartite_matching},
    {"components", {"symmetric"}, run_components},
    {"diameter_bound", {"source", "symmetric", "most_sweeps"}, run_diameter_bound},
    {"eccentricity", {"sources", "batch"}, run_eccentricity},
    {"hits", {"tolerance", "most_iterations"}, run_hits},
    {"jaccard", {"node"}, run_jaccard},
    {"jaccard_of_edges", {}, run_jaccard_of_edges},
    {"kcore", {}, run_kcore},
    {"ktruss", {"k", "symmetric"}, run_ktruss},
    {"label_propagation", {"iterations"}, run_label_propagation},
    {"local_clustering", {"directed"}, run_local_clustering},
    {"mis", {"seed"}, run_mis},
    {"msf", {}, run_msf},
    {"multi_source", {"sources"}, run_multi_source},
    {"pagerank", {"damping", "tolerance", "most_iterations", "personalised"}, run_pagerank},
    {"scc", {}, run_scc},
    {"sssp", {"source", "delta"}, run_sssp},
    {"triangles", {"symmetric"}, run_triangles}};

#else

constexpr std::span<const algorithm> algorithms;

#endif

const algorithm& find_algorithm(const char* call, std::string_view name) {
  std::string names;
  for (const algorithm& each : algorithms) {
    if (name == each.name) return each;
    names += std::string(names.empty() ? "" : ", ") + each.name;
  }
  if (names.empty()) names = "none, because the library is built with RIG_ALGORITHMS=OFF";
  fail(errc::range, {call, ": no algorithm is named '", name, "'; there are ", names});
}

void check_arguments(const char* call, const algorithm& of, std::span<const rig_argument> from) {
  for (std::size_t n = 0; n < from.size(); ++n) {
    const std::string_view name = &given(call, "the name of an argument", from[n].name);
    if (std::find(of.arguments.begin(), of.arguments.end(), name) == of.arguments.end()) {
      std::string names;
      for (const char* const each : of.arguments)
        names += std::string(names.empty() ? "" : ", ") + each;
      fail(errc::range, {call, ": ", of.name, " has no argument '", name, "'; it has ",
                         names.empty() ? "none" : names});
    }
    for (std::size_t other = 0; other < n; ++other)
      if (name == from[other].name)
        fail(errc::duplicate, {call, ": the argument '", name, "' is there twice"});
  }
}

/// The part of the options that algorithms read. Throws error(cannot) for any other.
descriptor descriptor_from(const char* call, const rig_options* options) {
  if (options == nullptr) return {};
  const rig_options from = read(call, "options", options);
  const settings all(call, options);
  const bool has_others = all.desc.transpose_a || all.desc.transpose_b || all.desc.replace ||
                          all.desc.fill.has_value() || from.width != 0 || from.k != 0 ||
                          all.desc.rescale || from.tf32 != 0 || from.any_order != 0 ||
                          all.mask.is_there() || all.accum != accumulator::none ||
                          all.named != type::other || all.indices != nullptr;
  if (has_others)
    fail(errc::cannot,
         {call, ": algorithms read kernel, threads and stream alone; leave the other options 0"});
  return all.desc;
}

}  // namespace
}  // namespace rig::c

rig_status rig_run(const char* algorithm, const rig_container* graph, const rig_argument* arguments,
                   size_t count, const rig_options* options, rig_results** out) {
  const char* const call = "rig_run";
  return guarded(call, [&] {
    require(call, "out", out);
    const auto& found = find_algorithm(call, &given(call, "algorithm", algorithm));
    if (count > 0) require(call, "arguments", arguments);
    const std::span<const rig_argument> all(arguments, count);
    check_arguments(call, found, all);
    const rig::descriptor desc = descriptor_from(call, options);
    auto results = std::make_unique<rig_results>();
    run_call c(found.name, matrix_from(call, "graph", graph), all, desc, *results);
    found.run(c);
    *out = results.release();
  });
}

const char* rig_algorithm_name(size_t n) {
  return n < std::size(algorithms) ? algorithms[n].name : nullptr;
}
const char* rig_result_name(const rig_results* of, size_t n) {
  return of != nullptr && n < of->all.size() ? of->all[n].name : nullptr;
}

rig_status rig_result_number(const rig_results* of, const char* name, rig_number* out) {
  const char* const call = "rig_result_number";
  return guarded(call, [&] {
    require(call, "out", out);
    const auto& found = given(call, "of", of).find(call, &given(call, "name", name));
    if (found.container != nullptr)
      rig::fail(rig::errc::type, {call, ": ", name, " is a container; call rig_result_container"});
    *out = found.number;
  });
}

rig_status rig_result_container(const rig_results* of, const char* name, rig_container** out) {
  const char* const call = "rig_result_container";
  return guarded(call, [&] {
    require(call, "out", out);
    const auto& found = given(call, "of", of).find(call, &given(call, "name", name));
    if (found.container == nullptr)
      rig::fail(rig::errc::type, {call, ": ", name, " is a number; call rig_result_number"});
    *out = new rig_container(*found.container);
  });
}

void rig_free_results(rig_results* results) { delete results; }
