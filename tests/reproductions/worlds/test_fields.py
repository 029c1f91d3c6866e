"""What a batch says about where its fields can be had, against what the worlds supply."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest

from reproductions.core import FIELDS, ParameterError
from reproductions.worlds import WORLDS
from reproductions.worlds.base import spec_hash, spec_of


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


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_a_world_is_its_spec(name: str) -> None:
    world = WORLDS[name]()
    played = world.play(np.random.default_rng(3), 3, 4)
    spec = json.loads(json.dumps(spec_of(world)))
    assert spec.pop("world") == name
    assert spec_hash({"world": name, **spec}) == spec_hash(spec_of(world))
    for same in (WORLDS[name](**spec), pickle.loads(pickle.dumps(world))):
        again = same.play(np.random.default_rng(3), 3, 4)
        for field, array in played.batch.present_fields().items():
            assert np.array_equal(array, getattr(again.batch, field)), field
        assert same.value(same.start()) == world.value(world.start())


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_a_field_that_a_world_lacks_is_refused(name: str) -> None:
    lacking = sorted(set(FIELDS) - WORLDS[name]().supplies)
    assert lacking
    with pytest.raises(ParameterError, match=f"world {name} cannot fill"):
        WORLDS[name]().play(np.random.default_rng(0), 1, 1, fields=frozenset({lacking[0]}))
