#include <rig/rig.h>

/* A user's program in C: the sum of what each of two nodes points to. */
int main(void) {
  const int32_t offsets[] = {0, 1, 3}, indices[] = {1, 0, 2};
  float x[] = {1, 2, 3}, y[] = {0, 0};
  rig_csr arrays = {.size = sizeof arrays,
                    .rows = 2,
                    .columns = 3,
                    .entries = 3,
                    .offsets = offsets,
                    .indices = indices,
                    .offset_type = RIG_INT32,
                    .index_type = RIG_INT32,
                    .type = RIG_FLOAT32};
  rig_elements column = {
      .size = sizeof column, .data = x, .rows = 3, .columns = 1, .type = RIG_FLOAT32};
  rig_container *graph = NULL, *features = NULL, *sums = NULL;
  rig_semiring* plus_times = NULL;
  int failed = rig_from_csr(&arrays, &graph) || rig_view_elements(&column, &features);
  column.data = y;
  column.rows = 2;
  failed = failed || rig_view_elements(&column, &sums) ||
           rig_semiring_by_name("plus_times", RIG_FLOAT32, &plus_times) ||
           rig_mxm(&sums, graph, features, plus_times, NULL);
  rig_free(graph);
  rig_free(features);
  rig_free(sums);
  rig_free_semiring(plus_times);
  return failed || y[0] != 2 || y[1] != 4;
}
