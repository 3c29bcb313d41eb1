#!/bin/sh
# Each check of the guide must find the mistakes of pages that are made of mistakes:
#   self_test.sh COMPILER FLAG…      the command that checks the syntax of a C++ file
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0
# expect_failure NAME TEXT COMMAND…: COMMAND fails, and its output has TEXT.
expect_failure() {
  name=$1 text=$2
  shift 2
  if "$@" > said 2>&1; then
    echo "$name: was not found"
    status=1
  elif ! grep -qF -e "$text" said; then
    echo "$name: '$text' is not in:"
    cat said
    status=1
  fi
}
expect_success() {
  name=$1
  shift
  if ! "$@" > said 2>&1; then
    echo "$name: failed:"
    cat said
    status=1
  fi
}

cat > good.md <<'PAGE'
# A page
<!-- cpp
const int hidden = 2;
-->
```cpp
#include <cstdio>
struct pair { int a, b; };
```
```cpp
const pair p{1, hidden};
std::printf("%d %d\n", p.a, p.b);
```
```text
1 2
```
```cpp
int main() {
  std::puts("a program");
}
```
```text
a program
```
```cpp cuda
std::puts("on a device");
```
```text cuda
on a device
```
See [the heading](#a-page). This is a short sentence that everyone can read with ease, and it has a
good end. It is clear what we say here, as the words are short.
PAGE
make_program() { awk -f "$here/snippets.awk" -v page="$1" "$1" > page.cpp; }
make_program good.md
expect_success "a good page compiles" "$@" page.cpp
expect_success "a good page reads well" "$here/prose.sh" good.md
expect_success "a good page has good links" "$here/links.sh" good.md

sed 's/p\.b)/p.c)/' good.md > bad_name.md
make_program bad_name.md
expect_failure "an unknown name" "bad_name.md:11:" "$@" page.cpp
sed 's/^  std::puts.*/  std::puts(1);/' good.md > bad_program.md
make_program bad_program.md
expect_failure "a wrong program" "bad_program.md:18:" "$@" page.cpp
sed '/on a device"/s/;//' good.md > bad_device.md
make_program bad_device.md
expect_failure "a wrong fragment for a device" "bad_device.md:25:" "$@" page.cpp
printf '```cpp\nint x = 1;\n' > open.md
expect_failure "a block without an end" "open.md:1:" make_program open.md

printf '#!/bin/sh\n[ "${1-}" != --has-cuda ] || exit 1\nprintf "1 2\\na program\\n"\n' > program
chmod +x program
expect_success "the right output" "$here/page.sh" "$work/program" "$work/good.md" "$work/scratch"
sed -i 's/1 2/1 3/' program
expect_failure "other output" "+1 3" "$here/page.sh" "$work/program" "$work/good.md" "$work/scratch"
printf '#!/bin/sh\n[ "${1-}" != --has-cuda ] || exit 1\necho went wrong >&2\nexit 1\n' > program
expect_failure "a program that fails" "went wrong" \
  "$here/page.sh" "$work/program" "$work/good.md" "$work/scratch"

cat > session.md <<'PAGE'
```sh run
echo one; echo 12 ms; echo two; echo three
```
```text
one
… ms
…
three
```
PAGE
expect_success "commands with the right output" "$here/session.sh" "$work/session.md" "$work"
sed 's/^one$/won/' session.md > bad_session.md
expect_failure "another line of output" "expected: won" "$here/session.sh" "$work/bad_session.md" "$work"
sed 's/^three$/four/' session.md > bad_session.md
expect_failure "a line that does not come" "expected: four" "$here/session.sh" "$work/bad_session.md" "$work"
sed '/^three$/d; /^…$/d' session.md > bad_session.md
expect_failure "a line too many" "not expected: two" "$here/session.sh" "$work/bad_session.md" "$work"
sed 's/echo three/false/' session.md > bad_session.md
expect_failure "a command that fails" "this failed" "$here/session.sh" "$work/bad_session.md" "$work"
expect_failure "a page without commands" "no block of commands" "$here/session.sh" "$work/good.md" "$work"
expect_success "commands that the tests run" "$here/run_or_reason.sh" session.md
printf '```sh no run: it installs packages\ntrue\n```\n' > reason.md
expect_success "commands that no test can run" "$here/run_or_reason.sh" reason.md
sed 's/ no run.*//' reason.md > bad_reason.md
expect_failure "commands without a reason" "bad_reason.md:1:" "$here/run_or_reason.sh" bad_reason.md
printf '```cpp\nint x;\n```\n```cpp\nint main() { return 0; }\n```\n```sh run\ncat page.cpp\n```\n```text\nint main() { return 0; }\n```\n' > program.md
expect_success "a page whose commands need its program" "$here/session.sh" "$work/program.md" "$work"

{
  echo 'Short. The first of the words of this'
  echo 'sentence are too many, as they go on and on, from line to line, with one more, and one more,'
  echo 'and then one more, till no one can say how it began, and it ends.'
} > long.md
expect_failure "a long sentence" "long.md:1: 4" "$here/prose.sh" long.md
{
  echo 'Extraordinarily sophisticated considerations necessitate multidimensional characterisations.'
  echo 'Implementation methodologies demonstrate considerable organisational interdependencies'
  echo 'Representational generalisation unquestionably facilitates comprehensive understanding of'
  echo 'heterogeneous computational infrastructures.'
} > hard.md
expect_failure "a page hard to read" "reading ease -" "$here/prose.sh" hard.md

echo 'See [this](absent.md).' > link.md
expect_failure "a link to no file" "link.md:1: absent.md" "$here/links.sh" link.md
echo 'See ![this](absent.svg).' > link.md
expect_failure "a picture that is not there" "link.md:1: absent.svg" "$here/links.sh" link.md
echo '<img src="absent.png" width="9">' > link.md
expect_failure "a picture of HTML that is not there" "link.md:1: absent.png" "$here/links.sh" link.md
echo 'See [this](good.md#no-such).' > link.md
expect_failure "a link to no heading" "link.md:1: good.md#no-such" "$here/links.sh" link.md

mkdir -p docs/lab src include semirings tests examples
echo 'See src/absent.cpp.' > path.md
expect_failure "a file that is gone" "there is no src/absent.cpp" "$here/paths.sh" "$work" "$work/path.md"
echo 'See gone.hpp.' > docs/lab/note.md
expect_failure "a name that is gone" "there is no gone.hpp" "$here/paths.sh" "$work" "$work/docs/lab/note.md"

cat > header.hpp <<'HEADER'
/// Adds.
/// @code
/// const rig::index two = 2;
/// @endcode
HEADER
make_examples() { awk -f "$here/examples.awk" "$1" > examples.cpp; }
make_examples header.hpp
expect_success "a good example compiles" "$@" -Wno-unused-variable examples.cpp
sed 's/rig::index two/rig::no_such two/' header.hpp > bad_header.hpp
make_examples bad_header.hpp
expect_failure "an example with an unknown name" "bad_header.hpp:3:" "$@" examples.cpp
sed '/@endcode/d' header.hpp > open_header.hpp
expect_failure "an example without an end" "the last example does not end" make_examples open_header.hpp
awk 'BEGIN { for (i = 0; i < 13; ++i) print "/// Adds." }' > long_header.hpp
expect_failure "a long comment" "long_header.hpp:13: the comment has" make_examples long_header.hpp
echo '/// Adds.' > no_example.hpp
expect_failure "headers without an example" "there is no example" make_examples no_example.hpp

mkdir site
follow() { awk -f "$here/site_links.awk" -v root=site/ site/*.html site/*.js; }
echo '<h1 id="top">One</h1> <a href="two.html#end">two</a> <img src="two.html"/>' > site/one.html
echo '<p id="end"><a href="one.html#top">one</a></p>' > site/two.html
echo "var tree = [['two', '../two.html#end']];" > site/tree.js
expect_success "a good site" follow
echo '<a href="three.html">three</a>' > site/bad.html
expect_failure "a dead link of the site" "bad.html: three.html: there is no such file" follow
echo '<a class="el" href="two.html#no_such">two</a>' > site/bad.html
expect_failure "a dead anchor of the site" "bad.html: two.html#no_such: there is no such anchor" follow
echo '<img src="plot.svg"/>' > site/bad.html
expect_failure "a picture that the site lacks" "bad.html: plot.svg: there is no such file" follow
rm site/bad.html
echo "var tree = [['two', 'two.html#no_such']];" > site/tree.js
expect_failure "a dead anchor in the tree" "tree.js: two.html#no_such: there is no such anchor" follow

[ $status = 0 ] && echo "every mistake was found"
exit $status
