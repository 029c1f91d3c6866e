"""What a batch says about where its fields can be had, against what the worlds supply."""

from __future__ import annotations

import re

import numpy as np
import pytest

from reproductions.core import FIELDS
from reproductions.worlds import WORLDS


def test_every_field_can_be_had_in_a_world() -> None:
    supplied = set().union(*(world().supplies for world in WORLDS.values()))
    assert set(FIELDS) <= supplied <= {*FIELDS, "acted_pknt"}


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_the_named_worlds_supply_the_field(field: str) -> None:
    provider = FIELDS[field].provider
    named = (
        set(WORLDS)
        if re.match("every world|replay of a world", provider)
        else set(re.findall(r"\w+", provider)) & set(WORLDS)
    )
    assert named, provider
    for name in sorted(named):
        world = WORLDS[name]()
        assert field in world.supplies, name
        plain = world.play(np.random.default_rng(0), 2, 2)
        if "on request" in provider:
            assert getattr(plain.batch, field) is None, name
        asked = world.play(np.random.default_rng(0), 2, 2, fields=frozenset({field}))
        assert getattr(asked.batch, field) is not None, name
        if "replay" in provider:
            assert asked.cost.replays > 0.0, name
