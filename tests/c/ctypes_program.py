"""The C interface by ctypes, without a package: ctypes_program.py LIBRARY. Oracles are loops of Python."""

import ctypes as c
import sys
import threading

rig = c.CDLL(sys.argv[1])
rig.rig_error_message.restype = rig.rig_version.restype = rig.rig_result_name.restype = c.c_char_p
rig.rig_free.argtypes = rig.rig_free_semiring.argtypes = rig.rig_free_results.argtypes = [c.c_void_p]
rig.rig_result_name.argtypes = [c.c_void_p, c.c_size_t]
CPU, INT32, FLOAT32, FLOAT64 = 0, 2, 4, 5
INTEGER, REAL = 1, 2


class Number(c.Structure):
    _fields_ = [("kind", c.c_int32), ("integer", c.c_int64), ("real", c.c_double)]


def struct(name, *fields):
    """A struct whose first field is its size, which is set."""
    made = type(name, (c.Structure,), {"_fields_": [("size", c.c_size_t), *fields]})
    return lambda **given: made(size=c.sizeof(made), **given)


csr = struct("Csr", *((name, c.c_int64) for name in ("rows", "columns", "entries")),
             *((name, c.c_void_p) for name in ("offsets", "indices", "values")), ("value", Number),
             *((name, c.c_int32) for name in ("offset_type", "index_type", "type", "is_vector", "copy", "place")),
             ("stream", c.c_void_p), ("release", c.c_void_p), ("owner", c.c_void_p))
elements = struct("Elements", ("data", c.c_void_p), *((name, c.c_int64) for name in ("rows", "columns", "stride")),
                  *((name, c.c_int32) for name in ("type", "read_only", "place")),
                  ("stream", c.c_void_p), ("release", c.c_void_p), ("owner", c.c_void_p))
options = struct("Options",
                 *((name, c.c_int32) for name in ("transpose_a", "transpose_b", "replace", "mask_structure",
                                                  "mask_complement", "type")),
                 ("mask", c.c_void_p), ("accumulate", c.c_char_p), ("fill", Number), ("kernel", c.c_char_p),
                 *((name, c.c_int64) for name in ("width", "k", "threads")),
                 *((name, c.c_int32) for name in ("rescale", "tf32", "any_order")),
                 ("stream", c.c_void_p), ("indices", c.c_void_p))


class Argument(c.Structure):
    _fields_ = [("name", c.c_char_p), ("number", Number), ("container", c.c_void_p)]


def ok(status):
    assert status == 0, (status, rig.rig_error_message())


def array(kind, values):
    return (kind * len(values))(*values)


N, F = 6, 3
ROWS = [[1, 3], [0], [], [2, 4, 5], [0, 5], [1]]
VALUES = [[2, -1], [3], [], [1, 1, 4], [5, 2], [7]]
X = [[i - j + 0.5 for j in range(F)] for i in range(N)]


def graph(released):
    flat = [j for row in ROWS for j in row]
    offsets = [sum(map(len, ROWS[:i])) for i in range(N + 1)]
    memory = array(c.c_int64, offsets), array(c.c_int32, flat), array(c.c_float, [v for row in VALUES for v in row])
    callback = c.CFUNCTYPE(None, c.c_void_p)(lambda _: released.append(memory))
    arrays = csr(rows=N, columns=N, entries=len(flat), offsets=c.addressof(memory[0]),
                 indices=c.addressof(memory[1]), values=c.addressof(memory[2]), offset_type=3, index_type=INT32,
                 type=FLOAT32, release=c.cast(callback, c.c_void_p))
    out = c.c_void_p()
    ok(rig.rig_from_csr(c.byref(arrays), c.byref(out)))
    return out, callback


def check_product(a, s):
    memory = array(c.c_double, [x for row in X for x in row])
    view = elements(data=c.addressof(memory), rows=N, columns=F, type=FLOAT64)
    b, product = c.c_void_p(), c.c_void_p()
    ok(rig.rig_view_elements(c.byref(view), c.byref(b)))
    given = options(fill=Number(REAL, 0, -8.5), type=FLOAT64)
    ok(rig.rig_mxm(c.byref(product), a, b, s, c.byref(given)))
    out = elements()
    ok(rig.rig_elements_of(product, c.byref(out)))
    got = c.cast(out.data, c.POINTER(c.c_double))
    for i in range(N):
        for j in range(F):
            want = sum(v * X[k][j] for k, v in zip(ROWS[i], VALUES[i])) if ROWS[i] else -8.5
            assert got[i * F + j] == want, (i, j, got[i * F + j], want)
    rig.rig_free(product)
    rig.rig_free(b)


def check_search(a):
    levels, front = {0: 0}, [0]
    for i in front:
        for j in ROWS[i]:
            if j not in levels:
                levels[j] = levels[i] + 1
                front.append(j)
    results, column, reached, out = c.c_void_p(), c.c_void_p(), Number(), elements()
    given = Argument(b"source", Number(INTEGER, 0, 0))
    ok(rig.rig_run(b"bfs", a, c.byref(given), c.c_size_t(1), None, c.byref(results)))
    assert rig.rig_result_name(results, 0) == b"levels"
    ok(rig.rig_result_number(results, b"reached", c.byref(reached)))
    ok(rig.rig_result_container(results, b"levels", c.byref(column)))
    rig.rig_free_results(results)
    ok(rig.rig_elements_of(column, c.byref(out)))
    got = c.cast(out.data, c.POINTER(c.c_int32))
    assert [got[i] for i in range(N)] == [levels.get(i, -1) for i in range(N)]
    assert (reached.kind, reached.integer) == (INTEGER, len(levels))
    rig.rig_free(column)


def check_errors(a, s):
    out = c.c_void_p()
    assert rig.rig_mxm(c.byref(out), a, None, s, None) == 14 and out.value is None
    assert rig.rig_error_message() == b"rig_mxm: b is null"
    wrong = options()
    wrong.size = 4
    assert rig.rig_mxm(c.byref(out), a, a, s, c.byref(wrong)) == 15
    other = []
    thread = threading.Thread(target=lambda: other.append(rig.rig_error_message()))
    thread.start()
    thread.join()
    assert other == [b""] and b"size is 4" in rig.rig_error_message()


def main():
    released, s = [], c.c_void_p()
    a, callback = graph(released)
    ok(rig.rig_semiring_by_name(b"plus_times", FLOAT32, c.byref(s)))
    check_product(a, s)
    check_search(a)
    check_errors(a, s)
    assert not released
    rig.rig_free(a)
    assert len(released) == 1 and callback
    rig.rig_free_semiring(s)
    print("rig", rig.rig_version().decode(), "by ctypes")


main()
