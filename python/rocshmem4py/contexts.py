# SPDX-License-Identifier: MIT
"""Context: an independent stream of puts and gets, completed by its own quiet; for threads, and for teams."""

from __future__ import annotations

import _rocshmem4py as _ext
import rocshmem4py
from _rocshmem4py import ROCSHMEMX_E_STATE, RocshmemError

from .arrays import _Array, _array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, SupportsIndex


class Context:
    """A context of this PE. Making and destroying one is local and takes less than a microsecond.

    Its methods take arrays, as ``rocshmem4py.reduce`` does: a SymmetricBuffer, a NumPy array or a torch tensor. It has
    ``__index__``, so that it is the ``ctx`` of ``rocshmem_ctx_putmem`` and the other functions of that kind.
    As a context manager it is destroyed at the end of the block, which completes its operations. One that is dropped
    without ``destroy()`` lives until its team is destroyed or rocshmem_finalize.

    Args:
        team: PE numbers given with the context are this team's; the default is ROCSHMEM_TEAM_WORLD.
        options: ROCSHMEM_CTX_* ored. WG_PRIVATE: only the thread that makes it uses it; SERIALIZED: one thread at a
            time; NOSTORE: quiet and fence need not order ordinary stores.
    Raises:
        ValueError: an unknown option or team.
        RocshmemError: called before rocshmem_init, or too many contexts.
    Source: OpenSHMEM 1.5, shmem_ctx_create and shmem_team_create_ctx; the class is ours."""

    __slots__ = ("_ctx", "_job", "_pending")

    def __init__(self, team: SupportsIndex = 0, options: SupportsIndex = 0) -> None:
        self._ctx = 0
        self._pending: list[object] = []  # arrays that nbi calls use until quiet
        self._job = _ext._Memory(0, 0, False)  # knows when this job is over: another job may have an equal handle
        self._ctx = rocshmem4py.rocshmem_team_create_ctx(team, options)

    def _live(self, method: str) -> int:
        if not self._ctx:
            raise RuntimeError(f"Context.{method}: the context is destroyed; make another one")
        if self._job._stale:
            raise RuntimeError(f"Context.{method}: the job of this context is over; make another one in this job")
        return self._ctx

    @property
    def team(self) -> int:
        """The handle of the team it was made with; 0 is the world. RuntimeError when destroyed."""
        return rocshmem4py.rocshmem_ctx_get_team(self._live("team"))

    def _pair(self, method: str, dest: Any, source: Any, written: bool) -> tuple[int, _Array, _Array]:
        ctx, name = self._live(method), f"Context.{method}"
        to, of = _array(name, "dest", dest, written), _array(name, "source", source)
        if to.nbytes < of.nbytes or to.label != of.label:
            raise ValueError(f"{name}: dest has {to}, source has {of}; dest must have source's dtype and room for it")
        return ctx, to, of

    def put(self, dest: Any, source: Any, pe: SupportsIndex) -> None:
        """Copy ``source`` here to ``dest`` on ``pe``; returns when source may be reused.

        Args:
            dest: symmetric array; at least as many elements as source, of the same dtype.
            source: contiguous array; ordinary memory will do.
            pe: of the context's team.
        Raises:
            TypeError: no array.
            ValueError: sizes or types do not fit, dest is not symmetric, or pe is out of range.
            RuntimeError: the context is destroyed.
        Source: rocshmem_ctx_putmem."""
        ctx, to, of = self._pair("put", dest, source, False)
        rocshmem4py.rocshmem_ctx_putmem(ctx, to.address, of.address, of.nbytes, pe)

    def get(self, dest: Any, source: Any, pe: SupportsIndex) -> None:
        """Copy ``source`` on ``pe`` to ``dest`` here; returns when it is here.

        Args:
            dest: contiguous array, ordinary memory will do; at least as many elements as source, of the same dtype.
            source: symmetric array.
            pe: of the context's team.
        Raises:
            TypeError, ValueError, RuntimeError: as put.
        Source: rocshmem_ctx_getmem."""
        ctx, to, of = self._pair("get", dest, source, True)
        rocshmem4py.rocshmem_ctx_getmem(ctx, to.address, of.address, of.nbytes, pe)

    def put_nbi(self, dest: Any, source: Any, pe: SupportsIndex) -> None:
        """As ``put``; source may be reused after ``quiet()``, and is kept alive until then.

        Raises:
            TypeError, ValueError, RuntimeError: as put.
        Source: rocshmem_ctx_putmem_nbi."""
        ctx, to, of = self._pair("put_nbi", dest, source, False)
        self._pending.append(source)
        rocshmem4py.rocshmem_ctx_putmem_nbi(ctx, to.address, of.address, of.nbytes, pe)

    def get_nbi(self, dest: Any, source: Any, pe: SupportsIndex) -> None:
        """As ``get``; the data is here after ``quiet()``, and dest is kept alive until then.

        Raises:
            TypeError, ValueError, RuntimeError: as put.
        Source: rocshmem_ctx_getmem_nbi."""
        ctx, to, of = self._pair("get_nbi", dest, source, True)
        self._pending.append(dest)
        rocshmem4py.rocshmem_ctx_getmem_nbi(ctx, to.address, of.address, of.nbytes, pe)

    def put_signal(
        self, dest: Any, source: Any, sig_addr: SupportsIndex, signal: SupportsIndex, pe: SupportsIndex, sig_op: int = 0
    ) -> None:
        """As ``put``, then change the 64-bit word ``sig_addr`` on ``pe``: whoever sees it changed sees the data.

        Args:
            sig_addr: symmetric address, 8-byte aligned; a buffer is its own address.
            signal: the value, 0 to 2**64 - 1.
            sig_op: ROCSHMEM_SIGNAL_SET or ROCSHMEM_SIGNAL_ADD.
        Raises:
            TypeError, ValueError, RuntimeError: as put; ValueError for a bad sig_addr or sig_op.
        Source: rocshmem_ctx_putmem_signal."""
        ctx, to, of = self._pair("put_signal", dest, source, False)
        rocshmem4py.rocshmem_ctx_putmem_signal(ctx, to.address, of.address, of.nbytes, sig_addr, signal, sig_op, pe)

    def fence(self) -> None:
        """Order the context's operations towards each PE. RuntimeError when destroyed. Source: rocshmem_ctx_fence."""
        rocshmem4py.rocshmem_ctx_fence(self._live("fence"))

    def quiet(self) -> None:
        """Complete the context's operations, everywhere. RuntimeError when destroyed. Source: rocshmem_ctx_quiet."""
        rocshmem4py.rocshmem_ctx_quiet(self._live("quiet"))
        self._pending.clear()

    def destroy(self) -> None:
        """Complete the context's operations and give it back. Local; again, or after the job: nothing happens.

        Raises:
            ValueError: its team was destroyed before it.
        Source: rocshmem_ctx_destroy."""
        ctx, self._ctx = self._ctx, 0
        if not ctx or self._job._stale:
            return
        try:
            rocshmem4py.rocshmem_ctx_destroy(ctx)
        except RocshmemError as error:
            if error.status != ROCSHMEMX_E_STATE:  # no job: there is nothing to give back
                raise
        self._pending.clear()

    def __index__(self) -> int:
        return self._ctx

    def __repr__(self) -> str:
        return f"Context({self._ctx:#x})" if self._ctx else "Context(destroyed)"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        self.destroy()
