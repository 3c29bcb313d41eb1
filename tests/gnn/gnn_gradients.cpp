// The gradients of the GNN client on the CPU.

#include "gnn_cases.hpp"

TEST_CASE("layers") { gnn_cases::check_layers(rig::cpu()); }
TEST_CASE("losses") { gnn_cases::check_losses(rig::cpu()); }
TEST_CASE("models") { gnn_cases::check_models(rig::cpu()); }
TEST_CASE("degrees over a sample") { gnn_cases::check_sampled_degrees(rig::cpu()); }
TEST_CASE("mini-batches") { gnn_cases::check_batches(rig::cpu()); }
TEST_CASE("products and updates in one call") { gnn_cases::check_joined(rig::cpu()); }
