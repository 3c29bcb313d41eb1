// mxm_update on the CPU.

#include "update_cases.hpp"

TEST_CASE("a product and its update") { update_cases::check_battery(rig::cpu()); }
TEST_CASE("an update without columns") { update_cases::check_empty(rig::cpu()); }
TEST_CASE("an update of numbers that are not finite") {
  update_cases::check_not_finite(rig::cpu());
}
TEST_CASE("an update into an operand") { update_cases::check_aliased(rig::cpu()); }
TEST_CASE("an update of views and transposes") { update_cases::check_views(rig::cpu()); }
TEST_CASE("updates that are refused") { update_cases::check_refusals(rig::cpu()); }
