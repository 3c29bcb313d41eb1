#!/usr/bin/env bash
# gpu_sanitize.sh TOOL PROGRAM: PROGRAM under a tool of compute-sanitizer, whose findings are failures. Exit code 77,
# which ctest reports as skipped, where there is no compute-sanitizer or PROGRAM finds no GPU.
set -euo pipefail
tool=$1
program=$2
export PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin"
sanitizer=$(command -v compute-sanitizer) || {
  echo "SKIPPED: no compute-sanitizer on the path or in CUDA_HOME"
  exit 77
}
# Listing its tests runs none, but looks for a GPU.
"$program" --count

options=(--tool "$tool" --error-exitcode 1 --print-limit 20 --target-processes all)
# Memory that comes and goes in the order of streams: also what another stream uses too early or too late.
[ "$tool" != memcheck ] || options+=(--track-stream-ordered-races all)
exec "$sanitizer" "${options[@]}" "$program"
