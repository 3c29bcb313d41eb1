# Turns a Markdown page of the repository into one that Doxygen can read; Doxygen runs it in the root.
#
#   awk -f docs/site/page.awk PAGE.md                  the page
#   awk -f docs/site/page.awk -v part=files PAGE.md    the files that it links to and that are no pages
#
# A link to a page becomes a link to that page of the site, with GitHub's anchors. A link to a header of
# the API leads to its description, and one to another file to a copy under files/. A link to a folder
# becomes the list of its pages, or text. A picture keeps its path from the root. The pages that a list or
# a README links to are its children. Blocks ```cpp with a second word, and hidden ones, are known to the
# tests only.

FNR == 1 {
  root = ENVIRON["PWD"] "/"
  name = FILENAME
  if (index(name, root) == 1) name = substr(name, length(root) + 1)
  folder = name
  if (!sub(/[^\/]*$/, "", folder)) folder = ""
  page = page_of(name)
  untitled = !/^# /
  if (untitled && part != "files") print "# Lab: " title_of(name) " {#" page "}\n"
}

/^ *```/ {
  fenced = !fenced
  sub(/```[a-z]+ .*/, $1)
}
!fenced && /^<!--/ { hidden = 1 }
hidden {
  if (/-->/) hidden = 0
  if (part != "files") print ""
  next
}
part != "files" && (fenced || /^ *```/) { print; next }
part == "files" && fenced { next }

part != "files" && /^#+ / {
  anchor = $0 !~ /^# / ? page "__" slug_of($0) : page == "index" ? "mainpage" : page
  if (untitled) sub(/^##+/, "##")
  print linked($0) " {#" anchor "}"
  next
}
{
  line = linked($0)
  if (part != "files") print line
}

# The line with its links resolved; code spans stay as they are.
function linked(text,    out, before, found) {
  out = ""
  while (match(text, /`[^`]*`|!?\[([^]\[`]|`[^`]*`)*\]\([^)]*\)|src="[^"]*"/)) {
    before = substr(text, 1, RSTART - 1)
    found = substr(text, RSTART, RLENGTH)
    text = substr(text, RSTART + RLENGTH)
    if (found ~ /^`::[a-z0-9_]+`$/)  # otherwise Doxygen looks for a name of the API
      found = "<tt>\\" substr(found, 2, length(found) - 2) "</tt>"
    if (found ~ /^[`<]/) out = out before found
    else if (found ~ /^src/) out = out before "src=\"" path_of(substr(found, 6, length(found) - 6)) "\""
    else out = out before resolved(found)
  }
  return out text
}

function resolved(link,    words, target, anchor, path) {
  words = link
  sub(/\]\([^)]*\)$/, "", words)
  target = substr(link, length(words) + 3)
  sub(/\)$/, "", target)
  if (target ~ /^(https?|mailto):/) return link
  if (link ~ /^!/) return "<img src=\"" path_of(target) "\" alt=\"" substr(words, 3) "\">"
  words = substr(words, 2)
  anchor = target
  if (!sub(/^[^#]*#/, "", anchor)) anchor = ""
  sub(/#.*/, "", target)
  path = target == "" ? name : path_of(target)
  if (path ~ /\.md$/) {
    if (name ~ /docs\/.*README\.md$/ && index(path, folder) == 1 && anchor == "")
      return child(path)
    return "[" words "](" page_of(path) ".html" (anchor == "" ? "" : "#" page_of(path) "__" anchor) ")"
  }
  if (path == "include/rig") return "[" words "](namespacerig.html)"
  if (path ~ /^include\/rig\/[a-z_]*\.hpp$/)
    return "[" words "](" escaped(title_of(path)) "_8hpp.html)"
  if (system("test -f " path) != 0) return words pages_in(path)
  if (part == "files") print path
  return "[" words "](files/" path ".txt)"
}

# The path from the root of a path from the page's folder.
function path_of(target) {
  target = folder target
  while (sub(/[^\/]+\/\.\.\//, "", target)) {}
  sub(/\/$/, "", target)
  return target
}

# docs/guide/masks.md is guide_masks, docs/guide/README.md guide, README.md index.
function page_of(path) {
  sub(/^docs\//, "", path)
  sub(/\.md$/, "", path)
  if (path == "README") return "index"
  sub(/\/README$/, "", path)
  gsub(/\//, "_", path)
  return tolower(path)
}

function title_of(path) {
  sub(/.*\//, "", path)
  sub(/\.[a-z]*$/, "", path)
  return path
}

function child(path,    title) {
  getline title < path
  close(path)
  if (!sub(/^# /, "", title)) title = "Lab: " title_of(path)
  return "@subpage " page_of(path) " \"" title "\""
}

function pages_in(path,    command, list, one) {
  command = "ls " path "/*.md 2>/dev/null"
  while (command | getline one) list = list (list == "" ? " (" : ", ") child(one)
  close(command)
  return list == "" ? "" : list ")"
}

# A name as Doxygen writes it into the name of a file.
function escaped(text) {
  gsub(/_/, "__", text)
  return text
}

function slug_of(heading,    slug) {
  slug = tolower(heading)
  sub(/^#+ +/, "", slug)
  gsub(/\]\([^)]*\)/, "", slug)
  gsub(/[^a-z0-9 _-]/, "", slug)
  gsub(/ /, "-", slug)
  return seen[slug]++ ? slug "-" seen[slug] - 1 : slug
}
