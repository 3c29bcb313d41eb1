// The example programs as a user runs them: answers on every data set, JSON keys, printed text.

#include <utility>

#include "programs.hpp"
#include "rig/io.hpp"
#include "rig/semirings.hpp"

namespace {

struct data_set {
  std::string name, graph;
  json expected;
};

std::vector<data_set> data_sets() {
  std::vector<data_set> found;
  if (fs::is_directory(data()))
    for (const auto& entry : fs::directory_iterator(data())) {
      const fs::path folder = entry.path(), plain = folder / "graph.mtx",
                     packed = folder / "graph.mtx.gz";
      if (!exists(folder / "expected.json")) continue;
      found.push_back({folder.filename(), exists(plain) ? plain : packed,
                       json::parse(std::ifstream(folder / "expected.json"))});
    }
  std::sort(found.begin(), found.end(),
            [](const auto& x, const auto& y) { return x.name < y.name; });
  if (found.empty()) MESSAGE("SKIPPED: there are no data sets in " << data().string());
  return found;
}

void check_spmm(const data_set& set, const char* key, const std::string& more) {
  static constexpr std::pair<const char*, const char*> reductions[] = {{"plus_second", "sum"},
                                                                       {"mean_second", "mean"},
                                                                       {"max_second", "max"},
                                                                       {"min_second", "min"}};
  const json& products = set.expected[key];
  std::string rows;
  for (const auto& [row, values] : products["sum"]["rows"].items())
    rows += (rows.empty() ? "" : ",") + row;
  for (const auto& [semiring, name] : reductions)
    for (const std::string type : {"double", "float"}) {
      if (type == "double" && std::string_view(semiring) != "plus_second") continue;
      const double tolerance = type == "double" ? 1e-10 : 1e-5;
      const auto got =
          answer("spmm --features 32 --semiring " + std::string(semiring) + " --type " + type +
                 " --rows " + rows + " --graph " + set.graph + more);
      CAPTURE(set.name);
      CAPTURE(semiring);
      CAPTURE(type);
      CHECK(got["n"] == set.expected["n"]);
      CHECK(got["nnz"] == set.expected["nnz"]);
      CHECK(got["semiring"] == semiring);
      CHECK(got["type"] == type);
      CHECK(close(got["fro"], products[name]["fro"], tolerance));
      CHECK(close(got["total"], products[name]["total"], tolerance));
      CHECK(got["rows"].size() == products[name]["rows"].size());
      for (const auto& [row, values] : products[name]["rows"].items())
        for (std::size_t j = 0; j < 4; ++j) {
          const auto x = got["rows"][row][j].get<double>(), y = values[j].get<double>();
          CHECK(std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y)));
        }
    }
}

}  // namespace

TEST_CASE("spmm of the data sets") {
  for (const data_set& set : data_sets()) {
    check_spmm(set, "spmm", "");
    if (set.expected.contains("spmm_t")) check_spmm(set, "spmm_t", " --transpose");
  }
}

TEST_CASE("pagerank of the data sets") {
  for (const data_set& set : data_sets()) {
    CAPTURE(set.name);
    const json& expected = set.expected["pagerank"];
    const auto got = answer("pagerank --graph " + set.graph);
    CHECK(got["n"] == set.expected["n"]);
    CHECK(got["iterations"] == expected["iterations"]);
    CHECK(close(got["sum"], 1.0, 1e-12));
    CHECK(close(got["norm2"], expected["fro"], 1e-10));
    REQUIRE(got["top"].size() == expected["top"].size());
    for (std::size_t k = 0; k < expected["top"].size(); ++k) {
      CHECK(got["top"][k][0] == expected["top"][k][0]);
      CHECK(close(got["top"][k][1], expected["top"][k][1], 1e-10));
    }
  }
}

