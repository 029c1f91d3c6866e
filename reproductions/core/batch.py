"""The batch that every method reads: dense arrays over prompt, rollout, agent and turn, with one mask for raggedness.

``acted_pknt`` says which agents acted at which turns. Everything uneven is expressed by it: groups of different size,
teams of different size, episodes of different length, an agent called twice in one rollout and once in another. A masked
entry takes part in no statistic and gets advantage 0.

A sampled tree is stored as its root-to-leaf paths: every rollout is one path, and ``node_pknt`` names the node (the sampled
output) that each action on the path is. Paths that share a prefix share its node ids. See ``reproductions.core.tree``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from reproductions.core.axes import BATCH_AXES, described_shape
from reproductions.core.errors import BatchError, MissingField, ParameterError
from reproductions.core.fields import (
    ACTED,
    AnyArray,
    Bools,
    FieldInfo,
    Floats,
    Ints,
    axis_lengths,
    converted,
    finite,
    info,
    read_only,
    real_entries,
)
from reproductions.core.groups import AxisGroups, Groups, KeyGroups


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What was observed, never the truth behind it. Make one with ``Batch.of``; arrays are read-only.

    A field that a source cannot supply is None. Methods ask for fields with ``need``, whose error names the field, its
    shape and where it can be had.
    """

    acted_pknt: Bools

    # Rewards.
    reward_pk: Floats | None = field(
        default=None, metadata=info("float", "team reward of the whole rollout", "every world")
    )
    step_reward_pknt: Floats | None = field(
        default=None, metadata=info("float", "team reward paid right after the action", "world chain, on request")
    )
    local_reward_pknt: Floats | None = field(
        default=None, metadata=info("float", "reward of the agent's own", "worlds roles and chain")
    )
    penalty_pknt: Floats | None = field(
        default=None, metadata=info("float", "amount >= 0 taken off for an invalid or misformed action", "world roles")
    )
    kl_pknt: Floats | None = field(
        default=None,
        metadata=info("float", "log-ratio to the reference policy, summed over the action", "world tokens, on request"),
    )

    # Judgements of single actions or agents.
    quality_pkn: Floats | None = field(
        default=None, metadata=info("float", "verifiable quality of the agent's work", "every world")
    )
    coach_score_pknt: Floats | None = field(
        default=None, metadata=info("float", "score given by a coach model, 0 to 10", "world process, on request")
    )
    verifier_score_pknt: Floats | None = field(
        default=None,
        metadata=info("float", "score of the agent's answer, 0 to 1", "worlds process and team, on request"),
    )
    correct_pknt: Bools | None = field(
        default=None, metadata=info("bool", "whether the agent's answer is right", "world process")
    )
    tool_valid_pkn: Floats | None = field(
        default=None,
        metadata=info("float", "share of valid tool calls, 0 without calls", "worlds process and team, on request"),
    )
    peer_share_pknm: Floats | None = field(
        default=None,
        metadata=info(
            "float", "share of the credit that agent n says agent m has", "worlds process and team, on request"
        ),
    )

    # Counterfactuals: episodes evaluated again, at a cost.
    masked_reward_pkn: Floats | None = field(
        default=None,
        metadata=info("float", "team reward with agent n masked or at its default", "replay of a world, on request"),
    )
    solo_reward_pk: Floats | None = field(
        default=None,
        metadata=info("float", "reward of the last agent working alone", "replay of a world, on request"),
    )
    continuation_pknacm: Ints | None = field(
        default=None,
        metadata=info(
            "int",
            "joint actions when agent n takes action a and later agents act anew",
            "replay in worlds team and chain, on request",
        ),
    )

    # Tests of code: rollout k of the coder against given tests g and against the tests of tester rollouts j.
    passes_given_pkg: Bools | None = field(
        default=None, metadata=info("bool", "code k passes ground-truth test g", "world process, on request")
    )
    passes_written_pkj: Bools | None = field(
        default=None, metadata=info("bool", "code k passes the test written in rollout j", "world process, on request")
    )

    # States, actions and policies.
    state_pknt: AnyArray | None = field(
        default=None, metadata=info("any", "what the agent saw, as text or integer code", "world chain")
    )
    state_vector_pkntf: Floats | None = field(
        default=None, metadata=info("float", "vector of the state's text", "world chain, on request")
    )
    team_state_pktf: Floats | None = field(
        default=None, metadata=info("float", "global state", "worlds chain and team, on request")
    )
    action_pknt: Ints | None = field(default=None, metadata=info("int", "index of the action taken", "every world"))
    policy_pknta: Floats | None = field(
        default=None, metadata=info("float", "probability of each action under the policy", "every world")
    )
    log_ratio_pknt: Floats | None = field(
        default=None,
        metadata=info("float", "log-probability now minus when sampled", "world tokens, on request; training loops"),
    )

    # Critics.
    value_pknt: Floats | None = field(
        default=None,
        metadata=info("float", "critic's value of the state before the action", "every world, on request"),
    )
    final_value_pkn: Floats | None = field(
        default=None,
        metadata=info("float", "critic's value after the last turn; 0 when terminal", "world chain, on request"),
    )
    action_value_pknta: Floats | None = field(
        default=None,
        metadata=info(
            "float",
            "critic's value of each own action, the others' actions fixed",
            "worlds team and chain, on request",
        ),
    )
    utility_pknt: Floats | None = field(
        default=None,
        metadata=info("float", "the agent's own Q of the action it took", "worlds team and chain, on request"),
    )

    # Structure, sizes, identities.
    length_pknt: Ints | None = field(default=None, metadata=info("int", "tokens of the action", "world tokens"))
    node_pknt: Ints | None = field(
        default=None, metadata=info("int", "tree node that the action is", "worlds team and chain, on request")
    )
    stratum_pk: Ints | None = field(
        default=None, metadata=info("int", "stratum of the rollout, as its number of searches", "world degenerate")
    )
    prompt_id_p: AnyArray | None = field(
        default=None, metadata=info("any", "name of the prompt across batches", "every world")
    )
    drift_p: Floats | None = field(
        default=None,
        metadata=info(
            "float", "mean |log-ratio| on the prompt's previous response", "world tokens, on request; training loops"
        ),
    )
    model_score_pk: Floats | None = field(
        default=None,
        metadata=info("float", "a reward model's score, to be trained by preferences", "world process, on request"),
    )

    @classmethod
    def of(cls, **arrays: Any) -> Batch:
        """A checked batch from anything numpy can read; sizes and the mask follow from what is given.

        Without ``acted_pknt`` everybody acted. Numbers become float64. Raises BatchError for names that are no field,
        for shapes that contradict each other, and for numbers that are not finite where somebody acted.
        """
        given = {
            name: converted(name, value, field_info(name).kind) for name, value in arrays.items() if value is not None
        }
        sizes = axis_lengths(given)
        acted = given.pop("acted_pknt", None)
        if acted is None:
            acted = np.ones([sizes.get(axis, 1) for axis in BATCH_AXES], dtype=bool)
        checked = {name: finite(name, array, acted) for name, array in given.items()}
        return cls(**{name: read_only(array) for name, array in {"acted_pknt": acted, **checked}.items()})

    def replace(self, **arrays: Any) -> Batch:
        """A new batch with some fields exchanged; None removes one."""
        return Batch.of(**{**self.present_fields(), **arrays})

    def present_fields(self) -> dict[str, AnyArray]:
        """The fields this batch has, by name."""
        every = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: array for name, array in every.items() if array is not None}

    def need(self, name: str) -> AnyArray:
        """A field that must be there. Raises MissingField with its shape, its meaning and where it can be had."""
        described = field_info(name)
        array: AnyArray | None = getattr(self, name)
        if array is None:
            raise MissingField(name, described_shape(name), described.meaning, described.provider)
        return array

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Numbers of prompts, rollouts, agents and turns, padding included."""
        prompts, rollouts, agents, turns = self.acted_pknt.shape
        return prompts, rollouts, agents, turns

    @property
    def present_pk(self) -> Bools:
        """Rollouts in which anybody acted; the others are padding."""
        return self.mask("pk")

    def mask(self, axes: str) -> Bools:
        """Which entries of an array with these axes are real: ``mask("pkn")`` is False for an agent that never acted."""
        return real_entries(self.acted_pknt, axes)

    def group(self, entries: str, *, same: str) -> Groups:
        """Comparison groups of the entries of an array, those that agree on the axes ``same``.

        ``group("pk", same="p")`` compares rollouts of one prompt (GRPO), ``group("pknt", same="pn")`` the actions of one
        agent on one prompt (Dr.MAS), ``group("pknt", same="")`` everything with everything.
        """
        if not set(same) <= set(entries):
            raise ParameterError(f"entries with axes {entries!r} cannot agree on {same!r}")
        return AxisGroups(self.mask(entries), tuple(i for i, axis in enumerate(entries) if axis not in same))

    def group_by(self, key_pknt: npt.NDArray[np.integer[Any]]) -> Groups:
        """Comparison groups of actions with equal integer keys, such as anchor states or tree parents."""
        return KeyGroups(key_pknt, self.acted_pknt)

    def spread(self, array: Floats, axes: str) -> Floats:
        """One number per prompt, rollout, ... given to all of its actions ``[p, k, n, t]``, with 0 where nobody acted."""
        wide = np.expand_dims(array, [i for i, axis in enumerate(BATCH_AXES) if axis not in axes])
        if not self.acted_pknt.all():
            return np.where(self.acted_pknt, wide, 0.0)
        return wide if wide.shape == self.shape else np.broadcast_to(wide, self.shape).copy()

    def in_play_order(self, array_pknt: AnyArray) -> AnyArray:
        """``[p, k, n, t]`` -> ``[p, k, q]``: turn by turn, and agent by agent inside a turn."""
        prompts, rollouts, agents, turns = self.shape
        return np.swapaxes(array_pknt, 2, 3).reshape(prompts, rollouts, turns * agents)

    def from_play_order(self, array_pkq: AnyArray) -> AnyArray:
        """The inverse of ``in_play_order``."""
        prompts, rollouts, agents, turns = self.shape
        return np.swapaxes(array_pkq.reshape(prompts, rollouts, turns, agents), 2, 3)

    def reward_stream_pknt(self) -> Floats:
        """Team reward as it arrives: step rewards, or else the outcome, paid at the rollout's last action."""
        if self.step_reward_pknt is not None:
            return np.where(self.acted_pknt, self.step_reward_pknt, 0.0)
        acted_pkq = self.in_play_order(self.acted_pknt)
        later_pkq = np.cumsum(acted_pkq[..., ::-1], axis=-1)[..., ::-1]
        last_pknt = self.from_play_order(acted_pkq & (later_pkq == 1))
        return np.where(last_pknt, self.need("reward_pk")[:, :, None, None], 0.0)


FIELDS: Mapping[str, FieldInfo] = MappingProxyType(
    {item.name: item.metadata["info"] for item in fields(Batch) if "info" in item.metadata}
)


def field_info(name: str) -> FieldInfo:
    """What a field is. Raises BatchError with the nearest names where there is none of this name."""
    if name == "acted_pknt":
        return ACTED
    if name not in FIELDS:
        near = get_close_matches(name, FIELDS, n=3)
        raise BatchError(
            f"a batch has no field {name!r}", f"did you mean {' or '.join(near)}?" if near else "see Batch"
        )
    return FIELDS[name]
