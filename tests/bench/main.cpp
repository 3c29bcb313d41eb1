// The benchmark program: measures rig and its peers in one run.

#include <omp.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <sstream>

#include "collection.hpp"
#include "gap.hpp"
#include "rig/output_file.hpp"
#ifdef RIG_HAS_CUDA
#include "gpu_suites.hpp"
#endif

namespace bench {
namespace {

namespace po = boost::program_options;

constexpr suite table[] = {
    {"cpu", "rig beside SuiteSparse:GraphBLAS and a plain OpenMP loop", cpu},
    {"widths", "the part of suite cpu beside oneMKL: all widths, reductions and first calls",
     widths_suite},
    {"analytics", "sparse products and algorithms beside SuiteSparse:GraphBLAS, and --gap",
     analytics},
    {"graphs", "the benchmark graphs against what they should look like", graphs},
    {"io", "reading and writing files", io},
    {"ranks", "products over ranks: what moves, and ranks of one process beside an all-gather",
     ranks_suite},
    {"collection", "sums and maxima of all matrices below a folder, on a GPU if there is one",
     collection},
#ifdef RIG_HAS_GNN
    {"gnn", "epochs and inferences of graph neural networks, on a GPU beside cuSPARSE's products",
     gnn_suite},
#endif
#ifdef RIG_HAS_CUDA
    {"exact", "GPU: sums in fp32 beside cuSPARSE", gpu_suites},
    {"max", "GPU: greatest, least, mean and arg-max beside rig's sum and cusparseSpMMOp",
     gpu_suites},
    {"types", "GPU: half and bfloat16 features beside cuSPARSE", gpu_suites},
    {"sampled", "GPU: samples of rows and INT8 features beside exact sums", gpu_suites},
    {"maxk", "GPU: MaxK, and products with what it keeps, beside cuSPARSE and exact sums",
     gpu_suites},
    {"spmv", "GPU: one column, beside cuSPARSE and a copy", gpu_suites},
    {"start", "GPU: first calls, the host's part of a call, run-time compiled semirings",
     gpu_suites},
    {"graph", "GPU: operations beside a copy of memory, PageRank beside its products", gpu_suites},
    {"spgemm", "GPU: products of sparse matrices beside cuSPARSE, and masked beside unmasked",
     gpu_suites},
    {"search", "GPU: breadth-first searches, and many sources at once beside single ones",
     gpu_suites},
    {"gap", "GPU: GAP's six algorithms, beside the time of reading the graph", gpu_suites},
    {"real", "GPU: sums and maxima on the graphs of the data sets, beside cuSPARSE", gpu_suites},
    {"hybrid", "GPU: windows on Tensor cores beside the other kernels of the same precision",
     gpu_suites},
    {"update", "GPU: a product and its dense update in one call, beside separate calls",
     gpu_suites},
    {"windows", "GPU: the selector of hybrid, fitted to synthetic windows and written to --table",
     tune_windows},
    {"tune", "GPU: the rows of the tuning table, measured and written to --table", tune},
    {"profile", "GPU: sum, greatest, mean and arg-max, each once and marked for a profiler",
     gpu_suites},
#endif
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

int positive(const std::string& text) {
  try {
    std::size_t used = 0;
    const int number = std::stoi(text, &used);
    if (used == text.size() && number > 0) return number;
  } catch (const std::logic_error&) {
  }
  throw usage_error("'" + text + "' is not a positive number");
}

void list() {
  std::printf("suites:\n");
  for (const suite& of : suites()) std::printf("  %-10s %s\n", of.name, of.summary);
  std::printf(
      "graphs, beside karate, rmat:SCALE:EDGEFACTOR, uniform:N:DEGREE, grid:ROWS:COLS, "
      "cliques:N:SIZE and banded:N:HALF:\n");
  for (const auto& of : rig::generate::named_graphs())
    std::printf("  %-20s about %ld entries\n", of.name, of.nnz);
  std::printf("data sets in %s:\n", data_folder().c_str());
  for (const std::string& name : data_sets()) std::printf("  %s\n", name.c_str());
}

int run_suite(const std::string& name, const options& given) {
  const auto all = suites();
  void (*work)(const options&, record&) = nullptr;
  for (const std::string& one : given.suites) {
    const auto which =
        std::find_if(all.begin(), all.end(), [&](const suite& of) { return one == of.name; });
    if (which == all.end()) throw usage_error("there is no suite '" + one + "'; see bench --list");
    if (work != nullptr && work != which->run)
      throw usage_error("the suites of '" + name + "' do not run together");
    work = which->run;
  }
  // An unwritable path fails before the work; the old record stays until a new one replaces it.
  if (!given.record.empty()) rig::output_file trial(given.record);
  omp_set_num_threads(threads_of(given));
  record out(name, given);
  work(given, out);
  out.save();
  return out.missed().empty() ? 0 : 1;
}

/// What the command line says, as it is written.
struct command_line {
  options given;
  std::string name, graphs, features, child;
  std::vector<std::string> more;  ///< the folder of a collection
  po::variables_map seen;
};

po::options_description shown_options(command_line& line) {
  po::options_description shown("bench SUITE [options], bench collection FOLDER [options]: options",
                                100);
  auto add = shown.add_options();
  add("graphs", po::value(&line.graphs),
      "graphs, data sets, or files of a collection, separated by commas");
  add("graph", po::value(&line.given.graph_file), "tune: a file, in place of the named graphs");
  add("table", po::value(&line.given.table)->default_value("tuning.csv"),
      "tune: the table to write; its rows of this commit are kept");
  add("features", po::value(&line.features), "columns of B, separated by commas");
  add("threads", po::value<std::string>(), "CPU threads");
  add("repeat", po::value<std::string>(), "runs of which the median is taken (21)");
  add("export", po::value(&line.given.folder)->value_name("FOLDER"),
      "gnn: writes the graphs there, for tests/bench/gnn_peers.py");
  add("gap", po::value(&line.given.gap)->value_name("FOLDER"),
      "gap, analytics: also the programs of the GAP benchmark suite there, on the CPU");
  add("all", "the graphs that need gigabytes too");
  add("cpu", "collection: on the CPU, even if there is a GPU");
  add("record", po::value(&line.given.record),
      "write the record here (collection: collection.json)");
  add("commit", po::value(&line.given.commit),
      "what the record calls the sources, where the program was built elsewhere");
  add("list", "list suites and graphs");
  add("help", "this text");
  return shown;
}

void parse(int count, char** arguments, const po::options_description& shown, command_line& line) {
  po::options_description every;
  every.add(shown).add_options()("suite", po::value(&line.name))("more", po::value(&line.more))(
      "start-child", po::value(&line.child));
  po::positional_options_description order;
  order.add("suite", 1).add("more", -1);
  po::store(po::command_line_parser(count, arguments).options(every).positional(order).run(),
            line.seen);
  po::notify(line.seen);
}

/// The words that say what is measured.
std::string measured_command(int count, char** arguments) {
  std::string command = "bench";
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i], option = word.substr(0, word.find('='));
    // Where a record or a graph is written, or programs lie, says nothing of what was measured.
    constexpr std::string_view left_out[] = {"--record", "--commit", "--export", "--gap"};
    const bool is_left_out = std::ranges::find(left_out, option) != std::end(left_out);
    if (!is_left_out) command.append(" ").append(word);
    if (option == "--gap") command += " --gap FOLDER";
    if (is_left_out && option == word) ++i;
  }
  return command;
}

/// The options of a suite.
options measured(const command_line& line, std::string command) {
  options given = line.given;
  given.command = std::move(command);
  given.suites = split(line.name);
  if (given.suites.empty()) throw usage_error("'" + line.name + "' names no suite");
  given.graphs = split(line.graphs);
  for (const std::string& width : split(line.features)) given.features.push_back(positive(width));
  const auto number = [&](const char* option, int& to) {
    if (line.seen.count(option) != 0) to = positive(line.seen[option].as<std::string>());
  };
  number("threads", given.threads);
  number("repeat", given.repeat);
  given.all = line.seen.count("all") != 0;
  given.cpu = line.seen.count("cpu") != 0;
  if (line.seen.count("gap") != 0) gap::require_programs(given.gap);
  return given;
}

int run(int count, char** arguments) {
  command_line line;
  const po::options_description shown = shown_options(line);
  parse(count, arguments, shown, line);
  if (line.seen.count("help") != 0) {
    std::ostringstream text;
    text << shown;
    std::printf("%s", text.str().c_str());
    return 0;
  }
  if (line.seen.count("list") != 0) {
    list();
    return 0;
  }
  if (line.name.empty()) throw usage_error("no suite; see bench --list");
#ifdef RIG_HAS_CUDA
  if (!line.child.empty()) return gpu::start_child(line.child);
#endif
  if (line.name == "collection") {
    if (line.more.empty()) throw usage_error("collection needs a folder: bench collection FOLDER");
    line.given.collection = line.more[0];
    line.more.erase(line.more.begin());
    if (line.given.record.empty()) line.given.record = "collection.json";
  }
  if (!line.more.empty()) throw usage_error("'" + line.more[0] + "' is one argument too many");
  return run_suite(line.name, measured(line, measured_command(count, arguments)));
}

}  // namespace

std::span<const suite> suites() { return table; }

}  // namespace bench

int main(int count, char** arguments) {
  try {
    return bench::run(count, arguments);
  } catch (const bench::usage_error& wrong) {
    std::fprintf(stderr, "bench: %s\n", wrong.what());
    return 2;
  } catch (const boost::program_options::error& wrong) {
    std::fprintf(stderr, "bench: %s\n", wrong.what());
    return 2;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "bench: %s\n", wrong.what());
    return 1;
  }
}
