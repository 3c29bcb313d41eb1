#pragma once

/// Everything of rig.

#include "rig/error.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "rig/mxm.hpp"
#include "rig/place.hpp"
#include "rig/semirings.hpp"
