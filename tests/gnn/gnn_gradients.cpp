// The gradients of the GNN client on the CPU.

#include "gnn_cases.hpp"

TEST_CASE("layers") { gnn_cases::check_layers(rig::cpu()); }
TEST_CASE("norms and heads") { gnn_cases::check_norms_and_heads(rig::cpu()); }
TEST_CASE("norms against loops") { gnn_cases::check_against_loops(rig::cpu()); }
TEST_CASE("edges left out") { gnn_cases::check_drawn_edges(rig::cpu()); }
TEST_CASE("variants of networks") { gnn_cases::check_variants(rig::cpu()); }
TEST_CASE("losses") { gnn_cases::check_losses(rig::cpu()); }
TEST_CASE("models") { gnn_cases::check_models(rig::cpu()); }
TEST_CASE("degrees over a sample") { gnn_cases::check_sampled_degrees(rig::cpu()); }
TEST_CASE("mini-batches") { gnn_cases::check_batches(rig::cpu()); }
TEST_CASE("products and updates in one call") { gnn_cases::check_joined(rig::cpu()); }
