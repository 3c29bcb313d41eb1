// Searches, paths, components, betweenness and triangles, call by call as LAGraph's algorithms make
// them on GraphBLAS's C API.

#include <algorithm>
#include <numeric>

#include "graphblas_c.hpp"

namespace bench::graphblas {
namespace {

/// LAGraph's choice between push and pull: pull once a growing frontier is wide or has many of the
/// arcs that are left, push once a shrinking one is narrow.
class direction_of_search {
 public:
  direction_of_search(rig::index n, rig::int64 arcs, const std::vector<rig::int64>& degrees)
      : n_(n), arcs_left_(static_cast<double>(arcs)), degrees_(degrees) {}

  /// Of the next level. `count`: the nodes of the frontier.
  bool is_pull(GrB_Vector frontier, GrB_Index count) {
    constexpr double left_share = 8, wide_share = 8, narrow_share = 512;
    const bool is_growing = count > last_;
    const auto nodes = static_cast<double>(count);
    last_ = count;
    if (pulls_) {
      pulls_ = is_growing || nodes > n_ / narrow_share;
    } else if (!any_pull_) {
      const double arcs = arcs_of(frontier, count);
      arcs_left_ -= arcs;
      pulls_ = is_growing && (arcs > arcs_left_ / left_share || nodes > n_ / wide_share);
      any_pull_ = pulls_;
    } else {
      pulls_ = is_growing && nodes > n_ / wide_share;
    }
    return pulls_;
  }

 private:
  double arcs_of(GrB_Vector frontier, GrB_Index count) {
    nodes_.resize(count);
    CHECKED(GrB_Vector_extractTuples_INT32(nodes_.data(), nullptr, &count, frontier));
    double arcs = 0;
    for (const GrB_Index node : nodes_) arcs += static_cast<double>(degrees_[node]);
    return arcs;
  }

