# What ranks travel by.

# Debian's two implementations of MPI, those that are installed, for tests and examples: the library links
# neither. For each name in `mpi_found` there is a target mpi_NAME to link, and ${RIG_MPIRUN_NAME}.
set(mpi_found "")
foreach(mpi openmpi mpich)
  find_program(RIG_MPICXX_${mpi} mpicxx.${mpi})
  find_program(RIG_MPIRUN_${mpi} mpirun.${mpi})
  if(NOT RIG_MPICXX_${mpi} OR NOT RIG_MPIRUN_${mpi})
    continue()
  endif()
  # The compiler's command line: include folders, and what is linked.
  execute_process(COMMAND ${RIG_MPICXX_${mpi}} -show OUTPUT_VARIABLE line COMMAND_ERROR_IS_FATAL ANY
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(line UNIX_COMMAND "${line}")
  set(includes ${line})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  # The header is in another package than the compiler's front.
  find_path(RIG_MPI_INCLUDE_${mpi} mpi.h PATHS ${includes} NO_DEFAULT_PATH)
  if(NOT RIG_MPI_INCLUDE_${mpi})
    continue()
  endif()
  list(APPEND mpi_found ${mpi})
  list(FILTER line INCLUDE REGEX "^-(L|l|Wl)")
  add_library(mpi_${mpi} INTERFACE)
  target_include_directories(mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_link_libraries(mpi_${mpi} INTERFACE ${line})
endforeach()

# Runs a program on some ranks of two cores. OpenMPI lets root run programs only by two variables;
# version 4 reads one for more ranks than cores, version 5 another.
set(mpi_environment "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;\
OMPI_MCA_rmaps_base_oversubscribe=1;PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")
function(add_mpi_test name mpi ranks)
  add_test(NAME ${name} COMMAND ${RIG_MPIRUN_${mpi}} -n ${ranks} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 PROCESSORS 2 ENVIRONMENT "${mpi_environment};OMP_NUM_THREADS=1")
endfunction()

# PETSc and CombBLAS of Debian, which are built with OpenMPI: targets `rig_petsc` and `rig_combblas` where they are found.
if("openmpi" IN_LIST mpi_found AND (RIG_EXAMPLES OR RIG_BENCH))
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(RIG_PETSC QUIET IMPORTED_TARGET PETSc)
  endif()
  if(RIG_PETSC_FOUND)
    add_library(rig_petsc INTERFACE)
    target_link_libraries(rig_petsc INTERFACE PkgConfig::RIG_PETSC mpi_openmpi)
  endif()
  find_path(RIG_COMBBLAS_INCLUDE CombBLAS/CombBLAS.h)
  find_library(RIG_COMBBLAS_LIBRARY CombBLAS)
  if(RIG_COMBBLAS_INCLUDE AND RIG_COMBBLAS_LIBRARY)
    add_library(rig_combblas INTERFACE)
    target_include_directories(rig_combblas SYSTEM INTERFACE ${RIG_COMBBLAS_INCLUDE})
    target_link_libraries(rig_combblas INTERFACE ${RIG_COMBBLAS_LIBRARY} mpi_openmpi)
  endif()
endif()

# NCCL is of a Debian package, or of PyPI's nvidia-nccl-cu13: RIG_NCCL is then its folder nvidia/nccl.
if(cuda)
  set(RIG_NCCL "" CACHE PATH "Folder of NCCL's include and lib, for tests and benchmark of its ranks")
  find_path(RIG_NCCL_INCLUDE nccl.h HINTS ${RIG_NCCL} PATH_SUFFIXES include)
  find_library(RIG_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${RIG_NCCL} PATH_SUFFIXES lib)
  if(RIG_NCCL_INCLUDE AND RIG_NCCL_LIBRARY)
    add_library(rig_nccl INTERFACE)
    target_include_directories(rig_nccl SYSTEM INTERFACE ${RIG_NCCL_INCLUDE})
    target_link_libraries(rig_nccl INTERFACE ${RIG_NCCL_LIBRARY} CUDA::cudart)
  endif()
endif()

# METIS, for a test: target `rig_metis` where it is found. The library does not link it.
find_path(RIG_METIS_INCLUDE metis.h)
find_library(RIG_METIS_LIBRARY metis)
if(RIG_METIS_INCLUDE AND RIG_METIS_LIBRARY)
  add_library(rig_metis INTERFACE)
  target_include_directories(rig_metis SYSTEM INTERFACE ${RIG_METIS_INCLUDE})
  target_link_libraries(rig_metis INTERFACE ${RIG_METIS_LIBRARY})
endif()
