// Suite start: the first call of a process, and the host's cost of a prepared call. A semiring
// compiled at run time is compared with the one compiled ahead.

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "gpu_suites.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

namespace bench::gpu {
namespace {

namespace fs = std::filesystem;

RIG_SEMIRING(
    cloned_plus_times, using left = float; using right = float; using accum = float;
    static constexpr bool annihilates = true;
    static constexpr float zero() { return 0.0f; } static constexpr float add(float x, float y) {
      return rig::plus(x, y);
    } static constexpr float multiply(float a, float b) { return rig::times(a, b); });

const rig::plus_times<float> aot;
const cloned_plus_times run_time;

constexpr const char* small_graph = "uniform:2000:8";
constexpr const char* skewed_graph = "rmat:11:16";  // has rows that split splits into row segments
constexpr int small_width = 32;

template <class S>
void print_two_calls(const rig::matrix<float>& a, const rig::dense<float>& b, const S& semiring) {
  auto c = rig::dense<float>::uninitialised(a.rows(), small_width, rig::cuda());
  synchronise();
  const auto call = [&] {
    rig::mxm(c, rig::none, a, b, semiring);
    synchronise();
  };
  const double first = wall_clock(call);
  std::printf("%.6f %.6f\n", first, wall_clock(call));
}

/// Times of the first and second call in a fresh process.
std::array<double, 2> child(const std::string& semiring, const fs::path& cache) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string command = "RIG_CACHE=on RIG_CACHE_DIR='" + cache.string() + "' '" + self +
                              "' start --start-child " + semiring;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) rig::fail(rig::errc::io, {"cannot start ", self.c_str()});
  std::array<double, 2> ms = {};
  const int read = std::fscanf(pipe, "%lf %lf", ms.data(), ms.data() + 1);
  if (pclose(pipe) != 0 || read != 2)
    rig::fail(rig::errc::io, {"the process of ", command.c_str(), " printed no times"});
  return ms;
}

