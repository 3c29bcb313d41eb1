// Makes docs/performance.md from records.

#include "performance.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench.hpp"

namespace bench {
namespace {

using json = nlohmann::json;

/// A section of the page: one figure, and how to read it.
struct section {
  const char *figure, *heading, *text;
};
constexpr section sections[] = {
    {"exact_speedup", "Sums", "The peer is the fastest of cuSPARSE's four algorithms for CSR."},
    {"exact_roofline", "Sums: how far from the machine's limit",
     "The bytes of a product count a row of B per entry, as if nothing were cached. The ceiling is "
     "a gather of random rows, measured on the same machine. A share above 1 comes from caches."},
    {"prepare_pays", "When preparation pays",
     "`A.prepare()` finds row statistics and lists of rows. The figure is the number of products "
     "after which rig has taken less time than cuSPARSE, preparation included."},
    {"max_speedup", "Maxima",
     "The peers are cusparseSpMMOp, which NVIDIA has deprecated, and rig's own sum."},
    {"real_speedup", "Sums on real graphs",
     "The peer is the fastest of cuSPARSE's four algorithms."},
    {"real_max_speedup", "Maxima on real graphs", "The peer is cusparseSpMMOp."},
    {"half_speedup", "Half features",
     "Both libraries read half, and add in fp32. The summary of the record leaves out F = 32, so "
     "its mean differs."},
    {"bfloat16_speedup", "bfloat16 features",
     "Both libraries read bfloat16, and add in fp32. The summary of the record leaves out F = 32, "
     "so its mean differs."},
    {"spmv_speedup", "One column",
     "A product with one column. cuSPARSE's SpMV is faster on some graphs."},
    {"maxk_forward", "MaxK, forward",
     "B keeps k entries per row; 128:32 means 128 columns and k = 32. The peer is rig's own exact "
     "product with all columns."},
    {"maxk_backward", "MaxK, backward",
     "The product at the positions that MaxK kept. The peer is rig's own exact product."},
    {"sampled_error", "Sampling: time against error",
     "A sample keeps at most S entries per row; a curve has a point per S. The error is the "
     "norm of the difference to the exact product over the norm of that product. The features are "
     "random numbers around 0, so their sums cancel; your data has other errors. The peer is rig's "
     "own exact product."},
    {"cpu_speedup", "CPU",
     "The peer is SuiteSparse:GraphBLAS, whose fastest way to form the same product counts."},
};

/// The machine and its software; peers are added by the page.
std::string machine_of(const json& record) {
  std::string out;
  for (const char* key : {"gpu", "driver", "cpu"})
    if (record.at(key).is_string())
      out += (out.empty()                    ? ""
              : key == std::string("driver") ? ", driver "
                                             : ", ") +
             record.at(key).get<std::string>();
  return out + ", " + record.at("threads").dump() + " threads";
}

/// The targets that the suites miss, in their own words.
std::string misses_of(const std::vector<json>& records) {
  std::string out;
  for (const json& record : records)
    for (const json& what : record.value("missed", json::array()))
      out += "- " + record.at("suite").get<std::string>() + ": " + what.get<std::string>() + "\n";
  return out.empty() ? ""
                     : "\n## Targets that are missed\n\nThe suites check targets of ours. "
                       "These are missed; [lab](lab) says why. The names are those of the "
                       "record's summary.\n\n" +
                           out;
}

/// From when the records are.
std::string ages_of(const std::vector<json>& records) {
  std::map<std::string, std::string> suites;  // by date
  for (const json& record : records) {
    std::string& of = suites[record.at("date").get<std::string>().substr(0, 10)];
    of += (of.empty() ? "`" : ", `") + record.at("suite").get<std::string>() + "`";
  }
  if (suites.size() == 1) return "The records are of " + suites.begin()->first + ".";
  return "Each section names its commit and date. The oldest records, of " + suites.begin()->first +
         ", are " + suites.begin()->second + "; the newest are of " + suites.rbegin()->first + ".";
}

std::string table_of_graphs(const std::vector<json>& records) {
  std::set<std::pair<long, std::string>> graphs;  // by entries
  for (const json& record : records)
    for (const json& row : record.at("rows"))
      if (row.at("nnz") != 0 && row.at("n") != 0)
        graphs.emplace(row.at("nnz").get<long>(),
                       "| " + row.at("graph").get<std::string>() + " | " + row.at("n").dump() +
                           " | " + row.at("nnz").dump() + " | " +
                           (is_real(row.at("graph")) ? "real" : "synthetic") + " |");
  std::string out = "| graph | nodes | entries | origin |\n| --- | ---: | ---: | --- |\n";
  for (const auto& [nnz, line] : graphs) out += line + "\n";
  return out;
}

json load_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  try {
    return json::parse(file);
  } catch (const json::exception& wrong) {
    throw std::runtime_error(path + ": " + wrong.what());
  }
}

}  // namespace

std::string performance(std::span<const std::string> paths, const std::string& folder) {
  std::vector<json> records;
  for (const std::string& path : paths) records.push_back(load_record(path));
  std::set<std::string> machines, peers;
  std::map<std::string, std::pair<plot, const json*>> plots;
  for (const json& record : records) {
    machines.insert(machine_of(record));
    for (const auto& [name, version] : record.at("peers").items())
      if (const auto text = version.get<std::string>();
          !text.starts_with("not chosen") && !text.starts_with("absent"))
        peers.insert(text);
    for (plot& one : plots_of(record)) plots.try_emplace(one.name, std::move(one), &record);
  }
  std::string out =
      "# Performance\n\nrig and the peers of a section are measured in one run, on one graph, in "
      "turns. A time is the median of the runs that its section names, after runs that are not "
      "timed. A "
      "speed-up is the time of the peer over the time of rig: more than 1 means that rig is "
      "faster. F is the feature width, the number of columns of B.\n\nPublished kernels of MaxK, "
      "and plain kernels that were written from the papers on sampling, are in no run. Their "
      "ratios to cuSPARSE are constants of the suites, and only targets at the end use them.\n\n"
      "This page and its plots are made from [docs/records](records) by `build/bench performance "
      "docs/records/*.json`. " +
      ages_of(records) + "\n\n## Machines\n\n";
  for (const std::string& machine : machines) out += "- " + machine + "\n";
  out += "\nPeers:\n\n";
  for (const std::string& peer : peers) out += "- " + peer + "\n";
  out +=
      "\n## Graphs\n\nA synthetic graph is made by a generator of "
      "[generate.hpp](../include/rig/generate.hpp). Names that end in `-like` have the size and "
      "the degrees of a published graph, not its edges. A real graph is a published data set, read "
      "from a file. Values are random in both.\n\n" +
      table_of_graphs(records);
  for (const section& of : sections) {
    const auto found = plots.find(of.figure);
    if (found == plots.end()) continue;
    const auto& [one, record] = found->second;
    out += std::string("\n## ") + of.heading + "\n\n" + of.text + "\n\n![" + one.alternative +
           "](" + write_plot(one, folder) + ")\n\n" + one.alternative + " Made by " +
           source_of(*record) + "; " + runs_of(*record) + ".\n";
    if (one.losses.empty()) continue;
    out += "\nThe peer is faster here:\n\n";
    for (const std::string& loss : one.losses) out += "- " + loss + "\n";
  }
  return out + tables_of(records) + misses_of(records);
}

}  // namespace bench
