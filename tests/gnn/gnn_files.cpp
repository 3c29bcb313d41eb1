// What the GNN client reads: data folders and model files, whole and damaged; generated data; and
// the areas under ROC curves.

#include <doctest/doctest.h>

#include <numeric>
#include <sstream>

#include "folders.hpp"
#include "gnn/data.hpp"
#include "gnn/model_file.hpp"
#include "gnn/training.hpp"
#include "io/archives.hpp"
#include "rig/generate.hpp"
#include "rig/io.hpp"

namespace {

/// The error of a call, or nothing.
template <class Work>
std::string refusal(Work work, rig::errc code) {
  try {
    work();
  } catch (const rig::error& bad) {
    CHECK(bad.code() == code);
    return bad.what();
  }
  return {};
}

TEST_CASE("a folder of files") {
  const scratch_folder folder;
  write_small(folder);
  auto data = gnn::load_data(folder.path);
  CHECK(data.graph.nnz() == 6);
  CHECK(data.inputs() == 3);
  CHECK(data.y.columns() == 2);
  CHECK(data.y(0, 1) == 1);
  CHECK(data.y(3, 0) + data.y(3, 1) == 0);
  CHECK(data.parts[2] == std::vector<rig::index>{2});
  gnn::normalise_features(data);
  CHECK(rig::at(std::get<rig::matrix<float>>(data.features), 0, 2).value() == 0.75f);

  const auto of = gnn::truth_of(data);
  CHECK(of.trained.nnz() == 2);
  CHECK(of.all.nnz() == 8);
  rig::dense<float> z(4, 2);
  z(0, 1) = 1;
  z(1, 1) = 1;
  z(2, 1) = 1;
  const auto found = gnn::accuracy(z, of);
  CHECK(found.train == 1);
  CHECK(found.validation == 0);
  CHECK(found.test == 1);
}

TEST_CASE("an edge that a graph lists twice is one edge") {
  for (const std::string field : {"pattern", "real"}) {
    const std::string value = field == "real" ? " 2\n" : "\n";
    const scratch_folder folder;
    write_small(folder);
    folder.write("graph.mtx", "%%MatrixMarket matrix coordinate " + field + " general\n4 4 3\n1 2" +
                                  value + "2 1" + value + "1 2" + value);
    CHECK(gnn::load_data(folder.path).graph.nnz() == 2);
  }
}

TEST_CASE("a damaged folder is refused, with file, line and values") {
  struct damage {
    const char *file, *text, *said;
    rig::errc code;
  };
  using enum rig::errc;
  const std::vector<damage> all = {
      {"labels.txt", "1\n0\n", "labels.txt: 2 labels for 4 nodes", format},
      {"labels.txt", "1\n0\n1\n-1\n0\n", "labels.txt:5: there are more labels than the 4 nodes",
       format},
      {"labels.txt", "1\nx\n1\n-1\n", "labels.txt:2: 'x' is not an integer from -1 to 65535",
       format},
      {"labels.txt", "1\n-2\n1\n-1\n", "'-2' is not an integer", format},
      {"labels.txt", "1\n0 3\n1\n-1\n",
       "labels.txt:2: there are 2 numbers; the lines before have 1", format},
      {"labels.txt", "1 0\n0 2\n1 1\n0 0\n", "labels.txt:2: '2' is not an integer from 0 to 1",
       format},
      {"labels.txt", "1 0\n0 1\n1 1\n-1 0\n", "labels.txt:4: '-1' is not an integer from 0 to 1",
       format},
      {"labels.txt", "-1\n-1\n-1\n-1\n", "no node has a label", format},
      {"split.txt", "train 0\nval 1\ntest 4\n", "split.txt:3: '4' is not an integer from 0 to 3",
       format},
      {"split.txt", "train 0 1\nval 1\ntest 2\n", "split.txt:2: node 1 is in the split twice",
       format},
      {"split.txt", "train 0 3\nval 1\ntest 2\n", "split.txt:1: node 3 has no label", format},
      {"split.txt", "train 0\nval 1\n", "split.txt: no node is in test", format},
      {"split.txt", "train 0\nvalid 1\n", "split.txt:2: 'valid' is not train, val or test", format},
      {"features.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n",
       "the graph is 4x4, the features have 3 rows", shape},
      {"graph.mtx", "%%MatrixMarket matrix coordinate real general\n4 5 1\n1 1 1\n",
       "the graph is 4x5", shape},
      {"labels.npy", "", "there are labels.txt and labels.npy; keep the one to be read", io},
      {"graph.mtx.gz", "", "there are graph.mtx and graph.mtx.gz; keep the one to be read", io},
  };
  for (const damage& d : all) {
    const scratch_folder folder;
    write_small(folder);
    folder.write(d.file, d.text);
    const std::string said = refusal([&] { gnn::load_data(folder.path); }, d.code);
    CAPTURE(said);
    CHECK(said.find(d.said) != std::string::npos);
  }
}

/// The text of a .npy file of floats.
std::string floats(const std::string& shape, const std::vector<float>& of) {
  std::string data;
  for (const float x : of) data += little(x);
  return npy_of("<f4", shape, data);
}

TEST_CASE("a folder whose features are codes") {
  const scratch_folder folder;
  write_small(folder);
  store_as_codes(folder);
  auto data = gnn::load_data(folder.path);
  CHECK(gnn::type_of_features(data) == "int8");
  CHECK(data.inputs() == 3);
  CHECK(refusal([&] { gnn::normalise_features(data); }, rig::errc::cannot)
            .ends_with("the features are int8, which is not divided; store divided features, and "
                       "leave out --normalize-features"));
  gnn::set_type_of_features(data, "half");
  CHECK(static_cast<float>(std::get<rig::dense<rig::half>>(data.features)(3, 0)) == 5);
  gnn::set_type_of_features(data, "float");
  CHECK(std::get<rig::dense<float>>(data.features)(0, 2) == doctest::Approx(3).epsilon(0.01));
}

TEST_CASE("narrow features are multiplied as floats") {
  rig::dense<float> x(7, 5), w(5, 3), start(7, 3);
  for (rig::index i = 0; i < 7; ++i)
    for (rig::index j = 0; j < 5; ++j)
      x(i, j) = static_cast<float>(i * 5 + j);  // no type rounds them
  for (rig::index i = 0; i < 5; ++i)
    for (rig::index j = 0; j < 3; ++j) w(i, j) = static_cast<float>(i - j);
  rig::assign(start, rig::none, 100.0f, rig::all, rig::all);
  std::vector<unsigned char> codes(35);
  std::iota(codes.begin(), codes.end(), static_cast<unsigned char>(0));
  const std::vector<float> low{0}, step{1};
  const gnn::narrow_features all[] = {rig::quantized::from_codes(7, 5, codes, low, step),
                                      rig::apply<rig::half>(x, rig::unary::identity),
                                      rig::apply<rig::bfloat16>(x, rig::unary::identity)};
  for (const auto accum : {rig::none, rig::accumulator::plus}) {
    auto right = start;
    example::gemm(right, accum, x, w);
    for (const auto& narrow : all) {
      auto found = start;
      gnn::multiply(found, accum, gnn::variable<float>(narrow), gnn::variable_of<float>(w));
      CHECK(found == right);
    }
  }
}

TEST_CASE("a folder with several labels per node, and dense features") {
  const scratch_folder folder;
  write_small(folder);
  fs::remove(folder.path / "features.mtx");
  folder.write("features.npy", floats("(4, 2)", {1, 2, 3, 4, 5, 6, 7, 8}));
  folder.write("labels.txt", "1 0 1\n0 0 0\n1 1 1\n0 1 0\n");
  folder.write("split.txt", "train 0 3\nval 1\ntest 2\n");
  const auto check = [&] {
    const auto data = gnn::load_data(folder.path);
    CHECK(data.multi_label);
    CHECK(data.y.columns() == 3);
    CHECK(data.y(0, 2) == 1);
    CHECK(data.y(3, 2) == 0);
    CHECK(std::get<rig::dense<float>>(data.features)(3, 1) == 8);
    CHECK(data.parts[0] == std::vector<rig::index>{0, 3});
  };
  check();
  fs::remove(folder.path / "labels.txt");
  folder.write("labels.npy", floats("(4, 3)", {1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0}));
  check();
  folder.write("labels.npy", floats("(4, 3)", {1, 0, 1, 0, 0, 0, 1, 1, 1, 0, .5f, 0}));
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::format)
            .find("labels.npy: the label of node 3 is 0.5, not 0 or 1") != std::string::npos);
  folder.write("labels.npy", floats("(4,)", {1, 0, 1, 2.5f}));
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::format)
            .find("the label of node 3 is 2.5, not a class from 0") != std::string::npos);
}

