"""Transports between ranks: mpi4py, torch.distributed, and threads of one process.

A transport has ``rank`` and ``size``, and three methods. ``exchange(sends, receives)`` gets lists of ranks and
memoryviews, which are valid until it returns; messages between two ranks arrive in their order.
``all_reduce(value, op)`` joins an integer of each rank by "sum", "min" or "max". ``barrier()`` waits for all ranks.
"""

import threading

import numpy as np

from ._core import Communicator

_MOST = 1 << 30  # bytes of a message, which MPI counts by an int


def communicator(of=None):
    """This process among ranks that work together.

    Parameters
    ----------
    of : communicator of mpi4py, process group of torch.distributed, or transport, optional
        None is the default process group. A communicator of mpi4py is duplicated. A transport is an object of your own
        with ``rank``, ``size``, ``exchange(sends, receives)``, ``all_reduce(value, op)`` and ``barrier()``.

    Returns
    -------
    Communicator
        Over NCCL, bytes pass through the current device of PyTorch.

    Raises
    ------
    TypeError
        It is none of these.
    ValueError
        There is no default process group, or it does not have this process.
    """
    module = type(of).__module__.partition(".")[0]
    if isinstance(of, Communicator):
        return of
    if module == "mpi4py":
        return Communicator(_OverMpi(of))
    if of is None or module == "torch":
        return Communicator(_OverTorch(of))
    lacking = [name for name in ("rank", "size", "exchange", "all_reduce", "barrier") if not hasattr(of, name)]
    if lacking:
        raise TypeError(f"communicator: a {type(of).__name__} has no {lacking[0]}; give a communicator of mpi4py, a "
                        "process group of torch.distributed, or None for its default group")
    return Communicator(of)


class _OverMpi:
    """Ranks of mpi4py, over a duplicate, so that their messages and the caller's do not meet."""

    def __init__(self, of):
        from mpi4py import MPI

        self._mpi, self._of = MPI, of.Dup()
        self.rank, self.size = self._of.Get_rank(), self._of.Get_size()
        self._ops = {"sum": MPI.SUM, "min": MPI.MIN, "max": MPI.MAX}

    def __del__(self):
        if hasattr(self, "_of") and not self._mpi.Is_finalized():
            self._of.Free()

    def exchange(self, sends, receives):
        started = []
        try:
            for rank, part in _parts(receives):
                started.append(self._of.Irecv([part, self._mpi.BYTE], source=rank))
            for rank, part in _parts(sends):
                started.append(self._of.Isend([part, self._mpi.BYTE], dest=rank))
            self._mpi.Request.Waitall(started)
        except BaseException:  # the memory of messages ends with the call, so none may be under way
            for request in started:
                request.Cancel()
            self._mpi.Request.Waitall(started)
            raise

    def all_reduce(self, value, op):
        joined = np.empty(1, np.int64)
        self._of.Allreduce(np.array([value], np.int64), joined, op=self._ops[op])
        return int(joined[0])

    def barrier(self):
        self._of.Barrier()


def _parts(messages):
    for rank, view in messages:
        for done in range(0, len(view), _MOST):
            yield rank, view[done:done + _MOST]


