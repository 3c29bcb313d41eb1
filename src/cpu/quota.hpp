#pragma once

namespace rig::on_cpu {

/// The cores that the control groups of this process pay for, by the least of their quotas; 0
/// without one. `root` is the folder that holds /proc and /sys.
double cores_of_quota(const char* root = "");

}  // namespace rig::on_cpu
