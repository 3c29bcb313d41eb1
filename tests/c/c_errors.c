/* Misuse: each call has a status and a text, changes nothing, and each thread has its own text. */

#include <pthread.h>

#include "check.h"

static rig_container *a, *square, *full;
static rig_semiring* s;

static void test_null(void) {
  rig_container* c = NULL;
  rig_results* results = NULL;
  rig_semiring* none = NULL;
  rig_number number = integer_number(1);
  FAILS(RIG_ERROR_NULL, "rig_mxm: c is null", rig_mxm(NULL, a, full, s, NULL));
  FAILS(RIG_ERROR_NULL, "rig_mxm: a is null", rig_mxm(&c, NULL, full, s, NULL));
  FAILS(RIG_ERROR_NULL, "b is null", rig_mxm(&c, a, NULL, s, NULL));
  FAILS(RIG_ERROR_NULL, "semiring is null", rig_mxm(&c, a, full, NULL, NULL));
  FAILS(RIG_ERROR_NULL, "u is null", rig_mxv(&c, a, NULL, s, NULL));
  FAILS(RIG_ERROR_NULL, "u is null", rig_vxm(&c, NULL, a, s, NULL));
  FAILS(RIG_ERROR_NULL, "op is null", rig_ewise_add(&c, a, a, NULL, NULL));
  FAILS(RIG_ERROR_NULL, "b is null", rig_ewise_mult(&c, a, NULL, "plus", NULL));
  FAILS(RIG_ERROR_NULL, "op is null", rig_apply(&c, a, NULL, NULL));
  FAILS(RIG_ERROR_NULL, "y is null", rig_apply_number(&c, a, "plus", NULL, 0, NULL));
  FAILS(RIG_ERROR_NULL, "y is null", rig_select(&c, a, "less", NULL, NULL));
  FAILS(RIG_ERROR_NULL, "op is null", rig_reduce_rows(&c, a, NULL, NULL));
  FAILS(RIG_ERROR_NULL, "sum is null", rig_reduce(NULL, a, "plus", NULL));
  FAILS(RIG_ERROR_NULL, "a is null", rig_reduce(&number, NULL, "plus", NULL));
  FAILS(RIG_ERROR_NULL, "a is null", rig_transpose(&c, NULL, NULL));
  FAILS(RIG_ERROR_NULL, "arrays is null", rig_from_csr(NULL, &c));
  FAILS(RIG_ERROR_NULL, "out is null", rig_from_csr(NULL, NULL));
  FAILS(RIG_ERROR_NULL, "tuples is null", rig_from_tuples(NULL, &c));
  FAILS(RIG_ERROR_NULL, "elements is null", rig_view_elements(NULL, &c));
  FAILS(RIG_ERROR_NULL, "out is null", rig_new_dense(1, 1, RIG_BOOL, RIG_CPU, NULL));
  FAILS(RIG_ERROR_NULL, "path is null", rig_read_file(NULL, RIG_FLOAT32, NULL, &c));
  FAILS(RIG_ERROR_NULL, "tensor is null", rig_from_dlpack(NULL, NULL, &c));
  FAILS(RIG_ERROR_NULL, "dense is null", rig_to_dlpack(NULL, (struct DLManagedTensor**)&c));
  FAILS(RIG_ERROR_NULL, "of is null", rig_describe(NULL, NULL));
  FAILS(RIG_ERROR_NULL, "out is null", rig_describe(a, NULL));
  FAILS(RIG_ERROR_NULL, "of is null", rig_share(NULL, &c));
  FAILS(RIG_ERROR_NULL, "of is null", rig_copy_to(NULL, RIG_CPU, &c));
  FAILS(RIG_ERROR_NULL, "name is null", rig_semiring_by_name(NULL, RIG_FLOAT32, &none));
  FAILS(RIG_ERROR_NULL, "text is null", rig_semiring_from_text(NULL, &none));
  FAILS(RIG_ERROR_NULL, "algorithm is null", rig_run(NULL, a, NULL, 0, NULL, &results));
  FAILS(RIG_ERROR_NULL, "graph is null", rig_run("scc", NULL, NULL, 0, NULL, &results));
  FAILS(RIG_ERROR_NULL, "arguments is null", rig_run("scc", a, NULL, 1, NULL, &results));
  FAILS(RIG_ERROR_NULL, "of is null", rig_result_number(NULL, "x", &number));
  FAILS(RIG_ERROR_NULL, "of is null", rig_result_container(NULL, "x", &c));
  CHECK(c == NULL && none == NULL && results == NULL && number.integer == 1);
  CHECK(rig_result_name(NULL, 0) == NULL);
  rig_free(NULL);
  rig_free_semiring(NULL);
  rig_free_results(NULL);
}

