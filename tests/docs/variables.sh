#!/bin/sh
# variables.sh ROOT: docs/reference/variables.md has a row for each variable of the environment that
# the library and the examples read, and for no other.
set -eu
cd "$1"
read_by=$(grep -rhoE '"RIG_[A-Z_]+"' src include examples | tr -d '"' | sort -u)
[ -n "$read_by" ]
described=$(grep -oE '^\| `RIG_[A-Z_]+' docs/reference/variables.md | tr -d '|` ' | sort -u)
[ "$read_by" = "$described" ] || {
  printf 'read by the code:\n%s\ndescribed:\n%s\n' "$read_by" "$described"
  exit 1
}
