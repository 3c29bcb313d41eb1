// gustavson's classes of rows without a GPU: which products a class has, and whether its blocks fit
// in the shared memory of a device.

#include "cuda/spgemm/row_classes.cuh"

#include <doctest/doctest.h>

#include <initializer_list>

namespace {

using namespace rig::on_cuda;
using rig::int64;

constexpr int64 of_h200 = 227 << 10, of_a100 = 163 << 10, of_rtx = 99 << 10;
constexpr int sort_wide = listed_classes, in_windows = class_count - 1;

constexpr class_facts facts(int64 room, int64 accum_bytes, int64 windows) {
  return {room, accum_bytes, windows, 128};
}
int64 room_of(int c) { return row_classes[c - 1].room; }

TEST_CASE("rows of each number of products have a class whose lists hold them") {
  for (const int64 shared : {of_h200, of_a100, of_rtx})
    for (const int64 accum_bytes : {1, 2, 4, 8, 12, 16})
      for (const int64 windows : {1, 4, 16, 256, 1 << 19}) {
        CAPTURE(shared);
        CAPTURE(accum_bytes);
        CAPTURE(windows);
        const class_limits limits = limits_for(facts(shared, accum_bytes, windows));
        CHECK(limits.class_of(0) == 0);
        int before = 0, wrong = 0;
        for (int64 products = 1; products < 200000; ++products) {
          const int c = limits.class_of(products);
          wrong += c < before || c < 1;
          before = c;
          if (c >= sort_wide) continue;
          wrong += products > room_of(c);
          wrong += sort_shared_bytes(row_classes[c - 1], true, accum_bytes) > shared;
          wrong += sort_shared_bytes(row_classes[c - 1], false, accum_bytes) > shared;
        }
        CHECK(wrong == 0);
      }
}

TEST_CASE("the borders of classes") {
  const class_limits over_many = limits_for(facts(of_h200, 4, 256));
  const auto room = [&](int64 products) { return room_of(over_many.class_of(products)); };
  CHECK(room(48) == 48);
  CHECK(room(49) == 192);
  CHECK(room(193) == 768);
  CHECK(room(1536) == 1536);
  CHECK(room(1537) == 3072);
  CHECK(room(16384) == 16384);
  CHECK(over_many.class_of(16385) == sort_wide);
  CHECK(over_many.class_of(128 * 256 - 1) == sort_wide);
  CHECK(over_many.class_of(128 * 256) == in_windows);
  // Sums of 8 bytes, and devices with less shared memory, leave more rows to device memory.
  CHECK(limits_for(facts(of_h200, 8, 256)).class_of(7937) == sort_wide);
  CHECK(limits_for(facts(of_rtx, 4, 256)).class_of(5121) == sort_wide);
  // Few windows have many products each.
  CHECK(limits_for(facts(of_h200, 4, 4)).class_of(1536) < in_windows);
  CHECK(limits_for(facts(of_h200, 4, 4)).class_of(1537) == in_windows);
  // Lists stay below 2³¹ products, whatever the table says.
  CHECK(limits_for({of_h200, 4, 1 << 19, 1e9}).class_of(int64{1} << 40) == in_windows);
}

}  // namespace
