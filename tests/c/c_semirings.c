/* Semirings from text, compiled for the CPU, against loops; and texts that are refused. */

#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>

#include "check.h"

static rig_semiring_text text_of(const char* name, rig_type type, const char* add,
                                 const char* multiply, const char* zero) {
  rig_semiring_text out;
  memset(&out, 0, sizeof out);
  out.size = sizeof out;
  out.name = name;
  out.type = type;
  out.add = add;
  out.multiply = multiply;
  out.zero = zero;
  return out;
}

/* The sum of max(a, b), and its mean. */
static void test_sums(rig_type type, int has_finish) {
  rig_semiring_text text = text_of("plus_max", type, "x + y", "max(a, b)", "0");
  rig_semiring* s = NULL;
  table a = made_table(6, 8, 40, 61), b = made_table(8, 3, 100, 62), want;
  rig_container *x = sparse_of(&a, type, 0), *y = dense_of(&b, type),
                *sparse = sparse_of(&b, type, 0), *c = NULL, *d = NULL;
  int i, j, k, n;
  text.check = !has_finish;
  if (has_finish) text.finish = "x * n";
  OK(rig_semiring_from_text(&text, &s));
  OK(rig_mxm(&c, x, y, s, NULL));
  OK(rig_mxm(&d, x, sparse, s, NULL));
  memset(&want, 0, sizeof want);
  want.rows = 6;
  want.columns = 3;
  for (i = 0; i < 6; ++i)
    for (j = 0; j < 3; ++j) {
      want.has[i][j] = 1;
      for (k = 0, n = 0; k < 8; ++k)
        if (a.has[i][k]) {
          ++n;
          want.value[i][j] += fmax(a.value[i][k], b.value[k][j]);
        }
      if (has_finish) want.value[i][j] *= n;
    }
  CHECK(equals(c, &want));
  for (i = 0; i < 6; ++i)
    for (j = 0; j < 3; ++j)
      for (want.has[i][j] = 0, k = 0; k < 8; ++k) want.has[i][j] |= a.has[i][k];
  CHECK(equals(d, &want));
  rig_free(x);
  rig_free(y);
  rig_free(sparse);
  rig_free(c);
  rig_free(d);
  rig_free_semiring(s);
}

static void test_terminal(void) {
  rig_semiring_text text = text_of("my_or", RIG_BOOL, "x || y", "a && b", "false");
  rig_semiring *mine = NULL, *builtin = NULL;
  table a = made_table(9, 9, 30, 71), u = made_table(1, 9, 40, 72), want;
  rig_container *x = sparse_of(&a, RIG_BOOL, 0), *v = sparse_of(&u, RIG_BOOL, 1), *w = NULL,
                *other = NULL;
  text.terminal = "true";
  text.check = 1;
  OK(rig_semiring_from_text(&text, &mine));
  OK(rig_semiring_by_name("lor_land", RIG_BOOL, &builtin));
  OK(rig_mxv(&w, x, v, mine, NULL));
  OK(rig_mxv(&other, x, v, builtin, NULL));
  want = table_of(other);
  CHECK(equals(w, &want));
  /* A vector and a semiring from text take no mask: the call says what does. */
  {
    rig_options options = no_options();
    options.mask = v;
    rig_free(w);
    w = NULL;
    FAILS(RIG_ERROR_CANNOT, "as a column", rig_mxv(&w, x, v, mine, &options));
    CHECK(w == NULL);
  }
  rig_free(x);
  rig_free(v);
  rig_free(other);
  rig_free_semiring(mine);
  rig_free_semiring(builtin);
}

static void test_refusals(void) {
  rig_semiring_text text = text_of("refused", RIG_FLOAT32, "x + y", "a * b", "0");
  rig_semiring* s = NULL;
  text.size = 8;
  FAILS(RIG_ERROR_SIZE, "size is 8", rig_semiring_from_text(&text, &s));
  text.size = sizeof text;
  text.name = NULL;
  FAILS(RIG_ERROR_NULL, "name", rig_semiring_from_text(&text, &s));
  text.name = "no name";
  FAILS(RIG_ERROR_FORMAT, "identifier", rig_semiring_from_text(&text, &s));
  text.name = "refused";
  text.type = RIG_FLOAT16;
  FAILS(RIG_ERROR_TYPE, "float16", rig_semiring_from_text(&text, &s));
  text.type = RIG_FLOAT32;
  text.add = NULL;
  FAILS(RIG_ERROR_FORMAT, "add is ''", rig_semiring_from_text(&text, &s));
  text.add = "x + nonsense";
  FAILS(RIG_ERROR_FORMAT, "nonsense", rig_semiring_from_text(&text, &s));
  text.add = "x - y";
  text.check = 1;
  FAILS(RIG_ERROR_FORMAT, "breaks a law", rig_semiring_from_text(&text, &s));
  CHECK(s == NULL);
}

/* Code is not taken from a folder that others may write to. */
static void test_folder_of_all(void) {
  rig_semiring_text text = text_of("refused", RIG_FLOAT32, "x + y", "a * b", "0");
  rig_semiring* s = NULL;
  char folder[4096];
  const char* const cache = getenv("XDG_CACHE_HOME");
  if (cache == NULL) { /* the test sets it */
    CHECK(cache != NULL);
    return;
  }
  snprintf(folder, sizeof folder, "%s/rigblas", cache);
  CHECK(chmod(folder, 0777) == 0);
  FAILS(RIG_ERROR_FORMAT, "other users may write", rig_semiring_from_text(&text, &s));
  CHECK(chmod(folder, 0700) == 0 && s == NULL);
}

int main(void) {
  test_sums(RIG_FLOAT32, 0);
  test_sums(RIG_INT64, 1);
  test_terminal();
  test_refusals();
  test_folder_of_all();
  return finished();
}