class _OverTorch:
    """Ranks of a process group. NCCL moves memory of devices alone, so bytes pass through the current one."""

    def __init__(self, group):
        import torch
        from torch import distributed

        if not distributed.is_initialized():
            raise ValueError("communicator: torch.distributed has no default process group; call "
                             "torch.distributed.init_process_group before, or give a communicator of mpi4py")
        self._torch, self._by = torch, distributed
        # The default group is not kept: PyTorch ends it, and its threads, in destroy_process_group.
        self._group = group
        self.rank, self.size = distributed.get_rank(self._group), distributed.get_world_size(self._group)
        if self.rank < 0:
            raise ValueError("communicator: this process is not in the process group; call it on the group's ranks")
        self._device = "cuda" if distributed.get_backend(self._group) == "nccl" else "cpu"
        ops = distributed.ReduceOp
        self._ops = {"sum": ops.SUM, "min": ops.MIN, "max": ops.MAX}

    def exchange(self, sends, receives):
        sent = [(rank, self._bytes(view).to(self._device)) for rank, view in sends]
        here = [(rank, self._bytes(view)) for rank, view in receives]
        there = [(rank, part if self._device == "cpu" else self._torch.empty_like(part, device=self._device))
                 for rank, part in here]
        started = [self._operation(self._by.isend, *each) for each in sent]
        started += [self._operation(self._by.irecv, *each) for each in there]
        for work in self._by.batch_isend_irecv(started) if started else ():
            work.wait()
        if self._device != "cpu":
            for (_, to), (_, part) in zip(here, there):
                to.copy_(part)

    def _bytes(self, view):
        return self._torch.frombuffer(view, dtype=self._torch.uint8)

    def _operation(self, how, rank, part):
        if self._group is not None:
            rank = self._by.get_global_rank(self._group, rank)
        return self._by.P2POp(how, part, rank, self._group)

    def all_reduce(self, value, op):
        number = self._torch.tensor([value], dtype=self._torch.int64, device=self._device)
        self._by.all_reduce(number, self._ops[op], self._group)
        return int(number.item())

    def barrier(self):
        self.all_reduce(0, "sum")


def on_ranks(count, work):
    """Runs ``work(communicator)`` on ranks that are threads of this process, for tests and examples.

    If a rank raises, or returns while others wait for it, their calls raise too.

    Parameters
    ----------
    count : int
        The number of ranks, at least 1.
    work : callable

    Returns
    -------
    list
        What each rank returns.

    Raises
    ------
    Exception
        What was raised first.
    """
    if count < 1:
        raise ValueError(f"on_ranks: count is {count}; give at least 1")
    meeting, results, failures = _Meeting(count), [None] * count, []

    def run(rank):
        try:
            results[rank] = work(Communicator(_OverThreads(meeting, rank)))
        except BaseException as failure:  # noqa: BLE001
            failures.append(failure)
        finally:
            meeting.leave(rank)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failures:
        raise failures[0]
    return results


class _Meeting:
    """Where the ranks of one process meet."""

    def __init__(self, size):
        self.size, self.sends, self.numbers = size, [()] * size, [0] * size
        self._changed, self._round, self._arrived, self._left = threading.Condition(), 0, 0, None

    def meet(self, rank):
        """Returns when all ranks are here."""
        with self._changed:
            here = self._round
            self._arrived += 1
            if self._left is None and self._arrived == self.size:
                self._arrived = 0
                self._round += 1
                self._changed.notify_all()
                return
            self._changed.wait_for(lambda: self._round != here or self._left is not None)
            if self._round == here:
                raise RuntimeError(f"rank {self._left} of {self.size} has left, and rank {rank} waits for it; all "
                                   "ranks make the same calls")

    def leave(self, rank):
        with self._changed:
            if self._left is None:
                self._left = rank
            self._changed.notify_all()


class _OverThreads:
    """Ranks that copy from each other's memory while all are there."""

    def __init__(self, meeting, rank):
        self._meeting, self.rank, self.size = meeting, rank, meeting.size

    def exchange(self, sends, receives):
        self._meeting.sends[self.rank] = sends
        self._meeting.meet(self.rank)
        coming = {rank: iter([view for to, view in self._meeting.sends[rank] if to == self.rank])
                  for rank in range(self.size)}
        try:
            for rank, view in receives:
                view[:] = next(coming[rank])
        finally:  # others read what this rank sends until they are here
            self._meeting.meet(self.rank)
        self._meeting.sends[self.rank] = ()  # the views end with the call

    def all_reduce(self, value, op):
        self._meeting.numbers[self.rank] = value
        self._meeting.meet(self.rank)
        joined = {"sum": sum, "min": min, "max": max}[op](self._meeting.numbers)
        self._meeting.meet(self.rank)
        return (joined + 2**63) % 2**64 - 2**63

    def barrier(self):
        self._meeting.meet(self.rank)
