// Makes docs/performance.md from records.

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
    {"half_speedup", "Half features", "Both libraries read half, and add in fp32."},
    {"spmv_speedup", "One column",
     "A product with one column. cuSPARSE's SpMV is faster on some graphs of short rows."},
    {"maxk_forward", "MaxK, forward",
     "B keeps k entries per row. The time of the exact product with all columns is 1."},
    {"maxk_backward", "MaxK, backward", "The product at the places that MaxK kept."},
    {"cpu_speedup", "CPU",
     "The peer is SuiteSparse:GraphBLAS, whose fastest way to form the same product counts."},
};

/// What made a record: a line per distinct machine.
std::string machine_of(const json& record) {
  std::string out = record.at("gpu").is_string() ? record.at("gpu").get<std::string>() + ", " : "";
  for (const char* key : {"toolkit", "driver"})
    if (record.at(key).is_string())
      out += (key == std::string("driver") ? "driver " : "") + record.at(key).get<std::string>() +
             ", ";
  out += record.at("cpu").get<std::string>() + ", " + record.at("threads").dump() + " threads";
  for (const auto& [name, version] : record.at("peers").items())
    out += ", " + version.get<std::string>();
  return out;
}

std::string source_of(const json& record) {
  return "`build/" + record.at("command").get<std::string>() + "`, commit " +
         record.at("commit").get<std::string>() + ", " +
         record.at("date").get<std::string>().substr(0, 10);
}

std::string table_of_graphs(const std::vector<json>& records) {
  std::set<std::pair<long, std::string>> graphs;  // by entries
  for (const json& record : records)
    for (const json& row : record.at("rows"))
      if (row.at("nnz") != 0)
        graphs.emplace(row.at("nnz").get<long>(), "| " + row.at("graph").get<std::string>() +
                                                      " | " + row.at("n").dump() + " | " +
                                                      row.at("nnz").dump() + " | synthetic |");
  std::string out = "| graph | nodes | entries | origin |\n| --- | ---: | ---: | --- |\n";
  for (const auto& [nnz, line] : graphs) out += line + "\n";
  return out;
}

}  // namespace

std::string performance(std::span<const std::string> paths) {
  std::vector<json> records;
  for (const std::string& path : paths) records.push_back(load_record(path));
  std::set<std::string> machines;
  std::map<std::string, std::pair<plot, const json*>> plots;
  for (const json& record : records) {
    machines.insert(machine_of(record));
    for (plot& one : plots_of(record)) plots.try_emplace(one.name, std::move(one), &record);
  }
  std::string out =
      "# Performance\n\nrig and its peers are measured in one run, on one graph, in turns. A time "
      "is the median of the runs that the plot names, after two warm-up rounds. A speed-up is the "
      "time of the peer over the time of rig: more than 1 means that rig is faster.\n\nThis page "
      "and its plots are made from [docs/records](records) by "
      "`build/bench performance docs/records/*.json`.\n\n## Machines\n\n";
  for (const std::string& machine : machines) out += "- " + machine + "\n";
  out +=
      "\n## Graphs\n\nEvery graph is made by a generator of "
      "[generate.hpp](../include/rig/generate.hpp). Names that end in `-like` have the size and "
      "the degrees of a published graph, not its edges.\n\n" +
      table_of_graphs(records);
  for (const section& of : sections) {
    const auto found = plots.find(of.figure);
    if (found == plots.end()) continue;
    const auto& [one, record] = found->second;
    out += std::string("\n## ") + of.heading + "\n\n" + of.text + "\n\n![" + one.alternative +
           "](plots/" + one.name + ".svg)\n\n" + one.alternative + " Made by " +
           source_of(*record) + ".\n";
    if (one.losses.empty()) continue;
    out += "\nThe peer is faster here:\n\n";
    for (const std::string& loss : one.losses) out += "- " + loss + "\n";
  }
  return out;
}

}  // namespace bench
