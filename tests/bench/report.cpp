// Makes one page from records.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bench.hpp"

namespace bench {
namespace {

using json = nlohmann::json;

/// Three significant digits without an exponent; empty for null.
std::string number(const json& value) {
  if (!value.is_number()) return "";
  if (value.is_number_integer()) return std::to_string(value.get<long>());
  const double x = value.get<double>();
  const int before = x == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(x)))) + 1;
  return digits(x, std::clamp(3 - before, 0, 6));
}

std::string text(const json& value) {
  return value.is_string() ? value.get<std::string>() : number(value);
}

struct column {
  std::string title;
  std::function<std::string(const json& row)> cell;
};

std::string line_of(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out.append(" ").append(cell).append(" |");
  return out + "\n";
}

/// A table of rows; empty columns are left out.
std::string table_of(const std::vector<json>& rows, std::vector<column> columns) {
  std::erase_if(columns, [&](const column& of) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const json& row) { return of.cell(row).empty(); });
  });
  std::vector<std::string> titles;
  for (const column& of : columns) titles.push_back(of.title);
  std::string out = line_of(titles) + line_of(std::vector<std::string>(columns.size(), "---"));
  for (const json& row : rows) {
    std::vector<std::string> cells;
    for (const column& of : columns) cells.push_back(of.cell(row));
    out += line_of(cells);
  }
  return out;
}

std::vector<std::string> peers_of(const json& row) {
  std::vector<std::string> names;
  for (const auto& peer : row.at("peer_ms").items()) names.push_back(peer.key());
  return names;
}

/// A table of rows that have the same peers.
std::string table_of_race(const std::vector<json>& rows) {
  const auto plain = [](const char* key) {
    return [key](const json& row) { return text(row.at(key)); };
  };
  std::vector<column> columns = {
      {"operation", plain("operation")},
      {"graph", plain("graph")},
      {"entries", plain("nnz")},
      {"F",
       [](const json& row) { return row.at("features") == 0 ? "" : text(row.at("features")); }},
      {"k", [](const json& row) { return row.contains("k") ? text(row.at("k")) : ""; }},
      {"semiring", plain("semiring")},
      {"type", plain("type")},
      {"kernel",
       [](const json& row) {
         return text(row.at("kernel")) +
                (row.at("kernel") == row.at("chosen") ? "" : " (not chosen)");
       }},
      {"ms", plain("ms")},
      {"GB/s",
       [](const json& row) {
         return number(row.at("bytes").get<double>() / row.at("ms").get<double>() / 1e6);
       }},
      {"share of ceiling", plain("share_of_ceiling")},
      {"prepare ms", plain("prepare_ms")},
      {"best cuSPARSE ms", plain("best_cusparse_ms")},
      {"ratio", plain("ratio")}};
  for (const std::string& name : peers_of(rows.front()))
    columns.push_back({name + " ms", [name](const json& row) {
                         const json& ms = row.at("peer_ms");
                         return ms.contains(name) ? number(ms.at(name)) : "";
                       }});
  return table_of(rows, std::move(columns));
}

/// A table of sampled kernels: a line per graph, F, type and width, with the kernels side by side.
std::string table_of_samples(const std::vector<json>& rows) {
  std::vector<json> lines;
  std::map<std::vector<json>, std::size_t> places;
  std::vector<std::string> kernels;
  for (const json& row : rows) {
    const std::string kernel = row.at("kernel");
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
      kernels.push_back(kernel);
    const auto [at, is_new] = places.try_emplace(
        {row.at("graph"), row.at("features"), row.at("type"), row.at("width")}, lines.size());
    if (is_new) lines.push_back(row);
    lines[at->second]["by"][kernel] = row;
  }
  const auto plain = [](const char* key) {
    return [key](const json& line) { return text(line.at(key)); };
  };
  std::vector<column> columns = {{"graph", plain("graph")},
                                 {"F", plain("features")},
                                 {"type", plain("type")},
                                 {"S", plain("width")},
                                 {"best cuSPARSE ms", plain("best_cusparse_ms")},
                                 {"exact ms", plain("exact_ms")}};
  using figure = std::function<json(const json& row)>;
  const auto add = [&](const std::string& title, const figure& of) {
    for (const std::string& kernel : kernels)
      columns.push_back({std::string(kernel).append(" ").append(title),
                         [kernel, of](const json& line) -> std::string {
                           const json& by = line.at("by");
                           return by.contains(kernel) ? number(of(by.at(kernel))) : "";
                         }});
  };
  add("kept", [](const json& row) { return row.at("kept_share"); });
  add("ms", [](const json& row) { return row.at("ms"); });
  add("ratio", [](const json& row) { return row.at("ratio"); });
  add("over control", [](const json& row) -> json {
    if (!row.contains("control_ms")) return nullptr;
    return row.at("ms").get<double>() / row.at("control_ms").get<double>();
  });
  add("error", [](const json& row) { return row.value("error", json()); });
  add("share of ceiling", [](const json& row) { return row.at("share_of_ceiling"); });
  return table_of(lines, std::move(columns));
}

