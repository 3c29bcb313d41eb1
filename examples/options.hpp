#pragma once

#include <omp.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report.hpp"
#include "rig/descriptor.hpp"
#include "rig/generate.hpp"
#include "rig/io.hpp"
#include "rig/kernels/list.hpp"

// The command line that all examples share.

namespace example {

namespace po = boost::program_options;

/// A command line that makes no sense, by itself or for the graph that it names: exit status 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool holds, const std::string& message) {
  if (!holds) throw usage_error(message);
}
template <class Number>
void require_at_least(std::type_identity_t<Number> least, const char* option, Number value) {
  require(value >= least,
          std::string(option) + " is at least " + digits(least) + ", not " + digits(value));
}
template <class Number>
void require_between(std::type_identity_t<Number> least, std::type_identity_t<Number> most,
                     const char* option, Number value) {
  require(value >= least && value <= most, std::string(option) + " is " + digits(least) + " to " +
                                               digits(most) + ", not " + digits(value));
}
/// The node of an option, in a graph that has some; algorithms refuse a graph without nodes.
inline void require_node(const char* option, rig::int64 node, rig::index nodes) {
  if (nodes > 0) require_between<rig::int64>(0, nodes - 1, option, node);
}

/// The value of an option that names a file to write. An empty name, as of a variable that a shell
/// does not know, would lose the results.
inline auto* file_to_write(const char* option, std::string& path) {
  return po::value(&path)->value_name("FILE")->notifier([option](const std::string& name) {
    require(!name.empty(), std::string(option) + " needs the name of a file, not ''");
  });
}

/// Does the kernel of this name read a sample of each row?
inline bool is_sampled(const std::string& kernel) {
  return std::ranges::any_of(rig::kernels(), [&](const rig::kernel& k) {
    return k.name == kernel && k.samples != rig::sampling::whole;
  });
}

/// What makes one entry of several at one position.
struct fold {
  const char* name;
  rig::accumulator by;
};
constexpr fold folds[] = {
    {"plus", rig::accumulator::plus},       {"times", rig::accumulator::times},
    {"minimum", rig::accumulator::minimum}, {"maximum", rig::accumulator::maximum},
    {"first", rig::accumulator::first},     {"second", rig::accumulator::second}};

struct options {
  std::string graph, generate, separator, duplicates, device, kernel, explain, output;
  int threads = 0;
  rig::int64 nodes = 0;
  bool extra_columns = false, any_order = false, json = false;

  /// File or recipe the graph comes from.
  const std::string& source() const { return graph.empty() ? generate : graph; }

  rig::read_options reading() const {
    rig::read_options out;
    out.nodes = nodes;
    if (!separator.empty()) out.separator = separator[0];
    out.extra_columns = extra_columns;
    for (const fold& one : folds)
      if (duplicates == one.name) out.duplicates = one.by;
    return out;
  }

  /// The graph, in host memory.
  template <class T>
  rig::matrix<T> load() const {
    if (!graph.empty()) return rig::read_matrix<T>(graph, reading());
    try {
      return rig::generate::from_text(generate).with_value(T(1));
    } catch (const rig::error& bad) {
      // Neither memory nor a variable of the environment is an option.
      const bool is_option = bad.code() != rig::errc::out_of_memory &&
                             !std::string_view(bad.what()).starts_with("RIG_");
      if (is_option) throw usage_error(bad.what());
      throw;
    }
  }
  template <class T>
  std::string describe(const rig::matrix<T>& a) const {
    if (a.rows() != a.columns())
      return source() + ": " + digits(a.rows()) + " x " + digits(a.columns()) + ", " +
             digits(a.nnz()) + " entries";
    return source() + ": " + digits(a.rows()) + " nodes, " + digits(a.nnz()) + " arcs";
  }
  /// A graph where to compute, and a line about it.
  template <class T>
  rig::matrix<T> place(report& out, const rig::matrix<T>& loaded) const {
    out.note("graph", describe(loaded));
    return loaded.to(where());
  }
  template <class T>
  rig::matrix<T> load(report& out) const {
    return place(out, load<T>());
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

  /// Writes --output, if it is given, then prints.
  template <class T>
  void finish(report& out, const rig::dense<T>& numbers) const {
    if (!output.empty()) write_numbers(output, numbers.to(rig::cpu()));
    out.print(json);
  }
};

/// More threads than this never help, and OpenMP ends the process where it cannot start them.
inline int most_threads() { return std::max(256, omp_get_num_procs()); }

/// What a program is given: a graph by the options of all examples, for one product or for an
/// algorithm of many; data by its own options; or nothing.
enum class takes { graph, graph_of_algorithm, data, nothing };

struct program {
  const char* summary;
  takes what = takes::graph;
  const char* output = nullptr;  ///< the numbers of --output, which is no option without them
  bool has_product = true;       ///< without one, --kernel and --any-order are no options
  bool has_place = true;         ///< without one, --device is no option
  const char* second = nullptr;  ///< the option of its own that a second word without one gives

