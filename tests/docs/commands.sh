#!/bin/sh
# commands.sh SOURCE BUILD: runs the blocks ```sh run of README.md as they are written, in a folder that
# looks like the repository after `make build`. The page's first program is pool.cpp there.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$1"/* "$folder"
rm -f "$folder/build"
ln -s "$2" "$folder/build"
awk '$0 == "```cpp" && !n { on = 1; next } /^```/ && on { on = 0; n = 1 } on' "$1/README.md" > "$folder/pool.cpp"
awk '$0 == "```sh run" { on = 1; next } /^```/ { on = 0 } on' "$1/README.md" > "$folder/commands"
awk '/^```text/ && !n { on = 1; next } /^```/ && on { on = 0; n = 1 } on' "$1/README.md" > "$folder/expected"
[ -s "$folder/commands" ] || { echo "README.md has no block of commands"; exit 1; }
[ -s "$folder/expected" ] || { echo "README.md has no expected output"; exit 1; }
cd "$folder"
HOME=$folder/home sh -e commands > log || { cat log; exit 1; }
tail -n "$(wc -l < expected)" log | diff expected -
