/* Containers over memory of the program: views, copies, tuples, files, DLPack, and who frees. */

#include "check.h"

static int released = 0;
static void release(void* owner) {
  ++released;
  *(int*)owner += 1;
}

static void test_views(void) {
  static const int64_t offsets[] = {0, 2, 2, 3};
  static const int32_t indices[] = {0, 2, 1};
  static const double values[] = {1, 2, 3};
  int owner = 0;
  rig_csr arrays, out;
  rig_container *a = NULL, *b = NULL, *c = NULL;
  rig_number two = integer_number(2);
  memset(&arrays, 0, sizeof arrays);
  memset(&out, 0, sizeof out);
  arrays.size = out.size = sizeof arrays;
  arrays.rows = arrays.columns = arrays.entries = 3;
  arrays.offsets = offsets;
  arrays.indices = indices;
  arrays.values = values;
  arrays.offset_type = RIG_INT64;
  arrays.index_type = RIG_INT32;
  arrays.type = RIG_FLOAT64;
  arrays.release = release;
  arrays.owner = &owner;
  released = 0;
  OK(rig_from_csr(&arrays, &a));
  OK(rig_csr_of(a, &out));
  CHECK(out.offsets == (const void*)offsets && out.indices == (const void*)indices);
  CHECK(out.values == (const void*)values && out.entries == 3 && out.type == RIG_FLOAT64);
  OK(rig_share(a, &b));
  rig_free(a);
  CHECK(released == 0);
  OK(rig_apply_number(&c, b, "times", &two, 0, NULL)); /* shares the places */
  rig_free(b);
  CHECK(released == 0);
  OK(rig_csr_of(c, &out));
  CHECK(out.indices == (const void*)indices && ((const double*)out.values)[2] == 6);
  rig_free(c);
  CHECK(released == 1 && owner == 1);

  /* One value, and none. */
  arrays.values = NULL;
  arrays.release = NULL;
  arrays.value = real_number(0.5);
  OK(rig_from_csr(&arrays, &a));
  OK(rig_csr_of(a, &out));
  CHECK(out.values == NULL && out.value.kind == RIG_REAL && out.value.real == 0.5);
  rig_free(a);
  memset(&arrays.value, 0, sizeof arrays.value);
  arrays.type = RIG_INT32;
  OK(rig_from_csr(&arrays, &a));
  OK(rig_csr_of(a, &out));
  CHECK(out.value.kind == RIG_INTEGER && out.value.integer == 1);
  rig_free(a);
}

static void test_copies(void) {
  static const int32_t offsets[] = {0, 3, 4};
  int64_t indices[] = {2, 0, 1, 2};
  float values[] = {3, 1, 2, 4};
  int owner = 0;
  table want;
  rig_csr arrays;
  rig_container* a = NULL;
  memset(&arrays, 0, sizeof arrays);
  memset(&want, 0, sizeof want);
  arrays.size = sizeof arrays;
  arrays.rows = 2;
  arrays.columns = 3;
  arrays.entries = 4;
  arrays.offsets = offsets;
  arrays.indices = indices;
  arrays.values = values;
  arrays.offset_type = RIG_INT32;
  arrays.index_type = RIG_INT64;
  arrays.type = RIG_FLOAT32;
  arrays.copy = 1;
  arrays.release = release;
  arrays.owner = &owner;
  OK(rig_from_csr(&arrays, &a));
  CHECK(owner == 1); /* what is copied is read no longer */
  memset(indices, 0, sizeof indices);
  memset(values, 0, sizeof values);
  want.rows = 2;
  want.columns = 3;
  want.has[0][0] = want.has[0][1] = want.has[0][2] = want.has[1][2] = 1;
  want.value[0][0] = 1;
  want.value[0][1] = 2;
  want.value[0][2] = 3;
  want.value[1][2] = 4;
  CHECK(equals(a, &want));
  rig_free(a);
  CHECK(owner == 1);
}

