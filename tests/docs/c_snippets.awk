# Turns the ```c blocks of a page into one program: `c file` blocks go to file scope, `c no run` blocks are compiled
# and do not run, the others are main's, in order.
/^```/ {
  kind = kind == "" ? substr($0, 4) : ""
  if (kind == "c no run") body = body "if (0) {\n"
  if (kind == "" && was == "c no run") body = body "}\n"
  was = kind
  next
}
kind == "c file" { globals = globals $0 "\n" }
kind == "c" || kind == "c no run" { body = body "#line " NR " \"" FILENAME "\"\n" $0 "\n" }
END {
  printf "%s", globals
  print "int main(int count, char** words) {\n(void)words;\nif (count > 1) return 1;"
  printf "%s", body
  print "return 0;\n}"
}
