#!/bin/sh
# Runs the program of a page, and compares its output with the page's ```text blocks:
#   page.sh PROGRAM PAGE.md SCRATCH
# Exit code 77, "skipped", if PROGRAM is "skip", with the reason in place of SCRATCH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$1 page=$2 scratch=$3
if [ "$program" = skip ]; then
  echo "SKIPPED: $page: $scratch"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
cuda=0
if "$program" --has-cuda; then cuda=1; fi
awk -f "$here/snippets.awk" -v part=output -v cuda=$cuda "$page" > expected.txt
# A page shows what happens with no variable of rig's set.
unset RIG_KERNEL RIG_ISA RIG_TUNING || true
"$program" > output.txt
if ! diff -u expected.txt output.txt; then
  echo "$page: the output (+) is not that of the page (-)"
  exit 1
fi
echo "$page: $(wc -l < output.txt) lines of output as the page has them, CUDA: $cuda"