/// CSR arrays of an archive, whose names begin with `arrays`.
void add_csr(std::vector<zipped>& to, const std::string& arrays, const std::vector<int>& offsets,
             const std::vector<int>& columns, int width) {
  const auto ints = [](const std::vector<int>& of) {
    std::string data;
    for (const int x : of) data += little(x);
    return npy_of("<i4", "(" + std::to_string(of.size()) + ",)", data);
  };
  to.push_back({arrays + "indptr.npy", ints(offsets)});
  to.push_back({arrays + "indices.npy", ints(columns), true});
  to.push_back({arrays + "shape.npy", ints({static_cast<int>(offsets.size()) - 1, width})});
  to.push_back({arrays + "data.npy", floats("(" + std::to_string(columns.size()) + ",)",
                                            std::vector<float>(columns.size(), 2.0f))});
}

TEST_CASE("an archive without a split, and with too few nodes to make one") {
  std::vector<zipped> members;
  add_csr(members, "adj_", {0, 1, 2}, {1, 0}, 2);
  add_csr(members, "attr_", {0, 1, 2}, {0, 1}, 2);
  members.push_back({"labels.npy", npy_of("<i8", "(2,)", std::string(16, '\0'))});
  const scratch_folder folder;
  folder.write("pair.npz", archive(members));
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::format)
            .find("no node is in val; put a split.txt beside it") != std::string::npos);
}