  double n_, arcs_left_;
  const std::vector<rig::int64>& degrees_;
  std::vector<GrB_Index> nodes_;
  GrB_Index last_ = 0;
  bool pulls_ = false, any_pull_ = false;
};

/// Values of a vector whose absent entries become `absent`.
template <class T, class Extract>
std::vector<T> elements(const vector_handle& of, rig::index n, T absent, Extract extract) {
  std::vector<T> out(static_cast<std::size_t>(n), absent);
  GrB_Index count = count_of(n);
  std::vector<GrB_Index> at(count);
  std::vector<T> values(count);
  CHECKED(extract(at.data(), values.data(), &count, of.get()));
  for (GrB_Index k = 0; k < count; ++k) out[at[k]] = values[k];
  return out;
}

GrB_Index entries_of(const vector_handle& v) {
  GrB_Index count = 0;
  CHECKED(GrB_Vector_nvals(&count, v.get()));
  return count;
}
GrB_Index entries_of(const matrix_handle& m) {
  GrB_Index count = 0;
  CHECKED(GrB_Matrix_nvals(&count, m.get()));
  return count;
}

}  // namespace

struct bfs::state {
  rig::index n = 0;
  bool pulls = false, has_parents = false;
  std::vector<rig::int64> degrees;
  rig::int64 arcs = 0;
  matrix_handle outgoing, incoming;  ///< both by row
  vector_handle frontier, levels, parents;
};

bfs::bfs(const rig::matrix<float>& graph, bool pulls, bool parents)
    : state_(std::make_unique<state>()) {
  state& my = *state_;
  my.n = graph.rows();
  my.pulls = pulls;
  my.has_parents = parents;
  my.arcs = graph.nnz();
  my.outgoing = sparse(graph, true, false);
  if (!pulls) return;
  my.incoming = transposed(my.outgoing, my.n, my.n);
  for (rig::index i = 0; i < my.n; ++i)
    my.degrees.push_back(graph.structure().offset(i + 1) - graph.structure().offset(i));
}
bfs::~bfs() = default;

void bfs::run(rig::index source) {
  state& my = *state_;
  const GrB_Index n = count_of(my.n);
  my.frontier = new_vector(my.has_parents ? GrB_INT32 : GrB_BOOL, my.n);
  my.levels = new_vector(GrB_INT32, my.n);
  my.parents = new_vector(GrB_INT32, my.n);
  GrB_Vector const frontier = my.frontier.get(), levels = my.levels.get(),
                   parents = my.parents.get();
  // A frontier of parents has their indices as values.
  const GrB_Semiring by_pull = my.has_parents ? GxB_ANY_SECONDI_INT32 : GxB_ANY_PAIR_BOOL,
                     by_push = my.has_parents ? GxB_ANY_SECONDI_INT32 : GxB_ANY_PAIR_BOOL;
  for (GrB_Vector of : {levels, parents})
    CHECKED(GxB_Vector_Option_set(of, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL));
  CHECKED(GrB_Vector_setElement_INT32(frontier, my.has_parents ? source : 1, count_of(source)));
  direction_of_search direction(my.n, my.arcs, my.degrees);
  GrB_Index count = 1;
  for (int level = 0; count > 0; ++level) {
    CHECKED(GrB_Vector_assign_INT32(levels, frontier, nullptr, level, GrB_ALL, n, GrB_DESC_S));
    if (my.has_parents)
      CHECKED(GrB_Vector_assign(parents, frontier, nullptr, frontier, GrB_ALL, n, GrB_DESC_S));
    if (my.pulls && direction.is_pull(frontier, count)) {
      CHECKED(GxB_Vector_Option_set(frontier, GxB_SPARSITY_CONTROL, GxB_BITMAP));
      CHECKED(
          GrB_mxv(frontier, levels, nullptr, by_pull, my.incoming.get(), frontier, GrB_DESC_RSC));
    } else {
      CHECKED(GxB_Vector_Option_set(frontier, GxB_SPARSITY_CONTROL, GxB_SPARSE));
      CHECKED(
          GrB_vxm(frontier, levels, nullptr, by_push, frontier, my.outgoing.get(), GrB_DESC_RSC));
    }
    CHECKED(GrB_Vector_nvals(&count, frontier));
  }
}

std::vector<int> bfs::levels() const {
  return elements(state_->levels, state_->n, -1, GrB_Vector_extractTuples_INT32);
}
std::vector<int> bfs::parents() const {
  return elements(state_->parents, state_->n, -1, GrB_Vector_extractTuples_INT32);
}

struct sssp::state {
  rig::index n = 0;
  rig::int64 delta = 0;
  matrix_handle a, light, heavy;
  vector_handle distances, reached, settled, near, offered, nearer, empty;