static void test_tuples(rig_type type) {
  static const int64_t rows[] = {2, 0, 2, 1, 2}, columns[] = {1, 3, 1, 0, 0};
  static const double numbers[] = {1, 2, 3, 4, 5};
  double memory[5];
  table want;
  rig_tuples tuples;
  rig_container* a = NULL;
  int n;
  memset(&tuples, 0, sizeof tuples);
  memset(&want, 0, sizeof want);
  for (n = 0; n < 5; ++n) store(memory, (size_t)n, type, numbers[n]);
  tuples.size = sizeof tuples;
  tuples.rows = 3;
  tuples.columns = 4;
  tuples.count = 5;
  tuples.row_indices = rows;
  tuples.column_indices = columns;
  tuples.values = memory;
  tuples.index_type = RIG_INT64;
  tuples.type = type;
  FAILS(RIG_ERROR_DUPLICATE, "(2, 1)", rig_from_tuples(&tuples, &a));
  CHECK(a == NULL);
  tuples.combine = "plus";
  OK(rig_from_tuples(&tuples, &a));
  want.rows = 3;
  want.columns = 4;
  want.has[0][3] = want.has[1][0] = want.has[2][0] = want.has[2][1] = 1;
  want.value[0][3] = 2;
  want.value[1][0] = 4;
  want.value[2][0] = 5;
  want.value[2][1] = 4;
  CHECK(equals(a, &want));
  rig_free(a);
  tuples.values = NULL;
  OK(rig_from_tuples(&tuples, &a));
  want.value[0][3] = want.value[1][0] = want.value[2][0] = want.value[2][1] = 1;
  CHECK(equals(a, &want));
  rig_free(a);
  a = NULL;
  tuples.is_vector = 1;
  tuples.rows = 1;
  tuples.count = 2;
  OK(rig_from_tuples(&tuples, &a));
  memset(&want, 0, sizeof want);
  want.rows = 1;
  want.columns = 4;
  want.has[0][1] = want.has[0][3] = 1;
  want.value[0][1] = want.value[0][3] = 1;
  CHECK(equals(a, &want));
  rig_free(a);
}

static void test_elements(void) {
  float memory[] = {1, 2, 0, 3, 4, 0};
  const float before[] = {1, 2, 0, 3, 4, 0};
  int owner = 0;
  rig_elements at;
  rig_container *view = NULL, *other = NULL;
  rig_number ten = integer_number(10);
  memset(&at, 0, sizeof at);
  at.size = sizeof at;
  at.data = memory;
  at.rows = 2;
  at.columns = 2;
  at.stride = 3;
  at.type = RIG_FLOAT32;
  at.read_only = 1;
  at.release = release;
  at.owner = &owner;
  OK(rig_view_elements(&at, &view));
  FAILS(RIG_ERROR_READ_ONLY, "read-only", rig_apply_number(&view, view, "plus", &ten, 0, NULL));
  CHECK(memcmp(memory, before, sizeof memory) == 0);
  rig_free(view);
  CHECK(owner == 1);
  at.read_only = 0;
  OK(rig_view_elements(&at, &view));
  OK(rig_share(view, &other));
  OK(rig_apply_number(&view, view, "plus", &ten, 0, NULL));
  CHECK(memory[0] == 11 && memory[1] == 12 && memory[2] == 0 && memory[3] == 13);
  rig_free(view);
  CHECK(owner == 1);
  OK(rig_elements_of(other, &at));
  CHECK(at.data == memory && at.stride == 3 && at.type == RIG_FLOAT32);
  rig_free(other);
  CHECK(owner == 2);
}

static void test_files(const char* path) {
  FILE* file = fopen(path, "w");
  table want;
  rig_container* a = NULL;
  int type;
  fputs("%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 3 7\n2 1 1\n", file);
  fclose(file);
  memset(&want, 0, sizeof want);
  want.rows = 2;
  want.columns = 3;
  want.has[0][2] = want.has[1][0] = 1;
  want.value[0][2] = 7;
  want.value[1][0] = 1;
  for (type = RIG_INT32; type <= RIG_BFLOAT16; ++type) {
    a = NULL;
    OK(rig_read_file(path, (rig_type)type, NULL, &a));
    CHECK(equals(a, &want));
    rig_free(a);
  }
  a = NULL;
  remove(path);
  FAILS(RIG_ERROR_IO, path, rig_read_file(path, RIG_FLOAT32, NULL, &a));
  CHECK(a == NULL);
}

/* A list of edges whose words, size and repeated edges only the program knows. */
static void test_read_options(const char* path) {
  FILE* file = fopen(path, "w");
  table want;
  rig_container* a = NULL;
  rig_read_options options;
  fputs("0,1,2.5,x\n0,1,4,y\n2,0,1,z\n", file);
  fclose(file);
  memset(&options, 0, sizeof options);
  FAILS(RIG_ERROR_SIZE, "options->size is 0", rig_read_file(path, RIG_FLOAT32, &options, &a));
  options.size = sizeof options;
  FAILS(RIG_ERROR_FORMAT, path, rig_read_file(path, RIG_FLOAT32, &options, &a));
  options.separator = ',';
  options.extra_columns = 1;
  FAILS(RIG_ERROR_FORMAT, "on line 1; set", rig_read_file(path, RIG_FLOAT32, &options, &a));
  options.duplicates = "sum";
  FAILS(RIG_ERROR_RANGE, "options->duplicates", rig_read_file(path, RIG_FLOAT32, &options, &a));
  options.separator = 300;
  FAILS(RIG_ERROR_RANGE, "separator is 300", rig_read_file(path, RIG_FLOAT32, &options, &a));
  options.separator = ',';
  options.duplicates = "plus";
  options.nodes = 4;
  OK(rig_read_file(path, RIG_FLOAT32, &options, &a));
  memset(&want, 0, sizeof want);
  want.rows = want.columns = 4;
  want.has[0][1] = want.has[2][0] = 1;
  want.value[0][1] = 6.5;
  want.value[2][0] = 1;
  CHECK(equals(a, &want));
  rig_free(a);
  a = NULL;
  options.no_values = options.symmetrise = 1;
  OK(rig_read_file(path, RIG_FLOAT32, &options, &a));
  want.has[1][0] = want.has[0][2] = 1;
  want.value[0][1] = want.value[1][0] = want.value[0][2] = 1;
  CHECK(equals(a, &want));
  rig_free(a);
  remove(path);
}

