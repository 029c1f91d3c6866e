"""Parameters that are trained before a method means anything: QMIX's mixing network, fitted to episodes of its own.

Fitted once for a situation, at the policies of the start, and used by all of its seeds. The network learns the team's return
from the agents' utilities; these are the critic's, and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from reproductions.adam import Adam
from reproductions.core import Batch, Floats, backward_sum
from reproductions.methods.qmix import Mixer

HIDDEN, STEPS, RATE = 8, 400, 0.02
PROMPTS = 32


def mixer_of(batch: Batch, seed: int = 0) -> Mixer:
    """The mixer with the least squared error of the return to go, by Adam over the whole batch."""
    state, target, utility = samples(batch)
    mixer = Mixer.initial(utility.shape[1], state.shape[1], HIDDEN, seed)
    mean, spread = float(target.mean()), float(target.std()) or 1.0
    scaled = (target - mean) / spread
    optimisers = [Adam(RATE) for _ in fields(Mixer)]
    for _ in range(STEPS):
        moved = zip(fields(Mixer), optimisers, slopes(mixer, utility, state, scaled), strict=True)
        mixer = Mixer(**{item.name: getattr(mixer, item.name) - adam.step(slope) for item, adam, slope in moved})
    return in_units(mixer, mean, spread)


def samples(batch: Batch) -> tuple[Floats, Floats, Floats]:
    """``(state [b, f], return to go [b], utility [b, n])`` of every turn in which anybody acted."""
    acted_pkt = batch.acted_pknt.any(axis=2)
    to_go_pkt = backward_sum(batch.reward_stream_pknt().sum(axis=2), 1.0)
    utility = np.where(batch.acted_pknt, batch.need("utility_pknt"), 0.0)
    return batch.need("team_state_pktf")[acted_pkt], to_go_pkt[acted_pkt], np.swapaxes(utility, 2, 3)[acted_pkt]


def slopes(mixer: Mixer, utility_bn: Floats, state_bf: Floats, target_b: Floats) -> tuple[Floats, ...]:
    """The derivative of the mean squared error by every parameter, in the order of ``Mixer``'s fields."""
    s = np.concatenate([state_bf, np.ones((len(state_bf), 1))], axis=1)
    raw_first, raw_second = np.einsum("bf,fnh->bnh", s, mixer.first_fnh), s @ mixer.second_fh
    first, bias, second, last = mixer.weights(state_bf)
    hidden = np.einsum("bn,bnh->bh", utility_bn, first) + bias
    active = np.where(hidden > 0, hidden, np.expm1(np.minimum(hidden, 0.0)))
    error_b1 = 2.0 * ((second * active).sum(axis=1) + last - target_b)[:, None] / len(target_b)
    at_hidden = error_b1 * second * np.exp(np.minimum(hidden, 0.0))
    at_first = np.sign(raw_first) * utility_bn[:, :, None] * at_hidden[:, None, :]
    inner = s @ mixer.value_fh
    return (
        np.einsum("bf,bnh->fnh", s, at_first),
        s.T @ at_hidden,
        s.T @ (np.sign(raw_second) * error_b1 * active),
        s.T @ (error_b1 * mixer.value_h * (inner > 0)),
        np.maximum(inner, 0.0).T @ error_b1[:, 0],
        np.asarray(error_b1.sum()),
    )


def in_units(mixer: Mixer, mean: float, spread: float) -> Mixer:
    """The mixer whose total is ``mean + spread`` times that of this one."""
    return Mixer(
        first_fnh=mixer.first_fnh,
        first_bias_fh=mixer.first_bias_fh,
        second_fh=mixer.second_fh * spread,
        value_fh=mixer.value_fh,
        value_h=mixer.value_h * spread,
        value=mean + spread * float(mixer.value),
    )


FITTED: Mapping[str, Callable[[Batch], dict[str, Any]]] = {"qmix": lambda batch: {"mixer": mixer_of(batch)}}
