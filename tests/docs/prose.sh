#!/bin/sh
# Checks reading ease and sentence length of Markdown pages: prose.sh PAGE.md…
set -eu
here=$(cd "$(dirname "$0")" && pwd)
status=0
[ $# -gt 0 ] || { echo "prose.sh: no pages"; exit 1; }
for page; do
  awk -f "$here/prose.awk" -v page="${page#"$PWD"/}" "$page" || status=1
done
[ $status = 0 ] || echo "a page needs a reading ease of 50 or more, and sentences of at most 30 words"
exit $status
