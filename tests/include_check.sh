#!/usr/bin/env bash
# include_check.sh each|all INCLUDE GENERATED COMPILE...: COMPILE - must accept, for each public header, a program that
# includes this header alone; or one program that includes all of them.
set -euo pipefail
how=$1 include=$2 generated=$3
shift 3
headers=$(for folder in "$include" "$generated"; do
  (cd "$folder" && find -L rig '(' -name '*.hpp' -o -name '*.h' ')' -not -path 'rig/distributed/*')
done)
[ -n "$headers" ]
if [ "$how" = all ]; then
  sed 's/.*/#include <&>/' <<<"$headers" | "$@" -
  exit
fi
# shellcheck disable=SC2016
xargs -P "$(nproc)" -I {} bash -c '
  header=$1
  shift
  echo "#include <$header>" | "$@" - || { echo "<$header> does not compile alone" && exit 1; }
' include_check {} "$@" <<<"$headers"
