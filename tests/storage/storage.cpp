// Semirings outside the builtin list, and storage types of A, B, C and masks that differ from the
// semiring's types.

#include <tuple>

#include "exact_kernels.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"

namespace {

const rig::place where = rig::cpu();

TEST_CASE("the first bytes of a buffer share its block") {
  rig::buffer used;
  {
    const auto room = rig::buffer::allocate(64);
    used = room.first(12);
    CHECK(used.data() == room.data());
    CHECK(room.first(64).bytes() == 64);
  }
  CHECK(used.bytes() == 12);
  used.data<int>()[2] = 7;
  CHECK(used.data<int>()[2] == 7);
  CHECK(used.first(0).bytes() == 0);
  CHECK(used.first(0).data() == nullptr);
  try {
    used.first(13);
    FAIL("no error");
  } catch (const rig::error& wrong) {
    CHECK(wrong.code() == rig::errc::range);
    CHECK(std::string(wrong.what()).find("the first 13 bytes of 12") != std::string::npos);
  }
}

TEST_CASE("semirings in types that are not compiled ahead") {
  const std::vector<shape> shapes = battery();
  tally met(where);
  int number = 0;
  sweep<rig::plus_times<long>, long>(shapes, number++, met);
  sweep<rig::plus_times<int>, int>(shapes, number++, met);
  sweep<rig::min_plus<int>, int>(shapes, number++, met);
  sweep<rig::max_plus<long>, long>(shapes, number++, met);
  sweep<rig::lor_land<int>, int>(shapes, number++, met);
  sweep<rig::any_pair<float>, float>(shapes, number++, met);
  sweep<rig::mean_second<int>, int>(shapes, number++, met);
  sweep<rig::max_second<double>, double>(shapes, number++, met);
  sweep<rig::min_max<double>, double>(shapes, number++, met);
  sweep<rig::arg_min_second<double>, double>(shapes, number++, met);
  sweep<rig::arg_max_second<int>, int>(shapes, number++, met);
  met.conclude(static_cast<std::size_t>(number), shapes.size());
}

using storage = std::tuple<bool, int, long, float, double, rig::half, rig::bfloat16>;
template <std::size_t I>
using stored = std::tuple_element_t<I % 7, storage>;

/// Variants under which every conversion happens: plain, transposed, strided, masked and
/// accumulated.
template <class S, class TA, class TB, class TC, class TM>
void check_stored(const std::vector<shape>& shapes, int number) {
  static constexpr const char* names[] = {"plain",      "transpose_a",  "iso",
                                          "strided",    "plus masked",  "plus",
                                          "maximum",    "dense values", "replace fill",
                                          "everything", "own",          "strided transpose_b"};
  for (int step = 0; step < 12; ++step) {
    trial_spec spec;
    spec.name = names[step];
    spec.of = &shapes[static_cast<std::size_t>(step + number) % shapes.size()];
    spec.features = feature_widths[static_cast<std::size_t>(1 + (3 * step + number) % 10)];
    spec.seed = test_seed() + static_cast<unsigned long>(100 * number + step);
    spec.values = step % 3 == 0 ? draw::extremes : step % 3 == 1 ? draw::reals : draw::quarters;
    for (const variant& v : variants())
      if (spec.name == v.name) v.apply(spec);
    normalise<S>(spec);
    trial<S, TA, TB, TC, TM> t(spec);
    for (const rig::kernel& k : rig::kernels()) {
      if (!serves_every_dense(k)) continue;
      const std::string wrong = t.run(k.name);
      CHECK_MESSAGE(wrong.empty(), std::string(k.name), ", ", std::string(S::name), ", types ",
                    number, ", ", spec.of->name, ", F = ", spec.features, ", ", spec.name, ": ",
                    wrong);
    }
  }
}

/// Checks every storage type for every operand, in two arrangements.
template <class S, std::size_t... I>
void check_storage(std::index_sequence<I...>) {
  std::vector<shape> shapes;
  for (shape& s : battery())
    if (s.name == "random" || s.name == "row lengths" || s.name == "every other row empty" ||
        s.name == "Nx1")
      shapes.push_back(std::move(s));
  (check_stored<S, stored<I>, stored<I + 1>, stored<I + 3>, stored<I + 5>>(shapes,
                                                                           static_cast<int>(I)),
   ...);
  (check_stored<S, stored<I>, stored<I + 4>, stored<I + 2>, stored<I + 6>>(shapes,
                                                                           static_cast<int>(I + 7)),
   ...);
}

TEST_CASE("storage types around float") {
  check_storage<rig::plus_times<float>>(std::make_index_sequence<7>());
}
TEST_CASE("storage types around int32") {
  check_storage<rig::min_plus<int>>(std::make_index_sequence<7>());
}
TEST_CASE("storage types around arg-max") {
  check_storage<rig::arg_max_second<float>>(std::make_index_sequence<7>());
}

}  // namespace
