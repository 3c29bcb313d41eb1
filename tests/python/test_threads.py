"""Several Python threads, and the interpreter's lock."""

import threading
import time

import numpy as np
import rigblas as rig


def run_all(work, count):
    failures = []

    def guarded(i):
        try:
            work(i)
        except BaseException as failure:  # noqa: BLE001
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures


def test_products_over_one_matrix(random):
    A = rig.generate("rmat:11:8")
    x = random.random((A.shape[0], 16)).astype("float32")
    want = {turned: rig.mxm(rig.matrix(A), x, transpose_a=turned) for turned in (False, True)}
    B = rig.matrix((np.array(A.data), np.array(A.indices), np.array(A.indptr)), shape=A.shape)

    def work(i):
        for _ in range(5):
            turned = bool(i % 2)
            np.testing.assert_array_equal(rig.mxm(B, x, transpose_a=turned, threads=1), want[turned])
            assert rig.ewise_add(B, B).nnz == B.nnz
            rig.bfs(B, i)

    run_all(work, 8)


def test_matrices_come_and_go_in_threads(random):
    x = random.random((34, 3)).astype("float32")
    want = rig.mxm(rig.generate("karate"), x)
    karate = rig.generate("karate")

    def work(_):
        for _ in range(50):
            A = rig.matrix((np.array(karate.data), np.array(karate.indices), np.array(karate.indptr)), shape=(34, 34))
            np.testing.assert_array_equal(rig.mxm(A.T.T, x), want)

    run_all(work, 8)


def test_a_matrix_may_be_rebound_while_it_is_read(random):
    """The readers have either content, and none is freed under them."""
    A = rig.generate("rmat:10:8")
    B = rig.apply(A, "times", 2)
    x = random.random((A.shape[0], 8)).astype("float32")
    one, two = rig.mxm(A, x), rig.mxm(B, x)
    shared = rig.matrix(A)
    stop = threading.Event()

    def writer():
        number = 0
        while not stop.is_set():
            number += 1
            rig.apply(B if number % 2 else A, "identity", out=shared)

    def reader():
        for _ in range(200):
            got = rig.mxm(shared, x, threads=1)
            assert (got == one).all() or (got == two).all()
            assert len(shared.data) == A.nnz

    w = threading.Thread(target=writer)
    w.start()
    try:
        run_all(lambda _: reader(), 2)
    finally:
        stop.set()
        w.join()


def test_the_lock_is_released(random):
    """A thread counts while a long product runs in another."""
    A = rig.generate("rmat:13:16")
    x = random.random((A.shape[0], 512)).astype("float32")
    done = threading.Event()

    def product():
        rig.mxm(A, x, threads=1)
        done.set()

    worker = threading.Thread(target=product)
    start = time.perf_counter()
    worker.start()
    ticks = 0
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    elapsed = time.perf_counter() - start
    assert ticks >= 3 or elapsed < 0.02, (ticks, elapsed)
