// bench tune: measures the rows of the tuning table on the GPU at hand, and writes the table.
//
// A point is a product: a graph, a feature width, a semiring, a type of B, a sample. Each row of
// the table that a point meets is raced at that point: the plan of the row against the other plans
// that its section allows, first with its own unroll, then the best of those with every unroll. The
// field is halved until few are left. A plan replaces another if it
// wins by 2 % over all points of the row, and loses by 2 % at none, in three races of their own.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "cuda/tuned.hpp"
#include "cuda/tuning/plan.hpp"
#include "gpu_suites.hpp"
#include "rig/io.hpp"
#include "rig/mxm.hpp"
#include "rig/quantized.hpp"
#include "rig/semirings.hpp"
#include "table_text.hpp"

namespace bench::gpu {
namespace {

using namespace rig::on_cuda;

/// A product on the GPU that is ready to run by the table in use.
struct point {
  std::string name;
  const subject* graph;
  std::function<void()> run;
  std::function<launch_plan()> plan;
  std::function<void(const launch_plan&)> compile;  ///< in any thread
};

/// What a point is made from; operands exist while it is raced.
struct point_kind {
  const char* semiring;
  rig::type b;
  const char* kernel = "";
  int sample = 0;
  bool accumulates = false;
};

template <class B>
B features_of(rig::index rows, int columns) {
  if constexpr (std::is_same_v<B, rig::quantized>) {
    std::vector<unsigned char> codes(static_cast<std::size_t>(rows) *
                                     static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<unsigned char>(i * 37);
    return B::from_codes(rows, columns, codes, std::vector<float>{-1}, std::vector<float>{0.01f})
        .to(rig::cuda());
  } else {
    auto out = B::uninitialised(rows, columns, rig::cuda());
    check(cudaMemsetAsync(out.data(), 0, out.extent(), stream()), "cudaMemsetAsync");
    return out;
  }
}

template <class S, class TA, class B>
point make_point(const subject& graph, const rig::matrix<TA>& a, int columns,
                 const point_kind& kind) {
  using result = decltype(rig::mxm(a, std::declval<const B&>(), S{}, rig::descriptor{}));
  struct operands {
    rig::matrix<TA> a;
    B b;
    result c;
    rig::descriptor desc;
    rig::accumulator accum;
    rig::problem problem() const {
      rig::problem p = rig::make_problem<S>("mxm", a, b, rig::no_mask(), desc);
      p.accum = accum;
      rig::fill_in_result<S>(p, const_cast<result&>(c));
      rig::check(p);
      find_statistics(p);
      return p;
    }
  };
  const rig::descriptor desc{.kernel = kind.kernel, .width = kind.sample};
  const auto accum = kind.accumulates ? rig::accumulator::plus : rig::accumulator::none;
  B b = features_of<B>(a.columns(), columns);
  result c = rig::mxm(a, b, S{}, desc);
  const auto of = std::make_shared<operands>(operands{a, std::move(b), std::move(c), desc, accum});
  const rig::sampling how = kind.sample == 0                            ? rig::sampling::whole
                            : std::string_view(kind.kernel) == "bucket" ? rig::sampling::bucket
                                                                        : rig::sampling::fastrand;
  return {graph.name + " F=" + std::to_string(columns), &graph,
          [of] { rig::mxm(of->c, of->accum, of->a, of->b, S{}, of->desc); },
          [of, how] { return plan_of(facts_of(of->problem(), how)); },
          [of](const launch_plan& plan) {
            const rig::problem p = of->problem();
            compile(source_of(key_of(p), request_of(plan)), p.a.where.device);
          }};
}

point make_point(const subject& graph, int columns, const point_kind& kind) {
  const std::string_view semiring = kind.semiring;
  const auto of_type = [&]<class S>(const rig::matrix<float>& a, S) {
    if (kind.b == rig::type::half)
      return make_point<S, float, rig::dense<rig::half>>(graph, a, columns, kind);
    if (kind.b == rig::type::code)
      return make_point<S, float, rig::quantized>(graph, a, columns, kind);
    return make_point<S, float, rig::dense<float>>(graph, a, columns, kind);
  };
  if (kind.b == rig::type::float64)
    return make_point<rig::plus_times<double>, float, rig::dense<double>>(graph, graph.weighted,
                                                                          columns, kind);
  if (semiring == "max_second") return of_type(graph.pattern, rig::max_second<float>{});
  if (semiring == "arg_max_second") return of_type(graph.pattern, rig::arg_max_second<float>{});
  return of_type(graph.weighted, rig::plus_times<float>{});
}

constexpr int feature_widths[] = {1,  3,  4,  7,  8,   13,  16,  21,  32,  33,  36,  47,
                                  64, 65, 85, 97, 100, 128, 129, 145, 160, 193, 256, 260};
constexpr int sampled_widths[] = {8, 16, 32, 64, 128, 256};
constexpr int sample_sizes[] = {16, 32, 64, 128, 256, 1024};
constexpr rig::type b_types[] = {rig::type::float32, rig::type::half, rig::type::code};

/// All products that are tried on a graph, the cheapest first.
std::vector<std::pair<int, point_kind>> kinds_of_points() {
  std::vector<std::pair<int, point_kind>> out;
  for (const int columns : feature_widths) {
    for (const char* semiring : {"plus_times", "max_second", "arg_max_second"})
      for (const rig::type b : b_types) out.push_back({columns, {semiring, b}});
    out.push_back({columns, {"plus_times", rig::type::float64}});
    out.push_back({columns, {"plus_times", rig::type::float32, "", 0, true}});
  }
  for (const int columns : sampled_widths)
    for (const char* kernel : {"bucket", "fastrand"})
      for (const int sample : sample_sizes)
        for (const rig::type b : b_types)
          out.push_back({columns, {"plus_times", b, kernel, sample}});
  return out;
}

/// The plans that a section allows in one of its rows.
std::vector<std::string> candidates_of(section in, int columns, const launch_plan& now) {
  if (in == section::copy) return {"padded=0", "padded=1"};
  if (in == section::rare_samples) return {"rare=0", "rare=1"};
  if (in == section::load) return {"vector_bytes=4", "vector_bytes=8", "vector_bytes=16"};
  std::vector<std::string> out;
  if (in == section::tiles) {
    out.emplace_back("tile_lanes=0");
    for (const int l : {8, 16})
      for (const int g : {l, 32})
        for (const int u : {4, 6}) out.push_back(lanes(l, g, u, 1));
    return out;
  }
  const bool is_scalar = now.vector == 1;
  for (const int l : {1, 2, 4, 8, 16, 32})
    for (const int g : std::set{l, 2 * l, 32})
      for (const int u : {2, 3, 4, 6, 8})
        for (const int cf : {1, 2, 3, 5}) {
          const int tile = l * cf * now.vector;
          const bool is_odd_vector = !is_scalar && (l < 4 || cf > 2);
          const bool leaves_lanes_idle = tile >= 2 * columns && l > 4;
          const bool is_many_tiles = is_scalar && 4 * tile < columns;
          const bool takes_registers = u * cf > 18 || (!is_scalar && u * cf > 12);
          if (g > 32 || is_odd_vector || leaves_lanes_idle || is_many_tiles || takes_registers)
            continue;
          out.push_back(lanes(l, g, u, cf));
        }
  return out;
}

/// The number after a name in the text of a plan; 0 if the plan lacks it.
int number_after(const char* name, const std::string& plan) {
  const auto at = plan.find(name);
  return at == std::string::npos ? 0 : std::atoi(plan.c_str() + at + std::strlen(name));
}

/// The text of a plan for any unroll.
std::string without_unroll(std::string plan) {
  if (const auto at = plan.find("unroll="); at != std::string::npos)
    plan.erase(at, plan.find(' ', at) - at);
  return plan;
}

/// Milliseconds of candidates at one point.
struct outcome {
  std::string point, graph;
  std::map<std::string, double> ms;
};

/// Races candidates at a point. The field is halved twice; those that leave keep their last times.
std::map<std::string, double> race_candidates(const point& at, const tuning_row& row,
                                              const table_text& table,
                                              const std::vector<std::string>& plans) {
  struct candidate {
    std::string plan;
    std::shared_ptr<const tuning_table> table;
    launch_plan launch;
  };
  std::vector<candidate> field;
  for (const std::string& plan : plans) {
    const auto changed = std::make_shared<tuning_table>(table.with(row, plan));
    const tuning_scope in_use(*changed);
    field.push_back({plan, changed, at.plan()});
  }
  std::vector<char> compiles(field.size(), 1);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < field.size(); ++i) try {
      at.compile(field[i].launch);
    } catch (const rig::error&) {
      compiles[i] = 0;
    }
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < field.size(); ++i)
    if (compiles[i] != 0) left.push_back(i);
  std::map<std::string, double> out;
  for (const int repeat : {3, 5, 9}) {
    std::vector<contender> racing;
    for (const std::size_t i : left)
      racing.push_back({field[i].plan, [&, i] {
                          const tuning_scope in_use(*field[i].table);
                          at.run();
                        }});
    const std::vector<double> ms = gpu::race(racing, repeat);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < left.size(); ++i) {
      out[field[left[i]].plan] = ms[i];
      order.emplace_back(ms[i], left[i]);
    }
    std::sort(order.begin(), order.end());
    left.clear();
    for (std::size_t i = 0; i < std::max<std::size_t>(2, order.size() / 2) && i < order.size(); ++i)
      left.push_back(order[i].second);
    // The row's own plan stays, because the others are compared with it.
    for (const auto& [time, i] : order)
      if (field[i].plan == row.plan_text && std::find(left.begin(), left.end(), i) == left.end())
        left.push_back(i);
  }
  return out;
}

