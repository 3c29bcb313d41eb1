#!/bin/sh
# session.sh PAGE FOLDER: runs each block ```sh run of a page with FOLDER first in the path, all in one new folder, and
# compares what it prints with the block ```text that follows. There, … stands for any text; as a line of its own for any lines.
set -eu
page=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$2:$PATH
awk -v folder="$folder" '
$0 == "```sh run" { part = folder "/" (100 + ++n) ".sh"; printf "" > part; next }
$0 == "```text" && after { part = folder "/" (100 + n) ".text"; printf "" > part; next }
/^```/ { after = part ~ /\.sh$/; part = ""; next }
part != "" { print > part; next }
NF { after = 0 }' "$page"
cd "$folder"
status=0 blocks=0
for block in *.sh; do
  [ -e "$block" ] || { echo "$page: there is no block of commands"; exit 1; }
  blocks=$((blocks + 1))
  sh -e "./$block" > got 2> errors || { echo "$page: this failed:"; cat "$block" errors; exit 1; }
  expected=${block%.sh}.text
  [ -e "$expected" ] || continue
  awk -v page="$page" '
  FNR == NR { got[++have] = $0; next }
  $0 == "…" { any = 1; next }
  {
    pattern = $0
    gsub(/[][\\.^$*+?(){}|]/, "[&]", pattern)
    gsub(/\[\\\]/, "\\\\", pattern)
    gsub(/\[\^\]/, "\\^", pattern)
    gsub(/…/, ".*", pattern)
    do ++at; while (any && at <= have && got[at] !~ "^" pattern "$")
    if (at > have || got[at] !~ "^" pattern "$") {
      printf "%s: expected: %s\ngot: %s\n", page, $0, (at > have ? "the end" : got[at])
      exit bad = 1
    }
    any = 0
  }
  END { if (!bad && !any && at < have) { print page ": not expected: " got[at + 1]; exit 1 } exit bad }' got "$expected" ||
    { echo "after:"; cat "$block"; status=1; }
done
echo "$page: $blocks blocks"
exit $status
