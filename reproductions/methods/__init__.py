"""One file a method. A new paper is three files with one slug: ``papers/<slug>/paper.md``,
``reproductions/methods/<slug>.py`` and ``tests/reproductions/test_<slug>.py``; discovery does the rest.

A method file opens with *As printed*, *As computed* and *Differs*, defines a pure function of a ``Batch`` and ends with
``METHOD``. It imports numpy (and scikit-learn where it says so) and ``reproductions.core`` only, so that it cannot see
the truth that it is scored on.

Traits: ``granularity`` (rollout, agent, call, segment, token), ``group`` (prompt, prompt and agent, anchor state,
siblings, batch, none), ``critic``, ``extra_rollouts``, ``extra_llm_calls``, ``multi_agent``, ``process_reward``,
``tree_sampling``, ``counterfactual``, ``group_free``.

Claims that the tests check on random batches: ``zero_sum`` (advantages of a group sum to 0), ``shift`` (the same for
rewards plus a constant), ``scale`` (for rewards times a positive constant), ``equivariant`` (to the order of the rows),
``flat_zero`` (0 for a group of equal rewards).
"""
