"""What the package needs, how fast it loads, and what help() shows."""

import inspect
import os
import pathlib
import subprocess
import sys

import pytest
import rigblas as rig

WITHOUT = """
import importlib.abc, sys
class Nothing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {"scipy", "networkx", "torch", "cupy", "tqdm", "pandas"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Nothing())
"""


def run(code):
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=dict(os.environ))
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_numpy_alone_is_needed():
    out = run(WITHOUT + """
import numpy as np, rigblas as rig
A = rig.matrix((np.array([1.0, 2.0]), ([0, 1], [1, 0])), shape=(2, 2))
x = np.ones((2, 3))
assert (A @ x == [[1] * 3, [2] * 3]).all()
assert rig.mxm(A, A).nnz == 2 and (A + A).nnz == 2 and (A * 2).nnz == 2
assert rig.matrix(np.eye(3)).nnz == 3 and rig.vector([1, 2]).nnz == 2
assert rig.bfs(A, 0, progress=True).reached == 2
try:
    A.to_scipy()
except ModuleNotFoundError:
    print("fine")
""")
    assert out == "fine\n"


def test_no_framework_is_imported():
    out = run("import rigblas, sys; print([m for m in ('scipy', 'networkx', 'torch', 'tqdm', 'ctypes') if m in sys.modules])")
    # NumPy itself imports ctypes.
    assert out.replace("'ctypes'", "").replace(", ", "") == "[]\n"


def test_import_time():
    """Beside NumPy's own; time of the processor, because the machine may be shared."""
    code = """import time, numpy
t = time.process_time()
import rigblas
print(time.process_time() - t)"""
    assert min(float(run(code)) for _ in range(5)) <= 0.15


def test_nothing_leaks():
    out = subprocess.run([sys.executable, "-c", "import rigblas as rig, numpy as np\nA = rig.generate('karate')\n"
                          "x = A @ np.ones(34)\nd = A.data"], capture_output=True, text=True, check=True)
    assert out.stderr == ""


PUBLIC = [name for name in rig.__all__ if not inspect.ismodule(getattr(rig, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_has_a_docstring(name):
    doc = inspect.getdoc(getattr(rig, name))
    assert doc and len(doc) > 20
    if callable(getattr(rig, name)) and not inspect.isclass(getattr(rig, name)):
        assert "Returns\n-------" in doc, f"{name} does not say what it returns"
        has_parameters = name not in ("devices", "semirings")
        assert ("Parameters\n----------" in doc) == has_parameters


@pytest.mark.parametrize("kind", [rig.Matrix, rig.Vector, rig.Cbsr, rig.Quantized, rig.Semiring, rig.Explanation])
def test_each_member_has_a_docstring(kind):
    for name, member in vars(kind).items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), f"{kind.__name__}.{name}"


def test_all_names_are_public():
    found = {name for name, made in vars(rig).items() if name[0] != "_" and not inspect.ismodule(made)}
    assert rig.__all__ == sorted(found)
    assert not [name for name in rig.__all__ if inspect.ismodule(getattr(rig, name))]


def test_stubs_are_current(tmp_path):
    """nanobind's, where a result is Any: as `object` a checker refuses all that arrays have."""
    stubgen = pytest.importorskip("nanobind.stubgen")
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", stubgen.__name__, "-q", "-m", "rigblas._core", "-o", str(made)], check=True)
    made.write_text("from typing import Any\n\n" + made.read_text().replace("-> object:", "-> Any:"))
    stub = pathlib.Path(rig.__file__).with_name("_core.pyi")
    # Python 3.13 takes the indentation out of docstrings.
    current = [[x.strip() for x in path.read_text().splitlines()] for path in (made, stub)]
    assert current[0] == current[1], f"copy {made} to src/python/rigblas/_core.pyi"
    assert stub.with_name("py.typed").exists()


def test_type_checkers_accept_a_program(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\nimport rigblas as rig\nA = rig.matrix(np.eye(3))\n"
                       "y = rig.mxm(A, np.ones((3, 2)))\nprint(y.sum(), (y + 1)[0], (A @ y).max(), A.data[0], A.T.nnz)\n")
    out, _, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(program)])
    assert status == 0, out
    program.write_text("import rigblas as rig\nrig.mxm(rig.generate('karate'), [1.0], maks=1)\n")
    assert "maks" in api.run(["--cache-dir", str(tmp_path), str(program)])[0]
