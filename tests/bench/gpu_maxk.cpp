// Suite maxk: products with what MaxK keeps of the features, their gradients, and MaxK itself.

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include "gpu_sort.hpp"
#include "gpu_suites.hpp"
#include "rig/cbsr.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

const rig::plus_times<float> sum;

/// Time of the best of cuSPARSE 12.6.3, `cusparse_ms`, over that of MaxK-GNN's published kernels at
/// F = 256, which add by float atomics. These are constants of the project's targets for an H200,
/// not runs; k = 8 is left out because those results are wrong.
struct published_kernel {
  const char* graph;
  double cusparse_ms;
  int k;
  double forward, backward;
};
constexpr int published_features = 256;
constexpr published_kernel published_kernels[] = {
    {"reddit-like", 14.09, 16, 2.83, 4.66},   {"reddit-like", 14.09, 32, 1.97, 2.11},
    {"reddit-like", 14.09, 64, 1.18, 1.34},   {"proteins-like", 9.18, 16, 2.88, 4.42},
    {"proteins-like", 9.18, 32, 1.96, 2.06},  {"proteins-like", 9.18, 64, 1.19, 1.38},
    {"products-like", 20.27, 16, 1.77, 3.84}, {"products-like", 20.27, 32, 1.56, 2.16},
    {"products-like", 20.27, 64, 0.96, 1.26}, {"arxiv-like", 0.415, 16, 1.15, 3.05},
    {"arxiv-like", 0.415, 32, 0.98, 1.77},    {"arxiv-like", 0.415, 64, 0.62, 1.20},
    {"rmat:18:16", 1.087, 16, 1.86, 3.85},    {"rmat:18:16", 1.087, 32, 1.50, 1.98},
    {"rmat:18:16", 1.087, 64, 0.96, 1.30},
};

/// C = A·maxk(B), and dB = Aᵀ·dC at the retained elements, added in a fixed order or in any order.
enum operation { forward, backward, any_order };
constexpr const char* operation_names[] = {"forward", "backward", "backward, any order"};

/// The products of one k.
struct retained_features {
  int k;
  rig::cbsr<float> retained;
  rig::cbsr<float> made[3];  ///< by operation; forward gives a dense
};

rig::descriptor backward_by(operation how) {
  rig::descriptor desc;
  desc.transpose_a = true;
  desc.reproducible = how != any_order;
  return desc;
}

rig::dense<float> values_of(const rig::cbsr<float>& x) {
  return rig::dense<float>::view(const_cast<float*>(x.values()), x.rows(), x.k(), 0, rig::cuda());
}

