"""Semirings from text: compiled, cached, checked. Most are compiled without optimisation, which takes less time."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import rigblas as rig


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("CXXFLAGS", "-O0")
    return folder / "rigblas"


def my_max(multiply="b"):
    return rig.semiring("my_max", add="max(x, y)", multiply=multiply, zero=float("-inf"))


@pytest.fixture
def graph():
    return rig.generate("rmat:8:4")


def features(graph, dtype="float32"):
    return np.random.default_rng(2).integers(-9, 9, (graph.shape[0], 5)).astype(dtype)


def test_bits_equal_the_builtin(graph):
    mine = my_max()
    x = features(graph)
    np.testing.assert_array_equal(rig.mxm(graph, x, mine), rig.mxm(graph, x, "max_second"))
    np.testing.assert_array_equal(rig.mxm(graph, x, mine, transpose_a=True),
                                  rig.mxm(graph, x, "max_second", transpose_a=True))
    assert rig.mxm(graph, graph, mine) == rig.mxm(graph, graph, "max_second")
    assert repr(mine) == "<rigblas.Semiring my_max>" and mine.name == "my_max"


def test_sums_in_double(graph, monkeypatch):
    monkeypatch.delenv("CXXFLAGS")  # optimised as the builtin is, so that sums round alike
    mine = rig.semiring("my_sum", add="x + y", multiply="a * b", zero=0, dtype="float64")
    x = features(graph, "float64") / 3
    got = rig.mxm(graph, x, mine)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, rig.mxm(graph.astype("float64"), x))


def test_a_meaning_that_no_builtin_has(graph):
    plus_max = rig.semiring("plus_max", add="x + y", multiply="max(a, b)", zero=0, check=True)
    x = features(graph)
    s = graph.to_scipy("coo")
    want = np.zeros_like(x)
    np.add.at(want, s.row, np.maximum(1, x[s.col]))
    np.testing.assert_array_equal(rig.mxm(graph, x, plus_max), want)
    v = rig.vector([0, 5], [2.0, 3.0], size=graph.shape[0], dtype="float32")
    assert rig.mxv(graph, v, plus_max).nnz > 0


def test_finish_and_terminal(graph):
    half = rig.semiring("mean_again", add="x + y", multiply="b", zero=0, finish="x / n")
    x = features(graph)
    np.testing.assert_array_equal(rig.mxm(graph, x, half), rig.mxm(graph, x, "mean_second"))
    any_ = rig.semiring("my_or", add="x || y", multiply="a && b", zero=False, terminal=True, dtype="bool", check=True)
    got = rig.mxm(graph, x > 0, any_)
    assert got.dtype == bool
    np.testing.assert_array_equal(got, rig.mxm(graph, x > 0, "lor_land"))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers(graph, dtype):
    mine = rig.semiring("my_min", add="min(x, y)", multiply="a + b", zero=int(np.iinfo(dtype).max), dtype=dtype)
    x = features(graph, dtype)
    got = rig.mxm(graph, x, mine)
    want = rig.mxm(graph.astype(dtype), x, "min_plus")
    has_entries = np.diff(graph.indptr) > 0
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got[has_entries], want[has_entries])


def test_the_library_is_kept(cache, monkeypatch):
    my_max()
    found = list(cache.glob("my_max-*.so"))
    assert found
    monkeypatch.setenv("PATH", "")  # without a compiler
    my_max()
    assert list(cache.glob("my_max-*.so")) == found


USE = """import rigblas as rig
s = rig.semiring("fragile", add="max(x, y)", multiply="b", zero=float("-inf"))
print(rig.mxm(rig.generate("karate"), rig.toarray(rig.generate("karate")), s).sum())"""


@pytest.fixture
def kept(cache, tmp_path, monkeypatch):
    """The library of a semiring whose compiler keeps what it makes, and what may be run in the compiler's place."""
    compiler, made = tmp_path / "compiler", cache.parent / "fragile.so"
    compiler.write_text(f"""#!/bin/sh
while [ "$1" != -o ]; do words="$words $1"; shift; done
[ -f {tmp_path}/broken ] && . {tmp_path}/broken
[ -f {made} ] || g++ $words -o {made} $3 $4
cp {made} $2
""")
    compiler.chmod(0o700)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made.parent.mkdir(exist_ok=True)
    assert use_fragile().returncode == 0
    (path,) = (tmp_path / "rigblas").glob("fragile-*.so")
    return path, tmp_path / "broken"


def use_fragile():
    return subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True, env=dict(os.environ), check=False)