  bool has_graph() const { return what == takes::graph || what == takes::graph_of_algorithm; }
  /// The words without options, as --help shows them.
  std::string words() const {
    std::string out = what == takes::data ? " [FOLDER]" : has_graph() ? " [FILE]" : "";
    if (second == nullptr) return out;
    std::string upper = second;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    return out + " " + upper;
  }
};

inline void check_kernel(const std::string& name) {
  std::vector<std::string> names;
  for (const rig::kernel& k : rig::kernels())
    if (std::ranges::find(names, k.name) == names.end()) names.emplace_back(k.name);
  require(name.empty() || std::ranges::find(names, name) != names.end(),
          "--kernel: no kernel is named '" + name + "'; there are " + joined(names));
}

inline void check_reading(const options& given) {
  require_between<rig::int64>(0, rig::highest<rig::index>(), "--nodes", given.nodes);
  require(given.separator.empty() ||
              (given.separator.size() == 1 &&
               std::string_view(",;:|").find(given.separator[0]) != std::string_view::npos),
          "--separator is one of , ; : and |, not '" + given.separator + "'");
  std::vector<std::string> names;
  for (const fold& one : folds) names.emplace_back(one.name);
  require(given.duplicates.empty() || std::ranges::find(names, given.duplicates) != names.end(),
          "--duplicates is one of " + joined(names) + ", not '" + given.duplicates + "'");
}

inline void check(const options& given, const program& about) {
  check_reading(given);
  if (about.has_graph())
    require(given.graph.empty() != given.generate.empty(),
            given.graph.empty()
                ? "there is no graph; give a file, alone or with --graph, or --generate"
                : "give a graph's file or --generate, not both: --graph " + given.graph +
                      ", --generate " + given.generate);
  require(
      !about.has_place || given.device == "auto" || given.device == "cpu" || given.device == "cuda",
      "--device is auto, cpu or cuda, not '" + given.device + "'");
  require(given.explain.empty() || given.explain == "place" || given.explain == "all",
          "--explain is given alone or as --explain=all, not as --explain=" + given.explain);
  require_between(0, most_threads(), "--threads", given.threads);
  check_kernel(given.kernel);
  for (const char* ending : {".mtx", ".gz", ".npz"})
    require(!given.output.ends_with(ending),
            "--output is a file of .npy, or of text with another ending such as .txt, not '" +
                given.output + "'");
}

/// The options of all examples; `given` receives their values.
inline po::options_description shared_options(const program& about, options& given) {
  po::options_description shared(about.has_graph() ? "Graph and machine" : "Machine", 100);
  auto add = shared.add_options();
  if (about.has_graph()) {
    add("graph", po::value(&given.graph)->value_name("FILE"),
        "graph to read: .mtx, .npz, or an edge list, also packed as .gz; --graph may be left out");
    add("generate", po::value(&given.generate)->value_name("WHAT"),
        "graph to make: karate, rmat:SCALE:EDGEFACTOR, uniform:N:DEGREE, grid:ROWS:COLS, "
        "cliques:N:SIZE, banded:N:HALF, or a benchmark graph");
    add("nodes", po::value(&given.nodes)->default_value(0)->value_name("N"),
        "nodes of an edge list; 0: as many as the greatest number requires");
    add("separator", po::value(&given.separator)->value_name("C"),
        "between the words of an edge list: , ; : or |; default: blanks");
    add("duplicates", po::value(&given.duplicates)->value_name("HOW"),
        "one entry of several at one position: plus, times, minimum, maximum, first or second; "
        "default: refuse them");
    add("extra-columns", po::bool_switch(&given.extra_columns),
        "skip what follows the nodes and the value on a line of an edge list");
  }
  if (about.has_place)
    add("device", po::value(&given.device)->default_value("auto"), "auto, cpu or cuda");
  if (about.what != takes::nothing)
    add("threads", po::value(&given.threads)->default_value(0)->value_name("N"),
        "CPU threads; 0: all");
  if (about.has_product) {
    add("kernel", po::value(&given.kernel)->value_name("NAME"),
        "kernel to use; default: the cheapest");
    add("any-order", po::bool_switch(&given.any_order),
        "the last bits may differ between runs; --kernel vendor needs it");
  }
  if (about.output != nullptr)
    add("output", file_to_write("--output", given.output),
        (std::string("write ") + about.output + "; .npy, or text if FILE ends otherwise").c_str());
  add("json", po::bool_switch(&given.json), "print one JSON object");
  if (about.has_place && about.what != takes::graph_of_algorithm)
    add("explain", po::value(&given.explain)->implicit_value("place")->value_name("all"),
        "print the choice and the answers of the kernels; =all: of the other place too");
  add("help", "print this");
  return shared;
}

/// Parses the command line, `own` being the example's own options, and does `work(options)`.
template <class Work>
void parse_and_work(int count, char** arguments, const std::string& name, const program& about,
                    const po::options_description& own, Work work, options& given) {
  const po::options_description shared = shared_options(about, given);
  std::vector<std::string> words(arguments + 1, arguments + count);
  po::positional_options_description order;
  const bool has_second = about.second != nullptr;
  // A graph that is made has no file, so the first word is the second file.
  const bool is_made = has_second && std::ranges::any_of(words, [](const std::string& word) {
                         return word.starts_with("--generate");
                       });
  if (about.what != takes::nothing && !is_made) order.add(about.has_graph() ? "graph" : "data", 1);
  if (has_second) order.add(about.second, 1);
  po::options_description all;
  all.add(own).add(shared);
  po::variables_map seen;
  // Boost takes the next word, which may be the graph, for the value of an option that needs none.
  std::ranges::replace(words, std::string("--explain"), std::string("--explain=place"));
  po::command_line_parser parser(words);
  po::store(parser.options(all).positional(order).run(), seen);
  if (seen.count("help") != 0) {
    std::cout << "Usage: " << name << about.words() << " [options]\n" << about.summary << ".\n\n";
    if (!own.options().empty()) std::cout << own << "\n";
    std::cout << shared
              << "\nExit status: 0; 1 if the run fails; 2 if the command line is wrong.\n";
    return;
  }
  po::notify(seen);
  check(given, about);
  if (!given.output.empty()) rig::output_file trial(given.output);  // fails before the work
  omp_set_num_threads(given.threads > 0 ? given.threads
                                        : std::min(omp_get_max_threads(), most_threads()));
  work(given);
}

/// A message with the options of a program for those of a call. Programs of data have none of them.
inline std::string naming_options(std::string message, const program& about) {
  if (const std::size_t at = message.find("; set read_"); !about.has_graph() && at != message.npos)
    return message.substr(0, at) + "; correct the file";
  constexpr std::pair<std::string_view, const char*> names[] = {
      {"read_options::nodes", "--nodes"},
      {"read_options::separator", "--separator"},
      {"read_options::duplicates", "--duplicates"},
      {"read_options::extra_columns", "--extra-columns"}};
  for (const auto& [call, option] : names)
    if (const std::size_t at = message.find(call); at != message.npos)
      message.replace(at, call.size(), option);
  return message;
}

/// The message of an error, after the graph that was computed with unless it names a file itself.
inline std::string naming_graph(const std::exception& failed, const std::string& graph,
                                const program& about) {
  const std::string message = naming_options(failed.what(), about);
  const auto* known = dynamic_cast<const rig::error*>(&failed);
  const bool is_of_files =
      known != nullptr && (known->code() == rig::errc::io || known->code() == rig::errc::format ||
                           known->code() == rig::errc::place);
  return is_of_files || message.find(graph) != std::string::npos ? message : graph + ": " + message;
}

/// Does `parse_and_work`. Returns the exit status: 0, 1 for a run-time error, 2 for a command line
/// that makes no sense.
template <class Work>
int run_program(int count, char** arguments, const program& about,
                const po::options_description& own, Work work) {
  const std::string path = arguments[0], name = path.substr(path.rfind('/') + 1);
  options given;
  // One line, whatever the message holds.
  const auto complain = [&](int status, std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    std::cerr << name << ": " << message << (status == 2 ? "; see --help\n" : "\n");
    return status;
  };
  try {
    parse_and_work(count, arguments, name, about, own, work, given);
    // A full disk shows only when the text leaves the buffer.
    if (std::cout.flush()) return 0;
    return complain(1, "cannot write to the standard output");
  } catch (const po::error& wrong) {
    return complain(2, wrong.what());
  } catch (const usage_error& wrong) {
    return complain(2, wrong.what());
  } catch (const std::bad_alloc&) {
    return complain(1, given.source() + ": memory ran out; take a smaller graph");
  } catch (const std::exception& failed) {
    return complain(1, naming_graph(failed, given.source(), about));
  }
}

}  // namespace example
