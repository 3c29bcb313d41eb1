// The messages and the exit statuses of the example programs: 1 if the run fails, 2 if the command
// line is wrong.

#include "programs.hpp"
#include "rig/place.hpp"

TEST_CASE("run-time errors: status 1, and one line that names the file") {
  const scratch broken("broken.mtx",
                       "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n"),
      empty("empty.mtx"),
      wide("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  for (const std::string& program : graph_programs) {
    check_fails(program + " --graph /nowhere/at_all.mtx", 1, "/nowhere/at_all.mtx");
    for (const fs::path& path : {broken.path, empty.path, fs::temp_directory_path()})
      check_fails(program + " " + path.string(), 1, path.string() + ":");
    // Products take any shape, and rows may be matched with other columns than nodes.
    if (program != "spmm" && program != "maxk" && program != "bipartite_matching")
      check_fails(program + " " + wide.path.string(), 1, wide.path.string());
    if (rig::devices().size() == 1)
      check_fails(program + " --generate karate --device cuda", 1, program + ": --device cuda: ");
  }
  check_fails("sage --generate karate --features /nowhere/at_all.mtx", 1, "/nowhere/at_all.mtx");
  check_fails("pagerank --generate karate --device cpu --kernel dot", 1,
              "kernel 'dot' cannot serve: has a sparse result, and B is a dense; these can: row, ");
  for (const std::string program : {"pagerank", "bfs", "triangles"})
    for (const std::string kernel : {"bucket", "fastrand", "adaptive", "maxk"})
      check_fails(program + " --generate karate --device cpu --kernel " + kernel, 1,
                  program + ": kernel '" + kernel + "' is approximate");
}

TEST_CASE("an answer that cannot be written: status 1") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("SKIPPED: no /dev/full");
    return;
  }
  for (const std::string& program : graph_programs) {
    for (const std::string more : {"", " --json", " --help"})
      check_fails(program + " --generate karate" + more + " >/dev/full", 1, "standard output");
    if (program == "operations") continue;
    check_fails(program + " --generate karate --output /dev/full", 1,
                program + ": /dev/full: cannot write: it is a device; name a regular file");
    check_fails(program + " --generate karate --output ''", 2,
                "--output needs the name of a file, not ''");
    check_fails(program + " --generate karate --output /nowhere/at_all", 1,
                program + ": /nowhere/at_all: cannot create: ");
  }
  for (const std::string program : {"spmm", "pagerank", "sage", "maxk", "operations"})
    check_fails(program + " --generate karate --explain >/dev/full", 1, "standard output");
}

TEST_CASE("an instruction set that no machine has: status 1") {
  setenv("RIG_ISA", "sse9", 1);
  check_fails("spmm --generate karate --device cpu", 1, "sse9");
  check_fails("spmm --generate karate --device cpu", 1, "baseline, avx2 or avx512");
  setenv("RIG_ISA", "", 1);
  CHECK(run("spmm --generate karate --device cpu").status == 0);
  unsetenv("RIG_ISA");
}

TEST_CASE("invalid command lines: status 2") {
  for (const std::string& program : graph_programs) {
    check_fails(program, 2, "--graph");
    check_fails(program + " --graph x.mtx --generate karate", 2, "--graph x.mtx");
    check_fails(program + " x.mtx y.mtx", 2, "too many positional options");
    for (const std::string wrong : {"club", "rmat:77:1", "rmat:4"})
      check_fails(program + " --generate " + wrong, 2, wrong == "rmat:77:1" ? "77" : wrong);
    for (const std::string wrong :
         {"--colour red", "stray", "--generate", "--threads -1", "--threads two",
          "--threads 100000", "--device tpu", "--kernel magic", "--json=yes"})
      check_fails(program + " --generate karate " + wrong, 2, program);
    const bool has_product = program != "components" && program != "scc" && program != "msf" &&
                             program != "bipartite_matching";
    check_fails(program + " --generate karate --kernel magic", 2,
                has_product ? "no kernel is named 'magic'; there are row, split, "
                            : "unrecognised option '--kernel'");
    const outcome help = run(program + " --help");
    CHECK((help.out.find("--kernel") != std::string::npos) == has_product);
    CHECK((help.out.find("--any-order") != std::string::npos) == has_product);
  }
}

