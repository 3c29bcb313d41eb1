#!/bin/sh
# Markdown pages have a reading ease (Flesch 1948) of 57 or more, and sentences of at most 30 words:
#   prose.sh PAGE.md…
# Code, tables, headings and comments are left out; a syllable is a group of vowels without a final e.
set -eu
[ $# -gt 0 ] || { echo "prose.sh: no pages"; exit 1; }
exec awk '
function end_sentence(    n, i, word, list, count) {
  n = split(sentence, list, / +/)
  for (i = 1; i <= n; ++i) {
    if (list[i] !~ /[A-Za-z0-9]/) continue
    ++count
    if (list[i] ~ /`/) continue
    ++words
    word = tolower(list[i])
    gsub(/[^a-z]/, "", word)
    sub(/(e|es|ed)$/, "", word)
    n_vowels = gsub(/[aeiouy]+/, "", word)
    syllables += n_vowels > 0 ? n_vowels : 1
  }
  sentences += count > 0
  if (count > 30) { printf "%s:%d: %d words:%s\n", page, first, count, sentence; bad = 1 }
  sentence = ""
}
function end_page(    ease) {
  if (page != "") end_sentence()
  if (words >= 20) {
    ease = 206.835 - 1.015 * words / sentences - 84.6 * syllables / words
    printf "%s: reading ease %.0f\n", page, ease
    if (ease < 57) bad = 1
  }
  words = syllables = sentences = fenced = comment = 0
}
FNR == 1 { end_page(); page = FILENAME }
/^ *```/ { end_sentence(); fenced = !fenced; next }
fenced { next }
/^<!--/ { end_sentence(); comment = 1 }
comment { comment = !/-->/; next }
/^ *\|/ || /^#/ || /^ *$/ { end_sentence(); next }
sub(/^ *([-*]|[0-9]+\.) /, "") { end_sentence() }
{
  gsub(/`[^`]+`/, "`x`")
  gsub(/\]\([^)]*\)|!?\[/, "")
  n_parts = split($0, part, / +/)
  for (p = 1; p <= n_parts; ++p) {
    if (sentence == "") first = FNR
    sentence = sentence " " part[p]
    if (part[p] ~ /[.!?][)"*_]*$/) end_sentence()
  }
}
END { end_page(); exit bad }
' "$@"
