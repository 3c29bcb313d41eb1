// Suite sampled: the kernels that read a sample of each row, beside exact sums; INT8 features with
// every kernel; the cost of loading features.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "gpu_suites.hpp"
#include "rig/io.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/mxm.hpp"
#include "rig/quantized.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

const rig::plus_times<float> sum;

constexpr std::size_t strategy_count = 3;
struct strategy {
  const char* kernel;
  rig::sampling how;
};
constexpr strategy strategies[strategy_count] = {{"bucket", rig::sampling::bucket},
                                                 {"fastrand", rig::sampling::fastrand},
                                                 {"adaptive", rig::sampling::adaptive}};

/// Time of the best cuSPARSE over that of a plain fp32 kernel, written from the definitions in the
/// papers. These are constants of the project's targets for an H200, not runs.
struct plain_kernel {
  const char* graph;
  int features, width;
  double over_cusparse[strategy_count];
};
constexpr plain_kernel plain_kernels[] = {
    {"reddit-like", 64, 16, {21.7, 16.5, 16.6}},    {"reddit-like", 64, 32, {14.0, 11.4, 12.0}},
    {"reddit-like", 64, 64, {8.1, 7.2, 7.2}},       {"reddit-like", 64, 128, {4.2, 3.9, 4.0}},
    {"reddit-like", 256, 16, {21.8, 19.6, 19.6}},   {"reddit-like", 256, 32, {11.9, 12.3, 12.3}},
    {"reddit-like", 256, 64, {5.7, 6.8, 5.5}},      {"reddit-like", 256, 128, {3.5, 2.9, 3.6}},
    {"proteins-like", 256, 16, {27.6, 22.3, 22.4}}, {"proteins-like", 256, 32, {15.0, 14.0, 14.2}},
    {"proteins-like", 256, 64, {7.6, 7.8, 8.0}},    {"proteins-like", 256, 128, {4.1, 4.1, 3.9}},
    {"products-like", 64, 16, {3.8, 3.7, 3.6}},     {"products-like", 64, 32, {2.7, 2.6, 2.7}},
    {"products-like", 64, 64, {2.1, 2.0, 2.1}},     {"products-like", 64, 128, {1.7, 1.7, 1.7}},
};

/// The sampled entries as a matrix on the GPU, row by row and slot by slot. They may be unsorted
/// and repeat, which `trusted` allows. An exact kernel then reads the same entries in the same
/// order as the sampled one.
rig::matrix<float> staged(const rig::pattern& a, const float* values, rig::sampling how,
                          int width) {
  const auto sample_of_row = [&](rig::index i) {
    return rig::sample_of(how, a.offset(i + 1) - a.offset(i), width);
  };
  const auto rows = static_cast<std::size_t>(a.rows());
  std::vector<rig::int32> offsets(rows + 1);
  rig::int64 count = 0;
  for (rig::index i = 0; i < a.rows(); ++i) {
    count += sample_of_row(i).count;
    if (count > rig::highest<rig::int32>())
      rig::fail(rig::errc::range, {"the control would have more than 2^31 entries"});
    offsets[static_cast<std::size_t>(i) + 1] = static_cast<rig::int32>(count);
  }
  const auto size = static_cast<std::size_t>(count);
  const rig::buffer entry_memory = rig::buffer::allocate(size * sizeof(rig::index));
  const rig::buffer value_memory = rig::buffer::allocate(size * sizeof(float));
  auto* const entries = entry_memory.data<rig::index>();
  auto* const kept = value_memory.data<float>();
#pragma omp parallel for schedule(dynamic, 1024)
  for (rig::index i = 0; i < a.rows(); ++i) {
    const rig::row_sample row = sample_of_row(i);
    const rig::int64 from = a.offset(i), to = offsets[static_cast<std::size_t>(i)];
    for (unsigned slot = 0; slot < row.count; ++slot) {
      const rig::int64 p = from + row.entry(slot);
      entries[to + slot] = a.column_indices()[p];
      kept[to + slot] = values[p];
    }
  }
  return rig::matrix<float>::view(a.rows(), a.columns(), std::span<const rig::int32>(offsets),
                                  std::span<const rig::index>(entries, size),
                                  std::span<const float>(kept, size), rig::input::trusted)
      .to(rig::cuda());
}

