"""Axis letters at work: an array's name says its axes, and this module reads them. Meanings: the package docstring."""

from __future__ import annotations

AXIS_NAMES = {
    "p": "prompts",
    "k": "rollouts",
    "n": "agents",
    "t": "turns",
    "a": "actions",
    "m": "agents",
    "j": "rollouts",
    "c": "continuations",
    "f": "features",
    "g": "given tests",
}
# The four axes that every batch has; an action is addressed by all of them.
BATCH_AXES = "pknt"
# Letters for a second index over the same things.
SAME_LENGTH_AS = {"m": "n", "j": "k"}


def axes_of(name: str) -> str:
    """The axes that an array's name promises: ``reward_pk`` -> ``pk``."""
    return name.rpartition("_")[2]


def described_shape(name: str) -> str:
    """``reward_pk`` -> ``[prompts, rollouts]``."""
    return "[" + ", ".join(AXIS_NAMES[axis] for axis in axes_of(name)) + "]"
