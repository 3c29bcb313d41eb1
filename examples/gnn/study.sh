#!/bin/sh
# The accuracy study: trains and infers by fixed recipes, and prints a JSON object a line.
# study.sh PART BUILD DATA [options of the programs], where PART is
#   models     real graphs: each model and a graph-blind one, 10 seeds
#   maxk       MaxK against ReLU on a real or generated graph: GRAPHS, 3 seeds
#   sampled    inference by sampled kernels of models trained on GRAPHS
# GRAPHS and SEEDS of the environment name others; `gnn_accuracy` makes docs/accuracy.md of the lines.
set -eu
part=$1 build=$2 data=$3
shift 3
train=$build/examples/gnn_train infer=$build/examples/gnn_infer

# A folder of the data sets, or a generated graph.
source_of() {
  case $1 in
    *-like*) echo "--data $1" ;;
    *) echo "--data $data/$1 --normalize-features" ;;
  esac
}
# gcn has the width of Kipf & Welling, the others the default.
options_of() {
  case $1 in
    gcn | mlp) echo "--model $1 --hidden 16" ;;
    sage-*) echo "--model sage --aggregate ${1#sage-}" ;;
    *) echo "--model $1" ;;
  esac
}

case $part in
  models)
    for graph in ${GRAPHS:-cora citeseer amazon-photo facebook-pages}; do
      for model in ${MODELS:-gcn sage-mean sage-pool gin gat mlp}; do
        for seed in ${SEEDS:-1 2 3 4 5 6 7 8 9 10}; do
          $train $(source_of "$graph") $(options_of "$model") --seed "$seed" --json "$@"
        done
      done
    done
    ;;
  maxk)
    for graph in ${GRAPHS:-cora reddit-like}; do
      for seed in ${SEEDS:-1 2 3}; do
        wide="--model sage --hidden ${HIDDEN:-256} --seed $seed --json"
        $train $(source_of "$graph") $wide "$@"
        for k in ${KEPT:-2 4 8 16 32 64}; do
          $train $(source_of "$graph") $wide --nonlinearity maxk --k "$k" "$@"
        done
      done
    done
    ;;
  sampled)
    model_file=$(mktemp)
    trap 'rm -f "$model_file"' EXIT
    for graph in ${GRAPHS:-cora reddit-like proteins-like}; do
      for model in ${MODELS:-gcn sage-mean}; do
        $train $(source_of "$graph") $(options_of "$model") --save "$model_file" --json "$@"
        on="--model $model_file $(source_of "$graph" | sed 's/ --normalize-features//') --json"
        for type in float int8; do
          $infer $on --feature-type $type "$@"
          for kernel in bucket fastrand adaptive; do
            for width in ${WIDTHS:-16 32 64 128 256 512 1024}; do
              $infer $on --feature-type $type --kernel $kernel --width "$width" --rescale "$@"
            done
          done
        done
      done
    done
    ;;
  *)
    echo "study.sh: PART is models, maxk or sampled, not '$part'" >&2
    exit 2
    ;;
esac
