#!/usr/bin/env bash
# include_check.sh INCLUDE GENERATED COMPILE...: for each public header, COMPILE - must accept a program that includes
# this header alone.
set -euo pipefail
include=$1 generated=$2
shift 2
headers=$(for folder in "$include" "$generated"; do
  (cd "$folder" && find -L rig -name '*.hpp')
done)
[ -n "$headers" ]
# shellcheck disable=SC2016
xargs -P "$(nproc)" -I {} bash -c '
  header=$1
  shift
  echo "#include <$header>" | "$@" - || { echo "<$header> does not compile alone" && exit 1; }
' include_check {} "$@" <<<"$headers"
