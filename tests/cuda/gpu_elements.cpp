// Element-wise operators on a GPU: every operator and every type.

#include "element_cases.hpp"
#include "gpu.hpp"

namespace {

using element_cases::run;

TEST_CASE("operators on bool") { run<bool>("bool", gpu); }
TEST_CASE("operators on int32") { run<rig::int32>("int32", gpu); }
TEST_CASE("operators on int64") { run<rig::int64>("int64", gpu); }
TEST_CASE("operators on half") { run<rig::half>("half", gpu); }
TEST_CASE("operators on bfloat16") { run<rig::bfloat16>("bfloat16", gpu); }
TEST_CASE("operators on float") { run<float>("float", gpu); }
TEST_CASE("operators on double") { run<double>("double", gpu); }

}  // namespace
