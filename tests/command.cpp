// The command rigblas as a user runs it: its answers, its errors, its manual and its completion.

#include <chrono>
#include <regex>
#include <set>

#include "programs.hpp"
#include "rig/generate.hpp"
#include "rig/kernels/optional_libraries.hpp"
#include "rig/rig.hpp"

namespace {

const std::vector<std::string> subcommands = {"info",  "convert", "run",    "explain",
                                              "bench", "tune",    "devices"};

/// Two parts, a cycle, a self loop, and a node of its own.
const char* const directed =
    "%%MatrixMarket matrix coordinate real general\n8 8 8\n1 2 1.5\n2 3 2\n3 1 -4\n"
    "4 4 3\n5 6 1\n6 7 4\n7 5 2\n5 7 9\n";

outcome rigblas(const std::string& words) { return run_built("rigblas " + words); }

/// The JSON object of a run with --json, which prints nothing else.
ordered_json facts(const std::string& words) {
  const outcome result = rigblas(words + " --json");
  CAPTURE(words);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.err.empty());
  REQUIRE(std::count(result.out.begin(), result.out.end(), '\n') == 1);
  return ordered_json::parse(result.out);
}

void check_refused(const std::string& words, int status, const std::string& named) {
  const outcome result = rigblas(words);
  CAPTURE(words);
  CAPTURE(result.err);
  CHECK(result.status == status);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(result.err.find(named) != std::string::npos);
}

/// The words at the beginning of the lines of --help that `--` or a letter begins.
std::vector<std::string> listed(const std::string& help, bool options) {
  std::vector<std::string> words;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(options ? "  --" : "  ") || line.size() < 3 || line[2] == ' ') continue;
    if (options || (line[2] != '-'))
      words.push_back(line.substr(2, line.find_first_of(" [", 2) - 2));
  }
  return words;
}

/// Whether the machine has a shell; says so if not.
bool has(const std::string& shell) {
  if (std::system(("command -v " + shell + " >/dev/null").c_str()) == 0) return true;
  MESSAGE("SKIPPED: there is no " << shell);
  return false;
}

/// What a script of a shell prints, with rigblas in its path.
std::string printed(const std::string& shell, const std::string& text) {
  const scratch script("completion." + shell, text);
  const std::string line =
      "PATH=" RIG_BINARY_DIR ":$PATH " + shell + " " + script.path.string() + " 2>&1";
  FILE* const pipe = popen(line.c_str(), "r");
  char out[8192] = {};
  const std::size_t got = fread(out, 1, sizeof(out) - 1, pipe);
  CHECK(pclose(pipe) == 0);
  return std::string(out, got);
}

const std::string completion = RIG_SOURCE_DIR "/examples/command/completion/";

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("--help, --version, and what is no command") {
  const outcome help = rigblas("--help");
  CHECK(help.status == 0);
  CHECK(listed(help.out, false) == subcommands);
  for (const std::string& name : subcommands) {
    const outcome own = rigblas(name + " --help");
    CHECK(own.status == 0);
    CHECK(own.out.starts_with("Usage: rigblas " + name));
    CHECK(own.out.find("Exit status: 0; 1 if the run fails; 2 if the command line is wrong.") !=
          std::string::npos);
    if (!fs::exists("/dev/full")) continue;
    check_refused(name + " --help >/dev/full", 1, "standard output");
  }
  CHECK(rigblas("--version").out == std::string("rigblas ") + rig::version() + "\n");
  check_refused("", 2, "there are info, convert, run");
  check_refused("inform", 2, "no command is named 'inform'; there are info, convert, run");
  check_refused("run", 2, "there is no algorithm; there are betweenness, bfs");
  check_refused("run page_rank x.mtx", 2, "no algorithm is named 'page_rank'; there are");
}

