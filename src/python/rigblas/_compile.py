"""Compiles semirings of a program, and keeps the libraries."""

import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from . import _core


def _cache():
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = pathlib.Path(root) / "rigblas"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise ValueError(f"semiring: {folder} belongs to another user; set XDG_CACHE_HOME to a folder of yours")
    return folder


def compiled(name, text):
    """The library of a semiring, compiled unless the cache has it."""
    compiler = os.environ.get("CXX") or "g++"
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fopenmp", "-fvisibility=hidden",
             *os.environ.get("CXXFLAGS", "").split()]
    library = _library()
    parts = [text, _core.__version__, compiler, *flags, str(library), str(library.stat().st_mtime_ns)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    target = _cache() / f"{name}-{key}.so"
    if target.exists():
        return target
    if shutil.which(compiler.split()[0]) is None:
        raise ValueError(
            f"semiring: {compiler} is not there, and a semiring of your own is compiled; install g++ "
            "(apt-get install g++), or set CXX to a C++20 compiler")
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        source, made = pathlib.Path(folder) / "semiring.cpp", pathlib.Path(folder) / "semiring.so"
        source.write_text(text.replace("extern \"C\" ", "extern \"C\" [[gnu::visibility(\"default\")]] "))
        command = [*compiler.split(), *flags, f"-I{_include(library)}", str(source), "-o", str(made), str(library),
                   f"-Wl,-rpath,{library.parent}"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            errors = [line for line in run.stderr.splitlines() if "error" in line] or run.stderr.splitlines()
            raise ValueError(f"semiring: {name} does not compile: " + "\n".join(errors[:5]))
        os.replace(made, target)
    return target


def _include(library):
    """The headers of rig: beside the module, or where a library that was installed apart has them."""
    beside = pathlib.Path(_core.__file__).parent / "include"
    if beside.is_dir():
        return beside
    for path in library.parents:
        if (path / "include" / "rig" / "rig.hpp").exists():
            return path / "include"
    raise ValueError("semiring: the headers of rig are not beside the module; install rigblas anew")


def _library():
    """The librig that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if re.match(r"librig(-[0-9a-f]+)?\.so", os.path.basename(path)):  # a wheel adds a hash
                return pathlib.Path("/" + path)
    raise ValueError("semiring: librig is not loaded from a file; install rigblas anew")


def check(name, path):
    """Raises ValueError if a law does not hold."""
    function = ctypes.CDLL(str(path)).rigblas_check
    function.restype = ctypes.c_char_p
    failure = function().decode()
    if failure:
        raise ValueError(f"semiring: {name} breaks a law: {failure}")