  void relax(const matrix_handle& by);
  bool is_near(rig::int64 limit);
  void settle_bucket(rig::int64 limit);
};

sssp::sssp(const rig::matrix<rig::int64>& weights, rig::int64 delta)
    : state_(std::make_unique<state>()) {
  state& my = *state_;
  my.n = weights.rows();
  my.delta = delta;
  my.a = new_matrix(GrB_INT64, my.n, my.n);
  const rig::pattern& s = weights.structure();
  const auto nnz = count_of(s.nnz());
  std::vector<GrB_Index> rows(nnz), columns(nnz);
  for (rig::index i = 0; i < my.n; ++i)
    for (rig::int64 e = s.offset(i); e < s.offset(i + 1); ++e) {
      rows[count_of(e)] = count_of(i);
      columns[count_of(e)] = count_of(s.column_indices()[e]);
    }
  CHECKED(GrB_Matrix_build_INT64(my.a.get(), rows.data(), columns.data(), weights.values(), nnz,
                                 GrB_PLUS_INT64));
  CHECKED(GrB_Matrix_wait(my.a.get(), GrB_MATERIALIZE));
}
sssp::~sssp() = default;

/// offered = near · by, and nearer = where that is less than the distance.
void sssp::state::relax(const matrix_handle& by) {
  GrB_Vector const to = offered.get(), less = nearer.get();
  CHECKED(
      GrB_vxm(to, nullptr, nullptr, GrB_MIN_PLUS_SEMIRING_INT64, near.get(), by.get(), nullptr));
  CHECKED(GrB_Vector_clear(less));
  CHECKED(GrB_Vector_eWiseAdd_BinaryOp(less, to, nullptr, GrB_LT_INT64, to, distances.get(),
                                       GrB_DESC_S));
}

/// near = the distances below `limit` of nodes whose arcs wait.
bool sssp::state::is_near(rig::int64 limit) {
  GrB_Vector const v = near.get();
  CHECKED(GrB_Vector_clear(v));
  CHECKED(
      GrB_Vector_assign(v, reached.get(), nullptr, distances.get(), GrB_ALL, count_of(n), nullptr));
  CHECKED(GrB_Vector_select_INT64(v, nullptr, nullptr, GrB_VALUELT_INT64, v, limit, nullptr));
  return entries_of(near) > 0;
}

/// Relaxes the light arcs of the bucket until none of its nodes comes nearer.
void sssp::state::settle_bucket(rig::int64 limit) {
  const GrB_Index count = count_of(n);
  GrB_Vector const v = near.get(), less = nearer.get();
  for (bool goes_on = is_near(limit); goes_on; goes_on = entries_of(near) > 0) {
    CHECKED(GrB_Vector_assign_BOOL(settled.get(), v, nullptr, true, GrB_ALL, count, GrB_DESC_S));
    relax(light);
    if (entries_of(offered) == 0) return;
    CHECKED(GrB_Vector_select_BOOL(less, nullptr, nullptr, GrB_VALUEEQ_BOOL, less, true, nullptr));
    if (entries_of(nearer) == 0) return;
    CHECKED(GrB_Vector_assign_BOOL(reached.get(), less, nullptr, true, GrB_ALL, count, GrB_DESC_S));
    CHECKED(GrB_Vector_clear(v));
    CHECKED(GrB_Vector_select_INT64(v, less, nullptr, GrB_VALUELT_INT64, offered.get(), limit,
                                    GrB_DESC_S));
    CHECKED(GrB_Vector_assign(distances.get(), less, nullptr, offered.get(), GrB_ALL, count,
                              GrB_DESC_S));
  }
}

void sssp::run(rig::index source) {
  state& my = *state_;
  const GrB_Index n = count_of(my.n);
  my.light = new_matrix(GrB_INT64, my.n, my.n);
  my.heavy = new_matrix(GrB_INT64, my.n, my.n);
  CHECKED(GrB_Matrix_select_INT64(my.light.get(), nullptr, nullptr, GrB_VALUELE_INT64, my.a.get(),
                                  my.delta, nullptr));
  CHECKED(GrB_Matrix_select_INT64(my.heavy.get(), nullptr, nullptr, GrB_VALUEGT_INT64, my.a.get(),
                                  my.delta, nullptr));
  for (vector_handle* made : {&my.distances, &my.near, &my.offered})
    *made = new_vector(GrB_INT64, my.n);
  for (vector_handle* made : {&my.reached, &my.settled, &my.nearer, &my.empty})
    *made = new_vector(GrB_BOOL, my.n);
  CHECKED(GxB_Vector_Option_set(my.reached.get(), GxB_SPARSITY_CONTROL, GxB_BITMAP));
  CHECKED(GrB_Vector_assign_INT64(my.distances.get(), nullptr, nullptr, unreached, GrB_ALL, n,
                                  nullptr));
  CHECKED(GrB_Vector_setElement_INT64(my.distances.get(), 0, count_of(source)));
  CHECKED(GrB_Vector_setElement_BOOL(my.reached.get(), true, count_of(source)));
  GrB_Vector const less = my.nearer.get(), reached = my.reached.get();
  for (rig::int64 limit = my.delta; entries_of(my.reached) > 0; limit += my.delta) {
    my.settle_bucket(limit);
    CHECKED(GrB_Vector_clear(my.near.get()));
    CHECKED(GrB_Vector_assign(my.near.get(), my.settled.get(), nullptr, my.distances.get(), GrB_ALL,
                              n, GrB_DESC_S));
    my.relax(my.heavy);
    CHECKED(GrB_Vector_assign(my.distances.get(), less, nullptr, my.offered.get(), GrB_ALL, n,
                              nullptr));
    CHECKED(GrB_Vector_assign_BOOL(reached, less, nullptr, true, GrB_ALL, n, nullptr));
    CHECKED(GrB_Vector_assign(reached, my.settled.get(), nullptr, my.empty.get(), GrB_ALL, n,
                              GrB_DESC_S));
    CHECKED(GrB_Vector_clear(my.settled.get()));
  }
}

std::vector<rig::int64> sssp::distances() const {
  return elements(state_->distances, state_->n, unreached, GrB_Vector_extractTuples_INT64);
}

struct components::state {
  rig::index n = 0;
  bool samples = false;
  const rig::pattern* graph = nullptr;
  matrix_handle a;
  vector_handle parent, grandparent, next, least, changed;
  std::vector<GrB_Index> of;  ///< the parents, as indices

