// The rules for launch shapes of `row` without a GPU, where the width of B is odd: what they say of
// rows of each kind, as it was raced.

#include "cuda/tuning/row_rules.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cuda/runtime/compile.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::on_cuda::row_shape;
using rig::on_cuda::singly;

/// A pattern of 200 000 rows as the rules see it, whose B goes in slices for the L2 cache; `few`
/// has 20 000.
struct pattern_like {
  double mean_length;
  bool skewed = false, local = false, few = false;
  int b_rows = 0;  ///< if not as many as A's
};
constexpr pattern_like few = {4.5, false, false, true}, sparse = {2.5}, even = {7}, longer = {32},
                       dense = {400, false, true}, skewed = {14, true}, local = {14, true, true};

/// What the rules say of a product of all entries, B with `columns` columns and rows packed.
struct ruled {
  bool pads;
  row_shape shape;
  int rest;  ///< of tiles; 0: there are none
};
template <class S>
ruled rule(const pattern_like& rows, int columns,
           rig::type stored = rig::type_of<typename S::right>, bool accumulates = false) {
  rig::descriptor desc;
  rig::problem p;
  p.algebra = &rig::info_of<S>;
  p.desc = &desc;
  p.a.rows = p.a.columns = p.b.rows = p.c.rows = rows.few ? 20'000 : 200'000;
  if (rows.b_rows > 0) p.a.columns = p.b.rows = rows.b_rows;
  p.a.nnz = static_cast<rig::int64>(rows.mean_length * p.a.rows);
  p.b.columns = p.c.columns = columns;
  p.b.stride = p.c.stride = columns;
  p.b.data = reinterpret_cast<void*>(256);
  p.b.value_type = stored;
  p.b.value_bytes = stored == rig::type::float64 ? 8 : stored == rig::type::half ? 2 : 4;
  p.c.value_type = p.algebra->result;
  p.accum = accumulates ? rig::accumulator::plus : rig::accumulator::none;
  auto statistics = std::make_shared<rig::on_cuda::row_statistics>();
  statistics->mean_length = rows.mean_length;
  statistics->longest = 1000;
  statistics->imbalance = rows.skewed ? 3 : 1;
  statistics->local = rows.local;
  p.statistics = statistics;
  rig::on_cuda::arguments args;
  args.b = p.b.data;
  args.columns = columns;
  args.b_row_bytes = static_cast<unsigned>(columns * p.b.value_bytes);
  const int width = rig::on_cuda::pack_width(p, args);
  return {rig::on_cuda::pads_rows(p, *statistics, args, width),
          rig::on_cuda::exact_shape(p, *statistics, args,
                                    rig::on_cuda::shape_for(p, *statistics, args, width)),
          rig::on_cuda::tiled_shape(p, *statistics, width).rest};
}

using sum = rig::plus_times<float>;
using max = rig::max_second<float>;

/// The shapes that are tested are compiled at run time. Without NVRTC the table's serve, and
/// nothing here can be asked: the code that ctest reports as skipped.
const bool has_compiler = [] {
  const char* const why = rig::on_cuda::no_compiler_because();
  if (why == nullptr) return true;
  std::printf("SKIPPED: %s\n", why);
  std::exit(77);
}();

