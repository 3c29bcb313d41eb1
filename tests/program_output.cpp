// What the example programs read and write: a graph's file alone, and the files of --output.

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "programs.hpp"
#include "rig/rig.hpp"

namespace {

/// Two parts, one of them with weights, a cycle and a self loop; and a node of its own.
const char* const some_edges =
    "%%MatrixMarket matrix coordinate real general\n9 9 10\n1 2 1.5\n2 3 2\n3 1 1000000\n"
    "1 4 0.25\n4 3 7\n4 4 3\n5 6 1\n6 7 4\n7 5 2\n5 7 9\n";

/// The numbers of a file of text, line by line.
std::vector<std::vector<double>> rows_of(const fs::path& path) {
  std::vector<std::vector<double>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    auto& row = rows.emplace_back();
    // A stream reads no "inf".
    for (std::string word; words >> word;) row.push_back(std::strtod(word.c_str(), nullptr));
  }
  return rows;
}

/// Runs a program with --output as text and as .npy, which must agree, and returns the rows.
std::vector<std::vector<double>> output_of(const std::string& command) {
  const scratch text("output.txt"), array("output.npy");
  const auto shown = answer(command + " --output " + text.path.string());
  answer(command + " --output " + array.path.string());
  const auto rows = rows_of(text.path);
  const auto numbers = rig::read_dense<double>(array.path.string());
  CAPTURE(command);
  REQUIRE(static_cast<rig::index>(rows.size()) == numbers.rows());
  for (rig::index i = 0; i < numbers.rows(); ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    REQUIRE(static_cast<rig::index>(row.size()) == numbers.columns());
    // Text of a float reads back to the float, not to its double.
    for (rig::index j = 0; j < numbers.columns(); ++j) {
      const double written = row[static_cast<std::size_t>(j)];
      CHECK((written == numbers(i, j) || static_cast<float>(written) == numbers(i, j)));
    }
  }
  return rows;
}

template <class T>
void check_equal(const std::vector<std::vector<double>>& rows, const rig::dense<T>& expected) {
  REQUIRE(static_cast<rig::index>(rows.size()) == expected.rows());
  for (rig::index i = 0; i < expected.rows(); ++i)
    for (rig::index j = 0; j < expected.columns(); ++j)
      CHECK(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] ==
            static_cast<double>(expected(i, j)));
}

/// An answer without its times.
ordered_json without_times(ordered_json answer) {
  answer.erase("ms");
  return answer;
}

}  // namespace

TEST_CASE("a graph's file may stand alone, in any place") {
  const scratch file("alone.mtx", some_edges);
  const std::string path = file.path.string();
  for (const std::string& program : graph_programs) {
    CAPTURE(program);
    const auto named = without_times(answer(program + " --graph " + path));
    CHECK(without_times(answer(program + " " + path)) == named);
    CHECK(without_times(answer(program + " --threads 1 " + path + " --device cpu")) == named);
    const outcome help = run(program + " --help");
    CHECK(help.out.starts_with("Usage: " + program + " [FILE] [options]\n"));
    CHECK(help.out.find("Exit status: 0; 1 if the run fails; 2 if the command line is wrong.") !=
          std::string::npos);
  }
  CHECK(run("spmm --explain " + path).out.find("chosen: ") != std::string::npos);
}

