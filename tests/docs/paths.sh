#!/bin/sh
# Checks that pages name files of the repository that are there:  paths.sh ROOT PAGE.md…
# A name with a folder is a path of the repository; in docs/lab a name without one is any file's.
# NAME, FAMILY and TOPIC stand for names; plus_max is the example of add_a_semiring.md.
set -eu
root=$1
shift
status=0 checked=0
ends='\.(cpp|hpp|cu|cuh|csv|def|sh|py|md|json|jsonl)'
wrong() {
  echo "$page: there is no $1"
  status=1
}
for page; do
  for path in $(grep -oE "(^|[^A-Za-z0-9_/.-])(src|include|semirings|tests|examples|docs)/[A-Za-z0-9_/-]+$ends\b" "$page" |
    sed 's/^[^a-z]//' | sort -u); do
    checked=$((checked + 1))
    case $path in
      *NAME* | *FAMILY* | *TOPIC* | *plus_max*) ;;
      *) [ -e "$root/$path" ] || [ -e "$root/$path.in" ] || wrong "$path" ;;
    esac
  done
  case $page in
    */docs/lab/*)
      for name in $(grep -oE "[A-Za-z0-9_]+\.(cpp|hpp|cu|cuh|csv|py)\b" "$page" | sort -u); do
        checked=$((checked + 1))
        [ -n "$(find "$root/src" "$root/include" "$root/semirings" "$root/tests" "$root/examples" -name "$name")" ] ||
          wrong "$name"
      done ;;
  esac
done
[ $checked -gt 0 ] || { echo "paths.sh: no path was found"; exit 1; }
echo "$checked paths checked"
exit $status
