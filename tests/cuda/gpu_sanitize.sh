#!/usr/bin/env bash
# gpu_sanitize.sh TOOL PROGRAM: runs PROGRAM under a tool of compute-sanitizer; each finding fails the test. Exit code
# 77, which ctest reports as skipped, means that compute-sanitizer or a GPU is missing.
set -euo pipefail
tool=$1
program=$2
export PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin"
sanitizer=$(command -v compute-sanitizer) || {
  echo "SKIPPED: no compute-sanitizer on the path or in CUDA_HOME"
  exit 77
}
# Listing the tests runs none of them, but fails without a GPU.
"$program" --count

options=(--tool "$tool" --error-exitcode 1 --print-limit 20 --target-processes all)
# Also checks stream-ordered memory: another stream must not use it before its allocation or after its release.
[ "$tool" != memcheck ] || options+=(--track-stream-ordered-races all)
exec "$sanitizer" "${options[@]}" "$program"
