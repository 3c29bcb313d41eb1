#!/usr/bin/env bash
# exports.sh LIBRARY NAMES FOLDER...: the library exports the interface for C and the listed names, nothing else; each
# listed name is in the library, and headers of the folders have it. All functions of rig.h are in the library.
set -euo pipefail
library=$1 names=$2
shift 2
symbols=$(nm --dynamic --defined-only "$library" | awk '{ print $NF }')
status=0
others=$(grep -vE '^rig_[a-z_]+$|^_Z(GV)?(T[VIS]|Z)?N[KRO]*3rig[0-9]' <<<"$symbols" | c++filt) || true
if [ -n "$others" ]; then
  echo "exported, and neither rig:: nor for C:" "$others"
  status=1
fi
while read -r name; do
  mangled=
  for part in ${name//::/ }; do mangled+=${#part}$part; done
  grep -qE "^_Z(GV)?(T[VIS]|Z)?N[KRO]*$mangled" <<<"$symbols" || { echo "$name is listed, but the library lacks it"; status=1; }
  grep -rqw "${name##*::}" "$@" || { echo "$name is listed, but no public header has it"; status=1; }
done < <(grep '^rig::' "$names")
for name in $(grep -hoE '\brig_[a-z_]+\(' "$@" --include=rig.h -r | tr -d '(' | sort -u); do
  grep -qx "$name" <<<"$symbols" || { echo "rig.h has $name, but the library lacks it"; status=1; }
done
exit $status
