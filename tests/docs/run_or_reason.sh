#!/bin/sh
# run_or_reason.sh PAGE...: each block of commands says that the tests run it, ```sh run, or why they do not, ```sh no run: REASON.
awk '
/^ *```(sh|bash|console|shell)/ && !/^```sh run$/ && !/^```sh no run: [a-z]/ {
  print FILENAME ":" FNR ": " $0 ": write ```sh run, or ```sh no run: and the reason"
  bad = 1
}
END { exit bad }' "$@"
