#!/usr/bin/env bash
# profile.sh BENCH [options]: writes the metrics of Nsight Compute for the products of suite profile, as CSV. Each
# line is one kernel under the name of its product, such as "rmat:18:16, F = 33, plus_times/...". Example:
# tests/bench/profile.sh build/bench --graphs rmat:18:16 --features 32,33
# NCU_OPTIONS adds options to ncu: "--nvtx-include regex:.*plus_times/" keeps the sums alone.
set -euo pipefail
bench=$1
shift
stalled=smsp__average_warps_issue_stalled
metrics=(
  gpu__time_duration.sum
  {lts,l1tex,dram}__throughput.avg.pct_of_peak_sustained_elapsed
  lts__t_sectors_op_{read,write}.sum
  lts__t_requests_srcunit_tex.sum
  l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
  l1tex__t_sectors_pipe_lsu_mem_global_op_ld{,_lookup_hit}.sum
  dram__bytes_{read,write}.sum
  sm__warps_active.avg.pct_of_peak_sustained_active
  smsp__issue_active.avg.pct_of_peak_sustained_active
  sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active
  smsp__inst_executed.sum
  launch__registers_per_thread
  ${stalled}_{long_scoreboard,short_scoreboard,barrier,lg_throttle,mio_throttle,math_pipe_throttle,wait,not_selected}_per_issue_active.ratio
  ${stalled}_{no_instruction,dispatch_stall,branch_resolving,drain,imc_miss,membar,selected}_per_issue_active.ratio
)
read -ra more <<<"${NCU_OPTIONS:-}"
exec ncu --clock-control none --profile-from-start off --nvtx --print-nvtx-rename kernel --csv --page raw \
  --metrics "$(IFS=,; echo "${metrics[*]}")" "${more[@]}" "$bench" profile --repeat 1 "$@"
