// gnn_train and gnn_infer as a user runs them.

#include "programs.hpp"
#include "rig/io.hpp"

TEST_CASE("gnn_train and gnn_infer: keys, a model file, kernels, types, messages") {
  using keys = std::vector<std::string>;
  const scratch model("model.json");
  const std::string file = model.path.string(), small = " --data reddit-like:800 --device cpu";
  const auto trained = answer("gnn_train --epochs 12 --hidden 8" + small + " --save " + file);
  CHECK(keys_of(trained) == keys{"model", "data", "normalised", "aggregate", "hidden", "k",
                                 "device", "seed", "train_accuracy", "val_accuracy",
                                 "test_accuracy", "last_loss", "epochs", "curve", "epoch_ms",
                                 "aggregate_ms", "update_ms", "transfer_ms", "peak_bytes"});
  CHECK(trained["epochs"] == 12);
  CHECK(trained["curve"].size() == 1);
  const std::string infer = "gnn_infer --model " + file + small;
  const auto exact = answer(infer);
  CHECK(keys_of(exact) == keys{"model", "data", "device", "kernel", "width", "feature_type",
                               "train_accuracy", "val_accuracy", "test_accuracy", "kept_share",
                               "inference_ms", "aggregate_ms", "update_ms", "transfer_ms",
                               "peak_bytes"});
  for (const char* part : {"train_accuracy", "val_accuracy", "test_accuracy"})
    CHECK(exact[part] == trained[part]);
  // A sample as wide as the longest row is the row.
  const auto whole = answer(infer + " --kernel bucket --width 800 --rescale");
  CHECK(whole["kept_share"] == 1);
  CHECK(whole["test_accuracy"] == exact["test_accuracy"]);
  CHECK(answer(infer + " --kernel adaptive --width 4")["kept_share"] < 0.5);
  for (const std::string type : {"half", "bfloat16", "int8"}) {
    const auto narrow = answer(infer + " --feature-type " + type);
    CHECK(std::abs(narrow["test_accuracy"].get<double>() - exact["test_accuracy"].get<double>()) <
          0.05);
  }
  // Exact, and three kernels with each width; in floats and in 8 bits.
  const outcome sweep = run(infer + " --sweep 4,8 --json");
  CHECK(std::count(sweep.out.begin(), sweep.out.end(), '\n') == 14);
  CHECK(answer("gnn_train --epochs 3 --threads 1 --hidden 8" + small)["last_loss"] ==
        answer("gnn_train --epochs 3 --threads 2 --hidden 8" + small)["last_loss"]);
  const auto tasks = answer("gnn_train --epochs 3 --data proteins-like:600 --model sage");
  CHECK(tasks.contains("test_roc_auc"));
  for (const char* model_of : {"gin --nonlinearity maxk --k 4", "gat", "mlp",
                               "sage --aggregate pool", "sage --aggregate gcn"})
    CHECK(answer("gnn_train --epochs 2 --hidden 8 --model " + std::string(model_of) + small)
              .contains("epoch_ms"));

  // A data set may stand alone, and --output holds a number per class of each node.
  const scratch results("results.npy");
  CHECK(answer("gnn_infer --model " + file + " --device cpu reddit-like:800 --output " +
               results.path.string())["test_accuracy"] == exact["test_accuracy"]);
  const auto numbers = rig::read_dense<float>(results.path.string());
  CHECK(numbers.rows() == 800);
  CHECK(numbers.columns() == 41);
  check_fails(infer + " --sweep 4 --output x.npy", 2, "leave out --output");

  // A model of numbers too great for any result is refused, not ranked.
  auto huge = json::parse(std::ifstream(file));
  for (auto& parameter : huge["parameters"]) parameter = 3e38;
  const scratch overflow("overflow.json", huge.dump());
  check_fails("gnn_infer --model " + overflow.path.string() + small, 1,
              "reddit-like:800: the results are not finite");

  // A model whose first layer gathers no features is swept in floats alone.
  const scratch pooled("pooled.json");
  const std::string pool = " --model " + pooled.path.string() + small;
  answer("gnn_train --epochs 2 --hidden 8 --model sage --aggregate pool" + small + " --save " +
         pooled.path.string());
  const outcome in_floats = run("gnn_infer" + pool + " --sweep 4 --json");
  CHECK(std::count(in_floats.out.begin(), in_floats.out.end(), '\n') == 4);
  check_fails("gnn_infer --feature-type int8" + pool, 1, "gathers features");

  check_fails("gnn_train --epochs 2", 2, "data");
  check_fails("gnn_train --epochs 2 --seed -1" + small, 2, "--seed is at least 0, not -1");
  check_fails("gnn_train --epochs 2 --aggregate pool" + small, 2,
              "--aggregate pool is for --model sage, not gcn");
  check_fails("gnn_train --epochs 2 --kernel bucket" + small, 2, "bucket leaves entries out");
  check_fails("gnn_train --epochs 5 --lr 1e30" + small, 1, "the loss of epoch");
  check_fails("gnn_train --data proteins-like:500 --epochs 1 --lr 1e38 --hidden 4 --device cpu", 1,
              "the results of epoch 1 are not finite");
  check_fails("gnn_train --data /no/such/folder --data x", 2, "--data");
  check_fails("gnn_train --hidden 0" + small, 2, "hidden is 0; it must be 1 to 65536");
  check_fails("gnn_train --lr nan" + small, 2, "--lr is above 0, not nan");
  check_fails("gnn_train reddit-like:12", 2,
              "--data reddit-like:12: '12' is not an integer from 500 to 10000000");
  check_fails("gnn_train --save ''" + small, 2, "--save needs the name of a file, not ''");
  check_fails(infer + " --width -3", 2, "--width is at least 0, not -3");
  check_fails("gnn_infer reddit-like:800 --model " RIG_SOURCE_DIR "/README.md", 1,
              "README.md: not a model that gnn_train --save writes: ");
  check_fails("gnn_train --epochs 0" + small, 2, "--epochs is at least 1, not 0");
  check_fails("gnn_train --epochs 2 --save /no/such/folder/model.json" + small, 1,
              "/no/such/folder/model.json: cannot create");
  check_fails("gnn_infer --model /" + small, 1, "/: cannot be read");
  check_fails(infer + " --sweep 4,5000", 2, "from 1 to 4096");
  check_fails(infer + " --sweep 4 --feature-type half", 2, "leave out --feature-type half");
  check_fails("gnn_train --model gnc" + small, 2, "gcn, sage, gin, gat or mlp, not 'gnc'");
  check_fails("gnn_train --nonlinearity maxk" + small, 2, "--k");
  check_fails("gnn_train --nonlinearity maxk --k 65" + small, 2, "k is 65; it must be 0 to 64");
  check_fails("gnn_train --model gat --nonlinearity maxk --k 2" + small, 2, "MaxK precedes a sum");
  check_fails("gnn_train --dropout 1" + small, 2, "dropout is 1");
  check_fails("gnn_train --data /no/such/folder", 1, "/no/such/folder: there is no graph.mtx");
  check_fails("gnn_infer --model /no/such/file" + small, 1, "/no/such/file: cannot be read");
  check_fails(infer + " --kernel bucket", 2, "--width");
  check_fails(infer + " --feature-type int4", 2, "float, half, bfloat16 or int8, not 'int4'");
  check_fails("gnn_infer --data proteins-like:600 --model " + file, 1,
              "602 features and 41 classes; proteins-like:600 has 8 and 112");
}

TEST_CASE("GCN on Cora and Citeseer has the accuracy of the paper") {
  if (!exists(data() / "cora")) return;
  const std::string recipe = "gnn_train --hidden 16 --normalize-features --device cpu --data ";
  double cora = 0, citeseer = 0;
  for (int seed = 1; seed <= 3; ++seed) {
    const std::string with = " --seed " + std::to_string(seed);
    cora += answer(recipe + (data() / "cora").string() + with)["test_accuracy"].get<double>();
    citeseer +=
        answer(recipe + (data() / "citeseer").string() + with)["test_accuracy"].get<double>();
  }
  CHECK(cora / 3 == doctest::Approx(0.815).epsilon(0.015 / 0.815));
  CHECK(citeseer / 3 == doctest::Approx(0.705).epsilon(0.02 / 0.705));
}