static void test_sizes(void) {
  struct {
    rig_options known;
    int64_t later;
  } options;
  struct {
    rig_description known;
    int64_t later;
  } description;
  rig_csr arrays;
  rig_container* c = NULL;
  memset(&options, 0, sizeof options);
  FAILS(RIG_ERROR_SIZE, "size is 0", rig_mxm(&c, a, full, s, &options.known));
  options.known.size = sizeof options.known - 8;
  FAILS(RIG_ERROR_SIZE, "options->size", rig_mxm(&c, a, full, s, &options.known));
  options.known.size = (size_t)-1; /* not set */
  FAILS(RIG_ERROR_SIZE, "options->size", rig_mxm(&c, a, full, s, &options.known));
  options.known.size = sizeof options;
  options.later = 1;
  FAILS(RIG_ERROR_SIZE, "later library", rig_mxm(&c, a, full, s, &options.known));
  CHECK(c == NULL);
  options.later = 0; /* a later program that uses what this library has */
  OK(rig_mxm(&c, a, full, s, &options.known));
  rig_free(c);
  c = NULL;
  memset(&arrays, 0, sizeof arrays);
  arrays.size = 8;
  FAILS(RIG_ERROR_SIZE, "arrays->size is 8", rig_from_csr(&arrays, &c));
  FAILS(RIG_ERROR_SIZE, "out->size is 8", rig_csr_of(a, &arrays));
  CHECK(arrays.rows == 0);
  memset(&description, 0xff, sizeof description);
  description.known.size = sizeof description;
  OK(rig_describe(a, &description.known));
  CHECK(description.known.size == sizeof description && description.later == 0);
  CHECK(description.known.kind == RIG_MATRIX && description.known.rows == 4);
}

/* Programs that were compiled with this header meet later libraries: sizes stay, or fields were
   added at the end. No struct ends in padding, where a new field would lie in bytes that such a
   program never set. */
#define ENDS(type, last, size) \
  (sizeof(type) == (size) && offsetof(type, last) + sizeof(((type*)0)->last) == sizeof(type))
static void test_layouts(void) {
  CHECK(ENDS(rig_number, real, 24));
  CHECK(ENDS(rig_csr, owner, 128));
  CHECK(ENDS(rig_tuples, combine, 80));
  CHECK(ENDS(rig_elements, owner, 80));
  CHECK(ENDS(rig_description, entries, 48));
  CHECK(ENDS(rig_semiring_text, terminal, 64));
  CHECK(ENDS(rig_options, indices, 136));
  CHECK(ENDS(rig_argument, container, 40));
}