  void hook(const matrix_handle& along);
  void until_stable(const matrix_handle& along);
  GrB_Index most_frequent() const;
  matrix_handle sample() const;
  matrix_handle rest(GrB_Index giant) const;
};

components::components(const rig::matrix<float>& graph, bool samples)
    : state_(std::make_unique<state>()) {
  state& my = *state_;
  my.n = graph.rows();
  my.samples = samples;
  my.graph = &graph.structure();
  my.a = sparse(graph, true, false);
}
components::~components() = default;

/// parent(of(i)) = min(that, least(i)), by a matrix with one entry per column.
void components::state::hook(const matrix_handle& along) {
  CHECKED(GrB_mxv(least.get(), nullptr, GrB_MIN_UINT32, GrB_MIN_SECOND_SEMIRING_UINT32, along.get(),
                  grandparent.get(), nullptr));
  const matrix_handle tree = new_matrix(GrB_BOOL, n, n);
  const std::size_t count = of.size();
  auto* starts = static_cast<GrB_Index*>(std::malloc((count + 1) * sizeof(GrB_Index)));
  auto* rows = static_cast<GrB_Index*>(std::malloc(count * sizeof(GrB_Index)));
  auto* one = static_cast<bool*>(std::calloc(1, 1));
  std::iota(starts, starts + count + 1, GrB_Index{0});
  std::copy(of.begin(), of.end(), rows);
  CHECKED(GxB_Matrix_pack_CSC(tree.get(), &starts, &rows, reinterpret_cast<void**>(&one),
                              (count + 1) * sizeof(GrB_Index), count * sizeof(GrB_Index), 1, true,
                              false, nullptr));
  CHECKED(GrB_mxv(parent.get(), nullptr, GrB_MIN_UINT32, GrB_MIN_SECOND_SEMIRING_UINT32, tree.get(),
                  least.get(), nullptr));
}

void components::state::until_stable(const matrix_handle& along) {
  for (bool changes = true; changes; std::swap(grandparent, next)) {
    hook(along);
    CHECKED(GrB_Vector_eWiseAdd_BinaryOp(parent.get(), nullptr, GrB_MIN_UINT32, GrB_MIN_UINT32,
                                         least.get(), grandparent.get(), nullptr));
    GrB_Index count = of.size();
    CHECKED(GrB_Vector_extractTuples_UINT64(nullptr, of.data(), &count, parent.get()));
    CHECKED(
        GrB_Vector_extract(next.get(), nullptr, nullptr, parent.get(), of.data(), count, nullptr));
    CHECKED(GrB_Vector_eWiseMult_BinaryOp(changed.get(), nullptr, nullptr, GrB_NE_UINT32,
                                          next.get(), grandparent.get(), nullptr));
    CHECKED(GrB_Vector_reduce_BOOL(&changes, nullptr, GrB_LOR_MONOID_BOOL, changed.get(), nullptr));
  }
}

/// The most frequent parent of some nodes.
GrB_Index components::state::most_frequent() const {
  constexpr std::size_t draws = 864;
  std::vector<GrB_Index> drawn;
  for (std::size_t k = 0; k < draws; ++k) drawn.push_back(of[k * 2654435761u % of.size()]);
  std::sort(drawn.begin(), drawn.end());
  GrB_Index best = drawn[0];
  std::ptrdiff_t longest = 0;
  for (auto first = drawn.begin(); first != drawn.end();) {
    const auto end = std::upper_bound(first, drawn.end(), *first);
    if (end - first > longest) {
      longest = end - first;
      best = *first;
    }
    first = end;
  }
  return best;
}

/// A matrix whose row i is keep(i, to) entries, which it writes to `to` unless that is null.
template <class Keep>
matrix_handle of_rows(rig::index n, Keep keep) {
  const auto rows = count_of(n);
  auto* starts = static_cast<GrB_Index*>(std::malloc((rows + 1) * sizeof(GrB_Index)));
  starts[0] = 0;
#pragma omp parallel for num_threads(threads()) schedule(dynamic, 1024)
  for (rig::index i = 0; i < n; ++i) starts[i + 1] = keep(i, nullptr);
  std::partial_sum(starts, starts + rows + 1, starts);
  const GrB_Index count = starts[rows];
  auto* columns = static_cast<GrB_Index*>(std::malloc((count + 1) * sizeof(GrB_Index)));
#pragma omp parallel for num_threads(threads()) schedule(dynamic, 1024)
  for (rig::index i = 0; i < n; ++i) keep(i, columns + starts[i]);
  auto* one = static_cast<bool*>(std::calloc(1, 1));
  matrix_handle out = new_matrix(GrB_BOOL, n, n);
  CHECKED(GxB_Matrix_pack_CSR(out.get(), &starts, &columns, reinterpret_cast<void**>(&one),
                              (rows + 1) * sizeof(GrB_Index), (count + 1) * sizeof(GrB_Index), 1,
                              true, false, nullptr));
  return out;
}

/// The first arcs of each node.
matrix_handle components::state::sample() const {
  constexpr rig::int64 most = 4;
  return of_rows(n, [&](rig::index i, GrB_Index* to) {
    const rig::int64 first = graph->offset(i), count = std::min(most, graph->offset(i + 1) - first);
    if (to != nullptr) std::copy_n(graph->column_indices() + first, count, to);
    return count_of(count);
  });
}

/// The arcs of nodes outside the giant tree; those that lead into it lead to its root.
matrix_handle components::state::rest(GrB_Index giant) const {
  std::vector<GrB_Index> beside;  // nodes with an arc into the giant tree: the arcs of its root
  for (rig::index i = 0; i < n; ++i) {
    if (of[count_of(i)] == giant) continue;
    const rig::index* const columns = graph->column_indices();
    if (std::any_of(columns + graph->offset(i), columns + graph->offset(i + 1),
                    [&](rig::index j) { return of[count_of(j)] == giant; }))
      beside.push_back(count_of(i));
  }
  return of_rows(n, [&](rig::index i, GrB_Index* to) {
    if (count_of(i) == giant) {
      if (to != nullptr) std::copy(beside.begin(), beside.end(), to);
      return beside.size();
    }
    if (of[count_of(i)] == giant) return std::size_t{0};
    GrB_Index count = 0;
    bool meets = false;
    for (rig::int64 e = graph->offset(i); e < graph->offset(i + 1); ++e) {
      const auto j = count_of(graph->column_indices()[e]);
      if (of[j] == giant)
        meets = true;
      else if (to != nullptr)
        to[count++] = j;
      else
        ++count;
    }
    if (meets && to != nullptr) to[count] = giant;
    return count + meets;
  });
}

void components::run() {
  state& my = *state_;
  for (vector_handle* made : {&my.parent, &my.grandparent, &my.next, &my.least})
    *made = new_vector(GrB_UINT32, my.n);
  my.changed = new_vector(GrB_BOOL, my.n);
  my.of.resize(count_of(my.n));
  std::iota(my.of.begin(), my.of.end(), GrB_Index{0});
  const GrB_Index n = my.of.size();
  for (vector_handle* numbered : {&my.parent, &my.grandparent, &my.least}) {
    CHECKED(GrB_Vector_assign_UINT32(numbered->get(), nullptr, nullptr, 0, GrB_ALL, n, nullptr));
    CHECKED(GrB_Vector_apply_IndexOp_INT64(numbered->get(), nullptr, nullptr, GrB_ROWINDEX_INT64,
                                           numbered->get(), 0, nullptr));
  }
  if (!my.samples) return my.until_stable(my.a);
  my.until_stable(my.sample());
  my.until_stable(my.rest(my.most_frequent()));
}

std::vector<int> components::labels() const {
  return elements(state_->parent, state_->n, -1, GrB_Vector_extractTuples_INT32);
}

struct betweenness::state {
  rig::index n = 0;
  matrix_handle outgoing, incoming;  ///< both by row
  vector_handle sums;
};

betweenness::betweenness(const rig::matrix<float>& graph) : state_(std::make_unique<state>()) {
  state& my = *state_;
  my.n = graph.rows();
  my.outgoing = sparse(graph, true, false);
  my.incoming = transposed(my.outgoing, my.n, my.n);
}
betweenness::~betweenness() = default;

namespace {

/// LAGraph's choice for a product of some rows with a graph: pull if they are dense.
class direction_of_rows {
 public:
  explicit direction_of_rows(GrB_Index elements) : elements_(static_cast<double>(elements)) {}
  bool is_pull(const matrix_handle& rows) {
    const double share = static_cast<double>(entries_of(rows)) / elements_;
    pulls_ = share > (pulls_ ? 0.06 : 0.10);
    CHECKED(
        GxB_Matrix_Option_set(rows.get(), GxB_SPARSITY_CONTROL, pulls_ ? GxB_BITMAP : GxB_SPARSE));
    return pulls_;
  }

