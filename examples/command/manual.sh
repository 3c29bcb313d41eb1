#!/bin/sh
# manual.sh RIGBLAS: writes the manual page of the command, from its --help and those of its subcommands.
set -eu
rigblas=$1
here=$(dirname "$0")
version=$("$rigblas" --version)
names() { "$@" --help | sed -n 's/^  \([a-z_]*\).*/\1/p'; }
{
  "$rigblas" --help
  for command in $(names "$rigblas"); do
    echo ".SH rigblas $command"
    "$rigblas" "$command" --help
  done
  for algorithm in $(names "$rigblas" run); do
    echo ".SH rigblas run $algorithm"
    "$rigblas" run "$algorithm" --help
  done
} | awk -v version="$version" -f "$here/manual.awk"
