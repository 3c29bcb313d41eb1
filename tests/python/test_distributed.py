"""Matrices over ranks: threads of this process, mpi4py and torch.distributed. The bits are those of one rank."""

import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import rigblas as rig
import rigblas.distributed as over

SEMIRINGS = ["plus_times", "plus_second", "min_plus", "max_second", "mean_second", "mean_times", "lor_land",
             "arg_max_second"]


def graph(random, rows=60, columns=60, dtype="float32"):
    """Rows from none to many entries."""
    dense = random.random((rows, columns)) * (random.random((rows, columns)) < random.random((rows, 1)) ** 3)
    return rig.matrix((dense * 8).astype(dtype))


def layouts(rows, ranks):
    return [None, over.Layout.by_partition([(7 * i) % ranks for i in range(rows)], ranks)]


def parts_of(ranks, whole, layout):
    """This rank's rows of an array."""
    if layout is None:
        ends = [whole.shape[0] * r // ranks.size for r in range(ranks.size + 1)]
        return whole[ends[ranks.rank]:ends[ranks.rank + 1]]
    return whole[layout.rows_of(ranks.rank)]


def distributed(ranks, A, layout=None):
    whole = A.to_scipy()
    return over.DistributedMatrix(ranks, parts_of(ranks, whole, layout), layout)


def equal(found, want):
    for x, y in zip(found, want) if isinstance(want, tuple) else [(found, want)]:
        assert x.dtype == y.dtype and x.shape == y.shape
        assert x.tobytes() == np.ascontiguousarray(y).tobytes()


def gathered(ranks, rows, layout):
    if isinstance(rows, tuple):
        return tuple(over.gather(ranks, each, layout) for each in rows)
    return over.gather(ranks, rows, layout)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_products_have_the_bits_of_one_rank(random, semiring, count):
    A = graph(random)
    X = (random.random((60, 5)) * 4).astype("float32")
    want = rig.mxm(A, X, semiring)
    for layout in layouts(60, count):
        for exchange in ("automatic", "fetch", "features"):
            def work(ranks):
                found = over.mxm(distributed(ranks, A, layout), parts_of(ranks, X, layout), semiring, exchange=exchange)
                return gathered(ranks, found, layout)

            for found in over.on_ranks(count, work):
                equal(found, want)


@pytest.mark.parametrize("semiring", ["max_second", "min_plus", "arg_max_second"])
def test_a_cover_has_the_bits_of_one_rank(random, semiring):
    A = graph(random)
    X = (random.random((60, 5)) * 4).astype("float32")
    want = rig.mxm(A, X, semiring)

    def work(ranks):
        found = over.mxm(distributed(ranks, A), parts_of(ranks, X, None), semiring, exchange="cover")
        return gathered(ranks, found, None)

    for found in over.on_ranks(3, work):
        equal(found, want)
    refused_on_all(2, lambda ranks: over.mxm(distributed(ranks, A), parts_of(ranks, X, None), exchange="cover"),
                   ValueError, "rank 0 of 2")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("semiring", ["plus_times", "max_plus", "mean_second"])
def test_types(random, semiring, dtype):
    A = graph(random, dtype=dtype)
    x = (random.random(60) * 9).astype(dtype)
    X = (random.random((60, 3)) * 9).astype(dtype)

    def work(ranks):
        M = distributed(ranks, A)
        assert M.dtype == dtype and M.shape == (60, 60) and M.nnz == A.nnz
        return [over.gather(ranks, over.mxm(M, parts_of(ranks, X, None), semiring)),
                over.gather(ranks, over.mxv(M, parts_of(ranks, x, None), semiring))]

    for found in over.on_ranks(3, work):
        equal(found[0], rig.mxm(A, X, semiring))
        equal(found[1], rig.mxv(A, x, semiring))


def test_transposes_rows_and_fills(random):
    A = graph(random, dtype="float64")
    X = random.random((60, 4))
    turned = rig.transpose(A)

    def work(ranks):
        M = distributed(ranks, A)
        mine = parts_of(ranks, X, None)
        column = np.ascontiguousarray(mine[:, 0])
        return [over.gather(ranks, each) for each in (
            over.mxm(M, mine, transpose_a=True), over.vxm(column, M, "min_plus"),
            over.mxm(M, mine, "max_second", fill=-1), over.mxm(M, mine, dtype="float32"),
            over.mxm(M, mine, kernel="split"))]

    for found in over.on_ranks(3, work):
        equal(found[0], rig.mxm(turned, X))
        equal(found[1], rig.mxv(turned, np.ascontiguousarray(X[:, 0]), "min_plus"))
        equal(found[2], rig.mxm(A, X, "max_second", fill=-1))
        np.testing.assert_allclose(found[3], rig.mxm(A, X), rtol=1e-6)
        equal(found[4], rig.mxm(A, X, kernel="split"))


def test_matrices_that_are_not_square(random):
    A = graph(random, 40, 70)
    X = random.random((70, 2)).astype("float32")

    def work(ranks):
        of_x = over.Layout.by_partition([i % ranks.size for i in range(70)], ranks.size)
        M = distributed(ranks, A)
        return over.gather(ranks, over.mxm(M, parts_of(ranks, X, of_x), layout=of_x))

    for found in over.on_ranks(3, work):
        equal(found, rig.mxm(A, X))


def test_patterns_take_the_type_of_features(random):
    edges = random.integers(0, 30, (2, 90))
    A = rig.matrix(edges, shape=(30, 30))
    X = random.random((30, 3))

    def work(ranks):
        layout = over.Layout.contiguous([10, 12, 8])
        rows = layout.rows_of(ranks.rank)
        M = over.DistributedMatrix(ranks, rig.extract(A, rows, slice(None)), layout)
        assert M.layout == layout
        return over.gather(ranks, over.mxm(M, X[rows], "plus_second"), layout)

    for found in over.on_ranks(3, work):
        equal(found, rig.mxm(A, X, "plus_second"))


def test_algorithms(random):
    A = rig.generate("rmat:8:6")
    weighted = rig.matrix((1 + random.integers(0, 9, A.nnz), A.indices, A.indptr), shape=A.shape)
    n = A.shape[0]
    steps = []

    def work(ranks):
        layout = over.Layout.by_entries(A, ranks.size)
        M = distributed(ranks, weighted, layout)
        progress = (lambda *numbers: steps.append(numbers)) if ranks.rank == 0 else False
        found = over.bfs(M, 1, progress=progress)
        short, parts, walk = over.sssp(M, 1), over.components(M), over.pagerank(M)
        jumps = np.arange(n)
        own = over.pagerank(M, 0.5, tolerance=1e-12, personalised=jumps)
        columns = [over.gather(ranks, x, layout)
                   for x in (found.levels, short.distances, parts.labels, walk.ranks, own.ranks)]
        return [*columns, found.reached, short.reached, parts.count, walk.iterations]

    bits = set()
    for count in (1, 2, 4):
        for levels, distances, labels, ranks, own, reached, near, parts, iterations in over.on_ranks(count, work):
            want = rig.bfs(A, 1)
            equal(levels, want.levels)
            assert reached == near == want.reached
            equal(distances, rig.sssp(weighted, 1).distances)
            equal(labels, rig.components(A).labels)
            assert parts == rig.components(A).count
            np.testing.assert_allclose(ranks, rig.pagerank(A).ranks, rtol=1e-9)
            np.testing.assert_allclose(
                own, rig.pagerank(A, 0.5, tolerance=1e-12, personalised=np.arange(n)).ranks, rtol=1e-9)
            assert iterations > 3
            bits.add(ranks.tobytes())
    assert len(bits) == 1 and steps


def test_files(tmp_path, random):
    A = graph(random, dtype="float64")
    path = tmp_path / "a.mtx"
    rig.write(path, A)

    def work(ranks):
        M = over.read_matrix(ranks, path, "float64")
        assert M.communicator.size == ranks.size and "60x60" in repr(M)
        x = np.arange(60.0)[M.layout.rows_of(ranks.rank)]
        return over.gather(ranks, over.mxv(M, x), M.layout), M.local.nnz

    found = over.on_ranks(3, work)
    assert sum(nnz for _, nnz in found) == A.nnz
    for x, _ in found:
        equal(x, rig.mxv(A, np.arange(60.0)))
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n")
    refused_on_all(3, lambda ranks: over.read_matrix(ranks, tmp_path / "b.mtx"), ValueError, "b.mtx:3")
    refused_on_all(2, lambda ranks: over.read_matrix(ranks, tmp_path / "none.mtx"), OSError, "none.mtx")


def test_explain():
    ring = [[0.0] * 9 for _ in range(9)]
    for i in range(9):
        ring[i][(i + 1) % 9] = 1
    A = rig.matrix(np.array(ring, dtype="float32"))

    def work(ranks):
        return over.explain(distributed(ranks, A), np.ones((3, 2), "float32"))

    for why in over.on_ranks(3, work):
        assert why.exchange == "fetch" and why.largest_bytes == 8 and why.mean_bytes == 8
        np.testing.assert_array_equal(why.bytes, [[0, 0, 8], [8, 0, 0], [0, 8, 0]])
        assert "mxm over 3 ranks" in str(why) and why.kernel in ("row", "split")
        assert why.interior == pytest.approx(2 / 3) and why.largest_part == pytest.approx(1 / 3)
        assert why.seconds(3, 8) == pytest.approx(2)

    # Node 0 names all others: its row of the result comes in parts, instead of two rows of X.
    star = rig.matrix(np.array([[0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype="float32"))

    def cover(ranks):
        return over.explain(distributed(ranks, star), np.ones((2, 2), "float32"), "max_second", exchange="cover")

    for why in over.on_ranks(2, cover):
        assert why.exchange == "cover" and why.bytes.sum() == 8
        assert why.bytes_by_fetch == 16 and why.bytes_once == 0


def refused_on_all(count, call, kind, *words):
    """Every rank raises, and goes on to a barrier: nobody waits for ever."""
    def work(ranks):
        with pytest.raises(kind) as raised:
            call(ranks)
        ranks.barrier()
        return str(raised.value)

    for text in over.on_ranks(count, work):
        for word in words:
            assert word in text, text


def test_what_is_wrong_on_one_rank_is_refused_on_all(random):
    A = graph(random)
    X = np.ones((60, 2), "float32")

    def with_parts(call, wrong=1):
        def run(ranks):
            M = distributed(ranks, A)
            return call(ranks, M, parts_of(ranks, X, None), ranks.rank == wrong)
        return run

    def cases():
        yield lambda r, M, x, here: over.mxm(M, x[1:] if here else x), ValueError, ["layout gives this rank"]
        yield lambda r, M, x, here: over.mxm(M, "abc" if here else x), TypeError, ["rank 1 of 3", "X is a"]
        yield lambda r, M, x, here: over.mxm(M, x[:, :1] if here else x), ValueError, ["columns"]
        yield lambda r, M, x, here: over.mxm(M, x.astype("float64") if here else x), ValueError, ["the ranks differ"]
        yield lambda r, M, x, here: over.mxm(M, x, "max_plus" if here else "min_plus"), ValueError, ["the ranks differ"]
        yield lambda r, M, x, here: over.mxm(M, x, "no_such"), ValueError, ["no semiring is named 'no_such'"]
        yield lambda r, M, x, here: over.mxm(M, x, exchange="post"), ValueError, ["exchange", "fetch"]
        yield (lambda r, M, x, here: over.mxm(M, x, exchange="features" if here else "fetch"), ValueError,
               ["1 of 3 ranks use exchange::features"])
        yield lambda r, M, x, here: over.mxm(M, x, kernel="sell" if here else ""), ValueError, ["rank 1 of 3", "sell"]
        yield lambda r, M, x, here: over.mxm(M, x, layout=[1]), TypeError, ["layout is list"]
        yield lambda r, M, x, here: over.mxv(M, x), ValueError, ["one column"]
        yield lambda r, M, x, here: over.bfs(M, 60), ValueError, ["60"]
        yield (lambda r, M, x, here: over.mxm(M, x, layout=over.Layout.contiguous([60, 0, 0] if here else [20] * 3)),
               ValueError, ["layout"])
        yield (lambda r, M, x, here: over.DistributedMatrix(r, M.local, M.layout if here else None), ValueError,
               ["whether a layout is given"])
        yield lambda r, M, x, here: over.DistributedMatrix(r, object() if here else M.local), TypeError, ["rank 1 of 3"]
        yield (lambda r, M, x, here: over.DistributedMatrix(r, M.local.astype("float64") if here else M.local),
               ValueError, ["the type of the values"])
        yield (lambda r, M, x, here: over.DistributedMatrix(r, M.local, over.Layout.contiguous([20, 40])), ValueError,
               ["the layout has 2 ranks"])

    for call, kind, words in cases():
        refused_on_all(3, with_parts(call), kind, *words)


def test_a_callable_that_raises():
    A = rig.generate("karate")

    def progress(*_):
        raise KeyError("no more")

    refused_on_all(3, lambda ranks: over.bfs(distributed(ranks, A), 0, progress=progress if ranks.rank == 2 else False),
                   ValueError, "rank 2 of 3", "no more")


def test_a_rank_that_leaves():
    A = rig.generate("karate")

    def work(ranks):
        if ranks.rank == 1:
            raise ZeroDivisionError("of rank 1")
        with pytest.raises(ValueError, match="rank 1 of 3 has left"):
            over.bfs(distributed(ranks, A), 0)

    with pytest.raises(ZeroDivisionError):
        over.on_ranks(3, work)


def test_a_transport_of_ones_own():
    class Alone:
        rank, size = 0, 1

        def exchange(self, sends, receives):
            assert not sends and not receives

        def all_reduce(self, value, op):
            assert op in ("sum", "min", "max")
            return value

        def barrier(self):
            pass

    ranks = over.communicator(Alone())
    assert over.communicator(ranks) is ranks and (ranks.rank, ranks.size) == (0, 1)
    assert ranks.all_reduce(5, "max") == 5
    A = rig.generate("karate")
    x = np.ones(34)
    equal(over.mxv(over.DistributedMatrix(ranks, A), x), rig.mxv(A, x))
    with pytest.raises(TypeError, match="a int has no rank; give a communicator of mpi4py"):
        over.communicator(3)
    Alone.rank = 1
    with pytest.raises(ValueError, match="rank 1 of 1"):
        over.communicator(Alone())
    with pytest.raises(ValueError, match="at least 1"):
        over.on_ranks(0, len)


def test_layouts():
    by = over.Layout.by_partition([1, 0, 1, 0], 2)
    assert by.rows == 4 and by.ranks == 2 and list(by.rows_of(1)) == [0, 2]
    assert by != over.Layout.contiguous([2, 2]) and by == over.Layout.by_partition([1, 0, 1, 0], 2)
    with pytest.raises(ValueError, match="no rank 2"):
        by.rows_of(2)


# What each rank of a program runs: a product, an algorithm and an error, compared with one rank.
PROGRAM = """
A = rig.generate("rmat:9:8")
layout = over.Layout.by_entries(A, ranks.size)
mine = layout.rows_of(ranks.rank)
M = over.DistributedMatrix(ranks, rig.extract(A, mine, slice(None)), layout)
X = np.random.default_rng(1).random((A.shape[0], 7))
for semiring in ("plus_second", "max_second"):
    for exchange in ("fetch", "features"):
        found = over.gather(ranks, over.mxm(M, X[mine], semiring, exchange=exchange), layout)
        assert found.tobytes() == rig.mxm(A, X, semiring).tobytes()
assert over.gather(ranks, over.components(M).labels, layout).tobytes() == rig.components(A).labels.tobytes()
try:
    over.mxm(M, X[mine] if ranks.rank else "wrong")
    raise SystemExit("no error")
except TypeError as failure:
    assert "rank 0 of" in str(failure)
assert ranks.all_reduce(ranks.rank, "max") == ranks.size - 1
ranks.barrier()
if ranks.rank == 0:
    print("same bits on", ranks.size)
"""
HEADER = "import numpy as np, rigblas as rig, rigblas.distributed as over\n"


@pytest.mark.parametrize("count", [2, 4])
def test_mpi4py(tmp_path, count):
    run = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if run is None or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py or mpirun is not installed")
    script = tmp_path / "program.py"
    script.write_text(HEADER + "from mpi4py import MPI\nranks = over.communicator(MPI.COMM_WORLD)\n" + PROGRAM)
    environment = dict(os.environ, OMP_NUM_THREADS="1", MPI4PY_MPIABI="openmpi")
    command = [run, "--oversubscribe", "--allow-run-as-root", "-n", str(count), sys.executable, str(script)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.strip() == f"same bits on {count}"


@pytest.mark.parametrize("count", [2, 3])
def test_torch_distributed(tmp_path, count):
    pytest.importorskip("torch")
    script = tmp_path / "program.py"
    script.write_text(HEADER + textwrap.dedent(f"""
        import sys, torch.distributed as dist
        meeting = "file://{tmp_path}/meeting"
        dist.init_process_group("gloo", init_method=meeting, rank=int(sys.argv[1]), world_size={count})
        ranks = over.communicator()
        """) + PROGRAM + "dist.destroy_process_group()\n")
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    started = [subprocess.Popen([sys.executable, str(script), str(rank)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=environment) for rank in range(count)]
    outputs = [each.communicate(timeout=300)[0] for each in started]
    assert [each.returncode for each in started] == [0] * count, "\n".join(outputs)
    assert f"same bits on {count}" in outputs[0]


def test_without_a_process_group():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="init_process_group"):
        over.communicator()


@pytest.mark.parametrize("name", over.__all__)
def test_each_name_has_a_docstring(name):
    assert len(inspect.getdoc(getattr(over, name)) or "") > 20
    if inspect.isclass(getattr(over, name)):
        for member, value in vars(getattr(over, name)).items():
            assert member.startswith("_") or inspect.getdoc(value), f"{name}.{member}"


EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "pagerank_over_ranks.py"


def test_example():
    made = subprocess.run([sys.executable, str(EXAMPLE), "--threads", "3"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert "on 3 ranks" in made.stdout and not made.stderr


def test_operands_have_their_names():
    whole = rig.generate("karate")

    def work(ranks):
        rows = over.Layout.by_entries(whole, 1)
        said = []
        for call in (lambda: over.mxm(whole, np.ones((34, 2))), lambda: over.vxm(np.ones(34), whole),
                     lambda: over.explain(whole, np.ones((34, 2))), lambda: over.bfs(whole, 0)):
            with pytest.raises(TypeError, match="A is a Matrix; give a DistributedMatrix") as caught:
                call()
            said.append(str(caught.value).partition(":")[0])
        with pytest.raises(ValueError, match="^DistributedMatrix: .* the part has 2 rows"):
            over.DistributedMatrix(ranks, rig.extract(whole, [0, 1], slice(None)), rows)
        return said

    assert over.on_ranks(1, work) == [["mxm", "vxm", "explain", "bfs"]]
