# Prints "page: target: reason" for every link and picture of a site that leads nowhere, and fails then:
#
#   awk -f site_links.awk -v root=FOLDER/ FOLDER/*.html FOLDER/*.js FOLDER/search/*.js
#
# The scripts hold the tree of pages and what the search finds.
# A target is a file below the folder, and its anchor an id or a name of that page. Addresses on the web are
# not followed.

FNR == 1 {
  page = substr(FILENAME, length(root) + 1)
  seen[page] = 1
}
FILENAME ~ /\.js$/ {
  line = $0
  while (match(line, /["'](\.\.\/)?[A-Za-z0-9_]+\.html(#[^"']*)?["']/)) {
    target = substr(line, RSTART + 1, RLENGTH - 2)
    line = substr(line, RSTART + RLENGTH)
    sub(/^\.\.\//, "", target)
    if (!(target in from)) from[target] = page
  }
  next
}
{
  line = $0
  while (match(line, /(id|name)="[^"]*"/)) {
    anchor = substr(line, RSTART, RLENGTH - 1)
    sub(/^[a-z]*="/, "", anchor)
    anchors[page "#" anchor] = 1
    line = substr(line, RSTART + RLENGTH)
  }
  line = $0
  while (match(line, /[ \t](href|src|data)="[^"]*"/)) {
    target = substr(line, RSTART + 1, RLENGTH - 2)
    line = substr(line, RSTART + RLENGTH)
    sub(/^[a-z]*="/, "", target)
    gsub(/&amp;/, "\\&", target)
    if (target ~ /^(https?|mailto|javascript|data):/ || target == "#" || target == "") continue
    if (target ~ /^#/) target = page target
    if (!(target in from)) from[target] = page
  }
}

END {
  for (target in from) {
    ++checked
    file = target
    sub(/#.*/, "", file)
    if (!(file in seen) && !exists(root file)) wrong(target, "there is no such file")
    else if (target ~ /#./ && (file in seen) && !(target in anchors)) wrong(target, "there is no such anchor")
  }
  if (!checked) {
    print "site_links.awk: no link was found"
    exit 1
  }
  print checked " targets checked"
  exit failed
}

function exists(path,    line, status) {
  status = (getline line < path)
  close(path)
  return status >= 0
}

function wrong(target, reason) {
  print from[target] ": " target ": " reason
  failed = 1
}
