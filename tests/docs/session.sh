#!/usr/bin/env bash
# session.sh PAGE BUILD [PREFIX]: runs each block ```sh run of a page, all in one new folder that has BUILD as build/, with BUILD
# first in the path, PREFIX as ~/rig, and the data sets as ../shared/data. It compares what a block prints with the block ```text
# that follows. There, … stands for any text; as a line of its own for any lines. A source file that a block names and nothing
# has written is the page's program: all of its C, or its first whole program in C++.
set -eu
page=$1 build=$2 prefix=${3-}
here=$(dirname "$0")
data=${RIG_DATA:-$here/../../../shared/data}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PATH=$build:$PATH
awk -v folder="$folder" '
$0 == "```sh run" { part = folder "/" (100 + ++n) ".sh"; printf "" > part; next }
$0 == "```text" && after { part = folder "/" (100 + n) ".text"; printf "" > part; next }
/^```/ { after = part ~ /\.sh$/; part = ""; next }
part != "" { print > part; next }
NF { after = 0 }' "$page"
if grep -q shared/data "$folder"/*.sh 2> /dev/null && ! [ -d "$data" ]; then
  echo "$page: SKIPPED: there are no data sets in $data"
  exit 77
fi
mkdir "$folder/clone" "$folder/home" "$folder/shared"
ln -s "$build" "$folder/clone/build"
[ ! -d "$data" ] || ln -s "$(realpath "$data")" "$folder/shared/data"
if [ -n "$prefix" ]; then
  ln -s "$prefix" "$folder/home/rig"
  pc=$(find "$prefix" -name rig.pc)
  export HOME=$folder/home PKG_CONFIG_PATH=${pc%/*}
fi
write_program() {
  case $1 in
    *.c) awk -f "$here/c_snippets.awk" "$page" ;;
    *) awk '/^```cpp/ { on = 1; text = ""; next } /^```/ { if (on && text ~ /int main/) exit; on = 0 } on { text = text $0 "\n" } END { printf "%s", text }' "$page" ;;
  esac > "$1"
}
page=$(realpath "$page") here=$(realpath "$here")
cd "$folder/clone"
status=0 blocks=0
for block in ../*.sh; do
  [ -e "$block" ] || { echo "$page: there is no block of commands"; exit 1; }
  blocks=$((blocks + 1))
  for source in $(grep -oE '\b[a-z_]+\.(c|cpp)\b' "$block" || true); do
    [ -e "$source" ] || write_program "$source"
  done
  bash -e "$block" > ../got 2> ../errors || { echo "$page: this failed:"; cat "$block" ../errors; exit 1; }
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
  END { if (!bad && !any && at < have) { print page ": not expected: " got[at + 1]; exit 1 } exit bad }' ../got "$expected" ||
    { echo "after:"; cat "$block"; status=1; }
done
echo "$page: $blocks blocks"
exit $status