TEST_CASE("JSON keys") {
  using keys = std::vector<std::string>;
  CHECK(keys_of(answer("spmm --generate karate --semiring plus_times --features 3 --any-order")) ==
        keys{"n", "m", "nnz", "features", "semiring", "type", "feature_type", "device", "kernel",
             "ms", "fro", "total", "rows"});
  CHECK(keys_of(answer("spmm --generate karate --feature-type int8 --device cpu")) ==
        keys{"n", "m", "nnz", "features", "semiring", "type", "feature_type", "step", "device",
             "kernel", "ms", "fro", "total", "rows"});
  CHECK(keys_of(answer("spmm --generate karate --device cpu --kernel fastrand --width 4")) ==
        keys{"n", "m", "nnz", "features", "semiring", "type", "feature_type", "device", "kernel",
             "kept", "distinct", "kept_share", "ms", "fro", "total", "rows"});
  CHECK(keys_of(answer("spmm --generate karate --device cpu --kernel maxk --k 4")) ==
        keys{"n", "m", "nnz", "features", "semiring", "type", "feature_type", "device", "kernel",
             "k", "ms", "fro", "total", "rows"});
  const auto kept = answer("maxk --generate karate");
  CHECK(keys_of(kept) == keys{"n", "m", "nnz", "features", "k", "aggregate", "device", "forward",
                              "backward", "ms", "fro", "total", "gradient_fro", "slope",
                              "difference", "error", "left_out"});
  CHECK(keys_of(kept["ms"]) == keys{"maxk", "forward", "backward", "dense"});
  CHECK(keys_of(answer("pagerank --generate karate")) ==
        keys{"n", "iterations", "sum", "norm2", "top", "ms"});
  CHECK(keys_of(answer("bfs --generate karate --source 30")) ==
        keys{"source", "reached", "max_level", "sum_levels", "per_level", "ms"});
  CHECK(keys_of(answer("bfs --generate karate --sources 2")) ==
        keys{"sources", "reached", "max_level", "sum_levels", "per_level", "ms"});
  CHECK(keys_of(answer("sssp --generate karate --weights synthetic")) ==
        keys{"source", "reached", "max", "sum", "ms"});
  CHECK(keys_of(answer("components --generate karate")) ==
        keys{"count", "largest", "sum_min_index", "ms"});
  CHECK(keys_of(answer("scc --generate karate")) == keys{"count", "largest", "ms"});
  CHECK(keys_of(answer("betweenness --generate karate --sources all")) == keys{"top", "sum", "ms"});
  const auto layer = answer("sage --generate karate --aggregate mean --hidden 8");
  CHECK(keys_of(layer) == keys{"n", "features", "aggregate", "kernel", "ms", "fro", "total"});
  CHECK(keys_of(layer["ms"]) == keys{"transform", "aggregate", "combine"});
  const auto few =
      answer("spmm --generate karate --features 3 --rows 33,0 --repeat 3 --threads 1 --device cpu");
  CHECK(few["rows"]["33"].size() == 3);
  CHECK(few["rows"].size() == 2);
  CHECK(few["device"] == "cpu");
  const outcome twice = run("spmm --generate karate --features 1 --rows 1,2,1 --json");
  CHECK(twice.out.find("\"1\": ") == twice.out.rfind("\"1\": "));
  CHECK(keys_of(ordered_json::parse(twice.out)["rows"]) == keys{"1", "2"});
}

TEST_CASE("triangles, cores, sets, communities, similar nodes and forests: keys and answers") {
  using keys = std::vector<std::string>;
  const auto triangles = answer("triangles --generate karate");
  CHECK(keys_of(triangles) == keys{"triangles", "ms"});
  CHECK(triangles["triangles"] == 45);
  CHECK(keys_of(answer("lcc --generate karate --directed")) == keys{"mean", "ms"});
  const auto truss = answer("ktruss --generate karate --k 4");
  CHECK(keys_of(truss) == keys{"edges", "ms"});
  CHECK(truss["edges"] == 25);
  const auto pairs = answer("bipartite_matching --generate karate");
  CHECK(keys_of(pairs) == keys{"pairs", "ms"});
  CHECK(pairs["pairs"] == 27);
  const auto bounds = answer("diameter --generate karate");
  CHECK(keys_of(bounds) == keys{"lower", "upper", "ms"});
  CHECK(bounds["lower"] == 5);
  const auto steps = answer("eccentricity --generate karate");
  CHECK(keys_of(steps) == keys{"sources", "least", "most", "top", "ms"});
  CHECK(steps["least"] == 3);
  CHECK(steps["most"] == 5);
  CHECK(answer("eccentricity --generate karate --sources 2")["sources"] == 2);
  CHECK(keys_of(answer("hits --generate karate")) == keys{"iterations", "top", "ms"});
  CHECK(answer("hits --generate grid:1:300")["unsettled"] > 1e-10);
  CHECK(answer("pagerank --generate grid:1:3 --damping 0.9999")["unsettled"] > 1e-10);
  const auto cores = answer("kcore --generate karate");
  CHECK(keys_of(cores) == keys{"max", "ms"});
  CHECK(cores["max"] == 4);
  CHECK(keys_of(answer("mis --generate karate --seed 3")) == keys{"size", "ms"});
  CHECK(keys_of(answer("label_propagation --generate karate --iterations 2")) ==
        keys{"communities", "ms"});
  const auto similar = answer("jaccard --generate karate --node 33");
  CHECK(keys_of(similar) == keys{"top", "ms"});
  CHECK(similar["top"].size() == 10);
  const auto edges = answer("jaccard --generate karate --edges");
  CHECK(keys_of(edges) == keys{"arcs", "mean", "greatest", "ms"});
  CHECK(edges["arcs"] == 156);
  const auto forest = answer("msf --generate karate --weights synthetic");
  CHECK(keys_of(forest) == keys{"weight", "edges", "ms"});
  CHECK(forest["weight"] == 461);
  const scratch pair("pair.txt", "0 1\n1 0\n");
  CHECK(answer("betweenness --graph " + pair.path.string())["sum"] == 0);
}