TEST_CASE("wrong input is one line that names the value, with its exit status") {
  const scratch broken("broken.mtx",
                       "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n");
  const scratch out("never.mtx");
  fs::remove(out.path);
  for (const std::string name : {"info", "explain", "bench", "tune", "run pagerank"}) {
    check_refused(name + " /nowhere/at_all.mtx", 1, "/nowhere/at_all.mtx");
    check_refused(name + " " + broken.path.string(), 1, broken.path.string() + ":3: ");
    check_refused(name, 2, "there is no graph");
    check_refused(name + " one.mtx two.mtx", 2, "too many positional options");
    check_refused(name + " --generate club", 2, "club");
    check_refused(name + " --generate karate --threads two", 2, "two");
  }
  for (const std::string name : {"explain", "bench", "tune"}) {
    const std::string karate = name + " --generate karate ";
    check_refused(karate + "--features 0", 2, "--features are 1 to 65536, not 0");
    check_refused(karate + "--features 4,x", 2, "not '4,x'");
    check_refused(karate + "--features ''", 2, "--features");
    check_refused(karate + "--semiring plus_plus", 2, "plus_plus");
    check_refused(karate + "--type half", 2, "not 'half'");
    check_refused(karate + "--device tpu", 2, "tpu");
  }
  check_refused("bench --generate karate --seconds -1", 2, "--seconds is 0 to 3600, not -1");
  const std::string to = out.path.string();
  check_refused("convert /nowhere/at_all.mtx " + to, 1, "/nowhere/at_all.mtx");
  check_refused("convert --generate karate", 2, "there is no file to write");
  check_refused("convert one.mtx " + to + " two.mtx", 2, "too many positional options");
  check_refused("convert --generate karate --to out.mat", 2, "unlike 'out.mat'");
  check_refused("convert --generate karate --to /nowhere/out.mtx", 1, "/nowhere/out.mtx");
  check_refused("convert --generate karate --weights few --to " + to, 2, "not 'few'");
  check_refused("convert --generate karate --type half --to " + to, 2, "not 'half'");
  check_refused("convert --generate karate --reorder best --to " + to, 2, "not 'best'");
  check_refused("devices graph.mtx", 2, "positional");
  CHECK(!fs::exists(out.path));
}

