// All suites of the GPU in one run: their shared state, and the loop over graphs and widths.

#include "gpu_suites.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "collection.hpp"
#include "rig/generate.hpp"

namespace bench::gpu {
namespace {

std::string at_text(const product& at) {
  return at.graph.name + ", F = " + std::to_string(at.features);
}

}  // namespace

subject make_subject(const std::string& name, const rig::matrix<float>& graph) {
  const rig::matrix<float> weighted = rig::generate::random_values(graph).to(rig::cuda());
  synchronise();
  return {name, graph.shared_structure(), weighted, weighted.with_value(1.0f)};
}

product::product(const subject& graph, int features)
    : graph(graph),
      features(features),
      b(rig::dense<float>::uninitialised(graph.weighted.columns(), features, rig::cuda())),
      c(rig::dense<float>::uninitialised(graph.weighted.rows(), features, rig::cuda())) {
  fill_random(b.data(), rig::int64{b.rows()} * features, 7);
}

contender until_done(std::string name, std::function<void()> work) {
  return {std::move(name), [work = std::move(work)] {
            work();
            synchronise();
          }};
}

row setting::line(const char* suite, const product& of, double entry_bytes,
                  double element_bytes) const {
  row out;
  out.suite = suite;
  out.graph = of.graph.name;
  out.n = of.n();
  out.columns = of.graph.weighted.columns();
  out.nnz = of.nnz();
  out.features = of.features;
  out.semiring = "plus_times";
  out.type = "float";
  const double width = element_bytes * of.features;
  out.bytes = static_cast<double>(of.nnz()) * (4 + entry_bytes + width) + of.n() * width;
  return out;
}

std::vector<double> setting::race(std::span<const contender> field) const {
  return gpu::race(field, repeat_of(given));
}

void setting::enter(const std::vector<peer>& peers, const product& at,
                    std::vector<contender>& field) {
  for (const peer& of : peers)
    if (of.error.empty())
      field.push_back({of.name, of.run});
    else
      out.peer(of.name + " (" + at_text(at) + ")", "absent: " + of.error);
}

std::optional<double> setting::best_cusparse(product& of) {
  if (of.best_cusparse_ms) return of.best_cusparse_ms;
  std::vector<contender> field;
  enter(spmm_peers("cusparse_", csr_of(of.graph.weighted), of.b.data(), of.c.data(), of.features),
        of, field);
  const std::vector<double> ms = race(field);
  if (!ms.empty()) of.best_cusparse_ms = *std::min_element(ms.begin(), ms.end());
  return of.best_cusparse_ms;
}

std::vector<std::string> suite::usual_graphs() const {
  std::vector<std::string> names;
  for (const auto& graph : rig::generate::named_graphs()) names.push_back(graph.name);
  return names;
}

std::vector<int> suite::features() const {
  return with_.given.features.empty() ? std::vector{32, 64, 128, 256} : with_.given.features;
}

void suite::sum_up(const std::string& name, const std::vector<double>& numbers,
                   std::optional<double> mean_at_least, std::optional<double> least_at_least) {
  if (numbers.empty()) return;
  with_.out.summarise(name + "_geomean", geometric_mean(numbers), mean_at_least);
  with_.out.summarise(name + "_least", *std::min_element(numbers.begin(), numbers.end()),
                      least_at_least);
}

std::vector<rig::index> sampled_rows(rig::index rows) {
  constexpr rig::index few = 64;
  std::vector<rig::index> out;
  for (const rig::index first : {0, rows / 2, std::max(0, rows - few)})
    for (rig::index i = first; i < std::min(rows, first + few); ++i) out.push_back(i);
  return out;
}

template <class T>
std::vector<float> sample(const rig::dense<T>& c) {
  synchronise();
  std::vector<T> row(static_cast<std::size_t>(c.columns()));
  std::vector<float> out;
  for (const rig::index i : sampled_rows(c.rows())) {
    check(cudaMemcpy(row.data(), c.data() + i * c.stride(), row.size() * sizeof(T),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (const T element : row) out.push_back(static_cast<float>(element));
  }
  return out;
}
template std::vector<float> sample(const rig::dense<float>&);
template std::vector<float> sample(const rig::dense<rig::half>&);
template std::vector<float> sample(const rig::dense<rig::bfloat16>&);

template <class T>
void verify(std::vector<peer>& peers, rig::dense<T>& c, const std::vector<float>& expected,
            const product& at, double rounding, setting& with, float least) {
  const std::vector<rig::index> rows = sampled_rows(c.rows());
  const auto width = static_cast<std::size_t>(c.columns());
  for (peer& of : peers) {
    if (!of.error.empty()) continue;
    // A value with all bits set is a NaN in each type.
    check(cudaMemsetAsync(c.data(), 0xff, c.extent(), stream()), "cudaMemsetAsync");
    of.run();
    const std::vector<float> found = sample(c);
    for (std::size_t i = 0; i < found.size() && of.error.empty(); ++i) {
      const rig::index r = rows[i / width];
      const auto terms =
          static_cast<double>(at.graph.on_host->offset(r + 1) - at.graph.on_host->offset(r));
      // Infinities, which rows without entries give, are either equal or wrong.
      const float is = std::max(least, found[i]), should_be = std::max(least, expected[i]);
      if (is == should_be || std::abs(is - should_be) <= rounding * (terms + 1)) continue;
      of.error = "in row " + std::to_string(r) + " it has " + std::to_string(found[i]) +
                 " where rig has " + std::to_string(expected[i]);
      with.out.miss(of.name + " (" + at_text(at) + "): " + of.error);
    }
  }
}
template void verify(std::vector<peer>&, rig::dense<float>&, const std::vector<float>&,
                     const product&, double, setting&, float);
template void verify(std::vector<peer>&, rig::dense<rig::half>&, const std::vector<float>&,
                     const product&, double, setting&, float);
template void verify(std::vector<peer>&, rig::dense<rig::bfloat16>&, const std::vector<float>&,
                     const product&, double, setting&, float);

}  // namespace bench::gpu

namespace bench {

void gpu_suites(const options& given, record& out) {
  using namespace gpu;
  if (rig::devices().size() < 2) rig::fail(rig::errc::place, {"there is no GPU to measure"});
  out.device(driver(), toolkit());
  out.peer("cusparse", cusparse_name());
  setting with = {given, out, gpu::measure_ceilings(repeat_of(given))};
  out.ceilings(with.ceilings);

  constexpr std::pair<const char*, std::unique_ptr<gpu::suite> (*)(setting&)> makers[] = {
      {"exact", make_exact},           {"max", make_max},         {"types", make_types},
      {"sampled", make_sampled},       {"maxk", make_maxk},       {"spmv", make_spmv},
      {"start", make_start},           {"profile", make_profile}, {"real", make_real},
      {"graph", make_graph},           {"spgemm", make_spgemm},   {"hybrid", make_hybrid},
      {"search", make_search},         {"update", make_update},   {"gap", make_gap},
      {"collection", make_collection},
  };
  std::vector<std::unique_ptr<gpu::suite>> wanted;
  for (const auto& [name, make] : makers)
    if (std::find(given.suites.begin(), given.suites.end(), name) != given.suites.end())
      wanted.push_back(make(with));

  const auto contains = [](const auto& list, const auto& what) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  std::vector<std::string> graphs = given.graphs;
  std::vector<int> widths;
  for (const auto& of : wanted) {
    for (const std::string& name : of->usual_graphs())
      if (given.graphs.empty() && !contains(graphs, name)) graphs.push_back(name);
    for (const int width : of->features())
      if (!contains(widths, width)) widths.push_back(width);
  }
  std::sort(widths.begin(), widths.end());

  for (const std::string& name : graphs) {
    out.guarded(name, [&] {
      const subject graph = make_subject(name, given.collection.empty()
                                                   ? graph_of(name)
                                                   : read_pattern(given.collection + "/" + name));
      std::vector<gpu::suite*> here;
      for (const auto& of : wanted)
        if (!given.graphs.empty() || contains(of->usual_graphs(), name)) here.push_back(of.get());
      for (gpu::suite* const of : here) out.guarded(name, [&] { of->meet(graph); });
      for (const int width : widths)
        out.guarded(name + ", F = " + std::to_string(width), [&] {
          product of(graph, width);
          for (gpu::suite* const turn : here)
            if (contains(turn->features(), width))
              out.guarded(name + ", F = " + std::to_string(width), [&] { turn->measure(of); });
        });
      for (gpu::suite* const of : here) of->leave(graph);
    });
    if (!given.collection.empty()) out.guarded(name, release_memory);
  }
  for (const auto& of : wanted) out.guarded("summary", [&] { of->summarise(); });
}

}  // namespace bench
