// A record: the results and their environment, printed line by line and stored as JSON.

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "collection.hpp"
#include "rig/output_file.hpp"
#include "rig/place.hpp"

namespace bench {
namespace {

using json = nlohmann::ordered_json;

std::string first_line_of(const std::string& command) {
  std::string line;
  if (FILE* const pipe = popen(command.c_str(), "r")) {
    std::array<char, 256> piece;
    while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) line += piece.data();
    pclose(pipe);
  }
  return line.substr(0, line.find('\n'));
}

std::string cpu_model() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "unknown";
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::array<char, 32> text;
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  return text.data();
}

json or_null(const std::optional<double>& number) { return number ? json(*number) : json(); }
json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json to_json(const row& line, const std::string& suite) {
  json out = {{"suite", line.suite.empty() ? suite : line.suite},
              {"operation", line.operation},
              {"graph", line.graph},
              {"n", line.n},
              {"nnz", line.nnz},
              {"features", line.features},
              {"semiring", line.semiring},
              {"type", line.type},
              {"kernel", line.kernel},
              {"chosen", line.chosen},
              {"ms", line.ms},
              {"prepare_ms", or_null(line.prepare_ms)},
              {"bytes", line.bytes},
              {"share_of_ceiling", or_null(line.share_of_ceiling)},
              {"best_cusparse_ms", or_null(line.best_cusparse_ms)},
              {"ratio", or_null(line.ratio)},
              {"peer_ms", line.peer_ms}};
  if (line.columns > 0 && line.columns != line.n) out["columns"] = line.columns;
  if (line.width > 0) out["width"] = line.width;
  if (line.k > 0) out["k"] = line.k;
  if (line.ranks > 0) out["ranks"] = line.ranks;
  if (line.threads > 0) out["threads"] = line.threads;
  const std::pair<const char*, const std::optional<double>&> more[] = {
      {"kept_share", line.kept_share},
      {"exact_ms", line.exact_ms},
      {"control_ms", line.control_ms},
      {"error", line.error},
      {"load_share", line.load_share},
      {"published", line.published},
      {"aggregate_ms", line.aggregate_ms},
      {"amdahl", line.amdahl},
      {"peak_bytes", line.peak_bytes},
      {"moved_share", line.moved_share},
      {"balance", line.balance}};
  for (const auto& [key, number] : more)
    if (number) out[key] = *number;
  if (!line.least_ms.empty()) out["least_ms"] = line.least_ms;
  return out;
}

}  // namespace

std::string digits(double number, int digits) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return text.data();
}

record::record(std::string suite, const options& given)
    : given_(given),
      suite_(std::move(suite)),
      command_(given.command),
      commit_(given.commit),
      started_(now()),
      threads_(threads_of(given)),
      repeat_(repeat_of(given)) {
  if (commit_.empty())
    commit_ = first_line_of("git -C '" RIG_SOURCE_DIR "' describe --always --dirty 2>/dev/null");
  load_ = -1;
  getloadavg(&load_, 1);
}

double record::share(double bytes, double ms, double table_bytes) const {
  const char* const ceiling = table_bytes <= (32 << 20) ? "gather_cached" : "gather_memory";
  return bytes / (ms * 1e6) / ceilings_.at(ceiling);
}

void record::add(const row& line) {
  if (rows_.empty())
    std::printf("%-16s %-20s %4s %-12s %-8s %-6s %9s %6s  %s\n", "operation", "graph", "F",
                "semiring", "type", "kernel", "ms", "ratio", "peers, ms");
  const int kept = line.width + line.k;  // at most one of them is set
  const std::string kernel = kept > 0 ? line.kernel + ":" + std::to_string(kept) : line.kernel;
  std::printf("%-16s %-20s %4d %-12s %-8s %-6s %9.3f %6s ", line.operation.c_str(),
              line.graph.c_str(), line.features, line.semiring.c_str(), line.type.c_str(),
              kernel.c_str(), line.ms, line.ratio ? digits(*line.ratio, 2).c_str() : "");
  for (const auto& [name, ms] : line.peer_ms) std::printf(" %s %.3f", name.c_str(), ms);
  if (line.moved_share && line.balance)
    std::printf(" %d ranks move %.4f, balance %.2f", line.ranks, *line.moved_share, *line.balance);
  std::printf("\n");
  std::fflush(stdout);
  keep(line);
}

void record::summarise(const std::string& name, double value, std::optional<double> at_least) {
  std::printf("%s: %.3g", name.c_str(), value);
  if (at_least) std::printf(" (target: %g)", *at_least);
  std::printf("\n");
  summary_.emplace_back(name, value);
  if (at_least && !(value >= *at_least))
    miss(name + " is " + digits(value, 3) + ", its target is " + digits(*at_least, 3));
}

void record::limit(const std::string& name, double value, double at_most) {
  std::printf("%s: %.3g (limit: %g)\n", name.c_str(), value, at_most);
  summary_.emplace_back(name, value);
  if (!(value <= at_most))
    miss(name + " is " + digits(value, 3) + ", its limit is " + digits(at_most, 3));
}

void record::miss(const std::string& what) {
  std::fprintf(stderr, "bench: %s\n", what.c_str());
  missed_.push_back(what);
}

void record::guarded(const std::string& where, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& wrong) {
    miss(where + ": " + wrong.what());
  }
}

/// JSON text with a member per line, and a row of measurements per line: a row that changes is one
/// line of a diff.
std::string in_lines(const json& record) {
  std::string out;
  for (const auto& [key, value] : record.items()) {
    out += (out.empty() ? "{\n" : ",\n") + json(key).dump() + ": ";
    if (key != "rows") {
      out += value.dump();
      continue;
    }
    for (const json& row : value) out += (&row == &value.front() ? "[\n" : ",\n") + row.dump();
    out += value.empty() ? "[]" : "\n]";
  }
  return out + "\n}\n";
}

nlohmann::ordered_json record::rows_in_json() const {
  json out = json::array();
  for (const row& line : rows_) out.push_back(to_json(line, suite_));
  return out;
}

std::vector<profile> record::profiles() const { return profiles_of(rows_in_json()); }

std::string record::text() const {
  const auto places = rig::devices();
  const auto gpu = std::find_if(places.begin(), places.end(),
                                [](const auto& at) { return at.where != rig::cpu(); });
  double load = -1;
  getloadavg(&load, 1);
  json out = {{"suite", suite_},
              {"command", command_},
              {"commit", commit_},
              {"date", started_},
              {"cpu", cpu_model()},
              {"threads", threads_},
              {"load", {load_, load}},
              {"compiler", "g++ " __VERSION__},
              {"gpu", gpu != places.end() ? json(gpu->name) : json()},
              {"driver", or_null(driver_)},
              {"toolkit", or_null(toolkit_)},
              {"repeat", repeat_},
              {"peers", peers_},
              {"ceilings", ceilings_},
              {"rows", json::array()},
              {"summary", json::object()},
              {"missed", missed_}};
  out["rows"] = rows_in_json();
  for (const auto& [name, value] : summary_) out["summary"][name] = value;
  if (const auto found = profiles(); !found.empty()) out["profile"] = table_of(found);
  return in_lines(out);
}

void record::save() const {
  if (!given_.record.empty()) rig::write_text(given_.record, text());
}

}  // namespace bench
