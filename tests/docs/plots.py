#!/usr/bin/env python3
"""Draws all plots of the docs, and compares their words and numbers with those of docs/plots:

  plots.py ROOT FOLDER       exit code 77 without matplotlib

Bytes depend on the version of matplotlib; the texts of a picture, with its title and description, do not.
"""

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

root, folder = map(pathlib.Path, sys.argv[1:])
accuracy_records = sorted(root.glob("docs/records/accuracy/*.jsonl"))
wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)


def pages(*arguments):
    return subprocess.run([sys.executable, root / "docs/site/pages.py", *arguments], check=True,
                          capture_output=True, text=True).stdout


def texts_of(path):
    tags = {"{http://www.w3.org/2000/svg}" + tag for tag in ("title", "desc", "text")}
    return sorted(one.text or "" for one in tree.parse(path).iter() if one.tag in tags)


def names_in(place):
    return {path.name for path in place.glob("*.svg")}


def stale_plots(committed, drawn):
    """The names of the plots that are on one side only, or differ."""
    both = names_in(committed) & names_in(drawn)
    return (names_in(committed) ^ names_in(drawn)) | {
        name for name in both if texts_of(committed / name) != texts_of(drawn / name)}


def draw(into):
    for old in into.glob("*.svg"):
        old.unlink()
    made = pages("performance", *sorted(root.glob("docs/records/*.json")), "--plots", into)
    return made + pages("accuracy", *accuracy_records, "--plots", into)


try:
    import matplotlib
except ImportError:
    print(f"skipped: {sys.executable} has no matplotlib (apt-get install python3-matplotlib)")
    sys.exit(77)

drawn = folder / "plots"
shown = set(re.findall(r"\]\(plots/(.*?\.svg)\)", draw(drawn)))
check(shown == names_in(drawn), f"the pages show {sorted(shown)}, drawn are {sorted(names_in(drawn))}")
for name in sorted(stale_plots(root / "docs/plots", drawn)):
    check(False, f"docs/plots/{name} is not what the records say: make pages")

# The same bytes again.
again = folder / "again"
pages("accuracy", *accuracy_records, "--plots", again)
check((again / "accuracy.svg").read_bytes() == (drawn / "accuracy.svg").read_bytes(),
      "a second drawing has other bytes")

# A picture with another number, and one too few, must be found.
changed = folder / "changed"
changed.mkdir(exist_ok=True)
first, *others = sorted(names_in(drawn))
for name in others:
    text = (drawn / name).read_text()
    (changed / name).write_text(text.replace(">1.00<", ">1.01<").replace(" 0.", " 1."))
found = stale_plots(changed, drawn)
check({first, "sampled_error.svg", "real_speedup.svg"} <= found, f"changed plots are not found: {found}")

# The profile of a collection, beside its record.
record = folder / "by_hand.json"
record.write_text((root / "tests/docs/by_hand/record.json").read_text())
pages("profile", record)
texts = "\n".join(texts_of(record.with_suffix(".svg")))
for what in ("Performance profile over 2 matrices", "sums, F = 64", "maxima, F = 64",
             "sums, F = 64, rig: 1.00 0.50, 2.00 1.00", "maxima, F = 64, cusparseSpMMOp: 1.00 1.00, 2.00 1.00"):
    check(what in texts, f"the profile lacks: {what}")

print("\n".join(wrong) or f"{len(shown)} plots by matplotlib {matplotlib.__version__}")
sys.exit(bool(wrong))
