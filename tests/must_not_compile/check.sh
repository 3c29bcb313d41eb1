#!/usr/bin/env bash
# check.sh SOURCE COMPILE...: COMPILE must refuse SOURCE with an error that contains the text after "// expect:" in
# its first line. "// expect: success" marks the control, which compiles. The next lines may give the number of errors
# ("// errors: number") and further flags of COMPILE ("// flags: flags").
set -euo pipefail
source=$1
shift
expected=$(sed -n '1s|^// expect: ||p' "$source")
errors=$(sed -n 's|^// errors: ||p' "$source")
read -ra flags < <(sed -n 's|^// flags: ||p' "$source") || true
if [ -z "$expected" ]; then
  echo "$source: the first line is not '// expect: text'"
  exit 1
fi
if output=$("$@" "${flags[@]}" "$source" 2>&1); then
  [ "$expected" = success ] && exit 0
  echo "$source: compiled, should fail with '$expected'"
  exit 1
fi
if [ "$expected" = success ] || ! grep -qF -- "$expected" <<<"$output"; then
  printf "%s: should give '%s', gave:\n%s\n" "$source" "$expected" "$output"
  exit 1
fi
given=$(grep -cE '(^|[^a-z] )error: ' <<<"$output")
if [ -n "$errors" ] && [ "$given" -ne "$errors" ]; then
  printf '%s: should give %s errors, gave %s:\n%s\n' "$source" "$errors" "$given" "$output"
  exit 1
fi
