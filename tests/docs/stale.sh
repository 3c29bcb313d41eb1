#!/bin/sh
# stale.sh PYTHON ROOT: docs/performance.md names the records that a tenth of the history is newer than, with their
# dates. Exit code 77 where git has not the whole history.
set -eu
python=$1 root=$2
if [ "$(git -C "$root" rev-parse --is-shallow-repository 2>/dev/null)" != false ]; then
  echo "skipped: there is no whole history"
  exit 77
fi
named=$(grep '^This page and its plots' "$root/docs/performance.md")
status=0
list=$("$python" "$root/docs/site/pages.py" stale "$root"/docs/records/*.json)
while read -r suite date rest; do
  [ -n "$suite" ] || continue
  echo "$suite of $date: $rest"
  echo "$named" | grep -q "\`$suite\`[^;]* of $date" || { echo "docs/performance.md does not name it"; status=1; }
done <<END
$list
END
exit $status
