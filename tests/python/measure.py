"""Figures of the package that need no GPU: python tests/python/measure.py [FOLDER]

- the time of an import, of the processor and of the clock
- a call from NumPy on karate, and the same call in C++, which g++ compiles here
- A @ X for F = 1, 32 and 128 beside SciPy, on the graphs of FOLDER above 100 000 entries. FOLDER is by default
  $RIG_DATA, else ../shared/data. SciPy has one thread for a product; OMP_NUM_THREADS bounds rig's.

Each time is the least of some runs. Shared machines give greater ones.
"""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import timeit

import numpy as np
import rigblas as rig

WIDTHS = (1, 32, 128)
CALL = r"""
#include <algorithm>
#include <chrono>
#include <cstdio>
#include "rig/generate.hpp"
#include "rig/rig.hpp"
int main() {
  const auto A = rig::generate::from_text("karate");
  const rig::dense<float> x(34, 1, 1.0f);
  double least = 1e9;
  for (int run = 0; run < 7; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20000; ++i) const auto y = rig::mxm(A, x, rig::plus_times<float>{});
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count() / 20000);
  }
  std::printf("%g", least);
}
"""


def least(call, number=None, repeat=5):
    """The least time of a call, in seconds."""
    timer = timeit.Timer(call)
    number = number or timer.autorange()[0]
    return min(timer.repeat(repeat, number)) / number


def measure_import():
    code = """import time, numpy
t, c = time.perf_counter(), time.process_time()
import rigblas
print(time.perf_counter() - t, time.process_time() - c)"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(5)]
    clock, processor = (min(map(float, times)) for times in zip(*runs))
    print(f"import: {1e3 * clock:.0f} ms of the clock, {1e3 * processor:.0f} ms of the processor")


def time_in_cpp():
    package = pathlib.Path(rig.__file__).parent
    library = next(path for folder in ("lib", "../rigblas.libs") for path in (package / folder).glob("librig*.so*"))
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "call.cpp", pathlib.Path(folder) / "call"
        source.write_text(CALL)
        subprocess.run(["g++", "-std=c++20", "-O2", "-fopenmp", f"-I{package / 'include'}", source, library,
                        f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
        return float(subprocess.run([program], capture_output=True, text=True, check=True).stdout)


def measure_call():
    A, x = rig.generate("karate"), np.ones((34, 1), dtype="float32")
    out = np.empty_like(x)
    in_cpp = time_in_cpp()
    calls = {"mxm(A, x)": lambda: rig.mxm(A, x), "mxm(A, x, out=out)": lambda: rig.mxm(A, x, out=out), "A @ x": lambda: A @ x}
    for name, call in calls.items():
        time = 1e6 * least(call, 20000)
        print(f"{name}: {time:.1f} us, {time - in_cpp:.1f} over the call in C++ of {in_cpp:.1f}")


def graphs(folder):
    for path in sorted(folder.glob("*/*.mtx*")):
        if "features" in path.name:
            continue
        try:
            A = rig.read(path, duplicates="plus")
        except ValueError as error:
            print(error)
            continue
        if A.nnz > 100_000:
            yield f"{path.parent.name}/{path.name}", A


def measure_products(folder):
    ratios = {f: [] for f in WIDTHS}
    for name, A in graphs(folder):
        s = A.to_scipy()
        s = type(s)((np.array(s.data), s.indices, s.indptr), shape=s.shape)
        line = f"{name}, {A.nnz} entries:"
        for f in WIDTHS:
            x = np.random.default_rng(1).random((A.shape[1], f), dtype="float32")
            np.testing.assert_allclose(A @ x, s @ x, rtol=1e-3, atol=1e-3)
            ours, scipys = least(lambda: A @ x), least(lambda: s @ x)
            ratios[f].append(scipys / ours)
            line += f"  F={f}: {1e3 * ours:.2f} ms, {scipys / ours:.1f}x"
        print(line, flush=True)
    for f, all_ratios in ratios.items():
        if all_ratios:
            mean = math.exp(sum(map(math.log, all_ratios)) / len(all_ratios))
            print(f"F={f}: SciPy takes {mean:.1f} times as long in the geometric mean, at least {min(all_ratios):.1f} times")


def main(folder=None):
    here = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(folder or os.environ.get("RIG_DATA") or here.parent / "shared" / "data")
    print(f"{os.cpu_count()} processors, {os.getloadavg()[0]:.1f} processes that run or wait")
    measure_import()
    measure_call()
    measure_products(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