/* DLPack's structs, as its header has them. */
typedef struct {
  int32_t device_type, device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor*);
} DLManagedTensor;

static void delete_tensor(DLManagedTensor* of) { *(int*)of->manager_ctx += 1; }

static void test_dlpack(void) {
  static const struct {
    rig_type type;
    uint8_t code, bits;
  } types[] = {{RIG_BOOL, 6, 8},     {RIG_INT32, 0, 32},   {RIG_INT64, 0, 64},
               {RIG_FLOAT32, 2, 32}, {RIG_FLOAT64, 2, 64}, {RIG_FLOAT16, 2, 16},
               {RIG_BFLOAT16, 4, 16}};
  size_t n;
  for (n = 0; n < sizeof types / sizeof *types; ++n) {
    double memory[8] = {0};
    int64_t shape[2] = {2, 2}, strides[2] = {3, 1};
    int deleted = 0;
    DLManagedTensor in, *out = NULL;
    rig_container* view = NULL;
    rig_elements at;
    table got;
    store(memory, 1, types[n].type, 1);
    store(memory, 5, types[n].type, 1);
    memset(&in, 0, sizeof in);
    memset(&at, 0, sizeof at);
    at.size = sizeof at;
    in.dl_tensor.data = memory;
    in.dl_tensor.device.device_type = 1;
    in.dl_tensor.ndim = 2;
    in.dl_tensor.dtype.code = types[n].code;
    in.dl_tensor.dtype.bits = types[n].bits;
    in.dl_tensor.dtype.lanes = 1;
    in.dl_tensor.shape = shape;
    in.dl_tensor.strides = strides;
    in.dl_tensor.byte_offset = bytes_of(types[n].type);
    in.manager_ctx = &deleted;
    in.deleter = delete_tensor;
    OK(rig_from_dlpack(&in, NULL, &view));
    OK(rig_elements_of(view, &at));
    CHECK(at.type == types[n].type && at.stride == 3 && at.columns == 2);
    got = table_of(view);
    CHECK(got.value[0][0] == 1 && got.value[0][1] == 0 && got.value[1][0] == 0);
    CHECK(got.value[1][1] == 1);
    OK(rig_to_dlpack(view, &out));
    rig_free(view);
    CHECK(deleted == 0);
    CHECK(out->dl_tensor.data == at.data && out->dl_tensor.ndim == 2);
    CHECK(out->dl_tensor.dtype.code == types[n].code && out->dl_tensor.dtype.bits == types[n].bits);
    CHECK(out->dl_tensor.shape[0] == 2 && out->dl_tensor.strides[0] == 3);
    CHECK(out->dl_tensor.device.device_type == 1);
    out->deleter(out);
    CHECK(deleted == 1);

    view = NULL;
    in.dl_tensor.ndim = 3;
    FAILS(RIG_ERROR_SHAPE, "3 dimensions", rig_from_dlpack(&in, NULL, &view));
    in.dl_tensor.ndim = 2;
    strides[1] = 2;
    FAILS(RIG_ERROR_SHAPE, "contiguous", rig_from_dlpack(&in, NULL, &view));
    in.dl_tensor.dtype.lanes = 4;
    FAILS(RIG_ERROR_SHAPE, "contiguous", rig_from_dlpack(&in, NULL, &view));
    strides[1] = 1;
    strides[0] = 0; /* one row, repeated */
    FAILS(RIG_ERROR_SHAPE, "lie 0 apart", rig_from_dlpack(&in, NULL, &view));
    strides[0] = 3;
    FAILS(RIG_ERROR_TYPE, "code", rig_from_dlpack(&in, NULL, &view));
    in.dl_tensor.dtype.lanes = 1;
    in.dl_tensor.device.device_type = 7;
    FAILS(RIG_ERROR_PLACE, "device 7", rig_from_dlpack(&in, NULL, &view));
    CHECK(view == NULL && deleted == 1); /* the tensor is the caller's */
  }
}

int main(void) {
  int type;
  test_views();
  test_copies();
  for (type = RIG_INT32; type <= RIG_BFLOAT16; ++type) test_tuples((rig_type)type);
  test_elements();
  test_files("c_containers.mtx");
  test_read_options("c_containers.edges");
  test_dlpack();
  return finished();
}
