#!/bin/sh
# same.sh PAGE COMMAND...: COMMAND prints the page as it is in the repository.
set -eu
page=$1
shift
"$@" | diff "$page" - || { echo "make $page anew: $*"; exit 1; }
