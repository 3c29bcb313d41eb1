# Turns the C++ snippets of one Markdown page into one program, or prints the output that the page
# promises.
#
#   awk -f snippets.awk -v page=NAME PAGE.md                        the program
#   awk -f snippets.awk -v part=output [-v cuda=1] PAGE.md          the expected output
#
# ```cpp          a fragment: it runs in the page's main, after the fragments before it
# ```cpp file     file scope; so is a block that begins with struct, template, RIG_SEMIRING,
#                 namespace, static or a constexpr function
# ```cpp cuda     a fragment in a scope of its own; it is compiled everywhere, and runs if there is
#                 a CUDA device
# <!-- cpp …      the same three kinds for code that the reader does not see, to the line -->
# ```text         the exact output at that place; ```text cuda only if there is a CUDA device. Behind
#                 ```sh run it is what the commands print (commands.sh)
#
# A block with `int main(` is a complete program: it becomes a namespace and a function, which the
# page's main calls in its turn. #include lines go to the top. #line makes errors name the page.

function flush_block(    i, first, kind, start) {
  first = ""
  start = 0
  for (i = 1; i <= count; ++i) {
    if (block[i] ~ /^[ \t]*#[ \t]*include/) {
      includes = includes line_of(i) block[i] "\n"
      block[i] = ""
    } else if (first == "" && block[i] !~ /^[ \t]*(\/\/.*)?$/) {
      first = block[i]
    }
    if (block[i] ~ /^int main\(/) start = i
  }
  if (first == "") return
  if (start) add_program(start)
  else if (is_file_scope(first)) globals = globals text_of(1)
  else if (info ~ / cuda/)
    fragments = fragments "if (page_has_cuda()) {\n" text_of(1) "}\n"
  else fragments = fragments text_of(1)
}

function is_file_scope(first) {
  if (info ~ / file/) return 1
  if (info ~ / cuda/) return 0
  if (first ~ /^constexpr / && first ~ /\).*\{/) return 1
  return first ~ /^(struct|template|RIG_SEMIRING|RIG_OPERATOR|namespace|static)[ <(]/
}

function line_of(i) { return "#line " (begin + i) " \"" page "\"\n" }

function text_of(i,    text) {
  text = line_of(i)
  for (; i <= count; ++i) text = text block[i] "\n"
  return text
}

# main may end without return; another function may not.
function add_program(start,    i, name, arguments, closed) {
  name = "program_" (++programs)
  arguments = block[start] ~ /^int main\(int/ ? "count, words" : ""
  sub(/^int main\(/, "int " name "(", block[start])
  for (i = start; i <= count && !closed; ++i)
    if (block[i] ~ /\}[ \t]*$/ && (block[i] ~ /^\}/ || i == start)) {
      sub(/\}[ \t]*$/, "return 0; }", block[i])
      closed = 1
    }
  globals = globals "namespace of_" name " {\n" text_of(1) "}\n"
  fragments = fragments "if (const int status = of_" name "::" name "(" arguments \
              ")) return status;\n"
}

BEGIN { if (part == "") part = "program" }

{ sub(/\r$/, "") }

state == "" && /^```/ {
  fence = $0
  of_commands = info ~ /^sh run/
  info = substr(fence, 4)
  state = info ~ /^cpp( |$)/ ? "code" : info ~ /^text( |$)/ && !of_commands ? "output" : "other"
  begin = NR
  count = 0
  next
}
state == "" && /^<!-- cpp/ {
  info = $0
  sub(/^<!-- /, "", info)
  begin = NR
  count = 0
  if (info ~ /-->$/) {  # <!-- cpp code --> on one line
    sub(/^cpp *( file| cuda)? */, "", info)
    sub(/ *-->$/, "", info)
    begin = NR - 1
    block[++count] = info
    info = "cpp"
    flush_block()
    next
  }
  state = "hidden"
  next
}
state == "hidden" && /^-->/ { state = ""; flush_block(); next }
/^```/ && state != "hidden" {
  if (state == "code") flush_block()
  state = ""
  next
}
state == "code" || state == "hidden" { block[++count] = $0; next }
state == "output" && part == "output" && (info !~ / cuda/ || cuda) { print; next }

END {
  if (state != "") {
    print page ":" begin ": the block does not end" > "/dev/stderr"
    exit 1
  }
  if (part != "program") exit
  printf "%s", includes
  print "#include <cstdio>\n#include <cstring>\n#include <exception>\n#include \"rig/place.hpp\"\n"
  printf "%s", globals
  print "#line 1 \"the main of " page "\""
  print "[[maybe_unused]] static bool page_has_cuda() { return rig::devices().size() > 1; }"
  print "int main(int count, char** words) try {"
  print "if (count > 1 && std::strcmp(words[1], \"--has-cuda\") == 0) return page_has_cuda() ? 0 : 1;"
  printf "%s", fragments
  print "#line 1 \"the end of " page "\""
  print "return 0;\n} catch (const std::exception& e) {"
  print "std::fprintf(stderr, \"%s: %s\\n\", \"" page "\", e.what());\nreturn 1;\n}"
}
