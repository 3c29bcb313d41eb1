#!/bin/sh
# The accuracy study: trains and infers by fixed recipes, and prints a JSON object a line.
# study.sh PART BUILD DATA [options of the programs], where PART is
#   models     each model and a graph-blind one on real graphs, 10 seeds
#   maxk       MaxK against ReLU, 3 seeds
#   sampled    inference by sampled kernels of trained models
# The environment may name GRAPHS, MODELS, SEEDS, KEPT (the k of MaxK) and WIDTHS (sample sizes), and the number of
# JOBS at once (1). NAME:raw is the data set NAME with its features as they are.
# docs/site/pages.py makes docs/accuracy.md of the lines.
set -eu
if [ $# -lt 3 ]; then
  echo "usage: study.sh models|maxk|sampled BUILD DATA [options of the programs]" >&2
  exit 2
fi
part=$1 build=$2 data=$3 here=$(cd "$(dirname "$0")" && pwd)
shift 3
train=$build/examples/gnn_train infer=$build/examples/gnn_infer

# A folder of the data sets, or a generated graph.
source_of() {
  case $1 in
    *-like*) echo "--data $1" ;;
    *:raw) echo "--data $data/${1%:raw}" ;;
    *) echo "--data $data/$1 --normalize-features" ;;
  esac
}
# The options of the first row of recipes.csv that fits a graph and a model.
recipe_of() {
  while IFS=, read -r graph_like model_like options _; do
    # shellcheck disable=SC2254  # they are patterns
    case $1 in $graph_like) case $2 in $model_like) echo "$options" && return ;; esac ;; esac
  done < "$here/recipes.csv"
}
options_of() {
  case $2 in
    sage-* | gin-*) echo "--model ${2%-*} --aggregate ${2#*-} $(recipe_of "$1" "$2")" ;;
    *) echo "--model $2 $(recipe_of "$1" "$2")" ;;
  esac
}
# Runs each line of the input with the remaining options.
run() {
  xargs -P "${JOBS:-1}" -I '{}' sh -c "{} --json $*"
}

# Where the lines come from.
machine=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$machine" ] || machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
printf '{"study":"%s","commit":"%s","date":"%s","machine":"%s"}\n' "$part" \
  "$(git -C "$here" describe --always --dirty)" "$(date -u +%F)" "$machine"

case $part in
  models)
    raw="amazon-photo:raw amazon-computers:raw facebook-pages:raw tolokers:raw chameleon-filtered:raw squirrel-filtered:raw"
    for graph in ${GRAPHS:-cora citeseer amazon-photo $raw}; do
      for model in ${MODELS:-gcn sage-mean sage-pool gin gat mlp}; do
        for seed in ${SEEDS:-1 2 3 4 5 6 7 8 9 10}; do
          echo "$train $(source_of "$graph") $(options_of "$graph" "$model") --seed $seed"
        done
      done
    done | run "$@"
    ;;
  maxk)
    for graph in ${GRAPHS:-cora reddit-like}; do
      for seed in ${SEEDS:-1 2 3}; do
        wide="$train $(source_of "$graph") --model sage --hidden 256 --seed $seed"
        echo "$wide"
        for k in ${KEPT:-2 4 8 16 32 64}; do
          echo "$wide --nonlinearity maxk --k $k"
        done
      done
    done | run "$@"
    ;;
  sampled)
    model_file=$(mktemp)
    trap 'rm -f "$model_file"' EXIT
    for graph in ${GRAPHS:-cora reddit-like proteins-like}; do
      for model in ${MODELS:-gcn sage-mean}; do
        from=$(source_of "$graph")
        echo "$train $from $(options_of "$graph" "$model") --save $model_file" | run "$@"
        echo "$infer --model $model_file ${from%% --normalize-features} --sweep ${WIDTHS:-16,32,64,128,256,512,1024}" |
          run "$@"
      done
    done
    ;;
  *)
    echo "study.sh: PART is models, maxk or sampled, not '$part'" >&2
    exit 2
    ;;
esac
