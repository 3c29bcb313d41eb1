"""Semirings of a program, from text."""

import keyword
import math
import numbers
import re

import numpy as np

from . import _core

_TYPES = {"float32": "float", "float64": "double", "int32": "rig::int32", "int64": "rig::int64", "bool": "bool"}


def semiring(name, *, add, multiply, zero, dtype="float32", finish=None, terminal=None, check=False) -> _core.Semiring:
    """A semiring of your own, from text.

    The text is code: it is compiled by a C++ compiler and runs in this process. Take it from nobody you do not trust.

    Parameters
    ----------
    name : str
        An identifier.
    add : str
        ``x ⊕ y`` of two sums x and y, as a C++ expression: ``"x + y"``. ``min(x, y)`` and ``max(x, y)`` are there.
    multiply : str
        ``a ⊗ b`` of an entry a of A and an element b of B: ``"max(a, b)"``.
    zero : number or str
        The identity of add: 0, ``float("-inf")``, or a C++ expression.
    dtype : float32, float64, int32, int64 or bool
        The type that it computes in. Operands of other types are converted.
    finish : str, optional
        What becomes of a sum x of a row of n entries: ``"x / n"``. Of a row without entries nothing does.
    terminal : number or str, optional
        A sum that no further term changes, so that sums may end early.
    check : bool
        Whether the laws of a semiring are checked on sample numbers.

    Returns
    -------
    Semiring
        Its library is kept in ``$XDG_CACHE_HOME/rigblas``, or ``~/.cache/rigblas``: one for each text. The compiler is
        ``$CXX``, or ``g++``; it gets ``$CXXFLAGS`` after the flags of rig.

    Raises
    ------
    ValueError
        The text does not compile, a law does not hold, or there is no compiler.

    Examples
    --------
    >>> plus_max = rig.semiring("plus_max", add="x + y", multiply="max(a, b)", zero=0)
    >>> C = rig.mxm(A, X, plus_max)
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(f"semiring: the name is {name!r}; give an identifier of letters, digits and _")
    type_name = np.dtype(dtype).name
    if type_name not in _TYPES:
        raise TypeError(f"semiring: dtype is {type_name}; give one of {', '.join(_TYPES)}")
    kind = _TYPES[type_name]
    return _core._compile_semiring(
        name, type_name, _expression("add", add), _expression("multiply", multiply), _number(zero, kind, "zero"),
        "" if finish is None else _expression("finish", finish),
        "" if terminal is None else _number(terminal, kind, "terminal"), check)


def _expression(which, text):
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"semiring: {which} is {text!r}; give a C++ expression, such as 'x + y'")
    return text


def _number(value, kind, which):
    if isinstance(value, str):
        return _expression(which, value)
    if not isinstance(value, (numbers.Real, np.bool_)):
        raise TypeError(f"semiring: {which} is {value!r}; give a number or a C++ expression")
    if kind == "bool":
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        if math.isnan(value) or kind.startswith("rig"):
            raise ValueError(f"semiring: {which} is {value}, which {kind} does not hold")
        return f"rig::{'highest' if value > 0 else 'lowest'}<{kind}>()"
    if kind.startswith("rig") and value != int(value):
        raise ValueError(f"semiring: {which} is {value}, and the semiring computes with integers")
    bits = {"rig::int32": 31, "rig::int64": 63}.get(kind)
    if bits is not None and not -2**bits <= value < 2**bits:
        raise ValueError(f"semiring: {which} is {value}, which {kind[5:]} does not hold")
    return f"{kind}({int(value)})" if kind.startswith("rig") else f"{kind}({float(value)!r})"
