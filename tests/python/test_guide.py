"""The pages on Python run, and print what they say. README's snippet too, and the examples that need no framework."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
from importlib import metadata

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs" / "guide").glob("python*.md")), ROOT / "README.md"]
# Code, and what it prints if a block of text follows; or code that readers do not see.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```$)?|^<!-- python\n(.*?)^-->$", re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """(code, what it prints or None, its line), in order."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        shown, printed, hidden = match.groups()
        yield hidden if shown is None else shown, printed, text[:match.start()].count("\n") + 2


def need(code):
    """Skips a page whose modules are missing, or whose backend NetworkX does not find."""
    for module in ("torch", "torch_geometric", "networkx", "scipy"):
        if re.search(rf"^\s*(import|from) {module}\b|rigblas\.{module}\b", code, re.MULTILINE):
            pytest.importorskip(module)
    if "backend" in code and not metadata.entry_points(group="networkx.backends", name="rigblas"):
        pytest.skip("NetworkX finds backends by the entry points of installed packages; install the wheel")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, monkeypatch):
    blocks = list(blocks_of(page))
    assert blocks, "the page has no code"
    need("\n".join(code for code, _, _ in blocks))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CXXFLAGS", "-O0")  # semirings from text are compiled in less time
    names = {"__name__": "guide"}
    for code, printed, line in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            # Blank lines, so that a traceback names the line of the page.
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        assert printed is None or out.getvalue() == printed, f"{page.name}:{line}"


@pytest.mark.parametrize("name", ["own_semiring", "pagerank"])
def test_example(name, tmp_path):
    script = ROOT / "examples" / "python" / f"{name}.py"
    need(script.read_text(encoding="utf-8"))
    environment = dict(os.environ, XDG_CACHE_HOME=str(tmp_path), CXXFLAGS="-O0")
    made = subprocess.run([sys.executable, str(script)], capture_output=True,
                          text=True, check=False, env=environment)
    assert made.returncode == 0, made.stderr
    assert made.stdout and not made.stderr
