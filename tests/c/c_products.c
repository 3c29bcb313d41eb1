/* Products of every element type against three loops: dense and sparse, turned, masked, joined. */

#include "check.h"

/* A ⊕.⊗ B over plus_times or max_second; `has` says where there is a product. */
static table product(const table* a, const table* b, int is_max, int b_is_dense) {
  table out;
  int i, j, k;
  memset(&out, 0, sizeof out);
  out.rows = a->rows;
  out.columns = b->columns;
  for (i = 0; i < a->rows; ++i)
    for (k = 0; k < a->columns; ++k)
      for (j = 0; a->has[i][k] && j < b->columns; ++j) {
        double term = is_max ? b->value[k][j] : a->value[i][k] * b->value[k][j];
        if (!b_is_dense && !b->has[k][j]) continue;
        if (!out.has[i][j])
          out.value[i][j] = term;
        else if (!is_max)
          out.value[i][j] += term;
        else if (term > out.value[i][j])
          out.value[i][j] = term;
        out.has[i][j] = 1;
      }
  return out;
}
static table turned(const table* a) {
  table out;
  int i, j;
  memset(&out, 0, sizeof out);
  out.rows = a->columns;
  out.columns = a->rows;
  for (i = 0; i < a->rows; ++i)
    for (j = 0; j < a->columns; ++j) {
      out.has[j][i] = a->has[i][j];
      out.value[j][i] = a->value[i][j];
    }
  return out;
}
/* A dense result: places without products have the fill. */
static table filled(table of, double fill) {
  int i, j;
  for (i = 0; i < of.rows; ++i)
    for (j = 0; j < of.columns; ++j)
      if (!of.has[i][j]) {
        of.has[i][j] = 1;
        of.value[i][j] = fill;
      }
  return of;
}
/* Elements of a bool are 0 or 1. */
static table as_stored(table of, rig_type type) {
  int i, j;
  for (i = 0; type == RIG_BOOL && i < of.rows; ++i)
    for (j = 0; j < of.columns; ++j) of.value[i][j] = of.value[i][j] != 0;
  return of;
}

static void test_types(rig_type of_a, rig_type of_b, rig_semiring* semiring, int is_max) {
  table a = as_stored(made_table(7, 9, 35, 11u + of_a), of_a);
  table b = as_stored(made_table(9, 5, 50, 23u + of_b), of_b);
  rig_container *x = sparse_of(&a, of_a, 0), *full = dense_of(&b, of_b),
                *y = sparse_of(&b, of_b, 0), *c = NULL, *s = NULL;
  rig_options options = no_options();
  rig_description what;
  table want = product(&a, &b, is_max, 1);
  options.fill = integer_number(0);
  OK(rig_mxm(&c, x, full, semiring, &options));
  want = filled(want, 0);
  CHECK(equals(c, &want));
  memset(&what, 0, sizeof what);
  what.size = sizeof what;
  OK(rig_describe(c, &what));
  CHECK(what.kind == RIG_DENSE && what.type == RIG_FLOAT32 && what.place == RIG_CPU);
  CHECK(what.entries == 35);
  OK(rig_mxm(&s, x, y, semiring, NULL));
  want = product(&a, &b, is_max, 0);
  CHECK(equals(s, &want));
  rig_free(x);
  rig_free(full);
  rig_free(y);
  rig_free(c);
  rig_free(s);
}

static void test_forms(rig_semiring* plus_times) {
  table a = made_table(8, 8, 30, 5), b = made_table(8, 4, 100, 6), m = made_table(8, 4, 50, 7);
  table at = turned(&a), want, before = made_table(8, 4, 100, 8);
  rig_container *x = sparse_of(&a, RIG_FLOAT32, 0), *y = dense_of(&b, RIG_FLOAT32),
                *mask = sparse_of(&m, RIG_FLOAT32, 0), *c = NULL;
  rig_options options = no_options();
  rig_elements place, again;
  int i, j;

  options.transpose_a = 1;
  options.type = RIG_FLOAT64;
  OK(rig_mxm(&c, x, y, plus_times, &options));
  want = filled(product(&at, &b, 0, 1), 0);
  CHECK(equals(c, &want));
  rig_free(c);

  /* Into an existing result, in place, under a mask by structure, joined by plus. */
  c = dense_of(&before, RIG_FLOAT32);
  memset(&place, 0, sizeof place);
  place.size = sizeof place;
  again = place;
  OK(rig_elements_of(c, &place));
  options = no_options();
  options.accumulate = "plus";
  options.mask = mask;
  options.mask_structure = 1;
  OK(rig_mxm(&c, x, y, plus_times, &options));
  want = product(&a, &b, 0, 1);
  for (i = 0; i < 8; ++i)
    for (j = 0; j < 4; ++j) {
      want.value[i][j] = before.value[i][j] + (m.has[i][j] ? want.value[i][j] : 0);
      want.has[i][j] = 1;
    }
  CHECK(equals(c, &want));
  OK(rig_elements_of(c, &again));
  CHECK(place.data == again.data);

  /* A product of two dense under a sparse mask has the mask's places. */
  {
    table l = made_table(8, 6, 100, 9), r = made_table(6, 4, 100, 10);
    rig_container *left = dense_of(&l, RIG_FLOAT32), *right = dense_of(&r, RIG_FLOAT32), *d = NULL;
    options = no_options();
    options.mask = mask;
    options.mask_structure = 1;
    OK(rig_mxm(&d, left, right, plus_times, &options));
    for (i = 0; i < 8; ++i)
      for (j = 0; j < 6; ++j) l.has[i][j] = 1;
    want = product(&l, &r, 0, 1);
    for (i = 0; i < 8; ++i)
      for (j = 0; j < 4; ++j) want.has[i][j] = m.has[i][j];
    CHECK(equals(d, &want));
    rig_free(left);
    rig_free(right);
    rig_free(d);
  }
  /* A sparse result that is also an operand. */
  {
    rig_container* square = NULL;
    OK(rig_share(x, &square));
    OK(rig_mxm(&square, square, square, plus_times, NULL));
    want = product(&a, &a, 0, 0);
    CHECK(equals(square, &want));
    CHECK(equals(x, &a));
    rig_free(square);
  }
  rig_free(x);
  rig_free(y);
  rig_free(mask);
  rig_free(c);
}

