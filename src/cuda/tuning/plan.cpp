#include "cuda/tuning/plan.hpp"

#include <algorithm>

#include "cuda/runtime/device.hpp"
#include "cuda/tuning/row_aot.hpp"

namespace rig::on_cuda {
namespace {

constexpr int tile_vector_bytes = 16;

int number(const product_facts& facts, fact of) { return static_cast<int>(facts[of]); }

/// Elements of B per vector, or 1.
int elements_in(const product_facts& facts, int vector_bytes) {
  return facts[fact::alignment] > 0 ? vector_bytes / number(facts, fact::element_bytes) : 1;
}

/// Sets the facts that depend on how B is read.
void set_load(product_facts& facts, load_kind load, int vector_bytes, bool on_lines) {
  facts.set(fact::load, load);
  facts[fact::vector_bytes] = vector_bytes;
  facts[fact::on_lines] = on_lines;
  if (vector_bytes == 0) return;
  const double vectors = facts[fact::columns] * facts[fact::element_bytes] / vector_bytes;
  facts[fact::vectors] = facts[fact::slice] = vectors;
  // Slices pay if rows are alike, because other rows find B's rows in the caches anyway. Rows that
  // do not begin on lines would read more lines in slices.
  if (facts[fact::row_class] < static_cast<double>(row_class::uniform) || !on_lines) return;
  const double fits = facts[fact::slice_vectors];
  if (fits == 8 || fits == 16) facts[fact::slice] = std::min(vectors, fits);
}

bool takes_tiles(const product_facts& facts) {
  return facts.is(fact::store, store_kind::plain) && facts.is(fact::entries, entries_read::full) &&
         facts[fact::reads_b] != 0 && !facts.is(fact::element, element_class::quantized) &&
         facts[fact::alignment] > 0 && facts[fact::compiler] != 0;
}

/// A copy in tiles leaves one column or a few; a plan without lanes says that there is no copy.
bool is_legal_tile(const product_facts& facts, const tuning_row& row) {
  if (row[setting::tile_lanes] == 0) return true;
  const int columns = number(facts, fact::columns), width = elements_in(facts, tile_vector_bytes),
            tile = row[setting::tile_lanes] * width * std::max(1, row[setting::coarsening]),
            left = columns % tile;
  return is_tile(tile) && columns > tile && left > 0 && left <= width &&
         columns / tile <= most_tiles;
}

struct load_choice {
  load_kind load = load_kind::vector;
  b_layout layout = b_layout::tiled;
  int vector_bytes = 0;
  bool on_lines = true;
  const tuning_row *from = nullptr, *copy = nullptr;
};

load_choice choose_load(const product_facts& facts, const tuning_table& table) {
  const tuning_row& from = table.find(section::load, facts);
  const int bytes = from[setting::vector_bytes], width = elements_in(facts, bytes),
            columns = number(facts, fact::columns);
  load_choice out = {
      load_kind::scalar, b_layout::in_place, bytes, facts[fact::on_lines] != 0, &from, nullptr};
  if (width > 1 && facts[fact::alignment] >= bytes) {
    if (columns > width / 2) out.load = load_kind::vector;
    return out;
  }
  if (width <= 1 || facts[fact::nonzeros] == 0 || columns <= 2 * width) return out;
  out.copy = &table.find(section::copy, facts);
  if ((*out.copy)[setting::padded] == 0) return out;
  out.load = load_kind::vector;
  out.layout = b_layout::padded;
  out.on_lines = facts[fact::copy_on_lines] != 0;
  return out;
}

void apply(product_facts& facts, const load_choice& choice) {
  set_load(facts, choice.load, choice.vector_bytes, choice.on_lines);
}

/// A plan that is not compiled ahead needs the run-time compiler.
bool is_aot(const tuning_row& row, const product_facts& facts) {
  const aot_plan plan = {facts.is(fact::load, load_kind::vector),
                         row[setting::tile_lanes],
                         row[setting::row_lanes],
                         row[setting::unroll],
                         row[setting::coarsening],
                         facts.is(fact::store, store_kind::plain)};
  return std::ranges::count(aot_plans(static_cast<sum_kind>(number(facts, fact::sum))), plan) > 0;
}

const tuning_row& find_row(const product_facts& facts, const tuning_table& table) {
  const auto is_legal = [&](const tuning_row& row) {
    return facts[fact::compiler] != 0 || is_aot(row, facts);
  };
  return table.find(section::row, facts, is_legal);
}

launch_plan plan_by(const tuning_row& row, const product_facts& facts, const load_choice& choice) {
  launch_plan out = {};
  const bool is_vector = facts.is(fact::load, load_kind::vector);
  out.vector = is_vector ? elements_in(facts, number(facts, fact::vector_bytes)) : 1;
  out.tile_lanes = row[setting::tile_lanes];
  out.row_lanes = row[setting::row_lanes];
  out.unroll = row[setting::unroll];
  out.coarsening = row[setting::coarsening];
  const int tile_columns = number(facts, fact::tile_columns);
  if (out.coarsening == 0) out.coarsening = (tile_columns + out.tile_lanes - 1) / out.tile_lanes;
  out.plain = facts.is(fact::store, store_kind::plain);
  out.entries = static_cast<entries_read>(number(facts, fact::entries));
  out.layout = choice.layout;
  out.row = &row;
  out.load = choice.from;
  out.copy = choice.copy;
  return out;
}

launch_plan tiled_plan(const tuning_row& row, product_facts facts) {
  set_load(facts, load_kind::vector, tile_vector_bytes, true);
  launch_plan out = plan_by(row, facts, load_choice());
  const int tile = out.vector * out.tile_lanes * out.coarsening;
  out.rest = number(facts, fact::columns) % tile == 1 ? 1 : out.vector;
  return out;
}

/// If few rows are sampled, the plan for whole rows serves, and a function apart takes a sample.
launch_plan plan_of_samples(product_facts whole, product_facts samples, const load_choice& choice,
                            const tuning_table& table) {
  const tuning_row* rare = nullptr;
  if (choice.load == load_kind::vector && whole.is(fact::store, store_kind::plain)) {
    product_facts all = whole;
    all.set(fact::entries, entries_read::full);
    launch_plan out = plan_by(find_row(all, table), all, choice);
    whole[fact::row_lanes] = out.row_lanes;
    rare = &table.find(section::rare_samples, whole);
    if ((*rare)[setting::rare] != 0) {
      out.entries = entries_read::mostly_full;
      out.rare = rare;
      return out;
    }
  }
  apply(samples, choice);
  launch_plan out = plan_by(find_row(samples, table), samples, choice);
  out.rare = rare;
  return out;
}

}  // namespace

launch_plan plan(product_facts whole, const product_facts* samples, const tuning_table& table) {
  if (takes_tiles(whole)) {
    const tuning_row& tiles = table.find(
        section::tiles, whole, [&](const tuning_row& row) { return is_legal_tile(whole, row); });
    if (tiles[setting::tile_lanes] > 0) return tiled_plan(tiles, whole);
  }
  const load_choice choice = choose_load(whole, table);
  apply(whole, choice);
  if (samples != nullptr) return plan_of_samples(whole, *samples, choice, table);
  return plan_by(find_row(whole, table), whole, choice);
}

row_facts facts_of(const problem& p, sampling how) {
  const row_statistics& statistics = statistics_of(p);
  row_facts out = {facts_of(p, statistics), {}};
  if (how == sampling::whole) return out;
  const row_statistics of_samples = statistics.sampled(p.desc->width);
  out.samples = facts_of(p, of_samples);
  for (product_facts* facts : {&out.whole, &*out.samples})
    set_samples(*facts, how, p.desc->width, statistics, of_samples, p.a.rows);
  return out;
}

launch_plan plan_of(const row_facts& facts) {
  /// Plans of earlier calls of a thread, because a search of the table costs the host time.
  struct known_plan {
    unsigned long table = 0;
    row_facts facts;
    launch_plan plan;
  };
  thread_local known_plan known[16];
  const tuning_table& table = current_table();
  const product_facts& whole = facts.whole;
  const auto place = static_cast<std::size_t>(whole[fact::columns] + whole[fact::nonzeros] +
                                              whole[fact::sum] + 4 * whole[fact::sample]);
  known_plan& at = known[place % std::size(known)];
  if (at.table != table.number() || at.facts != facts)
    at = {table.number(), facts, plan(whole, facts.samples ? &*facts.samples : nullptr, table)};
  return at.plan;
}

std::string plan_in_words(const problem& p, sampling how) {
  static constexpr const char* layouts[] = {"", ", B in a padded copy", ", B in tiles"};
  const launch_plan of = plan_of(facts_of(p, how));
  std::string out = "load=scalar";
  if (of.vector > 1) {
    const int bytes = of.load != nullptr ? (*of.load)[setting::vector_bytes] : tile_vector_bytes;
    out = "load=vector vector_bytes=" + std::to_string(bytes);
  }
  if (of.load != nullptr) out += " (" + line_of(*of.load) + ")";
  out += layouts[static_cast<int>(of.layout)];
  if (of.copy != nullptr && of.layout == b_layout::padded) out += " (" + line_of(*of.copy) + ")";
  return out + ", " +
         in_words(*of.row, "tile_lanes=" + std::to_string(of.tile_lanes) +
                               " row_lanes=" + std::to_string(of.row_lanes) +
                               " unroll=" + std::to_string(of.unroll) +
                               " coarsening=" + std::to_string(of.coarsening));
}

}  // namespace rig::on_cuda