/// B in one of its element types.
struct operand {
  std::string type;
  double element_bytes;
  /// C = A·B by the kernel that the descriptor names.
  std::function<void(const rig::matrix<float>&, const rig::descriptor&)> multiply;
  /// The same by an exact kernel; for INT8, B is the floats that the codes stand for.
  std::function<void(const rig::matrix<float>&)> expect;
  std::string chosen;
};

class sampled : public suite {
 public:
  using suite::suite;

  std::vector<int> features() const override {
    return with_.given.features.empty() ? std::vector{64, 128, 256} : with_.given.features;
  }

  void meet(const subject& graph) override {
    controls_.clear();
    longest_ = rig::generate::degree_quantiles(*graph.on_host)[4];
    const rig::buffer values =
        rig::buffer::borrow(const_cast<float*>(graph.weighted.values()),
                            static_cast<std::size_t>(graph.weighted.nnz()) * sizeof(float),
                            rig::cuda(), graph.weighted.values_stream());
    values_ = values.to(rig::cpu());
    if (ladder_.empty()) climb();
  }

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    const std::optional<double> best = with_.best_cusparse(of);
    exact_ = rig::mxm(a, of.b, sum);
    auto b16 = rig::dense<rig::bfloat16>::uninitialised(a.columns(), of.features, rig::cuda());
    round_to(rig::type::bfloat16, of.b.data(), b16.data(), rig::int64{a.columns()} * of.features);
    const auto b8 = rig::quantized::from(of.b, rig::ranges::matrix, rig::rounding::nearest);
    const rig::dense<float> b8_read = b8.dequantised<float>().to(rig::cuda());
    const auto by = [&of](const auto& b) {
      return [&of, &b](const rig::matrix<float>& a, const rig::descriptor& desc = {}) {
        rig::mxm(of.c, rig::none, a, b, sum, desc);
      };
    };
    const std::vector<operand> operands = {
        {"float", 4, by(of.b), by(of.b), rig::explain(a, of.b, sum).chosen},
        {"bfloat16", 2, by(b16), by(b16), rig::explain(a, b16, sum).chosen},
        {"int8", 1, by(b8), by(b8_read), rig::explain(a, b8, sum).chosen}};

