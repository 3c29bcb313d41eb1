# Prints the table of docs/reference/semirings.md: awk -f semiring_table.awk builtin.def FILE.hpp…
# A semiring's maths is the comment above its struct.

BEGIN {
  print "| semiring | C(i,j) | CPU | GPU |"
  print "| --- | --- | --- | --- |"
}
/^RIG_BUILTIN/ {
  split($0, part, /[(, )]+/)
  if (!(part[2] in types)) order[++count] = part[2]
  types[part[2]] = types[part[2]] (types[part[2]] == "" ? "" : ", ") part[3]
}
/^RIG_AHEAD/ {
  split($0, part, /[(, )]+/)
  on_gpu[part[2]] = on_gpu[part[2]] (on_gpu[part[2]] == "" ? "" : ", ") part[3]
}
/^\/\/\// { text = text (text == "" ? "" : " ") substr($0, 5) }
/static constexpr const char\* name = / {
  names = split($0, part, "\"")
  for (i = 2; i <= names; i += 2) meaning[part[i]] = said
}
/^(template|struct)/ && text != "" { said = text; text = "" }
!/^\/\/\// { text = "" }
END {
  for (i = 1; i <= count; ++i) {
    name = order[i]
    sub(/^C\(i,j\) = /, "", meaning[name])
    gsub(/\|/, "\\|", meaning[name])
    print "| `" name "` | " meaning[name] " | " types[name] " | " on_gpu[name] " |"
  }
}