def test_a_damaged_library_is_compiled_again(kept):
    path, _ = kept
    whole = path.read_bytes()
    other_machine = whole[:18] + b"\xb7" + whole[19:]  # the ELF header names AArch64
    spoilt = whole[: len(whole) // 2] + b"spoilt" + whole[len(whole) // 2 + 6 :]
    for damaged in (b"", b"no library", whole[: len(whole) // 2], whole[:-1], other_machine, spoilt):
        path.write_bytes(damaged)
        done = use_fragile()
        assert done.returncode == 0 and float(done.stdout) > 0, done.stderr
        assert path.read_bytes() == whole
    path.unlink()
    path.symlink_to("nowhere")
    assert use_fragile().returncode == 0 and path.read_bytes() == whole


def test_the_error_of_a_library_that_stays_damaged_names_it_and_the_remedy(kept):
    path, broken = kept
    whole = path.read_bytes()
    for damage, words in (("exit 127", "is damaged, and .* install g\\+\\+"),
                          ("echo error: no; exit 1", "is damaged, and fragile does not compile: error: no")):
        path.write_bytes(whole[:100])
        broken.write_text(damage)
        assert re.search(f"ValueError: semiring: {path} {words}", use_fragile().stderr)
    broken.unlink()
    path.unlink()
    path.mkdir()
    assert re.search(f"OSError: semiring: {path} cannot be replaced .*; remove it", use_fragile().stderr)
    path.rmdir()
    broken.write_text("echo of another machine >$2; exit 0")
    assert re.search(f"ValueError: semiring: {path} was compiled, but does not load: .*; remove it, and set CXX",
                     use_fragile().stderr)


def test_another_text_is_another_library(graph):
    one, two = my_max(), my_max("b + b")
    x = features(graph)
    np.testing.assert_array_equal(2 * rig.mxm(graph, x, one), rig.mxm(graph, x, two))


def test_flags_are_those_of_a_user(monkeypatch, tmp_path):
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/words\necho no\nexit 1\n')
    compiler.chmod(0o700)
    monkeypatch.setenv("CXX", f"{compiler} -pipe")
    monkeypatch.setenv("CXXFLAGS", "-O0 -DMINE")
    with pytest.raises(ValueError, match="flagged does not compile: no"):
        rig.semiring("flagged", add="x + y", multiply="b", zero=0)
    words = (tmp_path / "words").read_text().split()
    assert words[0] == "-pipe" and words.index("-O2") < words.index("-O0") < words.index("-DMINE")


def test_an_error_of_the_compiler_is_said():
    with pytest.raises(ValueError, match=r"bad does not compile: (.|\n)*nonsense"):
        rig.semiring("bad", add="x + nonsense", multiply="a * b", zero=0)


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ValueError, match=r"no-such-compiler is not there.*install g\+\+"):
        rig.semiring("uncompiled", add="x + y", multiply="a * b", zero=0)


def test_check_finds_a_broken_law():
    with pytest.raises(ValueError, match="broken breaks a law: "):
        rig.semiring("broken", add="x - y", multiply="a * b", zero=0, check=True)
    with pytest.raises(ValueError, match="zero_is_wrong breaks a law: "):
        rig.semiring("zero_is_wrong", add="max(x, y)", multiply="b", zero=0, check=True)


@pytest.mark.parametrize("wrong,kind,text", [
    (dict(name="no name"), ValueError, "identifier"),
    (dict(name="for"), ValueError, "identifier"),
    (dict(name="float"), ValueError, "identifier|does not compile"),
    (dict(dtype="float16"), TypeError, "float16"),
    (dict(add=""), ValueError, "add is ''"),
    (dict(multiply=3), ValueError, "multiply is 3"),
    (dict(zero=0.5, dtype="int32"), ValueError, "0.5"),
    (dict(zero=float("inf"), dtype="int64"), ValueError, "inf"),
    (dict(zero=float("nan")), ValueError, "nan"),
    (dict(zero=None), TypeError, "zero is None"),
    (dict(terminal=[1]), TypeError, r"terminal is \[1\]"),
])
def test_wrong_arguments(wrong, kind, text):
    given = dict(name="right", add="x + y", multiply="a * b", zero=0)
    given.update(wrong)
    with pytest.raises(kind, match=text):
        rig.semiring(given.pop("name"), **given)


def test_another_process_uses_the_cache():
    code = """import os, sys
import rigblas as rig
os.environ["PATH"] = ""
s = rig.semiring("my_max", add="max(x, y)", multiply="b", zero=float("-inf"))
print(rig.mxm(rig.generate("karate"), rig.toarray(rig.generate("karate")), s).sum())"""
    mine = my_max()
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), check=True)
    karate = rig.generate("karate")
    assert float(made.stdout) == rig.mxm(karate, karate.toarray(), mine).sum()
