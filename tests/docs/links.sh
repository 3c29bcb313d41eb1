#!/bin/sh
# Checks that every relative link of Markdown pages names a file, and a heading, that is there:
#   links.sh PAGE.md…
set -eu
here=$(cd "$(dirname "$0")" && pwd)
status=0 checked=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
wrong() {
  echo "$page:$line: $target: $1"
  status=1
}
for page; do
  awk -f "$here/links.awk" "$page" > "$list"
  while read -r line target; do
    checked=$((checked + 1))
    file=${target%%#*}
    if [ -z "$file" ]; then file=$page; else file=$(dirname "$page")/$file; fi
    if [ ! -e "$file" ]; then
      wrong "there is no such file"
    elif [ "$target" != "${target#*#}" ]; then
      anchor=${target#*#}
      case $file in
        *.md) awk -f "$here/links.awk" -v part=headings "$file" | grep -qxF -e "$anchor" ||
                wrong "there is no such heading" ;;
        *) wrong "an anchor into a file that has no headings" ;;
      esac
    fi
  done < "$list"
done
[ $checked -gt 0 ] || { echo "links.sh: no link was found"; exit 1; }
echo "$checked links checked"
exit $status
