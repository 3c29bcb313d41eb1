/* Element-wise operations, selections, sums and transposes against loops. */

#include "check.h"

static double joined(const char* op, double x, double y) {
  if (strcmp(op, "plus") == 0) return x + y;
  if (strcmp(op, "minus") == 0) return x - y;
  if (strcmp(op, "times") == 0) return x * y;
  if (strcmp(op, "minimum") == 0) return x < y ? x : y;
  if (strcmp(op, "maximum") == 0) return x > y ? x : y;
  if (strcmp(op, "first") == 0) return x;
  if (strcmp(op, "second") == 0) return y;
  return x < y; /* less */
}

static void test_joins(void) {
  static const char* const ops[] = {"plus",    "minus", "times",  "minimum",
                                    "maximum", "first", "second", "less"};
  table a = made_table(6, 7, 50, 3), b = made_table(6, 7, 50, 4), want;
  rig_container *x = sparse_of(&a, RIG_INT64, 0), *y = sparse_of(&b, RIG_INT64, 0),
                *full = dense_of(&b, RIG_INT64), *c = NULL;
  size_t n;
  int i, j, is_union;
  for (n = 0; n < sizeof ops / sizeof *ops; ++n)
    for (is_union = 0; is_union < 2; ++is_union) {
      want = a;
      for (i = 0; i < 6; ++i)
        for (j = 0; j < 7; ++j) {
          int both = a.has[i][j] && b.has[i][j];
          double alone = a.has[i][j] ? a.value[i][j] : b.value[i][j];
          want.has[i][j] = is_union ? a.has[i][j] || b.has[i][j] : both;
          if (strcmp(ops[n], "less") == 0) alone = alone != 0;
          want.value[i][j] = both ? joined(ops[n], a.value[i][j], b.value[i][j]) : alone;
        }
      c = NULL;
      OK((is_union ? rig_ewise_add : rig_ewise_mult)(&c, x, y, ops[n], NULL));
      CHECK(equals(c, &want));
      rig_free(c);
    }
  /* A sparse and a dense, in either order. */
  for (is_union = 0; is_union < 2; ++is_union) {
    c = NULL;
    OK((is_union ? rig_ewise_add : rig_ewise_mult)(&c, x, full, "minus", NULL));
    want = a;
    for (i = 0; i < 6; ++i)
      for (j = 0; j < 7; ++j) {
        want.has[i][j] = is_union || a.has[i][j];
        want.value[i][j] = a.has[i][j] ? a.value[i][j] - b.value[i][j] : b.value[i][j];
      }
    CHECK(equals(c, &want));
    rig_free(c);
    c = NULL;
    OK((is_union ? rig_ewise_add : rig_ewise_mult)(&c, full, x, "minus", NULL));
    for (i = 0; i < 6; ++i)
      for (j = 0; j < 7; ++j)
        want.value[i][j] = a.has[i][j] ? b.value[i][j] - a.value[i][j] : b.value[i][j];
    CHECK(equals(c, &want));
    rig_free(c);
  }
  rig_free(x);
  rig_free(y);
  rig_free(full);
}