class start : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    return {"uniform:262144:32", "rmat:18:16"};
  }
  std::vector<int> features() const override {
    return with_.given.features.empty() ? std::vector{64} : with_.given.features;
  }

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    const contender field[] = {{"ahead", [&] { rig::mxm(of.c, rig::none, a, of.b, aot); }},
                               {"run_time", [&] { rig::mxm(of.c, rig::none, a, of.b, run_time); }}};
    const std::vector<double> ms = with_.race(field);
    row line = with_.line("start", of, 4, 4);
    line.semiring = "cloned_plus_times";
    line.kernel = line.chosen = rig::explain(a, of.b, run_time).chosen;
    line.ms = ms[1];
    line.share_of_ceiling = with_.out.share(line.bytes, ms[1], 4.0 * a.columns() * of.features);
    line.peer_ms["rig_compiled_ahead"] = ms[0];
    with_.out.add(line);
    clones_.push_back(ms[0] / ms[1]);
  }

  void summarise() override {
    sum_up("run_time_over_ahead", clones_, {}, 0.97);
    first_calls();
    host_cost();
  }

 private:
  row line(const subject& graph, const char* operation, const char* semiring, double ms,
           int features = small_width) {
    row out;
    out.suite = "start";
    out.operation = operation;
    out.graph = graph.name;
    out.n = graph.weighted.rows();
    out.nnz = graph.weighted.nnz();
    out.features = features;
    out.semiring = semiring;
    out.type = "float";
    out.ms = ms;
    return out;
  }

  static subject small(const char* name) {
    const rig::matrix<float> a = rig::generate::random_values(rig::generate::from_text(name));
    const rig::matrix<float> there = a.to(rig::cuda());
    return {name, a.shared_structure(), there, there.with_value(1.0f)};
  }

  void first_calls() {
    constexpr int processes = 5;
    const subject graph = small(small_graph);
    const fs::path cache =
        fs::temp_directory_path() / ("rig_bench_cache_" + std::to_string(getpid()));
    std::vector<double> cold, warm, builtin, cached;
    for (int i = 0; i < processes; ++i) {
      fs::remove_all(cache);
      cold.push_back(child("run_time", cache)[0]);
      const auto [first, second] = child("run_time", cache);
      warm.push_back(first);
      cached.push_back(second);
      builtin.push_back(child("ahead", cache)[0]);
    }
    fs::remove_all(cache);
    const auto report = [&](const char* operation, const char* semiring, const char* name,
                            const std::vector<double>& of, double at_most) {
      const double ms = median(of);
      with_.out.add(line(graph, operation, semiring, ms));
      with_.out.summarise(std::string(name) + "_ms", ms);
      if (!(ms <= at_most))
        with_.out.miss(std::string(name) + " is " + digits(ms, 3) + " ms, its target is " +
                       digits(at_most, 0));
    };
    report("first call, no disk cache", "cloned_plus_times", "first_call_cold", cold, 1000);
    report("first call, warm disk cache", "cloned_plus_times", "first_call_warm", warm, 50);
    report("first call, compiled ahead", "plus_times", "first_call_ahead", builtin, 50);
    report("second call, to its end", "cloned_plus_times", "second_call", cached, 50);
  }

  struct call {
    const subject* graph;
    const char *how, *semiring;
    std::string name;
    std::function<void()> enqueue;
  };

  /// The time to enqueue alone: the device is idle when a loop starts, and its queue holds all
  /// calls of the loop. The calls take turns, because the host's speed changes.
  static std::vector<double> host_ms(const std::vector<call>& calls) {
    constexpr int each = 100, loops = 51;
    std::vector<std::vector<double>> times(calls.size());
    for (const call& one : calls) one.enqueue();
    for (int i = 0; i < loops; ++i)
      for (std::size_t c = 0; c < calls.size(); ++c) {
        synchronise();
        times[c].push_back(wall_clock([&] {
                             for (int k = 0; k < each; ++k) calls[c].enqueue();
                           }) /
                           each);
      }
    synchronise();
    std::vector<double> out;
    for (const std::vector<double>& of : times) out.push_back(median(of));
    return out;
  }

  void host_cost() {
    const subject even = small(small_graph), hubs = small(skewed_graph);
    product of(even, small_width), skewed(hubs, small_width), vector(hubs, 1);
    for (const subject* graph : {&even, &hubs}) graph->weighted.prepare();
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    const rig::matrix<float>&a = even.weighted, &h = hubs.weighted;
    const std::vector<call> calls = {
        {&even, "", "", "launch_alone", bare_launch()},
        {&even, "", "plus_times", "ahead", [&] { rig::mxm(of.c, rig::none, a, of.b, aot); }},
        {&even, "", "cloned_plus_times", "run_time",
         [&] { rig::mxm(of.c, rig::none, a, of.b, run_time); }},
        {&even, ", a stream of the caller's", "plus_times", "stream",
         [&] { rig::mxm(of.c, rig::none, a, of.b, aot, {.stream = stream}); }},
        {&even, ", a new result", "plus_times", "fresh", [&] { rig::mxm(a, of.b, aot); }},
        {&even, ", a new result, a stream of the caller's", "plus_times", "fresh_stream",
         [&] { rig::mxm(a, of.b, aot, {.stream = stream}); }},
        {&hubs, ", split", "plus_times", "split",
         [&] { rig::mxm(skewed.c, rig::none, h, skewed.b, aot, {.kernel = "split"}); }},
        {&hubs, ", split, a stream of the caller's", "plus_times", "split_stream",
         [&] {
           rig::mxm(skewed.c, rig::none, h, skewed.b, aot, {.kernel = "split", .stream = stream});
         }},
        {&hubs, ", spmv", "plus_times", "spmv",
         [&] { rig::mxm(vector.c, rig::none, h, vector.b, aot, {.kernel = "spmv"}); }}};
    const std::vector<double> ms = host_ms(calls);
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const call& one = calls[c];
      const bool alone = c == 0;
      const std::string operation = alone ? "host time of a launch by CUDA alone"
                                          : std::string("host time of a prepared call") + one.how;
      const std::string name = "host_us_" + one.name;
      const int features = one.name == "spmv" ? 1 : small_width;
      with_.out.add(line(*one.graph, operation.c_str(), one.semiring, ms[c], features));
      with_.out.summarise(name, 1e3 * ms[c]);
      if (!alone && !(ms[c] <= 0.005))
        with_.out.miss(name + " is " + digits(1e3 * ms[c], 2) + ", its target is 5");
    }
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }

  std::vector<double> clones_;
};

}  // namespace

int start_child(const std::string& semiring) {
  const rig::matrix<float> a =
      rig::generate::random_values(rig::generate::from_text(small_graph)).to(rig::cuda());
  const rig::dense<float> b = rig::dense<float>(a.columns(), small_width, 0.5f).to(rig::cuda());
  if (semiring == "ahead")
    print_two_calls(a, b, aot);
  else
    print_two_calls(a, b, run_time);
  return 0;
}

std::unique_ptr<suite> make_start(setting& with) { return std::make_unique<start>(with); }

}  // namespace bench::gpu
