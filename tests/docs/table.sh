#!/bin/sh
# table.sh PAGE COMMAND...: the table of a page, between its two marks, is what COMMAND prints.
set -eu
page=$1
shift
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$@" > "$made"
[ -s "$made" ] || { echo "$1 prints no table"; exit 1; }
awk '/^<!-- end of table -->/ { on = 0 } on && NF { print } /^<!-- table:/ { on = 1 }' "$page" |
  diff - "$made" || { echo "$page differs from $*; put that table in its place"; exit 1; }