static void test_functions(rig_type type) {
  table a = made_table(5, 6, 60, 30u + type), want = a;
  rig_container *x = sparse_of(&a, type, 0), *full = dense_of(&a, type), *c = NULL;
  rig_options options = no_options();
  rig_number two = integer_number(2);
  int i, j;
  OK(rig_apply(&c, x, "absolute", NULL));
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) want.value[i][j] = fabs(a.value[i][j]);
  CHECK(equals(c, &want));
  rig_free(c);
  c = NULL;
  OK(rig_apply_number(&c, x, "minus", &two, 1, NULL));
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) want.value[i][j] = 2 - a.value[i][j];
  CHECK(equals(c, &want));
  /* Into it again, where A is not 0, joined. */
  options.mask = x;
  options.accumulate = "plus";
  OK(rig_apply(&c, x, "identity", &options));
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) want.value[i][j] = a.value[i][j] != 0 ? 2 : want.value[i][j];
  CHECK(equals(c, &want));
  rig_free(c);
  c = NULL;
  OK(rig_apply_number(&c, full, "greater", &two, 0, NULL));
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) {
      want.has[i][j] = 1;
      want.value[i][j] = a.value[i][j] > 2;
    }
  CHECK(equals(c, &want));
  rig_free(c);
  c = NULL;
  OK(rig_select(&c, x, "less", &two, NULL));
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) {
      want.has[i][j] = a.has[i][j] && a.value[i][j] < 2;
      want.value[i][j] = a.value[i][j];
    }
  CHECK(equals(c, &want));
  rig_free(c);
  c = NULL;
  two.integer = 0;
  OK(rig_select(&c, x, "upper", &two, NULL));
  for (i = 0; i < 5; ++i)
    for (j = 0; j < 6; ++j) want.has[i][j] = a.has[i][j] && j >= i;
  CHECK(equals(c, &want));
  rig_free(c);
  rig_free(x);
  rig_free(full);
}

static void test_sums(rig_type type) {
  table a = made_table(6, 5, 50, 70u + type), rows, want;
  rig_container *x = sparse_of(&a, type, 0), *full = dense_of(&a, type), *w = NULL;
  rig_options options = no_options();
  rig_number sum;
  double all = 0, all_of_full = 0;
  int i, j;
  memset(&rows, 0, sizeof rows);
  rows.rows = 1;
  rows.columns = 6;
  want = rows;
  want.columns = 5;
  for (i = 0; i < 6; ++i)
    for (j = 0; j < 5; ++j) {
      all_of_full += a.value[i][j];
      if (!a.has[i][j]) continue;
      all += a.value[i][j];
      rows.has[0][i] = want.has[0][j] = 1;
      rows.value[0][i] += a.value[i][j];
      want.value[0][j] += a.value[i][j];
    }
  OK(rig_reduce_rows(&w, x, "plus", NULL));
  CHECK(equals(w, &rows));
  rig_free(w);
  w = NULL;
  options.transpose_a = 1;
  OK(rig_reduce_rows(&w, x, "plus", &options));
  CHECK(equals(w, &want));
  rig_free(w);
  OK(rig_reduce(&sum, x, "plus", NULL));
  CHECK((sum.kind == RIG_REAL ? sum.real : (double)sum.integer) == all);
  CHECK((sum.kind == RIG_INTEGER) == (type == RIG_INT32 || type == RIG_INT64));
  OK(rig_reduce(&sum, full, "plus", NULL));
  CHECK((sum.kind == RIG_REAL ? sum.real : (double)sum.integer) == all_of_full);
  rig_free(x);
  rig_free(full);
}

static void test_transposes(void) {
  table a = made_table(4, 7, 40, 91), want;
  rig_container *x = sparse_of(&a, RIG_FLOAT16, 0), *full = dense_of(&a, RIG_BFLOAT16), *c = NULL;
  int i, j;
  memset(&want, 0, sizeof want);
  want.rows = 7;
  want.columns = 4;
  for (i = 0; i < 4; ++i)
    for (j = 0; j < 7; ++j) {
      want.has[j][i] = a.has[i][j];
      want.value[j][i] = a.value[i][j];
    }
  OK(rig_transpose(&c, x, NULL));
  CHECK(equals(c, &want));
  rig_free(c);
  c = NULL;
  OK(rig_transpose(&c, full, NULL));
  for (i = 0; i < 4; ++i)
    for (j = 0; j < 7; ++j) want.has[j][i] = 1;
  CHECK(equals(c, &want));
  rig_free(c);
  rig_free(x);
  rig_free(full);
}

int main(void) {
  int type;
  test_joins();
  for (type = RIG_INT32; type <= RIG_BFLOAT16; ++type) {
    test_functions((rig_type)type);
    test_sums((rig_type)type);
  }
  test_transposes();
  return finished();
}
