#include "programs.hpp"

#include <sys/resource.h>

#ifdef RIG_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gnn {

dataset load(const std::string& from) {
  try {
    return load_data(from);
  } catch (const rig::error& bad) {
    if (bad.code() == rig::errc::format && is_generated(from))
      throw example::usage_error("--data " + std::string(bad.what()));
    throw;
  }
}

moved move(const dataset& data, const shape& s, const rig::descriptor& desc, rig::place where) {
  const auto truth = truth_of(data);
  const example::stopwatch watch;
  const auto graph = data.graph.to(where);
  const auto x =
      std::visit([&](const auto& x) { return variable_of<float>(x.to(where)); }, data.features);
  x->needs_gradient = false;
  const auto there = truth.to(where);
  rig::synchronise(where);
  const double ms = where == rig::cpu() ? 0 : watch.ms();
  return {{aggregation_of(s, graph, desc), x, there}, ms};
}

void add_scores(example::report& to, const scores& found, const dataset& data,
                const rig::dense<float>& z) {
  to.add("train_accuracy", found.train);
  to.add("val_accuracy", found.validation);
  to.add("test_accuracy", found.test);
  if (!data.multi_label) return;
  const auto here = z.to(rig::cpu());
  to.add("val_roc_auc", roc_auc<float>(here, data.y, data.parts[1]));
  to.add("test_roc_auc", roc_auc<float>(here, data.y, data.parts[2]));
}

long peak_bytes(rig::place where) {
#ifdef RIG_HAS_CUDA
  if (where != rig::cpu()) {
    cudaMemPool_t pool = nullptr;
    std::uint64_t most = 0;
    if (cudaDeviceGetDefaultMemPool(&pool, where.device) == cudaSuccess &&
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most) == cudaSuccess)
      return static_cast<long>(most);
  }
#endif
  static_cast<void>(where);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

void reset_peak(rig::place where) {
#ifdef RIG_HAS_CUDA
  if (where == rig::cpu()) return;
  cudaMemPool_t pool = nullptr;
  std::uint64_t now = 0;  // the only value that the attribute takes
  if (cudaDeviceGetDefaultMemPool(&pool, where.device) == cudaSuccess)
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &now);
#else
  static_cast<void>(where);
#endif
}

}  // namespace gnn
