#!/usr/bin/env python3
"""Milliseconds of scipy.io.mmread, the median: io_scipy.py FILE THREADS REPEAT. Prints nothing without SciPy."""
import statistics
import sys
import time

try:
    import scipy.io
    from scipy.io import _fast_matrix_market
except ImportError:
    sys.exit(0)

path, threads, repeat = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
_fast_matrix_market.PARALLELISM = threads
times = []
for _ in range(repeat + 1):
    start = time.perf_counter()
    scipy.io.mmread(path)
    times.append(1e3 * (time.perf_counter() - start))
print(statistics.median(times[1:]))