/// The geometric mean of a plan's times at points over those of another plan; nothing if it was not
/// measured at all of them.
std::optional<double> relative(const std::vector<outcome>& points, const std::string& plan,
                               const std::string& to) {
  double sum = 0;
  for (const outcome& at : points) {
    const auto mine = at.ms.find(plan), other = at.ms.find(to);
    if (mine == at.ms.end() || other == at.ms.end()) return std::nullopt;
    sum += std::log(mine->second / other->second);
  }
  return std::exp(sum / static_cast<double>(points.size()));
}

/// The best plan over points, by geometric mean; `own` if none is better.
std::string best_over(const std::vector<outcome>& points, const std::string& own) {
  std::string best = own;
  double least = 1;
  for (const auto& [plan, ms] : points.front().ms)
    if (const auto ratio = relative(points, plan, own); ratio && *ratio < least) {
      least = *ratio;
      best = plan;
    }
  return best;
}

class tuner {
 public:
  tuner(const options& given, record& out)
      : given_(given),
        commit_(out.commit()),
        out_(out),
        text_(table_text::of_file(given.table)),
        table_("the table to tune", text_.text()) {}

  void run() {
    std::vector<subject> graphs = load();
    gather_points(graphs);
    const auto start = std::chrono::steady_clock::now();
    std::size_t done = 0;
    for (const auto& [row, places] : points_of_rows_) {
      tune_row(*row, places);
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::steady_clock::now() - start);
      std::printf("row %zu of %zu, %ld s\n", ++done, points_of_rows_.size(),
                  static_cast<long>(seconds.count()));
      std::fflush(stdout);
    }
    report_regret();
  }

 private:
  struct place_of_point {
    const subject* graph;
    int columns;
    point_kind kind;
  };

  std::vector<subject> load() const {
    std::vector<subject> out;
    if (!given_.graph_file.empty()) {
      out.push_back(make_subject(given_.graph_file, rig::read_matrix<float>(given_.graph_file)));
      return out;
    }
    std::vector<std::string> names = given_.graphs;
    if (names.empty())
      for (const auto& graph : rig::generate::named_graphs()) names.push_back(graph.name);
    for (const std::string& name : names)
      out.push_back(make_subject(name, rig::generate::from_text(name)));
    return out;
  }

  /// Finds the rows that the graphs meet, and where each row is raced: on one graph in the middle
  /// of its feature widths, on several at spread widths, because a row serves all of them.
  void gather_points(const std::vector<subject>& graphs) {
    const tuning_scope in_use(table_);
    std::map<const tuning_row*, std::vector<std::vector<place_of_point>>> met;
    for (const subject& graph : graphs)
      for (const auto& [columns, kind] : kinds_of_points())
        for (const tuning_row* row : rows_met(graph, columns, kind)) {
          std::vector<std::vector<place_of_point>>& by_graph = met[row];
          if (by_graph.empty() || by_graph.back().front().graph != &graph) by_graph.emplace_back();
          by_graph.back().push_back({&graph, columns, kind});
        }
    for (auto& [row, by_graph] : met)
      if (commit_.empty() || row->commit != commit_) points_of_rows_[row] = spread(by_graph);
  }

  /// At most three graphs, from the first to the last; widths at sixths, or halves, of those met.
  static std::vector<place_of_point> spread(std::vector<std::vector<place_of_point>>& by_graph) {
    const std::size_t most = std::min<std::size_t>(3, by_graph.size());
    std::vector<place_of_point> out;
    for (std::size_t i = 0; i < most; ++i) {
      auto& on_graph = by_graph[most > 1 ? i * (by_graph.size() - 1) / (most - 1) : 0];
      std::stable_sort(on_graph.begin(), on_graph.end(),
                       [](const auto& x, const auto& y) { return x.columns < y.columns; });
      out.push_back(on_graph[on_graph.size() * (2 * i + 1) / (2 * most)]);
    }
    return out;
  }

  static std::vector<const tuning_row*> rows_met(const subject& graph, int columns,
                                                 const point_kind& kind) {
    const launch_plan met = plan_without_operands(graph, columns, kind);
    std::vector<const tuning_row*> out = {met.row};
    if (met.copy != nullptr) out.push_back(met.copy);
    if (met.rare != nullptr) out.push_back(met.rare);
    if (kind.b == rig::type::code && met.load != nullptr) out.push_back(met.load);
    return out;
  }

  /// The plan of a point whose B and C are not allocated.
  static launch_plan plan_without_operands(const subject& graph, int columns,
                                           const point_kind& kind) {
    const std::string_view semiring = kind.semiring;
    rig::descriptor desc{.kernel = kind.kernel, .width = kind.sample};
    const bool is_sum = semiring == "plus_times";
    rig::problem p;
    p.algebra = kind.b == rig::type::float64 ? &rig::info_of<rig::plus_times<double>>
                : is_sum                     ? &rig::info_of<rig::plus_times<float>>
                : semiring == "max_second"   ? &rig::info_of<rig::max_second<float>>
                                             : &rig::info_of<rig::arg_max_second<float>>;
    p.desc = &desc;
    const rig::matrix<float>& a = is_sum ? graph.weighted : graph.pattern;
    p.structure = p.oriented = &a.structure();
    rig::fill_in(p.a, a);
    p.b.rows = a.columns();
    p.c.rows = a.rows();
    p.b.columns = p.c.columns = p.b.stride = p.c.stride = columns;
    p.b.data = reinterpret_cast<void*>(4096);
    p.b.where = p.c.where = p.a.where;
    p.b.value_type = kind.b;
    p.b.value_bytes = kind.b == rig::type::code      ? 1
                      : kind.b == rig::type::half    ? 2
                      : kind.b == rig::type::float64 ? 8
                                                     : 4;
    p.c.value_type = p.algebra->result;
    p.accum = kind.accumulates ? rig::accumulator::plus : rig::accumulator::none;
    const rig::sampling how = kind.sample == 0                            ? rig::sampling::whole
                              : std::string_view(kind.kernel) == "bucket" ? rig::sampling::bucket
                                                                          : rig::sampling::fastrand;
    find_statistics(p);
    return plan_of(facts_of(p, how));
  }

  void tune_row(const tuning_row& row, const std::vector<place_of_point>& places) {
    std::vector<outcome> points;
    race_at(places, row, points, [&](const std::string& plan) {
      return number_after("unroll=", plan) == number_after("unroll=", row.plan_text);
    });
    std::erase_if(points, [&](const outcome& at) { return !at.ms.contains(row.plan_text); });
    if (points.empty()) return;
    const std::string lanes = without_unroll(best_over(points, row.plan_text));
    if (lanes.find("row_lanes=") != std::string::npos)
      race_at(places, row, points,
              [&](const std::string& plan) { return without_unroll(plan) == lanes; });
    const std::string best = best_over(points, row.plan_text);
    const bool changes = best != row.plan_text && wins_again(row, best, places);
    write(row, changes ? best : row.plan_text, points.front());
    std::printf("%s: %s\n", row.key.c_str(),
                changes ? (row.plan_text + " -> " + best).c_str() : "kept");
    for (const outcome& at : points) remember(row, at);
    outcomes_.push_back({row.plan_text, std::move(points)});
  }

  /// Races the row's plan and the candidates that `is_in_race` accepts, at each place; adds their
  /// times to `points`, which is empty or has one outcome per place that could be raced.
  template <class F>
  void race_at(const std::vector<place_of_point>& places, const tuning_row& row,
               std::vector<outcome>& points, const F& is_in_race) const {
    for (const place_of_point& place : places) try {
        const point at = make_point(*place.graph, place.columns, place.kind);
        const tuning_scope in_use(table_);
        std::vector<std::string> plans = candidates_of(row.in, place.columns, at.plan());
        std::erase_if(plans, [&](const std::string& plan) {
          return plan == row.plan_text || !is_in_race(plan);
        });
        plans.push_back(row.plan_text);
        auto found = std::find_if(points.begin(), points.end(), [&](const outcome& old) {
          return old.point == at.name && old.graph == place.graph->name;
        });
        if (found == points.end()) found = points.insert(found, {at.name, place.graph->name, {}});
        found->ms.merge(race_candidates(at, row, text_, plans));
      } catch (const rig::error& wrong) {
        std::printf("%s: %s\n", row.key.c_str(), wrong.what());
      }
  }

  /// Three races of two plans at each point of the row: the new one must win by 2 % over all, and
  /// lose by 2 % at none.
  bool wins_again(const tuning_row& row, const std::string& best,
                  const std::vector<place_of_point>& places) const {
    constexpr int races = 3;
    constexpr double least_gain = 1.02;
    double sum = 0, worst = 0;
    for (const place_of_point& place : places) {
      const point at = make_point(*place.graph, place.columns, place.kind);
      double here = 0;
      for (int i = 0; i < races; ++i) {
        const auto ms = race_candidates(at, row, text_, {row.plan_text, best});
        if (ms.size() < 2) return false;
        here += std::log(ms.at(row.plan_text) / ms.at(best)) / races;
      }
      sum += here;
      worst = std::min(worst, here);
    }
    return sum / static_cast<double>(places.size()) >= std::log(least_gain) &&
           worst > -std::log(least_gain);
  }

  /// Writes the row's evidence into the table, and the table to its file at once.
  void write(const tuning_row& row, const std::string& plan, const outcome& at) {
    std::vector<std::string>& line = text_.line_of(row);
    line[table_text::plan] = plan;
    line[table_text::ms] = digits(at.ms.at(plan), 4);
    const std::string* second = nullptr;
    for (const auto& [other, ms] : at.ms)
      if (other != plan && (second == nullptr || ms < at.ms.at(*second))) second = &other;
    if (second != nullptr) {
      line[table_text::runner_up] = *second;
      line[table_text::runner_up_ms] = digits(at.ms.at(*second), 4);
    }
    line[table_text::graph] = at.point;
    line[table_text::commit] = commit_;
    text_.write(given_.table);
  }

  void remember(const tuning_row& row, const outcome& at) {
    bench::row line;
    line.suite = "tune";
    line.operation = section_name(row.in);
    line.graph = at.graph;
    line.kernel = row.plan_text;
    line.ms = at.ms.at(row.plan_text);
    double best = line.ms;
    for (const auto& [plan, ms] : at.ms) best = std::min(best, ms);
    line.ratio = best / line.ms;
    out_.add(line);
  }

  /// For each row and each of its graphs: the plan that the other graphs choose, over the best
  /// there.
  void report_regret() {
    constexpr double most = 1.05, least_share = 0.95;
    int within = 0, all = 0;
    for (const auto& [own, points] : outcomes_)
      for (std::size_t left_out = 0; left_out < points.size() && points.size() > 1; ++left_out) {
        std::vector<outcome> others = points;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
        const auto& here = points[left_out].ms;
        const auto chosen = here.find(best_over(others, own));
        if (chosen == here.end()) continue;
        double best = chosen->second;
        for (const auto& [plan, ms] : here) best = std::min(best, ms);
        ++all;
        within += chosen->second <= most * best ? 1 : 0;
      }
    if (all > 0) out_.summarise("share_within_5_percent_left_out", within * 1.0 / all, least_share);
  }

  const options& given_;
  const std::string commit_;
  record& out_;
  table_text text_;
  const tuning_table table_;
  std::map<const tuning_row*, std::vector<place_of_point>> points_of_rows_;
  std::vector<std::pair<std::string, std::vector<outcome>>> outcomes_;
};

}  // namespace
}  // namespace bench::gpu

namespace bench {

void tune(const options& given, record& out) {
  if (rig::devices().size() < 2) rig::fail(rig::errc::place, {"there is no GPU to measure"});
  out.device(gpu::driver(), gpu::toolkit());
  gpu::tuner(given, out).run();
}

}  // namespace bench
