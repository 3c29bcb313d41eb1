/* Algorithms by name, against loops over the same graph. */

#include "check.h"

enum { nodes = 12 };
static table arcs;             /* the graph */
static table weighted;         /* its arcs with positive weights */
static int edge[nodes][nodes]; /* its undirected view without self loops */

static rig_results* ran(const char* name, const rig_container* graph, const char* argument,
                        rig_number number) {
  rig_results* out = NULL;
  rig_argument given;
  memset(&given, 0, sizeof given);
  given.name = argument;
  given.number = number;
  OK(rig_run(name, graph, &given, argument != NULL, NULL, &out));
  return out;
}
static rig_number number_of(const rig_results* of, const char* name) {
  rig_number out = {0, 0, 0};
  OK(rig_result_number(of, name, &out));
  return out;
}
/* The result as a table, of a dense column: value[i][0]. */
static table column_of(const rig_results* of, const char* name) {
  rig_container* found = NULL;
  table out;
  OK(rig_result_container(of, name, &found));
  out = table_of(found);
  rig_free(found);
  return out;
}

static void test_searches(const rig_container* graph, const rig_container* weights) {
  double length[nodes];
  int level[nodes], i, j, round, reached = 0;
  rig_results* found;
  table got;
  for (i = 0; i < nodes; ++i) {
    level[i] = i == 0 ? 0 : -1;
    length[i] = i == 0 ? 0 : INFINITY;
  }
  for (round = 0; round < nodes; ++round)
    for (i = 0; i < nodes; ++i)
      for (j = 0; j < nodes; ++j)
        if (arcs.has[i][j]) {
          if (level[i] == round && level[j] < 0) level[j] = round + 1;
          if (length[i] + weighted.value[i][j] < length[j])
            length[j] = length[i] + weighted.value[i][j];
        }
  for (i = 0; i < nodes; ++i) reached += level[i] >= 0;
  found = ran("bfs", graph, "source", integer_number(0));
  got = column_of(found, "levels");
  for (i = 0; i < nodes; ++i) CHECK(got.value[i][0] == level[i]);
  CHECK(number_of(found, "reached").integer == reached);
  CHECK(strcmp(rig_result_name(found, 0), "levels") == 0);
  CHECK(strcmp(rig_result_name(found, 2), "max_level") == 0 && rig_result_name(found, 3) == NULL);
  rig_free_results(found);
  found = ran("sssp", weights, "source", integer_number(0));
  got = column_of(found, "distances");
  for (i = 0; i < nodes; ++i) CHECK(got.value[i][0] == length[i]);
  rig_free_results(found);
}

static void test_parts(const rig_container* graph) {
  int reach[nodes][nodes], linked[nodes][nodes], i, j, k, components = 0, strong = 0;
  double triangles = 0;
  rig_results* found;
  table got;
  for (i = 0; i < nodes; ++i)
    for (j = 0; j < nodes; ++j) {
      reach[i][j] = i == j || arcs.has[i][j];
      linked[i][j] = i == j || edge[i][j];
      for (k = 0; k < nodes; ++k) triangles += edge[i][j] && edge[j][k] && edge[i][k];
    }
  for (k = 0; k < nodes; ++k)
    for (i = 0; i < nodes; ++i)
      for (j = 0; j < nodes; ++j) {
        reach[i][j] |= reach[i][k] && reach[k][j];
        linked[i][j] |= linked[i][k] && linked[k][j];
      }
  found = ran("components", graph, NULL, integer_number(0));
  got = column_of(found, "labels");
  for (i = 0; i < nodes; ++i) {
    for (j = 0; !linked[i][j];) ++j;
    CHECK(got.value[i][0] == j);
    components += i == j;
  }
  CHECK(number_of(found, "count").integer == components);
  rig_free_results(found);
  found = ran("scc", graph, NULL, integer_number(0));
  got = column_of(found, "labels");
  for (i = 0; i < nodes; ++i) {
    for (j = 0; !(reach[i][j] && reach[j][i]);) ++j;
    CHECK(got.value[i][0] == j);
    strong += i == j;
  }
  CHECK(number_of(found, "count").integer == strong);
  rig_free_results(found);
  found = ran("triangles", graph, NULL, integer_number(0));
  CHECK(number_of(found, "count").integer * 6 == triangles);
  rig_free_results(found);
}