TEST_CASE("short rows read a B of odd width singly, by as many lanes as leave each few columns") {
  REQUIRE(has_compiler);
  const struct {
    const pattern_like& rows;
    int columns;
    row_shape shape;
  } said[] = {{few, 33, singly(32, 32, 6, 2)},     {few, 65, singly(32, 32, 6, 3)},
              {few, 193, singly(32, 32, 4, 7)},    {few, 1433, singly(32, 32, 4, 5)},
              {sparse, 27, singly(8, 8, 2, 4)},    {sparse, 47, singly(8, 8, 2, 6)},
              {sparse, 65, singly(16, 16, 2, 5)},  {sparse, 111, singly(16, 16, 2, 7)},
              {sparse, 129, singly(32, 32, 2, 5)}, {sparse, 257, singly(32, 32, 2, 5)},
              {even, 33, singly(8, 8, 3, 5)},      {even, 97, singly(16, 16, 3, 7)},
              {even, 129, singly(32, 32, 4, 5)},   {skewed, 65, singly(16, 16, 3, 5)},
              {sparse, 55, singly(8, 8, 2, 7)},    {sparse, 63, singly(16, 16, 2, 4)},
              {skewed, 97, singly(16, 16, 3, 7)},  {skewed, 111, singly(16, 16, 3, 7)},
              {local, 129, singly(32, 32, 4, 5)},  {local, 193, singly(32, 32, 3, 7)}};
  for (const auto& [rows, columns, shape] : said) {
    CAPTURE(rows.mean_length);
    CAPTURE(columns);
    const ruled found = rule<sum>(rows, columns);
    CHECK(!found.pads);
    CHECK(found.rest == 0);
    CHECK(found.shape == shape);
  }
  CHECK(rule<max>(local, 129).shape == singly(32, 32, 3, 5));
  CHECK(rule<rig::plus_times<double>>(sparse, 129).shape == singly(32, 32, 2, 5));
  CHECK(rule<rig::plus_times<double>>(even, 129).shape != singly(32, 32, 4, 5));
}

TEST_CASE("longer rows copy it, and so do those without shapes of single elements") {
  REQUIRE(has_compiler);
  for (const int columns : {41, 47, 55, 77, 201}) {
    CHECK(rule<sum>(longer, columns).pads);
    CHECK(rule<sum>(longer, columns).rest == 0);
  }
  for (const int columns : {33, 65, 97, 129, 193}) CHECK(rule<sum>(longer, columns).rest == 1);
  // Just beyond 128 padded rows would leave most lanes idle.
  CHECK(!rule<sum>(longer, 133).pads);
  CHECK(!rule<sum>(longer, 151).pads);
  CHECK(rule<sum>(longer, 151).shape == singly(32, 32, 4, 5));
  CHECK(rule<sum>(longer, 153).pads);
  CHECK(rule<rig::plus_times<double>>(longer, 151).pads);
  CHECK(rule<sum>({39}, 145).pads == false);
  CHECK(rule<sum>({41}, 145).pads);
  CHECK(rule<sum>(dense, 145).pads);
  CHECK(rule<sum>({19}, 47).pads == false);
  CHECK(rule<sum>({20}, 47).pads);
  // Most of this B is never read.
  for (const int columns : {47, 57, 119})
    for (const rig::type stored : {rig::type::float32, rig::type::half})
      CHECK(!rule<sum>({30, false, false, false, 10'000'000}, columns, stored).pads);
  // Not raced, or slower, below 20 entries a row.
  CHECK(!rule<sum>(local, 79).pads);
  for (const int columns : {57, 81, 97, 111}) CHECK(rule<sum>(local, columns).pads);
  for (const pattern_like* const rows : {&even, &skewed}) {
    for (const int columns : {41, 55, 65, 97, 111, 129, 145, 193})
      CHECK(!rule<sum>(*rows, columns).pads);
    for (const int columns : {57, 63, 95, 113, 119, 127, 159, 191, 255})
      CHECK(rule<sum>(*rows, columns).pads);
    CHECK(rule<rig::plus_times<double>>(*rows, 47).pads);
  }
  for (const pattern_like* const rows : {&few, &sparse, &even, &skewed}) {
    CHECK(rule<sum>(*rows, 47, rig::type::half).pads);
    CHECK(rule<sum>(*rows, 47, rig::type::float32, true).pads);
    CHECK(!rule<sum>(*rows, 39, rig::type::half).pads);
    CHECK(!rule<sum>(*rows, 39, rig::type::float32, true).pads);
    CHECK(!rule<sum>(*rows, 64).pads);
  }
}

}  // namespace