TEST_CASE("info: what is known of two small graphs") {
  const auto karate = facts("info --generate karate");
  CHECK(karate["rows"] == 34);
  CHECK(karate["nnz"] == 156);
  CHECK(karate["one_value"] == true);
  CHECK(karate["degrees"] == json::parse("[1, 3, 10, 17, 17]"));
  CHECK(karate["symmetric"] == true);
  CHECK(karate["self_loops"] == 0);
  CHECK(karate["components"] == 1);
  CHECK(karate["largest_component"] == 34);
  CHECK(karate["triangles"] == 45);
  CHECK(karate["places"].size() == rig::devices().size());
  CHECK(karate["places"][0]["place"] == "cpu");
  const auto graph = rig::generate::karate();
  for (const int width : {1, 32, 128})
    CHECK(karate["places"][0]["chosen"][std::to_string(width)] ==
          rig::explain(graph, rig::dense<float>(34, width), rig::plus_times<float>{}).chosen);

  const scratch file("directed.mtx", directed);
  const auto small = facts("info " + file.path.string());
  CHECK(small["symmetric_pattern"] == false);
  CHECK(small["self_loops"] == 1);
  CHECK(small["components"] == 4);
  CHECK(small["largest_component"] == 3);
  CHECK(small["triangles"] == 2);
  CHECK(small["empty_rows"] == 1);
  CHECK(small["least_value"] == -4);
  CHECK(small["greatest_value"] == 9);
  CHECK(small["mean_distance"] == doctest::Approx((1 + 1 + 2 + 0 + 1 + 1 + 2 + 2) / 8.0));

  const scratch holes("holes.mtx",
                      "%%MatrixMarket matrix array real general\n2 2\nnan\n5\nnan\n1\n");
  const auto some = facts("info " + holes.path.string());
  CHECK(some["least_value"] == 1);
  CHECK(some["greatest_value"] == 5);
  CHECK(some["nan_values"] == 2);

  const scratch wide("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  const auto rectangle = facts("info " + wide.path.string());
  CHECK(rectangle["columns"] == 3);
  CHECK(!rectangle.contains("triangles"));
}

TEST_CASE("info: a count that would take long waits for --all") {
  const std::string long_count = "info --generate cliques:1000:1000";
  CHECK(facts(long_count)["triangles"].is_null());
  CHECK(facts(long_count + " --all")["triangles"] == 1000L * 999 * 998 / 6);
}

TEST_CASE("how an edge list is read") {
  const scratch file("edges.txt", "0,1,2,x\n0,1,3,y\n1,0,4,z\n");
  const std::string info = "info " + file.path.string(), commas = info + " --separator ,";
  check_refused(info, 1, "set --separator to the separator between nodes");
  const scratch sparse("sparse.txt", "0 1\n30000000 1\n");
  const std::string few = "info " + sparse.path.string();
  check_refused(few, 1, "sparse.txt:2: node 30000000 is far beyond");
  check_refused(few, 1, "or set --nodes to 30000001");
  CHECK(facts(few + " --nodes 30000001")["rows"] == 30000001);
  check_refused(few + " --nodes -1", 2, "--nodes is 0 to 2147483647, not -1");
  check_refused(commas, 1, "set --extra-columns to skip it");
  check_refused(commas + " --extra-columns", 1, "set --duplicates to fold them");
  check_refused(commas + " --duplicates mean", 2,
                "--duplicates is one of plus, times, minimum, maximum, first, second, not 'mean'");
  check_refused(info + " --separator ,,", 2, "--separator is one of , ; : and |, not ',,'");
  for (const auto& [how, value] : {std::pair("plus", 5),
                                   {"times", 6},
                                   {"minimum", 2},
                                   {"maximum", 3},
                                   {"first", 2},
                                   {"second", 3}}) {
    const auto said = facts(commas + " --extra-columns --duplicates " + how);
    CHECK(said["nnz"] == 2);
    CHECK(said["least_value"] == std::min(value, 4));
    CHECK(said["greatest_value"] == std::max(value, 4));
  }
}

TEST_CASE("JSON is UTF-8, also of a file's name that is not") {
  const scratch file("k\xE4\xC3\xA4.mtx", directed);
  const auto said = facts("info " + file.path.string());
  CHECK(said["graph"].get<std::string>().ends_with("k\uFFFD\u00E4.mtx"));
}

TEST_CASE("convert: every format and back") {
  const scratch file("directed.mtx", directed);
  const std::string from = file.path.string();
  const auto a = rig::read_matrix<double>(from);
  for (const std::string name : {"out.mtx", "out.mtx.gz", "out.npz"}) {
    const scratch to(name);
    const auto said = facts("convert " + from + " " + to.path.string());
    CHECK(said["to"] == to.path.string());
    CHECK(said["nnz"] == 8);
    CHECK(rig::read_matrix<double>(to.path.string()) == a);
  }
  // Node 8 has no arc, so an edge list does not mention it.
  for (const std::string name : {"out.txt", "out.tsv", "out.el", "out.txt.gz"}) {
    const scratch to(name);
    CHECK(rigblas("convert " + from + " --to " + to.path.string()).status == 0);
    CHECK(rig::read_matrix<double>(to.path.string(), {.nodes = 8}) == a);
  }
  const scratch packed("packed.mtx.gz");
  rigblas("convert " + from + " " + packed.path.string());
  CHECK(text_of(packed.path).starts_with("\x1f\x8b"));
  const scratch wide("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  const scratch list("list.txt");
  check_refused("convert " + wide.path.string() + " " + list.path.string(), 1,
                "an edge list is of a square matrix, not of one of 2x3");
}

TEST_CASE("convert: changes on the way") {
  const scratch file("directed.mtx", directed), to("changed.mtx");
  const std::string from = file.path.string(), out = to.path.string();
  const auto a = rig::read_matrix<double>(from);
  const auto made = [&](const std::string& options) {
    CHECK(rigblas("convert " + from + " " + out + " " + options).status == 0);
    return rig::read_matrix<double>(out);
  };
  CHECK(made("--symmetrise") == rig::symmetrise(a));
  CHECK(made("--weights none") == a.with_value(1.0));
  for (const auto& [i, j, value] : made("--weights synthetic").entries())
    CHECK(value == 1 + (31 * std::min(i, j) + 17 * std::max(i, j)) % 64);
  CHECK(made("--reorder degree") == rig::permute(a, rig::reorder(a, rig::ordering::degree)));
  check_refused("convert " + from + " " + out + " --type int32", 1, from + ":3: ");
  CHECK(rigblas("convert --generate karate " + out + " --type bool").status == 0);
  CHECK(rig::read_matrix<bool>(out).nnz() == 156);
}

TEST_CASE("run: what the example of the algorithm answers") {
  const auto names = listed(rigblas("run --help").out, false);
  REQUIRE(!names.empty());
  for (const std::string& name : names) {
    CAPTURE(name);
    auto got = facts("run " + name + " --generate karate");
    auto expected = answer(name + " --generate karate");
    got.erase("ms");
    expected.erase("ms");
    CHECK(got == expected);
    CHECK(rigblas("run " + name + " --help").out.starts_with("Usage: rigblas run " + name + " "));
  }
  const scratch ranks("ranks.txt");
  CHECK(rigblas("run pagerank --generate karate --output " + ranks.path.string()).status == 0);
  const std::string numbers = text_of(ranks.path);
  CHECK(std::count(numbers.begin(), numbers.end(), '\n') == 34);
  CHECK(rigblas("run pagerank --generate karate").out.find("top\n  node") != std::string::npos);
  check_refused("run bfs --generate karate --source 34", 2,
                "rigblas run bfs: --source is 0 to 33, not 34");
}

TEST_CASE("run has every algorithm of the library") {
  std::string examples;
  for (const std::string& name : listed(rigblas("run --help").out, false))
    examples += text_of(RIG_SOURCE_DIR "/examples/" + name + ".cpp");
  const std::regex declared(R"(\n[a-z_<>0-9]+ ([a-z_]+)\(const matrix<)");
  std::set<std::string> algorithms;
  for (const auto& header : fs::directory_iterator(RIG_SOURCE_DIR "/include/rig/algorithms")) {
    const std::string text = text_of(header.path());
    const std::size_t before = algorithms.size();
    for (std::sregex_iterator at(text.begin(), text.end(), declared), end; at != end; ++at)
      algorithms.insert((*at)[1]);
    CAPTURE(header.path());
    CHECK(algorithms.size() > before);
  }
  for (const std::string& name : algorithms) {
    CAPTURE(name);
    CHECK(examples.find("rig::" + name + "(") != examples.npos);
  }
}

TEST_CASE("explain: the answers of the library") {
  const auto graph = rig::generate::karate();
  const auto said = facts(
      "explain --generate karate --device cpu --features 1,7 "
      "--semiring max_second");
  REQUIRE(said["products"].size() == 2);
  for (const int k : {0, 1})
    CHECK(said["products"][k] ==
          ordered_json::parse(
              rig::explain(graph, rig::dense<float>(34, k == 0 ? 1 : 7), rig::max_second<float>{})
                  .json()));
  const std::string few = rigblas("explain --generate karate --device cpu").out,
                    all = rigblas("explain --generate karate --device cpu --all").out;
  CHECK(few.find("* row") != std::string::npos);
  CHECK(few.find("cuda") == std::string::npos);
  CHECK(few.find("place kernel") == std::string::npos);
  CHECK(all.find("place kernel") != std::string::npos);
  CHECK(facts("explain --generate karate --device cpu --kernel split")["products"][0]["chosen"] ==
        "split");
  check_refused("explain --generate karate --device cpu --kernel dot", 1,
                "kernel 'dot' cannot serve");
}

TEST_CASE("explain: an option for each field that a kernel says to set") {
  const std::string explain = "explain --generate karate --device cpu --features 32 ";
  const auto answer_of = [&](const std::string& options, const std::string& kernel) {
    const auto said = facts(explain + options);
    for (const auto& each : said["products"][0]["kernels"])
      if (each["name"] == kernel && each["place"] == "cpu") return each;
    FAIL("no answer of " << kernel);
    return ordered_json();
  };
  for (const std::string kernel : {"bucket", "fastrand", "adaptive"}) {
    CHECK(answer_of("", kernel)["reason"] == "needs a width of 1 to 4096");
    CHECK(answer_of("--width 4", kernel)["answer"] != "cannot");
    check_refused(explain + "--kernel " + kernel, 1, "width is 0; set it to the entries to keep");
    CHECK(facts(explain + "--width 4 --kernel " + kernel)["products"][0]["chosen"] == kernel);
  }
  const std::string why = answer_of("", "maxk")["reason"];
  CHECK(why.find("k is 0 of 32 columns; set it to 1 … 32") != why.npos);
  CHECK(answer_of("--k 8", "maxk")["answer"] != "cannot");
  CHECK(facts(explain + "--k 8 --kernel maxk")["products"][0]["chosen"] == "maxk");
  check_refused(explain + "--width 4097", 2, "--width is 0 to 4096, not 4097");
  check_refused(explain + "--k -1", 2, "--k is 0 to 65536, not -1");
  // Kernels of a GPU name these too.
  const std::string help = rigblas("explain --help").out;
  for (const char* option : {"--kernel", "--width", "--k ", "--tf32", "--any-order"})
    CHECK(help.find(option) != help.npos);
}

TEST_CASE("bench: each kernel that can, peers, and a sentence") {
  for (const std::string semiring : {"plus_times", "max_second", "min_plus", "arg_max_second"}) {
    CAPTURE(semiring);
    const auto said = facts(
        "bench --generate rmat:8:8 --device cpu --features 1,5 --seconds 0 "
        "--semiring " +
        semiring);
    REQUIRE(said["tables"].size() == 2);
    for (const auto& table : said["tables"]) {
      std::set<std::string> names;
      for (const auto& timed : table["times"]) {
        names.insert(timed["name"]);
        CHECK(timed["runs"] == 5);
        CHECK(timed["min_ms"] <= timed["mean_ms"]);
        CHECK(timed["mean_ms"] <= timed["max_ms"]);
        CHECK(timed["sigma_ms"] >= 0);
      }
      CHECK(names.contains("row"));
      CHECK(names.contains("split"));
      CHECK(names.contains(table["chosen"]));
      bool names_peer = names.contains("GraphBLAS");
      for (const std::string line : table["left_out"])
        names_peer = names_peer || line.starts_with("GraphBLAS: ");
      CHECK(names_peer);
      CHECK(table["recommendation"].get<std::string>().ends_with("."));
    }
  }
  const outcome shown = rigblas("bench --generate karate --device cpu --features 4 --seconds 0");
  CHECK(shown.err.empty());  // no progress where it is no terminal
  for (const char* part : {"mean ± σ [ms]", "min … max [ms]", " was\n", " times as fast as ",
                           "without cuSPARSE: it computes on a GPU"})
    CHECK(shown.out.find(part) != std::string::npos);
  const scratch empty("empty.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
  CHECK(rigblas("bench --device cpu --seconds 0 " + empty.path.string()).status == 0);
  const scratch wide("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  CHECK(rigblas("bench --device cpu --features 1 --seconds 0 " + wide.path.string())
            .out.starts_with(wide.path.string() + ": 2 x 3, 1 entries\n"));
}

TEST_CASE("bench: the first table of a million entries comes within 20 seconds") {
  const auto start = std::chrono::steady_clock::now();
  const auto said = facts("bench --generate rmat:15:17 --device cpu --features 1");
  CHECK(said["nnz"] > 900000);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("bench: a terminal shows the time that is left") {
  if (!has("script")) return;
  const std::string shown =
      printed("sh", "script -qec '" RIG_BINARY_DIR
                    "/rigblas bench --generate karate --features 4 --seconds 0 >/dev/null' "
                    "/dev/null </dev/null\n");
  CHECK(shown.find("F = 4: row, about 0 s left") != std::string::npos);
  CHECK(shown.ends_with("\r\x1b[K"));
}

TEST_CASE("tune: orders, kernels and threads, and a sentence") {
  const auto said = facts("tune --generate rmat:8:8 --device cpu --features 3 --seconds 0");
  const auto& table = said["tables"][0];
  std::set<std::string> names;
  for (const auto& timed : table["times"]) names.insert(timed["name"]);
  for (const std::string order : {"file", "loa", "degree", "rcm"})
    for (const std::string kernel : {"row", "split"}) CHECK(names.contains(order + ", " + kernel));
  CHECK(table["recommendation"].get<std::string>().ends_with("."));
  const scratch wide("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n");
  for (const auto& timed : facts("tune --device cpu --seconds 0 --features 2 " +
                                 wide.path.string())["tables"][0]["times"])
    CHECK(timed["name"].get<std::string>().starts_with("file, "));
}

TEST_CASE("devices: the places of the library, and why there is no CUDA") {
  const auto said = facts("devices");
  const auto places = rig::devices();
  REQUIRE(said["places"].size() == places.size());
  for (std::size_t k = 0; k < places.size(); ++k)
    CHECK(said["places"][k]["place"] == rig::to_string(places[k].where));
  CHECK(said["no_cuda"].is_null() == (places.size() > 1));
  if (said["libraries"].value("libcuda", json()).is_null()) {
    const std::string why = said["no_cuda"];
    CHECK((why.ends_with("no driver of NVIDIA is installed") ||
           why.find("without CUDA") != why.npos));
  }
  CHECK(said["version"] == rig::version());
  CHECK(said["semirings"]["float"].size() == rig::named_semiring<float>::names().size());
  auto libraries = said["libraries"];
  for (const rig::optional_library& each : rig::optional_libraries()) {
    CAPTURE(each.name);
    REQUIRE(libraries.contains(each.name));
    CHECK(libraries[each.name] == (each.path.empty() ? json() : json(each.path)));
    libraries.erase(each.name);
  }
  CHECK(keys_of(libraries) == std::vector<std::string>{"libgraphblas"});
}

TEST_CASE("the manual has every command, algorithm and option of --help") {
  std::string manual = text_of(RIG_BINARY_DIR "/examples/command/rigblas.1");
  std::erase(manual, '\\');
  REQUIRE(manual.starts_with(".TH RIGBLAS 1 "));
  const auto check_section = [&](const std::string& name) {
    const std::string help = rigblas(name + " --help").out;
    CAPTURE(name);
    std::string title = "rigblas " + name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    const auto begin = manual.find(".SH \"" + title + "\"");
    REQUIRE(begin != std::string::npos);
    const std::string section = manual.substr(begin, manual.find("\n.SH ", begin + 1) - begin);
    for (const std::string& option : listed(help, true))
      CHECK(section.find(".B " + option) != std::string::npos);
  };
  for (const std::string& name : subcommands) check_section(name);
  for (const std::string& name : listed(rigblas("run --help").out, false))
    check_section("run " + name);
}

TEST_CASE("completion in bash: commands, algorithms, options, files") {
  if (!has("bash")) return;
  const auto completed = [](const std::string& words, int at) {
    return printed("bash", "source " + completion + "rigblas.bash\nCOMP_WORDS=(" + words +
                               ")\nCOMP_CWORD=" + std::to_string(at) +
                               "\n_rigblas\n(IFS='|'; echo \"${COMPREPLY[*]}\")\n");
  };
  CHECK(completed("rigblas ''", 1) == "info|convert|run|explain|bench|tune|devices\n");
  CHECK(completed("rigblas in", 1) == "info\n");
  CHECK(completed("rigblas run page", 2) == "pagerank\n");
  CHECK(completed("rigblas run pagerank --da", 3) == "--damping\n");
  CHECK(completed("rigblas bench graph.mtx --sec", 3) == "--seconds\n");
  CHECK(completed("rigblas info " RIG_SOURCE_DIR "/READ", 2) == RIG_SOURCE_DIR "/README.md\n");
  const scratch blank("with a blank.mtx", "");
  const std::string whole = blank.path.string();
  CHECK(completed("rigblas info " + whole.substr(0, whole.find(' ')), 2) == whole + "\n");
}

TEST_CASE("completion in zsh and in fish") {
  if (has("zsh")) {
    // Outside its line editor zsh offers nothing, so a function shows what would be offered.
    const std::string out =
        printed("zsh",
                "compadd() { shift; print -r -- $@; }\n_files() { print files; }\n"
                "try() { words=(\"$@\"); CURRENT=$#words; source " +
                    completion +
                    "rigblas.zsh; }\ntry rigblas ''\ntry rigblas run pagerank --\n"
                    "try rigblas info ''\n");
    CHECK(out.starts_with("info convert run explain bench tune devices\n--damping --tolerance "));
    CHECK(out.ends_with("files\n"));
  }
  if (has("fish"))
    CHECK(printed("fish", "source " + completion +
                              "rigblas.fish\ncomplete -C 'rigblas in'\n"
                              "complete -C 'rigblas run pagerank --da'\n") == "info\n--damping\n");
}