 private:
  double elements_;
  bool pulls_ = false;
};

}  // namespace

void betweenness::run(std::span<const rig::index> sources) {
  state& my = *state_;
  const GrB_Semiring by = GxB_PLUS_FIRST_FP64;
  const GrB_Index n = count_of(my.n), width = sources.size();
  const std::vector<GrB_Index> rows(sources.begin(), sources.end());
  const auto height = static_cast<rig::int64>(width);
  const matrix_handle paths_made = new_matrix(GrB_FP64, height, my.n),
                      frontier_made = new_matrix(GrB_FP64, height, my.n);
  GrB_Matrix const paths = paths_made.get(), frontier = frontier_made.get(),
                   out = my.outgoing.get(), in = my.incoming.get();
  CHECKED(GxB_Matrix_Option_set(paths, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL));
  for (GrB_Index k = 0; k < width; ++k) CHECKED(GrB_Matrix_setElement_FP64(paths, 1, k, rows[k]));
  CHECKED(GrB_Matrix_extract(frontier, paths, nullptr, out, rows.data(), width, GrB_ALL, n,
                             GrB_DESC_RSC));
  std::vector<matrix_handle> levels;
  direction_of_rows forwards(n * width), backwards(n * width);
  while (entries_of(frontier_made) > 0) {
    levels.push_back(new_matrix(GrB_BOOL, height, my.n));
    CHECKED(
        GrB_Matrix_apply(levels.back().get(), nullptr, nullptr, GxB_ONE_BOOL, frontier, nullptr));
    CHECKED(GrB_Matrix_assign(paths, nullptr, GrB_PLUS_FP64, frontier, GrB_ALL, width, GrB_ALL, n,
                              nullptr));
    if (forwards.is_pull(frontier_made))
      CHECKED(GrB_mxm(frontier, paths, nullptr, by, frontier, in, GrB_DESC_RSCT1));
    else
      CHECKED(GrB_mxm(frontier, paths, nullptr, by, frontier, out, GrB_DESC_RSC));
  }
  const matrix_handle shares_made = new_matrix(GrB_FP64, height, my.n),
                      passed_made = new_matrix(GrB_FP64, height, my.n);
  GrB_Matrix const shares = shares_made.get(), passed = passed_made.get();
  CHECKED(GrB_Matrix_assign_FP64(shares, nullptr, nullptr, 1, GrB_ALL, width, GrB_ALL, n, nullptr));
  for (std::size_t level = levels.size(); level-- > 1;) {
    CHECKED(GrB_Matrix_eWiseMult_BinaryOp(passed, levels[level].get(), nullptr, GrB_DIV_FP64,
                                          shares, paths, GrB_DESC_RS));
    GrB_Matrix const before = levels[level - 1].get();
    if (backwards.is_pull(passed_made))
      CHECKED(GrB_mxm(passed, before, nullptr, by, passed, out, GrB_DESC_RST1));
    else
      CHECKED(GrB_mxm(passed, before, nullptr, by, passed, in, GrB_DESC_RS));
    CHECKED(GrB_Matrix_eWiseMult_BinaryOp(shares, nullptr, GrB_PLUS_FP64, GrB_TIMES_FP64, passed,
                                          paths, nullptr));
  }
  my.sums = new_vector(GrB_FP64, my.n);
  CHECKED(GrB_Vector_assign_FP64(my.sums.get(), nullptr, nullptr, -static_cast<double>(width),
                                 GrB_ALL, n, nullptr));
  CHECKED(GrB_Matrix_reduce_Monoid(my.sums.get(), nullptr, GrB_PLUS_FP64, GrB_PLUS_MONOID_FP64,
                                   shares, GrB_DESC_T0));
}

std::vector<double> betweenness::sums() const {
  return elements(state_->sums, state_->n, 0.0, GrB_Vector_extractTuples_FP64);
}

struct triangle_count::state {
  rig::index n = 0;
  bool sorts = false, is_upper = false;
  std::int64_t count = 0;
  std::vector<rig::int64> degrees;
  matrix_handle a;
};

triangle_count::triangle_count(const rig::matrix<float>& symmetric, bool sorts, bool is_upper)
    : state_(std::make_unique<state>()) {
  state& my = *state_;
  my.n = symmetric.rows();
  my.sorts = sorts;
  my.is_upper = is_upper;
  my.a = sparse(symmetric, true, false);
  for (rig::index i = 0; i < my.n; ++i)
    my.degrees.push_back(symmetric.structure().offset(i + 1) - symmetric.structure().offset(i));
}
triangle_count::~triangle_count() = default;

void triangle_count::run() {
  state& my = *state_;
  const GrB_Index n = count_of(my.n);
  GrB_Matrix graph = my.a.get();
  matrix_handle permuted;
  if (my.sorts) {
    std::vector<GrB_Index> order(n);
    std::iota(order.begin(), order.end(), GrB_Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](GrB_Index i, GrB_Index j) { return my.degrees[i] < my.degrees[j]; });
    permuted = new_matrix(GrB_FP32, my.n, my.n);
    CHECKED(GrB_Matrix_extract(permuted.get(), nullptr, nullptr, graph, order.data(), n,
                               order.data(), n, nullptr));
    graph = permuted.get();
  }
  const matrix_handle lower = new_matrix(GrB_BOOL, my.n, my.n),
                      upper = new_matrix(GrB_BOOL, my.n, my.n),
                      closed = new_matrix(GrB_INT64, my.n, my.n);
  CHECKED(GrB_Matrix_select_INT64(lower.get(), nullptr, nullptr, GrB_TRIL, graph, -1, nullptr));
  CHECKED(GrB_Matrix_select_INT64(upper.get(), nullptr, nullptr, GrB_TRIU, graph, 1, nullptr));
  GrB_Matrix const left = my.is_upper ? upper.get() : lower.get(),
                   right = my.is_upper ? lower.get() : upper.get();
  CHECKED(GrB_mxm(closed.get(), left, nullptr, GxB_PLUS_PAIR_INT64, left, right, GrB_DESC_ST1));
  CHECKED(
      GrB_Matrix_reduce_INT64(&my.count, nullptr, GrB_PLUS_MONOID_INT64, closed.get(), nullptr));
}

rig::int64 triangle_count::count() const { return state_->count; }

}  // namespace bench::graphblas