TEST_CASE("--output: a line per node, equal to what the algorithm returns") {
  const scratch file("output.mtx", some_edges);
  const std::string path = " --device cpu " + file.path.string();
  const auto weighted = rig::read_matrix<double>(file.path.string());
  const auto a = weighted.with_value(1.0);
  check_equal(output_of("bfs --source 1" + path), rig::bfs(a, 1).levels);
  check_equal(output_of("bfs --sources 3" + path),
              rig::multi_source(a, std::vector<int>{0, 1, 2}).levels);
  check_equal(output_of("sssp" + path), rig::sssp(weighted, 0).distances);
  CHECK(output_of("sssp --weights synthetic" + path)[8][0] == 0x1p63);
  check_equal(output_of("components" + path), rig::components(a).labels);
  check_equal(output_of("scc" + path), rig::scc(a).labels);
  check_equal(output_of("kcore" + path), rig::kcore(a).cores);
  check_equal(output_of("ktruss" + path),
              rig::reduce_rows(rig::ktruss(a, 3).truss, rig::binary::maximum).to_dense(0));
  check_equal(output_of("bipartite_matching" + path), rig::bipartite_matching(a).columns);
  check_equal(output_of("lcc" + path), rig::local_clustering(a));
  check_equal(output_of("lcc --directed" + path), rig::local_clustering(a, {.directed = true}));
  check_equal(output_of("mis --seed 3" + path), rig::mis(a, {.seed = 3}).set.to_dense());
  check_equal(output_of("label_propagation" + path), rig::label_propagation(a).labels);
  check_equal(output_of("jaccard --node 2" + path), rig::jaccard(a, 2).to_dense());
  check_equal(output_of("eccentricity" + path), rig::eccentricity(a));
  check_equal(output_of("betweenness --sources all" + path), rig::betweenness(a));
  check_equal(output_of("pagerank" + path), rig::pagerank(a, {.tolerance = 1e-10}).ranks);
  check_equal(output_of("reorder --ordering rcm" + path), rig::reorder(a, rig::ordering::rcm));
  check_equal(output_of("triangles" + path), rig::dense<rig::int64>(1, 1, rig::triangles(a)));
}

TEST_CASE("--output: several numbers per node, and a line per edge") {
  const scratch file("more.mtx", some_edges);
  const std::string path = " --device cpu " + file.path.string();
  const auto both = output_of("hits" + path);
  const auto hits = rig::hits(rig::read_matrix<bool>(file.path.string()));
  CHECK(both.size() == 9);
  for (rig::index i = 0; i < 9; ++i)
    CHECK(both[static_cast<std::size_t>(i)] ==
          std::vector{hits.hubs(i, 0), hits.authorities(i, 0)});
  CHECK(output_of("diameter" + path) == std::vector<std::vector<double>>{{2, 2}});
  // Both directions are edges: 1-2, 1-4, 2-3 of the first part, 5-6 and 5-7 of the second.
  CHECK(output_of("msf" + path) == std::vector<std::vector<double>>{
                                       {0, 1, 1.5}, {0, 3, 0.25}, {1, 2, 2}, {4, 5, 1}, {4, 6, 2}});
  const auto similar = rig::jaccard_of_edges(rig::read_matrix<bool>(file.path.string()));
  const auto edges = output_of("jaccard --edges" + path);
  REQUIRE(edges.size() == static_cast<std::size_t>(similar.nnz()));
  auto edge = edges.begin();
  for (const auto& [i, j, value] : similar.entries())
    CHECK(*edge++ == std::vector<double>{double(i), double(j), value});
  for (const std::string program : {"spmm --features 5 --rows 3", "maxk --features 5 --k 2",
                                    "sage --hidden 5 --aggregate mean"}) {
    const auto rows = output_of(program + path);
    CHECK(rows.size() == 9);
    CHECK(rows[8].size() == 5);
  }
  const auto product = output_of("spmm --features 5 --type double" + path);
  const auto shown = answer("spmm --features 5 --type double --rows 3" + path);
  for (std::size_t j = 0; j < 4; ++j) CHECK(product[3][j] == shown["rows"]["3"][j]);
}

TEST_CASE("--help and the guide say the same of --output") {
  std::ifstream page(RIG_SOURCE_DIR "/docs/guide/programs.md");
  std::size_t rows = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    ++rows;
    const std::string program = line.substr(3, line.find('`', 3) - 3),
                      text = line.substr(line.find("| ", 3) + 2);
    std::istringstream words(run(program + " --help").out);
    std::string help;
    for (std::string word; words >> word;) help += word + " ";
    CAPTURE(line);
    CHECK(help.find("write " + text.substr(0, text.size() - 2) + "; .npy, or text") !=
          std::string::npos);
  }
  CHECK(rows == graph_programs.size());  // less operations, and gnn_infer
}