TEST_CASE("a node that the graph does not have: status 2, and the nodes that it has") {
  for (const std::string option : {"bfs --source", "sssp --source", "jaccard --node"})
    for (const std::string node : {"-1", "34", "5000000000"})
      check_fails(option + " " + node + " --generate karate", 2,
                  option.substr(option.find("--")) + " is 0 to 33, not " + node);
  for (const std::string number : {"0", "35"}) {
    check_fails("bfs --generate karate --sources " + number, 2, "--sources is ");
    for (const std::string program : {"betweenness", "eccentricity"})
      check_fails(program + " --generate karate --sources " + number, 2,
                  "--sources is 1 to 34, or all, not '" + number + "'");
  }
  check_fails("spmm --generate karate --rows 0,34", 2, "--rows are 0 to 33, not 34");
  check_fails("bfs --generate karate --source 1 --sources 2", 2, "--source");
  check_fails("jaccard --generate karate --node 1 --edges", 2, "give either --node or --edges");
}

TEST_CASE("values of other options: status 2, the option, and the value") {
  for (const auto& [wrong, named] : std::vector<std::pair<std::string, std::string>>{
           {"spmm --semiring plus", "no semiring is named 'plus'; there are "},
           {"spmm --type half", "--type is float, double or bool, not 'half'"},
           {"spmm --type double --semiring min_plus", "rig lists no min_plus over double"},
           {"spmm --feature-type int4", "not 'int4'"},
           {"spmm --features 0", "--features is at least 1, not 0"},
           {"spmm --features x", "'--features'"},
           {"spmm --repeat 0", "--repeat is at least 1, not 0"},
           {"spmm --rows 1,,2", "not '1,,2'"},
           {"spmm --rows a", "not 'a'"},
           {"spmm --rows -1", "--rows"},
           {"spmm --width 4", "--width"},
           {"spmm --k 4", "--k"},
           {"spmm --kernel maxk", "--k of --kernel maxk is 1 to 32, not 0"},
           {"spmm --kernel maxk --k 33", "--k of --kernel maxk is 1 to 32, not 33"},
           {"maxk --k 0", "--k is 1 to 64, not 0"},
           {"maxk --k 65", "--k is 1 to 64, not 65"},
           {"maxk --features 65537", "--features is 1 to 65536, not 65537"},
           {"maxk --aggregate max", "sum or mean, not 'max'"},
           {"spmm --rescale", "--rescale"},
           {"spmm --kernel bucket", "--width of a --kernel that samples is 1 to 4096, not 0"},
           {"spmm --kernel adaptive --width 4097", "not 4097"},
           {"pagerank --damping 1", "--damping is at least 0 and below 1, not 1"},
           {"pagerank --damping nan", "not nan"},
           {"pagerank --tolerance 0", "--tolerance is above 0, not 0"},
           {"sage --aggregate sum", "pool, mean or gcn, not 'sum'"},
           {"sage --hidden 0", "--hidden is at least 1, not 0"},
           {"sage --seed x", "'--seed'"},
           {"sage --seed -1", "--seed is at least 0, not -1"},
           {"msf --weights none", "file or synthetic, not 'none'"},
           {"sssp --weights none", "file or synthetic, not 'none'"},
           {"sssp --delta -0.5", "--delta is at least 0, not -0.5"},
           {"sssp --delta nan", "--delta is at least 0, not nan"},
           {"betweenness --sources x", "not 'x'"},
           {"betweenness --batch 0", "--batch is at least 1, not 0"},
           {"label_propagation --iterations -1", "--iterations is at least 0, not -1"},
           {"mis --seed 99999999999999999999", "'99999999999999999999'"},
           {"reorder --ordering random", "loa, degree or rcm, not 'random'"},
           {"triangles --explain", "explain"},
           {"bfs --output levels.mtx", ".npy, or of text"},
           {"bfs --output levels.npy.gz", ".npy, or of text"}})
    check_fails(wrong + " --generate karate", 2, named);
}