TEST_CASE("an archive of gnn-benchmark") {
  // Two rings of 60 nodes, listed in one direction, each a class; node 0 has a loop too.
  std::vector<int> offsets{0}, columns, of_features{0}, words;
  std::string labels;
  for (int i = 0; i < 120; ++i) {
    if (i == 0) columns.push_back(0);
    columns.push_back(i % 60 == 59 ? i - 59 : i + 1);
    offsets.push_back(static_cast<int>(columns.size()));
    words.push_back(i % 3);
    of_features.push_back(i + 1);
    labels += little<rig::int64>(i / 60);
  }
  std::vector<zipped> members;
  add_csr(members, "adj_", offsets, columns, 120);
  add_csr(members, "attr_", of_features, words, 3);
  members.push_back({"labels.npy", npy_of("<i8", "(120,)", labels)});
  members.push_back({"node_names.npy", npy_of("|O", "(1,)", "a pickle")});  // is not read
  const scratch_folder folder;
  folder.write("rings.npz", archive(members));
  const std::string file = folder.path / "rings.npz";
  for (const std::string& from : {file, folder.path.string()}) {
    const auto data = gnn::load_data(from);
    CHECK(data.graph.nnz() == 240);
    CHECK(!rig::at(data.graph, 0, 0));
    CHECK(rig::at(data.graph, 0, 59).value() == 1);
    CHECK(data.inputs() == 3);
    CHECK(data.y.columns() == 2);
    CHECK(data.label(60, 0) == 1);
    CHECK(data.parts[0].size() == 40);
    CHECK(data.parts[1].size() == 60);
    CHECK(data.parts[2].size() == 20);
  }
  CHECK(gnn::load_data(file).name == "rings");
  folder.write("split.txt", "train 0 61\nval 1\ntest 2\n");
  CHECK(gnn::load_data(file).parts[0] == std::vector<rig::index>{0, 61});
  folder.write("more.npz", archive(members));
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::format)
            .find("there are 2 files .npz; pass one of them") != std::string::npos);
  members.pop_back();
  members.pop_back();
  folder.write("rings.npz", archive(members));
  CHECK(refusal([&] { gnn::load_data(file); }, rig::errc::format)
            .find("rings.npz: the member \"labels.npy\" is missing") != std::string::npos);
}

