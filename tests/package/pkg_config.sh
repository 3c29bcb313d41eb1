#!/usr/bin/env bash
# pkg_config.sh PREFIX COMPILER: a program built by the options of rig.pc runs, also where the package was moved to.
set -euo pipefail
prefix=$1 compiler=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$prefix" "$folder/moved"
pc=$(find "$folder/moved" -name rig.pc)
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046
"$compiler" -O0 "$(dirname "$0")/main.cpp" $(pkg-config --cflags --libs rig) -o "$folder/program"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir rig) "$folder/program"
