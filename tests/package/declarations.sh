#!/usr/bin/env bash
# declarations.sh HEADER [LIST]: prints what rig.h declares: an enumerator, a field or a function a line. With LIST, that must be
# the list: a line that changes or goes breaks programs that are compiled already, and a new one is a decision too.
set -euo pipefail
declarations() {
  grep -E '^#define RIG_[A-Z]+(\(| [^ ])' "$1" | sed 's@ *//.*@@'
  sed -E 's@//.*@@; s@/\*.*\*/@@; /^ *#/d; /^extern "C"/d' "$1" | tr -s '\n ' ' ' |
    sed -E 's/([;{,]) /\1\n/g; s/ *\}/\n}/g' |
    awk 'NF { line = line (line == "" ? "" : " ") $0; sub(/^ /, "", line) }
         NF && gsub(/\(/, "(", line) == gsub(/\)/, ")", line) { print line; line = "" }' | sed '$ { /^}$/d }'
}
[ $# -eq 2 ] || { declarations "$1"; exit; }
diff "$2" <(declarations "$1") && exit
echo "rig.h declares something else than $2 has; if compiled programs stay right, write it: $0 $1 > $2"
exit 1
