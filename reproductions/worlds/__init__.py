"""Synthetic episodes from known truth. Each world isolates one question about credit; its docstring says which."""

from __future__ import annotations

from typing import Any

from reproductions.worlds.chain import Chain
from reproductions.worlds.degenerate import Degenerate
from reproductions.worlds.process import Process
from reproductions.worlds.roles import Roles
from reproductions.worlds.team import Team
from reproductions.worlds.tokens import Tokens

# Every world by the word that options and rows use.
WORLDS: dict[str, type[Any]] = {world.name: world for world in (Chain, Team, Roles, Degenerate, Process, Tokens)}
