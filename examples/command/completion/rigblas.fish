# Completion of rigblas in fish. The words come from the --help of what has been typed.
function __rigblas_help
    set -l typed (commandline -opc)
    set -l before $typed[1]
    set -l depth 2
    test "$typed[2]" = run; and set depth 3
    for word in $typed[2..$depth]
        string match -q -- '-*' $word; or set -a before $word
    end
    $before --help 2>/dev/null
end
complete -c rigblas -n '__rigblas_help | string match -qr "^  [a-z]"' -f \
    -a '(__rigblas_help | string match -rg "^  ([a-z_]+)")'
complete -c rigblas -n 'string match -q -- "-*" (commandline -ct)' -f \
    -a '(__rigblas_help | string match -rg "^  (--[a-z][a-z-]*)")'