/// A table of products with a cbsr, for one operation.
std::string table_of_top_k(const std::vector<json>& rows) {
  const auto plain = [](const char* key) {
    return [key](const json& row) { return row.contains(key) ? text(row.at(key)) : std::string(); };
  };
  const auto over = [](const json& row, double number_above) {
    return number(number_above / row.at("ms").get<double>());
  };
  return table_of(
      rows,
      {{"operation", plain("operation")},
       {"graph", plain("graph")},
       {"F", plain("features")},
       {"k", plain("k")},
       {"ms", plain("ms")},
       {"best cuSPARSE ms", plain("best_cusparse_ms")},
       {"ratio", plain("ratio")},
       {"published ratio", plain("published")},
       {"exact ms", plain("exact_ms")},
       {"over exact", [=](const json& row) { return over(row, row.at("exact_ms").get<double>()); }},
       {"GB", [](const json& row) { return number(row.at("bytes").get<double>() / 1e9); }},
       {"GB/s", [=](const json& row) { return over(row, row.at("bytes").get<double>() / 1e6); }},
       {"share of ceiling", plain("share_of_ceiling")},
       {"prepare ms", plain("prepare_ms")}});
}

/// The tables of an ablation: one per semiring and F, with the graphs side by side. The first of
/// each race has its milliseconds, and the others have their ratio to it.
std::string tables_of_ablation(const std::vector<json>& rows) {
  struct table {
    std::string title;
    std::vector<std::string> graphs;
    std::vector<std::string> operations;
    std::map<std::pair<std::string, std::string>, json> cells;
  };
  std::vector<table> tables;
  const auto place = [](auto& list, const auto& what, const auto& is) -> auto& {
    auto at = std::find_if(list.begin(), list.end(), is);
    return at == list.end() ? list.emplace_back(what) : *at;
  };
  for (const json& row : rows) {
    const std::string title = text(row.at("semiring")) + ", F = " + text(row.at("features")),
                      graph = row.at("graph"), operation = row.at("operation");
    table& of = place(tables, table{title, {}, {}, {}},
                      [&](const table& other) { return other.title == title; });
    place(of.graphs, graph, [&](const std::string& other) { return other == graph; });
    place(of.operations, operation, [&](const std::string& other) { return other == operation; });
    of.cells.try_emplace({operation, graph}, row);
  }
  std::string out;
  for (const table& of : tables) {
    std::vector<std::string> titles = {of.title};
    titles.insert(titles.end(), of.graphs.begin(), of.graphs.end());
    out += "\n" + line_of(titles) + line_of(std::vector<std::string>(titles.size(), "---"));
    for (const std::string& operation : of.operations) {
      std::vector<std::string> cells = {operation};
      for (const std::string& graph : of.graphs) {
        const auto cell = of.cells.find({operation, graph});
        if (cell == of.cells.end())
          cells.emplace_back();
        else if (operation == of.operations.front())
          cells.push_back(number(cell->second.at("ms")) + " ms");
        else
          cells.push_back(number(cell->second.at("ratio")));
      }
      out += line_of(cells);
    }
  }
  return out;
}

std::string table_of_loading(const std::vector<json>& rows) {
  const auto plain = [](const char* key) {
    return [key](const json& row) { return row.contains(key) ? text(row.at(key)) : std::string(); };
  };
  return table_of(rows, {{"operation", plain("operation")},
                         {"graph", plain("graph")},
                         {"F", plain("features")},
                         {"type", plain("type")},
                         {"kernel", plain("kernel")},
                         {"S", plain("width")},
                         {"ms", plain("ms")},
                         {"loading", plain("load_share")}});
}

/// Writes the plots of a record under unused names; returns the text that shows them.
std::string show_plots(const json& record, const std::string& folder,
                       std::set<std::string>& taken) {
  std::string out;
  for (plot& one : plots_of(record)) {
    const std::string name = one.name;
    for (int i = 2; !taken.insert(one.name).second; ++i) one.name = name + "_" + std::to_string(i);
    out += "![" + one.alternative + "](" + write_plot(one, folder) + ")\n\n";
  }
  return out;
}

/// The missed targets of a record, or nothing.
std::string missed_of(const json& record) {
  std::string out;
  for (const json& what : record.value("missed", json::array()))
    out.append(out.empty() ? "" : "; ").append(text(what));
  return out;
}

