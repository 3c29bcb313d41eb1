// Launch plans, and the tuning table that they come from, without a GPU.

#include <doctest/doctest.h>

#include <cstdlib>

#include "child.hpp"
#include "cuda/families.hpp"
#include "cuda/hybrid/hybrid.hpp"
#include "cuda/tuning/plan.hpp"
#include "io/files.hpp"
#include "provoked.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "storage/backend.hpp"
#include "tuned.hpp"

namespace {

using namespace rig::on_cuda;

/// A pattern of 200 000 rows, whose B goes in slices for the L2 cache; `few` has 20 000.
struct pattern_like {
  double mean_length;
  bool skewed = false, local = false, few = false;
  int b_rows = 0;  ///< if not as many as A's
};
constexpr pattern_like few = {4.5, false, false, true}, sparse = {2.5}, even = {7}, longer = {32},
                       dense = {400, false, true}, skewed = {14, true}, local = {14, true, true};

struct numbers {
  int tile_lanes, row_lanes, unroll, coarsening;
  bool operator==(const numbers&) const = default;
};

/// A product of all entries, B with `columns` columns and packed rows.
template <class S>
rig::problem problem_of(const pattern_like& rows, int columns, const rig::descriptor& desc,
                        rig::type stored = rig::type_of<typename S::right>,
                        bool accumulates = false) {
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
  const auto statistics = std::make_shared<row_statistics>();
  statistics->mean_length = rows.mean_length;
  statistics->longest = 1000;
  statistics->imbalance = rows.skewed ? 3 : 1;
  statistics->local = rows.local;
  statistics->split_length = split_length_of(*statistics, p.a.nnz);
  p.statistics = statistics;
  return p;
}

struct planned {
  bool pads;
  numbers shape;
  int rest;  ///< of tiles; 0: there are none
};
template <class S>
planned plan_for(const pattern_like& rows, int columns,
                 rig::type stored = rig::type_of<typename S::right>, bool accumulates = false) {
  const rig::descriptor desc;
  const rig::problem p = problem_of<S>(rows, columns, desc, stored, accumulates);
  product_facts facts = facts_of(p, statistics_of(p));
  facts[fact::compiler] = 1;
  const launch_plan found = plan(facts, nullptr, current_table());
  return {found.layout == b_layout::padded,
          {found.tile_lanes, found.row_lanes, found.unroll, found.coarsening},
          found.rest};
}

using sum = rig::plus_times<float>;
using max = rig::max_second<float>;

TEST_CASE("short rows read a B of odd width by scalar loads, with few columns per lane") {
  const struct {
    const pattern_like& rows;
    int columns;
    numbers shape;
  } said[] = {
      {few, 33, {32, 32, 6, 2}},     {few, 65, {32, 32, 6, 3}},     {few, 193, {32, 32, 4, 7}},
      {few, 1433, {32, 32, 4, 5}},   {sparse, 27, {8, 8, 2, 4}},    {sparse, 47, {8, 8, 2, 6}},
      {sparse, 65, {16, 16, 2, 5}},  {sparse, 111, {16, 16, 2, 7}}, {sparse, 129, {32, 32, 2, 5}},
      {sparse, 257, {32, 32, 2, 5}}, {even, 33, {8, 8, 3, 5}},      {even, 97, {16, 16, 3, 7}},
      {even, 129, {32, 32, 4, 5}},   {skewed, 65, {16, 16, 3, 5}},  {sparse, 55, {8, 8, 2, 7}},
      {sparse, 63, {16, 16, 2, 4}},  {skewed, 97, {16, 16, 3, 7}},  {skewed, 111, {16, 16, 3, 7}},
      {local, 129, {32, 32, 4, 5}},  {local, 193, {32, 32, 3, 7}}};
  for (const auto& [rows, columns, shape] : said) {
    CAPTURE(rows.mean_length);
    CAPTURE(columns);
    const planned found = plan_for<sum>(rows, columns);
    CHECK(!found.pads);
    CHECK(found.rest == 0);
    CHECK(found.shape == shape);
  }
  CHECK(plan_for<max>(local, 129).shape == numbers{32, 32, 3, 5});
  CHECK(plan_for<rig::plus_times<double>>(sparse, 129).shape == numbers{32, 32, 2, 5});
  CHECK(plan_for<rig::plus_times<double>>(even, 129).shape != numbers{32, 32, 4, 5});
}

TEST_CASE("longer rows read a copy of B, and so do types whose scalar loads were not raced") {
  for (const int columns : {41, 47, 55, 77, 201}) {
    CHECK(plan_for<sum>(longer, columns).pads);
    CHECK(plan_for<sum>(longer, columns).rest == 0);
  }
  for (const int columns : {33, 65, 97, 129, 193}) CHECK(plan_for<sum>(longer, columns).rest == 1);
  // Just beyond 128 columns, padded rows would leave most lanes idle.
  CHECK(!plan_for<sum>(longer, 133).pads);
  CHECK(!plan_for<sum>(longer, 151).pads);
  CHECK(plan_for<sum>(longer, 151).shape == numbers{32, 32, 4, 5});
  CHECK(plan_for<sum>(longer, 153).pads);
  CHECK(plan_for<rig::plus_times<double>>(longer, 151).pads);
  CHECK(plan_for<sum>({39}, 145).pads == false);
  CHECK(plan_for<sum>({41}, 145).pads);
  CHECK(plan_for<sum>(dense, 145).pads);
  CHECK(plan_for<sum>({19}, 47).pads == false);
  CHECK(plan_for<sum>({20}, 47).pads);
  // Most rows of this B are never read.
  for (const int columns : {47, 57, 119})
    for (const rig::type stored : {rig::type::float32, rig::type::half})
      CHECK(!plan_for<sum>({30, false, false, false, 10'000'000}, columns, stored).pads);
  // With fewer than 20 entries per row of B a copy loses, or was not raced.
  CHECK(!plan_for<sum>(local, 79).pads);
  for (const int columns : {57, 81, 97, 111}) CHECK(plan_for<sum>(local, columns).pads);
  for (const pattern_like* const rows : {&even, &skewed}) {
    for (const int columns : {41, 55, 65, 97, 111, 129, 145, 193})
      CHECK(!plan_for<sum>(*rows, columns).pads);
    for (const int columns : {57, 63, 95, 113, 119, 127, 159, 191, 255})
      CHECK(plan_for<sum>(*rows, columns).pads);
    CHECK(plan_for<rig::plus_times<double>>(*rows, 47).pads);
  }
  for (const pattern_like* const rows : {&few, &sparse, &even, &skewed}) {
    CHECK(plan_for<sum>(*rows, 47, rig::type::half).pads);
    CHECK(plan_for<sum>(*rows, 47, rig::type::float32, true).pads);
    CHECK(!plan_for<sum>(*rows, 39, rig::type::half).pads);
    CHECK(!plan_for<sum>(*rows, 39, rig::type::float32, true).pads);
    CHECK(!plan_for<sum>(*rows, 64).pads);
  }
}

TEST_CASE("a slice of columns has the plan, and whole tiles, of all columns") {
  const rig::descriptor desc;
  int sliced = 0;
  for (const pattern_like* const rows : {&few, &sparse, &even, &longer, &dense, &skewed, &local})
    for (const rig::type stored : {rig::type::float32, rig::type::half})
      for (const int columns : {64, 96, 128, 256, 512}) {
        CAPTURE(rows->mean_length);
        CAPTURE(columns);
        const rig::problem whole = problem_of<sum>(*rows, columns, desc, stored);
        const rig::index tile = tile_columns(whole);
        if (tile == 0 || columns % (2 * tile) != 0) continue;
        ++sliced;
        rig::problem slice = problem_of<sum>(*rows, columns / 2, desc, stored);
        slice.planned_columns = columns;
        CHECK(facts_of(slice, statistics_of(slice)) == facts_of(whole, statistics_of(whole)));
        CHECK(tile_columns(slice) == tile);
        CHECK(order_helps(slice, statistics_of(slice)) == order_helps(whole, statistics_of(whole)));
      }
  CHECK(sliced > 20);
}

TEST_CASE("samples of most rows take the plan for whole rows") {
  product_facts facts;
  facts.set(fact::row_class, row_class::uniform);
  facts.set(fact::element, element_class::bytes_4);
  facts.set(fact::entries, entries_read::sampled);
  facts[fact::columns] = facts[fact::tile_columns] = 64;
  facts[fact::element_bytes] = 4;
  facts[fact::alignment] = 16;
  facts[fact::reads_b] = facts[fact::compiler] = facts[fact::on_lines] = 1;
  facts[fact::nonzeros] = 1e6;
  facts[fact::mean] = 50;
  facts[fact::sample] = 128;
  facts[fact::sample_over_mean] = 128.0 / 50;
  facts.set(fact::row_class, row_class::long_scattered);
  facts[fact::sampled_share] = 0.05;
  CHECK(plan(facts, &facts, current_table()).entries == entries_read::mostly_full);
  facts[fact::sampled_share] = 0.1;
  CHECK(plan(facts, &facts, current_table()).entries == entries_read::sampled);
}

TEST_CASE("a row of a table that comes first and serves gives the plan") {
  const tuned with = tuned::row(lanes(4, 16, 5, 3));
  CHECK(plan_for<sum>(even, 64).shape == numbers{4, 16, 5, 3});
  CHECK(plan_for<sum>(even, 65).pads);
  CHECK(plan_for<max>(skewed, 128).shape == numbers{4, 16, 5, 3});
  CHECK(plan_for<sum>(even, 64, rig::type::float32, true).shape == numbers{8, 8, 2, 2});
}

TEST_CASE("a plan in words has the load, all lanes, the split length and the order of rows") {
  const rig::descriptor desc;
  const rig::problem whole = problem_of<sum>(skewed, 64, desc);
  const std::string words = plan_in_words(whole, rig::sampling::whole);
  CHECK(words.starts_with("load=vector vector_bytes="));
  CHECK(words.find(" (sm_90.csv:") < words.find("tile_lanes="));
  CHECK(segments_in_words(whole).starts_with(", split_length=128 (sm_90.csv:"));
  CHECK(order_in_words(whole).starts_with(", by_length=1 (sm_90.csv:"));
  // The table has coarsening=0: as much as covers the columns.
  const tuned covering({"tiles,,tile_lanes=0", "copy,,padded=0", "row,," + lanes(8, 8, 3, 0)});
  const std::string scalar = plan_in_words(problem_of<sum>(skewed, 33, desc), rig::sampling::whole);
  CHECK(scalar.starts_with("load=scalar (of a test:"));
  CHECK(scalar.find("tile_lanes=8 row_lanes=8 unroll=3 coarsening=5 (of a test:") !=
        std::string::npos);
}

TEST_CASE(
    "every row of the built-in table has conditions that can hold, and lanes that fit a warp") {
  const tuning_table& table = current_table();
  CHECK(table.rows().size() > 250);
  for (const tuning_row& row : table.rows()) {
    CAPTURE(row.key);
    for (const condition& c : row.when) CHECK((c.words != 0 || c.from <= c.to));
    if (row.in != section::row && row.in != section::tiles) continue;
    for (const int lanes : {row[setting::tile_lanes], row[setting::row_lanes]})
      CHECK((lanes & (lanes - 1)) == 0);
    CHECK(row[setting::row_lanes] >= row[setting::tile_lanes]);
    CHECK(row[setting::row_lanes] <= 32);
  }
}

TEST_CASE("a table that is no table is refused with its line") {
  const std::string head = "section,when,plan,compiled,ms,runner_up,runner_up_ms,graph,commit\n";
  const auto refused = [&](const std::string& lines, std::initializer_list<std::string> words) {
    check_error(rig::errc::format, words, [&] { tuning_table("mine", head + lines); });
  };
  refused("row,columns<8\n", {"mine", "line 2", "9 cells"});
  refused("rows,,,,,,,,\n", {"no section is named 'rows'"});
  refused("copy,,padded=1,,,,,,\nrow,colums<8,,,,,,,\n", {"line 3", "no fact is named 'colums'"});
  refused("row,columns<wide,,,,,,,\n", {"no number: 'wide'"});
  refused("row,row_class=longish,,,,,,,\n", {"no such word: 'longish'"});
  refused("row,row_class<tiny,,,,,,,\n", {"compared by '='"});
  refused("order,row_class=uniform,by_length=1,,,,,,\n", {"section order has no fact 'row_class'"});
  refused("row,,lanes=8,,,,,,\n", {"no setting is named 'lanes'"});
  refused("load,,vector_bytes=12,,,,,,\n", {"line 2", "vector_bytes=12"});
  refused("segments,,split_length=1e30,,,,,,\n", {"split_length=1e30"});
  refused("row,,tile_lanes=8 row_lanes=4 unroll=1,,,,,,\n", {"tile_lanes <= row_lanes"});
  refused("row,,unroll=4,,,,,,\n", {"tile_lanes"});
  refused("constant,l2,1,,,,,,\n", {"no constant is named 'l2'"});
  refused("order,,by_length=1,,,,,,\n", {"needs a last row without conditions"});
}

/// Windows of one class each, all alike.
windows windows_of(std::initializer_list<window_class> all) {
  windows out;
  std::copy(all.begin(), all.end(), out.classes.begin());
  return out;
}

window_fit fit_for(const char* element, bool iso) {
  product_facts facts;
  facts.set(fact::element,
            element == std::string("float") ? element_class::bytes_4 : element_class::bytes_2);
  facts[fact::iso] = iso;
  return fit_of(current_table().find(section::hybrid, facts));
}

TEST_CASE("the selector sends dense windows to Tensor cores, and no sparse ones") {
  for (const char* const element : {"float", "half"})
    for (const bool iso : {false, true}) {
      CAPTURE(element);
      CAPTURE(iso);
      const window_fit fit = fit_for(element, iso);
      for (const rig::int64 tiles : {1, 2, 18, 200}) {
        CHECK(fit.selects(tiles * 64, tiles));
        CHECK(fit.selects(tiles * 40, tiles));
        CHECK(!fit.selects(tiles * 12, tiles));
        CHECK(!fit.selects(tiles * 5, tiles));
      }
      CHECK(!fit.selects(0, 0));
    }
  // An iso A costs Tensor cores less.
  CHECK(fit_for("half", true).selects(18 * 24, 18));
  CHECK(!fit_for("half", false).selects(18 * 24, 18));
  CHECK(!fit_for("float", false).selects(18 * 24, 18));
  constexpr window_fit of_narrow = {-1, 0.1f, 0};
  CHECK(of_narrow.selects(1, 2));
  CHECK(!of_narrow.selects(128, 1));
}

TEST_CASE("hybrid is estimated by its dense windows") {
  const window_fit fit = fit_for("half", false);
  CHECK(hybrid_over_row(windows_of({}), fit, 0, 1) == 1);
  CHECK(hybrid_over_row(windows_of({}), fit, 1000, 1) > 1);
  const window_class full = {100, 200, 200 * 120}, sparse = {100, 500, 500 * 13},
                     near = {100, 200, 200 * 35};
  CHECK(hybrid_over_row(windows_of({full}), fit, full.entries, 1) <= 0.5);
  CHECK(hybrid_over_row(windows_of({sparse}), fit, sparse.entries, 1) > 1);
  CHECK(hybrid_over_row(windows_of({near}), fit, near.entries, 1) < 1);
  CHECK(hybrid_over_row(windows_of({near}), fit, near.entries, 1) > 0.9);
  // A tenth of the entries does not pay for the rest.
  CHECK(hybrid_over_row(windows_of({full}), fit, full.entries * 10, 1) > 1);
  // Rows of other windows wait for their longest neighbour.
  CHECK(hybrid_over_row(windows_of({full}), fit, full.entries * 2, 1) < 1);
  CHECK(hybrid_over_row(windows_of({full}), fit, full.entries * 2, 2) > 1);
}

std::string refusal_of(const rig::problem& p) {
  rig::problem told = p;
  told.reasons = true;
  const rig::answer out = hybrid_answer(told);
  CHECK(out.says == rig::verdict::cannot);
  return out.reason;
}

TEST_CASE("hybrid refuses what Tensor cores would round, with the remedy") {
  const rig::descriptor full, tf32 = {.precision = rig::precision::tf32};
  using rig::type;
  CHECK(refusal_of(problem_of<sum>(dense, 64, full)).find("precision::tf32") != std::string::npos);
  CHECK(refusal_of(problem_of<sum>(dense, 64, tf32, type::int32)).find("half, bfloat16") !=
        std::string::npos);
  rig::problem codes = problem_of<sum>(dense, 64, tf32, type::code);
  codes.a.values = codes.a.iso;
  CHECK(refusal_of(codes).find("8-bit") != std::string::npos);
  CHECK(refusal_of(problem_of<max>(dense, 64, tf32)).find("`linear`") != std::string::npos);
  CHECK(refusal_of(problem_of<rig::plus_times<double>>(dense, 64, tf32)).find("`linear`") !=
        std::string::npos);
  CHECK(refusal_of(problem_of<rig::plus_first<float>>(dense, 64, tf32)).find("`linear`") !=
        std::string::npos);
}

constexpr const char* by_the_environment = "the table that RIG_TUNING names";

TEST_CASE(by_the_environment* doctest::skip()) {
  CHECK(current_table().name() == std::getenv("RIG_TUNING"));
  CHECK(plan_for<sum>(even, 64).shape == numbers{4, 8, 3, 2});
}

TEST_CASE("RIG_TUNING replaces the table") {
  const std::string path = file_of("tuning.csv", tuned::text_of({"row,," + lanes(4, 8, 3, 2)}));
  setenv("RIG_TUNING", path.c_str(), 1);
  CHECK(result_of(start_child(by_the_environment)) == 0);
  unsetenv("RIG_TUNING");
}

}  // namespace
