"""The batch: sizes and masks follow from names, and what does not fit is refused with both names."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.core import FIELDS, Batch, BatchError, MissingField, axes_of, from_rows


def test_sizes_follow_from_what_is_given() -> None:
    batch = Batch.of(reward_pk=np.zeros((2, 3)), quality_pkn=np.zeros((2, 3, 4)))
    assert batch.shape == (2, 3, 4, 1) and batch.acted_pknt.all()
    assert batch.present_pk.shape == (2, 3)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reward_pk": [[1.0]], "quality_pkn": np.zeros((1, 2, 1))}, "quality_pkn has 2 rollouts, reward_pk has 1"),
        ({"reward_pk": [1.0, 2.0]}, r"reward_pk has 1 axes, its name says 2: \[prompts, rollouts\]"),
        ({"peer_share_pknm": np.zeros((1, 1, 2, 3))}, "peer_share_pknm has 3 agents, peer_share_pknm has 2"),
        ({"rewards_pk": [[1.0]]}, "no field 'rewards_pk'.*did you mean reward_pk"),
        ({"reward_pk": [["good"]]}, "reward_pk cannot be read as float"),
        ({"reward_pk": [[0.0, np.nan]]}, "reward_pk is nan at prompt 0, rollout 1"),
        ({"value_pknt": [[[[0.0]], [[-np.inf]]]]}, "value_pknt is -inf at prompt 0, rollout 1, agent 0, turn 0"),
    ],
)
def test_what_does_not_fit_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(BatchError, match=message):
        Batch.of(**fields)


def test_padding_need_not_be_a_number() -> None:
    acted = np.array([True, False]).reshape(1, 2, 1, 1)
    assert Batch.of(reward_pk=[[1.0, np.nan]], acted_pknt=acted).need("reward_pk").tolist() == [[1.0, 0.0]]


def test_a_missing_field_says_what_it_is_and_where_to_get_it() -> None:
    with pytest.raises(MissingField) as caught:
        Batch.of(reward_pk=[[1.0]]).need("masked_reward_pkn")
    text = str(caught.value)
    assert "masked_reward_pkn [prompts, rollouts, agents]" in text and "replay of a world" in text


def test_every_field_name_ends_in_known_axes() -> None:
    for name in FIELDS:
        assert set(axes_of(name)) <= set("pkntamcfgj"), name


def test_arrays_cannot_be_written_through() -> None:
    reward = np.zeros((1, 2))
    batch = Batch.of(reward_pk=reward)
    with pytest.raises(ValueError, match="read-only"):
        batch.need("reward_pk")[0, 0] = 1.0
    reward[0, 0] = 5.0  # the caller's own array stays writable


def test_play_order_goes_turn_by_turn_and_back() -> None:
    array = np.arange(6).reshape(1, 1, 2, 3)  # agent 0: 0 1 2, agent 1: 3 4 5
    batch = Batch.of(step_reward_pknt=array)
    assert batch.in_play_order(array).tolist() == [[[0, 3, 1, 4, 2, 5]]]
    assert np.array_equal(batch.from_play_order(batch.in_play_order(array)), array)


def test_the_outcome_is_paid_at_the_last_action() -> None:
    acted = np.array([[1, 1], [1, 0]], bool).reshape(1, 1, 2, 2)  # agent 0 acts twice, agent 1 in the first turn only
    stream = Batch.of(reward_pk=[[3.0]], acted_pknt=acted).reward_stream_pknt()
    assert stream.tolist() == [[[[0.0, 3.0], [0.0, 0.0]]]]


def test_rows_come_back_in_their_order() -> None:
    batch, at = from_rows(
        prompt=["b", "a", "b", "b", "b"],
        rollout=["x", "x", "y", "x", "x"],
        agent=["solver", "solver", "solver", "solver", "verifier"],
        reward_pk=[1.0, 0.5, 0.0, 1.0, 1.0],
        state_pknt=["s0", "s0", "s0", "s1", "s2"],
    )
    assert batch.shape == (2, 2, 2, 2) and int(batch.acted_pknt.sum()) == 5
    assert batch.need("state_pknt")[at].tolist() == ["s0", "s0", "s0", "s1", "s2"]
    assert batch.need("reward_pk").tolist() == [[1.0, 0.0], [0.5, 0.0]]
    assert batch.present_pk.tolist() == [[True, True], [True, False]]


def test_rows_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(BatchError, match=r"reward_pk of row 0 contradicts"):
        from_rows([0, 0], [0, 0], reward_pk=[1.0, 2.0])
    with pytest.raises(BatchError, match="same prompt, rollout, agent and turn"):
        from_rows([0, 0], [0, 0], turn=[1, 1], reward_pk=[1.0, 1.0])
