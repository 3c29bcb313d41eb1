// The tables of docs/performance.md: a section per suite.

#include <algorithm>
#include <map>

#include "bench.hpp"
#include "performance.hpp"

namespace bench {

using json = nlohmann::json;

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

namespace {

/// The cells of a line of a table; none if the row of the record has no place in it.
using cells = std::vector<std::string>;

std::string text(const json& row, const char* key) { return row.at(key).get<std::string>(); }

/// A number of a row, or nothing.
std::string cell(const json& row, const char* key, double unit, int places) {
  return row.contains(key) && row.at(key).is_number()
             ? digits(row.at(key).get<double>() / unit, places)
             : "";
}

/// A line per row of the record.
template <cells (*LineOf)(const json&)>
std::vector<cells> each(const json& rows) {
  std::vector<cells> out;
  for (const json& row : rows)
    if (cells line = LineOf(row); !line.empty()) out.push_back(std::move(line));
  return out;
}

/// A line per graph, width or other name, with the ratios of its rows by column.
struct ratio_table {
  std::vector<std::string> columns;
  std::map<std::pair<std::string, long>, std::map<std::string, double>> lines;

  std::vector<cells> take() const {
    std::vector<cells> out;
    for (const auto& [at, ratios] : lines) {
      cells line{at.first, std::to_string(at.second)};
      for (const std::string& column : columns) {
        const auto found = ratios.find(column);
        line.push_back(found == ratios.end() ? "" : digits(found->second, 2));
      }
      out.push_back(std::move(line));
    }
    return out;
  }
};

std::vector<cells> windows(const json& rows) {
  ratio_table out{{"float", "float iso", "half", "half iso", "bfloat16", "bfloat16 iso"}, {}};
  for (const json& row : rows)
    out.lines[{row.at("graph"), row.at("features")}][row.at("type")] = row.at("ratio");
  return out.take();
}

/// Sums in float beside oneMKL.
std::vector<cells> beside_onemkl(const json& rows) {
  ratio_table out{{"1", "16", "32", "64", "100", "128", "256"}, {}};
  for (const json& row : rows)
    if (text(row, "operation") == "beside oneMKL" && text(row, "type") == "float")
      out.lines[{row.at("graph"), row.value("threads", 1)}][row.at("features").dump()] =
          row.at("ratio");
  return out.take();
}

cells update(const json& row) {
  return {text(row, "graph"), row.at("features").dump(), cell(row, "ms", 1, 3),
          cell(row.at("peer_ms"), "product_alone", 1, 3), cell(row, "ratio", 1, 2)};
}

cells sparse_product(const json& row) {
  const bool is_square = row.at("best_cusparse_ms").is_number();
  return {
      text(row, "operation"), text(row, "graph"), cell(row, "ms", 1, 2),
      is_square ? cell(row, "best_cusparse_ms", 1, 2) : cell(row.at("peer_ms"), "unmasked", 1, 2),
      cell(row, "ratio", 1, 2)};
}

cells search(const json& row) {
  const bool is_single = text(row, "operation") == "bfs";
  return {text(row, "operation"), text(row, "graph"), cell(row, "ms", 1, 2),
          is_single ? cell(row, "ratio", 1, 2) : "", is_single ? "" : cell(row, "ratio", 1, 2)};
}

cells operation(const json& row) {
  const json peers = row.value("peer_ms", json::object());
  const bool has_peer = peers.contains("products");
  return {text(row, "operation"), text(row, "graph"), cell(row, "ms", 1, 2),
          has_peer ? "" : cell(row, "share_of_ceiling", 1, 2), cell(peers, "products", 1, 2)};
}

/// What the library chose, beside the fastest form of GraphBLAS.
cells beside_graphblas(const json& row) {
  if (row.at("kernel") != row.at("chosen")) return {};
  double best = 0;
  for (const auto& [name, ms] : row.at("peer_ms").items())
    if (best == 0 || ms < best) best = ms;
  return {text(row, "operation"), text(row, "graph"), cell(row, "ms", 1, 2), digits(best, 2),
          cell(row, "ratio", 1, 2)};
}

cells of_gap(const json& row) {
  return {text(row, "operation"), text(row, "graph"), cell(row, "ms", 1, 2),
          cell(row, "share_of_ceiling", 1, 3)};
}

/// How a network computed its products: the kernel, with k or the sample size.
std::string way_of(const json& row) {
  const int k = row.value("k", 0), width = row.value("width", 0);
  return text(row, "kernel") + (k > 0 ? ", k = " + std::to_string(k) : "") +
         (width > 0 ? ", S = " + std::to_string(width) : "");
}

cells network(const json& row) {
  return {text(row, "operation"),         text(row, "graph"),
          row.at("features").dump(),      way_of(row),
          cell(row, "ms", 1, 2),          cell(row, "aggregate_ms", 1, 2),
          cell(row, "ratio", 1, 2),       cell(row, "amdahl", 1, 2),
          cell(row, "peak_bytes", 1e9, 1)};
}

/// The shares and balances of a graph's layouts, by number of ranks.
std::vector<cells> moved(const json& rows) {
  const std::vector<int> ranks{4, 16, 64, 256, 1024};
  std::map<std::pair<std::string, std::string>, cells> lines;
  for (const json& row : rows) {
    const auto at = std::ranges::find(ranks, row.at("ranks").get<int>());
    if (!row.contains("moved_share") || at == ranks.end()) continue;
    cells& line = lines[{text(row, "graph"), text(row, "operation")}];
    if (line.empty()) {
      line = {text(row, "graph"), text(row, "operation")};
      line.resize(2 + ranks.size());
    }
    line[2 + static_cast<std::size_t>(at - ranks.begin())] =
        cell(row, "moved_share", 1, 4) + " (" + cell(row, "balance", 1, 2) + ")";
  }
  std::vector<cells> out;
  for (auto& [key, line] : lines) out.push_back(std::move(line));
  return out;
}

cells over_ranks(const json& row) {
  if (row.contains("moved_share")) return {};
  const json& peers = row.at("peer_ms");
  return {text(row, "graph"),
          row.at("features").dump(),
          row.at("ranks").dump(),
          cell(row, "ms", 1, 1),
          cell(peers, "features", 1, 1),
          cell(peers, "all_gather", 1, 1),
          cell(peers, "one_rank", 1, 1),
          cell(row, "ratio", 1, 2)};
}

cells over_mpi(const json& row) {
  const json& peers = row.at("peer_ms");
  cells line{text(row, "operation"), text(row, "graph"), row.at("features").dump(),
             row.at("ranks").dump(), cell(row, "ms", 1, 2)};
  for (const char* const peer : {"features", "all_gather", "one_rank", "PETSc", "CombBLAS"})
    line.push_back(cell(peers, peer, 1, 2));
  line.push_back(cell(row, "ratio", 1, 2));
  return line;
}

cells host_time(const json& row) {
  const std::string name = text(row, "operation"), semiring = text(row, "semiring");
  if (name == "mxm") return {};  // on the device's clock
  const double ms = row.at("ms");
  const bool is_host_time = name.starts_with("host time"), has_call = !semiring.empty();
  return {name, has_call ? "`" + semiring + "`" : "", has_call ? text(row, "graph") : "",
          has_call ? row.at("features").dump() : "",
          digits(is_host_time ? 1e3 * ms : ms, 2) + (is_host_time ? " µs" : " ms")};
}

/// A section of the page. Columns from `numbers` on are aligned to the right.
struct section {
  const char* suite;
  const char* heading;
  const char* text;
  std::vector<const char*> columns;
  std::size_t numbers;
  std::vector<cells> (*lines)(const json& rows);
};

const section sections[] = {
    {"widths",
     "CPU, beside oneMKL",
     "Time of oneMKL's prepared product over that of rig's, sums in float, by F. Both use one "
     "OpenMP.",
     {"graph", "threads", "1", "16", "32", "64", "100", "128", "256"},
     1,
     beside_onemkl},
    {"analytics",
     "CPU, beside SuiteSparse:GraphBLAS",
     "The fastest form of GraphBLAS, and LAGraph's algorithms called one by one. Both use the "
     "same number of threads.",
     {"operation", "graph", "ms", "GraphBLAS, ms", "speed-up"},
     2,
     each<beside_graphblas>},
    {"ranks",
     "What a product over ranks moves",
     "The rows of X that `exchange::fetch` moves, over those that an all-gather moves; in brackets "
     "the most that a rank receives over the mean. Counted from the plans of all ranks, one after "
     "the other; no machine with so many ranks has run them.",
     {"graph", "layout", "4 ranks", "16", "64", "256", "1024"},
     2,
     moved},
    {"ranks",
     "Products over ranks of one process",
     "Ranks are threads, and share the processors that one rank uses alone. The speed-up of "
     "`fetch` is over an all-gather of X and a local product.",
     {"graph", "F", "ranks", "fetch, ms", "features, ms", "all-gather, ms", "one rank, ms",
      "speed-up"},
     1,
     each<over_ranks>},
    {"mpi",
     "Ranks of MPI, beside PETSc and CombBLAS",
     "Sums in double, and searches. Each rank has one thread, and one rank alone has as many "
     "threads as there are ranks. The speed-up is over the fastest library, of least times.",
     {"operation", "graph", "F", "ranks", "rig, ms", "features, ms", "all-gather, ms",
      "one rank, ms", "PETSc, ms", "CombBLAS, ms", "speed-up"},
     2,
     each<over_mpi>},
    {"hybrid",
     "Windows on Tensor cores",
     "Time of the faster of `row` and `split` over that of `hybrid`, in the type of B. B in float "
     "is multiplied in TF32. A has values, or one value (iso). `N%/` keeps so many of a graph's "
     "edges, `loa/` and `shuffled/` number its nodes anew.",
     {"graph", "F", "float", "float, iso A", "half", "half, iso A", "bfloat16", "bfloat16, iso A"},
     1,
     windows},
    {"update",
     "A product and its update",
     "`mxm_update` computes (A ⊕.⊗ B)·W, with W of F × F. The speed-up is over rig's product and "
     "cuBLAS in fp32, in the faster of both orders.",
     {"graph", "F", "ms", "product alone, ms", "speed-up"},
     1,
     each<update>},
    {"spgemm",
     "Products with sparse results",
     "A·A in fp32 beside the fastest of cuSPARSE's SpGEMM algorithms that runs; and triangles, a "
     "product under a mask beside the product without it.",
     {"product", "graph", "ms", "peer, ms", "speed-up"},
     2,
     each<sparse_product>},
    {"search",
     "Breadth-first searches",
     "A single search is the mean of four sources; edges count once. 64 sources at once are "
     "compared with 64 single searches.",
     {"search", "graph", "ms", "10⁹ edges per second", "over single searches"},
     2,
     each<search>},
    {"gap",
     "The six algorithms of the GAP benchmark",
     "Whole calls on the GPU. The share compares a call with a copy of the graph's bytes: once per "
     "search and per iteration, twice for betweenness. A search by pull reads fewer bytes.",
     {"algorithm", "graph", "ms", "share of the copy"},
     2,
     each<of_gap>},
    {"graph",
     "Operations besides products",
     "A share is that of the measured copy bandwidth, which counts reads and writes. Each call is "
     "waited for. PageRank is compared with as many products alone.",
     {"operation", "operand", "ms", "share of the copy", "products alone, ms"},
     2,
     each<operation>},
    {"gnn",
     "Graph neural networks",
     "An epoch is forward, backward and a step of Adam on the whole graph, with 3 layers and no "
     "dropout. `vendor` is the same trainer with cuSPARSE's products, by the algorithm that a rule "
     "selects, and the speed-up is over "
     "that. Its limit is the speed-up if products with the graph took no time. Memory is the most "
     "that was held, graph and features included.",
     {"network", "graph", "hidden", "products", "ms", "of which products", "speed-up", "limit",
      "GB"},
     4,
     each<network>},
    {"start",
     "The host's part of a call",
     "The first call of a process loads or compiles its kernel. A prepared call takes "
     "microseconds. The time of a first or second call is the median of 5 processes. A host time "
     "is the median of 51 loops of 100 calls. `plus_times` is compiled ahead; "
     "`cloned_plus_times` is the same semiring, compiled at run time.",
     {"measured", "semiring", "graph", "F", "time"},
     3,
     each<host_time>},
};

template <class Cells>
std::string line_of(const Cells& of) {
  std::string out = "|";
  for (const auto& cell : of) {
    out += ' ';
    out += cell;
    out += std::string_view(cell).empty() ? "|" : " |";
  }
  return out + "\n";
}

std::string table_of(const section& of, const json& record) {
  std::vector<std::string> rules(of.columns.size(), "---");
  for (std::size_t i = of.numbers; i < rules.size(); ++i) rules[i] = "---:";
  std::string out = std::string("\n## ") + of.heading + "\n\n" + of.text + "\n\n" +
                    line_of(of.columns) + line_of(rules);
  for (const cells& line : of.lines(record.at("rows"))) out += line_of(line);
  return out + "\nMade by " + source_of(record) + "; " + runs_of(record) + ".\n";
}

}  // namespace

std::string tables_of(const std::vector<json>& records) {
  std::string out;
  for (const section& of : sections)
    for (const json& record : records)
      if (record.at("suite") == of.suite) out += table_of(of, record);
  return out;
}

}  // namespace bench
