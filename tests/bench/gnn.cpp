// Suite gnn: epochs and inferences of graph neural networks by the trainer of examples/gnn, beside
// the same networks with cuSPARSE's products.

#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>

#include "bench.hpp"
#include "gnn/programs.hpp"
#include "gnn/training.hpp"
#include "rig/explain.hpp"
#include "rig/io.hpp"
#include "rig/sampling_report.hpp"
#ifdef RIG_HAS_CUDA
#include "gpu.hpp"
#include "gpu_peers.hpp"
#endif

namespace bench {
namespace {

constexpr int layers = 3, usual_width = 256;

struct model {
  const char* name;
  gnn::kind is;
  gnn::gathering gathers;
};
constexpr model models[] = {{"sage-mean", gnn::kind::sage, gnn::gathering::mean},
                            {"sage-pool", gnn::kind::sage, gnn::gathering::pool},
                            {"gcn", gnn::kind::gcn, gnn::gathering::mean},
                            {"gin", gnn::kind::gin, gnn::gathering::mean}};

/// A way to compute the products with the graph. `vendor` is cuSPARSE by rig's trainer.
struct way {
  std::string name;
  rig::descriptor desc;
  int k = 0;
  gnn::joining joins = gnn::joining::where_faster;
};
way named(const char* name) {
  way out;
  out.name = name;
  return out;
}
way by_vendor() {
  way out = named("vendor");
  out.desc.kernel = out.name;
  out.desc.reproducible = false;
  return out;
}
way by_maxk(int k, bool any_order) {
  way out = named(any_order ? "maxk, any order" : "maxk");
  out.desc.reproducible = !any_order;
  out.k = k;
  return out;
}
way by_sample(const char* kernel, int width) {
  way out = named(kernel);
  out.desc.kernel = kernel;
  out.desc.width = width;
  out.desc.rescale = true;
  return out;
}
way by_separate_calls() {
  way out = named("separate calls");
  out.joins = gnn::joining::never;
  return out;
}
way by_hybrid() {
  way out = named("hybrid");
  out.desc.precision = rig::precision::tf32;
  return out;
}

/// Targets for the time of `vendor` over that of MaxK with k = 32; none elsewhere.
constexpr int bound_k = 32;
constexpr std::pair<const char*, double> maxk_targets[] = {{"reddit-like", 2.2},
                                                           {"products-like", 1.3}};
constexpr double exact_target = 1.15;
/// Limits for max pooling on products-like: bytes, and its epoch over that of the mean.
constexpr const char* pooled_graph = "products-like";
constexpr double most_pool_gigabytes = 40, most_pool_over_mean = 1.6;

rig::place place_of_run() { return rig::devices().size() > 1 ? rig::cuda() : rig::cpu(); }

std::function<void()> until_done(const std::function<void()>& work, rig::place where) {
  return [=] {
    work();
    rig::synchronise(where);
  };
}

/// A network that is trained or inferred with in some way.
struct entrant {
  way how;
  gnn::problem on;
  gnn::network<float> net;
  gnn::adam<float> optimiser{0.01, 5e-4};
  double peak_bytes = 0;

  entrant(way by, const gnn::shape& s, gnn::problem problem)
      : how(std::move(by)), on(std::move(problem)), net(s, 1, on.x->where()) {
    on.a.desc = how.desc;
    on.a.joins = how.joins;
  }
  rig::place where() const { return on.x->where(); }
  void train(gnn::tape& t) { gnn::step(t, net, optimiser, on, 1); }
  void infer(gnn::tape& t) const { net.forward(t, on.a, on.x); }
};

/// What a row says of an entrant beside its time.
struct measured {
  double ms;
  gnn::stage_times stages;
};

/// The networks on one data set.
class ground {
 public:
  ground(const std::string& name, int hidden, const options& given, record& out)
      : name_(name), hidden_(hidden), given_(given), out_(out) {
    const std::string folder = data_folder() + "/" + name;
    const auto data = gnn::load_data(std::filesystem::exists(folder) ? folder : name);
    inputs_ = data.inputs();
    outputs_ = data.y.columns();
    if (!given.folder.empty()) write_graph(data.graph);
    graph_ = data.graph.to(place_of_run());
    // The operator differs by model; the MLP has none.
    shared_ = gnn::move(data, {gnn::kind::mlp}, {}, place_of_run()).problem;
  }

  void measure() {
    for (const model& m : models) try {
        shared_.a = gnn::aggregation_of(shape_of(m, 0), graph_, {});
        epochs(m);
        if (m.gathers == gnn::gathering::mean && m.is == gnn::kind::sage) inferences(m);
      } catch (const rig::error& wrong) {
        out_.miss(name_ + ", " + m.name + ": " + wrong.what());
      }
  }

