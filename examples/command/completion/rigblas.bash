# Completion of rigblas in bash. The words come from the --help of what has been typed.
_rigblas() {
  local typed=${COMP_WORDS[COMP_CWORD]} before=("${COMP_WORDS[0]}") help word depth=1
  # The command, and after run the algorithm: what --help depends on.
  [[ ${COMP_WORDS[1]} == run ]] && depth=2
  for word in "${COMP_WORDS[@]:1:depth}"; do
    ((${#before[@]} < COMP_CWORD)) && [[ $word != -* ]] && before+=("$word")
  done
  help=$("${before[@]}" --help 2>/dev/null) || return 0
  if [[ $typed == -* ]]; then
    COMPREPLY=($(compgen -W "$(grep -oE '^  --[a-z][a-z-]*' <<<"$help")" -- "$typed"))
  elif grep -qE '^  [a-z]' <<<"$help"; then
    COMPREPLY=($(compgen -W "$(grep -oE '^  [a-z_]+' <<<"$help")" -- "$typed"))
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$typed")  # names may have blanks
  fi
}
complete -F _rigblas rigblas