/* Each wrong call leaves C as it was. */
static void test_meaning(void) {
  rig_options options = no_options();
  table before = table_of(full);
  rig_container *c = full, *sparse = a, *none = NULL;
  rig_number number = {0, 0, 0}, three = integer_number(3);
  FAILS(RIG_ERROR_SHAPE, "4x6", rig_mxm(&c, a, full, s, NULL));
  FAILS(RIG_ERROR_TYPE, "the result is a dense", rig_mxm(&sparse, a, full, s, NULL));
  FAILS(RIG_ERROR_TYPE, "the result is a matrix", rig_mxm(&c, square, square, s, NULL));
  FAILS(RIG_ERROR_SHAPE, "4x6", rig_mxm(&none, a, a, s, NULL));
  FAILS(RIG_ERROR_CANNOT, "B sparse", rig_mxm(&none, full, a, s, NULL));
  FAILS(RIG_ERROR_CANNOT, "sparse mask", rig_mxm(&none, full, full, s, NULL));
  FAILS(RIG_ERROR_TYPE, "u is a matrix", rig_mxv(&none, a, a, s, NULL));
  FAILS(RIG_ERROR_SHAPE, "one column", rig_mxv(&none, a, full, s, NULL));
  FAILS(RIG_ERROR_TYPE, "give a sparse matrix", rig_mxv(&none, full, full, s, NULL));
  options.kernel = "no_such";
  FAILS(RIG_ERROR_UNKNOWN_KERNEL, "no_such", rig_mxm(&none, a, full, s, &options));
  options = no_options();
  options.accumulate = "no_such";
  FAILS(RIG_ERROR_RANGE, "give one of none, own, plus", rig_mxm(&c, a, full, s, &options));
  options.accumulate = "plus";
  FAILS(RIG_ERROR_CANNOT, "C, which is null", rig_mxm(&none, a, full, s, &options));
  options = no_options();
  options.mask_structure = 1;
  FAILS(RIG_ERROR_CANNOT, "need a mask", rig_mxm(&none, a, full, s, &options));
  options = no_options();
  options.type = (rig_type)99;
  FAILS(RIG_ERROR_TYPE, "type 99", rig_mxm(&none, a, full, s, &options));
  options.type = RIG_FLOAT64;
  FAILS(RIG_ERROR_CANNOT, "has a type", rig_apply(&c, full, "square", &options));
  options = no_options();
  options.fill.kind = 9;
  FAILS(RIG_ERROR_RANGE, "kind 9", rig_mxm(&none, a, full, s, &options));
  options.fill = real_number(0.5);
  options.type = RIG_INT32;
  FAILS(RIG_ERROR_RANGE, "0.5", rig_mxm(&none, a, full, s, &options));
  FAILS(RIG_ERROR_RANGE, "'no_such'; give one of plus",
        rig_ewise_add(&none, a, a, "no_such", NULL));
  FAILS(RIG_ERROR_RANGE, "give one of identity", rig_apply(&none, a, "plus", NULL));
  FAILS(RIG_ERROR_RANGE, "is no number", rig_apply_number(&none, a, "plus", &number, 0, NULL));
  FAILS(RIG_ERROR_RANGE, "give one of lower", rig_select(&none, a, "plus", &three, NULL));
  FAILS(RIG_ERROR_TYPE, "dense", rig_select(&none, full, "less", &three, NULL));
  FAILS(RIG_ERROR_CANNOT, "", rig_reduce_rows(&none, a, "minus", NULL));
  FAILS(RIG_ERROR_CANNOT, "", rig_reduce(&number, a, "less", NULL));
  options = no_options();
  options.accumulate = "plus";
  FAILS(RIG_ERROR_CANNOT, "one number", rig_reduce(&number, a, "plus", &options));
  options = no_options();
  options.indices = &none;
  FAILS(RIG_ERROR_CANNOT, "one number", rig_reduce(&number, a, "plus", &options));
  FAILS(RIG_ERROR_CANNOT, "leave indices null", rig_transpose(&c, a, &options));
  options = no_options();
  FAILS(RIG_ERROR_RANGE, "no_such",
        rig_semiring_by_name("no_such", RIG_FLOAT32, (rig_semiring**)&none));
  FAILS(RIG_ERROR_RANGE, "over int64 is named 'plus_times'; there are some over float",
        rig_semiring_by_name("plus_times", RIG_INT64, (rig_semiring**)&none));
  FAILS(RIG_ERROR_TYPE, "type 0", rig_new_dense(1, 1, (rig_type)0, RIG_CPU, &none));
  FAILS(RIG_ERROR_SHAPE, "-1", rig_new_dense(-1, 1, RIG_FLOAT32, RIG_CPU, &none));
  FAILS(RIG_ERROR_PLACE, "place -1", rig_new_dense(1, 1, RIG_FLOAT32, RIG_CUDA(-1), &none));
  FAILS(RIG_ERROR_PLACE, "place -3", rig_new_dense(1, 1, RIG_FLOAT32, -3, &none));
  FAILS(RIG_ERROR_PLACE, "cuda:77", rig_new_dense(1, 1, RIG_FLOAT32, RIG_CUDA(77), &none));
  FAILS(RIG_ERROR_PLACE, "cuda:77", rig_copy_to(a, RIG_CUDA(77), &none));
  FAILS(RIG_ERROR_OUT_OF_MEMORY, "memory",
        rig_new_dense(2147483647, 2147483647, RIG_FLOAT64, RIG_CPU, &none));
  FAILS(RIG_ERROR_TYPE, "call rig_elements_of",
        rig_csr_of(full, &(rig_csr){.size = sizeof(rig_csr)}));
  FAILS(RIG_ERROR_TYPE, "is sparse",
        rig_elements_of(a, &(rig_elements){.size = sizeof(rig_elements)}));
  CHECK(none == NULL && c == full && sparse == a && number.kind == 0);
  CHECK(equals(full, &before));
}