 private:
  gnn::shape shape_of(const model& m, int k) const {
    return {m.is, m.gathers, inputs_, hidden_, outputs_, layers, k, 0.0};
  }
  /// Writes offsets and columns as .npy.
  void write_graph(const rig::matrix<float>& graph) const {
    const rig::pattern& s = graph.structure();
    if (s.nnz() > std::numeric_limits<rig::index>::max())
      rig::fail(rig::errc::range, {name_, " has ", s.nnz(), " entries, more than a column holds"});
    rig::dense<rig::int64> offsets(s.rows() + 1, 1);
    for (rig::index r = 0; r <= s.rows(); ++r) offsets(r, 0) = s.offset(r);
    const auto columns =
        rig::dense<rig::index>::view(const_cast<rig::index*>(s.column_indices()),
                                     static_cast<rig::index>(s.nnz()), 1, 1, rig::cpu());
    rig::write_dense(given_.folder + "/" + name_ + ".offsets.npy", offsets);
    rig::write_dense(given_.folder + "/" + name_ + ".columns.npy", columns);
  }
  std::string key(const model& m) const { return "gnn_" + name_ + "_" + m.name + "_"; }

  void add_vendor(std::vector<way>& to) const {
    if (place_of_run() == rig::cpu())
      out_.peer("vendor", "absent: there is no GPU");
    else if (shared_.a.a.values() != nullptr)  // gin's operator has none, and cuSPARSE needs them
      to.push_back(by_vendor());
  }

  std::vector<way> ways_of(const model& m) const {
    std::vector<way> all{named("exact")};
    if (m.gathers == gnn::gathering::pool) return all;
    add_vendor(all);
    if (shared_.a.joins_update(hidden_, hidden_)) all.push_back(by_separate_calls());
    for (const int k : {bound_k, 16}) {
      if (k > hidden_) continue;
      for (const bool any_order : {false, true}) all.push_back(by_maxk(k, any_order));
    }
    return all;
  }

  /// Whether rig chooses `hybrid` once windows are built, which holds more memory from then on.
  bool chooses_hybrid(const model& m) {
    if (place_of_run() == rig::cpu() || m.gathers == gnn::gathering::pool) return false;
    rig::descriptor windows;
    windows.kernel = "hybrid";
    shared_.a.a.prepare(windows);
    shared_.a.by_columns().prepare(windows);
    const auto wide = gnn::constant<float>(graph_.rows(), hidden_, 0, graph_.where());
    const auto chosen =
        rig::explain(shared_.a.a, wide, rig::plus_times<float>{}, by_hybrid().desc).chosen;
    if (chosen != "hybrid")
      out_.peer("hybrid (" + name_ + ", " + m.name + ")", "not chosen: " + chosen + " is");
    return chosen == "hybrid";
  }

  /// Adds an entrant whose first two runs succeed; they also prepare what later ones need.
  void enter(std::vector<std::unique_ptr<entrant>>& all, const model& m, const way& how,
             const std::function<void(entrant&)>& run) {
    try {
      auto one = std::make_unique<entrant>(how, shape_of(m, how.k), shared_);
      gnn::reset_peak(one->where());
      for (int turn = 0; turn < 2; ++turn) run(*one);
      rig::synchronise(one->where());
      one->peak_bytes = static_cast<double>(gnn::peak_bytes(one->where()));
      all.push_back(std::move(one));
    } catch (const rig::error& wrong) {
      out_.miss(how.name + " (" + name_ + ", " + m.name + "): " + wrong.what());
    }
  }

  std::vector<measured> race(std::vector<std::unique_ptr<entrant>>& all, bool trains) {
    const auto run = [trains](entrant& one, gnn::tape& t) {
      if (trains)
        one.train(t);
      else
        one.infer(t);
    };
    std::vector<contender> field;
    for (const auto& one : all)
      field.push_back({one->how.name, until_done(
                                          [=, at = one.get()] {
                                            gnn::tape t(trains, at->where());
                                            run(*at, t);
                                          },
                                          one->where())});
    const std::vector<double> ms = bench::race(field, repeat_of(given_));
    std::vector<measured> found;
    for (std::size_t i = 0; i < all.size(); ++i)
      found.push_back({ms[i], gnn::measure_stages(ms[i], trains, all[i]->where(),
                                                  [&](gnn::tape& t) { run(*all[i], t); })});
    return found;
  }

  row line(const std::string& operation, const entrant& of, const measured& found) const {
    row out;
    out.suite = "gnn";
    out.operation = operation;
    out.graph = name_;
    out.n = graph_.rows();
    out.nnz = graph_.nnz();
    out.features = hidden_;
    out.type = "float";
    out.kernel = out.chosen = of.how.name;
    out.k = of.how.k;
    out.width = of.how.desc.width;
    out.ms = found.ms;
    out.aggregate_ms = found.stages.aggregate;
    out.peak_bytes = of.peak_bytes;
    return out;
  }

