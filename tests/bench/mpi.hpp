#pragma once

// What the files of bench_mpi share: a problem over ranks, and the ways that libraries have to its
// answers.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench.hpp"
#include "rig/distributed.hpp"
#include "rig/distributed/mpi.hpp"
#include "rig/semirings.hpp"

namespace bench {

using rig::index;
using rig::int64;
using sums = rig::plus_times<double>;
using matrix_part = rig::distributed<rig::matrix<double>>;
using dense = rig::dense<double>;
using dense_part = rig::distributed<dense>;

/// A graph and a dense X, whole on each rank, and over the ranks.
struct problem {
  std::string name;
  MPI_Comm comm;
  rig::communicator ranks;
  rig::matrix<double> whole;
  matrix_part a;
  dense x;
  dense_part x_part;

  dense gather(dense local) const {
    return dense_part::from_rows(ranks, std::move(local), a.layout()).gather();
  }
};

/// One way to an answer: `run` is timed, `answer` is that of the last run, whole, on each rank;
/// null: it is not compared.
struct way {
  const char* name;
  std::function<void()> run;
  std::function<dense()> answer;
};

/// A way of which `compute` returns the answer, and `whole` makes it that of all ranks.
template <class Compute, class Whole>
way way_of(const char* name, Compute compute, Whole whole) {
  auto kept = std::make_shared<std::optional<decltype(compute())>>();
  return {name, [=] { kept->emplace(compute()); }, [=] { return whole(**kept); }};
}

/// A library beside rig. A way that it lacks is null, and so are all if CMake did not find it.
struct library {
  const char* name;
  std::string version;  ///< "absent" if CMake did not find it
  way (*mxm)(const problem&) = nullptr;
  way (*mxv)(const problem&) = nullptr;
  way (*search)(const problem&, index source) = nullptr;
  bool is_square_only = false;              ///< it takes a square number of ranks
  std::shared_ptr<void> session = nullptr;  ///< what its end ends
};
/// Collective; MPI is initialised.
library petsc();
library combblas();

#ifdef RIG_HAS_NCCL
/// Products over devices, one per rank. Collective.
void device_suite(const std::vector<std::string>& graphs, const options& given, record* out);
#endif

}  // namespace bench
