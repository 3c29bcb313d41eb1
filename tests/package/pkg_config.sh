#!/usr/bin/env bash
# pkg_config.sh PREFIX COMPILER C_COMPILER: programs in C++ and in C built by the options of rig.pc and rig-c.pc run, also
# where the package was moved to.
set -euo pipefail
prefix=$1 compiler=$2 c_compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$prefix" "$folder/moved"
pc=$(find "$folder/moved" -name rig.pc)
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046
"$compiler" -O0 "$(dirname "$0")/main.cpp" $(pkg-config --cflags --libs rig) -o "$folder/program"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir rig) "$folder/program"
# shellcheck disable=SC2046
"$c_compiler" -std=c99 -Wall -Wextra -Wpedantic -Werror "$(dirname "$0")/c/main.c" $(pkg-config --cflags --libs rig-c) \
  -o "$folder/c_program"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir rig) "$folder/c_program"
