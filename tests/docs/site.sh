#!/bin/sh
# site.sh ROOT SCRATCH: the site builds without a warning, and no link or picture of it leads nowhere.
# Exit code 77, "skipped", where Doxygen is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v doxygen > /dev/null || {
  echo "SKIPPED: the site needs Doxygen: apt-get install doxygen"
  exit 77
}
"$1/docs/site/make.sh" "$2"
html=$2/html
awk -f "$here/site_links.awk" -v root="$html/" "$html"/*.html "$html"/*.js "$html"/search/*.js