  void epochs(const model& m) {
    std::vector<std::unique_ptr<entrant>> all;
    const auto train = [](entrant& one) {
      gnn::tape t(true, one.where());
      one.train(t);
    };
    for (const way& how : ways_of(m)) enter(all, m, how, train);
    if (chooses_hybrid(m)) enter(all, m, by_hybrid(), train);
    const auto found = race(all, true);
    const auto of_way = [&](const char* name) -> const measured* {
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i]->how.name == name) return &found[i];
      return nullptr;
    };
    const measured* const beside = of_way("vendor");
    if (const measured* const apart = of_way("separate calls"))
      out_.summarise(key(m) + "exact_over_separate_calls", apart->ms / of_way("exact")->ms);
    for (std::size_t i = 0; i < all.size(); ++i) {
      row made = line(std::string("epoch ") + m.name, *all[i], found[i]);
      if (beside != nullptr) {
        made.peer_ms["vendor"] = beside->ms;
        made.ratio = beside->ms / found[i].ms;
        made.amdahl = beside->ms / (beside->ms - beside->stages.aggregate);
      }
      out_.add(made);
      if (beside != nullptr) judge(m, *all[i], *made.ratio, *made.amdahl);
      if (all[i]->how.name == "exact") judge_pool(m, *all[i], found[i].ms);
    }
  }

  void judge(const model& m, const entrant& of, double ratio, double amdahl) {
    if (of.how.name == "exact") out_.summarise(key(m) + "exact_over_vendor", ratio, exact_target);
    if (of.how.name != "maxk" || of.how.k != bound_k) return;
    std::optional<double> target;
    for (const auto& [graph, least] : maxk_targets)
      if (name_ == graph) target = least;
    out_.summarise(key(m) + "maxk_32_over_vendor", ratio, target);
    out_.summarise(key(m) + "maxk_32_share_of_amdahl", ratio / amdahl);
  }

  void judge_pool(const model& m, const entrant& of, double ms) {
    if (m.gathers == gnn::gathering::mean && m.is == gnn::kind::sage) mean_ms_ = ms;
    if (m.gathers != gnn::gathering::pool || name_ != pooled_graph) return;
    out_.limit(key(m) + "gigabytes", of.peak_bytes / 1e9, most_pool_gigabytes);
    if (mean_ms_ > 0) out_.limit(key(m) + "over_mean", ms / mean_ms_, most_pool_over_mean);
  }

  void inferences(const model& m) {
    std::vector<way> ways{named("exact")};
    add_vendor(ways);
    for (const int width : {16, 32, 64, 128, 256})
      for (const char* kernel : {"adaptive", "bucket", "fastrand"})
        ways.push_back(by_sample(kernel, width));
    std::vector<std::unique_ptr<entrant>> all;
    for (const way& how : ways)
      enter(all, m, how, [](entrant& one) {
        gnn::tape t(false, one.where());
        one.infer(t);
      });
    const auto found = race(all, false);
    const bool has_vendor = all.size() > 1 && all[1]->how.name == "vendor";
    for (std::size_t i = 0; i < all.size(); ++i) {
      row made = line(std::string("inference ") + m.name, *all[i], found[i]);
      made.exact_ms = found[0].ms;
      if (has_vendor) {
        made.peer_ms = {{"vendor", found[1].ms}, {"vendor's products", found[1].stages.aggregate}};
        made.ratio = found[1].ms / found[i].ms;
      }
      if (made.width > 0)
        made.kept_share = rig::sampling_report(all[i]->on.a.a, all[i]->how.desc).kept_share();
      out_.add(made);
      if (has_vendor && made.width == 16)
        out_.summarise(key(m) + "inference_" + made.kernel + "_16_over_vendor", *made.ratio);
    }
  }

  std::string name_;
  int hidden_;
  const options& given_;
  record& out_;
  rig::index inputs_ = 0, outputs_ = 0;
  rig::matrix<float> graph_;
  gnn::problem shared_;
  double mean_ms_ = 0;
};

}  // namespace

void gnn_suite(const options& given, record& out) {
  const bool is_on_cpu = place_of_run() == rig::cpu();
#ifdef RIG_HAS_CUDA
  if (!is_on_cpu) {
    out.device(gpu::driver(), gpu::toolkit());
    out.peer("vendor", gpu::cusparse_name());
  }
#endif
  std::vector<std::string> graphs = given.graphs;
  if (graphs.empty() && is_on_cpu) graphs = {"reddit-like:1000", "products-like:10000"};
  if (graphs.empty()) graphs = {"reddit-like", "products-like"};
  for (const std::string& name : graphs)
    for (const int hidden : given.features.empty() ? std::vector{usual_width} : given.features)
      ground(name, hidden, given, out).measure();
}

}  // namespace bench
