# Turns texts of --help into a manual page. A line ".SH TITLE" begins the text of a subcommand.

function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  sub(/^[.']/, "\\\\\\&&", text)
  return text
}

BEGIN {
  print ".TH RIGBLAS 1 \"\" \"" version "\" \"rig\""
  print ".SH NAME\nrigblas \\- sparse matrices and graphs from files"
  print ".SH SYNOPSIS"
}
/^\.SH / { print ".SH \"" toupper(substr($0, 5)) "\""; next }
/^Usage: / { print ".B " escaped(substr($0, 8)); if (!described++) print ".SH DESCRIPTION"; else print ".PP"; next }
/^[A-Z][A-Za-z ]*:$/ { print ".SS \"" substr($0, 1, length($0) - 1) "\""; next }
/^  [a-z-]/ {
  line = substr($0, 3)
  # The text begins after two blanks, or, where a long option leaves no room, after its default.
  split_at = match(line, /  +/)
  if (!split_at && match(line, /\) /)) { split_at = RSTART + 1; RLENGTH = 1 }
  print ".TP\n.B " escaped(split_at ? substr(line, 1, split_at - 1) : line)
  if (split_at) print escaped(substr(line, split_at + RLENGTH))
  next
}
/^ +[^ ]/ { sub(/^ +/, ""); print escaped($0); next }
/^$/ { print ".PP"; next }
{ print escaped($0) }