static void test_arrays(void) {
  int32_t offsets[] = {0, 1, 2}, indices[] = {0, 1};
  float values[] = {1, 2};
  rig_csr arrays, good;
  rig_container* c = NULL;
  memset(&good, 0, sizeof good);
  good.size = sizeof good;
  good.rows = good.columns = good.entries = 2;
  good.offsets = offsets;
  good.indices = indices;
  good.values = values;
  good.offset_type = good.index_type = RIG_INT32;
  good.type = RIG_FLOAT32;
  for (good.copy = 0; good.copy < 2; ++good.copy) {
    arrays = good;
    arrays.rows = -1;
    FAILS(RIG_ERROR_SHAPE, "-1", rig_from_csr(&arrays, &c));
    arrays.rows = (int64_t)1 << 40;
    FAILS(RIG_ERROR_SHAPE, "", rig_from_csr(&arrays, &c));
    arrays = good;
    arrays.offsets = NULL;
    FAILS(RIG_ERROR_NULL, "offsets is null", rig_from_csr(&arrays, &c));
    arrays = good;
    arrays.indices = NULL;
    FAILS(RIG_ERROR_NULL, "indices is null", rig_from_csr(&arrays, &c));
    arrays = good;
    arrays.offset_type = RIG_FLOAT32;
    FAILS(RIG_ERROR_TYPE, "RIG_INT64", rig_from_csr(&arrays, &c));
    arrays = good;
    arrays.type = (rig_type)0;
    FAILS(RIG_ERROR_TYPE, "type 0", rig_from_csr(&arrays, &c));
    arrays = good;
    arrays.entries = 1;
    FAILS(RIG_ERROR_SHAPE, "", rig_from_csr(&arrays, &c));
    arrays = good;
    arrays.is_vector = 1;
    FAILS(RIG_ERROR_SHAPE, "1 row, not 2", rig_from_csr(&arrays, &c));
    indices[1] = 2;
    FAILS(RIG_ERROR_RANGE, "2", rig_from_csr(&good, &c));
    indices[1] = 1;
  }
  good.copy = 0;
  good.place = -5;
  FAILS(RIG_ERROR_PLACE, "place -5", rig_from_csr(&good, &c));
  good.place = RIG_CPU;
  good.index_type = RIG_INT64;
  CHECK(rig_from_csr(&good, &c) != RIG_OK);
  CHECK(c == NULL);
}

