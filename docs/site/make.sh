#!/bin/sh
# Builds the site of the guide and the reference: make.sh FOLDER, its pages are in FOLDER/html.
# Fails on a warning of Doxygen.
set -eu
cd -P "$(dirname "$0")/../.."
export PWD
out=$1
rm -rf "$out"
mkdir -p "$out"
{
  cat docs/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$out\""
  # Where Doxygen has dark colours of its own, those of site.css would invert them.
  if doxygen -g - | grep -q '^HTML_COLORSTYLE '; then echo "HTML_COLORSTYLE = LIGHT"; fi
} | doxygen -
mkdir -p "$out/html/docs/plots"
cp docs/plots/*.svg "$out/html/docs/plots"
for page in README.md CONTRIBUTING.md docs/*.md docs/*/*.md; do
  awk -f docs/site/page.awk -v part=files "$page"
done | sort -u | while read -r file; do
  mkdir -p "$out/html/files/$(dirname "$file")"
  cp "$file" "$out/html/files/$file.txt"
done
