#ifndef TESTS_C_CHECK_H
#define TESTS_C_CHECK_H

/* What the tests in C share: checks, and small matrices whose oracles are loops. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig/rig.h"

static int failures = 0;
static int checks = 0;

#define CHECK(holds)                                     \
  do {                                                   \
    ++checks;                                            \
    if (!(holds)) {                                      \
      ++failures;                                        \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #holds); \
    }                                                    \
  } while (0)

/* The call succeeds. */
#define OK(call)                                                                 \
  do {                                                                           \
    ++checks;                                                                    \
    if ((call) != RIG_OK) {                                                      \
      ++failures;                                                                \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, rig_error_message()); \
    }                                                                            \
  } while (0)

/* The call fails so, and its text has these words. */
#define FAILS(status, words, call)                                                  \
  do {                                                                              \
    rig_status ended = (call);                                                      \
    ++checks;                                                                       \
    if (ended != (status) || strstr(rig_error_message(), (words)) == NULL) {        \
      ++failures;                                                                   \
      printf("%s:%d: %s: status %d, '%s'\n", __FILE__, __LINE__, #call, (int)ended, \
             ended == RIG_OK ? "" : rig_error_message());                           \
    }                                                                               \
  } while (0)

/* Ends main: a test that checked nothing fails. */
static inline int finished(void) {
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0 || checks == 0;
}

/* A matrix as an oracle sees it: has[i][j] and value[i][j]. */
enum { most = 12 };
typedef struct table {
  int rows, columns;
  int has[most][most];
  double value[most][most];
} table;

/* Small integers, which every type holds exactly. */
static inline int next_number(unsigned* state) {
  *state = *state * 1103515245u + 12345u;
  return (int)(*state >> 16 & 0x7fff);
}
static inline table made_table(int rows, int columns, int per_cent, unsigned seed) {
  table out;
  int i, j;
  memset(&out, 0, sizeof out);
  out.rows = rows;
  out.columns = columns;
  for (i = 0; i < rows; ++i)
    for (j = 0; j < columns; ++j) {
      out.has[i][j] = next_number(&seed) % 100 < per_cent;
      out.value[i][j] = next_number(&seed) % 7 - 2;
    }
  return out;
}

/* IEEE binary16 and bfloat16 of small integers. */
static inline uint16_t half_of(double x) {
  int exponent = 0;
  double fraction;
  if (x == 0) return 0;
  fraction = frexp(fabs(x), &exponent);
  return (uint16_t)((x < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                    (int)((fraction * 2 - 1) * 1024));
}
static inline uint16_t bfloat_of(double x) {
  float narrow = (float)x;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)(bits >> 16);
}
static inline size_t bytes_of(rig_type type) {
  static const size_t bytes[] = {0, 1, 4, 8, 4, 8, 2, 2};
  return bytes[type];
}
static inline void store(void* to, size_t at, rig_type type, double x) {
  switch (type) {
    case RIG_BOOL:
      ((unsigned char*)to)[at] = x != 0;
      break;
    case RIG_INT32:
      ((int32_t*)to)[at] = (int32_t)x;
      break;
    case RIG_INT64:
      ((int64_t*)to)[at] = (int64_t)x;
      break;
    case RIG_FLOAT32:
      ((float*)to)[at] = (float)x;
      break;
    case RIG_FLOAT64:
      ((double*)to)[at] = x;
      break;
    case RIG_FLOAT16:
      ((uint16_t*)to)[at] = half_of(x);
      break;
    case RIG_BFLOAT16:
      ((uint16_t*)to)[at] = bfloat_of(x);
  }
}
static inline double load(const void* from, size_t at, rig_type type) {
  uint32_t bits;
  float wide;
  switch (type) {
    case RIG_BOOL:
      return ((const unsigned char*)from)[at];
    case RIG_INT32:
      return ((const int32_t*)from)[at];
    case RIG_INT64:
      return (double)((const int64_t*)from)[at];
    case RIG_FLOAT32:
      return ((const float*)from)[at];
    case RIG_FLOAT64:
      return ((const double*)from)[at];
    case RIG_FLOAT16: {
      int half = ((const uint16_t*)from)[at];
      double size =
          (half & 0x7fff) == 0 ? 0 : ldexp(1 + (half & 0x3ff) / 1024.0, (half >> 10 & 31) - 15);
      return half & 0x8000 ? -size : size;
    }
    case RIG_BFLOAT16:
      bits = (uint32_t)((const uint16_t*)from)[at] << 16;
      memcpy(&wide, &bits, sizeof wide);
      return wide;
  }
  return NAN;
}

