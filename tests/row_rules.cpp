// The rules for launch shapes of `row` without a GPU, where the width of B is odd: what they say of
// rows of each kind, as it was raced.

#include "cuda/row_rules.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "cuda/compile.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::on_cuda::row_shape;
using rig::on_cuda::singly;

/// A pattern of 100 000 rows as the rules see it; `few` has fewer entries in all.
struct pattern_like {
  double mean_length;
  bool skewed = false, local = false, few = false;
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
  p.a.rows = p.a.columns = p.b.rows = p.c.rows = rows.few ? 20'000 : 1'000'000;
  p.a.nnz = static_cast<rig::int64>(rows.mean_length * p.a.rows);
  p.b.columns = p.c.columns = columns;
  p.b.stride = p.c.stride = columns;
  p.b.data = reinterpret_cast<void*>(256);
  p.b.value_type = stored;
  p.b.value_bytes = stored == rig::type::float64 ? 8 : stored == rig::type::half ? 2 : 4;
  p.c.value_type = p.algebra->result;
  p.accum = accumulates ? rig::accumulator::plus : rig::accumulator::none;
  auto look = std::make_shared<rig::on_cuda::profile>();
  look->mean_length = rows.mean_length;
  look->longest = 1000;
  look->imbalance = rows.skewed ? 3 : 1;
  look->local = rows.local;
  p.look = look;
  rig::on_cuda::arguments args;
  args.b = p.b.data;
  args.columns = columns;
  args.b_row_bytes = static_cast<unsigned>(columns * p.b.value_bytes);
  const int width = rig::on_cuda::pack_width(p, args);
  return {rig::on_cuda::pads_rows(p, *look, args, width),
          rig::on_cuda::exact_shape(p, *look, args, rig::on_cuda::shape_for(p, *look, args, width)),
          rig::on_cuda::tiled_shape(p, *look, width).rest};
}

using sum = rig::plus_times<float>;
using max = rig::max_second<float>;

TEST_CASE("short rows read a B of odd width singly, by as many lanes as leave each few columns") {
  REQUIRE(rig::on_cuda::no_compiler_because() == nullptr);
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
              {skewed, 97, singly(16, 16, 3, 7)},  {local, 129, singly(32, 32, 4, 5)},
              {local, 193, singly(32, 32, 3, 7)}};
  for (const auto& [rows, columns, shape] : said) {
    CAPTURE(rows.mean_length);
    CAPTURE(columns);
    const ruled found = rule<sum>(rows, columns);
    CHECK(!found.pads);
    CHECK(found.rest == 0);
    CHECK(found.shape == shape);
  }
  CHECK(rule<max>(local, 129).shape == singly(32, 32, 3, 5));
  CHECK(rule<rig::plus_times<double>>(sparse, 129).shape.cf == 5);
}

TEST_CASE("longer rows copy it, and so do those without shapes of single elements") {
  REQUIRE(rig::on_cuda::no_compiler_because() == nullptr);
  for (const int columns : {37, 47, 65, 97, 193}) CHECK(rule<sum>(longer, columns).pads);
  for (const int columns : {33, 65, 129}) CHECK(rule<sum>(longer, columns).rest == 1);
  // Just beyond tiles rows that are padded would end in another.
  CHECK(!rule<sum>(longer, 145).pads);
  CHECK(rule<sum>(longer, 145).shape == singly(32, 32, 4, 5));
  CHECK(rule<sum>(dense, 145).pads);
  CHECK(rule<sum>(local, 97).pads);
  CHECK(!rule<sum>(skewed, 97).pads);
  for (const pattern_like* const rows : {&few, &sparse, &even, &skewed}) {
    CHECK(rule<sum>(*rows, 47, rig::type::half).pads);
    CHECK(rule<sum>(*rows, 47, rig::type::float32, true).pads);
    CHECK(!rule<sum>(*rows, 40, rig::type::half, true).pads);
    CHECK(!rule<sum>(*rows, 39, rig::type::float32, true).pads);
    CHECK(!rule<sum>(*rows, 64).pads);
  }
}

}  // namespace