/// Four nodes in the tables of the Open Graph Benchmark.
void write_ogb(const scratch_folder& to) {
  fs::create_directories(to.path / "raw");
  fs::create_directories(to.path / "split/time");
  to.write("raw/edge.csv", "0,1\n1,2\n3,2\n2,1\n");
  to.write("raw/node-feat.csv", "0.5,1\n-1,0\n2,2\n3,1e-3\n");
  to.write("raw/node-label.csv", "2\n0\n1\nnan\n");
  to.write("split/time/train.csv", "0\n");
  to.write("split/time/valid.csv", "2\n");
  to.write("split/time/test.csv", "1\n");
  for (const auto& file : fs::recursive_directory_iterator(to.path))
    if (file.is_regular_file())
      REQUIRE(std::system(("gzip -nf '" + file.path().string() + "'").c_str()) == 0);
}

TEST_CASE("the tables of the Open Graph Benchmark") {
  const scratch_folder folder;
  write_ogb(folder);
  const auto data = gnn::load_data(folder.path);
  CHECK(data.graph.nnz() == 6);
  CHECK(rig::at(data.graph, 1, 0).value() == 1);
  CHECK(std::get<rig::dense<float>>(data.features)(3, 1) == 1e-3f);
  CHECK(data.y.columns() == 3);
  CHECK(data.label(3, 0) == -1);
  CHECK(data.parts[1] == std::vector<rig::index>{2});

  const auto refused = [&](const std::string& name, const std::string& text, const char* said,
                           rig::errc code = rig::errc::format) {
    const auto whole = folder.path / (name + ".gz"), kept = folder.path / "kept";
    fs::rename(whole, kept);
    folder.write(name, text);
    const std::string found = refusal([&] { gnn::load_data(folder.path); }, code);
    CAPTURE(found);
    CHECK(found.find(said) != std::string::npos);
    fs::remove(folder.path / name);
    fs::rename(kept, whole);
  };
  refused("raw/edge.csv", "0,1\n1,4\n", "edge.csv:2: node \"4\" is outside 0..3");
  refused("raw/node-feat.csv", "1,2\n3\n", "node-feat.csv:2: there are 1 numbers");
  refused("raw/node-feat.csv", "1\n2\n3\n", "the features have 3 rows", rig::errc::shape);
  refused("raw/node-label.csv", "1\n0\n1.5\n0\n", "node-label.csv: the label of node 2 is 1.5");
  refused("split/time/test.csv", "3\n", "test.csv: node 3 has no label");
  refused("split/time/test.csv", "0\n", "test.csv: node 0 is in the split twice");
  refused("split/time/test.csv", "4\n", "test.csv: '4' is not an integer from 0 to 3");
  refused("split/time/test.csv", "", "no node is in test");
  fs::create_directories(folder.path / "split/other");
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::format)
            .find("there are 2 splits; keep one") != std::string::npos);
}

TEST_CASE("nodes without features have the means of their edges'") {
  const scratch_folder folder;
  write_ogb(folder);
  fs::remove(folder.path / "raw/node-feat.csv.gz");
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::io)
            .find("there is no node-feat.csv.gz or edge-feat.csv.gz") != std::string::npos);
  folder.write("raw/edge-feat.csv", "1,0\n2,0\n3,8\n6,0\n");
  folder.write("raw/node-label.csv", "1,0\n0,1\n1,1\n0,0\n");
  fs::remove(folder.path / "raw/node-label.csv.gz");
  const auto data = gnn::load_data(folder.path);
  const auto& x = std::get<rig::dense<float>>(data.features);
  CHECK(data.multi_label);
  CHECK(x(0, 0) == 1);
  CHECK(x(1, 0) == 3);  // of 1, 2 and 6
  CHECK(x(3, 1) == 8);
  folder.write("raw/edge-feat.csv", "1,0\n2,0\n3,8\n");
  CHECK(refusal([&] { gnn::load_data(folder.path); }, rig::errc::shape)
            .find("edge-feat.csv: 3 rows for 4 edges") != std::string::npos);
}