static void test_algorithms(void) {
  rig_results* results = NULL;
  rig_argument arguments[2];
  rig_options options = no_options();
  rig_number number;
  rig_container* c = NULL;
  memset(arguments, 0, sizeof arguments);
  FAILS(RIG_ERROR_RANGE, "there are betweenness, bfs",
        rig_run("no_such", square, NULL, 0, NULL, &results));
  FAILS(RIG_ERROR_RANGE, "source is missing", rig_run("bfs", square, NULL, 0, NULL, &results));
  FAILS(RIG_ERROR_NULL, "name", rig_run("bfs", square, arguments, 1, NULL, &results));
  arguments[0].name = "sauce";
  FAILS(RIG_ERROR_RANGE, "it has source, parents",
        rig_run("bfs", square, arguments, 1, NULL, &results));
  arguments[0].name = arguments[1].name = "source";
  FAILS(RIG_ERROR_DUPLICATE, "source", rig_run("bfs", square, arguments, 2, NULL, &results));
  FAILS(RIG_ERROR_RANGE, "is no number", rig_run("bfs", square, arguments, 1, NULL, &results));
  arguments[0].number = real_number(0.5);
  FAILS(RIG_ERROR_RANGE, "0.5", rig_run("bfs", square, arguments, 1, NULL, &results));
  arguments[0].number = integer_number(99);
  FAILS(RIG_ERROR_RANGE, "99", rig_run("bfs", square, arguments, 1, NULL, &results));
  arguments[0].container = full;
  FAILS(RIG_ERROR_TYPE, "give a number", rig_run("bfs", square, arguments, 1, NULL, &results));
  FAILS(RIG_ERROR_SHAPE, "4x6", rig_run("scc", a, NULL, 0, NULL, &results));
  FAILS(RIG_ERROR_TYPE, "dense", rig_run("scc", full, NULL, 0, NULL, &results));
  options.transpose_a = 1;
  FAILS(RIG_ERROR_CANNOT, "alone", rig_run("scc", square, NULL, 0, &options, &results));
  CHECK(results == NULL);
  OK(rig_run("scc", square, NULL, 0, NULL, &results));
  FAILS(RIG_ERROR_RANGE, "there are labels, count", rig_result_number(results, "x", &number));
  FAILS(RIG_ERROR_TYPE, "rig_result_container", rig_result_number(results, "labels", &number));
  FAILS(RIG_ERROR_TYPE, "rig_result_number", rig_result_container(results, "count", &c));
  CHECK(c == NULL);
  rig_free_results(results);
}

static void* other_thread(void* failed) {
  rig_container* c = NULL;
  *(int*)failed = strcmp(rig_error_message(), "") != 0;
  rig_mxm(NULL, a, full, s, NULL);
  *(int*)failed |= strcmp(rig_error_message(), "rig_mxm: c is null") != 0;
  rig_transpose(&c, a, NULL);
  rig_free(c);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[8];
  int failed[8], n;
  rig_container* c = NULL;
  FAILS(RIG_ERROR_NULL, "a is null", rig_transpose(&c, NULL, NULL));
  for (n = 0; n < 8; ++n) CHECK(pthread_create(&threads[n], NULL, other_thread, &failed[n]) == 0);
  for (n = 0; n < 8; ++n) {
    pthread_join(threads[n], NULL);
    CHECK(failed[n] == 0);
  }
  CHECK(strcmp(rig_error_message(), "rig_transpose: a is null") == 0);
}

int main(void) {
  table x = made_table(4, 6, 50, 1), y = made_table(6, 3, 100, 2), z = made_table(5, 5, 40, 3);
  CHECK(strcmp(rig_error_message(), "") == 0);
  CHECK(rig_version()[0] != '\0');
  a = sparse_of(&x, RIG_FLOAT32, 0);
  square = sparse_of(&z, RIG_FLOAT32, 0);
  full = dense_of(&y, RIG_FLOAT32);
  OK(rig_semiring_by_name("plus_times", RIG_FLOAT32, &s));
  test_null();
  test_sizes();
  test_layouts();
  test_meaning();
  test_arrays();
  test_algorithms();
  test_threads();
  rig_free(a);
  rig_free(square);
  rig_free(full);
  rig_free_semiring(s);
  return finished();
}
