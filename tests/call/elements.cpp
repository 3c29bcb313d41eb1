// Element-wise operators on the CPU: every operator and every type.

#include "element_cases.hpp"

namespace {

using element_cases::run;

TEST_CASE("operators on bool") { run<bool>("bool", rig::cpu()); }
TEST_CASE("operators on int32") { run<rig::int32>("int32", rig::cpu()); }
TEST_CASE("operators on int64") { run<rig::int64>("int64", rig::cpu()); }
TEST_CASE("operators on half") { run<rig::half>("half", rig::cpu()); }
TEST_CASE("operators on bfloat16") { run<rig::bfloat16>("bfloat16", rig::cpu()); }
TEST_CASE("operators on float") { run<float>("float", rig::cpu()); }
TEST_CASE("operators on double") { run<double>("double", rig::cpu()); }

}  // namespace