/// Four nodes in the files of GraphSAINT.
void write_graphsaint(const scratch_folder& to, const std::string& labels) {
  std::vector<zipped> members;
  add_csr(members, "", {0, 1, 3, 5, 6}, {1, 0, 2, 1, 3, 2}, 4);
  members.push_back({"format.npy", npy_of("|S3", "()", "csr")});
  to.write("adj_full.npz", archive(members));
  to.write("feats.npy", floats("(4, 1)", {1, 2, 3, 4}));
  to.write("class_map.json", labels);
  to.write("role.json", R"({"te": [2], "tr": [0, 3], "va": [1]})");
}

TEST_CASE("the files of GraphSAINT") {
  const scratch_folder folder;
  write_graphsaint(folder, R"({"1": 2, "0": 0, "3": 1, "2": 0})");
  const auto data = gnn::load_data(folder.path);
  CHECK(data.graph.nnz() == 6);
  CHECK(!data.multi_label);
  CHECK(data.y.columns() == 3);
  CHECK(data.label(1, 0) == 2);
  CHECK(data.parts[0] == std::vector<rig::index>{0, 3});
  CHECK(data.parts[2] == std::vector<rig::index>{2});

  write_graphsaint(folder, R"({"0": [1, 0], "1": [0, 0], "2": [1, 1], "3": [0, 1]})");
  const auto several = gnn::load_data(folder.path);
  CHECK(several.multi_label);
  CHECK(several.y(2, 1) == 1);
  CHECK(several.y(1, 0) == 0);
}

TEST_CASE("damaged files of GraphSAINT are refused with file, key and values") {
  const std::string good = R"({"0": 0, "1": 1, "2": 0, "3": 1})";
  struct damage {
    const char *file, *text, *said;
  };
  for (const damage& d : std::vector<damage>{
           {"class_map.json", R"({"0": 0, "1": 1, "2": 0, "4": 1})",
            "class_map.json: '4' is not an integer from 0 to 3"},
           {"class_map.json", R"({"0": 0, "x": 1})", "class_map.json: 'x' is not an integer"},
           {"class_map.json", R"({"0": [0, 1], "1": [1]})",
            "class_map.json: node 1: 1 labels; the nodes before have 2"},
           {"class_map.json", R"({"0": [0, 1], "1": [1, "b"]})",
            "class_map.json: node 1: \"b\" is not a number"},
           {"class_map.json", R"({"0": {"a": 1}})", "class_map.json: "},
           {"class_map.json", R"({"0": [0, 1], "1": [1, 0]})", "the label of node 2 is nan"},
           {"class_map.json", R"({"0": 0.5})", "the label of node 0 is 0.5"},
           {"class_map.json", "{}", "class_map.json: there is no node"},
           {"class_map.json", "[1, 2]", "class_map.json: the file is a list; give an object"},
           {"class_map.json", "3", "class_map.json: the file is 3; give an object"},
           {"class_map.json", R"({"0": 0)", "class_map.json: not JSON"},
           {"role.json", R"({"tr": [0], "va": [1]})", "role.json: key 'te': there is no list"},
           {"role.json", R"({"tr": [0], "va": [1], "te": [1]})",
            "role.json: key 'te': node 1 is in the split twice"},
           {"role.json", R"({"tr": [0], "va": [1], "te": ["2"]})",
            "role.json: key 'te': '\"2\"' is not an integer from 0 to 3"},
           {"role.json", R"({"tr": [0], "va": [1], "te": []})", "role.json: no node is in test"},
           {"role.json", "[]", "role.json: key 'tr': there is no list"},
           {"adj_full.npz", "PK", "adj_full.npz: not a .npz file"}}) {
    const scratch_folder folder;
    write_graphsaint(folder, good);
    folder.write(d.file, d.text);
    const std::string said = refusal([&] { gnn::load_data(folder.path); }, rig::errc::format);
    CAPTURE(said);
    CHECK(said.find(d.said) != std::string::npos);
  }
}

