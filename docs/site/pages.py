#!/usr/bin/env python3
"""Makes the pages of docs that show records, and their plots by matplotlib.

  pages.py performance docs/records/*.json > docs/performance.md
  pages.py accuracy docs/records/accuracy/*.jsonl > docs/accuracy.md
  pages.py profile collection.json         the profile of `bench collection`, beside its record
  pages.py stale docs/records/*.json       the records that are old by the history of git

With --plots FOLDER the first two draw the plots of the page too: docs/plots.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # the sources may be read by others at the same time
import accuracy
import performance


def draw(plots_of_page, folder):
    """Only what draws imports matplotlib, so pages are made where there is none."""
    try:
        import plots
    except ImportError as wrong:
        raise ImportError(f"{wrong}; plots take matplotlib: apt-get install python3-matplotlib") from wrong
    folder.mkdir(parents=True, exist_ok=True)
    for plot in plots_of_page:
        plot.draw(plots, folder / (plot.name + ".svg"))


def records_of(paths, is_lines=False):
    """What the files hold: a record each, or one per line."""
    records = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        try:
            records += [json.loads(one) for one in (text.splitlines() if is_lines else [text]) if one]
        except ValueError as wrong:
            raise ValueError(f"{path}: {wrong}") from wrong
    return records


def stale(paths):
    """A line per record that a tenth of the history is newer than: its suite, its date, how much is newer."""
    def count(of):
        command = ["git", "-C", paths[0].parent, "rev-list", "--count", of]
        run = subprocess.run(command, capture_output=True, text=True)
        return int(run.stdout) if run.returncode == 0 else None

    for record in records_of(paths):
        after, whole, commit = count(record["commit"] + "..HEAD"), count("HEAD"), record["commit"]
        if after is None:
            yield f"{record['suite']} {record['date'][:10]} {commit} is not in the history\n"
        elif after > 0.1 * whole:
            yield f"{record['suite']} {record['date'][:10]} {after} of {whole} commits are newer than {commit}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["performance", "accuracy", "profile", "stale"])
    parser.add_argument("records", nargs="+", type=pathlib.Path)
    parser.add_argument("--plots", type=pathlib.Path, metavar="FOLDER", help="where plots are drawn")
    given = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8")
    if given.what == "stale":
        sys.stdout.writelines(stale(given.records))
    elif given.what == "profile":
        for path, record in zip(given.records, records_of(given.records)):
            draw([performance.profile_plot(record)._replace(name=path.stem)], given.plots or path.parent)
    else:
        made = accuracy.page(records_of(given.records, is_lines=True)) if given.what == "accuracy" else \
            performance.page(records_of(given.records))
        if given.plots:
            draw(made[1], given.plots)
        sys.stdout.write(made[0])


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError, ImportError) as wrong:
        sys.exit(f"pages.py: {'there is no member ' * isinstance(wrong, KeyError)}{wrong}")