TEST_CASE("integers are printed whole, in text, in JSON and in files") {
  const scratch edges("million.txt", "0 1 1000000\n1 2 24000000\n"), file("whole.txt");
  const std::string command = "sssp " + edges.path.string();
  const outcome shown = run(command + " --output " + file.path.string());
  CHECK(shown.out.find("25000000\n") != std::string::npos);
  CHECK(shown.out.find("e+") == std::string::npos);
  CHECK(run(command + " --json").out.find("\"max\": 25000000, \"sum\": 26000000, ") !=
        std::string::npos);
  std::ostringstream text;
  text << std::ifstream(file.path).rdbuf();
  CHECK(text.str() == "0\n1000000\n25000000\n");
  // A fraction keeps its digits.
  const scratch fraction("fraction.txt", "0 1 123456.75\n");
  CHECK(run("sssp --json " + fraction.path.string()).out.find("\"max\": 123456.75,") !=
        std::string::npos);
  CHECK(run("sssp " + fraction.path.string()).out.find("123457\n") != std::string::npos);
}

TEST_CASE("RIG_VERBOSE=profile has a line for every operation of the example") {
  setenv("RIG_VERBOSE", "profile", 1);
  const outcome result = run_built("examples/operations --generate karate --json");
  unsetenv("RIG_VERBOSE");
  REQUIRE(result.status == 0);
  std::set<std::string> traced;
  std::istringstream lines(result.err);
  for (std::string line; std::getline(lines, line);) {
    REQUIRE(line.starts_with("rig,exec,cpu,"));
    const std::size_t first = std::string_view("rig,exec,cpu,").size();
    traced.insert(line.substr(first, line.find(',', first) - first));
  }
  // These make a matrix, or read one: docs/guide/trace.md.
  const std::set<std::string> none = {"at", "from_tuples", "to_tuples"};
  for (const auto& [shown, unused] : nlohmann::json::parse(result.out)["results"].items()) {
    const std::string last = shown.substr(shown.rfind('_') + 1);  // vector_add: ewise_add
    const bool has_line = std::ranges::any_of(traced, [&](const std::string& operation) {
      return shown.starts_with(operation) || operation.ends_with(last);
    });
    CAPTURE(shown);
    CHECK(has_line != none.contains(shown));
  }
}

TEST_CASE("--output and --save write regular files only, whole or not at all") {
  const scratch kept("kept.txt", "mine");
  fs::remove(kept.path);
  fs::create_directory(kept.path);
  const std::string file = kept.path / "levels.txt", pipe = kept.path / "pipe",
                    link = kept.path / "link";
  const auto text_of = [](const std::string& path) {
    std::ifstream stream(path);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const auto files = [&] {
    return std::distance(fs::directory_iterator(kept.path), fs::directory_iterator());
  };
  std::ofstream(file) << "mine";
  std::ofstream(file + ".part") << "mine too";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink("levels.txt", link);

  // A wrong source and a full disk leave the file as it was.
  check_fails("bfs --generate karate --source 34 --output " + file, 2, "34");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  check_fails("bfs --generate grid:100:100 --output " + file, 1, file + ": cannot write: ");
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(text_of(file) == "mine");
  CHECK(files() == 4);

  const std::string train = "gnn_train --data reddit-like:500 --epochs 1 --hidden 2 --device cpu";
  for (const std::string& command :
       {std::string("bfs --generate karate --output "), train + " --save "})
    check_fails(command + pipe, 1, pipe + ": cannot write: it is a pipe; name a regular file");
  CHECK(fs::is_fifo(pipe));
  answer("bfs --generate karate --output " + link);
  CHECK(fs::is_symlink(link));
  CHECK(rows_of(file).size() == 34);
  answer(train + " --save " + link);
  CHECK(fs::is_symlink(link));
  CHECK(json::parse(text_of(file))["format"] == "rig gnn model");
  CHECK(text_of(file + ".part") == "mine too");
  CHECK(files() == 4);
  fs::remove_all(kept.path);
}
