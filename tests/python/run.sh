#!/usr/bin/env bash
# Installs a wheel into a clean virtual environment, and tests it there: run.sh WHEELS FOLDER [pytest's arguments].
# The tests see the installed package alone: pytest runs in a folder of its own.
set -euo pipefail
tests=$(cd "$(dirname "$0")" && pwd)
wheels=$(realpath "$1") folder=$2
shift 2
rm -rf "$folder" && python3 -m venv "$folder"
pip=("$folder/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" "$wheels"/*.whl
# What it needs alone: it must be importable without SciPy and NetworkX.
(cd "$folder" && bin/python -c 'import rigblas as rig; print("rigblas", rig.__version__, rig.devices()[0]["name"])')
"${pip[@]}" pytest scipy networkx tqdm mpi4py mypy nanobind
cd "$folder"
exec bin/python -m pytest -q -p no:cacheprovider --rootdir "$tests" "$tests" "$@"
