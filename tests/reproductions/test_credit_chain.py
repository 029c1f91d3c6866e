"""Credit chain: by hand, and its links alone."""

from __future__ import annotations

import numpy as np

from reproductions.methods import cad_grpo, credit_chain


def test_agent_and_step_add_up_by_hand() -> None:
    example = credit_chain.example()
    credit = credit_chain.METHOD.run(example.batch, **example.parameters)
    # Rewards 0, 0.5, 2, 2.5 around 1.25 for the state that all share; agent credit +-1 and +-0.25.
    first, second = [-2.25, -1.75, 1.75, 2.25], [-0.25, 0.25, -0.25, 0.25]
    np.testing.assert_allclose(credit.advantage_pknt[0, :, :, 0], np.stack([first, second], axis=1), atol=1e-12)


def test_actions_weigh_in_the_loss_as_many_tokens_as_they_have() -> None:
    example = credit_chain.example()
    weight = credit_chain.METHOD.run(example.batch).diagnostics["weight_pknt"]
    # Eight rollouts with one and four tokens: forty in all.
    np.testing.assert_allclose(weight[:, :, 0], 1 / 40, atol=1e-12)
    np.testing.assert_allclose(weight[:, :, 1], 4 / 40, atol=1e-12)


def test_without_steps_it_is_cad_grpo() -> None:
    batch = credit_chain.example().batch
    np.testing.assert_array_equal(
        credit_chain.METHOD.run(batch, "agent_only").advantage_pknt, cad_grpo.METHOD.run(batch).advantage_pknt
    )
