// Calls of rig.h with any options over a few containers: each returns a status, and a call that
// fails has a text and leaves its handle as it was.

#include <string>

#include "fuzz.hpp"
#include "rig/rig.h"

namespace {

constexpr unsigned slots = 6;

struct world {
  fuzz::bytes from;
  rig_container* containers[slots] = {};
  rig_semiring* semiring = nullptr;

  explicit world(fuzz::bytes bytes) : from(bytes) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() {
    for (rig_container* const each : containers) rig_free(each);
    rig_free_semiring(semiring);
  }
  rig_container*& any() { return containers[from.below(slots)]; }
  const char* name_of(std::initializer_list<const char*> names) {
    return *(names.begin() + from.below(static_cast<unsigned>(names.size())));
  }
  rig_type type() { return static_cast<rig_type>(from.below(9)); }
  rig_number number() {
    return {static_cast<std::int32_t>(from.below(5)), static_cast<std::int64_t>(from.below(9)) - 4,
            static_cast<double>(from.below(9)) / 2};
  }
};

void ended(rig_status status) {
  fuzz::require(status >= RIG_OK && status < RIG_ERROR_INTERNAL);
  fuzz::require(status == RIG_OK || rig_error_message()[0] != '\0');
}

rig_options options_of(world& w) {
  rig_options out{};
  out.size = sizeof(out) - (w.from.below(32) == 1 ? 8 : 0);
  const unsigned flags = w.from.below(256);
  out.transpose_a = flags & 1;
  out.transpose_b = flags >> 1 & 1;
  out.replace = flags >> 2 & 1;
  out.mask_structure = flags >> 3 & 1;
  out.mask_complement = flags >> 4 & 1;
  out.mask = (flags >> 5 & 1) != 0 ? w.any() : nullptr;
  out.rescale = flags >> 6 & 1;
  out.any_order = flags >> 7 & 1;
  out.type = static_cast<rig_type>(w.from.below(3) == 0 ? w.type() : 0);
  out.accumulate = w.name_of({nullptr, "plus", "own", "minimum", "none", "?"});
  out.fill = w.number();
  out.kernel = w.name_of({nullptr, nullptr, "row", "dot", "gustavson", "bucket", "?"});
  out.width = w.from.below(5);
  out.threads = 1;
  return out;
}

void make(world& w) {
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(w.from.below(4)),
                                  static_cast<std::int32_t>(w.from.below(5)),
                                  static_cast<std::int32_t>(w.from.below(6))};
  std::int32_t indices[5];
  for (std::int32_t& each : indices) each = static_cast<std::int32_t>(w.from.below(6)) - 1;
  static const double zeros[5] = {};
  rig_csr arrays{};
  arrays.size = sizeof(arrays);
  arrays.rows = w.from.below(4);
  arrays.columns = w.from.below(6);
  arrays.entries = w.from.below(6);
  arrays.offsets = offsets;
  arrays.indices = indices;
  arrays.values = w.from.below(2) == 0 ? nullptr : zeros;
  arrays.value = w.number();
  arrays.offset_type = arrays.index_type = RIG_INT32;
  arrays.type = w.type();
  arrays.is_vector = static_cast<std::int32_t>(w.from.below(2));
  arrays.copy = 1;
  rig_container*& to = w.any();
  rig_free(to);
  to = nullptr;
  if (w.from.below(3) == 0)
    ended(rig_new_dense(w.from.below(5), w.from.below(5), w.type(), RIG_CPU, &to));
  else
    ended(rig_from_csr(&arrays, &to));
}

void compute(world& w) {
  const rig_options options = options_of(w);
  rig_container *&c = w.any(), *const before = c;
  const rig_container *const a = w.any(), *const b = w.any();
  const rig_number y = w.number();
  const char* const op = w.name_of({"plus", "times", "less", "minus", "maximum", "first", "lower",
                                    "equal", "absolute", "identity", "sigmoid", "?"});
  rig_number sum{};
  rig_status status = RIG_OK;
  switch (w.from.below(10)) {
    case 0:
      status = rig_mxm(&c, a, b, w.semiring, &options);
      break;
    case 1:
      status = rig_mxv(&c, a, b, w.semiring, &options);
      break;
    case 2:
      status = rig_vxm(&c, a, b, w.semiring, &options);
      break;
    case 3:
      status = rig_ewise_add(&c, a, b, op, &options);
      break;
    case 4:
      status = rig_ewise_mult(&c, a, b, op, &options);
      break;
    case 5:
      status = rig_apply(&c, a, op, &options);
      break;
    case 6:
      status = rig_apply_number(&c, a, op, &y, w.from.below(2) == 1, &options);
      break;
    case 7:
      status = rig_select(&c, a, op, &y, &options);
      break;
    case 8:
      status = rig_reduce_rows(&c, a, op, &options);
      break;
    default:
      status = rig_reduce(&sum, a, op, &options);
      break;
  }
  ended(status);
  fuzz::require(status == RIG_OK || c == before);
}

void read_text(world& w) {
  const std::string rest(w.from.rest());
  const std::string name = rest.substr(0, rest.find('\n'));
  rig_semiring_text text{};
  text.size = sizeof(text);
  text.name = name.c_str();
  text.type = w.type();
  text.add = text.multiply = text.zero = text.finish = rest.c_str();
  rig_semiring* out = nullptr;
  const rig_status status = rig_semiring_from_text(&text, &out);  // a static library compiles none
  ended(status);
  fuzz::require(status != RIG_OK && out == nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  world w({data, size});
  ended(
      rig_semiring_by_name(w.name_of({"plus_times", "max_second", "?"}), RIG_FLOAT32, &w.semiring));
  for (unsigned n = 0; n < slots; ++n) make(w);
  for (unsigned n = w.from.below(24); n > 0; --n) w.from.below(4) == 0 ? make(w) : compute(w);
  read_text(w);
  return 0;
}