static void test_vectors(const char* name, int is_max) {
  table a = made_table(6, 8, 40, 15), u = made_table(1, 8, 50, 16), v = made_table(1, 6, 50, 17);
  table column = turned(&u), want;
  rig_semiring *s = NULL, *turned_round = NULL;
  rig_container *x = sparse_of(&a, RIG_FLOAT32, 0), *sparse_u = sparse_of(&u, RIG_FLOAT32, 1),
                *dense_u = dense_of(&column, RIG_FLOAT32),
                *sparse_v = sparse_of(&v, RIG_FLOAT32, 1), *w = NULL;
  rig_options options = no_options();
  table down = turned(&v);
  rig_container* dense_v = dense_of(&down, RIG_FLOAT32);
  OK(rig_semiring_by_name(name, RIG_FLOAT32, &s));
  OK(rig_mxv(&w, x, sparse_u, s, NULL));
  want = product(&a, &column, is_max, 0);
  want = turned(&want);
  CHECK(equals(w, &want));
  rig_free(w);
  w = NULL;
  options.fill = integer_number(0);
  OK(rig_mxv(&w, x, dense_u, s, &options));
  want = filled(product(&a, &column, is_max, 1), 0);
  CHECK(equals(w, &want));
  rig_free(w);
  w = NULL;
  OK(rig_vxm(&w, sparse_v, x, s, NULL));
  want = product(&v, &a, is_max, 0);
  CHECK(equals(w, &want));
  rig_free(w);
  w = NULL;
  /* u ⊗ a of a dense u: the second operand of max_second is the entry. It is the product of Aᵀ over
     max_first, which a build may leave out. */
  if (is_max && rig_semiring_by_name("max_first", RIG_FLOAT32, &turned_round) != RIG_OK) {
    FAILS(RIG_ERROR_CANNOT, "exchanged", rig_vxm(&w, dense_v, x, s, &options));
    CHECK(w == NULL);
  } else {
    int i;
    OK(rig_vxm(&w, dense_v, x, s, &options));
    for (i = 0; i < 6; ++i) v.has[0][i] = 1;
    want = product(&v, &a, is_max, 0);
    want = turned(&want);
    want = filled(want, 0);
    CHECK(equals(w, &want));
  }
  rig_free(w);
  rig_free(x);
  rig_free(sparse_u);
  rig_free(dense_u);
  rig_free(sparse_v);
  rig_free(dense_v);
  rig_free_semiring(s);
  rig_free_semiring(turned_round);
}

static void test_indices(void) {
  table a = made_table(6, 8, 40, 25), b = made_table(8, 3, 100, 26), values, places;
  rig_semiring* s = NULL;
  rig_container *x = sparse_of(&a, RIG_FLOAT32, 0), *y = dense_of(&b, RIG_FLOAT32), *c = NULL,
                *at = NULL;
  rig_options options = no_options();
  int i, j, k;
  OK(rig_semiring_by_name("arg_max_second", RIG_FLOAT32, &s));
  FAILS(RIG_ERROR_CANNOT, "indices", rig_mxm(&c, x, y, s, NULL));
  CHECK(c == NULL);
  options.indices = &at;
  options.fill = integer_number(0);
  OK(rig_mxm(&c, x, y, s, &options));
  memset(&places, 0, sizeof places);
  places.rows = 6;
  places.columns = 3;
  values = places;
  for (i = 0; i < 6; ++i)
    for (j = 0; j < 3; ++j) {
      places.has[i][j] = values.has[i][j] = 1;
      places.value[i][j] = -1;
      for (k = 0; k < 8; ++k)
        if (a.has[i][k] && (places.value[i][j] < 0 || b.value[k][j] > values.value[i][j])) {
          places.value[i][j] = k;
          values.value[i][j] = b.value[k][j];
        }
    }
  CHECK(equals(c, &values));
  CHECK(equals(at, &places));
  OK(rig_mxm(&c, x, y, s, &options)); /* into both again */
  CHECK(equals(at, &places));
  rig_free(x);
  rig_free(y);
  rig_free(c);
  rig_free(at);
  rig_free_semiring(s);
}

int main(void) {
  rig_semiring *plus_times = NULL, *max_second = NULL;
  int of_a, of_b;
  OK(rig_semiring_by_name("plus_times", RIG_FLOAT32, &plus_times));
  OK(rig_semiring_by_name("max_second", RIG_FLOAT32, &max_second));
  for (of_a = RIG_BOOL; of_a <= RIG_BFLOAT16; ++of_a)
    for (of_b = RIG_BOOL; of_b <= RIG_BFLOAT16; ++of_b) {
      test_types((rig_type)of_a, (rig_type)of_b, plus_times, 0);
      test_types((rig_type)of_a, (rig_type)of_b, max_second, 1);
    }
  test_forms(plus_times);
  test_vectors("plus_times", 0);
  test_vectors("max_second", 1);
  test_indices();
  rig_free_semiring(plus_times);
  rig_free_semiring(max_second);
  return finished();
}
