#pragma once

/// Everything of rig.

#include "rig/cbsr.hpp"
#include "rig/check_semiring.hpp"
#include "rig/error.hpp"
#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "rig/mxm.hpp"
#include "rig/place.hpp"
#include "rig/quantized.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
