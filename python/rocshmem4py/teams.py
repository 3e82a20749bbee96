# SPDX-License-Identifier: MIT
"""Teams, tracked: a live team is remembered in ``rocshmem4py._live_teams``, so that finalize can destroy it.

Handles are ints, agreed by the members: WORLD, INVALID and SHARED are fixed, live ones are greater than SHARED. So the
sorted order of the live handles is equal on all PEs, and destroying them in that order is a matched collective.
"""

from __future__ import annotations

import os
import sys

import _rocshmem4py as _ext
import rocshmem4py
from rocshmem4py import ROCSHMEM_TEAM_INVALID, ROCSHMEM_TEAM_SHARED, ROCSHMEM_TEAM_WORLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex

    from _rocshmem4py import TeamConfig

_SPECIAL = (ROCSHMEM_TEAM_WORLD, ROCSHMEM_TEAM_INVALID, ROCSHMEM_TEAM_SHARED)
_WARN_LEVELS = ("WARN", "ENV", "VERSION", "INFO", "API", "TRACE")


def _warn(text: str) -> None:
    """One line on stderr, if ROCSHMEM_DEBUG_LEVEL asks for warnings; the form is the runtime's."""
    if os.environ.get("ROCSHMEM_DEBUG_LEVEL", "").split(":")[0].upper() in _WARN_LEVELS:
        pe = rocshmem4py.rocshmem_my_pe()
        sys.stderr.write(f"[{os.uname().nodename}:{'-' if pe < 0 else pe}] warn: {text}\n")


def rocshmem_team_split_strided(
    parent: SupportsIndex,
    start: SupportsIndex,
    stride: SupportsIndex,
    size: SupportsIndex,
    config: TeamConfig | None = None,
    mask: SupportsIndex = 0,
) -> tuple[int, int]:
    """Make a team of ``size`` PEs of ``parent``: ``start``, ``start + stride``, ...

    Collective over parent, with equal arguments.
    Args:
        parent: a team handle; ROCSHMEM_TEAM_WORLD for all PEs.
        start, stride, size: PE numbers of the parent's numbering; size counts PEs.
        config: number of contexts wanted, a hint.
        mask: which fields of config hold.
    Returns:
        (status, team): 0 and the handle; 0 and ROCSHMEM_TEAM_INVALID on PEs outside the new team; non-zero and
        INVALID for a range that leaves the parent or an INVALID parent.
    Raises:
        RocshmemError: the PEs disagree about the arguments, or one died.
    Source: OpenSHMEM 1.5, shmem_team_split_strided; a raw handle of 0 becomes INVALID."""
    status, team = _ext.rocshmem_team_split_strided(parent, start, stride, size, config, mask)
    return status, _tracked(team)


def rocshmem_team_split_2d(
    parent: SupportsIndex,
    xrange: SupportsIndex,
    xaxis_config: TeamConfig | None = None,
    xaxis_mask: SupportsIndex = 0,
    yaxis_config: TeamConfig | None = None,
    yaxis_mask: SupportsIndex = 0,
) -> tuple[int, int, int]:
    """Lay the PEs of ``parent`` out in rows of ``xrange``, and make a team of my row and one of my column.

    Collective over parent, with equal arguments. PE p of parent is PE ``p % xrange`` of its row and PE ``p // xrange``
    of its column; the last row may be short.
    Args:
        parent: a team handle; ROCSHMEM_TEAM_WORLD for all PEs.
        xrange: PEs in a row, 1 or more; more than the parent has is one row.
        xaxis_config, yaxis_config: number of contexts wanted, a hint.
        xaxis_mask, yaxis_mask: which fields of the configs hold.
    Returns:
        (status, row, column): 0 and two handles; non-zero and ROCSHMEM_TEAM_INVALID for what could not be made.
    Raises:
        RocshmemError: the PEs disagree about the arguments, or one died.
    Source: OpenSHMEM 1.5, shmem_team_split_2d; a raw handle of 0 becomes INVALID."""
    status, x, y = _ext.rocshmem_team_split_2d(parent, xrange, xaxis_config, xaxis_mask, yaxis_config, yaxis_mask)
    return status, _tracked(x), _tracked(y)


def _tracked(team: int) -> int:
    """A raw handle as this package gives it: remembered while it lives, and INVALID for 0."""
    if team == 0:
        return ROCSHMEM_TEAM_INVALID
    if team not in _SPECIAL:
        rocshmem4py._live_teams.add(team)
    return team


def rocshmem_team_destroy(team: SupportsIndex) -> None:
    """Give a team back. Collective over its members.

    Args:
        team: a handle; WORLD, SHARED and INVALID are no-ops. An unknown or already destroyed one is a no-op with a
            WARN line; one made by ``_rocshmem4py.rocshmem_team_split_strided`` is destroyed.
    Raises:
        TypeError: team is no int.
        RocshmemError: called before rocshmem_init with a handle that is not special.
    Source: rocSHMEM's Python package, which documents the no-op for unknown handles."""
    handle = team.__index__() if hasattr(team, "__index__") else team
    if isinstance(handle, int):
        rocshmem4py._live_teams.discard(handle)
    try:
        _ext.rocshmem_team_destroy(handle)
    except ValueError:
        _warn(f"rocshmem_team_destroy: team {handle} is unknown or destroyed, nothing was done; destroy a team once")


def _drain_live_teams() -> None:
    """Destroy every team that is still remembered, in sorted order, which is equal on all PEs."""
    teams = sorted(rocshmem4py._live_teams)
    rocshmem4py._live_teams.clear()
    for team in teams:
        rocshmem4py.rocshmem_team_destroy(team)
