// GAP's programs: the files that they read, their runs, and what they print.

#include "gap.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace bench::gap {
namespace {

using rig::index;
using rig::int64;

constexpr std::string_view trial = "Trial Time:";
constexpr const char* names[] = {"bfs", "sssp", "pr", "cc", "bc", "tc"};

/// An arc of a file with weights, as GAP stores it.
struct arc {
  index to;
  std::int32_t weight;
};

template <class T>
void put(std::ofstream& file, const T* data, int64 count) {
  file.write(reinterpret_cast<const char*>(data),
             static_cast<std::streamsize>(count) * static_cast<std::streamsize>(sizeof(T)));
}

/// GAP's serialized form: whether arcs have a direction, the numbers of arcs and nodes, offsets of
/// 64 bits, arcs.
template <class T>
void write_serialized(const std::string& path, const rig::pattern& graph, const T* arcs) {
  std::ofstream file(path, std::ios::binary);
  const bool directed = false;
  const int64 sizes[] = {graph.nnz(), graph.rows()};
  std::vector<int64> offsets;
  for (index node = 0; node <= graph.rows(); ++node) offsets.push_back(graph.offset(node));
  put(file, &directed, 1);
  put(file, sizes, 2);
  put(file, offsets.data(), static_cast<int64>(offsets.size()));
  put(file, arcs, graph.nnz());
  file.close();
  if (!file) rig::fail(rig::errc::io, {path, ": cannot be written; TMPDIR names another folder"});
}

/// A word of the shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// The whole number that ends before the last `word`; none if there is no such.
std::optional<int64> number_before(const std::string& text, const std::string& word) {
  const std::size_t end = text.rfind(word);
  if (end == std::string::npos) return {};
  std::size_t first = end;
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  if (first == end) return {};
  return std::stoll(text.substr(first, end - first));
}

/// The last line with text.
std::string last_line(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

std::string from(index source) { return "-r " + std::to_string(source); }

}  // namespace

void require_programs(const std::string& folder) {
  for (const char* const name : names) {
    const std::string path = folder + "/" + name;
    if (access(path.c_str(), X_OK) != 0)
      throw usage_error("--gap: there is no program " + path +
                        "; build the sources of gapbs by make, and give the folder with bfs, sssp, "
                        "pr, cc, bc and tc");
  }
}

std::string width_name(int width) { return "gap_delta_" + std::to_string(width); }

void introduce(const options& given, record& out) {
  if (!given.gap.empty())
    out.peer("gap", "GAP's C++ programs, " + std::to_string(threads_of(given)) + " threads");
}

peer::peer(const options& given, const rig::pattern& graph, int trials)
    : programs_(given.gap), threads_(threads_of(given)), trials_(trials) {
  write_serialized(folder_.file("graph.sg"), graph, graph.column_indices());
}

double peer::bfs(index source, int64 reached) const {
  return compared("bfs", from(source), " nodes", reached);
}

void peer::write_weights(const rig::matrix<int64>& weights) const {
  std::vector<arc> arcs;
  const rig::pattern& graph = weights.structure();
  arcs.reserve(static_cast<std::size_t>(graph.nnz()));
  for (int64 at = 0; at < graph.nnz(); ++at)
    arcs.push_back({graph.column_indices()[at], static_cast<std::int32_t>(weights.values()[at])});
  write_serialized(folder_.file("graph.wsg"), graph, arcs.data());
}

double peer::sssp(index source, int width, int64 reached) const {
  return compared("sssp", from(source) + " -d " + std::to_string(width), " nodes", reached);
}

double peer::pagerank(int iterations) const {
  return median_ms("pr", run("pr", "-t 0 -i " + std::to_string(iterations)));
}

double peer::components(int64 count) const { return compared("cc", "", " components", count); }

double peer::betweenness(std::span<const index> sources) const {
  double ms = 0;
  for (const index source : sources) ms += median_ms("bc", run("bc", "-i 1 " + from(source)));
  return ms;
}

double peer::triangles(int64 count) const { return compared("tc", "", " triangles", count); }

/// What the program prints. Its first trial is not counted.
std::string peer::run(const char* program, const std::string& arguments) const {
  const char* const graph = program == std::string("sssp") ? "graph.wsg" : "graph.sg";
  const std::string path = programs_ + "/" + program;
  const std::string command = "OMP_NUM_THREADS=" + std::to_string(threads_) + " " + quoted(path) +
                              " -f " + quoted(folder_.file(graph)) + " -a -n " +
                              std::to_string(trials_ + 1) + " " + arguments + " 2>&1";
  std::string out;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) rig::fail(rig::errc::io, {path, " cannot be started"});
  std::array<char, 4096> piece;
  for (std::size_t got; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    out.append(piece.data(), got);
  if (pclose(pipe) != 0)
    rig::fail(rig::errc::io, {"GAP's program failed: ", command, ": ", last_line(out),
                              "; build its sources anew on this machine"});
  return out;
}

/// Of the trials in what the program printed.
double peer::median_ms(const char* program, const std::string& printed) const {
  std::vector<double> ms;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(trial)) ms.push_back(1e3 * std::atof(line.c_str() + trial.size()));
  if (ms.size() != static_cast<std::size_t>(trials_) + 1)
    rig::fail(rig::errc::format,
              {programs_, "/", program, " printed ", ms.size(), " times after '", trial, "', not ",
               trials_ + 1, "; --gap takes the programs of gapbs"});
  ms.erase(ms.begin());
  const double middle = median(std::move(ms));
  if (!(middle > 0))
    rig::fail(rig::errc::range,
              {programs_, "/", program, " took less than the 10 µs that it prints",
               "; name a larger graph"});
  return middle;
}

double peer::compared(const char* program, const std::string& arguments, const char* word,
                      int64 expected) const {
  const std::string printed = run(program, arguments);
  const double ms = median_ms(program, printed);
  // The analysis follows the last trial.
  const std::optional<int64> found = number_before(printed.substr(printed.rfind(trial)), word);
  if (!found)
    rig::fail(rig::errc::format, {programs_, "/", program, " printed no number before '", word,
                                  "'; --gap takes the programs of gapbs"});
  if (*found != expected)
    rig::fail(rig::errc::range,
              {programs_, "/", program, ": GAP has ", *found, ", rig has ", expected, word});
  return ms;
}

}  // namespace bench::gap