/* The table as a sparse container, from CSR arrays that are copied. */
static inline rig_container* sparse_of(const table* from, rig_type type, int is_vector) {
  int32_t offsets[most + 1], indices[most * most];
  double memory[most * most];
  int i, j, n = 0;
  rig_container* out = NULL;
  rig_csr arrays;
  memset(&arrays, 0, sizeof arrays);
  for (i = 0; i < from->rows; ++i) {
    offsets[i] = n;
    for (j = 0; j < from->columns; ++j)
      if (from->has[i][j]) {
        indices[n] = j;
        store(memory, (size_t)n++, type, from->value[i][j]);
      }
  }
  offsets[from->rows] = n;
  arrays.size = sizeof arrays;
  arrays.rows = from->rows;
  arrays.columns = from->columns;
  arrays.entries = n;
  arrays.offsets = offsets;
  arrays.indices = indices;
  arrays.values = memory;
  arrays.offset_type = arrays.index_type = RIG_INT32;
  arrays.type = type;
  arrays.is_vector = is_vector;
  arrays.copy = 1;
  OK(rig_from_csr(&arrays, &out));
  return out;
}

/* All values of the table as a dense. */
static inline rig_container* dense_of(const table* from, rig_type type) {
  rig_container* out = NULL;
  rig_elements at;
  int i, j;
  memset(&at, 0, sizeof at);
  at.size = sizeof at;
  OK(rig_new_dense(from->rows, from->columns, type, RIG_CPU, &out));
  OK(rig_elements_of(out, &at));
  for (i = 0; i < from->rows; ++i)
    for (j = 0; j < from->columns; ++j)
      store(at.data, (size_t)(i * at.stride + j), type, from->value[i][j]);
  return out;
}

/* A container as a table; a dense has every entry. */
static inline table table_of(const rig_container* from) {
  table out;
  rig_description what;
  int i, j;
  memset(&out, 0, sizeof out);
  memset(&what, 0, sizeof what);
  what.size = sizeof what;
  OK(rig_describe(from, &what)); /* leaves a table without rows if it fails */
  out.rows = (int)what.rows;
  out.columns = (int)what.columns;
  if (what.kind == RIG_DENSE) {
    rig_elements at;
    memset(&at, 0, sizeof at);
    at.size = sizeof at;
    OK(rig_elements_of(from, &at));
    for (i = 0; i < out.rows; ++i)
      for (j = 0; j < out.columns; ++j) {
        out.has[i][j] = 1;
        out.value[i][j] = load(at.data, (size_t)(i * at.stride + j), what.type);
      }
  } else {
    rig_csr at;
    memset(&at, 0, sizeof at);
    at.size = sizeof at;
    OK(rig_csr_of(from, &at));
    for (i = 0; i < out.rows; ++i) {
      int64_t p = at.offset_type == RIG_INT32 ? ((const int32_t*)at.offsets)[i]
                                              : ((const int64_t*)at.offsets)[i];
      int64_t end = at.offset_type == RIG_INT32 ? ((const int32_t*)at.offsets)[i + 1]
                                                : ((const int64_t*)at.offsets)[i + 1];
      for (; p < end; ++p) {
        j = ((const int32_t*)at.indices)[p];
        out.has[i][j] = 1;
        out.value[i][j] = at.values != NULL           ? load(at.values, (size_t)p, what.type)
                          : at.value.kind == RIG_REAL ? at.value.real
                                                      : (double)at.value.integer;
      }
    }
  }
  return out;
}

/* Whether a container has the entries and values of the table. */
static inline int equals(const rig_container* got, const table* want) {
  table have = table_of(got);
  int i, j;
  if (have.rows != want->rows || have.columns != want->columns) return 0;
  for (i = 0; i < want->rows; ++i)
    for (j = 0; j < want->columns; ++j) {
      if (have.has[i][j] != want->has[i][j]) return 0;
      if (want->has[i][j] && have.value[i][j] != want->value[i][j]) return 0;
    }
  return 1;
}

static inline rig_number integer_number(int64_t value) {
  rig_number out = {RIG_INTEGER, 0, 0};
  out.integer = value;
  return out;
}
static inline rig_number real_number(double value) {
  rig_number out = {RIG_REAL, 0, 0};
  out.real = value;
  return out;
}
static inline rig_options no_options(void) {
  rig_options out;
  memset(&out, 0, sizeof out);
  out.size = sizeof out;
  return out;
}

#endif