    measure_exact(of, operands, best);
    for (const int width : widths_at(of))
      measure_width(of, operands, width, best, width <= every_type_up_to);
  }

  void summarise() override {
    controls_.clear();
    sum_up("sampled_over_targets", over_targets_, 1.3, {});
    if (!over_targets_or_ceiling_.empty())
      with_.out.summarise(
          "sampled_over_targets_or_ceiling_least",
          *std::min_element(over_targets_or_ceiling_.begin(), over_targets_or_ceiling_.end()), 1.0);
    sum_up("sampled_int8_over_targets", int8_over_targets_, 2.0, {});
    limit_greatest("sampled_over_control_greatest", over_control_, 1.15);
    limit_greatest("sampled_over_exact_greatest", over_exact_, 1.10);
    limit_greatest("sampled_whole_over_exact", whole_over_exact_, 1.05);
    sum_up("int8_exact_over_cusparse", int8_exact_, 2.5, {});
    sum_up("sampled_adaptive_over_fastrand", adaptive_over_fastrand_, {}, {});
    sum_up("sampled_adaptive_over_bucket", adaptive_over_bucket_, {}, {});
    if (!products_.empty()) measure_loading();
  }

 private:
  static constexpr int every_type_up_to = 128;
  static constexpr const char* loaded_graph = "reddit-like";
  static constexpr int loaded_product_features = 64;

  /// A product whose time the loading is compared with.
  struct loaded_product {
    std::string type;
    int width;
    double ms, bytes;
  };

  /// Measures the gather ceilings of more table sizes.
  void climb() {
    for (const int mb : {4, 60, 120, 250, 500}) {
      const double found = gather(static_cast<std::size_t>(mb) * 1'000'000, repeat_of(with_.given));
      with_.ceilings["gather_" + std::to_string(mb) + "_mb"] = found;
      ladder_[mb * 1e6] = found;
    }
    ladder_[20e6] = with_.ceilings.at("gather_cached");
    ladder_[2000e6] = with_.ceilings.at("gather_memory");
    with_.out.ceilings(with_.ceilings);
  }

  /// The share of the gather ceiling whose table is nearest to B's size, by ratio.
  double share(double bytes, double ms, double table_bytes) const {
    const auto distance = [&](double table) {
      return std::max(table / table_bytes, table_bytes / table);
    };
    const auto nearest = std::min_element(
        ladder_.begin(), ladder_.end(),
        [&](const auto& x, const auto& y) { return distance(x.first) < distance(y.first); });
    return bytes / (ms * 1e6) / nearest->second;
  }

  std::vector<int> widths_at(const product& of) const {
    std::vector<int> widths = {16, 32, 64, 128, 256, 512, 1024};
    const std::string& name = of.graph.name;
    const char* const usual[] = {"reddit-like", "proteins-like", "products-like", "arxiv-like",
                                 "pubmed-like"};
    const bool is_usual = std::find(std::begin(usual), std::end(usual), name) != std::end(usual);
    if (with_.given.features.empty() && of.features == 128) return {};
    if (is_usual || !with_.given.graphs.empty()) {
      if (name == "proteins-like") widths.insert(widths.end(), {1792, 2304});
      return widths;
    }
    // Other graphs take one width, the first that holds their longest row.
    const auto enough =
        std::find_if(widths.begin(), widths.end(), [&](int width) { return width >= longest_; });
    return enough == widths.end() ? std::vector<int>() : std::vector{*enough};
  }

  const rig::matrix<float>& control_of(const product& of, const strategy& by, int width) {
    rig::matrix<float>& control = controls_[{by.kernel, width}];
    if (control.rows() == 0)
      control = staged(*of.graph.on_host, values_.data<const float>(), by.how, width);
    return control;
  }

  /// Adds one of rig's kernels to the field, if it gives the expected result; notes its error.
  void enter(const std::string& name, std::function<void()> run, const std::vector<float>& expected,
             product& of, std::vector<contender>& field) {
    std::vector<peer> one = {{name, std::move(run), {}}};
    try {
      verify(one, of.c, expected, of, float_rounding, with_);
      errors_[name] = relative_error(of.c.data(), exact_.data(), rig::int64{of.n()} * of.features);
    } catch (const rig::error& wrong) {
      one[0].error = wrong.what();
      with_.out.miss(name + " (" + of.graph.name + ", F = " + std::to_string(of.features) +
                     "): " + one[0].error);
    }
    with_.enter(one, of, field);
  }

  std::map<std::string, double> times(const std::vector<contender>& field) const {
    const std::vector<double> ms = with_.race(field);
    std::map<std::string, double> out;
    for (std::size_t i = 0; i < field.size(); ++i) out[field[i].name] = ms[i];
    return out;
  }

  void add(row line, const product& of, const operand& b, double entries, double ms,
           const std::optional<double>& best) {
    const double row_bytes = b.element_bytes * of.features;
    line.type = b.type;
    line.chosen = b.chosen;
    line.ms = ms;
    line.bytes = entries * (4 + 4 + row_bytes) + 4.0 * of.n() * of.features;
    line.share_of_ceiling = share(line.bytes, ms, row_bytes * of.graph.weighted.columns());
    line.best_cusparse_ms = best;
    if (best) line.ratio = *best / ms;
    with_.out.add(line);
    if (line.width > 0) note(line);
  }

  /// Measures all entries, with B in fp32 and in INT8.
  void measure_exact(product& of, const std::vector<operand>& operands,
                     const std::optional<double>& best) {
    const rig::matrix<float>& a = of.graph.weighted;
    std::vector<contender> field;
    for (const operand* const b : {&operands[0], &operands[2]}) {
      b->expect(a);
      enter(
          b->type, [&a, b] { b->multiply(a, {}); }, sample(of.c), of, field);
    }
    const std::map<std::string, double> ms = times(field);
    for (const operand& b : operands) {
      if (!ms.contains(b.type)) continue;
      row line = with_.line("sampled", of, 4, 4);
      line.operation = "mxm exact";
      line.kernel = b.chosen;
      add(line, of, b, static_cast<double>(of.nnz()), ms.at(b.type), best);
      if (b.type == "int8" && best && of.features >= 64)
        int8_exact_.push_back(*best / ms.at(b.type));
    }
  }

  void measure_width(product& of, const std::vector<operand>& operands, int width,
                     const std::optional<double>& best, bool every_type) {
    const rig::matrix<float>& a = of.graph.weighted;
    const bool whole = width >= longest_;  // then A is the control of every strategy
    const auto name_of = [](const strategy& by, const std::string& type) {
      return std::string(by.kernel) + " " + type;
    };
    std::vector<contender> field;
    for (const strategy& by : strategies) {
      const rig::matrix<float>& control = whole ? a : control_of(of, by, width);
      const rig::descriptor desc = {.kernel = by.kernel, .width = width};
      for (const operand& b : operands) {
        if (b.type != "float" && !every_type && by.how != rig::sampling::adaptive) continue;
        b.expect(control);
        enter(
            name_of(by, b.type), [&a, &b, desc] { b.multiply(a, desc); }, sample(of.c), of, field);
      }
      if (!whole || &by == strategies)
        field.push_back(
            {name_of(by, "control"), [&control, &b = operands[0]] { b.multiply(control, {}); }});
    }
    // The exact kernels run in this race too, because the clocks may differ at another time.
    for (const operand& b : operands)
      field.push_back({"exact " + b.type, [&a, &b] { b.multiply(a, {}); }});
    const std::map<std::string, double> ms = times(field);

    for (const strategy& by : strategies) {
      const double control_ms = ms.at(name_of(whole ? strategies[0] : by, "control"));
      row line = with_.line("sampled", of, 4, 4);
      line.kernel = by.kernel;
      line.width = width;
      const rig::sampling_statistics kept = rig::sampling_report(
          *of.graph.on_host, rig::descriptor{.kernel = by.kernel, .width = width});
      line.kept_share = kept.kept_share();
      for (const operand& b : operands) {
        const auto found = ms.find(name_of(by, b.type));
        if (found == ms.end()) continue;
        line.control_ms = b.type == "float" ? std::optional(control_ms) : std::nullopt;
        line.exact_ms = ms.at("exact " + b.type);
        line.error = errors_.at(found->first);
        add(line, of, b, static_cast<double>(kept.staged), found->second, best);
      }
      if (const auto own = ms.find(name_of(by, "float")); own != ms.end()) {
        (whole ? whole_over_exact_ : over_control_).push_back(own->second / control_ms);
        const auto adaptive = ms.find(name_of(strategies[2], "float"));
        if (!whole && adaptive != ms.end() && by.how != rig::sampling::adaptive)
          (by.how == rig::sampling::bucket ? adaptive_over_bucket_ : adaptive_over_fastrand_)
              .push_back(own->second / adaptive->second);
      }
    }
  }

  /// Notes the numbers of a sampled row for the summary.
  void note(const row& line) {
    over_exact_.push_back(line.ms / *line.exact_ms);
    if (line.graph == loaded_graph && line.features == loaded_product_features &&
        line.kernel == "adaptive" && line.type != "bfloat16")
      products_.push_back({line.type, line.width, line.ms, line.bytes});
    for (const plain_kernel& plain : plain_kernels)
      for (std::size_t i = 0; i < strategy_count; ++i) {
        if (!line.ratio || line.graph != plain.graph || line.features != plain.features ||
            line.width != plain.width || line.kernel != strategies[i].kernel)
          continue;
        const double times_as_fast = *line.ratio / plain.over_cusparse[i];
        if (line.type == "int8") int8_over_targets_.push_back(times_as_fast);
        if (line.type != "float") continue;
        over_targets_.push_back(times_as_fast);
        // If the gather binds, a kernel near its ceiling meets the target.
        over_targets_or_ceiling_.push_back(
            *line.share_of_ceiling >= 0.85 ? std::max(1.0, times_as_fast) : times_as_fast);
      }
  }

  void limit_greatest(const std::string& name, const std::vector<double>& numbers, double at_most) {
    if (!numbers.empty())
      with_.out.limit(name, *std::max_element(numbers.begin(), numbers.end()), at_most);
  }

  /// Loads features of Reddit's size to the GPU, from a file whose pages are cached.
  void measure_loading() {
    constexpr rig::index rows = 232'965, columns = 602;
    constexpr int rounds = 5;
    const scratch_folder folder;
    const std::string fp32 = folder.file("features.npy"), int8 = folder.file("features.npz");
    {
      auto x = rig::dense<float>::uninitialised(rows, columns, rig::cuda());
      fill_random(x.data(), rig::int64{rows} * columns, 7);
      const rig::dense<float> on_host = x.to(rig::cpu());
      rig::write_dense(fp32, on_host);
      rig::write_quantized(
          int8, rig::quantized::from(on_host, rig::ranges::matrix, rig::rounding::nearest));
    }
    const contender field[] = {{"float",
                                [&] {
                                  const auto x = rig::read_dense<float>(fp32).to(rig::cuda());
                                  synchronise();
                                }},
                               {"int8", [&] {
                                  const auto x = rig::read_quantized(int8).to(rig::cuda());
                                  synchronise();
                                }}};
    const std::vector<double> ms = bench::race(field, rounds);
    for (std::size_t i = 0; i < std::size(field); ++i) {
      row line;
      line.suite = "sampled";
      line.operation = "load";
      line.graph = loaded_graph;
      line.n = rows;
      line.features = columns;
      line.type = field[i].name;
      line.ms = ms[i];
      line.bytes = static_cast<double>(std::filesystem::file_size(i == 0 ? fp32 : int8));
      line.load_share = 1;
      with_.out.add(line);
      const double file_bytes = line.bytes;
      line.operation = "load, product";
      line.semiring = "plus_times";
      line.kernel = "adaptive";
      line.features = loaded_product_features;
      for (const loaded_product& of : products_) {
        if (of.type != line.type) continue;
        line.width = of.width;
        line.ms = ms[i] + of.ms;
        line.bytes = file_bytes + of.bytes;
        line.load_share = ms[i] / line.ms;
        with_.out.add(line);
      }
    }
    with_.out.limit("loading_int8_over_fp32", ms[1] / ms[0], 0.27);
  }

  rig::int64 longest_ = 0;
  rig::buffer values_;                                                  ///< A's, on the host
  std::map<std::pair<std::string, int>, rig::matrix<float>> controls_;  ///< by kernel and width
  rig::dense<float> exact_;               ///< the product of all entries in fp32
  std::map<std::string, double> errors_;  ///< of the last results, by contender
  std::map<double, double> ladder_;       ///< gather ceilings by the table's bytes
  std::vector<double> over_targets_, over_targets_or_ceiling_, int8_over_targets_, over_control_,
      over_exact_, whole_over_exact_, int8_exact_, adaptive_over_fastrand_, adaptive_over_bucket_;
  std::vector<loaded_product> products_;
};

}  // namespace

std::unique_ptr<suite> make_sampled(setting& with) { return std::make_unique<sampled>(with); }

}  // namespace bench::gpu
