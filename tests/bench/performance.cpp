// Makes docs/performance.md from records.

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
     "A product with one column. cuSPARSE's SpMV is faster on some graphs of short rows."},
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

/// The command of a record, and the hardware that it measured.
std::string source_of(const json& record) {
  const std::string hardware =
      record.at("gpu").is_string()
          ? record.at("gpu").get<std::string>()
          : record.at("cpu").get<std::string>() + ", " + record.at("threads").dump() + " threads";
  return "`build/" + record.at("command").get<std::string>() + "`, commit " +
         record.at("commit").get<std::string>() + ", " +
         record.at("date").get<std::string>().substr(0, 10) + ", on " + hardware;
}

std::string runs_of(const json& record) {
  return "median of " + record.at("repeat").dump() + " runs";
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

/// The operations of suite graph, beside a copy of memory or beside products.
std::string operations_of(const std::vector<json>& records) {
  for (const json& record : records) {
    if (record.at("suite") != "graph") continue;
    std::string out =
        "\n## Operations besides products\n\nA share is that of the measured copy bandwidth, which "
        "counts reads and writes. Each call is waited for. PageRank is compared with as many "
        "products alone.\n\n| operation | operand | ms | share of the copy | products alone, ms |\n"
        "| --- | --- | ---: | ---: | ---: |\n";
    for (const json& row : record.at("rows")) {
      const json peers = row.value("peer_ms", json::object());
      const bool has_peer = peers.contains("products");
      out += "| " + row.at("operation").get<std::string>() + " | " +
             row.at("graph").get<std::string>() + " | " + digits(row.at("ms").get<double>(), 2) +
             " | " + (has_peer ? "" : digits(row.at("share_of_ceiling").get<double>(), 2)) + " | " +
             (has_peer ? digits(peers.at("products").get<double>(), 2) : "") + " |\n";
    }
    return out + "\nMade by " + source_of(record) + "; " + runs_of(record) + ".\n";
  }
  return "";
}

/// A number of a row, or nothing.
std::string cell(const json& row, const char* key, double unit, int places) {
  return row.contains(key) && row.at(key).is_number()
             ? digits(row.at(key).get<double>() / unit, places)
             : "";
}

/// How a network computed its products: the kernel, with k or the sample size.
std::string way_of(const json& row) {
  const int k = row.value("k", 0), width = row.value("width", 0);
  return row.at("kernel").get<std::string>() + (k > 0 ? ", k = " + std::to_string(k) : "") +
         (width > 0 ? ", S = " + std::to_string(width) : "");
}

/// Epochs and inferences of networks, from suite gnn.
std::string networks_of(const std::vector<json>& records) {
  for (const json& record : records) {
    if (record.at("suite") != "gnn") continue;
    std::string out =
        "\n## Graph neural networks\n\nAn epoch is forward, backward and a step of Adam on the "
        "whole graph, with 3 layers and no dropout. `vendor` is the same trainer with cuSPARSE's "
        "products, and the speed-up is over that. Its limit is the speed-up if products with the "
        "graph took no time. Memory is the most that was held, graph and features "
        "included.\n\n| network | graph | hidden | products | ms | of which products | speed-up | "
        "limit | GB |\n| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n";
    for (const json& row : record.at("rows"))
      out += "| " + row.at("operation").get<std::string>() + " | " +
             row.at("graph").get<std::string>() + " | " + row.at("features").dump() + " | " +
             way_of(row) + " | " + cell(row, "ms", 1, 2) + " | " + cell(row, "aggregate_ms", 1, 2) +
             " | " + cell(row, "ratio", 1, 2) + " | " + cell(row, "amdahl", 1, 2) + " | " +
             cell(row, "peak_bytes", 1e9, 1) + " |\n";
    return out + "\nMade by " + source_of(record) + "; " + runs_of(record) + ".\n";
  }
  return "";
}

/// Speed-ups of windows on Tensor cores, from suite hybrid: a line per graph and F, with one column
/// per type.
std::string windows_of(const std::vector<json>& records) {
  constexpr const char* types[] = {"float", "float iso", "half", "half iso"};
  for (const json& record : records) {
    if (record.at("suite") != "hybrid") continue;
    std::string out =
        "\n## Windows on Tensor cores\n\nTime of the faster of `row` and `split` over that of "
        "`hybrid`, in the type of B. B in float is multiplied in TF32. A has values, or one value "
        "(iso). `N%/` keeps so many of a graph's edges, `loa/` and `shuffled/` number its nodes "
        "anew.\n\n| graph | F | float | float, iso A | half | half, iso A |\n| --- | ---: | ---: | "
        "---: | ---: | ---: |\n";
    std::map<std::pair<std::string, int>, std::map<std::string, double>> lines;
    for (const json& row : record.at("rows"))
      lines[{row.at("graph"), row.at("features")}][row.at("type")] = row.at("ratio");
    for (const auto& [at, ratios] : lines) {
      out += "| " + at.first + " | " + std::to_string(at.second) + " |";
      for (const char* const type : types)
        out += ratios.contains(type) ? " " + digits(ratios.at(type), 2) + " |" : " |";
      out += "\n";
    }
    return out + "\nMade by " + source_of(record) + "; " + runs_of(record) + ".\n";
  }
  return "";
}

/// A product and its dense update, from suite update.
std::string updates_of(const std::vector<json>& records) {
  for (const json& record : records) {
    if (record.at("suite") != "update") continue;
    std::string out =
        "\n## A product and its update\n\n`mxm_update` computes (A ⊕.⊗ B)·W, with W of F × F. The "
        "speed-up is over rig's product and cuBLAS in fp32, in the faster of both orders.\n\n"
        "| graph | F | ms | product alone, ms | speed-up |\n| --- | ---: | ---: | ---: | ---: |\n";
    for (const json& row : record.at("rows"))
      out += "| " + row.at("graph").get<std::string>() + " | " + row.at("features").dump() + " | " +
             cell(row, "ms", 1, 3) + " | " + cell(row.at("peer_ms"), "product_alone", 1, 3) +
             " | " + cell(row, "ratio", 1, 2) + " |\n";
    return out + "\nMade by " + source_of(record) + "; " + runs_of(record) + ".\n";
  }
  return "";
}

/// The host's part of a call, from suite start.
std::string host_times_of(const std::vector<json>& records) {
  for (const json& record : records) {
    if (record.at("suite") != "start") continue;
    std::string out =
        "\n## The host's part of a call\n\nThe first call of a process loads or "
        "compiles its kernel. A prepared call takes microseconds. The time of a first or second "
        "call is the median of 5 processes. A host time is the median of 51 loops of 100 calls. "
        "`plus_times` is compiled ahead; `cloned_plus_times` is the same semiring, compiled at "
        "run time.\n\n| measured | semiring | graph | F | time |\n| --- | --- | --- | ---: | ---: "
        "|\n";
    for (const json& row : record.at("rows")) {
      const std::string operation = row.at("operation"), semiring = row.at("semiring");
      if (operation == "mxm") continue;  // on the device's clock
      const double ms = row.at("ms");
      const bool is_host_time = operation.starts_with("host time");
      out += "| " + operation + " | " + (semiring.empty() ? "" : "`" + semiring + "`") + " | " +
             (semiring.empty() ? "" : row.at("graph").get<std::string>()) + " | " +
             (semiring.empty() ? "" : row.at("features").dump()) + " | " +
             digits(is_host_time ? 1e3 * ms : ms, 2) + (is_host_time ? " µs |\n" : " ms |\n");
    }
    return out + "\nMade by " + source_of(record) + ".\n";
  }
  return "";
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

}  // namespace

std::string performance(std::span<const std::string> paths, const std::string& folder) {
  std::vector<json> records;
  for (const std::string& path : paths) records.push_back(load_record(path));
  std::set<std::string> machines, peers;
  std::map<std::string, std::pair<plot, const json*>> plots;
  for (const json& record : records) {
    machines.insert(machine_of(record));
    for (const auto& [name, version] : record.at("peers").items())
      if (const auto text = version.get<std::string>(); !text.starts_with("not chosen"))
        peers.insert(text);
    for (plot& one : plots_of(record)) plots.try_emplace(one.name, std::move(one), &record);
  }
  std::string out =
      "# Performance\n\nrig and its peers are measured in one run, on one graph, in turns. A time "
      "is the median of the runs that its section names, after two warm-up rounds. A speed-up is "
      "the time of the peer over the time of rig: more than 1 means that rig is faster.\n\nThis "
      "page and its plots are made from [docs/records](records) by "
      "`build/bench performance docs/records/*.json`.\n\n## Machines\n\n";
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
  return out + windows_of(records) + updates_of(records) + operations_of(records) +
         networks_of(records) + host_times_of(records) + misses_of(records);
}

}  // namespace bench
