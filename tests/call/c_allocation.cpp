// Every allocation of a call of rig.h fails in turn, alone or with all after it: a status, no
// result, and no leak.

#include <doctest/doctest.h>

#include <cstring>
#include <functional>

#include "failing_allocator.hpp"
#include "rig/rig.h"

namespace {

struct operands {
  rig_container *a = nullptr, *x = nullptr;
  rig_semiring* s = nullptr;
  operands() {
    static const std::int32_t offsets[] = {0, 2, 3, 4, 4}, indices[] = {0, 2, 1, 3};
    static const double values[] = {1, 2, 3, 4};
    rig_csr arrays{};
    arrays.size = sizeof(arrays);
    arrays.rows = arrays.columns = arrays.entries = 4;
    arrays.offsets = offsets;
    arrays.indices = indices;
    arrays.values = values;
    arrays.offset_type = arrays.index_type = RIG_INT32;
    arrays.type = RIG_FLOAT64;
    REQUIRE(rig_from_csr(&arrays, &a) == RIG_OK);
    REQUIRE(rig_new_dense(4, 3, RIG_FLOAT32, RIG_CPU, &x) == RIG_OK);
    REQUIRE(rig_semiring_by_name("plus_times", RIG_FLOAT32, &s) == RIG_OK);
  }
  operands(const operands&) = delete;
  operands& operator=(const operands&) = delete;
  ~operands() {
    rig_free(a);
    rig_free(x);
    rig_free_semiring(s);
  }
};

/// Each allocation of the call fails in turn.
void check(const char* name, const std::function<rig_status(rig_container**)>& call) {
  INFO(name);
  rig_container* made = nullptr;
  rig_share(nullptr, &made);  // the text of an error has memory from here on
  check_every_failure(
      1,
      [&] {
        rig_free(made);
        made = nullptr;
      },
      [&] {
        const rig_status status = call(&made);
        until_failure = never;
        if (status == RIG_ERROR_OUT_OF_MEMORY) throw rig::error(rig::errc::out_of_memory, "");
        REQUIRE(status == RIG_OK);
      },
      [&] { return made == nullptr && std::strstr(rig_error_message(), "memory") != nullptr; });
  rig_free(made);
}

TEST_CASE("calls that run out of memory") {
  const operands on;
  check("mxm, dense", [&](rig_container** c) { return rig_mxm(c, on.a, on.x, on.s, nullptr); });
  check("mxm, sparse", [&](rig_container** c) { return rig_mxm(c, on.a, on.a, on.s, nullptr); });
  check("ewise_add",
        [&](rig_container** c) { return rig_ewise_add(c, on.a, on.a, "plus", nullptr); });
  check("reduce_rows",
        [&](rig_container** c) { return rig_reduce_rows(c, on.a, "plus", nullptr); });
  check("transpose", [&](rig_container** c) { return rig_transpose(c, on.a, nullptr); });
  check("share", [&](rig_container** c) { return rig_share(on.a, c); });
  check("dlpack", [&](rig_container** c) {
    DLManagedTensor* tensor = nullptr;
    const rig_status out = rig_to_dlpack(on.x, &tensor);
    if (out != RIG_OK) return out;
    const rig_status back = rig_from_dlpack(tensor, nullptr, c);
    if (back != RIG_OK) {  // the tensor is the caller's; this is its deleter
      struct managed {
        unsigned char before[56];
        void (*deleter)(DLManagedTensor*);
      };
      reinterpret_cast<managed*>(tensor)->deleter(tensor);
    }
    return back;
  });
}

}  // namespace
