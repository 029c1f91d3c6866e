r"""REINFORCE++: returns with the KL in the reward, whitened over the whole batch instead of within prompts.

As printed
    REINFORCE++ (2501.03262), by its code: the task reward comes with the last token, beta times the log-ratio to the reference
    (k1) is taken off at every token, and the discounted returns-to-go of all tokens of the batch are whitened together. The
    "-baseline" form first subtracts the mean reward of the prompt.

As computed
    The same over actions in the order of play, each weighted by its tokens (``length_pknt``; once where lengths are not known).
    An action's KL is the sum over its tokens, taken off once. Masked actions are passed over, and what follows is carried across.

Differs
    The defaults are OpenRLHF's, the authors' framework: population variance, not below 1e-8. verl (preset ``verl``) uses ddof 1
    and adds 1e-8 inside the root: on small batches the two differ visibly. ``baseline`` is the -baseline form in OpenRLHF.

Evidence
    verl 0.9.1 and its git b178a3c run; OpenRLHF 0.11.2 read. The paper's text was not opened and version 5 rewrote it.

Traps
    - There is no group: a hard prompt's successes are compared with an easy prompt's.
    - Older verl starts the return anew at every masked token, so that a reward after a tool's output never reaches what was
      written before it; 0.9.1 carries it across, as here.

Run
    python -m reproductions run reinforce_pp --example
"""

from __future__ import annotations

from reproductions.core import Batch, Credit, EpsRule, Example, Floats, Method, Traits, backward_sum, normalise
from reproductions.methods import ppo


def penalised_stream(batch: Batch, beta: float, subtract_prompt_mean: bool) -> Floats:
    """``[p, k, n, t]``: team reward as it arrives, less its prompt's mean if wanted, less beta times each action's KL."""
    if subtract_prompt_mean:
        centred_pk = normalise(batch.need("reward_pk"), batch.group("pk", same="p"), mean_only=True)
        batch = batch.replace(reward_pk=centred_pk, step_reward_pknt=None)
    stream = batch.reward_stream_pknt()
    return stream if beta == 0 else stream - beta * batch.need("kl_pknt")


def assign(
    batch: Batch,
    *,
    beta: float = 0.0,
    gamma: float = 1.0,
    subtract_prompt_mean: bool = False,
    ddof: int = 0,
    eps: float = 1e-8,
    eps_rule: EpsRule = "var_floor",
) -> Credit:
    """Returns-to-go, whitened over the batch. With ``subtract_prompt_mean`` only the outcome counts, not step rewards."""
    stream_pkq = batch.in_play_order(penalised_stream(batch, beta, subtract_prompt_mean))
    return_pknt = batch.from_play_order(backward_sum(stream_pkq, gamma, batch.in_play_order(batch.acted_pknt)))
    return Credit(ppo.whitened(batch, return_pknt, ddof, eps, eps_rule), diagnostics={"return_pknt": return_pknt})


def example() -> Example:
    """Three responses whose tokens are turns; the second is shorter."""
    batch = Batch.of(
        step_reward_pknt=[[[[0, 0, 1]], [[0, 0.5, 0]], [[0, 0, -1]]]],
        reward_pk=[[1, 0.5, -1]],
        acted_pknt=[[[[1, 1, 1]], [[1, 1, 0]], [[1, 1, 1]]]],
    )
    return Example(
        batch,
        preset="verl",
        source="verl 0.9.1, compute_reinforce_plus_plus_outcome_advantage: 0.91689, 0.39295, -1.17886",
    )


METHOD = Method(
    name="reinforce_pp",
    title="REINFORCE++: returns whitened over the batch",
    assign=assign,
    paper="2501.03262",
    formula=(
        r"A_t = \frac{G_t - \mathrm{mean}(G)}{\mathrm{std}(G)} \text{ over the batch}, \quad "
        r"G_t = \sum_{k \ge t} \gamma^{k-t} (r_k - \beta \, \mathrm{KL}_k)"
    ),
    evidence=("code", "run"),
    requires=("reward_pk",),
    optional=("step_reward_pknt", "kl_pknt", "length_pknt"),
    signal=("reward_pk", "step_reward_pknt"),
    traits=Traits(granularity="action", group="whole batch", flags=frozenset({"group_free"})),
    claims=frozenset({"scale_invariant"}),
    presets={
        "verl": {"ddof": 1, "eps_rule": "var_plus"},
        "baseline": {"subtract_prompt_mean": True},
        "verl_baseline": {"subtract_prompt_mean": True, "ddof": 1, "eps_rule": "var_plus"},
    },
    example=example,
)
