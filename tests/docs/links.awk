# Prints "line target" for every link and picture of a Markdown page that is no address on the web;
# with -v part=headings the anchors of its headings, as GitHub makes them.

/^ *```/ { fenced = !fenced; next }
fenced { next }
/^<!--/ { comment = 1 }
comment { if (/-->/) comment = 0; next }

part == "headings" {
  if ($0 !~ /^#+ /) next
  sub(/^#+ +/, "")
  sub(/ +#*$/, "")
  while (match($0, /\[[^]]*\]\([^)]*\)/)) {
    inside = substr($0, RSTART + 1, RLENGTH - 1)
    sub(/\]\(.*$/, "", inside)
    $0 = substr($0, 1, RSTART - 1) inside substr($0, RSTART + RLENGTH)
  }
  slug = tolower($0)
  gsub(/[!-,.\/:-@[-^`{-~]/, "", slug)  # ASCII punctuation except - and _
  gsub(/×|⟨|⟩|…|·|−|–|—|≤|≥|→/, "", slug)
  gsub(/ /, "-", slug)
  print seen[slug]++ ? slug "-" seen[slug] - 1 : slug
  next
}

{
  gsub(/`[^`]*`/, "x")  # code is no link
  rest = $0
  while (match(rest, /\]\([^)]*\)/)) {
    show(substr(rest, RSTART + 2, RLENGTH - 3))
    rest = substr(rest, RSTART + RLENGTH)
  }
  rest = $0
  while (match(rest, /(src|href)="[^"]*"/)) {
    target = substr(rest, RSTART, RLENGTH - 1)
    sub(/^[a-z]*="/, "", target)
    show(target)
    rest = substr(rest, RSTART + RLENGTH)
  }
  if (match($0, /^\[[^]]+\]: +/)) show(substr($0, RLENGTH + 1))
}

function show(target) {
  sub(/ .*$/, "", target)  # a title
  if (target !~ /^(https?|mailto):/) print NR " " target
}
