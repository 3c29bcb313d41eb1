#compdef rigblas
# Completion of rigblas in zsh. The words come from the --help of what has been typed.
_rigblas() {
  local -a before=($words[1]) options names
  local depth=1 help
  [[ $words[2] == run ]] && depth=2
  local k
  for ((k = 2; k <= depth + 1 && k < CURRENT; ++k)); do
    [[ $words[k] != -* ]] && before+=($words[k])
  done
  help=$($before --help 2>/dev/null) || return 1
  options=(${(f)"$(print -r -- $help | grep -oE '^  --[a-z][a-z-]*' | tr -d ' ')"})
  names=(${(f)"$(print -r -- $help | grep -oE '^  [a-z_]+' | tr -d ' ')"})
  if [[ $words[CURRENT] == -* ]]; then
    compadd -- $options
  elif (($#names)); then
    compadd -- $names
  else
    _files
  fi
}
_rigblas "$@"