TEST_CASE("reorder: keys, tiles, and the file of positions") {
  const scratch file("positions.txt");
  for (const std::string name : {"loa", "degree", "rcm"}) {
    const auto got = answer("reorder --generate cliques:64:20 --ordering " + name + " --output " +
                            file.path.string());
    CHECK(keys_of(got) == std::vector<std::string>{"ordering", "ms", "entries_per_tile_before",
                                                   "entries_per_tile_after"});
    CHECK(got["ordering"] == name);
    // Three cliques of 20 and one of 4; windows of 20, 40, 40 and 24 columns.
    CHECK(close(got["entries_per_tile_before"], (3 * 380 + 12) / 16.0, 1e-12));
    CHECK(got["entries_per_tile_after"] > 0);
    std::vector<int> positions;
    std::ifstream lines(file.path);
    for (int position; lines >> position;) positions.push_back(position);
    std::sort(positions.begin(), positions.end());
    REQUIRE(positions.size() == 64);
    for (int k = 0; k < 64; ++k) CHECK(positions[static_cast<std::size_t>(k)] == k);
  }
}

TEST_CASE("every semiring in float and double, by every kernel that serves it") {
  static constexpr const char* names[] = {
#define RIG_NAME(name) #name,
#include "rig/semiring_names.def"
#undef RIG_NAME
  };
  for (const char* name : names) {
    const std::string command =
        std::string("spmm --generate karate --features 5 --semiring ") + name;
    const auto exact = answer(command);
    CHECK(exact["fro"].get<double>() > 0);
    for (const std::string kernel : {"row", "split"}) {
      const auto got = answer(command + " --kernel " + kernel);
      CAPTURE(name);
      CHECK(got["kernel"] == kernel);
      CHECK(close(got["fro"], exact["fro"], 1e-5));
      CHECK(std::abs(got["total"].get<double>() - exact["total"].get<double>()) < 1e-4);
    }
  }
}

TEST_CASE("features in other types change answers by no more than their rounding") {
  // Of a sum each of at most 17 terms is rounded.
  for (const auto& [type, semiring, terms] :
       {std::tuple<std::string, std::string, int>{"float", "mean_second", 1},
        {"double", "plus_second", 17}}) {
    const std::string command =
        "spmm --device cpu --generate karate --features 40 --rows 0,33 --semiring " + semiring;
    const auto exact = answer(command + " --type " + type);
    CHECK(exact["feature_type"] == type);
    for (const std::string stored : {"float", "double", "half", "bfloat16", "int8"}) {
      const auto got = answer(command + " --type " + type + " --feature-type " + stored);
      CAPTURE(stored);
      CHECK(got["type"] == type);
      CHECK(got["feature_type"] == stored);
      CHECK(got.contains("step") == (stored == "int8"));
      if (stored == "int8") CHECK(close(got["step"], 2.0 / 255, 1e-2));
      const double off = stored == "int8"       ? got["step"].get<double>() / 2
                         : stored == "bfloat16" ? 0x1p-9
                         : stored == "half"     ? 0x1p-12
                                                : 0;
      for (const char* row : {"0", "33"})
        for (int j = 0; j < 4; ++j)
          CHECK(std::abs(got["rows"][row][j].get<double>() - exact["rows"][row][j].get<double>()) <=
                terms * (off + 1e-6));
    }
  }
}

