// The gradients of the GNN client on a GPU, and an epoch there beside one on the CPU.

#include "gnn/gnn_cases.hpp"
#include "gnn/training.hpp"
#include "gpu.hpp"

TEST_CASE("layers") { gnn_cases::check_layers(gpu); }
TEST_CASE("norms and heads") { gnn_cases::check_norms_and_heads(gpu); }
TEST_CASE("norms against loops") { gnn_cases::check_against_loops(gpu); }
TEST_CASE("edges left out") { gnn_cases::check_drawn_edges(gpu); }
TEST_CASE("variants of networks") { gnn_cases::check_variants(gpu); }
TEST_CASE("losses") { gnn_cases::check_losses(gpu); }
TEST_CASE("models") { gnn_cases::check_models(gpu); }
TEST_CASE("degrees over a sample") { gnn_cases::check_sampled_degrees(gpu); }
TEST_CASE("mini-batches") { gnn_cases::check_batches(gpu); }
TEST_CASE("products and updates in one call") { gnn_cases::check_joined(gpu); }

TEST_CASE("training on a GPU finds what it finds on the CPU, the same bits each time") {
  const auto data = gnn::load_data("reddit-like:600");
  const gnn::training how{.epochs = 20};
  for (const gnn::kind model : {gnn::kind::gcn, gnn::kind::sage, gnn::kind::gat}) {
    const gnn::shape s{model, gnn::gathering::pool, data.inputs(), 16, data.y.columns(), 2, 0, 0.5};
    const auto trained = [&](rig::place where) {
      gnn::network<float> net(s, 1, where);
      const auto truth = gnn::truth_of(data).to(where);
      const auto x = gnn::variable_of<float>(std::get<rig::dense<float>>(data.features).to(where));
      x->needs_gradient = false;
      const auto a = gnn::aggregation_of(s, data.graph.to(where), {});
      return gnn::train(net, {a, x, truth}, how, [](const gnn::progress&) {});
    };
    const auto here = trained(rig::cpu()), there = trained(gpu), again = trained(gpu);
    CHECK(std::abs(here.last_loss - there.last_loss) < 0.02 * here.last_loss);
    CHECK(there.last_loss == again.last_loss);
    CHECK(there.best.test == again.best.test);
  }
}