/// `plots` is the text that shows the plots.
std::string section(const json& record, const std::string& notes, const std::string& plots) {
  const std::string suite = record.at("suite");
  const std::string date = record.at("date");
  std::string out = "\n## " + suite + "\n\n" + plots;
  out += "`" + text(record.at("command")) + "`, " + date.substr(0, 10) + ", commit " +
         text(record.at("commit")) + ", " + text(record.at("cpu")) + ", " +
         text(record.at("threads")) + " threads";
  for (const char* key : {"gpu", "driver", "toolkit"})
    if (record.at(key).is_string()) out += ", " + text(record.at(key));
  out += ". Median of " + text(record.at("repeat")) +
         ". Load of the machine before and after: " + number(record.at("load").at(0)) + ", " +
         number(record.at("load").at(1)) + ".\n";

  for (const auto& peer : record.at("peers").items())
    out += "Peer " + peer.key() + " is " + text(peer.value()) + ".\n";
  if (!record.at("ceilings").empty()) {
    std::vector<std::string> parts;
    for (const auto& ceiling : record.at("ceilings").items())
      parts.push_back(ceiling.key() + " " + number(ceiling.value()));
    out += "Ceilings, GB/s: ";
    for (const std::string& part : parts) out += (&part == parts.data() ? "" : ", ") + part;
    out += ".\n";
  }
  if (!record.at("summary").empty()) {
    out += "\n| summary | |\n| --- | --- |\n";
    for (const auto& entry : record.at("summary").items())
      out += line_of({entry.key(), number(entry.value())});
  }
  if (const std::string missed = missed_of(record); !missed.empty())
    out += "\nMissed: " + missed + ".\n";

  const std::string notes_path = (std::filesystem::path(notes) / (suite + ".md")).string();
  if (std::ifstream file(notes_path); file) {
    std::ostringstream all;
    all << file.rdbuf();
    out += "\n" + all.str();
  }

  std::map<std::vector<std::string>, std::vector<json>> races;
  std::vector<std::vector<std::string>> order;
  std::vector<json> samples, loads, ablated;
  std::vector<std::pair<std::string, std::vector<json>>> top_k;  // by operation
  for (const json& row : record.at("rows")) {
    if (row.at("suite") == "ablation") {
      ablated.push_back(row);
      continue;
    }
    if (row.contains("load_share") || row.contains("width")) {
      (row.contains("load_share") ? loads : samples).push_back(row);
      continue;
    }
    if (row.contains("k") && row.contains("exact_ms")) {
      const std::string operation = row.at("operation");
      auto at = std::find_if(top_k.begin(), top_k.end(),
                             [&](const auto& table) { return table.first == operation; });
      if (at == top_k.end()) at = top_k.insert(at, {operation, {}});
      at->second.push_back(row);
      continue;
    }
    std::vector<json>& race = races[peers_of(row)];
    if (race.empty()) order.push_back(peers_of(row));
    race.push_back(row);
  }
  for (const auto& peers : order) out += "\n" + table_of_race(races[peers]);
  if (!samples.empty()) out += "\n" + table_of_samples(samples);
  for (const auto& table : top_k) out += "\n" + table_of_top_k(table.second);
  if (!loads.empty()) out += "\n" + table_of_loading(loads);
  out += tables_of_ablation(ablated);
  return out;
}

}  // namespace

json load_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  try {
    return json::parse(file);
  } catch (const json::exception& wrong) {
    throw std::runtime_error(path + ": " + wrong.what());
  }
}

std::string report(std::span<const std::string> records, const std::string& notes,
                   const std::string& plots) {
  std::string out =
      "# Measured\n\nMade by `build/bench report docs/records/*.json`; the "
      "notes are from "
      "docs/lab, the\nplots in docs/plots are made by the same command.\n\n"
      "ms are medians; a ratio says how many times as long the best peer takes, so more than 1 is "
      "faster than "
      "it. Bytes are those of\nA, of a row of B an entry, and of C, as if nothing were cached: "
      "with caches a "
      "share of the ceiling may exceed 1.\n";
  std::string falls_short, sections;
  std::set<std::string> taken;
  for (const std::string& path : records) {
    const json record = load_record(path);
    if (const std::string missed = missed_of(record); !missed.empty())
      falls_short += line_of({record.at("suite"), missed});
    sections += section(record, notes, plots.empty() ? "" : show_plots(record, plots, taken));
  }
  if (!falls_short.empty()) out += "\n| what falls short | |\n| --- | --- |\n" + falls_short;
  return out + sections;
}

}  // namespace bench
