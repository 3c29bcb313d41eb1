// PETSc's products over ranks, for bench_mpi: MPIAIJ by MPIDENSE, and by a column.

#include "mpi.hpp"

#ifdef RIG_HAS_PETSC
#include <petscmat.h>

namespace bench {
namespace {

#define RIG_PETSC(...) PetscCallAbort(PETSC_COMM_SELF, (__VA_ARGS__))

/// A matrix of PETSc, which stores a dense column by column.
using petsc_matrix = std::shared_ptr<_p_Mat>;
petsc_matrix owned(Mat of) {
  return {of, [](Mat one) { RIG_PETSC(MatDestroy(&one)); }};
}
petsc_matrix petsc_sparse(const problem& of) {
  const rig::matrix<double>& here = of.a.local();
  std::vector<PetscInt> offsets;
  for (index i = 0; i <= here.rows(); ++i)
    offsets.push_back(static_cast<PetscInt>(here.structure().offset(i)));
  Mat made = nullptr;
  RIG_PETSC(MatCreateMPIAIJWithArrays(of.comm, here.rows(), here.rows(), of.a.rows(), of.a.rows(),
                                      offsets.data(), here.structure().column_indices(),
                                      here.values(), &made));
  return owned(made);
}
petsc_matrix petsc_dense(const problem& of) {
  const dense& here = of.x_part.local();
  Mat made = nullptr;
  double* to = nullptr;
  RIG_PETSC(MatCreate(of.comm, &made));
  RIG_PETSC(MatSetSizes(made, here.rows(), PETSC_DECIDE, of.a.rows(), here.columns()));
  RIG_PETSC(MatSetType(made, MATMPIDENSE));
  RIG_PETSC(MatSetUp(made));
  RIG_PETSC(MatDenseGetArrayWrite(made, &to));
  for (index j = 0; j < here.columns(); ++j)
    for (index i = 0; i < here.rows(); ++i) *to++ = here(i, j);
  RIG_PETSC(MatDenseRestoreArrayWrite(made, &to));
  RIG_PETSC(MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY));
  RIG_PETSC(MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY));
  return owned(made);
}
dense from_columns(const problem& of, const double* from) {
  dense here(of.a.local().rows(), of.x.columns());
  for (index j = 0; j < here.columns(); ++j)
    for (index i = 0; i < here.rows(); ++i) here(i, j) = *from++;
  return of.gather(std::move(here));
}
way petsc_mxm(const problem& of) {
  const petsc_matrix a = petsc_sparse(of), x = petsc_dense(of);
  Mat made = nullptr;
  RIG_PETSC(MatMatMult(a.get(), x.get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made));
  const petsc_matrix c = owned(made);
  return {"PETSc",
          [=] {
            Mat again = c.get();
            RIG_PETSC(MatMatMult(a.get(), x.get(), MAT_REUSE_MATRIX, PETSC_DEFAULT, &again));
          },
          [=, &of] {
            const double* from = nullptr;
            RIG_PETSC(MatDenseGetArrayRead(c.get(), &from));
            return from_columns(of, from);
          }};
}
way petsc_mxv(const problem& of) {
  const petsc_matrix a = petsc_sparse(of);
  Vec x = nullptr, y = nullptr;
  RIG_PETSC(MatCreateVecs(a.get(), &x, &y));
  double* to = nullptr;
  RIG_PETSC(VecGetArrayWrite(x, &to));
  for (index i = 0; i < of.x_part.local().rows(); ++i) to[i] = of.x_part.local()(i, 0);
  RIG_PETSC(VecRestoreArrayWrite(x, &to));
  const std::shared_ptr<_p_Vec> from(x, [](Vec one) { RIG_PETSC(VecDestroy(&one)); });
  const std::shared_ptr<_p_Vec> sum(y, [](Vec one) { RIG_PETSC(VecDestroy(&one)); });
  return {"PETSc", [=] { RIG_PETSC(MatMult(a.get(), from.get(), sum.get())); },
          [=, &of] {
            const double* numbers = nullptr;
            RIG_PETSC(VecGetArrayRead(sum.get(), &numbers));
            return from_columns(of, numbers);
          }};
}

}  // namespace

library petsc() {
  RIG_PETSC(PetscInitializeNoArguments());
  const int version[] = {PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR};
  std::string text = "PETSc";
  for (const int part : version) text += (text == "PETSc" ? " " : ".") + std::to_string(part);
  library made{"PETSc", text, petsc_mxm, petsc_mxv};
  made.session = {nullptr, [](void*) { RIG_PETSC(PetscFinalize()); }};
  return made;
}

}  // namespace bench
#else
bench::library bench::petsc() { return {"PETSc", "absent"}; }
#endif
