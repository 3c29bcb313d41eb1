#pragma once

#include <omp.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "rig/descriptor.hpp"
#include "rig/generate.hpp"
#include "rig/io.hpp"
#include "rig/kernels/list.hpp"

// The command line that all examples share.

namespace example {

namespace po = boost::program_options;

/// A command line that makes no sense: exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& message) {
  if (!holds) throw usage_error(message);
}

struct options {
  std::string graph, generate, device, kernel, explain;
  int threads = 0;
  bool any_order = false, json = false;

  /// File or recipe the graph comes from.
  const std::string& source() const { return graph.empty() ? generate : graph; }

  /// The graph, in host memory.
  template <class T>
  rig::matrix<T> load() const {
    if (!graph.empty()) return rig::read_matrix<T>(graph);
    try {
      return rig::generate::from_text(generate).with_value(T(1));
    } catch (const rig::error& bad) {
      if (bad.code() == rig::errc::out_of_memory) throw;
      throw usage_error(bad.what());
    }
  }

  /// Where to compute. "auto" takes a CUDA device if there is one.
  rig::place where() const {
    if (device != "cpu")
      for (const rig::device_info& found : rig::devices())
        if (found.where.where == rig::place::kind::cuda) return found.where;
    if (device == "cuda")
      rig::fail(rig::errc::place,
                {"--device cuda: there is no CUDA device, or rig was built without CUDA"});
    return rig::cpu();
  }

  rig::descriptor describe() const {
    rig::descriptor desc;
    desc.kernel = kernel;
    desc.threads = threads;
    desc.reproducible = !any_order;
    return desc;
  }

  /// Prints the answers of the kernels for --explain; stdout is left to the JSON object.
  void show(const rig::explanation& why) const {
    if (!explain.empty())
      (json ? std::cerr : std::cout) << (explain == "all" ? why.full_text() : why.text());
  }
};

/// More threads than this never help, and OpenMP ends the process where it cannot start them.
inline int most_threads() { return std::max(256, omp_get_num_procs()); }

/// What a program is given: a graph by the options of all examples, for one product or for an
/// algorithm of many; or data by its own options.
enum class takes { graph, graph_of_algorithm, data };

inline void check(const options& given, takes what) {
  if (what != takes::data)
    require(given.graph.empty() != given.generate.empty(), "give either --graph or --generate");
  require(given.device == "auto" || given.device == "cpu" || given.device == "cuda",
          "--device is auto, cpu or cuda, not '" + given.device + "'");
  require(given.explain.empty() || given.explain == "place" || given.explain == "all",
          "--explain is given alone or as --explain=all, not as --explain=" + given.explain);
  require(given.threads >= 0, "--threads is at least 1, or 0 for all");
  require(given.threads <= most_threads(), "--threads is at most " +
                                               std::to_string(most_threads()) + ", not " +
                                               std::to_string(given.threads));
  const auto kernels = rig::kernels();
  require(given.kernel.empty() ||
              std::any_of(kernels.begin(), kernels.end(),
                          [&](const rig::kernel& k) { return k.name == given.kernel; }),
          "--kernel: no kernel is named '" + given.kernel + "'");
}

/// Parses the command line, `own` being the example's own options, and does `work(options)`.
/// Returns the exit status: 0, 1 for a run-time error, 2 for a command line that makes no sense.
template <class Work>
int run_program(int count, char** arguments, const char* summary,
                const po::options_description& own, Work work, takes what = takes::graph) {
  const std::string program =
      std::string(arguments[0]).substr(std::string(arguments[0]).rfind('/') + 1);
  options given;
  // One line, whatever the message holds.
  const auto complain = [&](std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    std::cerr << program << ": " << message << "\n";
  };
  // A full disk shows only when the text leaves the buffer.
  const auto finish = [&] {
    if (std::cout.flush()) return 0;
    complain("cannot write to the standard output");
    return 1;
  };
  try {
    po::options_description all(summary, 100), shared("Graph and machine", 100);
    auto add = shared.add_options();
    if (what != takes::data) {
      add("graph", po::value(&given.graph)->value_name("FILE"),
          "graph to read: .mtx, .mtx.gz, or an edge list");
      add("generate", po::value(&given.generate)->value_name("WHAT"),
          "graph to make: karate, rmat:SCALE:EDGEFACTOR, uniform:N:DEGREE, grid:ROWS:COLS, "
          "cliques:N:SIZE, banded:N:HALF, or a benchmark graph");
    }
    add("device", po::value(&given.device)->default_value("auto"), "auto, cpu or cuda");
    add("threads", po::value(&given.threads)->default_value(0)->value_name("N"),
        "CPU threads; 0: all");
    add("kernel", po::value(&given.kernel)->value_name("NAME"),
        "kernel to use; default: the cheapest");
    add("any-order", po::bool_switch(&given.any_order),
        "the last bits may differ between runs; --kernel vendor needs it");
    add("json", po::bool_switch(&given.json), "print one JSON object");
    if (what != takes::graph_of_algorithm)
      add("explain", po::value(&given.explain)->implicit_value("place")->value_name("all"),
          "print the choice and the answers of the kernels; =all: of the other place too");
    add("help", "print this");
    all.add(own).add(shared);

    po::variables_map seen;
    // No positional arguments: without saying so, stray ones would pass unnoticed.
    po::command_line_parser parser(count, arguments);
    po::store(parser.options(all).positional({}).run(), seen);
    if (seen.count("help") != 0) {
      std::cout << all;
      return finish();
    }
    po::notify(seen);
    check(given, what);
    omp_set_num_threads(given.threads > 0 ? given.threads
                                          : std::min(omp_get_max_threads(), most_threads()));
    work(given);
    return finish();
  } catch (const po::error& wrong) {
    complain(std::string(wrong.what()) + "; see --help");
    return 2;
  } catch (const usage_error& wrong) {
    complain(std::string(wrong.what()) + "; see --help");
    return 2;
  } catch (const std::exception& failed) {
    const std::string message = failed.what();
    const bool named = message.find(given.source()) != std::string::npos;
    complain(named ? message : given.source() + ": " + message);
    return 1;
  }
}

}  // namespace example