TEST_CASE("a graph with values, an edge list, and more columns than rows") {
  const scratch weighted(
      "weighted.mtx",
      "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n1 3 -1\n2 2 .5\n");
  const std::string file = weighted.path.string();
  const auto times = answer("spmm --type double --features 4 --rows 0,1 --graph " + file);
  CHECK(times["n"] == 2);
  CHECK(times["m"] == 3);
  CHECK(close(times["rows"]["0"][1], 2 * std::sin(1.13) - std::sin(0.74 + 1.13), 1e-14));
  CHECK(close(times["rows"]["1"][0], 0.5 * std::sin(0.37), 1e-14));
  const auto back = answer("spmm --transpose --type double --features 4 --rows 2 --graph " + file);
  CHECK(close(back["rows"]["2"][1], -std::sin(1.13), 1e-14));
  check_fails("pagerank --graph " + file, 1, file);
  check_fails("sage --graph " + file, 1, file);

  const scratch edges("edges.txt", "# from to\n0 1\n1 2\n2 0\n0 2\n");
  const auto ranks = answer("pagerank --graph " + edges.path.string());
  CHECK(ranks["n"] == 3);
  CHECK(ranks["top"][0][0] == 2);
}

TEST_CASE("spmm: sampled kernels report the entries that they keep") {
  const std::string count = "spmm --generate rmat:10:8 --device cpu --semiring plus_pair ";
  const auto exact = answer(count);
  for (const std::string kernel : {"bucket", "fastrand", "adaptive"}) {
    const std::string sampled = count + "--kernel " + kernel + " --width ";
    const auto few = answer(sampled + "16"), whole = answer(sampled + "4096");
    const auto features = few["features"].get<double>();
    CHECK(few["kernel"] == kernel);
    CHECK(few["kept"] < few["nnz"]);
    CHECK(few["distinct"] <= few["kept"]);
    // plus_pair counts the products.
    CHECK(few["total"].get<double>() == few["kept"].get<double>() * features);
    CHECK(close(answer(sampled + "16 --rescale")["fro"], exact["fro"], 1e-6));
    CHECK(whole["kept_share"] == 1);
    CHECK(whole["fro"] == exact["fro"]);
  }
}

TEST_CASE("maxk: the product equals spmm's, and the gradient equals the slope") {
  const std::string shapes = " --generate rmat:10:8 --features 40 --k ";
  for (const std::string k : {"1", "7", "40"}) {
    const auto by_name =
                   answer("spmm --device cpu --kernel maxk --semiring plus_times" + shapes + k),
               made = answer("maxk" + shapes + k),
               mean = answer("maxk --aggregate mean" + shapes + k);
    CHECK(by_name["k"] == made["k"]);
    CHECK(made["forward"] == "maxk");
    CHECK(made["backward"] == "maxk_backward");
    CHECK(close(made["fro"], by_name["fro"], 1e-6));
    CHECK(close(mean["fro"],
                answer("spmm --device cpu --kernel maxk --semiring mean_times" + shapes + k)["fro"],
                1e-6));
    for (const auto& got : {made, mean}) {
      CHECK(got["error"].get<double>() < 1e-7);
      CHECK(std::abs(got["slope"].get<double>()) > 1e-3);
      CHECK(got["left_out"] < 20);
    }
    if (k != "40") continue;  // k = F keeps all elements, so the product is the dense one
    CHECK(close(made["fro"],
                answer("spmm --device cpu --semiring plus_times" +
                       shapes.substr(0, shapes.rfind(" --k")))["fro"],
                1e-6));
  }
}

