#pragma once

// Ranks of NCCL: how many the devices here take, where each is, and its products there.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "distributed/product_cases.hpp"

namespace nccl_ranks {

inline int devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// One each, or at least four where NCCL lets ranks share a device: from 2.30 on, by this variable.
inline int greatest_size() {
  const char* const shared = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  const bool is_shared = devices() > 0 && shared != nullptr && std::string_view(shared) == "1";
  return is_shared ? std::max(devices(), 4) : devices();
}

inline int device_of(int rank) { return rank % devices(); }

/// Whether products of parts on the ranks' devices, three by fetch and one by features, have the
/// bits of one on one device.
template <class S>
bool multiplies_on_devices(const rig::communicator& here, const rig::matrix<float>& a,
                           const rig::dense<float>& x, const rig::layout& rows) {
  const rig::place device = rig::cuda(device_of(here.rank()));
  const auto part = rig::distributed<rig::matrix<float>>::from_whole(here, a, rows).to(device);
  const auto of_x = rig::distributed<rig::dense<float>>::from_whole(here, x, rows).to(device);
  rig::descriptor one;
  one.kernel = rig::explain(part, of_x, S()).kernel;
  const auto expected = ranks::on_host(rig::mxm(a.to(device), x.to(device), S(), one));
  bool same = true;
  for (int round = 0; round < 3; ++round)
    same &= ranks::same_bits(rig::mxm(part, of_x, S()).gather(), expected);
  same &= ranks::same_bits(rig::mxm(part, of_x.by_features(), S()).gather(), expected);
  return same;
}

}  // namespace nccl_ranks
