// CombBLAS's products with a column and its search over ranks, for bench_mpi.

#ifdef RIG_HAS_COMBBLAS
#include <CombBLAS/CombBLAS.h>

#include "mpi.hpp"

namespace bench {
namespace {

namespace cb = combblas;
template <class T>
using column = cb::FullyDistVec<int64, T>;
/// As CombBLAS's own search has it: local indices of four bytes.
template <class T>
using cb_matrix = cb::SpParMat<int64, T, cb::SpDCCols<rig::int32, T>>;

/// The matrix, or its transpose: each rank keeps a block, with indices from 0 on.
template <class T>
std::shared_ptr<cb_matrix<T>> cb_matrix_of(const problem& of, bool turned) {
  using entry = std::tuple<rig::int32, rig::int32, T>;
  const auto grid = std::make_shared<cb::CommGrid>(of.comm, 0, 0);
  const index side = grid->GetGridRows(), n = of.a.rows();
  const index row = grid->GetRankInProcCol(), column = grid->GetRankInProcRow();
  const auto begin = [=](index k) { return k == side ? n : n / side * k; };
  std::vector<entry> entries;
  for (index i = 0; i < n; ++i)
    for (auto p = of.whole.structure().offset(i); p < of.whole.structure().offset(i + 1); ++p) {
      const index j = of.whole.structure().column_indices()[p];
      const index r = (turned ? j : i) - begin(row), c = (turned ? i : j) - begin(column);
      if (r >= 0 && r < begin(row + 1) - begin(row) && c >= 0 &&
          c < begin(column + 1) - begin(column))
        entries.emplace_back(r, c, static_cast<T>(of.whole.values()[p]));
    }
  auto* const owned = new entry[entries.size()];  // CombBLAS deletes it
  std::ranges::copy(entries, owned);
  const cb::SpTuples<rig::int32, T> block(static_cast<int64>(entries.size()),
                                          begin(row + 1) - begin(row),
                                          begin(column + 1) - begin(column), owned);
  return std::make_shared<cb_matrix<T>>(new cb::SpDCCols<rig::int32, T>(block, false), grid);
}
/// The whole column, on each rank: ranks have its parts in their order.
template <class T>
dense whole_of(const problem& of, const column<T>& parts) {
  const std::vector<double> here(parts.GetLocArr(), parts.GetLocArr() + parts.LocArrSize());
  std::vector<int> counts(static_cast<std::size_t>(of.ranks.size())), begin(counts.size());
  const int count = static_cast<int>(here.size()), first = static_cast<int>(parts.LengthUntil());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, of.comm);
  MPI_Allgather(&first, 1, MPI_INT, begin.data(), 1, MPI_INT, of.comm);
  dense all(of.a.rows(), 1);
  MPI_Allgatherv(here.data(), count, MPI_DOUBLE, all.data(), counts.data(), begin.data(),
                 MPI_DOUBLE, of.comm);
  return all;
}
way combblas_mxv(const problem& of) {
  const auto a = cb_matrix_of<double>(of, false);
  column<double> x(a->getcommgrid(), of.a.rows(), 0);
  for (int64 k = 0, first = x.LengthUntil(); k < x.LocArrSize(); ++k)
    x.SetElement(first + k, of.x(static_cast<index>(first + k), 0));
  return way_of(
      "CombBLAS", [=] { return cb::SpMV<cb::PlusTimesSRing<double, double>>(*a, x); },
      [&of](const column<double>& y) { return whole_of(of, y); });
}
/// The loop of CombBLAS's TopDownBFS, which keeps levels in place of parents.
way combblas_search(const problem& of, index source) {
  const auto a = cb_matrix_of<bool>(of, true);
  const auto buffers = std::make_shared<cb::OptBuf<rig::int32, int64>>();
  a->OptimizeForGraph500(*buffers);
  return way_of(
      "CombBLAS",
      [a, buffers, source] {
        column<int64> levels(a->getcommgrid(), a->getncol(), -1);
        cb::FullyDistSpVec<int64, int64> fringe(a->getcommgrid(), a->getncol());
        levels.SetElement(source, 0);
        fringe.SetElement(source, source);
        for (int64 level = 1; fringe.getnnz() > 0; ++level) {
          fringe.setNumToInd();
          fringe = cb::SpMV(*a, fringe, *buffers);
          fringe = cb::EWiseMult(fringe, levels, true, int64{-1});
          fringe.Apply([level](int64) { return level; });
          levels.Set(fringe);
        }
        return levels;
      },
      [&of](const column<int64>& levels) { return whole_of(of, levels); });
}

}  // namespace

library combblas() {
  return {"CombBLAS",      "CombBLAS of the package libcombblas-dev",
          nullptr,         combblas_mxv,
          combblas_search, true};
}

}  // namespace bench
#else
#include "mpi.hpp"

bench::library bench::combblas() { return {"CombBLAS", "absent"}; }
#endif