TEST_CASE("sage: a layer does not depend on place, threads, kernel, or how features are stored") {
  const auto agree = [](const ordered_json& x, const ordered_json& y, double tolerance) {
    CHECK(close(x["fro"], y["fro"], tolerance));
    CHECK(std::abs(x["total"].get<double>() - y["total"].get<double>()) <=
          tolerance * 1e3 * x["fro"].get<double>());
  };
  for (const std::string way : {"pool", "mean", "gcn"}) {
    const std::string command = "sage --hidden 16 --aggregate " + way;
    const auto one = answer(command + " --generate rmat:10:8 --threads 1");
    CAPTURE(way);
    CHECK(one["n"] == 1024);
    CHECK(one["features"] == 64);
    CHECK(one["aggregate"] == way);
    CHECK(one["fro"].get<double>() > 0);
    const auto three = answer(command + " --generate rmat:10:8 --threads 3");
    CHECK(one["fro"] == three["fro"]);
    CHECK(one["total"] == three["total"]);
    agree(one, answer(command + " --generate rmat:10:8 --kernel split"), 1e-6);
    agree(one, answer(command + " --generate rmat:10:8 --device cpu"), 1e-5);
    CHECK(one["fro"] != answer(command + " --generate rmat:10:8 --seed 2")["fro"]);

    const fs::path features = data() / "cora" / "features.mtx.gz",
                   graph = data() / "cora" / "graph.mtx";
    if (!exists(features)) {
      MESSAGE("SKIPPED: there is no " << features.string());
      continue;
    }
    const auto sparse =
        answer(command + " --graph " + graph.string() + " --features " + features.string());
    CHECK(sparse["features"] == 1433);
    scratch copy("features.npy");
    rig::write_dense(copy.path.string(), rig::read_dense<float>(features.string()));
    agree(sparse,
          answer(command + " --graph " + graph.string() + " --features " + copy.path.string()),
          1e-5);
    check_fails(command + " --generate karate --features " + features.string(), 1, "2708x1433");
  }
}

TEST_CASE("operations: each call with its operands and its result") {
  const auto all = answer("operations --generate karate")["results"];
  CHECK(keys_of(all) ==
        std::vector<std::string>{"extract",      "apply_own",    "select",         "select_own",
                                 "ewise_add",    "ewise_mult",   "apply",          "apply_number",
                                 "edge_softmax", "reduce_rows",  "reduce_columns", "reduce",
                                 "transpose",    "extract_rows", "extract_row",    "assign",
                                 "at",           "kronecker",    "diag",           "diag_matrix",
                                 "from_tuples",  "to_tuples",    "accumulator",    "mask",
                                 "replace",      "vector_add",   "vector_select",  "vector_assign",
                                 "dense_apply",  "mxm"});
  CHECK(all["select"] == json::parse("[[1,0,10],[2,0,20],[2,1,21],[3,0,30],[3,1,31],[3,2,32],"
                                     "[4,0,40]]"));
  CHECK(all["ewise_mult"] == json::parse("[[1,0,100],[2,0,400],[3,0,900],[3,2,1024],[4,0,1600]]"));
  CHECK(all["reduce"] == 242);
  CHECK(all["reduce_rows"] == json::parse("[[0,1,10],[0,2,41],[0,3,93],[0,4,40]]"));
  CHECK(all["from_tuples"] == json::parse("[[0,2,5],[2,1,4]]"));
  CHECK(all["at"] == 32);
  CHECK(all["vector_assign"] == json::parse("[[0,0,1],[0,3,5],[0,4,5]]"));
  CHECK(all["mxm"] == json::parse("[[40,41],[30,31],[30,31],[20,21],[0,1]]"));

  const outcome shown = run("operations --generate karate --device cpu --explain");
  CHECK(shown.status == 0);
  for (const char* part :
       {"chosen: ", "karate on cpu\n",
        "\nreduce: the sum of all entries\n  rig::reduce(A, rig::binary::plus)\n"
        "    A                 result\n     .  1  2  3  4    242\n    10  . 12 13  .\n"})
    CHECK(shown.out.find(part) != std::string::npos);
  const scratch edges("few.txt", "0 1\n1 2\n");
  check_fails("operations --graph " + edges.path.string(), 1, "3x3");
}

TEST_CASE("RIG_KERNEL prefers a kernel in a process") {
  setenv("RIG_KERNEL", "split", 1);
  const outcome shown = run("spmm --generate karate --device cpu --explain");
  unsetenv("RIG_KERNEL");
  CAPTURE(shown.out);
  CHECK(shown.out.find("chosen: split") != std::string::npos);
}

TEST_CASE("printed text: sizes, kernel, reason, time; --explain; --help") {
  for (const std::string program : {"spmm", "pagerank", "sage", "maxk"}) {
    const outcome shown = run(program + " --generate karate --explain");
    CAPTURE(shown.out);
    CHECK(shown.status == 0);
    CHECK(shown.err.empty());
    for (const char* part : {"karate", "row", "split", "chosen: ", "ms"})
      CHECK(shown.out.find(part) != std::string::npos);
    const outcome split = run(program + " --generate karate --explain --json");
    CHECK(json::accept(split.out));
    CHECK(split.err.find("chosen: ") != std::string::npos);
    const outcome help = run(program + " --help");
    CHECK(help.status == 0);
    CHECK(help.out.find("--generate") != std::string::npos);
  }
}