TEST_CASE("a folder without a graph is refused with what is looked for") {
  const scratch_folder empty;
  CHECK(refusal([&] { gnn::load_data(empty.path); }, rig::errc::io).find("there is no graph.mtx") !=
        std::string::npos);
  CHECK(refusal([] { gnn::load_data("reddit-like:12"); }, rig::errc::format).find("500") !=
        std::string::npos);
}

TEST_CASE("generated data: classes of communities, tasks, parts, the same each time") {
  const auto one = gnn::load_data("reddit-like:1000"), other = gnn::load_data("reddit-like:1000");
  CHECK(one.graph.rows() == 1000);
  CHECK(one.y.columns() == 41);
  CHECK(one.inputs() == 602);
  CHECK(std::ranges::equal(std::get<rig::dense<float>>(one.features),
                           std::get<rig::dense<float>>(other.features)));
  CHECK(one.parts == other.parts);
  CHECK(one.parts[0].size() + one.parts[1].size() + one.parts[2].size() == 1000);
  const auto products = gnn::load_data("products-like:6000");
  CHECK(products.inputs() == 100);
  CHECK(products.y.columns() == 47);
  const auto tasks = gnn::load_data("proteins-like:1000");
  CHECK(tasks.multi_label);
  CHECK(tasks.y.columns() == 112);
  double ones = 0;
  for (const float y : tasks.y) ones += y;
  CHECK(ones / 112'000 == doctest::Approx(0.3 * 0.98 + 0.7 * 0.02).epsilon(0.1));
}

TEST_CASE("areas under ROC curves") {
  const std::vector<float> z{3, 1, 2, 1, 1, 1, 0, 1}, y{1, 1, 0, 1, 1, 0, 0, 0};
  const auto area = [&](std::vector<rig::index> nodes) {
    return gnn::roc_auc<float>(rig::dense<float>::from(4, 2, z), rig::dense<float>::from(4, 2, y),
                               nodes);
  };
  // Column 0: of 3, 2, 1, 0 those with the label are 3 and 1: 3 of 4 pairs. Column 1: all tie.
  CHECK(area({0, 1, 2, 3}) == doctest::Approx((0.75 + 0.5) / 2));
  CHECK(area({0, 1}) == 1);  // column 1 has no node without the label
  CHECK(std::isnan(area({})));

  // A result that is no number has no rank, and so the area is none.
  std::vector<float> broken = z;
  for (const float worst : {std::nanf(""), -std::nanf("")})
    for (const std::size_t at : {0, 1, 6}) {
      broken[at] = worst;
      const auto found = gnn::roc_auc<float>(rig::dense<float>::from(4, 2, broken),
                                             rig::dense<float>::from(4, 2, y),
                                             std::vector<rig::index>{0, 1, 2, 3});
      CHECK(std::isnan(found));
      broken[at] = z[at];
    }
  broken[0] = std::numeric_limits<float>::infinity();  // has a rank
  CHECK(gnn::roc_auc<float>(rig::dense<float>::from(4, 2, broken), rig::dense<float>::from(4, 2, y),
                            std::vector<rig::index>{0, 1, 2, 3}) == area({0, 1, 2, 3}));
}

TEST_CASE("training ends with an error when the last epoch breaks the network") {
  const auto data = gnn::load_data("proteins-like:500");
  const gnn::shape s{gnn::kind::gcn, gnn::gathering::mean, 8, 4, 112, 2, 0, 0.5};
  gnn::network<float> net(s, 1, rig::cpu());
  const auto x = gnn::variable_of<float>(std::get<rig::dense<float>>(data.features));
  x->needs_gradient = false;
  const gnn::problem on{gnn::aggregation_of(s, data.graph, {}), x, gnn::truth_of(data)};
  CHECK(refusal([&] { gnn::train(net, on, {.epochs = 1, .rate = 1e38}, [](const auto&) {}); },
                rig::errc::range)
            .find("the results of epoch 1 are not finite") != std::string::npos);
}

gnn::saved_model small_model() {
  gnn::shape s{gnn::kind::sage, gnn::gathering::mean, 2, 3, 2, 2, 1, 0.25};
  s.edge_dropout = 0.125;
  s.norm = gnn::norm::batch;
  gnn::network<float> net(s, 7, rig::cpu());
  return {s, true, net.values()};
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST_CASE("a model file holds the same bits") {
  const scratch_folder folder;
  const auto model = small_model();
  const std::string path = folder.path / "model.json";
  gnn::save(path, model);
  const auto back = gnn::load_model(path);
  CHECK(back.shape == model.shape);
  CHECK(back.normalise_features);
  CHECK(std::ranges::equal(back.values, model.values));
  gnn::save(folder.path / "again.json", back);
  CHECK(text_of(path) == text_of(folder.path / "again.json"));
  // A file of the user's own with a similar name stays.
  folder.write("model.json.part", "mine");
  gnn::save(path, model);
  CHECK(text_of(folder.path / "model.json.part") == "mine");
  CHECK(refusal([&] { gnn::save(folder.path, model); }, rig::errc::io).find("it is a folder") !=
        std::string::npos);
  CHECK(refusal([&] { gnn::load_model(folder.path / "none"); }, rig::errc::io).find("none") !=
        std::string::npos);
}

/// Whether a model file is read, or refused by an error of rig that names the file.
bool is_read(const std::string& text) {
  try {
    std::istringstream from(text);
    const auto model = gnn::read_model(from, "damaged.json");
    gnn::network<float>(model.shape, 1, rig::cpu()).set_values(model.values);
    return true;
  } catch (const rig::error& bad) {
    REQUIRE(std::string(bad.what()).find("damaged.json: ") != std::string::npos);
    return false;
  }
}

TEST_CASE("a damaged model file is refused, or is another model") {
  const scratch_folder folder;
  gnn::save(folder.path / "model.json", small_model());
  const std::string whole = text_of(folder.path / "model.json");
  REQUIRE(is_read(whole));
  for (std::size_t length = 0; length + 2 < whole.size(); ++length)
    CHECK(!is_read(whole.substr(0, length)));
  int refused = 0, tried = 0;
  const std::string replacements("\0\xff\n\"{}[],:-.09e", 15);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    for (const char c : replacements) {
      damaged[at] = c;
      refused += is_read(damaged) ? 0 : 1;
      ++tried;
    }
    for (int bit = 0; bit < 8; ++bit, ++tried) {
      damaged[at] = static_cast<char>(whole[at] ^ (1 << bit));
      refused += is_read(damaged) ? 0 : 1;
    }
  }
  CHECK(refused > tried / 2);
}

TEST_CASE("a model file that claims too much is refused") {
  const scratch_folder folder;
  gnn::save(folder.path / "model.json", small_model());
  const std::string whole = text_of(folder.path / "model.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    REQUIRE(text.find(from) != std::string::npos);
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text : {with("\"version\":2", "\"version\":1"),
                                  with("\"hidden\":3", "\"hidden\":65536"),
                                  with("\"hidden\":3", "\"hidden\":1e99"),
                                  with("\"hidden\":3", "\"hidden\":-1"),
                                  with("\"inputs\":2", "\"inputs\":99999999999999999999"),
                                  with("\"k\":1", "\"k\":4"),
                                  with("\"layers\":2", "\"layers\":65"),
                                  with("sage", "sagE"),
                                  with("0.25", "1"),
                                  with("\"heads\":1", "\"heads\":3"),
                                  with("\"heads\":1", "\"heads\":0"),
                                  with("\"norm\":\"batch\"", "\"norm\":\"layer\""),
                                  with("\"edge_dropout\":0.125", "\"edge_dropout\":1"),
                                  with("\"residual\":false", "\"residual\":true"),
                                  with("\"residual\":false", "\"residual\":0"),
                                  with("\"hops\":10", "\"hops\":0"),
                                  with("\"alpha\":0.1", "\"alpha\":0"),
                                  with("\"parameters\": [", "\"parameters\": [1e999,"),
                                  with("\"parameters\": [", "\"parameters\": [null,"),
                                  whole + "x",
                                  std::string(100'000, '['),
                                  std::string(100'000, '{')})
    CHECK(!is_read(text));
}

}  // namespace
