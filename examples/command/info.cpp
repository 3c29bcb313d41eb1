// rigblas info: the shape of a matrix, its graph, its memory, and the kernels of its products.

#include <cmath>
#include <limits>

#include "command.hpp"
#include "options.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/triangles.hpp"
#include "rig/mxm.hpp"
#include "rig/rearrange.hpp"
#include "rig/reorder.hpp"
#include "rig/semirings.hpp"

namespace {

using example::brief;
using example::digits;
using example::json;
using example::report;

std::string megabytes(double bytes) { return brief(bytes / 1e6) + " MB"; }

/// The range of the values; those that are NaN have no place in it.
void add_values(report& out, const rig::matrix<double>& a) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double least = none, most = none;
  rig::int64 nans = 0;
  const rig::int64 stored = a.iso() ? std::min<rig::int64>(a.nnz(), 1) : a.nnz();
  for (rig::int64 p = 0; p < stored; ++p) {
    nans += std::isnan(a.value(p));
    least = std::fmin(least, a.value(p));
    most = std::fmax(most, a.value(p));
  }
  out.add_hidden("one_value", a.iso());
  out.add_hidden("least_value", least);
  out.add_hidden("greatest_value", most);
  out.add_hidden("nan_values", nans);
  const std::string range =
      a.iso() ? "each entry is " + brief(least) : brief(least) + " to " + brief(most);
  out.note("values", stored == 0      ? "there are none"
                     : nans == stored ? "each entry is NaN"
                     : nans > 0       ? range + "; " + digits(nans) + " are NaN"
                                      : range);
}

void add_shape(report& out, const rig::matrix<double>& a) {
  const double places = static_cast<double>(a.rows()) * a.columns();
  out.add_hidden("rows", a.rows());
  out.add_hidden("columns", a.columns());
  out.add_hidden("nnz", a.nnz());
  out.note("shape",
           digits(a.rows()) + " x " + digits(a.columns()) + ", " + digits(a.nnz()) + " entries" +
               (places > 0
                    ? ", " + brief(100 * static_cast<double>(a.nnz()) / places) + " % of the places"
                    : ""));
  add_values(out, a);
}

void add_degrees(report& out, const rig::pattern& a) {
  const auto quantiles = rig::generate::degree_quantiles(a);
  static constexpr const char* names[] = {"least", "median", "90 %", "99 %", "most"};
  std::vector<std::string> numbers, words;
  for (std::size_t k = 0; k < quantiles.size(); ++k) {
    numbers.push_back(json(quantiles[k]));
    words.push_back(names[k] + (" " + digits(quantiles[k])));
  }
  rig::index empty = 0;
  for (rig::index i = 0; i < a.rows(); ++i) empty += a.offset(i + 1) == a.offset(i);
  const double mean = a.rows() > 0 ? static_cast<double>(a.nnz()) / a.rows() : 0;
  out.add_json("degrees", example::json_list(numbers), "");
  out.add_hidden("mean_degree", mean);
  out.add_hidden("empty_rows", empty);
  out.note("degrees",
           example::joined(words) + "; mean " + brief(mean) + "; " + digits(empty) + " empty rows");
}

/// Steps that a count of triangles takes at most, in the undirected graph: for each edge, the
/// entries of its end with fewer.
double steps_of_triangles(const rig::pattern& a) {
  double steps = 0;
#pragma omp parallel for reduction(+ : steps)
  for (rig::index i = 0; i < a.rows(); ++i)
    for (rig::int64 p = a.offset(i); p < a.offset(i + 1); ++p) {
      const rig::index j = a.column_indices()[p];
      steps += static_cast<double>(
          std::min(a.offset(i + 1) - a.offset(i), a.offset(j + 1) - a.offset(j)));
    }
  return steps;
}

void add_graph(report& out, const rig::matrix<double>& a, bool all) {
  const rig::matrix<bool> arcs(a.shared_structure());
  const rig::matrix<double> back = rig::transpose(a);
  const bool is_symmetric = rig::matrix<bool>(back.shared_structure()) == arcs,
             has_equal_values = is_symmetric && back == a;
  out.add_hidden("symmetric_pattern", is_symmetric);
  out.add_hidden("symmetric", has_equal_values);
  out.note("symmetric", has_equal_values ? "yes"
                        : is_symmetric   ? "the places of the entries, not their values"
                                         : "no");
  const rig::int64 loops = rig::diag(arcs).nnz();
  out.add("self_loops", loops);

  const auto found = rig::components(arcs, {.symmetric = is_symmetric});
  const rig::int64 largest = example::largest_part(found.labels);
  out.add_hidden("components", found.count);
  out.add_hidden("largest_component", largest);
  out.note("components", digits(found.count) + "; the largest has " + digits(largest) + " nodes");

  constexpr double most_steps = 4e8;
  const double steps = steps_of_triangles(arcs.structure());
  if (all || steps <= most_steps)
    return out.add("triangles", rig::triangles(arcs, {.symmetric = is_symmetric && loops == 0}));
  out.add_json("triangles", "null",
               "not counted, which may take " + brief(steps) + " steps; --all counts them");
}