class maxk : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    return {"reddit-like", "proteins-like", "products-like", "arxiv-like", "rmat:18:16"};
  }
  std::vector<int> features() const override {
    return with_.given.features.empty() ? std::vector{128, 256, 384} : with_.given.features;
  }

  void meet(const subject& graph) override {
    graph.weighted.prepare();
    prepare_ms_ = wall_clock(
        [&] { graph.weighted.prepare({.transpose_a = true, .kernel = "maxk_backward"}); });
  }

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    const std::optional<double> best = with_.best_cusparse(of);
    std::vector<contender> field = {
        {"exact", [&] { rig::mxm(of.c, rig::none, a, of.b, sum); }},
        {"transposed", [&] { rig::mxm(of.c, rig::none, a, of.b, sum, {.transpose_a = true}); }}};
    std::vector<std::unique_ptr<retained_features>> all;
    for (const int k : ks_of(of.features)) {
      all.push_back(std::make_unique<retained_features>());
      enter(of, k, *all.back(), field);
    }
    const std::vector<double> times = with_.race(field);
    std::map<std::string, double> ms;
    for (std::size_t i = 0; i < field.size(); ++i) ms[field[i].name] = times[i];

    row line = with_.line("maxk", of, 4, 4);
    line.operation = "mxm exact";
    line.kernel = line.chosen = rig::explain(a, of.b, sum).chosen;
    const double row_bytes = 4.0 * of.features;
    add(line, ms.at("exact"), row_bytes * of.n(), best);
    // The time of the gradient with all of dY. Its transpose first puts A's values in order.
    row transposed = line;
    transposed.operation = "mxm exact, transposed";
    add(transposed, ms.at("transposed"), row_bytes * of.n(), best);
    transposed_ms_ = ms.at("transposed");
    for (const auto& one : all)
      for (const operation how : {forward, backward, any_order})
        if (const auto found = ms.find(name_of(how, one->k)); found != ms.end())
          add(of, how, *one, found->second, ms.at("exact"), best);
  }

  void summarise() override {
    sum_up("maxk_forward_over_published", over_published_[forward], 1.5, 1.15);
    sum_up("maxk_backward_over_published", over_published_[backward], {}, 1.0);
    sum_up("maxk_backward_any_order_over_published", over_published_[any_order], 1.3, {});
    sum_up("maxk_forward_over_exact", over_exact_[forward], {}, 1.0);
    sum_up("maxk_backward_over_exact", over_exact_[backward], {}, 1.0);
    sum_up("maxk_backward_any_order_over_exact", over_exact_[any_order], {}, {});
    sum_up("maxk_backward_over_transposed", over_transposed_, {}, {});
    for (const operation how : {forward, backward, any_order})
      sum_up(std::string("maxk_elsewhere_") + keys[how] + "_over_exact", over_exact_elsewhere_[how],
             {}, {});
    // The project's goals are 3.5 forward and 4 backward, so these are recorded without a bound.
    for (const operation how : {forward, backward, any_order})
      if (reddit_32_[how])
        with_.out.summarise(std::string("maxk_reddit_32_") + keys[how], *reddit_32_[how]);
    measure_selection();
  }

 private:
  static constexpr const char* keys[] = {"forward", "backward", "backward_any_order"};

  static std::vector<int> ks_of(int features) {
    std::vector<int> ks = {16, 32, 64};
    if (features == published_features) ks.insert(ks.begin(), 8);
    std::erase_if(ks, [&](int k) { return k > features; });
    return ks;
  }

  static std::string name_of(operation how, int k) {
    return std::string(operation_names[how]) + " " + std::to_string(k);
  }

  /// Adds a contender to the field if `checked` leaves the expected result in `out`.
  void enter(const std::string& name, const std::function<void()>& run,
             const std::function<void()>& checked, rig::dense<float>& out,
             const std::vector<float>& expected, product& of, std::vector<contender>& field) {
    std::vector<peer> one = {{name, checked, {}}};
    try {
      verify(one, out, expected, of, float_rounding, with_);
    } catch (const rig::error& wrong) {
      one[0].error = wrong.what();
      with_.out.miss(name + " (" + of.graph.name + ", F = " + std::to_string(of.features) +
                     "): " + one[0].error);
    }
    one[0].run = run;
    with_.enter(one, of, field);
  }

  /// Adds the three products of one k, checked against exact kernels.
  void enter(product& of, int k, retained_features& at, std::vector<contender>& field) {
    const rig::matrix<float>& a = of.graph.weighted;
    at.k = k;
    at.retained = rig::maxk(of.b, k);
    rig::mxm(of.c, rig::none, a, rig::to_dense(at.retained), sum);
    const auto product_of_retained = [&of, &a, &at] {
      rig::mxm(of.c, rig::none, a, at.retained, sum);
    };
    enter(name_of(forward, k), product_of_retained, product_of_retained, of.c, sample(of.c), of,
          field);

    // The graphs are undirected, so features serve as the gradient of C.
    rig::mxm(of.c, rig::none, a, of.b, sum, {.transpose_a = true});
    auto gathered = rig::maxk_gradient(of.c, at.retained);
    const std::vector<float> expected = sample(values_of(gathered));
    auto found = values_of(gathered);  // each check overwrites it
    for (const operation how : {backward, any_order}) {
      const auto run = [&of, &a, &at, how, desc = backward_by(how)] {
        at.made[how] = rig::mxm(a, of.b, sum, rig::structure(at.retained), desc);
      };
      const auto checked = [&] {
        run();
        check(cudaMemcpyAsync(found.data(), at.made[how].values(), found.extent(),
                              cudaMemcpyDeviceToDevice, stream()),
              "cudaMemcpyAsync");
      };
      enter(name_of(how, k), run, checked, found, expected, of, field);
    }
  }

  void add(row line, double ms, double table_bytes, const std::optional<double>& best) {
    line.ms = ms;
    line.share_of_ceiling = with_.out.share(line.bytes, ms, table_bytes);
    line.best_cusparse_ms = best;
    if (best) line.ratio = *best / ms;
    with_.out.add(line);
  }

  /// Adds a line for a product with a cbsr, and notes its numbers for the summary.
  void add(const product& of, operation how, const retained_features& at, double ms,
           double exact_ms, const std::optional<double>& best) {
    row line = with_.line("maxk", of, 4, 4);
    const double nnz = static_cast<double>(of.nnz()), n = of.n(), k = at.k,
                 index_bytes = at.retained.index_bytes();
    double table_bytes = 0;
    if (how == forward) {
      // A, a row of B as values and indices per entry, and C.
      line.bytes = nnz * (8 + k * (4 + index_bytes)) + 4 * n * of.features;
      table_bytes = n * k * (4 + index_bytes);
      line.chosen = rig::explain(of.graph.weighted, at.retained, sum).chosen;
    } else {
      // A, the retained elements of a row of dC per entry, and indices and values of dB.
      line.bytes = nnz * (8 + 4 * k) + n * k * (4 + index_bytes);
      table_bytes = 4 * n * of.features;
      line.prepare_ms = prepare_ms_;
      line.chosen =
          rig::explain(of.graph.weighted, of.b, sum, rig::structure(at.retained), backward_by(how))
              .chosen;
    }
    line.operation = operation_names[how];
    line.kernel = line.chosen;
    line.k = at.k;
    line.exact_ms = exact_ms;
    std::optional<double> over_published;
    if (of.features == published_features)
      for (const published_kernel& one : published_kernels)
        if (of.graph.name == one.graph && at.k == one.k) {
          line.published = how == forward ? one.forward : one.backward;
          over_published = one.cusparse_ms / ms / *line.published;
        }
    add(line, ms, table_bytes, best);

    if (over_published) over_published_[how].push_back(*over_published);
    const bool bound = of.features == published_features && at.k >= 16;
    (bound ? over_exact_ : over_exact_elsewhere_)[how].push_back(exact_ms / ms);
    if (bound && how == backward) over_transposed_.push_back(transposed_ms_ / ms);
    if (best && bound && at.k == 32 && of.graph.name == "reddit-like") reddit_32_[how] = *best / ms;
  }

  /// Measures MaxK on features of Reddit's size, beside a sort of each row.
  void measure_selection() {
    constexpr rig::index rows = 232'965, columns = 256;
    constexpr auto count = static_cast<std::size_t>(rows) * columns;
    auto x = rig::dense<float>::uninitialised(rows, columns, rig::cuda());
    fill_random(x.data(), count, 7);
    const rig::dense<float> on_host = x.to(rig::cpu());

    std::vector<contender> field;
    for (const int k : {8, 16, 32, 64}) {
      const rig::cbsr<float> want = rig::maxk(on_host, k), got = rig::maxk(x, k).to(rig::cpu());
      if (std::memcmp(want.values(), got.values(), want.structure().nnz() * sizeof(float)) != 0 ||
          std::memcmp(want.indices(), got.indices(), want.structure().nnz()) != 0) {
        with_.out.miss("maxk: k = " + std::to_string(k) + " differs from the CPU's");
        continue;
      }
      field.push_back({std::to_string(k), [&x, k] { rig::maxk(x, k); }});
    }
    const std::size_t own = field.size();

    const rig::buffer sorted = rig::buffer::allocate(count * sizeof(float), rig::cuda());
    const rig::buffer sorted_columns = rig::buffer::allocate(count, rig::cuda());
    const rig::buffer all_columns = rig::buffer::allocate(count);
    for (std::size_t i = 0; i < count; ++i)
      all_columns.data<unsigned char>()[i] = static_cast<unsigned char>(i % columns);
    const rig::buffer offsets = rig::buffer::allocate((rows + 1) * sizeof(int));
    for (int i = 0; i <= rows; ++i) offsets.data<int>()[i] = i * columns;
    const rig::buffer columns_there = all_columns.to(rig::cuda()),
                      offsets_there = offsets.to(rig::cuda());
    std::size_t scratch_bytes = 0;
    rig::buffer scratch;
    const auto sort = [&] {
      check(sort_rows(scratch.data(), scratch_bytes, x.data(), sorted.data<float>(),
                      columns_there.data<unsigned char>(), sorted_columns.data<unsigned char>(),
                      rows, columns, offsets_there.data<int>(), stream()),
            "cub::DeviceSegmentedSort");
    };
    sort();
    scratch = rig::buffer::allocate(std::max<std::size_t>(scratch_bytes, 1), rig::cuda());
    sort();
    if (is_sorted(on_host,
                  rig::dense<float>::view(sorted.data<float>(), rows, columns, 0, rig::cuda())))
      field.push_back({"cub", sort});
    else
      with_.out.miss("cub_segmented_sort: its rows are not sorted");
    with_.out.peer("cub_segmented_sort",
                   cub_name() + ", cub::DeviceSegmentedSort, keys of float with 8-bit columns");

    const std::vector<double> ms = with_.race(field);
    for (std::size_t i = 0; i < own; ++i) {
      row line;
      line.suite = "maxk";
      line.operation = "maxk";
      line.graph = "232965x256";
      line.n = rows;
      line.features = columns;
      line.type = "float";
      line.k = std::stoi(field[i].name);
      line.ms = ms[i];
      line.bytes = static_cast<double>(rows) * (4.0 * columns + 5.0 * line.k);
      line.share_of_ceiling = line.bytes / (line.ms * 1e6) / with_.ceilings.at("copy");
      if (field.size() > own) {
        line.peer_ms["cub_segmented_sort"] = ms[own];
        line.ratio = ms[own] / ms[i];
      }
      with_.out.add(line);
      with_.out.limit("maxk_" + field[i].name + "_ms", ms[i], 0.2);
    }
  }

  /// True if the rows that `sample` takes are sorted in descending order.
  static bool is_sorted(const rig::dense<float>& x, const rig::dense<float>& sorted) {
    std::vector<float> want;
    for (const rig::index i : sampled_rows(x.rows())) {
      want.insert(want.end(), x.row(i).begin(), x.row(i).end());
      std::sort(want.end() - x.columns(), want.end(), std::greater<float>());
    }
    return sample(sorted) == want;
  }

  double prepare_ms_ = 0;  ///< the derived structures that only a transposed product needs
  double transposed_ms_ = 0;
  std::vector<double> over_published_[3], over_exact_[3], over_exact_elsewhere_[3],
      over_transposed_;
  std::optional<double> reddit_32_[3];
};

}  // namespace

std::unique_ptr<suite> make_maxk(setting& with) { return std::make_unique<maxk>(with); }

}  // namespace bench::gpu