static void test_ranks(const rig_container* graph) {
  double rank[nodes], next[nodes], jumps[nodes], sum;
  rig_argument given[3];
  rig_results* found = NULL;
  rig_elements at;
  rig_container* column = NULL;
  table got;
  int i, j, round, personalised;
  for (personalised = 0; personalised < 2; ++personalised) {
    for (i = 0; i < nodes; ++i) {
      jumps[i] = personalised ? (i < 2 ? 0.5 : 0) : 1.0 / nodes;
      rank[i] = 1.0 / nodes;
    }
    for (round = 0; round < 400; ++round) {
      for (i = 0; i < nodes; ++i) next[i] = 0.15 * jumps[i];
      for (i = 0; i < nodes; ++i) {
        int degree = 0;
        for (j = 0; j < nodes; ++j) degree += arcs.has[i][j];
        for (j = 0; j < nodes; ++j)
          if (degree == 0)
            next[j] += 0.85 * rank[i] * jumps[j];
          else if (arcs.has[i][j])
            next[j] += 0.85 * rank[i] / degree;
      }
      memcpy(rank, next, sizeof rank);
    }
    memset(given, 0, sizeof given);
    memset(&at, 0, sizeof at);
    at.size = sizeof at;
    at.data = jumps;
    at.rows = nodes;
    at.columns = 1;
    at.type = RIG_FLOAT64;
    OK(rig_view_elements(&at, &column));
    given[0].name = "damping";
    given[0].number = real_number(0.85);
    given[1].name = "tolerance";
    given[1].number = real_number(1e-14);
    given[2].name = "personalised";
    given[2].container = column;
    OK(rig_run("pagerank", graph, given, personalised ? 3 : 2, NULL, &found));
    got = column_of(found, "ranks");
    for (i = 0, sum = 0; i < nodes; ++i) {
      CHECK(fabs(got.value[i][0] - rank[i]) < 1e-9);
      sum += got.value[i][0];
    }
    CHECK(fabs(sum - 1) < 1e-9 && number_of(found, "iterations").integer > 1);
    rig_free_results(found);
    rig_free(column);
  }
}

/* Every algorithm of the list runs with its arguments, and its results are there. */
static void test_every_name(const rig_container* graph, const rig_container* weights) {
  static const struct {
    const char *name, *argument, *result;
  } all[] = {{"betweenness", NULL, "scores"},
             {"bfs", "source", "levels"},
             {"bipartite_matching", NULL, "rows"},
             {"components", NULL, "labels"},
             {"diameter_bound", "source", "lower"},
             {"eccentricity", NULL, "eccentricities"},
             {"hits", NULL, "authorities"},
             {"jaccard", "node", "similarities"},
             {"jaccard_of_edges", NULL, "similarities"},
             {"kcore", NULL, "cores"},
             {"ktruss", "k", "truss"},
             {"label_propagation", NULL, "labels"},
             {"local_clustering", NULL, "coefficients"},
             {"mis", NULL, "set"},
             {"msf", NULL, "forest"},
             {"multi_source", "sources", "levels"},
             {"pagerank", NULL, "ranks"},
             {"scc", NULL, "labels"},
             {"sssp", "source", "distances"},
             {"triangles", NULL, "count"}};
  size_t n, m;
  for (n = 0; n < sizeof all / sizeof *all; ++n) {
    rig_results* found = NULL;
    rig_argument given;
    int is_there = 0;
    memset(&given, 0, sizeof given);
    CHECK(rig_algorithm_name(n) != NULL && strcmp(rig_algorithm_name(n), all[n].name) == 0);
    given.name = all[n].argument;
    given.number = integer_number(3);
    if (given.name != NULL && strcmp(given.name, "sources") == 0) {
      table two;
      memset(&two, 0, sizeof two);
      two.rows = 2;
      two.columns = 1;
      two.value[1][0] = 5;
      given.container = dense_of(&two, RIG_INT32);
    }
    OK(rig_run(all[n].name, strcmp(all[n].name, "sssp") == 0 ? weights : graph, &given,
               given.name != NULL, NULL, &found));
    for (m = 0; rig_result_name(found, m) != NULL; ++m)
      is_there |= strcmp(rig_result_name(found, m), all[n].result) == 0;
    CHECK(is_there);
    rig_free((rig_container*)given.container);
    rig_free_results(found);
  }
  CHECK(rig_algorithm_name(n) == NULL);
}

int main(void) {
  rig_container *graph, *weights;
  int i, j;
  arcs = made_table(nodes, nodes, 16, 4);
  weighted = arcs;
  for (i = 0; i < nodes; ++i)
    for (j = 0; j < nodes; ++j) {
      weighted.value[i][j] = arcs.value[i][j] + 3; /* at least 1 */
      edge[i][j] = i != j && (arcs.has[i][j] || arcs.has[j][i]);
    }
  graph = sparse_of(&arcs, RIG_FLOAT32, 0);
  weights = sparse_of(&weighted, RIG_FLOAT64, 0);
  test_searches(graph, weights);
  test_parts(graph);
  test_ranks(graph);
  test_every_name(graph, weights);
  rig_free(graph);
  rig_free(weights);
  return finished();
}
