// Suite io: the speed of reading and writing files, and of reading the same Matrix Market by SciPy.

#include "rig/io.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "bench.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

/// Milliseconds of scipy.io.mmread, which makes no rows, on some threads; none without SciPy. The
/// environment's PYTHON names the interpreter.
std::optional<double> scipy_ms(const std::string& path, int threads, int repeat) {
  const char* const python = std::getenv("PYTHON");
  const std::string command = std::string(python != nullptr ? python : "python3") +
                              " " RIG_SOURCE_DIR "/tests/bench/io_scipy.py " + path + " " +
                              std::to_string(threads) + " " + std::to_string(repeat);
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  double ms = 0;
  if (output == nullptr || std::fscanf(output.get(), "%lf", &ms) != 1) return {};
  return ms;
}

void write_edge_list(const std::string& path, const rig::pattern& s) {
  std::ofstream file(path);
  for (rig::index i = 0; i < s.rows(); ++i)
    for (rig::int64 p = s.offset(i); p < s.offset(i + 1); ++p)
      file << i << '\t' << s.column_indices()[p] << '\n';
}

}  // namespace

scratch_folder::scratch_folder()
    : path_((fs::temp_directory_path() / ("rig_bench_" + std::to_string(getpid()))).string()) {
  fs::create_directories(path_);
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void io(const options& given, record& out) {
  const scratch_folder folder;
  const std::vector<std::string> usual = {"rmat:16:16"};
  for (const std::string& name : given.graphs.empty() ? usual : given.graphs) {
    const rig::matrix<float> graph = rig::generate::from_text(name);
    const rig::matrix<float> weighted = rig::generate::random_values(graph);
    const rig::dense<float> features(graph.rows(), 64, 0.1f);
    const std::string real = folder.file("real.mtx"), pattern = folder.file("pattern.mtx"),
                      edges = folder.file("edges.txt"), npy = folder.file("features.npy");

    /// Records the median time and returns the megabytes per second; `path` is the file that `run`
    /// reads or writes.
    const auto measure = [&](const std::string& operation, const std::string& path,
                             const std::function<void()>& run) {
      row line;
      line.operation = operation;
      line.graph = name;
      line.n = graph.rows();
      line.nnz = graph.nnz();
      line.features = path == npy ? features.columns() : 0;
      line.type = "float";
      const contender only[] = {{"rig", run}};
      line.ms = race(only, repeat_of(given))[0];
      line.bytes = static_cast<double>(fs::file_size(path));
      out.add(line);
      return line.bytes / line.ms / 1e3;
    };
    write_edge_list(edges, graph.structure());
    std::vector<std::pair<std::string, double>> speeds;
    const auto note = [&](const char* what, double speed) { speeds.emplace_back(what, speed); };
    note("write_mtx_real",
         measure("write mtx real", real, [&] { rig::write_matrix(real, weighted); }));
    note("write_mtx_pattern",
         measure("write mtx pattern", pattern, [&] { rig::write_matrix(pattern, graph); }));
    note("write_npy", measure("write npy", npy, [&] { rig::write_dense(npy, features); }));
    note("read_mtx_real", measure("read mtx real", real, [&] { rig::read_matrix<float>(real); }));
    note("read_mtx_pattern",
         measure("read mtx pattern", pattern, [&] { rig::read_matrix<float>(pattern); }));
    note("read_edge_list",
         measure("read edge list", edges, [&] { rig::read_matrix<float>(edges); }));
    note("read_npy", measure("read npy", npy, [&] { rig::read_dense<float>(npy); }));
    for (const auto& [what, speed] : speeds) {
      std::optional<double> target;
      if (what.starts_with("read_mtx")) target = what == "read_mtx_pattern" ? 1000.0 : 100.0;
      out.summarise(what + "_mb_per_s", speed, target);
    }
    for (const auto& [what, path] : {std::pair("real", real), std::pair("pattern", pattern)})
      for (const int threads : {1, 2})
        if (const auto ms = scipy_ms(path, threads, repeat_of(given)))
          out.summarise(std::string("scipy_mmread_mtx_") + what + "_" + std::to_string(threads) +
                            "_threads_mb_per_s",
                        static_cast<double>(fs::file_size(path)) / *ms / 1e3, std::nullopt);
  }
}

}  // namespace bench
