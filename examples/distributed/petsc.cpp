// Conjugate gradients of PETSc with rig's product, over the ranks of MPI:
//   mpirun -n 4 build/examples/petsc_ranks rmat:12:8
// PETSc's matrix is a shell around a distributed one: I + D − A of a graph, which is positive
// definite. PETSc's own matrix of the same entries solves the same system.

#include <petscksp.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "rig/distributed.hpp"
#include "rig/distributed/mpi.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::index;

/// I + D − A; D has the number of entries of each row of A.
rig::matrix<double> system_of(const rig::matrix<float>& graph) {
  std::vector<index> i, j;
  std::vector<double> values;
  const rig::pattern& of = graph.structure();
  for (index row = 0; row < graph.rows(); ++row) {
    const auto begin = of.offset(row), end = of.offset(row + 1);
    i.push_back(row), j.push_back(row), values.push_back(1.0 + static_cast<double>(end - begin));
    for (auto p = begin; p < end; ++p)
      i.push_back(row), j.push_back(of.column_indices()[p]), values.push_back(-1);
  }
  return rig::matrix<double>::from_tuples(graph.rows(), graph.columns(), i, j, values);
}

/// What the shell holds: this rank's part of the matrix, and room for its part of x.
struct operands {
  rig::distributed<rig::matrix<double>> a;
  rig::distributed<rig::dense<double>> x;
};

/// y = A·x. No exception passes through PETSc, which is written in C. Collective.
PetscErrorCode multiply(Mat shell, Vec x, Vec y) {
  operands* of = nullptr;
  const double* from = nullptr;
  double* to = nullptr;
  PetscCall(MatShellGetContext(shell, &of));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  std::string failed;
  try {
    rig::dense<double> here = of->x.view();
    std::copy_n(from, here.rows(), here.data());
    const auto product = rig::mxv(of->a, of->x, rig::plus_times<double>());
    std::copy_n(product.local().data(), here.rows(), to);
  } catch (const rig::error& error) {
    failed = error.what();
  }
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  if (!failed.empty()) SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", failed.c_str());
  return 0;
}

/// The shell, and PETSc's own matrix of copies of the same arrays. Collective.
PetscErrorCode make(operands& of, Mat* shell, Mat* own) {
  const rig::matrix<double>& here = of.a.local();
  const index rows = here.rows(), all = of.a.rows();
  std::vector<PetscInt> offsets;
  for (index i = 0; i <= rows; ++i)
    offsets.push_back(static_cast<PetscInt>(here.structure().offset(i)));
  PetscCall(MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, rows, rows, all, all, offsets.data(),
                                      here.structure().column_indices(), here.values(), own));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, all, all, &of, shell));
  return MatShellSetOperation(*shell, MATOP_MULT, reinterpret_cast<void (*)()>(multiply));
}

/// Solves A·x = b; returns the number of steps too. Collective.
PetscErrorCode solve(Mat a, Vec b, Vec x, PetscInt* steps) {
  KSP by = nullptr;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &by));
  PetscCall(KSPSetOperators(by, a, a));
  PetscCall(KSPSetType(by, KSPCG));
  PC none = nullptr;
  PetscCall(KSPGetPC(by, &none));
  PetscCall(PCSetType(none, PCNONE));
  PetscCall(KSPSetTolerances(by, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(by));
  PetscCall(KSPSolve(by, b, x));
  PetscCall(KSPGetIterationNumber(by, steps));
  return KSPDestroy(&by);
}

/// Prints whether the solutions of both matrices agree. Collective.
PetscErrorCode compare(operands& of, bool* agree) {
  Mat with[2] = {};
  Vec b = nullptr, *x = nullptr;
  PetscInt steps[2] = {};
  double size = 0, off = 0;
  PetscCall(make(of, &with[0], &with[1]));
  PetscCall(MatCreateVecs(with[1], &b, nullptr));
  PetscCall(VecSetRandom(b, nullptr));
  PetscCall(VecDuplicateVecs(b, 2, &x));
  for (int k = 0; k < 2; ++k) {
    PetscCall(solve(with[k], b, x[k], &steps[k]));
    PetscCall(MatDestroy(&with[k]));
  }
  PetscCall(VecNorm(x[1], NORM_2, &size));
  PetscCall(VecAXPY(x[0], -1, x[1]));
  PetscCall(VecNorm(x[0], NORM_2, &off));
  *agree = off <= 1e-9 * size;
  PetscCall(VecDestroyVecs(2, &x));
  PetscCall(VecDestroy(&b));
  return PetscPrintf(PETSC_COMM_WORLD, "%d steps with rig's product, %d with PETSc's: x %s\n",
                     steps[0], steps[1], *agree ? "agrees" : "differs");
}

}  // namespace

int main(int count, char** arguments) {
  PetscCall(PetscInitialize(&count, &arguments, nullptr, nullptr));
  bool agree = false;
  try {
    const auto whole = system_of(rig::generate::from_text(count > 1 ? arguments[1] : "rmat:8:8"));
    const rig::communicator ranks = rig::mpi_communicator(PETSC_COMM_WORLD);
    const auto rows = rig::layout::by_entries(whole.structure(), ranks.size());
    operands of{rig::distributed<rig::matrix<double>>::from_whole(ranks, whole, rows),
                rig::distributed<rig::dense<double>>::from_whole(ranks, {whole.rows(), 1}, rows)};
    PetscCallAbort(PETSC_COMM_WORLD, compare(of, &agree));
  } catch (const rig::error& failed) {
    std::fprintf(stderr, "petsc_ranks: %s\n", failed.what());
  }
  PetscCall(PetscFinalize());
  return agree ? 0 : 1;
}