void add_locality(report& out, const rig::matrix<double>& a) {
  const rig::pattern& s = a.structure();
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (rig::index i = 0; i < s.rows(); ++i)
    for (rig::int64 p = s.offset(i); p < s.offset(i + 1); ++p)
      sum += std::abs(static_cast<double>(s.column_indices()[p]) - i);
  const double tile = rig::entries_per_tile(a),
               distance = a.nnz() > 0 ? sum / static_cast<double>(a.nnz()) : 0;
  out.add_hidden("entries_per_tile", tile);
  out.add_hidden("mean_distance", distance);
  out.note("locality", brief(tile) + " entries per tile of 16 x 8; a column is " + brief(distance) +
                           " from the diagonal on average");
}

/// The kernel of sums over F columns, or why there is none.
std::string choice(const rig::matrix<float>& a, rig::index width, std::string& chosen) {
  try {
    const auto b = rig::dense<float>::uninitialised(a.columns(), width, a.where());
    const auto why = rig::explain(a, b, rig::plus_times<float>());
    chosen = why.chosen;
    return why.chosen + " (" + why.reason + ")";
  } catch (const rig::error& failed) {
    return failed.what();
  }
}

/// The memory of the matrix in floats in a place, and the kernels of its products there.
std::string add_place(report& out, const rig::matrix<float>& a, const rig::device_info& found) {
  const std::string place = rig::to_string(found.where);
  const auto here = a.to(found.where);
  here.prepare();
  const double nnz = static_cast<double>(a.nnz()),
               offsets = (a.rows() + 1.0) * (a.structure().offsets_64() ? 8 : 4),
               entries = offsets + nnz * (a.iso() ? 4 : 8);
  double derived = 0;
  for (const rig::derived_info& each : here.derived_structures())
    derived += static_cast<double>(each.bytes);
  out.note("memory", place + ": " + megabytes(entries) + " in floats, and " + megabytes(derived) +
                         " of derived structures, of " +
                         megabytes(static_cast<double>(found.memory)));
  std::vector<std::pair<std::string, std::string>> kernels;
  for (const rig::index width : {1, 32, 128}) {
    std::string chosen;
    out.note("F = " + digits(width), place + ": " + choice(here, width, chosen));
    kernels.emplace_back(digits(width), chosen.empty() ? "null" : json(chosen));
  }
  return example::json_object({{"place", json(place)},
                               {"bytes", json(entries)},
                               {"derived_bytes", json(derived)},
                               {"memory", json(found.memory)},
                               {"chosen", example::json_object(kernels)}});
}

void info(const example::options& given, bool all) {
  report out;
  const example::stopwatch reading;
  const auto a = given.load<double>();
  const double read_ms = reading.ms();
  const example::stopwatch working;
  out.add("graph", given.source());
  add_shape(out, a);
  add_degrees(out, a.structure());
  if (a.rows() == a.columns()) add_graph(out, a, all);
  add_locality(out, a);
  std::vector<std::string> places;
  const auto floats = rig::apply<float>(a, rig::unary::identity);
  for (const rig::device_info& found : rig::devices()) try {
      places.push_back(add_place(out, floats, found));
    } catch (const rig::error& failed) {
      if (failed.code() != rig::errc::out_of_memory) throw;
      out.note("memory", rig::to_string(found.where) + ": " + failed.what());
    }
  out.add_json("places", example::json_list(places), "");
  out.add("read_ms", read_ms);
  out.add("ms", working.ms());
  out.print(given.json);
}

}  // namespace

int command::info(int count, char** arguments, const char* summary) {
  bool all = false;
  namespace po = example::po;
  po::options_description own("Matrix", 100);
  own.add_options()("all", po::bool_switch(&all), "count triangles, however long it takes");
  return example::run_program(count, arguments,
                              {.summary = summary,
                               .what = example::takes::graph_of_algorithm,
                               .has_product = false,
                               .has_place = false},
                              own, [&](const example::options& given) { ::info(given, all); });
}
