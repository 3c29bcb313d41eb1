# Reading ease of one Markdown page, and its long sentences. Code, tables, headings, comments and
# link targets are left out. A code span is one word of a sentence, and no word of the reading ease.
#   awk -f prose.awk -v page=NAME PAGE.md
# prints "page: line: N words: sentence" for each sentence over 30 words, then
# "page: reading ease N". Exit code 1 if a sentence is too long or the ease is below 50.
# Source: Flesch, Journal of Applied Psychology 32, 1948.

function syllables_of(word,    n, rest) {
  word = tolower(word)
  gsub(/[^a-z]/, "", word)
  if (word == "") return 1
  rest = word
  if (length(rest) > 3) {
    # A final e, es or ed is silent, except after letters that need it.
    if (rest ~ /[^aeioulr]es$/ && rest !~ /(s|x|z|ch|sh|c|g)es$/) sub(/es$/, "", rest)
    else if (rest ~ /[^aeioutd]ed$/) sub(/ed$/, "", rest)
    else if (rest ~ /[^aeiouy]e$/ && rest !~ /[^aeiou]le$/) sub(/e$/, "", rest)
  }
  n = gsub(/[aeiouy]+/, "x", rest)
  if (word ~ /i(a|o|um|ent)/ && word !~ /(tion|cia|tia|sion|gion)/) ++n
  return n > 0 ? n : 1
}

function end_sentence(    n, i, words, length_of) {
  n = split(sentence, words, /[ \t]+/)
  length_of = 0
  for (i = 1; i <= n; ++i) {
    if (words[i] !~ /[A-Za-z0-9]/) continue
    ++length_of
    if (words[i] ~ /`/) continue  # a code span
    ++all_words
    all_syllables += syllables_of(words[i])
  }
  if (length_of > 0) ++all_sentences
  if (length_of > 30) {
    sub(/^ +/, "", sentence)
    printf "%s:%d: %d words: %s\n", page, sentence_line, length_of, sentence
    bad = 1
  }
  sentence = ""
}

function add_text(text,    n, i, words) {
  n = split(text, words, /[ \t]+/)
  for (i = 1; i <= n; ++i) {
    if (words[i] == "") continue
    if (sentence == "") sentence_line = NR
    sentence = sentence " " words[i]
    if (words[i] ~ /[.!?][)"*_]*$/) end_sentence()
  }
}

# Code spans become one word `x`, links their text.
function plain(text,    before, inside, rest) {
  rest = text
  text = ""
  while (match(rest, /`[^`]+`/)) {
    text = text substr(rest, 1, RSTART - 1) "`x`"
    rest = substr(rest, RSTART + RLENGTH)
  }
  text = text rest
  while (match(text, /!?\[[^]]*\]\([^)]*\)/)) {
    before = substr(text, 1, RSTART - 1)
    inside = substr(text, RSTART, RLENGTH)
    rest = substr(text, RSTART + RLENGTH)
    sub(/^!?\[/, "", inside)
    sub(/\]\(.*$/, "", inside)
    text = before inside rest
  }
  gsub(/\*\*/, "", text)
  return text
}

/^ *```/ { end_sentence(); fenced = !fenced; next }
fenced { next }
/^<!--/ { end_sentence(); if ($0 !~ /-->/) comment = 1; next }
comment { if (/-->/) comment = 0; next }
/^ *\|/ || /^#/ || /^ *$/ { end_sentence(); next }
/^ *([-*]|[0-9]+\.) / { end_sentence(); sub(/^ *([-*]|[0-9]+\.) /, "") }
{ add_text(plain($0)) }

END {
  end_sentence()
  if (all_words < 20) exit bad
  ease = 206.835 - 1.015 * all_words / all_sentences - 84.6 * all_syllables / all_words
  printf "%s: reading ease %.0f, %d sentences, %.1f words each\n", page, ease, all_sentences,
         all_words / all_sentences
  if (ease < 50) bad = 1
  exit bad
}
