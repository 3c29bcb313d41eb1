// What the GNN client reads: data folders and model files, whole and damaged; generated data; and
// the areas under ROC curves.

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gnn/data.hpp"
#include "gnn/model_file.hpp"
#include "gnn/training.hpp"
#include "rig/generate.hpp"
#include "rig/io.hpp"

namespace {

namespace fs = std::filesystem;

/// A folder that is removed with its scope.
struct scratch_folder {
  scratch_folder() { fs::create_directory(path); }
  ~scratch_folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
  fs::path path = fs::temp_directory_path() / ("rig_gnn_" + std::to_string(getpid()));
};

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

const std::string symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n";
const std::string general = "%%MatrixMarket matrix coordinate real general\n";

/// A folder of four nodes, of which the last one has no label.
void write_small(const scratch_folder& to) {
  to.write("graph.mtx", symmetric + "4 4 3\n2 1\n3 2\n4 3\n");
  to.write("features.mtx", general + "4 3 4\n1 1 1\n1 3 3\n2 2 2\n4 1 5\n");
  to.write("labels.txt", "1\n0\n1\n-1\n");
  to.write("split.txt", "# a comment\ntrain 0\nval 1\ntest 2\n");
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
      {"labels.txt", "1\n0 3\n1\n-1\n", "labels.txt:2: '3' follows the label", format},
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
  };
  for (const damage& d : all) {
    const scratch_folder folder;
    write_small(folder);
    folder.write(d.file, d.text);
    const std::string said = refusal([&] { gnn::load_data(folder.path); }, d.code);
    CAPTURE(said);
    CHECK(said.find(d.said) != std::string::npos);
  }
  const scratch_folder empty;
  CHECK(refusal([&] { gnn::load_data(empty.path); }, io).find("there is no graph.mtx") !=
        std::string::npos);
  CHECK(refusal([] { gnn::load_data("reddit-like:12"); }, format).find("500") != std::string::npos);
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
  CHECK(area({}) == 0);

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
  const gnn::shape s{gnn::kind::sage, gnn::gathering::mean, 2, 3, 2, 2, 1, 0.25};
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
  for (const std::string& text :
       {with("\"version\":1", "\"version\":2"), with("\"hidden\":3", "\"hidden\":65536"),
        with("\"hidden\":3", "\"hidden\":1e99"), with("\"hidden\":3", "\"hidden\":-1"),
        with("\"inputs\":2", "\"inputs\":99999999999999999999"), with("\"k\":1", "\"k\":4"),
        with("\"layers\":2", "\"layers\":65"), with("sage", "sagE"), with("0.25", "1"),
        with("\"parameters\": [", "\"parameters\": [1e999,"),
        with("\"parameters\": [", "\"parameters\": [null,"), whole + "x", std::string(100'000, '['),
        std::string(100'000, '{')})
    CHECK(!is_read(text));
}

}  // namespace
